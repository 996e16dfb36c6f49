(* Bounds of neurons under an assumption, each with weights and lines of its own: what one factor for the whole sum cannot
   give. Only the neurons whose lines give away the most are bounded, and only where inputs are too many to be split, which is
   cheaper where they are few. *)

open Attempts

let most_neurons = 12
let steps = 15

(* The neurons whose lines give away the most. *)
let worst (found : Relaxing.pulled) =
  let scored = ref [] in
  List.iter
    (fun (t, loss_x, loss_y) ->
      Array.iteri (fun i x -> let loss = x +. loss_y.(i) in if loss > 0.0 then scored := (loss, (t, i)) :: !scored) loss_x)
    (Lazy.force found.losses);
  let in_order = List.sort (fun (a, _) (b, _) -> compare (b : float) a) !scored in
  (* Layers that come first are bounded first. *)
  List.sort (fun (a, _) (b, _) -> compare (b : int) a) (List.filteri (fun n _ -> n < most_neurons) in_order |> List.map snd)

(* Choices with the weights of the sum times a factor. *)
let scaled (layers : Relaxing.layer array) (choices : Ascending.choices) m =
  let lines j l =
    let width = Array.length layers.(j).shapes in
    Array.mapi (fun n v -> if n >= Ascending.more_x * width then m *. v else v) l
  in
  { Ascending.lines = Array.mapi lines choices.lines; weights = Array.map (fun w -> m *. w) choices.weights }

(* [known] and the kernel's node get what is found; true if that closes the node. *)
let narrow state (known : Relaxing.known array) obligation choices (found : Relaxing.pulled) bound =
  let before = left state and sides = box state in
  let a = Relaxing.by_inputs found in
  let c = (Contracting.size *. bound) -. Relaxing.least_on sides a in
  let one t i kind least =
    let factor =
      match Hashtbl.find_opt state.slopes (number_of t i kind least) with
      | None -> 0.0
      | Some p -> Contracting.size *. fst (Contracting.best_factor sides c a p)
    in
    let sign = if least then 1.0 else -1.0 in
    let x, y = match kind with Kernel.KX -> (sign, 0.0) | KY -> (0.0, sign) | KD -> (sign, -.sign) in
    let wish size = { Relaxing.layer = t; neuron = i; factor_x = size *. x; factor_y = size *. y } in
    let goal = { (Contracting.goal_of state known obligation) with wish = Some (wish 1.0) } in
    let own, promised = Ascending.maximise ~enough:false goal (scaled state.layers choices factor) steps in
    if Tightening.is_worth state known t i kind least (sign *. promised) then
      Contracting.raise_with (wish Contracting.size) state known obligation own kind least
  in
  List.iter
    (fun (t, i) ->
      let f = state.layers.(t).shapes.(i) and h = state.layers.(t).others.(i) and k = known.(t) in
      let both kind still = List.iter (fun least -> if (not (closed state before)) && still () then one t i kind least) [ true; false ] in
      let bent_x () = Lines.bent f k.lx.(i) k.ux.(i) and bent_y () = Lines.bent h k.ly.(i) k.uy.(i) in
      both Kernel.KX bent_x;
      both KY bent_y;
      both KD (fun () -> bent_x () || bent_y ()))
    (worst found);
  closed state before

(* The sum once more after what it has told, before and after bounds of neurons; true if that closes the node. *)
let refute state known obligation =
  let before = left state in
  let choices, bound = Contracting.raised state known obligation in
  let above, found = Contracting.combined state known obligation choices in
  Contracting.leaf state bound above found
  || ((not (few_free state)) && narrow state known obligation choices found bound)
  || begin
       let choices, bound = Contracting.raised state known obligation in
       let above, found = Contracting.combined state known obligation choices in
       Contracting.leaf state bound above found
     end
  || closed state before
