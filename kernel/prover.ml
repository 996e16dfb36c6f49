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

(* How nodes are refuted: the bounds of one that stays open, if it does; where to split it then; and what is said if that ends. *)
type way = {
  still_open : state -> Relaxing.known array option;
  split : state -> Relaxing.known array -> Kernel.record option;
  failing : string;
}

let by_closing =
  let still_open state =
    let found = ref [||] in
    if Closing.closes_with ~insists:true state (fun known -> found := known) then None else Some !found
  in
  { still_open; split = Splitting.split;
    failing = "a part is not proved by the bounds that the prover finds, at the depth it may split to" }

let by_fitting =
  { still_open = Fitting.still_open; split = Fitting.split;
    failing = "there is a part on which the bounds of the prover do not show that every level fits its type" }

(* Refute the node at hand, with so many splits below each other at most. *)
let rec refute way state depth =
  match way.still_open state with
  | None -> ()
  | Some known ->
      match if depth = 0 then None else way.split state known with
      | None -> Reader.refuse "after %d leaves %s" state.leaves way.failing
      | Some record ->
          take state record;
          state.splits <- state.splits + 1;
          refute way state (depth - 1);
          refute way state (depth - 1)

let prove state depth = refute (if Fitting.is_asked state then by_fitting else by_closing) state depth

(* Whether the node at hand is closed without a split; of levels and their types that is not tried. *)
let closes state below = (not (Fitting.is_asked state)) && Closing.closes ~below state
