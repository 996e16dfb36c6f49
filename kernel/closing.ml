(* Whether a node is closed without a split: by bounds of neurons and rows, or obligation by obligation, each under its own
   assumption. *)

open Attempts

let bound_rows state known obligations =
  List.iter (fun (i, kind, least) -> ignore (Tightening.bound state known 0 i kind least)) (Foreseeing.wanted state obligations)

(* Obligations that may be open where the box is contracted under each. *)
let most_contracted = 4

(* How often, and by how much (in the logarithm of its volume) it has to shrink for another time. *)
let most_rounds = 4
let least_shrunk = 0.2

(* Whether an obligation that is assumed alone is refuted. *)
let refute state known obligation contracting =
  let stack = left state in
  let rows = List.sort_uniq compare (List.map (fun (q : Kernel.limit) -> q.neuron_of) obligation) in
  let known = Array.map Relaxing.copy known in
  let refuted () =
    List.exists (fun i -> takes state (RVoid (Kernel.O, i))) rows || (takes state RDone && closed state stack)
  in
  let rec rounds left_over =
    refuted ()
    || begin
         known.(0) <- Relaxing.known_of (List.hd (top state).known_of);
         let size = volume state in
         Contracting.contract state known obligation (left_over > 0)
         || (left_over > 0 && Narrowing.refute state known obligation)
         || (left_over > 0
             && volume state < size -. least_shrunk
             && begin
                  let again = Tightening.tighten state in
                  Array.blit again 0 known 0 (Array.length again);
                  closed state stack
                  || begin
                       bound_rows state known [ obligation ];
                       rounds (left_over - 1)
                     end
                end)
       end
  in
  rounds (if contracting then most_rounds else 0)

(* Whether all obligations that are open on the node at hand are closed. *)
let goals state known =
  let before = left state in
  bound_rows state known (top state).open0;
  take state RDone;
  let contracting = (not (closed state before)) && List.length (top state).open0 <= most_contracted in
  let rec each o =
    if closed state before then true
    else
      match List.nth_opt (top state).open0 o with
      | None -> false
      | Some obligation ->
          if attempt state (fun () -> take state (RAssume state.naturals.(o)); refute state known obligation contracting) then begin
            (* The others remain; none of them may be left. *)
            if (not (closed state before)) && (top state).open0 = [] then take state RDone;
            each o
          end
          else each (o + 1)
  in
  each 0

(* Obligations of which it is tried. *)
let most_hoped = 10

(* Whether floats foresee that obligations which bounds of rows do not exclude are refuted by themselves. *)
let hopeful state (foreseen : Foreseeing.t) =
  List.length foreseen.remaining <= most_hoped
  && List.for_all
       (fun obligation ->
         let goal = Contracting.goal_of state foreseen.known obligation in
         snd (Ascending.maximise goal (Ascending.first_choices state.layers goal.knowns goal.facts) Contracting.most_steps) > 0.0)
       foreseen.remaining

(* Whether one obligation of several is assumed: contraction goes on where it is not refuted at once. *)
let assumed_alone state = Array.length state.obligations > 1 && List.compare_length_with (top state).open0 1 = 0

(* From so many commands of the stream below a node on, its bounds are told exactly though it stays open: of differences
   only short ones, since the others shrink less from a node to its parts, and cost twice as much as those of one network. *)
let many_below = 12

(* Whether exact bounds are worth it though bounds of rows leave something open. A node that would be split contracts where
   few obligations are left: each that is refuted is gone for all parts of it. *)
let worth_contracting state insists (foreseen : Foreseeing.t) =
  assumed_alone state || (insists && List.length foreseen.remaining <= most_contracted) || hopeful state foreseen

(* The bounds that floats foresee of a node that stays open; none if the node at hand is closed. *)
let open_still state insists below =
  let before = left state in
  let by_exact_bounds () =
    let known = Tightening.tighten state in
    closed state before || goals state known
  in
  let foreseen = Foreseeing.foresee state in
  let closes =
    if foreseen.crossed <> None || foreseen.remaining = [] then Foreseeing.comes_true state foreseen || by_exact_bounds ()
    else worth_contracting state insists foreseen && by_exact_bounds ()
  in
  if closes || closed state before then None
  else begin
    if below >= many_below then ignore (Tightening.tighten ~stays_open:true state)
    else if foreseen.crossed = None then Foreseeing.settle_phases state foreseen;
    if closed state before then None else Some foreseen.known
  end

(* What is found out about a node that stays open is handed to [when_open]; [below] is how many commands follow for it, and
   whoever [insists] would split it himself. *)
let closes_with ?(below = 0) ?(insists = false) state when_open =
  let before = left state in
  let node = top state in
  let crossed = List.mapi (fun i (l, u) -> (i, Z.gt l u)) node.area.sides |> List.filter snd in
  (match crossed with
  | (i, _) :: _ -> take state (REmpty state.naturals.(i))
  (* Known bounds exclude whatever is open, if anything is: so it is where both networks agree. *)
  | [] when List.for_all (Kernel.excluded node.known_of) node.open0 -> take state RDone
  | [] ->
      Tightening.shrink state;
      (* What everything below begins with. *)
      (match state.foreseen with None :: _ -> ignore (Tightening.tighten state) | _ -> ());
      if not (closed state before) then Option.iter when_open (open_still state insists below));
  let done_ = closed state before in
  if done_ then state.leaves <- state.leaves + 1;
  settle state;
  done_

let closes ?below state = closes_with ?below state ignore
