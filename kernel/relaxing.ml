(* Hints in floats. Nothing here is trusted: the kernel takes any integers, and calculates every bound itself.

   A functional p f(x) + q h(y) is pulled through the layers as the kernel does, in floats that stand for its integers.
   Per neuron it is chosen how much of it goes through the link of both networks, and which lines bound the rest. *)

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
}

(* What is known of the neurons of a layer, and the usual lines that follow from it: [slots] numbers per neuron, which are
   made when they are first asked for. Who changes a bound says so with [changed]. *)
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
  let biases1 = Array.map (fun (k : Kernel.neuron) -> float_of k.bias1) neurons in
  let biases2 = Array.map (fun (k : Kernel.neuron) -> float_of k.bias2) neurons in
  let errors s =
    let of_neuron k = (float_of (Kernel.off s k) *. reach) +. float_of (Kernel.slack s k) in
    if List.exists Kernel.is_unknown given.neurons then Array.map of_neuron neurons else [||]
  in
  let most = Array.fold_left (Array.fold_left (fun a b -> greater a (Float.abs b))) 1.0 in
  let places r = Array.of_list (List.filter (fun i -> r.(i) <> 0.0) (List.init width Fun.id)) in
  let all1 = Array.map places rows1 and all2 = Array.map places rows2 in
  let entries = Array.fold_left (fun n some -> n + Array.length some) 0 in
  let seldom = 4 * (entries all1 + entries all2) < 2 * width * Array.length neurons in
  { denominator = float_of given.denominator; shapes; others; twins; rows1; rows2; biases1; biases2;
    errors1 = errors Kernel.First; errors2 = errors Kernel.Second; sparse = (if seldom then Some (all1, all2) else None);
    largest = greater (most rows1) (most rows2) }

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
  if Array.length t < slots * Array.length links then invalid_arg "usual_lines";
  for i = 0 to Array.length links - 1 do
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

(* From coefficients p, q, which it may change, of what layer [at] reads (so of the functions of layer at + 1) to the
   inputs. Lines are the usual ones, or those that [choose] gives for a neuron of a layer and coefficients in real units. Of what is added the factors
   are those of real units, and [rounded] tells the integer that its factor became. [see] is shown the coefficients of the
   functions of each layer, and their unit. *)
let pull ?added ?(rounded = ref 0.0) ?choose ?(see = fun _ _ _ _ -> ()) layers knowns inputs at p q =
  let count = Array.length layers in
  let p = ref p and q = ref q and hints = ref [] and losses = ref [] and unit = ref (1.0 /. layers.(at).denominator) in
  let beside = ref 0.0 in
  let widest = Array.fold_left (fun w layer -> max w (Array.length layer.shapes)) 0 layers in
  let by_x = Array.make widest 0.0 and by_y = Array.make widest 0.0 and some_x = Array.make widest 0 and some_y = Array.make widest 0 in
  for j = at + 1 to count - 1 do
    let layer = layers.(j) and known : known = knowns.(j) in
    let m = Array.length layer.shapes in
    let width = if j + 1 < count then Array.length layers.(j + 1).shapes else inputs in
    let p_here = !p and q_here = !q and unit_here = !unit in
    gather layer known p_here q_here;
    see j p_here q_here unit_here;
    let links = Array.make m 0.0 and x = Array.make m 0.0 and y = Array.make m 0.0 and d = Array.make m 0.0 in
    let constants =
      match choose with
      | None -> usual_lines layer known p_here q_here links x y d
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
    let bits = greater 12.0 (Lines.lesser 24.0 (60.0 -. Float.ceil (Float.log2 (layer.largest *. float_of_int (m + 1))))) in
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

(* The same with intervals of the next layer in place of lines, and nothing behind it: what p f(x) + q h(y) is at least, and
   how much goes through the link. *)
let flat layer (k : known) i p q =
  let o = table_of layer k i and t = k.table in
  let through g =
    rounding_at t (o + flat_x) (p +. g) +. rounding_at t (o + flat_y) (q -. g) +. rounding_at t (o + flat_d) (-.g)
    +. rounding_at t (o + rounded_x) (beside layer.shapes.(i) p g) +. rounding_at t (o + rounded_y) (beside layer.shapes.(i) q (-.g))
  in
  let without = through 0.0 in
  if p *. q >= 0.0 || not (alike layer.shapes.(i) layer.others.(i) k.ly.(i) k.uy.(i)) then (without, 0.0)
  else
    let g = shared p q in
    let linked = through g in
    if linked > without then (linked, g) else (without, 0.0)

(* A pull that ends behind the next layer. *)
let stopped layers knowns inputs at p q =
  let layer = layers.(at + 1) and k : known = knowns.(at + 1) and unit = 1.0 /. layers.(at).denominator in
  gather layer k p q;
  let total = ref 0.0 and largest = ref 0.0 in
  for i = 0 to Array.length p - 1 do
    if p.(i) <> 0.0 || q.(i) <> 0.0 then begin
      total := !total +. fst (flat layer k i p.(i) q.(i));
      largest := greater !largest (greater (Float.abs p.(i)) (Float.abs q.(i)))
    end
  done;
  let scale = power_of_two_above (!largest /. 0x1p24) and p = Array.copy p and q = Array.copy q in
  let hint i =
    { Kernel.link = integer (snd (flat layer k i p.(i) q.(i))); slope_x = Z.zero; slope_y = Z.zero; slope_d = Z.zero }
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

(* How high the usual lines below p f(x) + q h(y) are at x and y. *)
let height layer (k : known) i p q x y =
  if p = 0.0 && q = 0.0 then 0.0
  else begin
    let o = table_of layer k i and t = k.table in
    let g = t.(o + linked) *. shared p q in
    usual_constant layer k i p q
    +. (slope_at t (o + of_x) (p +. g) *. x) +. (slope_at t (o + of_y) (q -. g) *. y) +. (slope_at t (o + of_d) (-.g) *. (x -. y))
  end

(* Coefficients of inputs with so many times the constraints added, and what that adds to a bound. *)
let constrained rows limits multipliers p =
  let p = Array.copy p and more = ref 0.0 in
  Array.iteri (fun c m -> add_row m rows.(c) p; more := !more -. (m *. limits.(c))) multipliers;
  (p, !more)
