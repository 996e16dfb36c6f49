(* Hints in floats. Nothing here is trusted: the kernel takes any integers, and calculates every bound itself.

   A functional p f(x) + q h(y) is pulled through the layers as the kernel does, in floats that stand for its integers.
   Per neuron it is chosen how much of it goes through the link of both networks, and which lines bound the rest. *)

open Lines

type layer = {
  denominator : float;
  shapes : shape array; (* of the first network *)
  others : shape array; (* of the second *)
  rows1 : float array array;
  rows2 : float array array;
  biases1 : float array;
  biases2 : float array;
  largest : float; (* of the sizes of all weights *)
}

(* What is known of the neurons of a layer. *)
type known = {
  lx : float array; ux : float array;
  ly : float array; uy : float array;
  ld : float array; ud : float array;
}

let float_of = Z.to_float

let layer_of (given : Kernel.layer) =
  let neurons = Array.of_list given.neurons in
  let row r = Array.of_list (List.map float_of r) in
  let shape c =
    let f = Kernel.close c in
    let kinks = List.map (fun (b, s) -> (float_of b, float_of s)) f.kinks_of in
    let below, above =
      match c with
      | Kernel.Bent _ -> (0.0, 0.0)
      | Levels g ->
          let a, b = Kernel.halves g.rounding and size = float_of g.size in
          (0.5 *. size *. float_of a, 0.5 *. size *. float_of b)
    in
    { base = float_of f.base; shift = float_of f.shift; kinks = Array.of_list kinks; below; above }
  in
  let shapes = Array.map (fun (k : Kernel.neuron) -> shape k.function0) neurons in
  let others = Array.mapi (fun i (k : Kernel.neuron) -> match k.other with None -> shapes.(i) | Some c -> shape c) neurons in
  let rows1 = Array.map (fun (k : Kernel.neuron) -> row k.row1) neurons in
  let rows2 = Array.map (fun (k : Kernel.neuron) -> row k.row2) neurons in
  let biases1 = Array.map (fun (k : Kernel.neuron) -> float_of k.bias1) neurons in
  let biases2 = Array.map (fun (k : Kernel.neuron) -> float_of k.bias2) neurons in
  let most = Array.fold_left (Array.fold_left (fun a b -> greater a (Float.abs b))) 1.0 in
  { denominator = float_of given.denominator; shapes; others; rows1; rows2; biases1; biases2;
    largest = greater (most rows1) (most rows2) }

let known_of (bounds : Kernel.bounds list) =
  let every = Array.of_list bounds in
  let part get = Array.map (fun b -> float_of (get b)) every in
  { lx = part (fun b -> b.Kernel.lx); ux = part (fun b -> b.Kernel.ux);
    ly = part (fun b -> b.Kernel.ly); uy = part (fun b -> b.Kernel.uy);
    ld = part (fun b -> b.Kernel.ld); ud = part (fun b -> b.Kernel.ud) }

let copy k =
  { lx = Array.copy k.lx; ux = Array.copy k.ux; ly = Array.copy k.ly; uy = Array.copy k.uy;
    ld = Array.copy k.ld; ud = Array.copy k.ud }

let set known i (b : Kernel.bounds) =
  known.lx.(i) <- float_of b.lx; known.ux.(i) <- float_of b.ux;
  known.ly.(i) <- float_of b.ly; known.uy.(i) <- float_of b.uy;
  known.ld.(i) <- float_of b.ld; known.ud.(i) <- float_of b.ud

(* Whether what is known of neuron i contradicts itself. *)
let crossed k i = k.lx.(i) > k.ux.(i) || k.ly.(i) > k.uy.(i) || k.ld.(i) > k.ud.(i)

(* The line that is highest in the middle, and as much through the link as both networks share where both are bent. *)
let usual f h (k : known) i p q =
  if p = 0.0 && q = 0.0 then nothing
  else begin
    let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) in
    let least, most = steepest f (Lines.lesser lx ly) (greater ux uy) in
    let shared = p *. q < 0.0 && alike f h ly uy && ((bent f lx ux && bent h ly uy) || least = most) in
    let g = if not shared then 0.0 else if Float.abs p < Float.abs q then -.p else q in
    let s = if g = 0.0 then 0.0 else slope (difference least most (-.g)) (-.g) k.ld.(i) k.ud.(i) in
    { g; a = slope f (p +. g) lx ux; b = slope h (q -. g) ly uy; s }
  end

(* What p f(x) + q h(y) is at least, beside the lines; g is 0 where f and h are not alike. *)
let constant f h (k : known) i p q { g; a; b; s } =
  let below f p slope l u = if p = 0.0 && slope = 0.0 then 0.0 else lowest f p slope l u in
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) in
  let by_difference =
    if g = 0.0 && s = 0.0 then 0.0
    else
      let least, most = steepest f (Lines.lesser lx ly) (greater ux uy) in
      lowest (difference least most (-.g)) (-.g) s k.ld.(i) k.ud.(i)
  in
  below f (p +. g) a lx ux +. below h (q -. g) b ly uy +. by_difference
  +. (p *. rounding f p lx ux) +. (q *. rounding h q ly uy)

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
let integer v = if Float.is_finite v then Z.of_float (Float.round v) else Z.zero

let add_row factor row into =
  if factor <> 0.0 then
    for i = 0 to Array.length row - 1 do
      Array.unsafe_set into i (Array.unsafe_get into i +. (factor *. Array.unsafe_get row i))
    done

(* A quantity that is to be added on the way: x of neuron i of layer t with the first factor, y with the second. *)
type added = { layer : int; neuron : int; factor_x : float; factor_y : float }

(* What the lines of a neuron give away in the middle of its intervals. *)
let given_away f h (k : known) i p q { g; a; b; _ } =
  let in_the_middle f p slope l u =
    if p = 0.0 || not (bent f l u) then 0.0
    else
      let middle = 0.5 *. (l +. u) in
      (p *. value f middle) -. (slope *. middle) -. lowest f p slope l u
  in
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) and ld = k.ld.(i) and ud = k.ud.(i) in
  let by_link =
    if g <> 0.0 && bent f lx ux && bent h ly uy then
      Float.abs g *. Lines.lesser (ud -. ld) (greater (Float.abs ld) (Float.abs ud))
    else 0.0
  in
  (in_the_middle f (p +. g) a lx ux +. by_link, in_the_middle h (q -. g) b ly uy)

(* From coefficients p, q of what layer [at] reads (so of the functions of layer at + 1) to the inputs. Lines are the usual
   ones, or those that [choose] gives for a neuron of a layer and coefficients in real units. Of what is added the factors
   are those of real units, and [rounded] tells the integer that its factor became. *)
let pull ?added ?(rounded = ref 0.0) ?choose layers knowns inputs at p q =
  let count = Array.length layers in
  let p = ref p and q = ref q and hints = ref [] and losses = ref [] and unit = ref (1.0 /. layers.(at).denominator) in
  let beside = ref 0.0 in
  for j = at + 1 to count - 1 do
    let layer = layers.(j) and known : known = knowns.(j) in
    let m = Array.length layer.shapes in
    let width = if j + 1 < count then Array.length layers.(j + 1).shapes else inputs in
    let largest = ref 0.0 and p_here = !p and q_here = !q and unit_here = !unit in
    let chosen i f =
      let pi = !p.(i) and qi = !q.(i) in
      match choose with
      | None -> usual f layer.others.(i) known i pi qi
      | Some choose ->
          let u = !unit in
          let { g; a; b; s } = choose j i (u *. pi) (u *. qi) in
          { g = Float.round (g /. u); a = a /. u; b = b /. u; s = s /. u }
    in
    let lines = Array.mapi chosen layer.shapes in
    Array.iteri
      (fun i line ->
        beside := !beside +. (unit_here *. constant layer.shapes.(i) layer.others.(i) known i p_here.(i) q_here.(i) line);
        largest := greater !largest (greater (Float.abs line.a) (greater (Float.abs line.b) (Float.abs line.s))))
      lines;
    let exact = lines in
    losses := lazy (
      let both = Array.mapi (fun i line -> given_away layer.shapes.(i) layer.others.(i) known i p_here.(i) q_here.(i) line) exact in
      (j, Array.map (fun (x, _) -> unit_here *. x) both, Array.map (fun (_, y) -> unit_here *. y) both)) :: !losses;
    (* As few bits as let the products with weights stay machine integers. *)
    let bits = greater 12.0 (Lines.lesser 24.0 (60.0 -. Float.ceil (Float.log2 (layer.largest *. float_of_int (m + 1))))) in
    let scale = power_of_two_above (!largest /. Float.ldexp 1.0 (int_of_float bits)) in
    let p' = Array.make width 0.0 and q' = Array.make width 0.0 in
    let last = ref (-1) and biases = ref 0.0 in
    let lines = Array.map (fun l -> { l with a = Float.round (l.a /. scale); b = Float.round (l.b /. scale); s = Float.round (l.s /. scale) }) lines in
    let through i x y =
      add_row x layer.rows1.(i) p';
      add_row y layer.rows2.(i) q';
      biases := !biases +. (x *. layer.biases1.(i)) +. (y *. layer.biases2.(i))
    in
    Array.iteri
      (fun i { g; a; b; s } ->
        if g <> 0.0 || a <> 0.0 || b <> 0.0 || s <> 0.0 then last := i;
        through i (a +. s) (b -. s))
      lines;
    (match added with
    | Some one when one.layer = j ->
        let factor v = Float.round (v /. (scale *. !unit)) in
        let x = factor one.factor_x and y = factor one.factor_y in
        rounded := greater (Float.abs x) (Float.abs y);
        through one.neuron x y
    | _ -> ());
    let hint { g; a; b; s } = { Kernel.link = integer g; slope_x = integer a; slope_y = integer b; slope_d = integer s } in
    let last = !last in
    hints := lazy (integer scale, List.init (last + 1) (fun i -> hint lines.(i))) :: !hints;
    unit := !unit *. scale /. layer.denominator;
    beside := !beside +. (!unit *. !biases);
    p := p';
    q := q'
  done;
  let inputs = (Array.map (fun v -> v *. !unit) !p, Array.map (fun v -> v *. !unit) !q) in
  let hints = List.rev !hints and losses = !losses in
  let forced all = lazy (List.map Lazy.force all) in
  { hints = forced hints; at_inputs = inputs; at_base = Array.map2 ( +. ) !p !q; unit = !unit; beside = !beside; losses = forced losses }

let by_inputs found = Array.map2 ( +. ) (fst found.at_inputs) (snd found.at_inputs)

(* The least of p v on a box. *)
let least_on sides p =
  let total = ref 0.0 in
  Array.iteri (fun i (l, u) -> total := !total +. Lines.lesser (p.(i) *. l) (p.(i) *. u)) sides;
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
