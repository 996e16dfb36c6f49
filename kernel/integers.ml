(* Sums, products, quotients and comparisons of the kernel's integers. Trusted, as Zarith is: Coq's extraction calls these
   for b + m a, +, -, *, the floor of a / b, ==, <=, <, min and max.

   Zarith keeps what fits into a machine integer as such, and has the same short ways; here they are in place, without a
   call. Whatever is long, or might become so, is left to Zarith. *)

let[@inline] is_short (a : Z.t) = Obj.is_int (Obj.repr a)
let[@inline] short (a : Z.t) : int = Obj.magic a
let[@inline] of_short (a : int) : Z.t = Obj.magic a

(* A sum overflows where its sign is that of neither number, a difference where it is not the first's and the signs differ. *)
let[@inline] add a b =
  let s = short a + short b in
  if is_short a && is_short b && (short a lxor s) land (short b lxor s) >= 0 then of_short s else Z.add a b

let[@inline] sub a b =
  let s = short a - short b in
  if is_short a && is_short b && (short a lxor short b) land (short a lxor s) >= 0 then of_short s else Z.sub a b

(* Whether -2^bits <= a < 2^bits. *)
let[@inline] within bits a = ((a asr bits) + 1) land (-2) = 0

let[@inline] mul a b =
  if is_short a && is_short b && within 30 (short a) && within 30 (short b) then of_short (short a * short b) else Z.mul a b

(* A product of 21 and 40 bits, or of 25 and 36, has at most 61, so it is a machine integer; the sum may overflow. *)
let[@inline] have_short_product m a = (within 21 m && within 40 a) || (within 25 m && within 36 a)

let[@inline] plus_times b m a =
  let p = short m * short a in
  let s = short b + p in
  if is_short b && is_short m && is_short a && have_short_product (short m) (short a) && (short b lxor s) land (p lxor s) >= 0
  then of_short s
  else if is_short m && short m = 0 then b
  else Z.add b (Z.mul m a)

let[@inline] eq a b = if is_short a && is_short b then short a = short b else Z.equal a b
let[@inline] leq a b = if is_short a && is_short b then short a <= short b else Z.leq a b
let[@inline] lt a b = if is_short a && is_short b then short a < short b else Z.lt a b
let[@inline] min a b = if leq a b then a else b
let[@inline] max a b = if leq a b then b else a

(* Rounded down; by 0 it is 0, as in Coq. *)
let[@inline] div a b =
  if is_short a && is_short b && short b > 0 then begin
    let q = short a / short b in
    of_short (if q * short b > short a then q - 1 else q)
  end
  else if Z.sign b = 0 then Z.zero
  else Z.fdiv a b
