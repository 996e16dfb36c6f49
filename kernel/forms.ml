(* Bounds of quantities in floats, of which hundreds are asked for at one node.

   Where a function is not bent, what it gives is a multiple of what it reads: so most neurons need no line. What a neuron
   reads is therefore kept as an affine form in the inputs and in what the neurons behind it give whose functions are bent,
   or of which something else is unknown. A bound replaces these by their lines, layer by layer: the same lines, and but for
   their rounding the same bound, as a pull through all neurons has (relaxing.ml), whose hints the kernel takes. *)

open Lines
open Lining

(* Of one network: forms of the neurons of every layer, empty until they are asked for; slope and constant of what
   functions give that are not bent. *)
type network = { forms : float array array array; slopes : float array array; constants : float array array }

type t = {
  layers : layer array;
  knowns : known array;
  inputs : int;
  first : network;
  second : network;
  mutable settled : int; (* layers from here on are known as well as they will be *)
  starts : int array; (* how long forms of a layer are: 1, the inputs, and the open neurons of the layers that it reads *)
  places : int array array; (* of the neurons of a layer in forms; none is below 0 *)
  opened : int array array; (* those that have a place, in their order *)
  same : bool array array; (* of those: whether both networks agree there *)
  live : int array array; (* neurons whose functions may give anything but 0 *)
  mutable p : float array; (* room for the coefficients by way of either network *)
  mutable q : float array;
  mutable values_x : float array; (* room for the value of all that forms are in, and for the lines of functions there *)
  mutable values_y : float array;
  mutable lines : float array;
  mutable tangents : Relaxing.tangents; (* slopes that may be better than the usual ones *)
  mutable touching : bool; (* whether they are taken *)
  sides : (float * float) array;
  by_x : float array; (* room for factors of forms of one layer, and for the neurons that have any *)
  by_y : float array;
  some_x : int array;
  some_y : int array;
}

(* Whether forms of all neurons are few numbers; where they are not, rows are most often zeros but for a few places, and
   pulls are cheaper. *)
let most_numbers = 1 lsl 22
let suit (layers : layer array) inputs =
  let neurons = Array.fold_left (fun n (l : layer) -> n + Array.length l.shapes) 0 layers in
  neurons * (inputs + neurons) <= most_numbers

(* For neurons of which this is known; whoever changes what is known of a layer asks for no bounds of layers behind it any more. *)
let start layers knowns sides =
  let inputs = Array.length sides in
  let count = Array.length layers in
  let widest = Array.fold_left (fun w (l : layer) -> max w (Array.length l.shapes)) 0 layers in
  let per_layer none = Array.init count (fun j -> Array.make (Array.length layers.(j).shapes) none) in
  let network () = { forms = per_layer [||]; slopes = per_layer 0.0; constants = per_layer 0.0 } in
  { layers; knowns; inputs; first = network (); second = network (); settled = count; starts = Array.make count (1 + inputs);
    places = per_layer (-1); opened = Array.make count [||]; same = Array.make count [||]; live = Array.make count [||];
    p = [||]; q = [||]; values_x = [||]; values_y = [||]; lines = [||]; tangents = { places = [||]; along_x = [||]; along_y = [||] };
    touching = false; sides; by_x = Array.make widest 0.0; by_y = Array.make widest 0.0;
    some_x = Array.make widest 0; some_y = Array.make widest 0 }

(* Rows end with the last number of their layer that is not 0. *)
let[@inline] entry (row : float array) k = if k < Array.length row then row.(k) else 0.0

(* The form of what neuron i of layer t reads in a network; the layers behind t are settled. *)
let rec form forms network rows biases t i =
  let made = network.forms.(t).(i) in
  if made != [||] then made
  else begin
    let v = Array.make forms.starts.(t) 0.0 and d = forms.layers.(t).denominator in
    let row : float array = (rows forms.layers.(t)).(i) in
    v.(0) <- (biases forms.layers.(t)).(i) /. d;
    if t + 1 = Array.length forms.layers then Array.iteri (fun k w -> v.(1 + k) <- w /. d) row
    else begin
      let place = forms.places.(t + 1) and slope = network.slopes.(t + 1) and constant = network.constants.(t + 1) in
      Array.iter
        (fun k ->
          let w = entry row k /. d in
          if place.(k) >= 0 then v.(place.(k)) <- w
          else if w <> 0.0 then begin
            v.(0) <- v.(0) +. (w *. constant.(k));
            let a = w *. slope.(k) in
            if a <> 0.0 then Relaxing.add_row a (form forms network rows biases (t + 1) k) v
          end)
        forms.live.(t + 1)
    end;
    network.forms.(t).(i) <- v;
    v
  end

let of_first forms t i = form forms forms.first (fun l -> l.rows1) (fun l -> l.biases1) t i
let of_second forms t i = form forms forms.second (fun l -> l.rows2) (fun l -> l.biases2) t i

(* Whether a neuron needs lines: where both functions are straight, and nothing is rounded or lost to errors, it does not. *)
let is_open (layer : layer) (k : known) i =
  let f = layer.shapes.(i) and h = layer.others.(i) in
  let exact (f : shape) l u = f.logistic = None && rounding f 1.0 l u = 0.0 && rounding f (-1.0) l u = 0.0 in
  Array.length layer.errors1 > 0
  || bent f k.lx.(i) k.ux.(i) || bent h k.ly.(i) k.uy.(i)
  || not (exact f k.lx.(i) k.ux.(i) && exact h k.ly.(i) k.uy.(i))

(* Places, and forms, of the neurons of the next layer. *)
let settle forms =
  let j = forms.settled - 1 in
  let layer = forms.layers.(j) and k = forms.knowns.(j) in
  let m = Array.length layer.shapes and opened = ref [] and live = ref [] and place = ref forms.starts.(j) in
  for i = 0 to m - 1 do
    if is_open layer k i then begin
      forms.places.(j).(i) <- !place;
      incr place;
      opened := i :: !opened;
      live := i :: !live;
      ignore (of_first forms j i);
      ignore (of_second forms j i)
    end
    else begin
      let straight network (f : shape) l =
        let a = slope_right f l in
        network.slopes.(j).(i) <- a;
        network.constants.(j).(i) <- value f l -. (a *. l);
        a <> 0.0 || network.constants.(j).(i) <> 0.0
      in
      let one = straight forms.first layer.shapes.(i) k.lx.(i) and other = straight forms.second layer.others.(i) k.ly.(i) in
      if one || other then live := i :: !live
    end
  done;
  forms.opened.(j) <- Array.of_list (List.rev !opened);
  forms.live.(j) <- Array.of_list (List.rev !live);
  forms.same.(j) <- Array.map (agrees layer k) forms.opened.(j);
  if j > 0 then forms.starts.(j - 1) <- !place;
  forms.settled <- j

(* The line of x and of y at a place, as lines of the functions themselves: slope and constant of either. *)
let[@inline] note (lines : float array) place pg qg slope_x constant_x slope_y constant_y =
  let o = 4 * place and up = pg >= 0.0 and up' = qg >= 0.0 in
  lines.(o) <- (if up then slope_x else -.slope_x);
  lines.(o + 1) <- (if up then constant_x else -.constant_x);
  lines.(o + 2) <- (if up' then slope_y else -.slope_y);
  lines.(o + 3) <- (if up' then constant_y else -.constant_y)

(* The open neurons of a layer in p and q, replaced by their lines; what these add. *)
let replace forms j =
  let layer = forms.layers.(j) and k = forms.knowns.(j) and at = forms.starts.(j) and some = forms.opened.(j) in
  let along_x = forms.tangents.along_x and along_y = forms.tangents.along_y and touching = forms.touching in
  let p = forms.p and q = forms.q and t = k.table and total = ref 0.0 and count_x = ref 0 and count_y = ref 0 in
  for n = 0 to Array.length some - 1 do
    let i = some.(n) and p0 = p.(at + n) and q0 = q.(at + n) in
    if p0 <> 0.0 || q0 <> 0.0 then begin
      let together = q0 <> 0.0 && forms.same.(j).(n) in
      let pi = if together then p0 +. q0 else p0 and qi = if together then 0.0 else q0 in
      let o = table_of layer k i in
      let g = t.(o + linked) *. shared pi qi in
      let pg = pi +. g and qg = qi -. g in
      let ox = if pg >= 0.0 then o + of_x else o + of_x + 2 and by_x = Float.abs pg in
      let oy = if qg >= 0.0 then o + of_y else o + of_y + 2 and by_y = Float.abs qg in
      let od = if g <= 0.0 then o + of_d else o + of_d + 2 and by_d = Float.abs g in
      let s = by_d *. t.(od) and place = at + n in
      let touches_x = touching && pg > 0.0 && along_x.(place) < infinity in
      let touches_y = touching && qg > 0.0 && along_y.(place) < infinity in
      let slope_x = if touches_x then along_x.(place) else t.(ox) in
      let slope_y = if touches_y then along_y.(place) else t.(oy) in
      let constant_x = if touches_x then Relaxing.constant_of_tangent layer.shapes.(i) slope_x else t.(ox + 1) in
      let constant_y = if touches_y then Relaxing.constant_of_tangent layer.others.(i) slope_y else t.(oy + 1) in
      let a = (by_x *. slope_x) +. s and b = (by_y *. slope_y) -. s in
      note forms.lines place pg qg slope_x constant_x slope_y constant_y;
      total := !total +. (by_x *. constant_x) +. (by_y *. constant_y) +. (by_d *. t.(od + 1))
               +. rounding_at t (o + rounded_x) (beside layer.shapes.(i) pi g)
               +. rounding_at t (o + rounded_y) (beside layer.shapes.(i) qi (-.g))
               -. (taken_by_errors layer i a b /. layer.denominator);
      if a <> 0.0 then (forms.by_x.(i) <- a; forms.some_x.(!count_x) <- i; incr count_x);
      if b <> 0.0 then (forms.by_y.(i) <- b; forms.some_y.(!count_y) <- i; incr count_y)
    end
  done;
  Relaxing.add_rows !count_x forms.some_x forms.by_x forms.first.forms.(j) p;
  Relaxing.add_rows !count_y forms.some_y forms.by_y forms.second.forms.(j) q;
  !total

(* The least of x times the argument of the first network's function of neuron i of layer t and y times the second's,
   behind the next layer, from intervals of what its functions give. *)
let behind forms t i x y =
  let layer = forms.layers.(t) and next = forms.layers.(t + 1) and k = forms.knowns.(t + 1) in
  let row1 = layer.rows1.(i) and row2 = layer.rows2.(i) and live = forms.live.(t + 1) and total = ref 0.0 in
  for n = 0 to Array.length live - 1 do
    let c = live.(n) in
    let p = x *. entry row1 c and q = y *. entry row2 c in
    if q <> 0.0 && agrees next k c then total := !total +. least_flat next k c (p +. q) 0.0
    else if p <> 0.0 || q <> 0.0 then total := !total +. least_flat next k c p q
  done;
  (!total +. (x *. layer.biases1.(i)) +. (y *. layer.biases2.(i))) /. layer.denominator

(* What a form is where the inputs and open neurons have these values; four sums, since each has to wait for itself. *)
let at_values (form : float array) (values : float array) =
  let n = Array.length form and a = ref 0.0 and b = ref 0.0 and c = ref 0.0 and d = ref 0.0 and k = ref 0 in
  if Array.length values < n then invalid_arg "at_values";
  while !k + 3 < n do
    a := !a +. (Array.unsafe_get form !k *. Array.unsafe_get values !k);
    b := !b +. (Array.unsafe_get form (!k + 1) *. Array.unsafe_get values (!k + 1));
    c := !c +. (Array.unsafe_get form (!k + 2) *. Array.unsafe_get values (!k + 2));
    d := !d +. (Array.unsafe_get form (!k + 3) *. Array.unsafe_get values (!k + 3));
    k := !k + 4
  done;
  while !k < n do a := !a +. (form.(!k) *. values.(!k)); incr k done;
  !a +. !b +. (!c +. !d)

(* The slope of a function at v, if it is convex and bent between l and u by one kink. *)
let[@inline] tangent f l u v =
  if Array.length f.at = 1 && f.by.(0) > 0.0 && l < f.at.(0) && f.at.(0) < u then (if v > f.at.(0) then f.base +. f.by.(0) else f.base)
  else infinity

(* Where the inputs are at which the bound is taken that was found last, and by its lines the open neurons of the layers
   behind t: of the lines below a convex function those are best there that touch it. A step to them all at once is taken
   only if it raises the bound. *)
let look_back forms t of_x of_y =
  let along_x = forms.tangents.along_x and along_y = forms.tangents.along_y in
  forms.values_x.(0) <- 1.0;
  forms.values_y.(0) <- 1.0;
  for k = 0 to forms.inputs - 1 do
    let l, u = forms.sides.(k) in
    let v = if forms.p.(1 + k) +. forms.q.(1 + k) >= 0.0 then l else u in
    forms.values_x.(1 + k) <- v;
    forms.values_y.(1 + k) <- v
  done;
  for j = Array.length forms.layers - 1 downto t + 1 do
    let at = forms.starts.(j) and some = forms.opened.(j) and k = forms.knowns.(j) and layer = forms.layers.(j) in
    for n = 0 to Array.length some - 1 do
      let i = some.(n) and place = at + n in
      let o = 4 * place in
      if of_x then begin
        let x = at_values forms.first.forms.(j).(i) forms.values_x in
        along_x.(place) <- tangent layer.shapes.(i) k.lx.(i) k.ux.(i) x;
        forms.values_x.(place) <- (if forms.p.(place) = 0.0 then value layer.shapes.(i) x else (forms.lines.(o) *. x) +. forms.lines.(o + 1))
      end;
      if of_y then begin
        let y = at_values forms.second.forms.(j).(i) forms.values_y in
        along_y.(place) <- tangent layer.others.(i) k.ly.(i) k.uy.(i) y;
        forms.values_y.(place) <- (if forms.q.(place) = 0.0 then value layer.others.(i) y else (forms.lines.(o + 2) *. y) +. forms.lines.(o + 3))
      end
    done
  done

(* The least of x times the argument of the first function and y times the second, through all layers; [on_inputs] bounds
   coefficients of the inputs. *)
let through forms on_inputs t i x y =
  let n = forms.starts.(t) in
  Array.fill forms.p 0 n 0.0;
  Array.fill forms.q 0 n 0.0;
  if x <> 0.0 then Relaxing.add_row x (of_first forms t i) forms.p;
  if y <> 0.0 then Relaxing.add_row y (of_second forms t i) forms.q;
  let total = ref 0.0 in
  for j = t + 1 to Array.length forms.layers - 1 do total := !total +. replace forms j done;
  let both = Array.init forms.inputs (fun k -> forms.p.(1 + k) +. forms.q.(1 + k)) in
  !total +. forms.p.(0) +. forms.q.(0) +. on_inputs both

(* Whether both networks agree somewhere behind layer t: what is asked of the second is then asked of the first. *)
let agreeing forms t =
  let found = ref false in
  for j = t + 1 to Array.length forms.layers - 1 do if Array.exists Fun.id forms.same.(j) then found := true done;
  !found

let make_room forms n =
  if Array.length forms.p < n then begin
    let room () = Array.make (2 * n) 0.0 in
    forms.p <- room (); forms.q <- room (); forms.values_x <- room (); forms.values_y <- room ();
    forms.lines <- Array.make (8 * n) 0.0;
    forms.tangents <- { places = forms.places; along_x = room (); along_y = room () }
  end

(* The bound of a quantity of a neuron that its lines promise, or intervals of the next layer where these promise more. *)
let promised forms on_inputs t i kind least =
  while forms.settled > t + 1 do settle forms done;
  make_room forms forms.starts.(t);
  let sign = if least then 1.0 else -1.0 and layer = forms.layers.(t) in
  let x, y = match kind with Kernel.KX -> (sign, 0.0) | KY -> (0.0, sign) | KD -> (sign, -.sign) in
  forms.touching <- false;
  let usual = through forms on_inputs t i x y and is_last = t + 1 = Array.length forms.layers in
  let found =
    if is_last || (kind = Kernel.KD && t > 0) then usual (* of differences it gains less than it costs, but of rows *)
    else begin
      look_back forms t (x <> 0.0 || agreeing forms t) (y <> 0.0);
      forms.touching <- true;
      let other = through forms on_inputs t i x y in
      forms.touching <- other > usual;
      greater usual other
    end
  in
  let found = if is_last then found else greater found (behind forms t i x y) in
  sign *. (found -. (taken_by_errors layer i x y /. layer.denominator))

(* The slopes with which the bound was found that was asked for last, if they are not the usual ones. *)
let tangents forms = if forms.touching then Some forms.tangents else None
