(* Piecewise linear functions of one variable in floats, and lines below them. *)

(* Without the care for zeros and what is no number that the standard library takes. *)
let lesser (a : float) (b : float) = if a < b then a else b
let greater (a : float) (b : float) = if a > b then a else b

(* To the nearest integer, without a call: from 2^52 on a float is one. *)
let[@inline] whole v = if Float.abs v < 0x1p51 then v +. 0x1.8p52 -. 0x1.8p52 else v

(* [below] and [above] are how far a quantiser may be from it between its first and its last kink. *)
type shape = {
  base : float; shift : float; kinks : (float * float) array;
  at : float array; by : float array; (* the same: where it bends, and by how much its slope changes *)
  below : float; above : float;
  kept : float * float; (* between these no level wraps *)
  span : float; (* how far a level, or a smooth function, may be from it elsewhere *)
  logistic : (float * float * float) option; (* of a smooth function: its rise, stretch and foot *)
}

let[@inline] value f v =
  let total = ref ((f.base *. v) +. f.shift) in
  for k = 0 to Array.length f.at - 1 do
    let b = f.at.(k) in
    if v > b then total := !total +. (f.by.(k) *. (v -. b))
  done;
  !total

(* Whether it is bent between l and u. *)
let bent f l u =
  let found = ref false in
  for k = 0 to Array.length f.at - 1 do
    let b = f.at.(k) in
    if f.by.(k) <> 0.0 && l < b && b < u then found := true
  done;
  !found

let slope_right f v =
  let slope = ref f.base in
  for k = 0 to Array.length f.at - 1 do
    if v >= f.at.(k) then slope := !slope +. f.by.(k)
  done;
  !slope

(* The least of p f(v) - a v on [l, u]. *)
let lowest f p a l u =
  let found = ref (lesser ((p *. value f l) -. (a *. l)) ((p *. value f u) -. (a *. u))) in
  for k = 0 to Array.length f.at - 1 do
    let b = f.at.(k) in
    if l < b && b < u then found := lesser !found ((p *. value f b) -. (a *. b))
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

(* Of a smooth function, which is [span] away at most: from its value at both ends, as the kernel does. *)
let logistic_slopes f (rise, stretch, foot) l u =
  let slope w = let v = greater 0.0 (lesser rise (value f w -. foot)) in v *. (rise -. v) /. (rise *. stretch) in
  let more = f.span /. stretch and top = rise /. (4.0 *. stretch) in
  ( greater 0.0 (lesser (slope l) (slope u) -. more),
    lesser top (if u < 0.0 then slope u +. more else if l > 0.0 then slope l +. more else top) )

let of_pieces f l u =
  let lo = ref (slope_right f l) in
  let hi = ref !lo and now = ref !lo in
  for k = 0 to Array.length f.at - 1 do
    let b = f.at.(k) in
    if l < b && b < u then (now := !now +. f.by.(k); lo := lesser !lo !now; hi := greater !hi !now)
  done;
  (!lo, !hi)

let steepest f l u = match f.logistic with None -> of_pieces f l u | Some given -> logistic_slopes f given l u

(* What does not go through the link, of which alone a smooth function may be off; of others it is the coefficient itself. *)
let[@inline] beside f p g = if f.logistic = None then p else p +. g

(* The difference of a function at two places is between the lines of its least and greatest slopes. *)
let difference least most t =
  let up, down = if t >= 0.0 then (least, most) else (most, least) in
  { base = down; shift = 0.0; kinks = [| (0.0, up -. down) |]; at = [| 0.0 |]; by = [| up -. down |]; below = 0.0; above = 0.0;
    kept = (neg_infinity, infinity); span = 0.0; logistic = None }

(* Whether something is rounded between l and u. *)
let rounds f l u =
  (f.below < 0.0 || f.above > 0.0)
  && (let n = Array.length f.kinks in n > 0 && u > fst f.kinks.(0) && l < fst f.kinks.(n - 1))

(* Whether no level wraps between l and u. *)
let settled f l u = l >= fst f.kept && u <= snd f.kept

(* What p times the rounding adds at least, per p of this sign. *)
let rounding f p l u =
  if not (settled f l u) then (if p >= 0.0 then -.f.span else f.span)
  else if rounds f l u then (if p >= 0.0 then f.below else f.above)
  else 0.0

(* Whether two functions are the same between l and u, but for what they round. *)
let alike f h l u =
  let same_ends () =
    (f.base = h.base && f.shift = h.shift && f.kinks = h.kinks)
    || (let same v = value f v = value h v in
        let all g = Array.for_all (fun (b, _) -> b <= l || b >= u || same b) g.kinks in
        same l && same u && all f && all h)
  in
  f == h
  || if settled f l u && settled h l u then same_ends () else f.span > 0.0 && h.span > 0.0 && f.kinks = h.kinks

(* Of one neuron: how much goes through the link, and the slopes of the lines below the rest. *)
type line = { g : float; a : float; b : float; s : float }

let nothing = { g = 0.0; a = 0.0; b = 0.0; s = 0.0 }
