(* Rounds of a certificate: bounds of quantities from facts with multipliers, told again as pulls.

   The auditor adds facts about both networks, times multipliers, to a quantity, and bounds what is left by an enclosure.
   A pull can do the same layer by layer. A fact about what a function gives is a line for that part of it, a bound that is
   known is a slope beside it, and what the facts leave has the slope of a chord. The part of the difference of both
   networks is carried from layer to layer, as the auditor carries it, and becomes the link. Bounds are the kernel's own. *)

open Attempts

(* Per neuron, in blocks as long as a layer is wide: what facts add to the coefficients of X, Y and D, and of x, y and d by
   way of their lines; multipliers of bounds that are known, of x, y and d; and of X - Y - D = 0. *)
let blocks = 10
let of_functions, of_lines, of_bounds, of_equation = (0, 3, 6, 9)

type sums = float array array

let add (sums : sums) width j block i by = sums.(j).((block * width) + i) <- sums.(j).((block * width) + i) +. by

(* One fact of a neuron, in the order of its numbers in README.md, times m. *)
let add_fact state (known : Relaxing.known array) sums j i says m =
  let layer = state.layers.(j) in
  let width = Array.length layer.shapes in
  let add block by = add sums width j block i by in
  let above part slope = add (of_functions + part) (-.m); add (of_lines + part) (m *. slope)
  and below part slope = add (of_functions + part) m; add (of_lines + part) (-.m *. slope) in
  let usual slot = let o = Relaxing.table_of layer known.(j) i in known.(j).table.(o + slot) in
  match (says : Commands.fact) with
  | Not_negative part -> above part 0.0
  | Over_argument part -> above part 1.0
  | Over_line 0 -> above 0 (usual Relaxing.of_x)
  | Over_line 1 -> above 1 (usual Relaxing.of_y)
  | Over_line _ -> above 2 (usual Relaxing.of_d)
  | Under_line 0 -> below 0 (-.usual (Relaxing.of_x + 2))
  | Under_line 1 -> below 1 (-.usual (Relaxing.of_y + 2))
  | Under_line _ -> below 2 (-.usual (Relaxing.of_d + 2))
  | Over_least part -> add (of_bounds + part) (-.m)
  | Under_most part -> add (of_bounds + part) m
  | Is_difference -> add of_equation m
  | Ahead -> ()

(* Slope of the chord of a function that is bent. *)
let chord f l u = (Lines.value f u -. Lines.value f l) /. (u -. l)

(* A neuron whose functions have coefficients p and q, of which [through] is that of D = f(x) - f(y): hints, and the part of
   the coefficients of x and y that is one of d though no line of d was used. *)
let line_of (layer : Relaxing.layer) (k : Relaxing.known) (sums : float array) i p q through =
  let m = Array.length layer.shapes and f = layer.shapes.(i) and h = layer.others.(i) in
  let sum block = sums.((block * m) + i) in
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) and ld = k.ld.(i) and ud = k.ud.(i) in
  let bent_x = Lines.bent f lx ux and bent_y = Lines.bent h ly uy and alike = Lines.alike f h ly uy in
  let through = through +. sum of_equation and by_lines = sum (of_functions + 2) in
  let linked = alike && bent_x && bent_y in
  let g = if linked then -.through else if alike then by_lines else 0.0 in
  let along part bent f l u coefficient =
    sum (of_bounds + part)
    +. if bent then (chord f l u *. (coefficient +. sum (of_functions + part))) +. sum (of_lines + part)
       else coefficient *. Lines.slope_right f l
  in
  let a = along 0 bent_x f lx ux (p +. g) and b = along 1 bent_y h ly uy (q -. g) in
  let s =
    if not alike then sum (of_bounds + 2)
    else
      let rest = -.g +. by_lines in
      let least, most = Lines.steepest f (Lines.lesser lx ly) (Lines.greater ux uy) in
      let keep = if ud > ld && rest <> 0.0 then Lines.greater least (Lines.lesser most (((most *. ud) -. (least *. ld)) /. (ud -. ld))) else least in
      (keep *. rest) +. sum (of_lines + 2) +. sum (of_bounds + 2)
  in
  let off f l u = Lines.slope_right f l = 0.0 && not (Lines.bent f l u) in
  let carried = if linked || off f lx ux || off h ly uy then 0.0 else through +. by_lines in
  ({ Lines.g; a; b; s }, carried)

(* What is asked about: nothing, so that something above 0 shows the node to be empty, or a quantity of a neuron. *)
let wish_of (shown : Commands.shown) size =
  match shown with
  | Nothing_left | Bound_input _ -> None
  | Bound (t, i, kind, least) ->
      let r = if least then size else -.size in
      let x, y = match kind with Kernel.KX -> (r, 0.0) | KY -> (0.0, r) | KD -> (r, -.r) in
      Some { Relaxing.layer = t; neuron = i; factor_x = x; factor_y = y }

(* The part of D in the coefficients of the functions of every layer, from a sweep in real units. *)
let parts_of_difference state (known : Relaxing.known array) (sums : sums) (wish : Relaxing.added option) =
  let count = Array.length state.layers in
  let width j = if j < count then Array.length state.layers.(j).shapes else state.inputs in
  let p = ref [||] and q = ref [||] and r = ref [||] in
  let through = Array.make count [||] in
  for j = 0 to count - 1 do
    let layer = state.layers.(j) and m = width j in
    through.(j) <- !r;
    let p' = Array.make (width (j + 1)) 0.0 and q' = Array.make (width (j + 1)) 0.0 and r' = Array.make (width (j + 1)) 0.0 in
    if j > 0 then Relaxing.gather layer known.(j) !p !q;
    for i = 0 to m - 1 do
      let sum block = sums.(j).((block * m) + i) in
      let { Lines.a; b; s; _ }, carried =
        if j = 0 then ({ Lines.nothing with a = sum of_bounds; b = sum (of_bounds + 1); s = sum (of_bounds + 2) }, 0.0)
        else if (!p).(i) = 0.0 && (!q).(i) = 0.0 && (!r).(i) = 0.0 && not (Array.exists (fun b -> sum b <> 0.0) [| 0; 1; 2; 6; 7; 8; 9 |])
        then (Lines.nothing, 0.0)
        else line_of layer known.(j) sums.(j) i (!p).(i) (!q).(i) (!r).(i)
      in
      let x, y, d =
        match wish with
        | Some w when w.layer = j && w.neuron = i ->
            if w.factor_x <> 0.0 && w.factor_y <> 0.0 then (0.0, 0.0, w.factor_x) else (w.factor_x, w.factor_y, 0.0)
        | _ -> (0.0, 0.0, 0.0)
      in
      let d' = s +. carried +. d in
      Relaxing.add_row ((a +. s +. x +. d) /. layer.denominator) layer.rows1.(i) p';
      Relaxing.add_row ((b -. s +. y -. d) /. layer.denominator) layer.rows2.(i) q';
      Relaxing.add_row (d' /. layer.denominator) layer.rows1.(i) r'
    done;
    p := p'; q := q'; r := r'
  done;
  through

(* Multipliers of margins over classes, by rows of the claim, become those of margins over groups, whose limits are higher:
   as much as there is of the group that gains the most, again and again. *)
let grouped state (obligation : Kernel.obligation) weights =
  let layer = state.layers.(0) in
  let candidate (q : Kernel.limit) =
    let i = Reader.int_of_nat q.neuron_of in
    (i, Z.to_float q.value_of, layer.rows1.(i))
  in
  let limits = List.map candidate (List.filter (fun (q : Kernel.limit) -> q.at_least && q.kind_of = Kernel.KX) obligation) in
  let parts row = List.filter (fun j -> row.(j) < 0.0) (List.init (Array.length row) Fun.id) in
  let single, several = List.partition (fun (_, _, row) -> List.length (parts row) = 1) limits in
  let of_class = Hashtbl.create 16 in
  List.iter (fun ((_, _, row) as one) -> Hashtbl.replace of_class (List.hd (parts row)) one) single;
  let left j = match Hashtbl.find_opt of_class j with Some (i, _, _) -> weights.(i) | None -> 0.0 in
  let value j = match Hashtbl.find_opt of_class j with Some (_, v, _) -> v | None -> 0.0 in
  let several = List.map (fun (i, v, row) -> (i, v, List.map (fun j -> (j, -.row.(j))) (parts row))) several in
  let rec again times =
    let gain (_, v, members) =
      let w = List.fold_left (fun w (j, a) -> Lines.lesser w (left j /. a)) infinity members in
      (w *. (v -. List.fold_left (fun t (j, a) -> t +. (a *. value j)) 0.0 members), w)
    in
    let best = List.fold_left (fun ((top, _, _) as best) one ->
      let g, w = gain one in if g > top then (g, w, Some one) else best) (0.0, 0.0, None) several in
    match best with
    | _, w, Some (i, _, members) when times > 0 && Float.is_finite w ->
        List.iter (fun (j, a) -> let n, _, _ = Hashtbl.find of_class j in weights.(n) <- Lines.greater 0.0 (weights.(n) -. (w *. a))) members;
        weights.(i) <- weights.(i) +. w;
        again (times - 1)
    | _ -> ()
  in
  again 10

(* Sums of the facts with these multipliers. A bound of an output that an obligation limits is that of the row of the claim
   which is this output. *)
let sums_of state known (facts : (int * int * Commands.fact) array) multipliers : sums =
  let sums = Array.map (fun (l : Relaxing.layer) -> Array.make (blocks * Array.length l.shapes) 0.0) state.layers in
  let rows = Array.length state.layers.(0).shapes in
  let obligation = match (top state).open0 with [ one ] -> one | _ -> [] in
  let ahead = Array.make rows 0.0 in
  let limited kind least i =
    List.find_map
      (fun (q : Kernel.limit) ->
        let row = state.layers.(0).rows1.(Reader.int_of_nat q.neuron_of) in
        let is_output = i < Array.length row && row.(i) = 1.0 && Array.for_all (fun a -> a = 0.0 || a = 1.0) row
                        && Array.fold_left ( +. ) 0.0 row = 1.0 in
        if q.kind_of = kind && q.at_least = least && is_output then Some (Reader.int_of_nat q.neuron_of) else None)
      obligation
  in
  let kinds = [| Kernel.KX; KY; KD |] in
  Array.iteri
    (fun n (t, i, says) ->
      let m : float = multipliers.(n) in
      if m <> 0.0 then
        match (says : Commands.fact) with
        | Ahead when t = 0 -> ahead.(i) <- ahead.(i) +. m
        | Over_least part when t = 1 && limited kinds.(part) true i <> None ->
            add sums rows 0 (of_bounds + part) (Option.get (limited kinds.(part) true i)) (-.m)
        | Under_most part when t = 1 && limited kinds.(part) false i <> None ->
            add sums rows 0 (of_bounds + part) (Option.get (limited kinds.(part) false i)) m
        | _ -> add_fact state known sums t i says m)
    facts;
  if Array.exists (fun w -> w <> 0.0) ahead then begin
    grouped state obligation ahead;
    Array.iteri (fun i w -> add sums rows 0 of_bounds i (-.w)) ahead
  end;
  sums

(* The pull of a sum of facts and what is asked about: hints, the integer that the factor became, and the bound that it
   promises, for a factor of 1. *)
let pulled state (known : Relaxing.known array) sums shown =
  let size = Contracting.size and layer = state.layers.(0) and k = known.(0) in
  let through = parts_of_difference state known sums (wish_of shown 1.0) in
  let m = Array.length layer.shapes in
  let part n = Array.init m (fun i -> Float.round (size *. sums.(0).(((of_bounds + n) * m) + i))) in
  let x = part 0 and y = part 1 and d = part 2 in
  let wish = wish_of shown size in
  let width = if Array.length state.layers > 1 then Array.length state.layers.(1).shapes else state.inputs in
  let p = Array.make width 0.0 and q = Array.make width 0.0 and above = ref 0.0 in
  let least a l u = Lines.lesser (-.a *. l) (-.a *. u) in
  for i = 0 to m - 1 do
    let own_x, own_y = match wish with Some w when w.layer = 0 && w.neuron = i -> (w.factor_x, w.factor_y) | _ -> (0.0, 0.0) in
    let by_x = x.(i) +. d.(i) +. own_x and by_y = y.(i) -. d.(i) +. own_y in
    if x.(i) <> 0.0 then above := !above +. least x.(i) k.lx.(i) k.ux.(i);
    if y.(i) <> 0.0 then above := !above +. least y.(i) k.ly.(i) k.uy.(i);
    if d.(i) <> 0.0 then above := !above +. least d.(i) k.ld.(i) k.ud.(i);
    above := !above +. (((by_x *. layer.biases1.(i)) +. (by_y *. layer.biases2.(i)) -. Relaxing.taken_by_errors layer i by_x by_y) /. layer.denominator);
    Relaxing.add_row by_x layer.rows1.(i) p;
    Relaxing.add_row by_y layer.rows2.(i) q
  done;
  let choose j i p q =
    let line, _ = line_of state.layers.(j) known.(j) sums.(j) i (p /. size) (q /. size) through.(j).(i) in
    { Lines.g = size *. line.g; a = size *. line.a; b = size *. line.b; s = size *. line.s }
  in
  let rounded = ref size in
  let found = Relaxing.pull ?added:wish ~rounded ~choose state.layers known state.inputs 0 p q in
  let hint i = { Kernel.link = Z.zero; slope_x = Relaxing.integer x.(i); slope_y = Relaxing.integer y.(i); slope_d = Relaxing.integer d.(i) } in
  (match shown with
  | Bound_input (i, least) ->
      rounded := Float.round (size /. found.unit);
      found.at_base.(i) <- found.at_base.(i) +. (if least then !rounded else -. !rounded)
  | _ -> ());
  let rec length n = if n > 0 && x.(n - 1) = 0.0 && y.(n - 1) = 0.0 && d.(n - 1) = 0.0 then length (n - 1) else n in
  let hints = lazy ((Z.one, List.init (length m) hint) :: Lazy.force found.hints @ with_constraints state found.at_base) in
  (hints, !rounded, (!above +. estimated state (box state) found) /. size)

(* The part of its width by which an interval must be expected to shrink. *)
let least_gain = 0.01

(* A round is gone through once more where more than one of so many of its bounds was gained: then its facts say
   more. Where inputs are many that costs more than it gives. *)
let again_if_of = 3

(* Bounds of a round, one after the other, on the node at hand; true if they close it. *)
let rec closes ?(again = true) state (facts, bounds) =
  let before = left state and n = state.naturals and gained = ref 0 in
  let known = Tightening.tighten state in
  let void t i = if (not (closed state before)) && Relaxing.crossed known.(t) i then ignore (takes state (RVoid (n.(t), n.(i)))) in
  if not (closed state before) then Array.iteri (fun i _ -> void 0 i) state.layers.(0).shapes;
  let one (shown, multipliers) =
    if not (closed state before) then begin
      let hints, rounded, promised = pulled state known (sums_of state known facts multipliers) shown in
      let told = Float.is_finite rounded && rounded > 0.0 and e = Relaxing.integer rounded in
      match shown with
      | Commands.Nothing_left -> if promised > 0.0 then ignore (takes state (RLeaf (Lazy.force hints)))
      | Bound_input (i, least) ->
          let l, u = (box state).(i) in
          let gain = if least then promised -. l else u +. promised in
          if told && gain > least_gain *. (u -. l) then begin
            take state (RBoundInput (n.(i), least, e, Lazy.force hints));
            ignore (takes state (REmpty n.(i)))
          end
      | Bound (t, i, kind, least) ->
          let v = if least then promised else -.promised in
          if told && Tightening.is_worth ~least_gain state known t i kind least v then begin
            take state (RBound (n.(t), n.(i), kind, least, e, Lazy.force hints));
            state.pulls <- state.pulls + 1;
            Relaxing.set known.(t) i (bounds_of state t i);
            void t i;
            incr gained
          end
    end
  in
  if not (closed state before) then List.iter one bounds;
  let count = List.length bounds in
  if again && few_free state && count > 1 && again_if_of * !gained > count && not (closed state before) then closes ~again:false state (facts, bounds)
  else begin
    if closed state before then state.leaves <- state.leaves + 1;
    settle state;
    closed state before
  end
