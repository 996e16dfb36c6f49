(* Bounds of neurons by pulls, where floats say that one is worth it: the kernel's own arithmetic costs many times theirs. *)

open Attempts

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

(* The part of its width by which an interval must be expected to shrink for a pull. *)
let least_gain = 0.02

(* The same at a node that stays open, if no neuron ceases to be bent by it. *)
let large_gain = 0.15

let interval (k : Relaxing.known) i = function
  | Kernel.KX -> (k.lx.(i), k.ux.(i))
  | KY -> (k.ly.(i), k.uy.(i))
  | KD -> (k.ld.(i), k.ud.(i))

(* A quantity of a neuron, pulled in floats to the inputs, or behind the next layer where that gives more: the factor that
   it has, what is found, and the bound that it promises. [see] is told first whether it ends there. *)
let pulled ?see ?tangents state sides knowns t i kind least =
  let layer = state.layers.(t) in
  let sign = if least then 1.0 else -1.0 in
  let x, y = match kind with Kernel.KX -> (1.0, 0.0) | KY -> (0.0, 1.0) | KD -> (1.0, -1.0) in
  let row1 = layer.rows1.(i) and row2 = layer.rows2.(i) in
  let factor = layer.factors.(i) in
  let width = if t + 1 < Array.length state.layers then Array.length state.layers.(t + 1).shapes else state.inputs in
  let p = Array.make width 0.0 and q = Array.make width 0.0 in
  Relaxing.add_row (sign *. x *. factor) row1 p;
  Relaxing.add_row (sign *. y *. factor) row2 q;
  let bias = (sign *. ((x *. layer.biases1.(i)) +. (y *. layer.biases2.(i)))) -. Relaxing.taken_by_errors layer i x y in
  let promised found = sign *. ((estimated state sides found /. factor) +. (bias /. layer.denominator)) in
  let behind = if t + 1 < Array.length state.layers then Some (Relaxing.stopped state.layers knowns state.inputs t p q) else None in
  let seen = ref [] in
  let look = Option.map (fun _ j p q unit -> seen := (j, p, q, unit) :: !seen) see in
  let found = Relaxing.pull ?see:look ?tangents state.layers knowns state.inputs t p q in
  let ends, found =
    match behind with Some short when short.beside > estimated state sides found -> (true, short) | _ -> (false, found)
  in
  Option.iter (fun see -> List.iter (fun (j, p, q, unit) -> if not ends || j = t + 1 then see ends j p q unit) (List.rev !seen)) see;
  (factor, found, promised found)

(* The bounds that floats promise of quantities, of layers in the order of [walk], from what is known when it comes to them;
   and the pull that shows the bound which was promised last. *)
type promises = {
  of_quantity : int -> int -> Kernel.kind -> bool -> float;
  pull_of : ?see:(bool -> int -> float array -> float array -> float -> unit) -> int -> int -> Kernel.kind -> bool -> float * Relaxing.pulled * float;
}

let promises state sides knowns =
  if Forms.suit state.layers state.inputs then begin
    let forms = Forms.start state.layers knowns sides in
    { of_quantity = Forms.promised forms (least_of_inputs state sides);
      pull_of = (fun ?see t i kind least -> pulled ?see ?tangents:(Forms.tangents forms) state sides knowns t i kind least) }
  end
  else
    { of_quantity = (fun t i kind least -> let _, _, promised = pulled state sides knowns t i kind least in promised);
      pull_of = (fun ?see t i kind least -> pulled ?see state sides knowns t i kind least) }

(* The pull of a quantity, of which nothing was promised yet. *)
let best_pull ?see promises t i kind least =
  ignore (promises.of_quantity t i kind least);
  promises.pull_of ?see t i kind least

(* Tell the kernel of it, and note what is known then. *)
let keep state knowns t i kind least (factor, (found : Relaxing.pulled), _) =
  let hints = unhinted (t + 1) @ Lazy.force found.hints @ with_constraints state found.at_base in
  let n = state.naturals in
  take state (RBound (n.(t), n.(i), kind, least, Relaxing.integer factor, hints));
  state.pulls <- state.pulls + 1;
  if t > 0 then
    Hashtbl.replace state.slopes (number_of t i kind least) (Array.map (fun a -> a /. factor) (Relaxing.by_inputs found));
  Relaxing.set knowns.(t) i (bounds_of state t i)

(* Whatever it gains. *)
let bound state knowns t i kind least =
  let one = best_pull (promises state (box state) knowns) t i kind least in
  keep state knowns t i kind least one;
  let _, found, _ = one in
  found

(* Whether a promised bound gains enough, or has the neuron no longer bent. *)
let is_worth ?(least_gain = least_gain) state (knowns : Relaxing.known array) t i kind least promised =
  let low, high = interval knowns.(t) i kind in
  let gain = if least then promised -. low else high -. promised in
  let kinks =
    match kind with
    | Kernel.KX -> state.layers.(t).shapes.(i).kinks
    | KY -> state.layers.(t).others.(i).kinks
    | KD -> [||]
  in
  let passes = Array.exists (fun (b, _) -> if least then low < b && promised >= b else b < high && promised <= b) kinks in
  gain > 0.0 && (passes || gain > least_gain *. (high -. low))

(* A difference is short whose interval, or bound, is at most this part of the interval of its neuron. *)
let short = 0.05

(* Neurons whose functions are bent where they may be, from layer [first] down to layer 1: [attempt] is asked for the
   bounds of each that may help, and whether to go on. Pulls that end behind a layer rest on all neurons of it but those
   that are constant: [whole] asks for these as well. *)
let walk ?(whole = false) state (knowns : Relaxing.known array) first attempt =
  for t = first downto 1 do
    Array.iteri
      (fun i f ->
        let k = knowns.(t) in
        let matters (f : Lines.shape) l u = Lines.bent f l u || (whole && f.kinks <> [||] && Lines.slope_right f l <> 0.0) in
        let open_x () = matters f k.lx.(i) k.ux.(i) and open_y () = matters state.layers.(t).others.(i) k.ly.(i) k.uy.(i) in
        let all kind = attempt t i kind in
        if open_x () || open_y () then begin
          all Kernel.KD true;
          all KD false;
          let pulled_x = open_x () in
          if pulled_x then all KX true;
          if open_x () then all KX false;
          let most = if whole then short else 0.25 in
          let loose () = (not pulled_x) || k.ud.(i) -. k.ld.(i) > most *. (k.uy.(i) -. k.ly.(i)) in
          if open_y () && loose () then all KY true;
          if open_y () && loose () then all KY false
        end)
      state.layers.(t).shapes
  done

(* Which bounds of differences are worth a pull at a node that stays open: those of which a large part is gained, and which
   are short beside the interval of the neuron. What is known of one network then holds nearly so of the other, here and at
   all nodes below, without a pull. *)
let gain_of_short = 0.2
let is_short (k : Relaxing.known) i kind promised =
  kind <> Kernel.KD || Float.abs promised <= short *. (k.uy.(i) -. k.ly.(i))

(* Bounds of all neurons whose functions are bent where they may be; of a node that [stays_open] the larger gains alone. *)
let tighten ?(stays_open = false) state =
  let before = left state and known = knowns state and last = Array.length state.layers - 1 in
  let void t =
    Array.iteri
      (fun i _ ->
        if (not (closed state before)) && Relaxing.crossed known.(t) i then
          ignore (takes state (RVoid (state.naturals.(t), state.naturals.(i)))))
      state.layers.(t).shapes
  in
  if last > 0 then begin
    take state (RForward state.naturals.(last));
    known.(last) <- Relaxing.known_of (List.nth (top state).known_of last);
    for t = last downto 1 do void t done
  end;
  let sides = box state in
  let promises = promises state sides known in
  walk state known (last - 1) (fun t i kind least ->
      if not (closed state before) then begin
        let promised = promises.of_quantity t i kind least in
        let least_gain = if not stays_open then least_gain else if kind = Kernel.KD then gain_of_short else large_gain in
        if is_worth ~least_gain state known t i kind least promised && not (stays_open && not (is_short known.(t) i kind promised)) then begin
          keep state known t i kind least (promises.pull_of t i kind least);
          if Relaxing.crossed known.(t) i then ignore (takes state (RVoid (state.naturals.(t), state.naturals.(i))))
        end
      end);
  known

(* One bound in floats, and what x, y and d say of each other then. *)
let put (k : Relaxing.known) i kind least v =
  (match (kind, least) with
  | Kernel.KX, true -> k.lx.(i) <- v
  | KX, false -> k.ux.(i) <- v
  | KY, true -> k.ly.(i) <- v
  | KY, false -> k.uy.(i) <- v
  | KD, true -> k.ld.(i) <- v
  | KD, false -> k.ud.(i) <- v);
  Relaxing.exchange k i

let is_tighter (k : Relaxing.known) i kind least promised =
  let low, high = interval k i kind in
  if least then promised > low else promised < high

(* By how much the bounds of a neuron contradict each other, at most 0 if they do not: bounds of the kernel are integers. *)
let contradiction (k : Relaxing.known) i =
  let by = Lines.greater (k.lx.(i) -. k.ux.(i)) (Lines.greater (k.ly.(i) -. k.uy.(i)) (k.ld.(i) -. k.ud.(i))) in
  if by >= 1.0 then by else 0.0

exception Crossed

(* The same in floats alone, from bounds that are changed; what is promised of the rows is left to ask. Whoever [watches] goes no further than to a contradiction. *)
let imagine ?(watches = false) state sides (knowns : Relaxing.known array) =
  let promises = promises state sides knowns in
  walk ~whole:(few_free state) state knowns (Array.length state.layers - 1) (fun t i kind least ->
      let promised = promises.of_quantity t i kind least in
      if is_tighter knowns.(t) i kind least promised then begin
        put knowns.(t) i kind least promised;
        if watches && contradiction knowns.(t) i > 0.0 then raise Crossed
      end);
  promises
