(* Whether a node is closed without a split: by bounds of neurons and rows, or obligation by obligation, each under its own
   assumption. *)

open Attempts

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

let bound_rows state known obligations =
  List.iter (fun (i, kind, least) -> ignore (Tightening.bound state known 0 i kind least)) (wanted state obligations)

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

(* What is found out about a node that stays open is handed to [when_open]. *)
let closes_with state when_open =
  let before = left state in
  let node = top state in
  let crossed = List.mapi (fun i (l, u) -> (i, Z.gt l u)) node.area.sides |> List.filter snd in
  (match crossed with
  | (i, _) :: _ -> take state (REmpty state.naturals.(i))
  | [] ->
      if node.open0 = [] then take state RDone
      else begin
        Tightening.shrink state;
        let known = Tightening.tighten state in
        if not (closed state before || goals state known) then when_open known
      end);
  let done_ = closed state before in
  if done_ then state.leaves <- state.leaves + 1;
  settle state;
  done_

let closes state = closes_with state ignore
