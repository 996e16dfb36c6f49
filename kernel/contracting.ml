(* An obligation that is assumed alone: what follows from the sum of its limits.

   The limits are added up with weights and pulled to the inputs, along lines that are found by ascent. What comes out is
   0 >= a v + c over the box: where that is above 0 everywhere, the node is empty. Otherwise it bounds every input on one
   side, and raises bounds of neurons, to which it is added with the factor that suits. *)

open Attempts

let goal_of state known (obligation : Kernel.obligation) =
  let fact (q : Kernel.limit) =
    let row = Reader.int_of_nat q.neuron_of in
    let low, high = Tightening.interval known.(0) row q.kind_of in
    let limit = Z.to_float q.value_of in  (* which bounds have only where the obligation is assumed *)
    let number = if q.at_least then Lines.greater low limit else Lines.lesser high limit in
    { Ascending.row; kind = q.kind_of; at_least = q.at_least; number }
  in
  let sides = box state in
  { Ascending.layers = state.layers; knowns = known; sides; facts = Array.of_list (List.map fact obligation); wish = None;
    constraints = (fun p -> constrained state sides p) }

(* Steps of the ascent. *)
let most_steps = 40

(* Choices that were found last for this obligation, made to fit. *)
let start state (goal : Ascending.goal) obligation =
  match state.raised with
  | Some (same, found) when same == obligation -> Ascending.inherited state.layers goal.knowns found
  | _ -> Ascending.first_choices state.layers goal.knowns goal.facts

(* The best that is found for an obligation, and its bound. *)
let raised ?(steps = most_steps) state known obligation =
  let goal = goal_of state known obligation in
  let found, bound = Ascending.maximise goal (start state goal obligation) steps in
  state.raised <- Some (obligation, found);
  (found, bound)

(* What a weight of 1 is in the kernel's integers. *)
let size = Float.ldexp 1.0 30

(* The limits times weights, pulled to the inputs: hints, and coefficients of inputs. *)
let combined ?added ?rounded state known (obligation : Kernel.obligation) (choices : Ascending.choices) =
  let layer = state.layers.(0) in
  let m = Array.length layer.shapes in
  let x = Array.make m 0.0 and y = Array.make m 0.0 and d = Array.make m 0.0 in
  List.iteri
    (fun number (q : Kernel.limit) ->
      let weight = Float.round (size *. choices.weights.(number)) in
      let i = Reader.int_of_nat q.neuron_of in
      let into = match q.kind_of with Kernel.KX -> x | KY -> y | KD -> d in
      into.(i) <- into.(i) +. (if q.at_least then -.weight else weight))
    obligation;
  let width = if Array.length state.layers > 1 then Array.length state.layers.(1).shapes else state.inputs in
  let p = Array.make width 0.0 and q = Array.make width 0.0 in
  for i = 0 to m - 1 do
    Relaxing.add_row (x.(i) +. d.(i)) layer.rows1.(i) p;
    Relaxing.add_row (y.(i) -. d.(i)) layer.rows2.(i) q
  done;
  let choose j i p q =
    let { Lines.g; a; b; s } = Ascending.choose state.layers choices j i (p /. size) (q /. size) in
    { Lines.g = size *. g; a = size *. a; b = size *. b; s = size *. s }
  in
  let found = Relaxing.pull ?added ?rounded ~choose state.layers known state.inputs 0 p q in
  let hint i =
    { Kernel.link = Z.zero; slope_x = Relaxing.integer x.(i); slope_y = Relaxing.integer y.(i); slope_d = Relaxing.integer d.(i) }
  in
  ((Z.one, List.init m hint) :: Lazy.force found.hints, found)

(* The factor m >= 0 with which c + a v <= 0 raises the least of p v on a box the most, and by how much. *)
let best_factor sides c a p =
  let least m = (m *. c) +. Relaxing.least_on sides (Array.mapi (fun i pi -> pi +. (m *. a.(i))) p) in
  let without = least 0.0 in
  let best = ref 0.0 and top = ref without in
  Array.iteri
    (fun i ai ->
      if p.(i) *. ai < 0.0 then begin
        let m = -.p.(i) /. ai in
        let here = least m in
        if here > !top then (top := here; best := m)
      end)
    a;
  (!best, !top -. without)

(* The kernel's bound of a neuron from the sum that it is added to, which the node and [known] get. *)
let raise_with (added : Relaxing.added) state (known : Relaxing.known array) obligation choices kind least =
  let t = added.layer and i = added.neuron and rounded = ref 0.0 in
  let above, found = combined ~added ~rounded state known obligation choices in
  if !rounded > 0.0 && Float.is_finite !rounded then begin
    let n = state.naturals and hints = above @ with_constraints state found.at_base in
    take state (RBound (n.(t), n.(i), kind, least, Relaxing.integer !rounded, hints));
    state.pulls <- state.pulls + 1;
    Relaxing.set known.(t) i (bounds_of state t i);
    if Relaxing.crossed known.(t) i then ignore (takes state (RVoid (n.(t), n.(i))))
  end

(* Bounds of neurons where 0 >= c + a v is known, which was found from these choices. *)
let raise_neurons state (known : Relaxing.known array) obligation choices found c =
  let before = left state and sides = box state and a = Relaxing.by_inputs found in
  let raise_one t i kind least =
    match if closed state before then None else Hashtbl.find_opt state.slopes (number_of t i kind least) with
    | None -> ()
    | Some p ->
        let low, high = Tightening.interval known.(t) i kind in
        let factor, gain = best_factor sides c a p in
        if gain > Tightening.least_gain *. (high -. low) then begin
          let r = (if least then 1.0 else -1.0) /. factor in
          let factor_x, factor_y = match kind with Kernel.KX -> (r, 0.0) | KY -> (0.0, r) | KD -> (r, -.r) in
          let added = { Relaxing.layer = t; neuron = i; factor_x; factor_y } in
          raise_with added state known obligation choices kind least
        end
  in
  for t = Array.length state.layers - 1 downto 1 do
    let k = known.(t) in
    Array.iteri
      (fun i f ->
        let bent_x () = Lines.bent f k.lx.(i) k.ux.(i) and bent_y () = Lines.bent state.layers.(t).others.(i) k.ly.(i) k.uy.(i) in
        let both kind = raise_one t i kind true; raise_one t i kind false in
        if bent_x () then both Kernel.KX;
        if bent_y () then both KY;
        if bent_x () || bent_y () then both KD)
      state.layers.(t).shapes
  done

(* Inputs of which each is bounded by the sum. *)
let most_inputs = 64

(* The part of its width by which an input must be expected to shrink. *)
let least_cut = 0.02

(* What 0 >= c + a v says of every input. *)
let cut_inputs state above (found : Relaxing.pulled) c =
  let before = left state and sides = box state and a = Relaxing.by_inputs found in
  let rest = Relaxing.least_on sides a in
  Array.iteri
    (fun i (l, u) ->
      let others = c +. rest -. Lines.lesser (a.(i) *. l) (a.(i) *. u) in
      let gain = if a.(i) > 0.0 then u +. (others /. a.(i)) else if a.(i) < 0.0 then -.(others /. a.(i)) -. l else 0.0 in
      if (not (closed state before)) && gain > least_cut *. (u -. l) then begin
        let base = found.at_base in
        let p = Array.copy base in
        p.(i) <- 0.0;
        let hints = above @ with_constraints state p in
        take state (RBoundInput (state.naturals.(i), base.(i) < 0.0, Relaxing.integer (Float.abs base.(i)), hints));
        ignore (takes state (REmpty state.naturals.(i)))
      end)
    sides

(* The leaf that a bound above 0 promises. *)
let leaf state bound above (found : Relaxing.pulled) =
  bound > 0.0 && takes state (RLeaf (above @ with_constraints state found.at_base))

(* True if the node is closed; where it is not, bounds are told only if it is to go on. *)
let contract state known (obligation : Kernel.obligation) going_on =
  let choices, bound = raised state known obligation in
  let above, found = combined state known obligation choices in
  let before = left state in
  leaf state bound above found
  || going_on && state.inputs <= most_inputs
     && begin
          let c = (size *. bound) -. Relaxing.least_on (box state) (Relaxing.by_inputs found) in
          cut_inputs state above found c;
          if not (closed state before) then raise_neurons state known obligation choices found c;
          closed state before
        end
