(* Refutes what a stream asks for: a node, with splits below each other, or an obligation alone. *)

open Attempts

(* Assume an obligation by its number in the question, if it is open. *)
let assume state number =
  let rec place o = function
    | [] -> None
    | one :: others -> if number < Array.length state.obligations && one == state.obligations.(number) then Some o else place (o + 1) others
  in
  match place 0 (top state).open0 with
  | None -> false
  | Some o -> take state (RAssume state.naturals.(o)); settle state; true

(* Refute the node at hand, with so many splits below each other at most. *)
let rec refute state depth =
  let found = ref [||] in
  if not (Closing.closes_with ~insists:true state (fun known -> found := known)) then
    match if depth = 0 then None else Splitting.split state !found with
    | None ->
        Reader.refuse "after %d leaves a part is not proved by the bounds that the prover finds, at the depth it may split to"
          state.leaves
    | Some record ->
        take state record;
        state.splits <- state.splits + 1;
        refute state (depth - 1);
        refute state (depth - 1)

let prove state depth = if Fitting.is_asked state then Fitting.prove state depth else refute state depth

(* Whether the node at hand is closed without a split; of levels and their types that is not tried. *)
let closes state below = (not (Fitting.is_asked state)) && Closing.closes ~below state
