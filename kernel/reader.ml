(* Reads pairs and questions. Trusted: that [pair] and [question] make of a text what the grammar in README.md says.
   Everything is bounded before memory is taken for it, and whatever is wrong ends with [Refused]. *)

exception Refused of string

let refuse form = Printf.ksprintf (fun reason -> raise (Refused reason)) form

(* What a question and a record may have. Lists are read one after the other, and recursion is as deep as they are long. *)
let most_bytes = 1 lsl 28
let most_layers = 512
let most_width = 16384
let most_weights = 1 lsl 24
let most_digits = 4096
let most_kinks = 64
let most_classes = 64
let most_groups = 512

(* Words between white space, of a channel or of a text; [block] is so many characters that follow, or raises End_of_file. *)
type source = { next : unit -> char option; block : int -> string; mutable words : int }

let of_channel channel =
  let next () = try Some (input_char channel) with End_of_file -> None in
  { next; block = really_input_string channel; words = 0 }

let of_string text =
  let at = ref 0 in
  let next () = if !at >= String.length text then None else (incr at; Some text.[!at - 1]) in
  let block count =
    if count > String.length text - !at then raise End_of_file;
    at := !at + count;
    String.sub text (!at - count) count
  in
  { next; block; words = 0 }

let is_white c = c = ' ' || c = '\n' || c = '\t' || c = '\r'

(* The next word, or none at the end. *)
let word_or_end source =
  let rec skip () = match source.next () with Some c when is_white c -> skip () | c -> c in
  match skip () with
  | None -> None
  | Some c ->
      let found = Buffer.create 16 in
      let rec go c =
        Buffer.add_char found c;
        if Buffer.length found > most_digits then refuse "word %d is longer than %d characters" source.words most_digits;
        match source.next () with Some c when not (is_white c) -> go c | _ -> ()
      in
      go c;
      source.words <- source.words + 1;
      Some (Buffer.contents found)

let word source what =
  match word_or_end source with Some found -> found | None -> refuse "it ends where %s is due" what

let is_integer text =
  let digits = if text <> "" && text.[0] = '-' then String.sub text 1 (String.length text - 1) else text in
  digits <> "" && String.for_all (fun c -> c >= '0' && c <= '9') digits

let integer source what =
  let found = word source what in
  if is_integer found then Z.of_string found else refuse "word %d is %S; %s is an integer" source.words found what

(* One of 0 to [most], for a word that the source has read. *)
let bounded source what most found =
  if Z.sign found < 0 || Z.gt found (Z.of_int most) then
    refuse "word %d: %s is %s; 0 to %d are read" source.words what (Z.to_string found) most;
  Z.to_int found

let count source what most = bounded source what most (integer source what)

let positive source what =
  let found = integer source what in
  if Z.sign found <= 0 then refuse "word %d: %s is not positive" source.words what;
  found

(* All that are read are parts of the largest. *)
let naturals =
  let all = Array.make (most_width + 1) Kernel.O in
  for i = 1 to most_width do all.(i) <- Kernel.S all.(i - 1) done;
  all

let rec nat i = if i <= most_width then naturals.(i) else Kernel.S (nat (i - 1))

let rec int_of_nat = function Kernel.O -> 0 | Kernel.S n -> 1 + int_of_nat n

let list n read =
  let rec go i found = if i = 0 then List.rev found else go (i - 1) (read () :: found) in
  go n []

let rational source what =
  let top = integer source what in
  (top, positive source what)

let flag source what =
  match word source what with "0" -> false | "1" -> true | other -> refuse "%s is %S; 0 or 1 is due" what other

let expect source due =
  let found = word source due in
  if found <> due then refuse "word %d is %S; %S is due" source.words found due

(* The pair: "pair INPUTS LAYERS", then the layers from the first to the last. *)
let pair text =
  let source = of_string text in
  expect source "pair";
  let inputs = count source "the number of inputs" most_width in
  let layers = count source "the number of layers" most_layers in
  let left = ref most_weights in
  let number found part what most =
    if is_integer part then bounded source what most (Z.of_string part)
    else refuse "word %d is %S; %s is an integer" source.words found what
  in
  (* Runs of weights: "*K" stands for K zeros, which begin a run. *)
  let row () =
    let words = count source "the length of a row" most_width in
    let size = ref 0 in
    let rec weights left_over found =
      if left_over = 0 then (List.rev found, None)
      else
        match weight () with
        | `Zeros many -> (List.rev found, Some (many, left_over - 1))
        | `Weight w -> weights (left_over - 1) (w :: found)
    and weight () =
      decr left;
      if !left < 0 then refuse "it has more than %d numbers" most_weights;
      let found = word source "a weight" in
      let zeros = String.length found > 1 && found.[0] = '*' in
      let many = if zeros then number found (String.sub found 1 (String.length found - 1)) "zeros" (most_width - !size) else 1 in
      size := !size + many;
      if !size > most_width then refuse "word %d: a row is longer than %d" source.words most_width;
      if zeros then `Zeros many
      else if is_integer found then `Weight (Z.of_string found)
      else refuse "word %d is %S; a weight is an integer" source.words found
    in
    let rec runs zeros left_over found =
      match weights left_over [] with
      | one, None -> List.rev ((nat zeros, one) :: found)
      | one, Some (many, left_over) -> runs many left_over ((nat zeros, one) :: found)
    in
    if words = 0 then [] else runs 0 words []
  in
  (* "BIAS", or "BIAS~OFF~SLACK" where row and bias are known up to errors. *)
  let bias () =
    let found = word source "a bias" in
    let size part =
      if is_integer part && part.[0] <> '-' then Z.of_string part
      else refuse "word %d is %S; the size of an error is an integer, and not negative" source.words found
    in
    match String.split_on_char '~' found with
    | [ one ] when is_integer one -> (Z.of_string one, Z.zero, Z.zero)
    | [ one; off; slack ] when is_integer one -> (Z.of_string one, size off, size slack)
    | _ -> refuse "word %d is %S; a bias is an integer, perhaps with the sizes of two errors" source.words found
  in
  let neuron functions () =
    let one, another =
      let found = word source "the number of a function" in
      let which part = number found part "the number of a function" (Array.length functions - 1) in
      match String.split_on_char '/' found with
      | [ one ] -> (which one, None)
      | [ one; another ] -> (which one, Some functions.(which another))
      | _ -> refuse "word %d is %S; numbers of one or two functions are due" source.words found
    in
    let bias1, off1, slack1 = bias () in
    let row1 = row () in
    let bias2, off2, slack2 = bias () in
    let row2 = row () in
    let known = List.for_all (fun size -> Z.sign size = 0) [ off1; slack1; off2; slack2 ] in
    let unknown = if known then None else Some { Kernel.off1; slack1; off2; slack2 } in
    { Kernel.function0 = functions.(one); other = another; row1; long1 = Kernel.long_of bias1; row2; long2 = Kernel.long_of bias2; unknown }
  in
  let layer () =
    expect source "layer";
    let denominator = positive source "a denominator" in
    let several = count source "the number of functions" most_width in
    let levels wraps =
      let size = positive source "the size of a step" in
      let zero_point = integer source "a zero point" in
      let least_level = integer source "a level" in
      let greatest_level = integer source "a level" in
      let rounding =
        match word source "a rounding" with
        | "half-even" -> Kernel.HalfEven
        | "half-away" -> HalfAway
        | "half-zero" -> HalfZero
        | "down" -> Down
        | "up" -> Up
        | "to-zero" -> ToZero
        | "from-zero" -> FromZero
        | other -> refuse "word %d is %S, which is no rounding" source.words other
      in
      Kernel.Levels { size; zero_point; least_level; greatest_level; rounding; wraps }
    in
    let bent base =
      let shift = integer source "a shift" in
      let kinks = count source "the number of kinks" most_kinks in
      let kink () = let place = integer source "a kink" in (place, integer source "a slope") in
      { Kernel.base; shift; kinks_of = list kinks kink }
    in
    let function0 () =
      match word source "a function" with
      | "levels" -> levels false
      | "wrapping" -> levels true
      | "sigmoid" ->
          let rise = positive source "a rise" in
          let stretch = positive source "a stretch" in
          let foot = integer source "a foot" in
          let astray = integer source "a distance" in
          Kernel.Smooth { rise; stretch; foot; follower = bent (integer source "a slope"); astray }
      | base when is_integer base -> Kernel.Bent (bent (Z.of_string base))
      | other -> refuse "word %d is %S; a function is due" source.words other
    in
    let functions = Array.of_list (list several function0) in
    let width = count source "the number of neurons" most_width in
    { Kernel.denominator; neurons = list width (neuron functions) }
  in
  let found = List.rev (list layers layer) in
  expect source "end";
  if word_or_end source <> None then refuse "the pair goes on after its end";
  (inputs, found)

(* The question: "question GRAIN", the region, the claim. *)
let question text (inputs, pair) =
  let source = of_string text in
  expect source "question";
  let grain = positive source "the grain" in
  expect source "ranges";
  let ranges = list inputs (fun () -> let least = rational source "a side" in (least, rational source "a side")) in
  expect source "inequalities";
  let inequality () =
    let size = count source "the length of a row" most_width in
    let row = list size (fun () -> integer source "a factor") in
    (row, rational source "a bound")
  in
  let inequalities = list (count source "the number of inequalities" most_width) inequality in
  expect source "claim";
  let several () = list (count source "the number of outputs" most_width) (fun () -> nat (count source "an output" most_width)) in
  let row () =
    let size = count source "the length of a row" most_width in
    list size (fun () -> integer source "a factor")
  in
  let asked_for =
    match word source "a claim" with
    | "distance" -> let outs = several () in Kernel.Distance (outs, rational source "eps")
    | "manhattan" ->
        let outs = several () in
        if List.length outs > 10 then refuse "a distance in l1 of more than 10 outputs";
        Kernel.Manhattan (outs, rational source "eps")
    | "keeps-first" -> Kernel.KeepsFirst (rational source "a margin")
    | "keeps-confident" ->
        let delta = rational source "a confidence" in
        let t = rational source "a margin" in
        let powers = nat (count source "squarings" 12) in
        let part () =
          let output = nat (count source "an output" most_classes) in
          let weight = integer source "a weight" in
          (output, (weight, rational source "a margin"))
        in
        let group () = list (count source "the size of a group" most_classes) part in
        Kernel.KeepsConfident (delta, t, powers, list (count source "the number of groups" most_groups) group)
    | "inequality" ->
        let a = row () in
        let b = row () in
        let most = rational source "a bound" in
        Kernel.Inequality (a, b, most, flag source "less")
    | "fits" -> Kernel.Fits (flag source "whether of types that wrap")
    | other -> refuse "%S is no claim that this kernel knows" other
  in
  expect source "end";
  if word_or_end source <> None then refuse "the question goes on after its end";
  { Kernel.grain; pair; ranges; inequalities; asked_for }

(* A section of a stream: "NAME SHA256 BYTES" on one line, then so many bytes with this digest. *)
let section source name =
  let line =
    let found = Buffer.create 100 in
    let rec go () =
      match source.next () with
      | Some '\n' -> ()
      | Some c when Buffer.length found < 200 -> Buffer.add_char found c; go ()
      | _ -> refuse "there is no line %s SHA256 BYTES" name
    in
    go ();
    Buffer.contents found
  in
  match String.split_on_char ' ' line with
  | [ found; digest; bytes ] when found = name && is_integer bytes && String.length bytes < 10 ->
      let bytes = int_of_string bytes in
      if bytes < 0 || bytes > most_bytes then refuse "section %s has %d bytes; up to %d are read" name bytes most_bytes;
      (match source.block bytes with
      | exception End_of_file -> refuse "section %s ends before its %d bytes" name bytes
      | text ->
          let now = Sha256.hex text in
          if now <> digest then refuse "section %s has the digest %s, not %s as its line says" name now digest;
          (text, digest))
  | _ -> refuse "%S is not the line %s SHA256 BYTES" line name
