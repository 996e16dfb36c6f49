(* What choices of lines, links and weights prove in floats, and how that changes with them.

   What a pull proves is the dual of a linear program: facts about rows of the claim with weights, and for every neuron
   lines below its functions. As a function of all of these it is concave, and where a choice of lines says how low the
   inputs and neurons may go, that place is a subgradient. So one sweep down through the layers and one back up give them
   all. Both are done thousands of times, so all arrays are made once for many sweeps, and nothing in the loops allocates. *)

open Lines
open Relaxing

(* What is known of a row of the claim: its quantity is at least, or at most, a number. *)
type fact = { row : int; kind : Kernel.kind; at_least : bool; number : float }

(* Per layer, in blocks as long as it is wide: slopes of the line below f and -f of x, the same of y, those of the
   difference and its negation, the part that goes through the link, and what is added to the three slopes. *)
type choices = { lines : float array array; weights : float array }

let blocks = 10
let x_up, y_up, d_up, through, more_x, more_y, more_d = (0, 2, 4, 6, 7, 8, 9)

(* What is bounded: facts times weights, and perhaps a quantity that is added on the way, in real units. [constraints] gives
   for coefficients of inputs those with constraints added, and what that adds to the bound. *)
type goal = { layers : layer array; knowns : known array; sides : (float * float) array; facts : fact array;
              wish : added option; constraints : float array -> float array * float }

let signs fact = match fact.kind with Kernel.KX -> (1.0, 0.0) | KY -> (0.0, 1.0) | KD -> (1.0, -1.0)

(* What does not change with the choices: the least and the greatest slope, what rounding adds for both signs of either
   network's coefficient, and whether both networks agree. *)
type fixed = { least : float array; most : float array; rounded : float array; same : bool array }

let fixed_of (layer : layer) (k : known) =
  let m = Array.length layer.shapes in
  let least = Array.make m 0.0 and most = Array.make m 0.0 and rounded = Array.make (4 * m) 0.0 in
  for i = 0 to m - 1 do
    let f = layer.shapes.(i) and h = layer.others.(i) in
    let low, high = steepest f (Lines.lesser k.lx.(i) k.ly.(i)) (Lines.greater k.ux.(i) k.uy.(i)) in
    least.(i) <- low;
    most.(i) <- high;
    rounded.(i) <- rounding f 1.0 k.lx.(i) k.ux.(i);
    rounded.(m + i) <- rounding f (-1.0) k.lx.(i) k.ux.(i);
    rounded.((2 * m) + i) <- rounding h 1.0 k.ly.(i) k.uy.(i);
    rounded.((3 * m) + i) <- rounding h (-1.0) k.ly.(i) k.uy.(i)
  done;
  { least; most; rounded; same = Array.init m (agrees layer k) }

(* Where sweeps leave what they find: coefficients of what each layer gives and of the inputs, lines (g, a, b and s one behind
   the other), where the lines of x, y and d touch, the corner of inputs, what layers give there, and subgradients. *)
type room = { fixed : fixed array; ps : float array array; qs : float array array; chosen : float array array;
              places : float array array; corner : float array; xs : float array array; ys : float array array;
              slopes : float array array }

let room_of goal =
  let layers = goal.layers in
  let count = Array.length layers and inputs = Array.length goal.sides in
  let width j = if j < count then Array.length layers.(j).shapes else inputs in
  let arrays upto factor = Array.init upto (fun j -> Array.make (factor * width j) 0.0) in
  let none = { least = [||]; most = [||]; rounded = [||]; same = [||] } in
  { fixed = Array.mapi (fun j layer -> if j = 0 then none else fixed_of layer goal.knowns.(j)) layers;
    ps = arrays (count + 1) 1; qs = arrays (count + 1) 1; chosen = arrays count 4; places = arrays count 3;
    corner = Array.make inputs 0.0; xs = arrays count 1; ys = arrays count 1; slopes = arrays count blocks }

let clear arrays = Array.iter (fun a -> Array.fill a 0 (Array.length a) 0.0) arrays

let[@inline] of_sign v block = if v >= 0.0 then block else block + 1
let[@inline] sign v = if v >= 0.0 then 1.0 else -1.0

(* The function that is [down] times v below 0 and [up] times v above, where t v is above it: the difference of a function
   at two places, whose slopes are between [least] and [most]. *)
let[@inline] between least most t v =
  let up = if t >= 0.0 then least else most and down = if t >= 0.0 then most else least in
  let total = (down *. v) +. 0.0 in
  if v > 0.0 then total +. ((up -. down) *. (v -. 0.0)) else total

(* Where p f(v) - a v is least on [l, u]. *)
let[@inline] lowest_place f p a l u =
  let best = ref l and least = ref ((p *. value f l) -. (a *. l)) in
  let here = (p *. value f u) -. (a *. u) in
  if here < !least then (least := here; best := u);
  for k = 0 to Array.length f.at - 1 do
    let b = f.at.(k) in
    if l < b && b < u then begin
      let here = (p *. value f b) -. (a *. b) in
      if here < !least then (least := here; best := b)
    end
  done;
  !best

(* The same of t times [between]. *)
let[@inline] lowest_between least most t a l u =
  let at_l = (t *. between least most t l) -. (a *. l) and at_u = (t *. between least most t u) -. (a *. u) in
  let best = if at_u < at_l then u else l and lower = if at_u < at_l then at_u else at_l in
  if l < 0.0 && 0.0 < u && (t *. between least most t 0.0) -. (a *. 0.0) < lower then 0.0 else best

let[@inline] dot row x =
  let total = ref 0.0 in
  for i = 0 to Array.length row - 1 do
    total := !total +. (Array.unsafe_get row i *. Array.unsafe_get x i)
  done;
  !total

(* Coefficients x and y of the arguments of neuron i of layer j, handed on to what they read; what that adds to a bound. *)
let[@inline] handed_on layer room j i x y bound =
  let x = x /. layer.denominator and y = y /. layer.denominator in
  add_row x layer.rows1.(i) room.ps.(j + 1);
  add_row y layer.rows2.(i) room.qs.(j + 1);
  bound +. (x *. layer.biases1.(i)) +. (y *. layer.biases2.(i)) -. taken_by_errors layer i x y

(* The lines of a layer for the coefficients of its functions, and what they add to the bound. *)
let bound_layer goal room choices j start =
  let layer = goal.layers.(j) and k = goal.knowns.(j) and fixed = room.fixed.(j) in
  let p = room.ps.(j) and q = room.qs.(j) and at = room.places.(j) and into = room.chosen.(j) and lines = choices.lines.(j) in
  let m = Array.length layer.shapes and bound = ref start in
  for i = 0 to m - 1 do
    if q.(i) <> 0.0 && fixed.same.(i) then (p.(i) <- p.(i) +. q.(i); q.(i) <- 0.0);
    let p0 = p.(i) and q0 = q.(i) and f = layer.shapes.(i) and h = layer.others.(i) in
    let g = lines.((through * m) + i) *. shared p0 q0 in
    let p = p0 +. g and q = q0 -. g and t = -.g in
    let a = (Float.abs p *. lines.((of_sign p x_up * m) + i)) +. lines.((more_x * m) + i) in
    let b = (Float.abs q *. lines.((of_sign q y_up * m) + i)) +. lines.((more_y * m) + i) in
    let s = (Float.abs t *. lines.((of_sign t d_up * m) + i)) +. lines.((more_d * m) + i) in
    into.(i) <- g; into.(m + i) <- a; into.((2 * m) + i) <- b; into.((3 * m) + i) <- s;
    let p' = beside f p0 g and q' = beside f q0 t in
    bound := !bound +. (p' *. fixed.rounded.((of_sign p' 0 * m) + i)) +. (q' *. fixed.rounded.((of_sign q' 2 * m) + i));
    if p <> 0.0 || a <> 0.0 then begin
      let v = lowest_place f p a k.lx.(i) k.ux.(i) in
      at.(i) <- v;
      bound := !bound +. (p *. value f v) -. (a *. v)
    end;
    if q <> 0.0 || b <> 0.0 then begin
      let v = lowest_place h q b k.ly.(i) k.uy.(i) in
      at.(m + i) <- v;
      bound := !bound +. (q *. value h v) -. (b *. v)
    end;
    if g <> 0.0 || s <> 0.0 then begin
      let least = fixed.least.(i) and most = fixed.most.(i) in
      let v = lowest_between least most t s k.ld.(i) k.ud.(i) in
      at.((2 * m) + i) <- v;
      bound := !bound -. (g *. between least most t v) -. (s *. v)
    end;
    bound := handed_on layer room j i (a +. s) (b -. s) !bound
  done;
  match goal.wish with
  | Some one when one.layer = j -> handed_on layer room j one.neuron one.factor_x one.factor_y !bound
  | _ -> !bound

(* The bound; the room has where the inputs and neurons stand that are lowest. *)
let evaluate goal room choices =
  let count = Array.length goal.layers and bound = ref 0.0 in
  clear room.ps;
  clear room.qs;
  for n = 0 to Array.length goal.facts - 1 do
    let fact = goal.facts.(n) and w = choices.weights.(n) in
    if w <> 0.0 then begin
      let x, y = signs fact and w = if fact.at_least then -.w else w in
      bound := handed_on goal.layers.(0) room 0 fact.row (w *. x) (w *. y) !bound;
      bound := !bound -. (w *. fact.number)
    end
  done;
  for j = 1 to count - 1 do bound := bound_layer goal room choices j !bound done;
  let base, more = goal.constraints (Array.map2 ( +. ) room.ps.(count) room.qs.(count)) in
  Array.iteri (fun i (l, u) -> room.corner.(i) <- (if base.(i) >= 0.0 then l else u)) goal.sides;
  !bound +. more +. least_on goal.sides base

(* Of one kind of line: its subgradients, and what a coefficient of its function adds. It was chosen where it is [used], touches
   at v, and has there, or at the quantity itself where it was not, this height. *)
let[@inline] along height used v lines into m i slope_block more_block coefficient quantity =
  let by_slope = if used then quantity -. v else 0.0 and block = of_sign coefficient slope_block in
  into.((block * m) + i) <- Float.abs coefficient *. by_slope;
  into.((more_block * m) + i) <- by_slope;
  height +. (sign coefficient *. lines.((block * m) + i) *. by_slope)

(* Subgradients of the lines of a layer from what it reads, and what it gives. *)
let climb_layer goal room choices j xs ys =
  let layer = goal.layers.(j) and fixed = room.fixed.(j) and at = room.places.(j) in
  let lines = choices.lines.(j) and into = room.slopes.(j) and chosen = room.chosen.(j) in
  let ps = room.ps.(j) and qs = room.qs.(j) and next_x = room.xs.(j) and next_y = room.ys.(j) in
  let m = Array.length layer.shapes in
  for i = 0 to m - 1 do
    let f = layer.shapes.(i) and h = layer.others.(i) and p = ps.(i) and q = qs.(i) in
    let g = chosen.(i) and a = chosen.(m + i) and b = chosen.((2 * m) + i) and s = chosen.((3 * m) + i) in
    let x = (dot layer.rows1.(i) xs +. layer.biases1.(i)) /. layer.denominator in
    let y = (dot layer.rows2.(i) ys +. layer.biases2.(i)) /. layer.denominator in
    let pi = p +. g and qi = q -. g and t = -.g and shared = shared p q in
    let used_x = pi <> 0.0 || a <> 0.0 and used_y = qi <> 0.0 || b <> 0.0 and used_d = g <> 0.0 || s <> 0.0 in
    let vx = at.(i) and vy = at.(m + i) and vd = at.((2 * m) + i) in
    let by_p = along (value f (if used_x then vx else x)) used_x vx lines into m i x_up more_x pi x in
    let by_q = along (value h (if used_y then vy else y)) used_y vy lines into m i y_up more_y qi y in
    let by_t =
      if p *. q >= 0.0 && s = 0.0 then 0.0
      else
        let t = if t <> 0.0 then t else -.shared in
        let height = between fixed.least.(i) fixed.most.(i) t (if used_d then vd else x -. y) in
        along height used_d vd lines into m i d_up more_d t (x -. y)
    in
    let by_g = by_p -. by_q -. by_t in
    into.((through * m) + i) <- shared *. by_g;
    let part = lines.((through * m) + i) *. by_g in
    let by_first = shared <> 0.0 && Float.abs p < Float.abs q and by_second = shared <> 0.0 && Float.abs p >= Float.abs q in
    next_x.(i) <- by_p +. fixed.rounded.((of_sign p 0 * m) + i) -. (if by_first then part else 0.0);
    next_y.(i) <- by_q +. fixed.rounded.((of_sign q 2 * m) + i) +. (if by_second then part else 0.0);
    if fixed.same.(i) then next_y.(i) <- next_x.(i)
  done

(* Subgradients of weights, after a bound; those of lines are in the room. *)
let subgradients goal room choices =
  let count = Array.length goal.layers in
  clear room.slopes;
  for j = count - 1 downto 1 do
    if j = count - 1 then climb_layer goal room choices j room.corner room.corner
    else climb_layer goal room choices j room.xs.(j + 1) room.ys.(j + 1)
  done;
  let xs, ys = if count > 1 then (room.xs.(1), room.ys.(1)) else (room.corner, room.corner) in
  let of_fact fact =
    let layer = goal.layers.(0) and sx, sy = signs fact in
    let x = if sx = 0.0 then 0.0 else (dot layer.rows1.(fact.row) xs +. layer.biases1.(fact.row)) /. layer.denominator in
    let y = if sy = 0.0 then 0.0 else (dot layer.rows2.(fact.row) ys +. layer.biases2.(fact.row)) /. layer.denominator in
    let quantity = (sx *. x) +. (sy *. y) in
    if fact.at_least then fact.number -. quantity else quantity -. fact.number
  in
  Array.map of_fact goal.facts
