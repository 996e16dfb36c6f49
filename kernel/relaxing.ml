(* Hints in floats. Nothing here is trusted: the kernel takes any integers, and calculates every bound itself.

   A functional p f(x) + q h(y) is pulled through the layers as the kernel does, in floats that stand for its integers,
   along the lines that are chosen for every neuron. *)

open Lines
include Lining

type pulled = {
  hints : Kernel.hints Lazy.t; (* from the layer on that was asked about *)
  at_inputs : float array * float array; (* coefficients of the inputs by way of either network, in real units *)
  at_base : float array; (* their sum, as the integers of the kernel *)
  unit : float; (* of those integers *)
  beside : float; (* what is added to that of the inputs, in real units *)
  losses : (int * float array * float array) list Lazy.t; (* per layer: what the lines of x and of y give away, in one unit *)
}

let power_of_two_above x = if x <= 1.0 then 1.0 else let _, e = Float.frexp x in Float.ldexp 1.0 e

(* Any hint is sound, so a number that is none may become any. *)
let integer v =
  if Float.abs v < 0x1p51 then Z.of_int (int_of_float (whole v)) else if Float.is_finite v then Z.of_float (Float.round v) else Z.zero

let add_row factor row into =
  if factor <> 0.0 then
    for i = 0 to Array.length row - 1 do
      Array.unsafe_set into i (Array.unsafe_get into i +. (factor *. Array.unsafe_get row i))
    done

let add_sparse_row factor (places : int array) row into =
  for k = 0 to Array.length places - 1 do
    let i = Array.unsafe_get places k in
    into.(i) <- into.(i) +. (factor *. row.(i))
  done

(* The same for many rows of one length: [factors] times [rows], of which the first [count] of [some] are meant. *)
let add_rows count (some : int array) factors (rows : float array array) into =
  let k = ref 0 in
  while !k + 3 < count do
    let n0 = some.(!k) and n1 = some.(!k + 1) and n2 = some.(!k + 2) and n3 = some.(!k + 3) in
    let r0 = rows.(n0) and r1 = rows.(n1) and r2 = rows.(n2) and r3 = rows.(n3) in
    let f0 : float = factors.(n0) and f1 : float = factors.(n1) and f2 : float = factors.(n2) and f3 : float = factors.(n3) in
    for i = 0 to Array.length r0 - 1 do
      Array.unsafe_set into i
        (Array.unsafe_get into i
         +. ((f0 *. Array.unsafe_get r0 i) +. (f1 *. Array.unsafe_get r1 i))
         +. ((f2 *. Array.unsafe_get r2 i) +. (f3 *. Array.unsafe_get r3 i)))
    done;
    k := !k + 4
  done;
  while !k < count do
    add_row factors.(some.(!k)) rows.(some.(!k)) into;
    incr k
  done

let is_some p =
  let found = ref false in
  for i = 0 to Array.length p - 1 do if p.(i) <> 0.0 then found := true done;
  !found

(* A quantity that is to be added on the way: x of neuron i of layer t with the first factor, y with the second. *)
type added = { layer : int; neuron : int; factor_x : float; factor_y : float }

(* Slopes for functions that are convex, in place of those of the usual lines below them: of neurons that have a place, for
   either network, infinite where the usual one is taken. *)
type tangents = { places : int array array; along_x : float array; along_y : float array }

let slope_of (tangents : tangents option) along j i =
  match tangents with
  | None -> infinity
  | Some some -> let place = some.places.(j).(i) in if place < 0 then infinity else (along some).(place)

(* A line below p f that touches f, which is convex, at its kink: by how much it is higher at 0 than the usual one. *)
let[@inline] constant_of_tangent f slope = value f f.at.(0) -. (slope *. f.at.(0))

(* The lines of a layer with tangents in place of some usual ones; what that adds beside them. *)
let touch tangents layer (k : known) j p q links x y =
  let total = ref 0.0 and t = k.table in
  for i = 0 to Array.length p - 1 do
    if p.(i) <> 0.0 || q.(i) <> 0.0 then begin
      let g = links.(i) and o = i * slots in
      let pg = p.(i) +. g and qg = q.(i) -. g in
      let a = slope_of tangents (fun some -> some.along_x) j i and b = slope_of tangents (fun some -> some.along_y) j i in
      if pg > 0.0 && a < infinity then begin
        x.(i) <- pg *. a;
        total := !total +. (pg *. (constant_of_tangent layer.shapes.(i) a -. t.(o + of_x + 1)))
      end;
      if qg > 0.0 && b < infinity then begin
        y.(i) <- qg *. b;
        total := !total +. (qg *. (constant_of_tangent layer.others.(i) b -. t.(o + of_y + 1)))
      end
    end
  done;
  !total

(* From coefficients p, q, which it may change, of what layer [at] reads (so of the functions of layer at + 1) to the
   inputs. Lines are the usual ones, or those that [choose] gives for a neuron of a layer and coefficients in real units. Of what is added the factors
   are those of real units, and [rounded] tells the integer that its factor became. [see] is shown the coefficients of the
   functions of each layer, and their unit. *)
let pull ?added ?(rounded = ref 0.0) ?choose ?tangents ?(see = fun _ _ _ _ -> ()) layers knowns inputs at p q =
  let count = Array.length layers in
  let p = ref p and q = ref q and hints = ref [] and losses = ref [] and unit = ref (1.0 /. layers.(at).denominator) in
  let beside = ref 0.0 in
  let widest = Array.fold_left (fun w layer -> max w (Array.length layer.shapes)) 0 layers in
  let by_x = Array.make widest 0.0 and by_y = Array.make widest 0.0 and some_x = Array.make widest 0 and some_y = Array.make widest 0 in
  let none = Array.make widest 0.0 in
  for j = at + 1 to count - 1 do
    let layer = layers.(j) and known : known = knowns.(j) in
    let m = Array.length layer.shapes in
    let width = if j + 1 < count then Array.length layers.(j + 1).shapes else inputs in
    let p_here = !p and q_here = !q and unit_here = !unit in
    gather layer known p_here q_here;
    see j p_here q_here unit_here;
    (* What is asked of one network alone gives lines of that one: the others stay 0, in an array that all layers share. *)
    let fresh used = if used || Option.is_some choose then Array.make m 0.0 else none in
    let of_x = is_some p_here and of_y = is_some q_here in
    let links = fresh (of_x && of_y) and x = fresh of_x and y = fresh of_y and d = fresh (of_x && of_y) in
    let constants =
      match choose with
      | None ->
          let usual = usual_lines layer known p_here q_here links x y d in
          if tangents = None then usual else usual +. touch tangents layer known j p_here q_here links x y
      | Some choose ->
          let u = unit_here and total = ref 0.0 in
          for i = 0 to m - 1 do
            let pi = p_here.(i) and qi = q_here.(i) in
            let { g; a; b; s } = choose j i (u *. pi) (u *. qi) in
            let line = { g = Float.round (g /. u); a = a /. u; b = b /. u; s = s /. u } in
            links.(i) <- line.g; x.(i) <- line.a; y.(i) <- line.b; d.(i) <- line.s;
            total := !total +. constant layer.shapes.(i) layer.others.(i) known i pi qi line
          done;
          !total
    in
    beside := !beside +. (unit_here *. constants);
    let largest = ref 0.0 in
    for i = 0 to m - 1 do
      largest := greater !largest (greater (Float.abs x.(i)) (greater (Float.abs y.(i)) (Float.abs d.(i))))
    done;
    (* As few bits as let the products with weights stay machine integers. *)
    let bits = greater 18.0 (Lines.lesser 24.0 (60.0 -. Float.ceil (Float.log2 (layer.largest *. float_of_int (m + 1))))) in
    let scale = power_of_two_above (!largest /. Float.ldexp 1.0 (int_of_float bits)) in
    if Option.is_some choose then
      losses := lazy (
        let line i = { g = links.(i); a = scale *. x.(i); b = scale *. y.(i); s = scale *. d.(i) } in
        let both = Array.init m (fun i -> given_away layer.shapes.(i) layer.others.(i) known i p_here.(i) q_here.(i) (line i)) in
        (j, Array.map (fun (x, _) -> unit_here *. x) both, Array.map (fun (_, y) -> unit_here *. y) both)) :: !losses;
    let p' = Array.make width 0.0 and q' = Array.make width 0.0 in
    let last = ref (-1) and count_x = ref 0 and count_y = ref 0 in
    let shorter = 1.0 /. scale in
    for i = 0 to m - 1 do
      let a = x.(i) and b = y.(i) and s = d.(i) in
      if a <> 0.0 || b <> 0.0 || s <> 0.0 then begin
        let a = whole (a *. shorter) and b = whole (b *. shorter) and s = whole (s *. shorter) in
        x.(i) <- a; y.(i) <- b; d.(i) <- s;
        if a <> 0.0 || b <> 0.0 || s <> 0.0 then last := i;
        by_x.(i) <- a +. s;
        by_y.(i) <- b -. s
      end
      else (by_x.(i) <- 0.0; by_y.(i) <- 0.0);
      if links.(i) <> 0.0 then last := i
    done;
    (match added with
    | Some one when one.layer = j ->
        let factor v = Float.round (v /. (scale *. !unit)) in
        let fx = factor one.factor_x and fy = factor one.factor_y in
        rounded := greater (Float.abs fx) (Float.abs fy);
        by_x.(one.neuron) <- by_x.(one.neuron) +. fx;
        by_y.(one.neuron) <- by_y.(one.neuron) +. fy
    | _ -> ());
    let biases = ref 0.0 in
    for i = 0 to m - 1 do
      let a = by_x.(i) and b = by_y.(i) in
      if a <> 0.0 then (some_x.(!count_x) <- i; incr count_x);
      if b <> 0.0 then (some_y.(!count_y) <- i; incr count_y);
      if a <> 0.0 || b <> 0.0 then
        biases := !biases +. (a *. layer.biases1.(i)) +. (b *. layer.biases2.(i)) -. taken_by_errors layer i a b
    done;
    (match layer.sparse with
    | None ->
        add_rows !count_x some_x by_x layer.rows1 p';
        add_rows !count_y some_y by_y layer.rows2 q'
    | Some (places1, places2) ->
        let add count some by places rows into =
          for k = 0 to count - 1 do let i = some.(k) in add_sparse_row by.(i) places.(i) rows.(i) into done
        in
        add !count_x some_x by_x places1 layer.rows1 p';
        add !count_y some_y by_y places2 layer.rows2 q');
    let last = !last in
    let hint i = { Kernel.link = integer links.(i); slope_x = integer x.(i); slope_y = integer y.(i); slope_d = integer d.(i) } in
    hints := lazy (integer scale, List.init (last + 1) hint) :: !hints;
    unit := !unit *. scale /. layer.denominator;
    beside := !beside +. (!unit *. !biases);
    p := p';
    q := q'
  done;
  let inputs = (Array.map (fun v -> v *. !unit) !p, Array.map (fun v -> v *. !unit) !q) in
  let hints = List.rev !hints and losses = !losses in
  let forced all = lazy (List.map Lazy.force all) in
  { hints = forced hints; at_inputs = inputs; at_base = Array.map2 ( +. ) !p !q; unit = !unit; beside = !beside; losses = forced losses }

(* A pull that ends behind the next layer. *)
let stopped layers knowns inputs at p q =
  let layer = layers.(at + 1) and k : known = knowns.(at + 1) and unit = 1.0 /. layers.(at).denominator in
  gather layer k p q;
  let total = ref 0.0 and largest = ref 0.0 in
  for i = 0 to Array.length p - 1 do
    if p.(i) <> 0.0 || q.(i) <> 0.0 then begin
      total := !total +. least_flat layer k i p.(i) q.(i);
      largest := greater !largest (greater (Float.abs p.(i)) (Float.abs q.(i)))
    end
  done;
  let scale = power_of_two_above (!largest /. 0x1p24) and p = Array.copy p and q = Array.copy q in
  let hint i =
    { Kernel.link = integer (flat_link layer k i p.(i) q.(i)); slope_x = Z.zero; slope_y = Z.zero; slope_d = Z.zero }
  in
  let none = Array.make inputs 0.0 and rest = List.init (Array.length layers - at - 2) (fun _ -> (Z.one, [])) in
  { hints = lazy ((integer scale, List.init (Array.length p) hint) :: rest); at_inputs = (none, none); at_base = none;
    unit = unit *. scale; beside = unit *. !total; losses = lazy [] }

let by_inputs found = Array.map2 ( +. ) (fst found.at_inputs) (snd found.at_inputs)

(* The least of p v on a box. *)
let least_on sides p =
  let total = ref 0.0 in
  for i = 0 to Array.length sides - 1 do
    let l, u = sides.(i) and v : float = p.(i) in
    total := !total +. Lines.lesser (v *. l) (v *. u)
  done;
  !total

(* Multipliers of constraints A v <= b that raise the least of p v on a box: coordinate by coordinate, at the places where
   a coefficient changes its sign. *)
let multipliers rows limits low high p =
  let count = Array.length rows and n = Array.length p in
  let found = Array.make count 0.0 and p = Array.copy p in
  let least p = let total = ref 0.0 in
    for i = 0 to n - 1 do total := !total +. Lines.lesser (p.(i) *. low.(i)) (p.(i) *. high.(i)) done;
    !total in
  for _ = 1 to (if count > 1 then 3 else 1) do
    for c = 0 to count - 1 do
      let row = rows.(c) and trial = Array.make n 0.0 in
      Array.iteri (fun i a -> p.(i) <- p.(i) -. (found.(c) *. a)) row;
      let gain m =
        Array.blit p 0 trial 0 n;
        Array.iteri (fun i a -> trial.(i) <- trial.(i) +. (m *. a)) row;
        least trial -. (m *. limits.(c))
      in
      let best = ref 0.0 and top = ref (gain 0.0) in
      Array.iteri
        (fun i a ->
          let m = Float.round (-.p.(i) /. a) in
          if a <> 0.0 && m > 0.0 && Float.is_finite m then
            let g = gain m in
            if g > !top then (top := g; best := m))
        row;
      found.(c) <- !best;
      Array.iteri (fun i a -> p.(i) <- p.(i) +. (!best *. a)) row
    done
  done;
  found

(* Coefficients of inputs with so many times the constraints added, and what that adds to a bound. *)
let constrained rows limits multipliers p =
  let p = Array.copy p and more = ref 0.0 in
  Array.iteri (fun c m -> add_row m rows.(c) p; more := !more -. (m *. limits.(c))) multipliers;
  (p, !more)
