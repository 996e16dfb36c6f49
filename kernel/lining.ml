(* What is known of neurons in floats, and what follows of their functions: lines, intervals, links. Nothing here is trusted.

   Per neuron it is chosen how much of p f(x) + q h(y) goes through the link of both networks, and which lines bound the
   rest; that is written into a table once for as long as bounds stay as they are. *)

open Lines

type layer = {
  denominator : float;
  shapes : shape array; (* of the first network *)
  others : shape array; (* of the second *)
  twins : bool array; (* whether both are one function, if need be where neither is cut off *)
  rows1 : float array array;
  rows2 : float array array;
  sparse : (int array array * int array array) option; (* where these are not 0, if that is seldom *)
  biases1 : float array;
  biases2 : float array;
  errors1 : float array; (* at most, of what the functions of either network read; none where all is exact *)
  errors2 : float array;
  largest : float; (* of the sizes of all weights *)
  factors : float array; (* of what is asked of a neuron, so that coefficients of the functions before have bits enough *)
}

(* What is known of the neurons of a layer, and the usual lines that follow from it: [slots] numbers per neuron, which are
   made when they are first asked for. Code that changes a bound calls [changed]. *)
type known = {
  lx : float array; ux : float array;
  ly : float array; uy : float array;
  ld : float array; ud : float array;
  table : float array;
  ready : Bytes.t;
}

let float_of = Z.to_float

(* A layer that reads numbers of sizes up to [reach]. *)
let layer_of (given : Kernel.layer) reach =
  let neurons = Array.of_list given.neurons in
  let length runs = List.fold_left (fun n (zeros, weights) -> n + Reader.int_of_nat zeros + List.length weights) 0 runs in
  let width = List.fold_left (fun w (k : Kernel.neuron) -> max w (max (length k.row1) (length k.row2))) 0 given.neurons in
  let row runs =
    let all = Array.make width 0.0 and at = ref 0 in
    List.iter
      (fun (zeros, weights) ->
        at := !at + Reader.int_of_nat zeros;
        List.iter (fun w -> all.(!at) <- float_of w; incr at) weights)
      runs;
    all
  in
  let shape c =
    let f = Kernel.close c in
    let kinks = List.map (fun (b, s) -> (float_of b, float_of s)) f.kinks_of in
    let below, above, kept, span =
      match c with
      | Kernel.Bent _ -> (0.0, 0.0, (neg_infinity, infinity), 0.0)
      | Levels g ->
          let a, b = Kernel.halves g.rounding and size = float_of g.size in
          let half (twice, _) = 0.5 *. float_of twice in
          let kept = if g.wraps then (half (Kernel.lowest_kept g), half (Kernel.highest_kept g)) else (neg_infinity, infinity) in
          (0.5 *. size *. float_of a, 0.5 *. size *. float_of b, kept, if g.wraps then float_of (Kernel.span g) else 0.0)
      | Smooth s -> (0.0, 0.0, (infinity, neg_infinity), float_of s.astray)
    in
    let logistic = match c with Smooth s -> Some (float_of s.rise, float_of s.stretch, float_of s.foot) | _ -> None in
    { base = float_of f.base; shift = float_of f.shift; kinks = Array.of_list kinks; at = Array.of_list (List.map fst kinks);
      by = Array.of_list (List.map snd kinks); below; above; kept; span; logistic }
  in
  let shapes = Array.map (fun (k : Kernel.neuron) -> shape k.function0) neurons in
  let others = Array.mapi (fun i (k : Kernel.neuron) -> match k.other with None -> shapes.(i) | Some c -> shape c) neurons in
  let twin (k : Kernel.neuron) = match k.other with None -> true | Some c -> Kernel.same_steps k.function0 c in
  let twins = Array.map twin neurons in
  let rows1 = Array.map (fun (k : Kernel.neuron) -> row k.row1) neurons in
  let rows2 = Array.map (fun (k : Kernel.neuron) -> row k.row2) neurons in
  let biases1 = Array.map (fun (k : Kernel.neuron) -> float_of (Kernel.bias1 k)) neurons in
  let biases2 = Array.map (fun (k : Kernel.neuron) -> float_of (Kernel.bias2 k)) neurons in
  let errors s =
    let of_neuron k = (float_of (Kernel.off s k) *. reach) +. float_of (Kernel.slack s k) in
    if List.exists Kernel.is_unknown given.neurons then Array.map of_neuron neurons else [||]
  in
  let most = Array.fold_left (Array.fold_left (fun a b -> greater a (Float.abs b))) 1.0 in
  let places r = Array.of_list (List.filter (fun i -> r.(i) <> 0.0) (List.init width Fun.id)) in
  let all1 = Array.map places rows1 and all2 = Array.map places rows2 in
  let entries = Array.fold_left (fun n some -> n + Array.length some) 0 in
  let factor i =
    Float.ldexp 1.0 (max 0 (30 - int_of_float (Float.ceil (Float.log2 (most [| rows1.(i); rows2.(i) |])))))
  in
  let seldom = 4 * (entries all1 + entries all2) < 2 * width * Array.length neurons in
  { denominator = float_of given.denominator; shapes; others; twins; rows1; rows2; biases1; biases2;
    errors1 = errors Kernel.First; errors2 = errors Kernel.Second; sparse = (if seldom then Some (all1, all2) else None);
    largest = greater (most rows1) (most rows2); factors = Array.init (Array.length rows1) factor }

(* Of a neuron: slope and constant of the line below f and below -f, of x, of y, and of the difference; what rounding
   adds, for both signs and both networks; whether something goes through the link, which is 1 or 0; and the least of f and
   of -f, of x, of y, and of the difference. *)
let slots = 23
let of_x = 0
let of_y = 4
let of_d = 8
let rounded_x = 12
let rounded_y = 14
let linked = 16
let flat_x = 17
let flat_y = 19
let flat_d = 21

let known_of (bounds : Kernel.bounds list) =
  let every = Array.of_list bounds in
  let part get = Array.map (fun b -> float_of (get b)) every in
  { lx = part (fun b -> b.Kernel.lx); ux = part (fun b -> b.Kernel.ux);
    ly = part (fun b -> b.Kernel.ly); uy = part (fun b -> b.Kernel.uy);
    ld = part (fun b -> b.Kernel.ld); ud = part (fun b -> b.Kernel.ud);
    table = Array.make (slots * Array.length every) 0.0; ready = Bytes.make (Array.length every) '0' }

let copy k =
  { lx = Array.copy k.lx; ux = Array.copy k.ux; ly = Array.copy k.ly; uy = Array.copy k.uy;
    ld = Array.copy k.ld; ud = Array.copy k.ud; table = Array.copy k.table; ready = Bytes.copy k.ready }

let changed known i = Bytes.set known.ready i '0'

let set known i (b : Kernel.bounds) =
  known.lx.(i) <- float_of b.lx; known.ux.(i) <- float_of b.ux;
  known.ly.(i) <- float_of b.ly; known.uy.(i) <- float_of b.uy;
  known.ld.(i) <- float_of b.ld; known.ud.(i) <- float_of b.ud;
  changed known i

(* What x, y and d = x - y say of each other, as the kernel exchanges it. *)
let exchange k i =
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) and ld = k.ld.(i) and ud = k.ud.(i) in
  k.lx.(i) <- greater lx (ly +. ld); k.ux.(i) <- Lines.lesser ux (uy +. ud);
  k.ly.(i) <- greater ly (lx -. ud); k.uy.(i) <- Lines.lesser uy (ux -. ld);
  k.ld.(i) <- greater ld (lx -. uy); k.ud.(i) <- Lines.lesser ud (ux -. ly);
  changed k i

(* What both say of each neuron. *)
let meet_into k other =
  let low a b = Array.iteri (fun i v -> if v > a.(i) then a.(i) <- v) b and high a b = Array.iteri (fun i v -> if v < a.(i) then a.(i) <- v) b in
  low k.lx other.lx; high k.ux other.ux; low k.ly other.ly; high k.uy other.uy; low k.ld other.ld; high k.ud other.ud;
  Bytes.fill k.ready 0 (Bytes.length k.ready) '0'

(* What the errors of neuron i may take from x times the argument of the first network's function and y times the second's. *)
let[@inline] taken_by_errors layer i x y =
  if Array.length layer.errors1 = 0 then 0.0 else (Float.abs x *. layer.errors1.(i)) +. (Float.abs y *. layer.errors2.(i))

(* Whether what is known of neuron i contradicts itself. *)
let crossed k i = k.lx.(i) > k.ux.(i) || k.ly.(i) > k.uy.(i) || k.ld.(i) > k.ud.(i)

(* Whether both networks have one argument at neuron i, and one function of it (`agrees` in Relaxation.v). *)
let agrees layer (k : known) i =
  layer.twins.(i) && k.ld.(i) = 0.0 && k.ud.(i) = 0.0
  && alike layer.shapes.(i) layer.others.(i) (greater k.lx.(i) k.ly.(i)) (Lines.lesser k.ux.(i) k.uy.(i))

(* Coefficients of the functions of a layer, as the kernel takes them: where both networks agree, all is the first's. *)
let gather layer k p q =
  for i = 0 to Array.length p - 1 do
    if q.(i) <> 0.0 && agrees layer k i then (p.(i) <- p.(i) +. q.(i); q.(i) <- 0.0)
  done

(* Whether a difference is lost less by its own lines than by those of both functions, on the average over their intervals:
   where little of an interval is on one side of a kink and much may be between both networks, it is not. *)
let link_is_closer (k : known) i =
  let t = k.table and o = i * slots in
  let lost o l u = -.(t.(o + 1) +. t.(o + 3)) -. ((t.(o) +. t.(o + 2)) *. 0.5 *. (l +. u)) in
  lost (o + of_d) k.ld.(i) k.ud.(i)
  <= lost (o + of_x) k.lx.(i) k.ux.(i) +. lost (o + of_y) k.ly.(i) k.uy.(i)

(* The usual lines of a neuron: those that are highest in the middle, and as much through the link as both networks share
   where both are bent. A line below p f is |p| times the line below f or below -f. *)
let prepare f h (k : known) i =
  let lx = k.lx.(i) and ux = k.ux.(i) and ly = k.ly.(i) and uy = k.uy.(i) and ld = k.ld.(i) and ud = k.ud.(i) in
  let set slot v = k.table.((i * slots) + slot) <- v in
  let line slot f p l u =
    let a = slope f p l u in
    set slot a;
    set (slot + 1) (lowest f p a l u)
  in
  line of_x f 1.0 lx ux; line (of_x + 2) f (-1.0) lx ux;
  line of_y h 1.0 ly uy; line (of_y + 2) h (-1.0) ly uy;
  let least, most = steepest f (Lines.lesser lx ly) (greater ux uy) in
  line of_d (difference least most 1.0) 1.0 ld ud; line (of_d + 2) (difference least most (-1.0)) (-1.0) ld ud;
  set flat_x (lowest f 1.0 0.0 lx ux); set (flat_x + 1) (lowest f (-1.0) 0.0 lx ux);
  set flat_y (lowest h 1.0 0.0 ly uy); set (flat_y + 1) (lowest h (-1.0) 0.0 ly uy);
  set flat_d (lowest (difference least most 1.0) 1.0 0.0 ld ud);
  set (flat_d + 1) (lowest (difference least most (-1.0)) (-1.0) 0.0 ld ud);
  set rounded_x (rounding f 1.0 lx ux); set (rounded_x + 1) (-.rounding f (-1.0) lx ux);
  set rounded_y (rounding h 1.0 ly uy); set (rounded_y + 1) (-.rounding h (-1.0) ly uy);
  let both_bent = bent f lx ux && bent h ly uy in
  let through = alike f h ly uy && ((both_bent && link_is_closer k i) || (least = most && most <> 0.0) || f.logistic <> None) in
  set linked (if through then 1.0 else 0.0);
  Bytes.set k.ready i '1'

(* Where the usual lines of a neuron are in the table. *)
let table_of (layer : layer) k i =
  if Bytes.unsafe_get k.ready i = '0' then prepare layer.shapes.(i) layer.others.(i) k i;
  i * slots

(* Whether the usual lines of a neuron are the same by what is known in two ways. *)
let same_lines layer k k' i =
  let o = table_of layer k i in
  ignore (table_of layer k' i);
  let found = ref true in
  for slot = o to o + flat_x - 1 do if k.table.(slot) <> k'.table.(slot) then found := false done;
  !found

(* How much of p f(x) + q h(y) goes through the link. *)
let[@inline] shared p q = if p *. q >= 0.0 then 0.0 else if Float.abs p < Float.abs q then -.p else q

(* Of a line in the table at o, which is that below f or below -f: its slope and its constant for a factor v of f. *)
let[@inline] slope_at (t : float array) o v = if v >= 0.0 then v *. t.(o) else -.v *. t.(o + 2)
let[@inline] constant_at (t : float array) o v = if v >= 0.0 then v *. t.(o + 1) else -.v *. t.(o + 3)
let[@inline] rounding_at (t : float array) o v = if v >= 0.0 then v *. t.(o) else -.v *. t.(o + 1)

(* What p f(x) + q h(y) is at least, beside the usual lines. *)
let usual_constant layer (k : known) i p q =
  if p = 0.0 && q = 0.0 then 0.0
  else begin
    let o = table_of layer k i and t = k.table in
    let g = t.(o + linked) *. shared p q in
    constant_at t (o + of_x) (p +. g) +. constant_at t (o + of_y) (q -. g) +. constant_at t (o + of_d) (-.g)
    +. rounding_at t (o + rounded_x) (beside layer.shapes.(i) p g) +. rounding_at t (o + rounded_y) (beside layer.shapes.(i) q (-.g))
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
  +. (let p = beside f p g in p *. rounding f p lx ux) +. (let q = beside f q (-.g) in q *. rounding h q ly uy)

(* The usual lines for coefficients p and q of the functions of a layer, into [links], [x], [y] and [d]; what is added beside
   them. The table has room for every neuron, which is checked once. *)
let usual_lines layer (k : known) p q links x y d =
  let t = k.table and total = ref 0.0 in
  if Array.length t < slots * Array.length p then invalid_arg "usual_lines";
  for i = 0 to Array.length p - 1 do
    let pi = p.(i) and qi = q.(i) in
    if pi <> 0.0 || qi <> 0.0 then begin
      let o = table_of layer k i in
      let g = Array.unsafe_get t (o + linked) *. shared pi qi in
      let pg = pi +. g and qg = qi -. g in
      let ox = if pg >= 0.0 then o + of_x else o + of_x + 2 and by_x = Float.abs pg in
      let oy = if qg >= 0.0 then o + of_y else o + of_y + 2 and by_y = Float.abs qg in
      let od = if g <= 0.0 then o + of_d else o + of_d + 2 and by_d = Float.abs g in
      links.(i) <- g;
      x.(i) <- by_x *. Array.unsafe_get t ox;
      y.(i) <- by_y *. Array.unsafe_get t oy;
      d.(i) <- by_d *. Array.unsafe_get t od;
      total := !total +. (by_x *. Array.unsafe_get t (ox + 1)) +. (by_y *. Array.unsafe_get t (oy + 1))
               +. (by_d *. Array.unsafe_get t (od + 1)) +. rounding_at t (o + rounded_x) (beside layer.shapes.(i) pi g)
               +. rounding_at t (o + rounded_y) (beside layer.shapes.(i) qi (-.g))
    end
  done;
  !total

(* How high the usual lines below p f(x) + q h(y) are at x and y. *)
let height layer (k : known) i p q x y =
  if p = 0.0 && q = 0.0 then 0.0
  else begin
    let o = table_of layer k i and t = k.table in
    let g = t.(o + linked) *. shared p q in
    usual_constant layer k i p q
    +. (slope_at t (o + of_x) (p +. g) *. x) +. (slope_at t (o + of_y) (q -. g) *. y) +. (slope_at t (o + of_d) (-.g) *. (x -. y))
  end

(* The same with intervals of functions in place of lines: what p f(x) + q h(y) is at least with so much through the link. *)
let[@inline] flat_with layer (t : float array) o i p q g =
  rounding_at t (o + flat_x) (p +. g) +. rounding_at t (o + flat_y) (q -. g) +. rounding_at t (o + flat_d) (-.g)
  +. rounding_at t (o + rounded_x) (beside layer.shapes.(i) p g) +. rounding_at t (o + rounded_y) (beside layer.shapes.(i) q (-.g))

(* How much there can be, and how much is best. *)
let[@inline] flat_shared layer (k : known) i p q =
  if p *. q >= 0.0 || not (alike layer.shapes.(i) layer.others.(i) k.ly.(i) k.uy.(i)) then 0.0 else shared p q

let least_flat layer (k : known) i p q =
  let o = table_of layer k i and g = flat_shared layer k i p q in
  let without = flat_with layer k.table o i p q 0.0 in
  if g = 0.0 then without else greater (flat_with layer k.table o i p q g) without

let flat_link layer (k : known) i p q =
  let o = table_of layer k i and g = flat_shared layer k i p q in
  if g <> 0.0 && flat_with layer k.table o i p q g > flat_with layer k.table o i p q 0.0 then g else 0.0

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
