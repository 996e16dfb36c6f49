(* A proof under way, and what is tried on the node at hand. Nothing here is trusted, nor in any file that makes records:
   a proof changes by records that the kernel takes, and by nothing else (proof.mli). What was tried in vain is dropped
   together with its records, back to an earlier state of the same proof. *)

type state = {
  net : Kernel.net;
  layers : Relaxing.layer array; (* from the last, which has the rows of the claim, to the first *)
  inputs : int;
  obligations : Kernel.obligation array;
  naturals : Kernel.nat array;
  rows : float array array; (* of the constraints *)
  limits : float array;
  mutable proof : Proof.t;
  mutable pending : Kernel.record list; (* taken, not yet told; none where nobody listens, which frees their hints *)
  mutable untold : int; (* how many they are *)
  tell : (Kernel.record -> unit) option;
  mutable records : int;
  mutable pulls : int;
  mutable leaves : int;
  mutable splits : int;
  mutable raised : (Kernel.obligation * Ascending.choices) option; (* what was found last for an obligation assumed alone *)
  mutable foreseen : Relaxing.known array option list; (* per node that is left: bounds that floats promise, to be copied *)
  slopes : (int, float array) Hashtbl.t; (* of a bound that was pulled, by its number: coefficients of inputs *)
}

let start question proof tell =
  let net = Kernel.problem question in
  let root = List.hd (Proof.nodes proof) in
  let rec layers_of net known =
    match (net, known) with
    | layer :: net, _ :: known -> Relaxing.layer_of layer (Z.to_float (Kernel.reach layer net root.Kernel.area known)) :: layers_of net known
    | _ -> []
  in
  let layers = Array.of_list (layers_of net root.known_of) in
  let inputs = List.length question.Kernel.ranges in
  let widest = Array.fold_left (fun m (l : Relaxing.layer) -> max m (Array.length l.shapes)) inputs layers in
  let most = 2 + max widest (Array.length layers) in
  let naturals = Array.make (most + 1) Kernel.O in
  for i = 1 to most do naturals.(i) <- Kernel.S naturals.(i - 1) done;
  let constraints = root.area.constraints in
  let rows = Array.of_list (List.map (fun (r, _) -> Array.of_list (List.map Relaxing.float_of r)) constraints) in
  let limits = Array.of_list (List.map (fun (_, b) -> Relaxing.float_of b) constraints) in
  { rows; limits; net; layers; inputs; obligations = Array.of_list root.open0; naturals; proof; pending = []; untold = 0; tell;
    records = 0; pulls = 0; leaves = 0; splits = 0; raised = None; foreseen = [ None ]; slopes = Hashtbl.create 997 }

let settle state =
  Option.iter (fun tell -> List.iter tell (List.rev state.pending)) state.tell;
  state.records <- state.records + state.untold;
  state.pending <- [];
  state.untold <- 0

(* A record, taken by the kernel or not. *)
let takes state record =
  match Proof.step state.proof record with
  | None -> false
  | Some next ->
      let before = List.length (Proof.nodes state.proof) and after = List.length (Proof.nodes next) in
      (match state.foreseen with
      | here :: others -> state.foreseen <- (if after > before then here :: here :: others else if after < before then others else state.foreseen)
      | [] -> ());
      state.proof <- next;
      if state.tell <> None then state.pending <- record :: state.pending;
      state.untold <- state.untold + 1;
      true

let take state record =
  if not (takes state record) then Reader.refuse "the kernel refuses record %d" (state.records + state.untold + 1)

let attempt state doing =
  let proof = state.proof and pending = state.pending and untold = state.untold and foreseen = state.foreseen in
  doing ()
  || (state.proof <- proof; state.pending <- pending; state.untold <- untold; state.foreseen <- foreseen; false)

(* The number of a bound of a neuron: a key that costs little. *)
let number_of t i kind least =
  let kind = match kind with Kernel.KX -> 0 | KY -> 1 | KD -> 2 in
  (((((t lsl 32) lor i) * 3) + kind) * 2) + Bool.to_int least

let left state = List.length (Proof.nodes state.proof)

(* Whether the node at hand was closed since so many were left. *)
let closed state before = left state < before

let top state = match Proof.nodes state.proof with node :: _ -> node | [] -> Reader.refuse "records go on after the proof is complete"
let knowns state = Array.of_list (List.map Relaxing.known_of (top state).known_of)

(* The bounds of one neuron in the node at hand. *)
let bounds_of state t i = List.nth (List.nth (top state).known_of t) i

let box state = Array.of_list (List.map (fun (l, u) -> (Z.to_float l, Z.to_float u)) (top state).Kernel.area.sides)

let volume state =
  Array.fold_left (fun v (l, u) -> v +. Float.log (Float.max 1.0 (u -. l))) 0.0 (box state)

(* Multipliers of the constraints for these coefficients of inputs, on a box. *)
let multipliers state sides p =
  Relaxing.multipliers state.rows state.limits (Array.map fst sides) (Array.map snd sides) p

(* The same as the last of the hints. *)
let with_constraints state p =
  if state.rows = [||] then []
  else begin
    let hint m = { Kernel.link = Relaxing.integer m; slope_x = Z.zero; slope_y = Z.zero; slope_d = Z.zero } in
    [ (Z.one, Array.to_list (Array.map hint (multipliers state (box state) p))) ]
  end

(* Coefficients of inputs with the constraints that help on a box, and what these add. *)
let constrained state sides p =
  if state.rows = [||] then (p, 0.0) else Relaxing.constrained state.rows state.limits (multipliers state sides p) p

(* What a pull is at least in floats, in real units. *)
let estimated state sides (found : Relaxing.pulled) =
  let p, more = constrained state sides found.at_base in
  found.beside +. (found.unit *. (more +. Relaxing.least_on sides p))

(* What coefficients in real units are at least; multipliers of constraints are integers beside large ones. *)
let least_of_inputs state sides p =
  let size = if state.rows = [||] then 1.0 else Array.fold_left (fun m v -> Float.max m (Float.abs v)) 1e-300 p /. 0x1p40 in
  let p, more = constrained state sides (if size = 1.0 then p else Array.map (fun v -> v /. size) p) in
  size *. (more +. Relaxing.least_on sides p)

let unhinted count = List.init count (fun _ -> (Z.one, []))

(* Whether so few inputs are free that to split them is the best that can be done. *)
let most_free = 32
let few_free state =
  List.fold_left (fun c (l, u) -> if Z.lt l u then c + 1 else c) 0 (top state).Kernel.area.sides <= most_free
