(* Levels that are to fit their types: the arguments of quantisers are bounded layer by layer, and where that is too weak an
   input is halved. The obligations are about neurons of any layer, one bound each. *)

open Attempts

(* Whether this is what is asked: every obligation is about one neuron of a layer of the networks. *)
let is_asked state =
  state.obligations <> [||]
  && Array.for_all (function [ (q : Kernel.limit) ] -> q.layer_of <> Kernel.O | _ -> false) state.obligations

(* The neurons whose obligations are open, from the first layer on, each with the side on which it is to be bounded. *)
let wanted state =
  let of_limit (q : Kernel.limit) = (Reader.int_of_nat q.layer_of, Reader.int_of_nat q.neuron_of, q) in
  List.sort (fun (t, _, _) (u, _, _) -> compare (u : int) t) (List.map of_limit (List.concat (top state).Kernel.open0))

(* Bounds of all of them that floats promise to be tighter than what is known. *)
let bound_all state known =
  List.iter
    (fun (t, i, (q : Kernel.limit)) ->
      let least = not q.at_least in
      let (_, _, promised) as one = Tightening.pulled state (box state) known t i q.kind_of least in
      if Tightening.is_tighter known.(t) i q.kind_of least promised then Tightening.keep state known t i q.kind_of least one)
    (wanted state)

(* By how much of its width a bound reaches beyond the type. *)
let excess (known : Relaxing.known array) (t, i, (q : Kernel.limit)) =
  let low, high = Tightening.interval known.(t) i q.kind_of and value = Z.to_float q.value_of in
  (if q.at_least then high -. value else value -. low) /. Lines.greater 1.0 (high -. low)

(* The argument of a neuron of the second network at a point, as if nothing were rounded. *)
let argument state point t i =
  let argument_of below j i =
    let layer = state.layers.(j) in
    (Ascending.dot layer.rows2.(i) below +. layer.biases2.(i)) /. layer.denominator
  in
  let rec values j =
    if j = Array.length state.layers then point
    else
      let below = values (j + 1) in
      Array.mapi (fun i f -> Lines.value f (argument_of below j i)) state.layers.(j).others
  in
  argument_of (values (t + 1)) t i

(* The part of its interval by which an argument has to leave its type for floats to say that it does. *)
let clearly = 0.05

(* Whether a corner of the box seems to break the claim, the one to which the slopes of a bound point. *)
let breaks state (known : Relaxing.known array) (t, i, (q : Kernel.limit)) by_inputs =
  let corner = Array.mapi (fun j (l, u) -> if by_inputs.(j) < 0.0 then u else l) (box state) in
  let low, high = Tightening.interval known.(t) i q.kind_of and value = Z.to_float q.value_of in
  let beyond = argument state corner t i -. value in
  (if q.at_least then beyond else -.beyond) > clearly *. (high -. low)
  && Array.for_all2 (fun row limit -> Ascending.dot row corner <= limit) state.rows state.limits

(* The input whose width counts most in the bound that reaches farthest beyond its type. *)
let split state known =
  let worst = List.sort (fun a b -> compare (excess known b : float) (excess known a)) (wanted state) in
  let best ((t, i, (q : Kernel.limit)) as one) =
    let _, found, _ = Tightening.pulled state (box state) known t i q.kind_of (not q.at_least) in
    let by_inputs = Relaxing.by_inputs found and most = ref 0.0 and at = ref None in
    if breaks state known one by_inputs then
      Reader.refuse "a level seems to leave its type at an input of the region: row %d of layer %d" i (Array.length state.layers - 1 - t);
    List.iteri
      (fun j (l, u) ->
        let counts = Float.abs by_inputs.(j) *. Z.to_float (Z.sub u l) in
        if Z.gt (Z.sub u l) Z.one && counts > !most then (most := counts; at := Some (j, Z.div (Z.add l u) (Z.of_int 2))))
      (top state).Kernel.area.sides;
    !at
  in
  Option.map (fun (j, middle) -> Kernel.RInput (state.naturals.(j), middle)) (List.find_map best worst)

(* The bounds of the node at hand, if it is not closed by them. *)
let still_open state =
  let before = left state in
  take state RDone;
  let known = if closed state before then [||] else (Tightening.shrink state; Tightening.tighten state) in
  if not (closed state before) then begin
    bound_all state known;
    take state RDone
  end;
  settle state;
  if closed state before then (state.leaves <- state.leaves + 1; None) else Some known
