(* Slopes, links and weights that raise a bound, by subgradients.

   What a pull proves is the dual of a linear program: facts about rows of the claim with weights, and for every neuron
   lines below its functions. As a function of all of these it is concave, and where a choice of lines says how low the
   inputs and neurons may go, that place is a subgradient. So one sweep down through the layers and one back up give
   them all; steps are those of Adam. Only floats: the kernel calculates the bound of whatever is found. *)

open Lines
open Relaxing

(* What is known of a row of the claim: its quantity is at least, or at most, a number. *)
type fact = { row : int; kind : Kernel.kind; at_least : bool; number : float }

(* Per layer, in blocks as long as it is wide: slopes of the line below f and -f of x, the same of y, those of the
   difference and its negation, the part that goes through the link, and what is added to the three slopes. *)
type choices = { lines : float array array; weights : float array }

let blocks = 10
let x_up, y_up, d_up, through, more_x, more_y, more_d = (0, 2, 4, 6, 7, 8, 9)

(* Slopes of the usual lines of a neuron, into its places. *)
let usual_slopes f h (k : known) lines m i =
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) and ld = k.ld.(i) and ud = k.ud.(i) in
  let set block v = lines.((block * m) + i) <- v in
  set x_up (slope f 1.0 lx ux); set (x_up + 1) (slope f (-1.0) lx ux);
  set y_up (slope h 1.0 ly uy); set (y_up + 1) (slope h (-1.0) ly uy);
  let least, most = steepest f (Lines.lesser lx ly) (Lines.greater ux uy) in
  set d_up (slope (difference least most 1.0) 1.0 ld ud);
  set (d_up + 1) (slope (difference least most (-1.0)) (-1.0) ld ud);
  set through (if alike f h ly uy && ((bent f lx ux && bent h ly uy) || least = most) then 1.0 else 0.0);
  set more_x 0.0; set more_y 0.0; set more_d 0.0

let first_choices layers knowns facts =
  let lines_of j (layer : layer) =
    let m = Array.length layer.shapes in
    let lines = Array.make (blocks * m) 0.0 in
    if j > 0 then Array.iteri (fun i f -> usual_slopes f layer.others.(i) knowns.(j) lines m i) layer.shapes;
    lines
  in
  let weights = Array.mapi (fun n fact -> if n = 0 || fact.row = facts.(0).row then 1.0 else 0.0) facts in
  { lines = Array.mapi lines_of layers; weights }

(* Those that were found for a node above: a neuron that is bent no longer has the usual lines. *)
let inherited layers knowns above =
  let lines_of j (layer : layer) =
    let m = Array.length layer.shapes and lines = Array.copy above.lines.(j) in
    if j > 0 then
      Array.iteri
        (fun i f ->
          let k : known = knowns.(j) in
          if not (bent f k.lx.(i) k.ux.(i) && bent layer.others.(i) k.ly.(i) k.uy.(i)) then
            usual_slopes f layer.others.(i) k lines m i)
        layer.shapes;
    lines
  in
  { lines = Array.mapi lines_of layers; weights = Array.copy above.weights }

let of_sign v block = if v >= 0.0 then block else block + 1

(* The line of a neuron for these coefficients of its functions. *)
let line_of choices m j i p q =
  let lines = choices.lines.(j) in
  let at block = lines.((block * m) + i) in
  let shared = if p *. q >= 0.0 then 0.0 else if Float.abs p < Float.abs q then -.p else q in
  let g = at through *. shared in
  let p = p +. g and q = q -. g and t = -.g in
  { g; a = (Float.abs p *. at (of_sign p x_up)) +. at more_x;
    b = (Float.abs q *. at (of_sign q y_up)) +. at more_y;
    s = (Float.abs t *. at (of_sign t d_up)) +. at more_d }

(* As [Relaxing.pull] asks for them. *)
let choose layers choices j i p q = line_of choices (Array.length layers.(j).shapes) j i p q

(* Where p f(v) - a v is least on [l, u]. *)
let lowest_place f p a l u =
  let at v = (p *. value f v) -. (a *. v) in
  let best = ref l and least = ref (at l) in
  let look v = let here = at v in if here < !least then (least := here; best := v) in
  look u;
  for k = 0 to Array.length f.kinks - 1 do
    let b, _ = f.kinks.(k) in
    if l < b && b < u then look b
  done;
  !best

let dot row x =
  let total = ref 0.0 in
  for i = 0 to Array.length row - 1 do
    total := !total +. (Array.unsafe_get row i *. Array.unsafe_get x i)
  done;
  !total

(* What is bounded: facts times weights, and perhaps a quantity that is added on the way, in real units. *)
type goal = { layers : layer array; knowns : known array; sides : (float * float) array; facts : fact array;
              wish : added option; constraints : float array -> float array * float }
(* [constraints] gives for coefficients of inputs those with constraints added, and what that adds to the bound. *)

let signs fact = match fact.kind with Kernel.KX -> (1.0, 0.0) | KY -> (0.0, 1.0) | KD -> (1.0, -1.0)

(* The bound, and where the inputs and neurons stand that are lowest: subgradients for lines and weights. *)
let evaluate goal choices =
  let layers = goal.layers in
  let count = Array.length layers and inputs = Array.length goal.sides in
  let width j = if j < count then Array.length layers.(j).shapes else inputs in
  let ps = Array.init (count + 1) (fun j -> Array.make (width j) 0.0) in
  let qs = Array.init (count + 1) (fun j -> Array.make (width j) 0.0) in
  let chosen = Array.make count [||] and bound = ref 0.0 in
  let places = Array.init count (fun j -> Array.make (3 * width j) 0.0) in
  let through j i x y =
    let layer = layers.(j) in
    let x = x /. layer.denominator and y = y /. layer.denominator in
    add_row x layer.rows1.(i) ps.(j + 1);
    add_row y layer.rows2.(i) qs.(j + 1);
    bound := !bound +. (x *. layer.biases1.(i)) +. (y *. layer.biases2.(i)) -. taken_by_errors layer i x y
  in
  Array.iteri
    (fun n fact ->
      let w = choices.weights.(n) in
      if w <> 0.0 then begin
        let x, y = signs fact and w = if fact.at_least then -.w else w in
        through 0 fact.row (w *. x) (w *. y);
        bound := !bound -. (w *. fact.number)
      end)
    goal.facts;
  for j = 1 to count - 1 do
    let layer = layers.(j) and k = goal.knowns.(j) and p = ps.(j) and q = qs.(j) and at = places.(j) in
    let m = Array.length layer.shapes in
    gather layer k p q;
    chosen.(j) <- Array.init m (fun i ->
      let line = line_of choices m j i p.(i) q.(i) in
      let { g; a; b; s } = line and f = layer.shapes.(i) and h = layer.others.(i) in
      let pi = p.(i) +. g and qi = q.(i) -. g in
      bound := !bound +. (p.(i) *. rounding f p.(i) k.lx.(i) k.ux.(i)) +. (q.(i) *. rounding h q.(i) k.ly.(i) k.uy.(i));
      if pi <> 0.0 || a <> 0.0 then begin
        let v = lowest_place f pi a k.lx.(i) k.ux.(i) in
        at.(i) <- v;
        bound := !bound +. (pi *. value f v) -. (a *. v)
      end;
      if qi <> 0.0 || b <> 0.0 then begin
        let v = lowest_place h qi b k.ly.(i) k.uy.(i) in
        at.(m + i) <- v;
        bound := !bound +. (qi *. value h v) -. (b *. v)
      end;
      if g <> 0.0 || s <> 0.0 then begin
        let least, most = steepest f (Lines.lesser k.lx.(i) k.ly.(i)) (Lines.greater k.ux.(i) k.uy.(i)) in
        let between = difference least most (-.g) in
        let v = lowest_place between (-.g) s k.ld.(i) k.ud.(i) in
        at.((2 * m) + i) <- v;
        bound := !bound -. (g *. value between v) -. (s *. v)
      end;
      through j i (a +. s) (b -. s);
      line);
    match goal.wish with
    | Some one when one.layer = j -> through j one.neuron one.factor_x one.factor_y
    | _ -> ()
  done;
  let base, more = goal.constraints (Array.map2 ( +. ) ps.(count) qs.(count)) in
  bound := !bound +. more +. least_on goal.sides base;
  let corner = Array.mapi (fun i (l, u) -> if base.(i) >= 0.0 then l else u) goal.sides in
  (!bound, ps, qs, chosen, places, corner)

(* Subgradients of lines and of weights, in the shape of choices. *)
let subgradients goal choices (_, ps, qs, chosen, places, corner) =
  let layers = goal.layers in
  let count = Array.length layers in
  let slopes = Array.map (fun l -> Array.make (Array.length l) 0.0) choices.lines in
  let xs = ref corner and ys = ref corner in
  for j = count - 1 downto 1 do
    let layer = layers.(j) and k = goal.knowns.(j) and at = places.(j) and lines = choices.lines.(j) and into = slopes.(j) in
    let m = Array.length layer.shapes in
    let next_x = Array.make m 0.0 and next_y = Array.make m 0.0 in
    for i = 0 to m - 1 do
      let f = layer.shapes.(i) and h = layer.others.(i) in
      let p = ps.(j).(i) and q = qs.(j).(i) and { g; a; b; s } = chosen.(j).(i) in
      let x = (dot layer.rows1.(i) !xs +. layer.biases1.(i)) /. layer.denominator in
      let y = (dot layer.rows2.(i) !ys +. layer.biases2.(i)) /. layer.denominator in
      let set block v = into.((block * m) + i) <- v and get block = lines.((block * m) + i) in
      let pi = p +. g and qi = q -. g and t = -.g in
      let shared = if p *. q >= 0.0 then 0.0 else if Float.abs p < Float.abs q then -.p else q in
      let sign v = if v >= 0.0 then 1.0 else -1.0 in
      let along f used v slope_block more_block coefficient quantity =
        let by_slope = if used then quantity -. v else 0.0 in
        let block = of_sign coefficient slope_block in
        set block (Float.abs coefficient *. by_slope);
        set more_block by_slope;
        (if used then value f v else value f quantity) +. (sign coefficient *. get block *. by_slope)
      in
      let by_p = along f (pi <> 0.0 || a <> 0.0) at.(i) x_up more_x pi x in
      let by_q = along h (qi <> 0.0 || b <> 0.0) at.(m + i) y_up more_y qi y in
      let least, most = steepest f (Lines.lesser k.lx.(i) k.ly.(i)) (Lines.greater k.ux.(i) k.uy.(i)) in
      let by_t =
        if p *. q >= 0.0 && s = 0.0 then 0.0
        else
          let t = if t <> 0.0 then t else -.shared in
          along (difference least most t) (g <> 0.0 || s <> 0.0) at.((2 * m) + i) d_up more_d t (x -. y)
      in
      let by_g = by_p -. by_q -. by_t in
      set through (shared *. by_g);
      let part = get through in
      next_x.(i) <- by_p +. rounding f p k.lx.(i) k.ux.(i) -. (if shared <> 0.0 && Float.abs p < Float.abs q then part *. by_g else 0.0);
      next_y.(i) <- by_q +. rounding h q k.ly.(i) k.uy.(i) +. (if shared <> 0.0 && Float.abs p >= Float.abs q then part *. by_g else 0.0);
      if agrees layer k i then next_y.(i) <- next_x.(i)
    done;
    xs := next_x;
    ys := next_y
  done;
  let of_fact fact =
    let layer = layers.(0) and sx, sy = signs fact in
    let x = if sx = 0.0 then 0.0 else (dot layer.rows1.(fact.row) !xs +. layer.biases1.(fact.row)) /. layer.denominator in
    let y = if sy = 0.0 then 0.0 else (dot layer.rows2.(fact.row) !ys +. layer.biases2.(fact.row)) /. layer.denominator in
    let quantity = (sx *. x) +. (sy *. y) in
    if fact.at_least then fact.number -. quantity else quantity -. fact.number
  in
  { lines = slopes; weights = Array.map of_fact goal.facts }

(* Where a slope may be added besides: bounds that lie on a kink are most often those of a cut. *)
let cut_at_kink f l u = Array.exists (fun (b, _) -> l = b || u = b) f.kinks

(* How far a step goes at most, per number: none for what has one good value, and lines that stay between slopes. *)
let steps goal choices ps qs =
  Array.mapi
    (fun j lines ->
      let m = Array.length goal.layers.(j).shapes in
      let step = Array.make (Array.length lines) 0.0 in
      if j > 0 then begin
        let k = goal.knowns.(j) and mean = ref 0.0 in
        for i = 0 to m - 1 do mean := !mean +. Float.abs ps.(j).(i) +. Float.abs qs.(j).(i) done;
        let size = 0.05 *. !mean /. float_of_int (max 1 (2 * m)) in
        for i = 0 to m - 1 do
          let f = goal.layers.(j).shapes.(i) and h = goal.layers.(j).others.(i) in
          let set block v = step.((block * m) + i) <- v in
          let open_x = bent f k.lx.(i) k.ux.(i) and open_y = bent h k.ly.(i) k.uy.(i) in
          let least, most = steepest f (Lines.lesser k.lx.(i) k.ly.(i)) (Lines.greater k.ux.(i) k.uy.(i)) in
          let range = 0.1 *. (most -. least) in
          if open_x then (set x_up range; set (x_up + 1) range);
          if open_y then (set y_up range; set (y_up + 1) range);
          if range > 0.0 then (set d_up range; set (d_up + 1) range; if alike f h k.ly.(i) k.uy.(i) then set through 0.1);
          if cut_at_kink f k.lx.(i) k.ux.(i) then set more_x size;
          if cut_at_kink h k.ly.(i) k.uy.(i) then set more_y size;
          if k.ld.(i) = 0.0 || k.ud.(i) = 0.0 then set more_d size
        done
      end;
      step)
    choices.lines

(* From these choices upward, in so many steps, or until the bound is above 0 where that is [enough]: the best that was
   found, and its bound. *)
let maximise ?(enough = true) goal start count =
  let now = { lines = Array.map Array.copy start.lines; weights = Array.copy start.weights } in
  let first = evaluate goal now in
  let value_of (v, _, _, _, _, _) = v and arrays (_, ps, qs, _, _, _) = (ps, qs) in
  let ps, qs = arrays first in
  let step = steps goal now ps qs in
  let size fact = Array.fold_left (fun m a -> Lines.greater m (Float.abs a)) 1.0 goal.layers.(0).rows1.(fact.row) in
  let weight_step = Array.mapi (fun n fact -> if n = 0 && goal.wish = None then 0.0 else 0.1 /. size fact) goal.facts in
  let zeros = Array.map (fun l -> Array.make (Array.length l) 0.0) in
  let mean = zeros now.lines and square = zeros now.lines in
  let weights = Array.length now.weights in
  let mean_w = Array.make weights 0.0 and square_w = Array.make weights 0.0 in
  let best = ref start and top = ref (value_of first) and current = ref first and n = ref 0 in
  while !n < count && not (enough && !top > 0.0) do
    incr n;
    let slopes = subgradients goal now !current in
    let t = float_of_int !n in
    let shorter = 1.0 -. (0.9 *. (t -. 1.0) /. float_of_int count) in
    let of_mean = 1.0 /. (1.0 -. (0.9 ** t)) and of_square = 1.0 /. (1.0 -. (0.95 ** t)) in
    let ascend numbers gradient mean square step low high =
      for i = 0 to Array.length numbers - 1 do
        let far = step.(i) in
        if far > 0.0 then begin
          let by = gradient.(i) in
          mean.(i) <- (0.9 *. mean.(i)) +. (0.1 *. by);
          square.(i) <- (0.95 *. square.(i)) +. (0.05 *. by *. by);
          let size = sqrt (square.(i) *. of_square) in
          if size > 0.0 then
            numbers.(i) <- Lines.lesser (high i) (Lines.greater (low i) (numbers.(i) +. (shorter *. far *. mean.(i) *. of_mean /. size)))
        end
      done
    in
    Array.iteri
      (fun j lines ->
        let m = max 1 (Array.length goal.layers.(j).shapes) in
        let between block = if block = through then (0.0, 1.0) else (neg_infinity, infinity) in
        ascend lines slopes.lines.(j) mean.(j) square.(j) step.(j) (fun i -> fst (between (i / m))) (fun i -> snd (between (i / m))))
      now.lines;
    ascend now.weights slopes.weights mean_w square_w weight_step (fun _ -> 0.0) (fun _ -> infinity);
    current := evaluate goal now;
    if value_of !current > !top then begin
      top := value_of !current;
      best := { lines = Array.map Array.copy now.lines; weights = Array.copy now.weights }
    end
  done;
  (!best, !top)
