(* Writes records where a stream asks for it: bounds of what is open, goals, splits. Nothing here is trusted: a proof
   changes by records that the kernel takes, and by nothing else (proof.mli). What was tried in vain is dropped together
   with its records, back to an earlier state of the same proof. *)

type state = {
  net : Kernel.net;
  layers : Relaxing.layer array; (* from the last, which has the rows of the claim, to the first *)
  inputs : int;
  obligations : Kernel.obligation array;
  naturals : Kernel.nat array;
  rows : float array array; (* of the constraints *)
  limits : float array;
  mutable proof : Proof.t;
  mutable pending : Kernel.record list; (* taken, not yet told *)
  mutable tell : Kernel.record -> unit;
  mutable records : int;
  mutable pulls : int;
  mutable leaves : int;
  mutable splits : int;
  mutable weights : (Kernel.obligation * float array) option; (* that were found last for an obligation assumed alone *)
  slopes : (int * int * Kernel.kind * bool, float array) Hashtbl.t; (* of a bound that was pulled: coefficients of inputs *)
}

let start question proof tell =
  let net = Kernel.problem question in
  let layers = Array.of_list (List.map Relaxing.layer_of net) in
  let inputs = List.length question.Kernel.ranges in
  let widest = Array.fold_left (fun m (l : Relaxing.layer) -> max m (Array.length l.shapes)) inputs layers in
  let most = 2 + max widest (Array.length layers) in
  let naturals = Array.make (most + 1) Kernel.O in
  for i = 1 to most do naturals.(i) <- Kernel.S naturals.(i - 1) done;
  let root = List.hd (Proof.nodes proof) in
  let constraints = root.area.constraints in
  let rows = Array.of_list (List.map (fun (r, _) -> Array.of_list (List.map Relaxing.float_of r)) constraints) in
  let limits = Array.of_list (List.map (fun (_, b) -> Relaxing.float_of b) constraints) in
  { rows; limits; net; layers; inputs; obligations = Array.of_list root.open0; naturals; proof; pending = []; tell; records = 0; pulls = 0;
    leaves = 0; splits = 0; weights = None; slopes = Hashtbl.create 997 }

let settle state =
  List.iter (fun r -> state.records <- state.records + 1; state.tell r) (List.rev state.pending);
  state.pending <- []

(* A record, taken by the kernel or not. *)
let takes state record =
  match Proof.step state.proof record with
  | None -> false
  | Some next ->
      state.proof <- next;
      state.pending <- record :: state.pending;
      true

let take state record =
  if not (takes state record) then Reader.refuse "the kernel refuses record %d" (state.records + List.length state.pending + 1)

let attempt state doing =
  let proof = state.proof and pending = state.pending in
  doing () || (state.proof <- proof; state.pending <- pending; false)

let left state = List.length (Proof.nodes state.proof)

let top state = match Proof.nodes state.proof with node :: _ -> node | [] -> Reader.refuse "records go on after the proof is complete"
let knowns state = Array.of_list (List.map Relaxing.known_of (top state).known_of)

(* The bounds of one neuron in the node at hand. *)
let bounds_of state t i = List.nth (List.nth (top state).known_of t) i

(* Multipliers of the constraints for these coefficients of inputs, as the last of the hints. *)
let with_constraints state p =
  if state.rows = [||] then []
  else begin
    let sides = Array.of_list (top state).area.sides in
    let low = Array.map (fun (l, _) -> Relaxing.float_of l) sides and high = Array.map (fun (_, u) -> Relaxing.float_of u) sides in
    let found = Relaxing.multipliers state.rows state.limits low high p in
    let hint m = { Kernel.link = Relaxing.integer m; slope_x = Z.zero; slope_y = Z.zero; slope_d = Z.zero } in
    [ (Z.one, Array.to_list (Array.map hint found)) ]
  end

let unhinted count = List.init count (fun _ -> (Z.one, []))

(* The box, shrunk by the constraints alone. *)
let shrink state =
  if state.rows <> [||] && state.inputs <= 64 then
    for i = 0 to state.inputs - 1 do
      List.iter
        (fun least ->
          let factor = Float.ldexp 1.0 30 in
          let p = Array.make state.inputs 0.0 in
          p.(i) <- (if least then factor else -.factor);
          let hints = unhinted (Array.length state.layers) @ with_constraints state p in
          take state (RBoundInput (state.naturals.(i), least, Relaxing.integer factor, hints)))
        [ true; false ]
    done

(* Pull one quantity, and note what is known of it then. *)
let bound state knowns t i kind least =
  let layer = state.layers.(t) in
  let sign = if least then 1.0 else -1.0 in
  let x, y = match kind with Kernel.KX -> (1.0, 0.0) | KY -> (0.0, 1.0) | KD -> (1.0, -1.0) in
  let row1 = layer.rows1.(i) and row2 = layer.rows2.(i) in
  let most = Array.fold_left (fun a b -> Float.max a (Float.abs b)) in
  let largest = most (most 0.0 row1) row2 in
  (* So that the coefficients of the functions before have bits enough. *)
  let factor = Float.ldexp 1.0 (max 0 (30 - int_of_float (Float.ceil (Float.log2 (Float.max 1.0 largest))))) in
  let width = if t + 1 < Array.length state.layers then Array.length state.layers.(t + 1).shapes else state.inputs in
  let p = Array.make width 0.0 and q = Array.make width 0.0 in
  Relaxing.add_row (sign *. x *. factor) row1 p;
  Relaxing.add_row (sign *. y *. factor) row2 q;
  let found = Relaxing.pull state.layers knowns state.inputs t p q in
  let hints = unhinted (t + 1) @ found.hints @ with_constraints state found.at_base in
  let n = state.naturals in
  take state (RBound (n.(t), n.(i), kind, least, Relaxing.integer factor, hints));
  state.pulls <- state.pulls + 1;
  let by_x, by_y = found.at_inputs in
  if t > 0 then Hashtbl.replace state.slopes (t, i, kind, least) (Array.map2 (fun a b -> (a +. b) /. factor) by_x by_y);
  Relaxing.set knowns.(t) i (bounds_of state t i);
  found

(* Bounds of all neurons whose functions are bent where they may be, from the first layer on. *)
let tighten state =
  let before = left state in
  let known = knowns state and count = Array.length state.layers in
  for t = count - 1 downto 1 do
    let shapes = state.layers.(t).shapes in
    if t = count - 1 then begin
      take state (RForward state.naturals.(t));
      known.(t) <- Relaxing.known_of (List.nth (top state).known_of t)
    end
    else
      for i = 0 to Array.length shapes - 1 do
        let k = known.(t) and f = shapes.(i) in
        if left state = before && Relaxing.crossed k i then ignore (takes state (RVoid (state.naturals.(t), state.naturals.(i))));
        let open_x () = Relaxing.bent f k.lx.(i) k.ux.(i) and open_y () = Relaxing.bent f k.ly.(i) k.uy.(i) in
        if left state = before && (open_x () || open_y ()) then begin
          let all kind least =
            if left state = before then begin
              ignore (bound state known t i kind least);
              if Relaxing.crossed k i then ignore (takes state (RVoid (state.naturals.(t), state.naturals.(i))))
            end
          in
          all KD true;
          all KD false;
          let pulled_x = open_x () in
          if pulled_x then all KX true;
          if open_x () then all KX false;
          let loose () = (not pulled_x) || k.ud.(i) -. k.ld.(i) > 0.25 *. (k.uy.(i) -. k.ly.(i)) in
          if open_y () && loose () then all KY true;
          if open_y () && loose () then all KY false
        end
      done
  done;
  known

(* Rows, and which of their bounds would exclude one of these obligations. Of the guard only rows of two classes are bounded
   by themselves: groups of more serve in sums. *)
let wanted state obligations =
  let few (q : Kernel.limit) =
    let row = state.layers.(0).Relaxing.rows1.(Reader.int_of_nat q.neuron_of) in
    Array.fold_left (fun c a -> if a <> 0.0 then c + 1 else c) 0 row <= 2
  in
  let of_limit (q : Kernel.limit) =
    let i = Reader.int_of_nat q.neuron_of in
    let differences = match q.kind_of with KY -> [ (i, Kernel.KD, true); (i, Kernel.KD, false) ] | _ -> [] in
    (i, q.kind_of, not q.at_least) :: differences
  in
  List.sort_uniq compare (List.concat_map (fun o -> List.concat_map of_limit (List.filteri (fun n q -> n = 0 || few q) o)) obligations)

let closed state before = left state < before

(* The limits of an assumed obligation times weights, pulled to the inputs: hints, and coefficients of inputs. *)
let combined ?added ?rounded state known (obligation : Kernel.obligation) weights =
  let layer = state.layers.(0) in
  let m = Array.length layer.shapes and size = Float.ldexp 1.0 30 in
  let x = Array.make m 0.0 and y = Array.make m 0.0 and d = Array.make m 0.0 in
  List.iteri
    (fun number (q : Kernel.limit) ->
      let weight = Float.round (size *. weights.(number)) in
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
  let found = Relaxing.pull ?added ?rounded state.layers known state.inputs 0 p q in
  let hint i =
    { Kernel.link = Z.zero; slope_x = Relaxing.integer x.(i); slope_y = Relaxing.integer y.(i); slope_d = Relaxing.integer d.(i) }
  in
  ((Z.one, List.init m hint) :: found.hints, found)

(* Limits of an obligation of which weights are sought. *)
let most_weighed = 40

(* The largest weight, where the violation has 1. *)
let most_weight = 64.0

(* Weights of limits: those that were found last for this obligation, at first the violation and what the guard says of the
   same row; then whatever raises the bound. *)
let weighed state known (obligation : Kernel.obligation) =
  let limits = Array.of_list obligation in
  let count = Array.length limits in
  let weights =
    match state.weights with
    | Some (same, found) when same == obligation -> Array.copy found
    | _ -> Array.mapi (fun n (q : Kernel.limit) -> if n = 0 || q.neuron_of = limits.(0).neuron_of then 1.0 else 0.0) limits
  in
  let node = top state in
  let size (q : Kernel.limit) =
    Array.fold_left (fun m a -> Float.max m (Float.abs a)) 1.0 state.layers.(0).rows1.(Reader.int_of_nat q.neuron_of)
  in
  let height () =
    let hints, found = combined state known obligation weights in
    let low, all = Kernel.pull state.net node.area node.known_of (hints @ with_constraints state found.Relaxing.at_base) [] [] [] in
    Q.to_float (Q.make low all)
  in
  (* Of the guard: weight moves from here to others, which may raise the bound where neither change alone does. *)
  let heaviest () =
    let m = ref 1 in
    for n = 2 to count - 1 do if weights.(n) *. size limits.(n) > weights.(!m) *. size limits.(!m) then m := n done;
    !m
  in
  if count > 2 && count <= most_weighed then begin
    let best = ref (height ()) in
    for n = 1 to count - 1 do
      let old = ref weights.(n) in
      List.iter
        (fun trial ->
          if trial <> !old then begin
            weights.(n) <- trial;
            let now = height () in
            if now > !best then (best := now; old := trial)
          end)
        (let one = !old in if one = 0.0 then [ 0.125 /. size limits.(n); 0.5 /. size limits.(n) ] else [ 0.0; 0.5 *. one; Float.min most_weight (2.0 *. one) ]);
      weights.(n) <- !old;
      let m = heaviest () in
      if m <> n then
        List.iter
          (fun part ->
            let was_n = weights.(n) and was_m = weights.(m) in
            weights.(m) <- (1.0 -. part) *. was_m;
            weights.(n) <- Float.min most_weight (was_n +. (part *. was_m *. size limits.(m) /. size limits.(n)));
            let now = height () in
            if now > !best then best := now else (weights.(n) <- was_n; weights.(m) <- was_m))
          [ 1.0; 0.5 ]
    done
  end;
  state.weights <- Some (obligation, weights);
  weights

let float_sides node = Array.of_list (List.map (fun (l, u) -> (Z.to_float l, Z.to_float u)) node.Kernel.area.sides)
let by_inputs (found : Relaxing.pulled) = Array.map2 ( +. ) (fst found.at_inputs) (snd found.at_inputs)

(* The least of p v on a box. *)
let least_on sides p =
  let total = ref 0.0 in
  Array.iteri (fun i (l, u) -> total := !total +. Float.min (p.(i) *. l) (p.(i) *. u)) sides;
  !total

(* The factor m >= 0 with which c + a v <= 0 raises the least of p v on a box the most, and by how much. *)
let best_factor sides c a p =
  let least m = (m *. c) +. least_on sides (Array.mapi (fun i pi -> pi +. (m *. a.(i))) p) in
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

(* The part of its width by which a neuron's interval must be expected to shrink for another pull. *)
let least_gain = 0.02

(* Bounds of neurons where 0 >= c + a v is known, which was found from these weights. *)
let raise_neurons state known obligation weights found c =
  let before = left state and sides = float_sides (top state) and a = by_inputs found in
  let raise_one t i kind least =
    let k = known.(t) in
    match if closed state before then None else Hashtbl.find_opt state.slopes (t, i, kind, least) with
    | None -> ()
    | Some p ->
        let low, high = match kind with Kernel.KX -> (k.Relaxing.lx, k.ux) | KY -> (k.ly, k.uy) | KD -> (k.ld, k.ud) in
        let factor, gain = best_factor sides c a p in
        if gain > least_gain *. (high.(i) -. low.(i)) then begin
          let r = (if least then 1.0 else -1.0) /. factor and rounded = ref 0.0 in
          let factor_x, factor_y = match kind with KX -> (r, 0.0) | KY -> (0.0, r) | KD -> (r, -.r) in
          let added = { Relaxing.layer = t; neuron = i; factor_x; factor_y } in
          let above, found = combined ~added ~rounded state known obligation weights in
          if !rounded > 0.0 then begin
            let n = state.naturals and hints = above @ with_constraints state found.at_base in
            take state (RBound (n.(t), n.(i), kind, least, Relaxing.integer !rounded, hints));
            state.pulls <- state.pulls + 1;
            Relaxing.set k i (bounds_of state t i);
            if Relaxing.crossed k i then ignore (takes state (RVoid (n.(t), n.(i))))
          end
        end
  in
  for t = Array.length state.layers - 1 downto 1 do
    let k = known.(t) in
    Array.iteri
      (fun i f ->
        let bent_x () = Relaxing.bent f k.Relaxing.lx.(i) k.ux.(i) and bent_y () = Relaxing.bent f k.ly.(i) k.uy.(i) in
        let both kind = raise_one t i kind true; raise_one t i kind false in
        if bent_x () then both Kernel.KX;
        if bent_y () then both KY;
        if bent_x () || bent_y () then both KD)
      state.layers.(t).shapes
  done

(* Where an obligation is assumed alone: what inputs and neurons obey then. The limits are added up, pulled to the inputs and
   leave 0 >= a v + c over the box; this bounds every input on one side, and raises bounds of neurons, to which it is added
   with the factor that suits. True if that empties the node. *)
let contract state known (obligation : Kernel.obligation) =
  let weights = weighed state known obligation in
  let above, found = combined state known obligation weights in
  let base = found.Relaxing.at_base in
  let before = left state in
  let node = top state in
  let all_hints = above @ with_constraints state base in
  takes state (RLeaf all_hints)
  || begin
       let low, all = Kernel.pull state.net node.area node.known_of all_hints [] [] [] in
       let height = Q.to_float (Q.make low all) and sides = float_sides node in
       Array.iteri
         (fun i a ->
           if (not (closed state before)) && a <> 0.0 then begin
             let p = Array.copy base in
             p.(i) <- 0.0;
             let hints = above @ with_constraints state p in
             take state (RBoundInput (state.naturals.(i), a < 0.0, Relaxing.integer (Float.abs a), hints));
             ignore (takes state (REmpty state.naturals.(i)))
           end)
         base;
       if not (closed state before) then raise_neurons state known obligation weights found (height -. least_on sides (by_inputs found));
       closed state before
     end

let volume state =
  List.fold_left (fun v (l, u) -> v +. Float.log (Float.max 1.0 (Z.to_float (Z.sub u l)))) 0.0 (top state).area.sides

(* Obligations that may be open where each is assumed and contracted by itself. *)
let most_contracted = 4

(* Whether all obligations that are open on the node at hand are closed, each by bounds or under its own assumption. *)
let goals state known =
  let before = left state in
  List.iter (fun (i, kind, least) -> ignore (bound state known 0 i kind least)) (wanted state (top state).open0);
  take state RDone;
  let contracting = (not (closed state before)) && state.inputs <= 64 && List.length (top state).open0 <= most_contracted in
  let rec each o =
    if closed state before then true
    else if o >= List.length (top state).open0 then false
    else if
      attempt state (fun () ->
          let obligation = List.nth (top state).open0 o in
          take state (RAssume state.naturals.(o));
          let stack = left state in
          let rows = List.sort_uniq compare (List.map (fun (q : Kernel.limit) -> q.neuron_of) obligation) in
          let known = Array.copy known in
          let refuted () =
            List.exists (fun i -> takes state (RVoid (Kernel.O, i))) rows
            || (takes state RDone && left state < stack)
          in
          let read () = known.(0) <- Relaxing.known_of (List.hd (top state).known_of) in
          let rec rounds left =
            refuted ()
            || left > 0
               && begin
                    read ();
                    let size = volume state in
                    contract state known obligation
                    || (volume state < size -. 0.2
                        && begin
                             let again = tighten state in
                             Array.blit again 0 known 0 (Array.length again);
                             closed state stack
                             || begin
                                  List.iter
                                    (fun (i, kind, least) -> ignore (bound state known 0 i kind least))
                                    (wanted state [ obligation ]);
                                  rounds (left - 1)
                                end
                           end)
                  end
          in
          rounds (if contracting then 4 else 0))
    then begin
      (* The others remain; none of them may be left. *)
      if (top state).open0 = [] then take state RDone;
      each o
    end
    else each (o + 1)
  in
  each 0

(* Assume an obligation by its number in the question, if it is open. *)
let assume state number =
  let rec place o = function
    | [] -> None
    | one :: others -> if number < Array.length state.obligations && one == state.obligations.(number) then Some o else place (o + 1) others
  in
  match place 0 (top state).open0 with
  | None -> false
  | Some o -> take state (RAssume state.naturals.(o)); settle state; true

(* Where to split: an input if there are few, else the neuron whose lines give away the most, in the bound of the violation
   or, of an obligation that is assumed alone, in the sum of its limits. *)
let split state known =
  let node = top state in
  let obligation = List.hd node.open0 in
  let found =
    if List.length node.open0 = 1 && List.length obligation > 1 then
      let weights = match state.weights with Some (same, found) when same == obligation -> found | _ -> weighed state known obligation in
      snd (combined state known obligation weights)
    else
      let limit = List.hd obligation in
      bound state known 0 (Reader.int_of_nat limit.neuron_of) limit.kind_of (not limit.at_least)
  in
  let sides = Array.of_list node.area.sides in
  let by_x, by_y = found.at_inputs in
  let best = ref (-1) and top_score = ref 0.0 in
  let free = Array.fold_left (fun c (l, u) -> if Z.lt l u then c + 1 else c) 0 sides in
  if free <= 32 then
    Array.iteri
      (fun i (l, u) ->
        let score = Z.to_float (Z.sub u l) *. Float.max (Float.abs by_x.(i)) (Float.abs by_y.(i)) in
        if score > !top_score && Z.gt (Z.sub u l) Z.one then (top_score := score; best := i))
      sides;
  if !best >= 0 then begin
    let l, u = sides.(!best) in
    Some (Kernel.RInput (state.naturals.(!best), Z.div (Z.add l u) (Z.of_int 2)))
  end
  else begin
    let choice = ref None in
    List.iter
      (fun (t, loss_x, loss_y) ->
        let look kind losses low high =
          Array.iteri
            (fun i loss ->
              if loss > !top_score then
                Array.iter
                  (fun (b, _) ->
                    if low.(i) < b && b < high.(i) then begin
                      top_score := loss;
                      choice := Some (Kernel.RCut (state.naturals.(t), state.naturals.(i), kind, Relaxing.integer b))
                    end)
                  state.layers.(t).shapes.(i).kinks)
            losses
        in
        look Kernel.KX loss_x known.(t).Relaxing.lx known.(t).ux;
        look Kernel.KY loss_y known.(t).ly known.(t).uy)
      found.losses;
    !choice
  end

(* Whether the node at hand is closed without a split; what was found out about it stays. *)
let closes_with state known_when_open =
  let before = left state in
  let node = top state in
  let crossed = List.mapi (fun i (l, u) -> (i, Z.gt l u)) node.area.sides |> List.filter snd in
  (match crossed with
  | (i, _) :: _ -> take state (REmpty state.naturals.(i))
  | [] ->
      if node.open0 = [] then take state RDone
      else begin
        shrink state;
        let known = tighten state in
        if not (closed state before || goals state known) then known_when_open known
      end);
  let done_ = closed state before in
  if done_ then state.leaves <- state.leaves + 1;
  settle state;
  done_

let closes state = closes_with state ignore

(* Refute the node at hand, with so many splits below each other at most. *)
let rec prove state depth =
  let found = ref [||] in
  if not (closes_with state (fun known -> found := known)) then
    match if depth = 0 then None else split state !found with
    | None ->
        Reader.refuse "after %d leaves a part is not proved by the bounds that the prover finds, at the depth it may split to"
          state.leaves
    | Some record ->
        take state record;
        state.splits <- state.splits + 1;
        prove state (depth - 1);
        prove state (depth - 1)
