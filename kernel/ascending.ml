(* Slopes, links and weights that raise a bound, by subgradients: steps are those of Adam. Only floats: the kernel calculates
   the bound of whatever is found. *)

include Bounding
open Lines
open Relaxing

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

(* The line of a neuron for these coefficients of its functions. *)
let line_of choices m j i p q =
  let lines = choices.lines.(j) in
  let at block = lines.((block * m) + i) in
  let g = at through *. shared p q in
  let p = p +. g and q = q -. g and t = -.g in
  { g; a = (Float.abs p *. at (of_sign p x_up)) +. at more_x;
    b = (Float.abs q *. at (of_sign q y_up)) +. at more_y;
    s = (Float.abs t *. at (of_sign t d_up)) +. at more_d }

(* As [Relaxing.pull] asks for them. *)
let choose layers choices j i p q = line_of choices (Array.length layers.(j).shapes) j i p q

(* Where a slope may be added besides: bounds that lie on a kink are most often those of a cut. *)
let cut_at_kink f l u = Array.exists (fun (b, _) -> l = b || u = b) f.kinks

(* How far a step goes at most, per number: none for what has one good value, and lines that stay between slopes. *)
let steps goal room choices =
  let ps = room.ps and qs = room.qs in
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
          let range = 0.1 *. (room.fixed.(j).most.(i) -. room.fixed.(j).least.(i)) in
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

(* One step of numbers along their gradient: [far] at most each, less towards the end; those from [first] to [last] stay
   between 0 and 1, the others are no less than [low]. *)
type pace = { shorter : float; of_mean : float; of_square : float }

let ascend pace numbers gradient mean square step first last low =
  for i = 0 to Array.length numbers - 1 do
    let far : float = step.(i) in
    if far > 0.0 then begin
      let by : float = gradient.(i) in
      mean.(i) <- (0.9 *. mean.(i)) +. (0.1 *. by);
      square.(i) <- (0.95 *. square.(i)) +. (0.05 *. by *. by);
      let size = sqrt (square.(i) *. pace.of_square) in
      if size > 0.0 then begin
        let moved = numbers.(i) +. (pace.shorter *. far *. mean.(i) *. pace.of_mean /. size) in
        numbers.(i) <-
          (if first <= i && i <= last then Lines.lesser 1.0 (Lines.greater 0.0 moved) else Lines.greater low moved)
      end
    end
  done

(* From these choices upward, in so many steps, or until the bound is above 0 where that is [enough]: the best that was
   found, and its bound. *)
let maximise ?(enough = true) goal start count =
  let copy = Array.map Array.copy and zeros = Array.map (fun l -> Array.make (Array.length l) 0.0) in
  let now = { lines = copy start.lines; weights = Array.copy start.weights } in
  let room = room_of goal in
  let first = evaluate goal room now in
  let step = steps goal room now in
  let size fact = Array.fold_left (fun m a -> Lines.greater m (Float.abs a)) 1.0 goal.layers.(0).rows1.(fact.row) in
  let weight_step = Array.mapi (fun n fact -> if n = 0 && goal.wish = None then 0.0 else 0.1 /. size fact) goal.facts in
  let mean = zeros now.lines and square = zeros now.lines in
  let weights = Array.length now.weights in
  let mean_w = Array.make weights 0.0 and square_w = Array.make weights 0.0 in
  let best = ref start and top = ref first and n = ref 0 in
  while !n < count && not (enough && !top > 0.0) do
    incr n;
    let of_weights = subgradients goal room now in
    let t = float_of_int !n in
    let pace = { shorter = 1.0 -. (0.9 *. (t -. 1.0) /. float_of_int count);
                 of_mean = 1.0 /. (1.0 -. (0.9 ** t)); of_square = 1.0 /. (1.0 -. (0.95 ** t)) } in
    Array.iteri
      (fun j lines ->
        let m = Array.length goal.layers.(j).shapes in
        ascend pace lines room.slopes.(j) mean.(j) square.(j) step.(j) (through * m) (((through + 1) * m) - 1) neg_infinity)
      now.lines;
    ascend pace now.weights of_weights mean_w square_w weight_step 0 (-1) 0.0;
    let found = evaluate goal room now in
    if found > !top then begin
      top := found;
      if !best == start then best := { lines = copy now.lines; weights = Array.copy now.weights }
      else begin
        Array.iteri (fun j lines -> Array.blit lines 0 !best.lines.(j) 0 (Array.length lines)) now.lines;
        Array.blit now.weights 0 !best.weights 0 weights
      end
    end
  done;
  (!best, !top)
