(* Hints in floats. Nothing here is trusted: the kernel takes any integers, and calculates every bound itself.

   A functional p f(x) + q f(y) is pulled through the layers as the kernel does, in floats that stand for its integers.
   Per neuron it is chosen how much of it goes through the link of both networks, and which lines bound the rest. *)

type shape = { base : float; shift : float; kinks : (float * float) array }

type layer = {
  denominator : float;
  shapes : shape array;
  rows1 : float array array;
  rows2 : float array array;
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
  let shape (k : Kernel.neuron) =
    let kinks = List.map (fun (b, s) -> (float_of b, float_of s)) k.function0.kinks_of in
    { base = float_of k.function0.base; shift = float_of k.function0.shift; kinks = Array.of_list kinks }
  in
  let rows1 = Array.map (fun (k : Kernel.neuron) -> row k.row1) neurons in
  let rows2 = Array.map (fun (k : Kernel.neuron) -> row k.row2) neurons in
  let most = Array.fold_left (Array.fold_left (fun a b -> Float.max a (Float.abs b))) 1.0 in
  { denominator = float_of given.denominator; shapes = Array.map shape neurons; rows1; rows2;
    largest = Float.max (most rows1) (most rows2) }

let known_of (bounds : Kernel.bounds list) =
  let every = Array.of_list bounds in
  let part get = Array.map (fun b -> float_of (get b)) every in
  { lx = part (fun b -> b.Kernel.lx); ux = part (fun b -> b.Kernel.ux);
    ly = part (fun b -> b.Kernel.ly); uy = part (fun b -> b.Kernel.uy);
    ld = part (fun b -> b.Kernel.ld); ud = part (fun b -> b.Kernel.ud) }

let set known i (b : Kernel.bounds) =
  known.lx.(i) <- float_of b.lx; known.ux.(i) <- float_of b.ux;
  known.ly.(i) <- float_of b.ly; known.uy.(i) <- float_of b.uy;
  known.ld.(i) <- float_of b.ld; known.ud.(i) <- float_of b.ud

(* Whether what is known of neuron i contradicts itself. *)
let crossed k i = k.lx.(i) > k.ux.(i) || k.ly.(i) > k.uy.(i) || k.ld.(i) > k.ud.(i)

let value f v =
  let total = ref ((f.base *. v) +. f.shift) in
  for k = 0 to Array.length f.kinks - 1 do
    let b, s = f.kinks.(k) in
    if v > b then total := !total +. (s *. (v -. b))
  done;
  !total

(* Whether it is bent between l and u. *)
let bent f l u =
  let found = ref false in
  for k = 0 to Array.length f.kinks - 1 do
    let b, s = f.kinks.(k) in
    if s <> 0.0 && l < b && b < u then found := true
  done;
  !found

let slope_right f v = Array.fold_left (fun s (b, more) -> if v >= b then s +. more else s) f.base f.kinks

(* The least of p f(v) - a v on [l, u]. *)
let lowest f p a l u =
  let found = ref (Float.min ((p *. value f l) -. (a *. l)) ((p *. value f u) -. (a *. u))) in
  for k = 0 to Array.length f.kinks - 1 do
    let b, _ = f.kinks.(k) in
    if l < b && b < u then found := Float.min !found ((p *. value f b) -. (a *. b))
  done;
  !found

(* The slope of the line below p f on [l, u] that is highest in the middle: the chord, or that of a piece. *)
let slope f p l u =
  if p = 0.0 then 0.0
  else if not (bent f l u) then p *. slope_right f l
  else begin
    let middle = 0.5 *. (l +. u) in
    let best = ref (p *. (value f u -. value f l) /. (u -. l)) in
    let height a = (a *. middle) +. lowest f p a l u in
    let top = ref (height !best) in
    let attempt a = let h = height a in if h > !top then (top := h; best := a) in
    attempt (p *. slope_right f l);
    Array.iter (fun (b, _) -> if l < b && b < u then attempt (p *. slope_right f b)) f.kinks;
    !best
  end

let steepest f l u =
  let lo = ref (slope_right f l) in
  let hi = ref !lo and now = ref !lo in
  Array.iter (fun (b, s) -> if l < b && b < u then (now := !now +. s; lo := Float.min !lo !now; hi := Float.max !hi !now)) f.kinks;
  (!lo, !hi)

type pulled = {
  hints : Kernel.hints; (* from the layer on that was asked about *)
  at_inputs : float array * float array; (* coefficients of the inputs by way of either network, in real units *)
  at_base : float array; (* their sum, as the integers of the kernel *)
  losses : (int * float array * float array) list; (* per layer: what the lines of x and of y give away, in one unit *)
}

let power_of_two_above x = if x <= 1.0 then 1.0 else let _, e = Float.frexp x in Float.ldexp 1.0 e

let integer v = Z.of_float (Float.round v)

let add_row factor row into =
  if factor <> 0.0 then
    for i = 0 to Array.length row - 1 do
      Array.unsafe_set into i (Array.unsafe_get into i +. (factor *. Array.unsafe_get row i))
    done

(* A quantity that is to be added on the way: x of neuron i of layer t with the first factor, y with the second. *)
type added = { layer : int; neuron : int; factor_x : float; factor_y : float }

(* From coefficients p, q of what layer [at] reads (so of the functions of layer at + 1) to the inputs. Of what is added
   the factors are those of real units, and [rounded] tells the integer that its factor became. *)
let pull ?added ?(rounded = ref 0.0) layers knowns inputs at p q =
  let count = Array.length layers in
  let p = ref p and q = ref q and hints = ref [] and losses = ref [] and unit = ref (1.0 /. layers.(at).denominator) in
  for j = at + 1 to count - 1 do
    let layer = layers.(j) and known : known = knowns.(j) in
    let m = Array.length layer.shapes in
    let width = if j + 1 < count then Array.length layers.(j + 1).shapes else inputs in
    let a = Array.make m 0.0 and b = Array.make m 0.0 and s = Array.make m 0.0 and g = Array.make m 0.0 in
    let loss_x = Array.make m 0.0 and loss_y = Array.make m 0.0 in
    let largest = ref 0.0 in
    for i = 0 to m - 1 do
      let f = layer.shapes.(i) and pi = !p.(i) and qi = !q.(i) in
      if pi <> 0.0 || qi <> 0.0 then begin
        let lx = known.lx.(i) and ux = known.ux.(i) and ly = known.ly.(i) and uy = known.uy.(i) in
        let ld = known.ld.(i) and ud = known.ud.(i) in
        let open_x = bent f lx ux and open_y = bent f ly uy in
        let least, most = steepest f (Float.min lx ly) (Float.max ux uy) in
        if pi *. qi < 0.0 && ((open_x && open_y) || least = most) then
          g.(i) <- (if Float.abs pi < Float.abs qi then -.pi else qi);
        let pi = pi +. g.(i) and qi = qi -. g.(i) and t = -.g.(i) in
        a.(i) <- slope f pi lx ux;
        b.(i) <- slope f qi ly uy;
        (if t <> 0.0 then
           let up, down = if t >= 0.0 then (least, most) else (most, least) in
           s.(i) <- slope { base = down; shift = 0.0; kinks = [| (0.0, up -. down) |] } t ld ud);
        largest := Float.max !largest (Float.max (Float.abs a.(i)) (Float.max (Float.abs b.(i)) (Float.abs s.(i))));
        if open_x && pi <> 0.0 then begin
          let middle = 0.5 *. (lx +. ux) in
          loss_x.(i) <- !unit *. ((pi *. value f middle) -. (a.(i) *. middle) -. lowest f pi a.(i) lx ux)
        end;
        if open_y && qi <> 0.0 then begin
          let middle = 0.5 *. (ly +. uy) in
          loss_y.(i) <- !unit *. ((qi *. value f middle) -. (b.(i) *. middle) -. lowest f qi b.(i) ly uy)
        end;
        if open_x && open_y && t <> 0.0 then begin
          let spread = !unit *. Float.abs t *. Float.min (ud -. ld) (Float.max (Float.abs ld) (Float.abs ud)) in
          loss_x.(i) <- loss_x.(i) +. spread
        end
      end
    done;
    losses := (j, loss_x, loss_y) :: !losses;
    (* As few bits as let the products with weights stay machine integers. *)
    let bits = Float.max 12.0 (Float.min 24.0 (60.0 -. Float.ceil (Float.log2 (layer.largest *. float_of_int (m + 1))))) in
    let scale = power_of_two_above (!largest /. Float.ldexp 1.0 (int_of_float bits)) in
    let p' = Array.make width 0.0 and q' = Array.make width 0.0 in
    let last = ref (-1) in
    for i = 0 to m - 1 do
      a.(i) <- Float.round (a.(i) /. scale);
      b.(i) <- Float.round (b.(i) /. scale);
      s.(i) <- Float.round (s.(i) /. scale);
      if g.(i) <> 0.0 || a.(i) <> 0.0 || b.(i) <> 0.0 || s.(i) <> 0.0 then last := i;
      add_row (a.(i) +. s.(i)) layer.rows1.(i) p';
      add_row (b.(i) -. s.(i)) layer.rows2.(i) q'
    done;
    (match added with
    | Some one when one.layer = j ->
        let factor v = Float.round (v /. (scale *. !unit)) in
        let x = factor one.factor_x and y = factor one.factor_y in
        rounded := Float.max (Float.abs x) (Float.abs y);
        add_row x layer.rows1.(one.neuron) p';
        add_row y layer.rows2.(one.neuron) q'
    | _ -> ());
    let here = ref [] in
    for i = !last downto 0 do
      let hint = { Kernel.link = integer g.(i); slope_x = integer a.(i); slope_y = integer b.(i); slope_d = integer s.(i) } in
      here := hint :: !here
    done;
    hints := (integer scale, !here) :: !hints;
    unit := !unit *. scale /. layer.denominator;
    p := p';
    q := q'
  done;
  let inputs = (Array.map (fun v -> v *. !unit) !p, Array.map (fun v -> v *. !unit) !q) in
  { hints = List.rev !hints; at_inputs = inputs; at_base = Array.map2 ( +. ) !p !q; losses = !losses }

(* Multipliers of constraints A v <= b that raise the least of p v on a box: coordinate by coordinate, at the places where
   a coefficient changes its sign. *)
let multipliers rows limits low high p =
  let count = Array.length rows and n = Array.length p in
  let found = Array.make count 0.0 and p = Array.copy p in
  let least p = let total = ref 0.0 in
    for i = 0 to n - 1 do total := !total +. Float.min (p.(i) *. low.(i)) (p.(i) *. high.(i)) done;
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
