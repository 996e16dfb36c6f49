(* eqspec-kernel: reads a pair, a question and records from its input, and says whether the kernel accepts.

   Trusted here: that the proof is one of the question that was read, and that the answer is "accepted" only where nothing
   of it is left (proof.ml). *)

open Reader
open Commands

let usage = "eqspec-kernel [--progress] [--records FILE] < STREAM\n\
  accepts or refuses a proof about two networks; README.md beside its sources has the grammar of streams;\n\
  --progress says once a second how many commands were read and how many leaves were closed\n\
  eqspec-kernel --each < STREAMS\n\
  the same of many, each behind a line with the number of its bytes; an empty line ends each answer\n"

let count list = List.length list

let rational (top, bottom) = if Z.equal bottom Z.one then Z.to_string top else Z.to_string top ^ "/" ^ Z.to_string bottom

let claim = function
  | Kernel.Distance (outs, eps) -> Printf.sprintf "distance %d outputs %s" (count outs) (rational eps)
  | Manhattan (outs, eps) -> Printf.sprintf "manhattan %d outputs %s" (count outs) (rational eps)
  | KeepsFirst margin -> Printf.sprintf "keeps-first %s" (rational margin)
  | KeepsConfident (delta, _, _, _) -> Printf.sprintf "keeps-confident %s" (rational delta)
  | Fits wrapping -> if wrapping then "fits types that wrap" else "fits types that saturate"
  | Inequality (_, _, most, less) -> Printf.sprintf "inequality %s %s" (if less then "<" else "<=") (rational most)

(* Records as the reader takes them. *)
let write out record =
  let n = int_of_nat and z = Z.to_string in
  let kind = function Kernel.KX -> "x" | KY -> "y" | KD -> "d" in
  let flag b = if b then 1 else 0 in
  let hints h =
    Printf.fprintf out " %d" (count h);
    List.iter
      (fun (m, hs) ->
        Printf.fprintf out " %s %d" (z m) (count hs);
        List.iter (fun t -> Printf.fprintf out " %s %s %s %s" (z t.Kernel.link) (z t.slope_x) (z t.slope_y) (z t.slope_d)) hs)
      h
  in
  (match record with
  | Kernel.RInput (i, c) -> Printf.fprintf out "I %d %s" (n i) (z c)
  | RCut (t, i, d, c) -> Printf.fprintf out "C %d %d %s %s" (n t) (n i) (kind d) (z c)
  | RAssume o -> Printf.fprintf out "A %d" (n o)
  | RBound (t, i, d, least, e, h) -> Printf.fprintf out "B %d %d %s %d %s" (n t) (n i) (kind d) (flag least) (z e); hints h
  | RBoundInput (i, least, e, h) -> Printf.fprintf out "N %d %d %s" (n i) (flag least) (z e); hints h
  | RForward t -> Printf.fprintf out "F %d" (n t)
  | RDone -> output_string out "D"
  | RLeaf h -> output_string out "L"; hints h
  | RVoid (t, i) -> Printf.fprintf out "V %d %d" (n t) (n i)
  | REmpty i -> Printf.fprintf out "E %d" (n i));
  output_char out '\n'

let run ?(progress = false) kept source =
  let pair_text, digest = section source "pair" in
  let question_text, asked = section source "question" in
  let question = question question_text (pair pair_text) in
  (match question.asked_for with
  | Distance (outs, _) | Manhattan (outs, _) ->
      let outputs = int_of_nat (Kernel.outputs_count question) in
      if List.exists (fun o -> int_of_nat o >= outputs) outs then refuse "it asks about an output that there is not";
      if count outs * outputs > most_weights then refuse "it asks about more outputs than the kernel compares"
  | (KeepsFirst _ | KeepsConfident _) when most_classes < int_of_nat (Kernel.outputs_count question) ->
      refuse "a claim about the first of more than %d classes" most_classes
  | _ -> ());
  let proof =
    match Proof.start question with
    | Some proof -> proof
    | None ->
    refuse "the question means nothing: a row is longer than what it reads, kinks are out of order, or the margin does not \
            follow from the confidence"
  in
  let out = Option.map open_out_bin kept in
  let tell = Option.map write out in
  let state = Attempts.start question proof tell in
  let widths = Array.append (Array.map (fun (l : Relaxing.layer) -> Array.length l.shapes) state.layers) [| state.inputs |] in
  let read = ref 0 and told = ref 0.0 in
  let next () =
    incr read;
    if progress && Sys.time () > !told +. 1.0 then (told := Sys.time (); Printf.eprintf "%d %d\n%!" !read state.leaves);
    command source widths
  in
  let rec go () =
    match next () with
    | None -> ()
    | Some _ when Proof.nodes state.proof = [] -> refuse "the records go on after the proof is complete"
    | Some one ->
        (match one with
        | Record record -> Attempts.take state record; Attempts.settle state
        | Prove depth -> Prover.prove state depth
        | Assume (obligation, skipped) -> if not (Prover.assume state obligation) then skip skipped
        | Round (round, skipped) -> if Rounds.closes state round then skip skipped
        | Try skipped -> if Prover.closes state skipped then skip skipped);
        go ()
  and skip commands =
    if commands > 0 then
      match next () with
      | None -> refuse "it ends where %d commands are to be passed over" commands
      | Some _ -> skip (commands - 1)
  in
  go ();
  Option.iter close_out out;
  if not (Proof.accepts state.proof question) then
    refuse "%d parts of the region are left where the records end" (count (Proof.nodes state.proof));
  Printf.printf "accepted\npair %s\nquestion %s\nclaim %s\nrecords %d\npulls %d\nleaves %d\nsplits %d\n" digest asked
    (claim question.asked_for) state.records state.pulls state.leaves state.splits

(* The exit code of one stream, whose answer is printed. *)
let answer ?progress kept source =
  let refused reason = Printf.printf "refused\n%s\n" reason; 1 in
  try run ?progress kept source; 0 with
  | Refused reason | Sys_error reason -> refused reason
  | Stack_overflow | Out_of_memory -> refused "it needs more memory than there is"
  | problem -> refused ("the prover failed: " ^ Printexc.to_string problem)

(* Streams one after the other, of which none knows of another one. *)
let rec each () =
  match input_line stdin with
  | exception End_of_file -> 0
  | line ->
      (match int_of_string_opt line with
      | Some bytes when bytes >= 0 && bytes <= most_bytes ->
          ignore (answer None (of_string (really_input_string stdin bytes)));
          print_string "\n";
          flush stdout;
          each ()
      | _ -> prerr_string usage; 2)

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 18; space_overhead = 1000; max_overhead = 1000000 };
  set_binary_mode_in stdin true;
  exit
    (match Array.to_list Sys.argv with
    | [ _ ] -> answer None (of_channel stdin)
    | [ _; "--records"; file ] -> answer (Some file) (of_channel stdin)
    | [ _; "--progress" ] -> answer ~progress:true None (of_channel stdin)
    | [ _; "--progress"; "--records"; file ] -> answer ~progress:true (Some file) (of_channel stdin)
    | [ _; "--each" ] -> each ()
    | _ -> prerr_string usage; 2)
