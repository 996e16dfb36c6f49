(* Reads records, and commands to the prover. Nothing here is trusted: any records are sound, and the prover makes others. *)

open Reader

(* Facts about a neuron, whose x, y and d = x - y are parts 0 to 2 of what its functions read, and of what they give; or
   that a class is ahead of another one. What a round of them shows. *)
type fact = Not_negative of int | Over_argument of int | Over_line of int | Under_line of int | Over_least of int
  | Under_most of int | Is_difference | Ahead
type shown = Nothing_left | Bound of int * int * Kernel.kind * bool | Bound_input of int * bool
type round = (int * int * fact) array * (shown * float array) list

(* Records of a proof, and commands to the prover, which is not trusted. *)
type command = Record of Kernel.record | Prove of int | Try of int | Assume of int * int | Round of round * int

let kind source =
  match word source "a kind" with
  | "x" -> Kernel.KX
  | "y" -> Kernel.KY
  | "d" -> Kernel.KD
  | other -> refuse "word %d is %S; x, y or d is due" source.words other

let index source what = nat (count source what most_width)

let hints source =
  let hint () =
    let link = integer source "a link" in
    let slope_x = integer source "a slope" in
    let slope_y = integer source "a slope" in
    { Kernel.link; slope_x; slope_y; slope_d = integer source "a slope" }
  in
  let layer () =
    let scale = integer source "a scale" in
    (scale, list (count source "the number of hints" most_width) hint)
  in
  list (count source "the number of layers" (most_layers + 2)) layer

(* In the order of their numbers. *)
let facts = [| Not_negative 0; Not_negative 1; Over_argument 0; Over_argument 1; Over_line 2; Over_least 0; Over_least 1;
  Over_least 2; Under_most 0; Under_most 1; Under_most 2; Is_difference; Ahead; Over_line 0; Under_line 0; Over_line 1;
  Under_line 1; Under_line 2 |]

(* Facts with their layers and neurons, and what is shown by multipliers of all of them, which are shifted. *)
let round source (widths : int array) =
  let neuron () =
    let t = count source "a layer" (Array.length widths - 1) in
    (t, count source "a neuron" (widths.(t) - 1))
  in
  let one _ = let t, i = neuron () in (t, i, facts.(count source "a fact" (Array.length facts - 1))) in
  let used = Array.init (count source "the number of facts" most_width) one in
  let bound () =
    let shown =
      match word source "what is shown" with
      | "L" -> Nothing_left
      | "N" -> let i = count source "an input" (widths.(Array.length widths - 1) - 1) in Bound_input (i, flag source "a direction")
      | "B" -> let t, i = neuron () in let kind = kind source in Bound (t, i, kind, flag source "a direction")
      | other -> refuse "word %d is %S; B, N or L is due" source.words other
    in
    let unit = Float.ldexp 1.0 (-count source "a shift" 2048) in
    (shown, Array.map (fun _ -> Z.to_float (integer source "a multiplier") *. unit) used)
  in
  (used, list (count source "the number of bounds" most_width) bound)

(* The widths of all layers from the last, and of the inputs, are those that numbers of neurons are checked against. *)
let command source widths =
  match word_or_end source with
  | None -> None
  | Some name ->
      let record =
        match name with
        | "I" -> let i = index source "an input" in Record (RInput (i, integer source "a place"))
        | "C" ->
            let t = index source "a layer" in
            let i = index source "a neuron" in
            let d = kind source in
            Record (RCut (t, i, d, integer source "a place"))
        | "A" -> Record (RAssume (index source "an obligation"))
        | "B" ->
            let t = index source "a layer" in
            let i = index source "a neuron" in
            let d = kind source in
            let least = flag source "a direction" in
            let e = integer source "a factor" in
            Record (RBound (t, i, d, least, e, hints source))
        | "N" ->
            let i = index source "an input" in
            let least = flag source "a direction" in
            let e = integer source "a factor" in
            Record (RBoundInput (i, least, e, hints source))
        | "F" -> Record (RForward (index source "a layer"))
        | "D" -> Record RDone
        | "L" -> Record (RLeaf (hints source))
        | "V" -> let t = index source "a layer" in Record (RVoid (t, index source "a neuron"))
        | "E" -> Record (REmpty (index source "an input"))
        | "P" -> Prove (count source "a depth" 64)
        | "O" ->
            let obligation = count source "an obligation" most_weights in
            Assume (obligation, count source "a number of commands" max_int)
        | "M" -> let found = round source widths in Round (found, count source "a number of commands" max_int)
        | "Q" -> Try (count source "a number of commands" max_int)
        | other -> refuse "word %d of the records is %S, which is no record" source.words other
      in
      Some record
