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
let start layers knowns inputs =
  let count = Array.length layers in
  let widest = Array.fold_left (fun w (l : layer) -> max w (Array.length l.shapes)) 0 layers in
  let per_layer none = Array.init count (fun j -> Array.make (Array.length layers.(j).shapes) none) in
  let network () = { forms = per_layer [||]; slopes = per_layer 0.0; constants = per_layer 0.0 } in
  { layers; knowns; inputs; first = network (); second = network (); settled = count; starts = Array.make count (1 + inputs);
    places = per_layer (-1); opened = Array.make count [||]; same = Array.make count [||]; live = Array.make count [||];
    p = [||]; q = [||]; by_x = Array.make widest 0.0; by_y = Array.make widest 0.0;
    some_x = Array.make widest 0; some_y = Array.make widest 0 }

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
          let w = row.(k) /. d in
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

(* The open neurons of a layer in p and q, replaced by their lines; what these add. *)
let replace forms j =
  let layer = forms.layers.(j) and k = forms.knowns.(j) and at = forms.starts.(j) and some = forms.opened.(j) in
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
      let s = by_d *. t.(od) in
      let a = (by_x *. t.(ox)) +. s and b = (by_y *. t.(oy)) -. s in
      total := !total +. (by_x *. t.(ox + 1)) +. (by_y *. t.(oy + 1)) +. (by_d *. t.(od + 1))
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
    let p = x *. row1.(c) and q = y *. row2.(c) in
    if q <> 0.0 && agrees next k c then total := !total +. least_flat next k c (p +. q) 0.0
    else if p <> 0.0 || q <> 0.0 then total := !total +. least_flat next k c p q
  done;
  (!total +. (x *. layer.biases1.(i)) +. (y *. layer.biases2.(i))) /. layer.denominator

(* The same through all layers; [on_inputs] bounds coefficients of the inputs. *)
let through forms on_inputs t i x y =
  let n = forms.starts.(t) in
  if Array.length forms.p < n then (forms.p <- Array.make (2 * n) 0.0; forms.q <- Array.make (2 * n) 0.0);
  Array.fill forms.p 0 n 0.0;
  Array.fill forms.q 0 n 0.0;
  if x <> 0.0 then Relaxing.add_row x (of_first forms t i) forms.p;
  if y <> 0.0 then Relaxing.add_row y (of_second forms t i) forms.q;
  let total = ref 0.0 in
  for j = t + 1 to Array.length forms.layers - 1 do total := !total +. replace forms j done;
  let both = Array.init forms.inputs (fun k -> forms.p.(1 + k) +. forms.q.(1 + k)) in
  !total +. forms.p.(0) +. forms.q.(0) +. on_inputs both

(* The bound of a quantity of a neuron that its lines promise, or intervals of the next layer where these promise more. *)
let promised forms on_inputs t i kind least =
  while forms.settled > t + 1 do settle forms done;
  let sign = if least then 1.0 else -1.0 and layer = forms.layers.(t) in
  let x, y = match kind with Kernel.KX -> (sign, 0.0) | KY -> (0.0, sign) | KD -> (sign, -.sign) in
  let found = through forms on_inputs t i x y in
  let found = if t + 1 < Array.length forms.layers then greater found (behind forms t i x y) else found in
  sign *. (found -. (taken_by_errors layer i x y /. layer.denominator))
