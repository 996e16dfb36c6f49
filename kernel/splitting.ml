(* Where to split a node: places are tried in floats, and the one is taken whose halves are nearest to being closed. *)

open Attempts

(* Places that are tried, of inputs and of neurons, and the steps of ascent in each half. *)
let most_inputs = 2
let most_neurons = 8
let steps = 12

type place = Input of int * Z.t | Neuron of int * int * Kernel.kind * float

let best count scored =
  List.filteri (fun n _ -> n < count) (List.sort (fun (a, _) (b, _) -> compare (b : float) a) scored) |> List.map snd

(* By how far an input's coefficient goes over its width. *)
let inputs_of state (found : Relaxing.pulled) =
  let sides = Array.of_list (top state).Kernel.area.sides and by_x, by_y = found.at_inputs in
  if not (few_free state) then []
  else begin
    let score i (l, u) = (Z.to_float (Z.sub u l) *. Lines.greater (Float.abs by_x.(i)) (Float.abs by_y.(i)), Input (i, Z.div (Z.add l u) (Z.of_int 2))) in
    let wide = List.filter (fun (_, (l, u)) -> Z.gt (Z.sub u l) Z.one) (List.mapi (fun i s -> (i, s)) (Array.to_list sides)) in
    best most_inputs (List.map (fun (i, s) -> score i s) wide)
  end

(* By what the lines of a neuron give away; where both networks are bent, also by the sign of their difference. *)
let neurons_of state known (found : Relaxing.pulled) =
  let scored = ref [] in
  List.iter
    (fun (t, loss_x, loss_y) ->
      let k : Relaxing.known = known.(t) in
      Array.iteri
        (fun i (f : Lines.shape) ->
          let kink (f : Lines.shape) kind loss low high =
            if loss > 0.0 then
              Array.iter (fun (b, _) -> if low < b && b < high then scored := (loss, Neuron (t, i, kind, b)) :: !scored) f.kinks
          in
          kink f Kernel.KX loss_x.(i) k.lx.(i) k.ux.(i);
          kink state.layers.(t).others.(i) Kernel.KY loss_y.(i) k.ly.(i) k.uy.(i);
          if loss_x.(i) > 0.0 && k.ld.(i) < 0.0 && k.ud.(i) > 0.0 then scored := (loss_x.(i), Neuron (t, i, Kernel.KD, 0.0)) :: !scored)
        state.layers.(t).shapes)
    (Lazy.force found.losses);
  best most_neurons !scored

(* The bounds of both halves, in floats. *)
let halves state known place =
  let half upper =
    let known = Array.map Relaxing.copy known and sides = box state in
    (match place with
    | Input (i, c) ->
        let l, u = sides.(i) and c = Z.to_float c in
        sides.(i) <- (if upper then (c, u) else (l, c));
        ignore (Tightening.imagine state sides known : Tightening.promises)
    | Neuron (t, i, kind, c) ->
        let k = known.(t) in
        Relaxing.changed k i;
        (match kind with
        | KX -> if upper then k.lx.(i) <- c else k.ux.(i) <- c
        | KY -> if upper then k.ly.(i) <- c else k.uy.(i) <- c
        | KD -> if upper then k.ld.(i) <- c else k.ud.(i) <- c));
    (known, sides)
  in
  (half false, half true)

let record state = function
  | Input (i, c) -> Kernel.RInput (state.naturals.(i), c)
  | Neuron (t, i, kind, c) -> Kernel.RCut (state.naturals.(t), state.naturals.(i), kind, Relaxing.integer c)

(* The obligation that is farthest from being refuted decides, of those that bounds of rows do not exclude. *)
let split state (known : Relaxing.known array) =
  let of_obligation obligation =
    let found, bound = Contracting.raised ~steps state known obligation in
    (bound, (obligation, found))
  in
  let all = (top state).Kernel.open0 in
  let left = match List.filter (fun o -> Foreseeing.room known.(0) o <= 0.0) all with [] -> all | some -> some in
  match List.sort (fun (a, _) (b, _) -> compare (a : float) b) (List.map of_obligation left) with
  | [] -> None
  | (before, (obligation, choices)) :: _ ->
      let _, found = Contracting.combined state known obligation choices in
      let inputs = inputs_of state found in
      let places = if inputs = [] then neurons_of state known found else inputs in
      let value place =
        let of_half (known, sides) =
          let goal = { (Contracting.goal_of state known obligation) with sides } in
          let goal = { goal with constraints = (fun p -> constrained state sides p) } in
          let _, bound = Ascending.maximise goal (Ascending.inherited state.layers known choices) steps in
          Lines.lesser 0.0 bound -. before
        in
        let one, other = halves state known place in
        let a = of_half one and b = of_half other in
        Lines.lesser a b +. (0.2 *. Lines.greater a b)
      in
      (match List.sort (fun (a, _) (b, _) -> compare (b : float) a) (List.map (fun place -> (value place, place)) places) with
      | [] -> None
      | (_, place) :: _ -> Some (record state place))
