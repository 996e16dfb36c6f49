
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val add : nat -> nat -> nat **)

let rec add n0 m =
  match n0 with
  | O -> m
  | S p -> S (add p m)

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module Nat =
 struct
  (** val eqb : nat -> nat -> bool **)

  let rec eqb n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n0 m =
    match n0 with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n0 m =
    leb (S n0) m

  (** val iter : nat -> ('a1 -> 'a1) -> 'a1 -> 'a1 **)

  let rec iter n0 f x =
    match n0 with
    | O -> x
    | S n1 -> f (iter n1 f x)
 end

module Pos =
 struct
  (** val succ : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec succ = Big_int_Z.succ_big_int

  (** val add :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec add = Big_int_Z.add_big_int

  (** val add_carry :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  and add_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add_carry p q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add p q))
        (fun _ -> Big_int_Z.mult_int_big_int 2 (succ p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (succ q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)
        y)
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pred_double x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 p))
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (pred_double p))
      (fun _ -> Big_int_Z.unit_big_int)
      x

  (** val mul :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec mul = Big_int_Z.mult_big_int

  (** val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1 **)

  let rec iter f x n0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun n' -> f (iter f (iter f x n') n'))
      (fun n' -> iter f (iter f x n') n')
      (fun _ -> f x)
      n0

  (** val compare_cont :
      comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let rec compare_cont = (fun c x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then c else if s < 0 then Lt else Gt)

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let rec eqb p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        (fun _ -> false)
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> false)
        (fun _ -> true)
        q)
      p

  (** val of_succ_nat : nat -> Big_int_Z.big_int **)

  let rec of_succ_nat = function
  | O -> Big_int_Z.unit_big_int
  | S x -> succ (of_succ_nat x)
 end

module Z =
 struct
  (** val double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p -> (Big_int_Z.mult_int_big_int 2 p))
      (fun p -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2 p))
      x

  (** val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p))
      (fun p -> Big_int_Z.minus_big_int (Pos.pred_double p))
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
      (fun p -> (Pos.pred_double p))
      (fun p -> Big_int_Z.minus_big_int
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x)) p))
      x

  (** val pos_sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pos_sub x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double (pos_sub p q))
        (fun q -> succ_double (pos_sub p q))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> pred_double (pos_sub p q))
        (fun q -> double (pos_sub p q))
        (fun _ -> (Pos.pred_double p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
        q))
        (fun q -> Big_int_Z.minus_big_int (Pos.pred_double q))
        (fun _ -> Big_int_Z.zero_big_int)
        y)
      x

  (** val opp : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let opp = Big_int_Z.minus_big_int

  (** val pow_pos :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow_pos z0 =
    Pos.iter (Integers.mul z0) Big_int_Z.unit_big_int

  (** val pow :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow x y =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p -> pow_pos x p)
      (fun _ -> Big_int_Z.zero_big_int)
      y

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val abs : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let abs = Big_int_Z.abs_big_int

  (** val of_nat : nat -> Big_int_Z.big_int **)

  let of_nat = function
  | O -> Big_int_Z.zero_big_int
  | S n1 -> (Pos.of_succ_nat n1)

  (** val of_N : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let of_N = (fun p -> p)

  (** val pos_div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let rec pos_div_eucl a b =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Integers.add
          (Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            r) Big_int_Z.unit_big_int
      in
      if Integers.lt r' b
      then ((Integers.mul (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int) q), r')
      else ((Integers.add
              (Integers.mul (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Integers.sub r' b)))
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r
      in
      if Integers.lt r' b
      then ((Integers.mul (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int) q), r')
      else ((Integers.add
              (Integers.mul (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Integers.sub r' b)))
      (fun _ ->
      if Integers.leq (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) b
      then (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)
      else (Big_int_Z.unit_big_int, Big_int_Z.zero_big_int))
      a

  (** val div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let div_eucl = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> (zero_big_int, x)
  | 1 -> quomod_big_int x y
  | _ -> let (q, r) = quomod_big_int (add_int_big_int (-1) x) y in
          (add_int_big_int (-1) q, add_big_int (add_int_big_int 1 y) r))

  (** val even : Big_int_Z.big_int -> bool **)

  let even z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> true)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> true)
        (fun _ -> false)
        p)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> true)
        (fun _ -> false)
        p)
      z0

  (** val odd : Big_int_Z.big_int -> bool **)

  let odd z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> false)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> true)
        (fun _ -> false)
        (fun _ -> true)
        p)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> true)
        (fun _ -> false)
        (fun _ -> true)
        p)
      z0
 end

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val tl : 'a1 list -> 'a1 list **)

let tl = function
| [] -> []
| _ :: m -> m

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n1 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n1)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl0 ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl0 tl'))

(** val list_prod : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec list_prod l l' =
  match l with
  | [] -> []
  | x :: t -> app (map (fun y -> (x, y)) l') (list_prod t l')

(** val seq : nat -> nat -> nat list **)

let rec seq start0 = function
| O -> []
| S len0 -> start0 :: (seq (S start0) len0)

(** val repeat : 'a1 -> nat -> 'a1 list **)

let rec repeat x = function
| O -> []
| S k -> x :: (repeat x k)

type kinks = (Big_int_Z.big_int * Big_int_Z.big_int) list

type fn = { base : Big_int_Z.big_int; shift : Big_int_Z.big_int;
            kinks_of : kinks }

(** val hZ : kinks -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec hZ ks v =
  match ks with
  | [] -> Big_int_Z.zero_big_int
  | p :: ks' ->
    let (b, s) = p in
    Integers.add
      (if Integers.leq v b
       then Big_int_Z.zero_big_int
       else Integers.mul s (Integers.sub v b)) (hZ ks' v)

(** val fZ : fn -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let fZ f v =
  Integers.add (Integers.add (Integers.mul f.base v) f.shift)
    (hZ f.kinks_of v)

(** val atZ :
    fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let atZ f p a v =
  Integers.sub (Integers.mul p (fZ f v)) (Integers.mul a v)

(** val low :
    fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> kinks ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec low f p a ks l u =
  match ks with
  | [] -> Integers.min (atZ f p a l) (atZ f p a u)
  | p0 :: ks' ->
    let (b, _) = p0 in
    if (&&) (Integers.lt l b) (Integers.lt b u)
    then Integers.min (atZ f p a b) (low f p a ks' l u)
    else low f p a ks' l u

(** val low_line :
    fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let low_line f p a l u =
  if (&&) (Integers.eq p Big_int_Z.zero_big_int)
       (Integers.eq a Big_int_Z.zero_big_int)
  then Big_int_Z.zero_big_int
  else low f p a f.kinks_of l u

(** val sorted : kinks -> bool **)

let rec sorted = function
| [] -> true
| p :: ks' ->
  let (b, _) = p in
  (&&) (forallb (fun k -> Integers.leq b (fst k)) ks') (sorted ks')

(** val turns : kinks -> Big_int_Z.big_int **)

let turns ks =
  fold_right (fun k t -> Integers.add (snd k) t) Big_int_Z.zero_big_int ks

(** val gM :
    Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let gM p all a w v =
  Integers.add (Integers.sub (Integers.mul p w) (Integers.mul a v))
    (if all
     then Big_int_Z.zero_big_int
     else Integers.min Big_int_Z.zero_big_int w)

(** val walk :
    Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let rec walk p all a c w x ks u =
  match ks with
  | [] -> gM p all a (Integers.add w (Integers.mul c (Integers.sub u x))) u
  | p0 :: ks' ->
    let (b, s) = p0 in
    if Integers.leq u b
    then gM p all a (Integers.add w (Integers.mul c (Integers.sub u x))) u
    else let w' = Integers.add w (Integers.mul c (Integers.sub b x)) in
         Integers.min (gM p all a w' b)
           (walk p all a (Integers.add c s) w' b ks' u)

(** val walk_from :
    Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let rec walk_from p all a c w l ks u =
  match ks with
  | [] -> walk p all a c w l [] u
  | p0 :: ks' ->
    let (b, s) = p0 in
    if Integers.leq b l
    then walk_from p all a (Integers.add c s) w l ks' u
    else walk p all a c w l ks u

(** val lowM :
    fn -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let lowM f p all a l u =
  let w = fZ f l in
  Integers.min (gM p all a w l) (walk_from p all a f.base w l f.kinks_of u)

(** val vanishes : fn -> Big_int_Z.big_int -> bool **)

let vanishes f u =
  (&&)
    ((&&) (Integers.eq f.base Big_int_Z.zero_big_int)
      (Integers.eq f.shift Big_int_Z.zero_big_int))
    (match f.kinks_of with
     | [] -> true
     | p :: _ -> let (b, _) = p in Integers.leq u b)

(** val low_over :
    Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let low_over m f p a l u =
  if (&&) (Integers.eq a Big_int_Z.zero_big_int)
       ((||) (Integers.eq p Big_int_Z.zero_big_int) (vanishes f u))
  then Big_int_Z.zero_big_int
  else let whole0 = Integers.div p m in
       lowM f whole0 (Integers.eq (Integers.mul whole0 m) p) a l u

(** val over : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let over m z0 =
  if Integers.eq z0 Big_int_Z.zero_big_int
  then Big_int_Z.zero_big_int
  else Integers.div z0 m

(** val times : Big_int_Z.big_int -> kinks -> kinks **)

let times q ks =
  map (fun k -> ((fst k), (Integers.mul q (snd k)))) ks

(** val mixed : Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> fn -> fn **)

let mixed q f r g =
  { base = (Integers.add (Integers.mul q f.base) (Integers.mul r g.base));
    shift = (Integers.add (Integers.mul q f.shift) (Integers.mul r g.shift));
    kinks_of = (app (times q f.kinks_of) (times r g.kinks_of)) }

(** val low_mixed :
    Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> fn -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let low_mixed q f r g a l u =
  if (&&)
       ((&&) (Integers.eq q Big_int_Z.zero_big_int)
         (Integers.eq r Big_int_Z.zero_big_int))
       (Integers.eq a Big_int_Z.zero_big_int)
  then Big_int_Z.zero_big_int
  else low_line (mixed q f r g) Big_int_Z.unit_big_int a l u

(** val slope_low :
    Big_int_Z.big_int -> kinks -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let rec slope_low c ks l u =
  match ks with
  | [] -> c
  | p :: ks' ->
    let (b, s) = p in
    if Integers.leq u b
    then c
    else if Integers.leq b l
         then slope_low (Integers.add c s) ks' l u
         else Integers.min c (slope_low (Integers.add c s) ks' l u)

(** val slope_high :
    Big_int_Z.big_int -> kinks -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let rec slope_high c ks l u =
  match ks with
  | [] -> c
  | p :: ks' ->
    let (b, s) = p in
    if Integers.leq u b
    then c
    else if Integers.leq b l
         then slope_high (Integers.add c s) ks' l u
         else Integers.max c (slope_high (Integers.add c s) ks' l u)

(** val steepest_down :
    fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let steepest_down f l u =
  slope_low f.base f.kinks_of l u

(** val steepest_up :
    fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let steepest_up f l u =
  slope_high f.base f.kinks_of l u

type smooth = { rise : Big_int_Z.big_int; stretch : Big_int_Z.big_int;
                foot : Big_int_Z.big_int; follower : fn;
                astray : Big_int_Z.big_int }

(** val one : Big_int_Z.big_int **)

let one =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))

(** val squarings : nat **)

let squarings =
  S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S O)))))))))))))))))))))))))))))))

(** val parts_of : Big_int_Z.big_int **)

let parts_of =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))

(** val ceil_div :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let ceil_div a b =
  Z.opp (Integers.div (Z.opp a) b)

(** val square_down : Big_int_Z.big_int -> Big_int_Z.big_int **)

let square_down x =
  Integers.div (Integers.mul x x) one

(** val square_up : Big_int_Z.big_int -> Big_int_Z.big_int **)

let square_up x =
  ceil_div (Integers.mul x x) one

(** val exp_low :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let exp_low a t =
  Nat.iter squarings square_down
    (Integers.max Big_int_Z.zero_big_int
      (Integers.sub one
        (ceil_div (Integers.mul one a) (Integers.mul t parts_of))))

(** val exp_high :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let exp_high a t =
  Nat.iter squarings square_up
    (ceil_div (Integers.mul one (Integers.mul t parts_of))
      (Integers.add (Integers.mul t parts_of) a))

(** val enclosed :
    smooth -> Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int **)

let enclosed s w =
  let a = Z.abs w in
  let t = s.stretch in
  let h = s.rise in
  let lo = exp_low a t in
  let hi = exp_high a t in
  if Integers.leq Big_int_Z.zero_big_int w
  then ((Integers.add s.foot
          (Integers.div (Integers.mul h one) (Integers.add one hi))),
         (Integers.add s.foot
           (ceil_div (Integers.mul h one) (Integers.add one lo))))
  else ((Integers.add s.foot
          (Integers.div (Integers.mul h lo) (Integers.add one lo))),
         (Integers.add s.foot
           (ceil_div (Integers.mul h hi) (Integers.add one hi))))

(** val off_at : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let off_at s w =
  let (lo, hi) = enclosed s w in
  let v = fZ s.follower w in
  Integers.max (Integers.sub hi v) (Integers.sub v lo)

(** val bend :
    smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let bend s a b =
  Integers.min
    (ceil_div s.rise (Big_int_Z.mult_int_big_int 2
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))
    (Integers.min
      (Integers.sub (Integers.add s.foot s.rise) (fst (enclosed s a)))
      (Integers.sub (snd (enclosed s b)) s.foot))

(** val bow :
    smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let bow s a b =
  ceil_div
    (Integers.mul (bend s a b)
      (Integers.mul (Integers.sub b a) (Integers.sub b a)))
    (Integers.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))
      (Integers.mul s.stretch s.stretch))

(** val follows_from :
    smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> bool **)

let rec follows_from s a ea = function
| [] ->
  Integers.leq
    (Z.abs (Integers.sub (Integers.add s.foot s.rise) (fZ s.follower a)))
    s.astray
| p :: ks' ->
  let (b, _) = p in
  let eb = off_at s b in
  (&&)
    ((&&) ((&&) (Integers.lt a b) (Integers.leq eb s.astray))
      (Integers.leq (Integers.add (Integers.max ea eb) (bow s a b)) s.astray))
    (follows_from s b eb ks')

(** val follows : smooth -> bool **)

let follows s =
  match s.follower.kinks_of with
  | [] -> false
  | p :: ks ->
    let (a, _) = p in
    let ea = off_at s a in
    (&&)
      ((&&)
        ((&&)
          ((&&) (Integers.eq s.follower.base Big_int_Z.zero_big_int)
            (Integers.eq (turns s.follower.kinks_of) Big_int_Z.zero_big_int))
          (Integers.leq ea s.astray))
        (Integers.leq (Z.abs (Integers.sub s.foot (fZ s.follower a)))
          s.astray)) (follows_from s a ea ks)

(** val value_above : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let value_above s w =
  Integers.max Big_int_Z.zero_big_int
    (Integers.min s.rise (Integers.sub (fZ s.follower w) s.foot))

(** val slope_under : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let slope_under s w =
  let v = value_above s w in
  Integers.div
    (Integers.sub (Integers.mul v (Integers.sub s.rise v))
      (Integers.mul s.astray s.rise)) (Integers.mul s.rise s.stretch)

(** val slope_over : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let slope_over s w =
  let v = value_above s w in
  ceil_div
    (Integers.add (Integers.mul v (Integers.sub s.rise v))
      (Integers.mul s.astray s.rise)) (Integers.mul s.rise s.stretch)

(** val smooth_slopes :
    smooth -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let smooth_slopes s l u =
  ((Integers.max Big_int_Z.zero_big_int
     (Integers.min (slope_under s l) (slope_under s u))),
    (let top0 =
       ceil_div s.rise
         (Integers.mul (Big_int_Z.mult_int_big_int 2
           (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)) s.stretch)
     in
     Integers.min top0
       (if Integers.lt u Big_int_Z.zero_big_int
        then slope_over s u
        else if Integers.lt Big_int_Z.zero_big_int l
             then slope_over s l
             else top0)))

type mode =
| HalfEven
| HalfAway
| HalfZero
| Down
| Up
| ToZero
| FromZero

(** val halves : mode -> Big_int_Z.big_int * Big_int_Z.big_int **)

let halves = function
| Down ->
  ((Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)), Big_int_Z.zero_big_int)
| Up ->
  (Big_int_Z.zero_big_int, (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))
| ToZero ->
  ((Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)), (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))
| FromZero ->
  ((Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)), (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))
| _ ->
  ((Big_int_Z.minus_big_int Big_int_Z.unit_big_int), Big_int_Z.unit_big_int)

(** val top : mode -> Big_int_Z.big_int -> Big_int_Z.big_int * bool **)

let top m n0 =
  match m with
  | HalfEven -> (Big_int_Z.unit_big_int, (Z.even n0))
  | HalfAway ->
    (Big_int_Z.unit_big_int, (Integers.lt n0 Big_int_Z.zero_big_int))
  | HalfZero ->
    (Big_int_Z.unit_big_int, (Integers.leq Big_int_Z.zero_big_int n0))
  | Down -> ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)
  | Up -> (Big_int_Z.zero_big_int, true)
  | ToZero ->
    if Integers.leq Big_int_Z.zero_big_int n0
    then ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)
    else (Big_int_Z.zero_big_int, true)
  | FromZero ->
    if Integers.leq Big_int_Z.zero_big_int n0
    then (Big_int_Z.zero_big_int, true)
    else ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)

(** val bottom : mode -> Big_int_Z.big_int -> Big_int_Z.big_int * bool **)

let bottom m n0 =
  match m with
  | HalfEven -> (Big_int_Z.unit_big_int, (Z.even n0))
  | HalfAway ->
    (Big_int_Z.unit_big_int, (Integers.lt Big_int_Z.zero_big_int n0))
  | HalfZero ->
    (Big_int_Z.unit_big_int, (Integers.leq n0 Big_int_Z.zero_big_int))
  | Down -> (Big_int_Z.zero_big_int, true)
  | Up -> ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)
  | ToZero ->
    if Integers.leq n0 Big_int_Z.zero_big_int
    then ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)
    else (Big_int_Z.zero_big_int, true)
  | FromZero ->
    if Integers.leq n0 Big_int_Z.zero_big_int
    then (Big_int_Z.zero_big_int, true)
    else ((Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int), false)

(** val moves : mode -> Big_int_Z.big_int -> bool **)

let moves m n0 =
  (||) (Integers.eq n0 Big_int_Z.zero_big_int)
    (match m with
     | HalfEven -> Z.even n0
     | Down -> true
     | Up -> true
     | _ -> false)

type grid = { size : Big_int_Z.big_int; zero_point : Big_int_Z.big_int;
              least_level : Big_int_Z.big_int;
              greatest_level : Big_int_Z.big_int; rounding : mode;
              wraps : bool }

type curve =
| Bent of fn
| Levels of grid
| Smooth of smooth

(** val ends : grid -> Big_int_Z.big_int * Big_int_Z.big_int **)

let ends g =
  ((Integers.mul g.size (Integers.sub g.least_level g.zero_point)),
    (Integers.mul g.size (Integers.sub g.greatest_level g.zero_point)))

(** val close : curve -> fn **)

let close = function
| Bent f -> f
| Levels g ->
  { base = Big_int_Z.zero_big_int; shift = (fst (ends g)); kinks_of =
    (((fst (ends g)), Big_int_Z.unit_big_int) :: (((snd (ends g)),
    (Big_int_Z.minus_big_int Big_int_Z.unit_big_int)) :: [])) }
| Smooth s -> s.follower

(** val sound : curve -> bool **)

let sound c =
  (&&) (sorted (close c).kinks_of)
    (match c with
     | Smooth s -> follows s
     | _ -> true)

(** val same_kinks : kinks -> kinks -> bool **)

let rec same_kinks ks ls =
  match ks with
  | [] -> (match ls with
           | [] -> true
           | _ :: _ -> false)
  | p :: ks' ->
    let (b, s) = p in
    (match ls with
     | [] -> false
     | p0 :: ls' ->
       let (b', s') = p0 in
       (&&) ((&&) (Integers.eq b b') (Integers.eq s s')) (same_kinks ks' ls'))

(** val same_smooth : smooth -> smooth -> bool **)

let same_smooth s t =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (Integers.eq s.rise t.rise)
              (Integers.eq s.stretch t.stretch)) (Integers.eq s.foot t.foot))
          (Integers.eq s.astray t.astray))
        (Integers.eq s.follower.base t.follower.base))
      (Integers.eq s.follower.shift t.follower.shift))
    (same_kinks s.follower.kinks_of t.follower.kinks_of)

(** val all_sound : smooth list -> curve list -> bool **)

let rec all_sound shown = function
| [] -> true
| c :: cs' ->
  (match c with
   | Smooth s ->
     if existsb (same_smooth s) shown
     then all_sound shown cs'
     else (&&) (sound (Smooth s)) (all_sound (s :: shown) cs')
   | _ -> (&&) (sound c) (all_sound shown cs'))

(** val highest_kept : grid -> Big_int_Z.big_int * bool **)

let highest_kept g =
  let (a, closed) = top g.rounding g.greatest_level in
  ((Integers.mul g.size
     (Integers.add
       (Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
         (Integers.sub g.greatest_level g.zero_point)) a)), closed)

(** val lowest_kept : grid -> Big_int_Z.big_int * bool **)

let lowest_kept g =
  let (a, closed) = bottom g.rounding g.least_level in
  ((Integers.mul g.size
     (Integers.sub
       (Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
         (Integers.sub g.least_level g.zero_point)) a)), closed)

(** val is_under : bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let is_under closed a b =
  if closed then Integers.leq a b else Integers.lt a b

(** val stays : grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let stays g l u =
  (&&)
    (is_under (snd (lowest_kept g)) (fst (lowest_kept g))
      (Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) l))
    (is_under (snd (highest_kept g))
      (Integers.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) u)
      (fst (highest_kept g)))

(** val settled : grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let settled g l u =
  (||) (negb g.wraps) (stays g l u)

(** val span : grid -> Big_int_Z.big_int **)

let span g =
  Integers.mul g.size (Integers.sub g.greatest_level g.least_level)

(** val errors :
    grid -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let errors g l u =
  if negb (settled g l u)
  then ((Z.opp (span g)), (span g))
  else if (||) (Integers.leq (snd (ends g)) l) (Integers.leq u (fst (ends g)))
       then (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
       else let (a, b) = halves g.rounding in
            ((Integers.div (Integers.mul a g.size)
               (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)),
            (Z.opp
              (Integers.div (Integers.mul (Z.opp b) g.size)
                (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))

(** val low_error :
    curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let low_error c p l u =
  match c with
  | Bent _ -> Big_int_Z.zero_big_int
  | Levels g ->
    if Integers.eq p Big_int_Z.zero_big_int
    then Big_int_Z.zero_big_int
    else let (a, b) = errors g l u in
         Integers.min (Integers.mul p a) (Integers.mul p b)
  | Smooth s -> Z.opp (Integers.mul (Z.abs p) s.astray)

(** val slopes_on :
    curve -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let slopes_on c l u =
  match c with
  | Smooth s -> smooth_slopes s l u
  | _ -> ((steepest_down (close c) l u), (steepest_up (close c) l u))

(** val cut_alike :
    grid -> grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let cut_alike g h l u =
  (&&)
    ((||) (Integers.eq (fst (ends g)) (fst (ends h)))
      ((&&) (Integers.leq (fst (ends g)) l) (Integers.leq (fst (ends h)) l)))
    ((||) (Integers.eq (snd (ends g)) (snd (ends h)))
      ((&&) (Integers.leq u (snd (ends g))) (Integers.leq u (snd (ends h)))))

(** val same_mode : mode -> mode -> bool **)

let same_mode m m' =
  match m with
  | HalfEven -> (match m' with
                 | HalfEven -> true
                 | _ -> false)
  | HalfAway -> (match m' with
                 | HalfAway -> true
                 | _ -> false)
  | HalfZero -> (match m' with
                 | HalfZero -> true
                 | _ -> false)
  | Down -> (match m' with
             | Down -> true
             | _ -> false)
  | Up -> (match m' with
           | Up -> true
           | _ -> false)
  | ToZero -> (match m' with
               | ToZero -> true
               | _ -> false)
  | FromZero -> (match m' with
                 | FromZero -> true
                 | _ -> false)

(** val same_steps : curve -> curve -> bool **)

let same_steps c c' =
  match c with
  | Levels g ->
    (match c' with
     | Levels h ->
       (&&) ((&&) (Pos.eqb g.size h.size) (same_mode g.rounding h.rounding))
         (moves g.rounding (Integers.sub h.zero_point g.zero_point))
     | _ -> false)
  | _ -> false

(** val one_function :
    curve -> curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let one_function c c' l u =
  match c with
  | Levels g ->
    (match c' with
     | Levels h ->
       (&&) (same_steps c c')
         ((||)
           ((&&) ((&&) (settled g l u) (settled h l u)) (cut_alike g h l u))
           ((&&)
             ((&&) ((&&) g.wraps h.wraps)
               (Integers.eq (fst (ends g)) (fst (ends h))))
             (Integers.eq (snd (ends g)) (snd (ends h)))))
     | _ -> false)
  | _ -> false

(** val add_row :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec add_row m r acc =
  match r with
  | [] -> acc
  | a :: r' ->
    (match acc with
     | [] -> (Integers.mul m a) :: (add_row m r' [])
     | b :: acc' -> (Integers.plus_times b m a) :: (add_row m r' acc'))

(** val add_times :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let add_times m r acc =
  if Integers.eq m Big_int_Z.zero_big_int then acc else add_row m r acc

(** val head : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let head = function
| [] -> Big_int_Z.zero_big_int
| a :: _ -> a

type runs = (nat * Big_int_Z.big_int list) list

(** val entries : runs -> Big_int_Z.big_int list **)

let entries r =
  flat_map (fun run0 ->
    app (repeat Big_int_Z.zero_big_int (fst run0)) (snd run0)) r

(** val dense : Big_int_Z.big_int list -> runs **)

let dense r =
  (O, r) :: []

(** val behind :
    nat -> (Big_int_Z.big_int list -> Big_int_Z.big_int list) ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec behind zeros add0 acc =
  match zeros with
  | O -> add0 acc
  | S zeros' ->
    (match acc with
     | [] -> Big_int_Z.zero_big_int :: (behind zeros' add0 [])
     | b :: acc' -> b :: (behind zeros' add0 acc'))

(** val add_run :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> (Big_int_Z.big_int list ->
    Big_int_Z.big_int list) -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list **)

let rec add_run m r add0 acc =
  match r with
  | [] -> add0 acc
  | a :: r' ->
    (match acc with
     | [] -> (Integers.mul m a) :: (add_run m r' add0 [])
     | b :: acc' -> (Integers.plus_times b m a) :: (add_run m r' add0 acc'))

(** val add_runs :
    Big_int_Z.big_int -> runs -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list **)

let rec add_runs m r acc =
  match r with
  | [] -> acc
  | p :: r' ->
    let (zeros, weights) = p in
    behind zeros (add_run m weights (add_runs m r')) acc

(** val add_weights :
    Big_int_Z.big_int -> runs -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list **)

let add_weights m r acc =
  if Integers.eq m Big_int_Z.zero_big_int then acc else add_runs m r acc

(** val with_row :
    Big_int_Z.big_int -> runs -> (Big_int_Z.big_int * runs) list ->
    (Big_int_Z.big_int * runs) list **)

let with_row m r rows =
  if Integers.eq m Big_int_Z.zero_big_int then rows else (m, r) :: rows

(** val add_two :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec add_two m r n0 s acc =
  match r with
  | [] -> add_row m r (add_row n0 s acc)
  | a :: r' ->
    (match s with
     | [] -> add_row m r (add_row n0 s acc)
     | b :: s' ->
       (match acc with
        | [] ->
          (Integers.plus_times (Integers.mul m a) n0 b) :: (add_two m r' n0
                                                             s' [])
        | e :: acc' ->
          (Integers.plus_times (Integers.plus_times e m a) n0 b) :: (add_two
                                                                    m r' n0
                                                                    s' acc')))

(** val add_four :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec add_four m r n0 s k t j u acc =
  match r with
  | [] -> add_two m r n0 s (add_two k t j u acc)
  | a :: r' ->
    (match s with
     | [] -> add_two m r n0 s (add_two k t j u acc)
     | b :: s' ->
       (match t with
        | [] -> add_two m r n0 s (add_two k t j u acc)
        | c :: t' ->
          (match u with
           | [] -> add_two m r n0 s (add_two k t j u acc)
           | d :: u' ->
             (match acc with
              | [] ->
                (Integers.plus_times
                  (Integers.plus_times
                    (Integers.plus_times (Integers.mul m a) n0 b) k c) j d) :: 
                  (add_four m r' n0 s' k t' j u' [])
              | e :: acc' ->
                (Integers.plus_times
                  (Integers.plus_times
                    (Integers.plus_times (Integers.plus_times e m a) n0 b) k
                    c) j d) :: (add_four m r' n0 s' k t' j u' acc')))))

(** val without_zeros : runs -> Big_int_Z.big_int list option **)

let without_zeros = function
| [] -> None
| p :: l ->
  let (n0, v) = p in
  (match n0 with
   | O -> (match l with
           | [] -> Some v
           | _ :: _ -> None)
   | S _ -> None)

(** val sum_rows :
    (Big_int_Z.big_int * runs) list -> Big_int_Z.big_int list **)

let rec sum_rows = function
| [] -> []
| p :: rows1 ->
  let (m, r) = p in
  (match without_zeros r with
   | Some v ->
     (match rows1 with
      | [] -> add_weights m r (sum_rows rows1)
      | p0 :: rows2 ->
        let (n0, s) = p0 in
        (match without_zeros s with
         | Some w ->
           (match rows2 with
            | [] -> add_two m v n0 w (sum_rows rows2)
            | p1 :: l ->
              let (k, t) = p1 in
              (match l with
               | [] -> add_two m v n0 w (sum_rows rows2)
               | p2 :: rows4 ->
                 let (j, u) = p2 in
                 (match without_zeros t with
                  | Some y ->
                    (match without_zeros u with
                     | Some z0 -> add_four m v n0 w k y j z0 (sum_rows rows4)
                     | None -> add_two m v n0 w (sum_rows rows2))
                  | None -> add_two m v n0 w (sum_rows rows2))))
         | None -> add_weights m r (sum_rows rows1)))
   | None -> add_weights m r (sum_rows rows1))

type side =
| First
| Second

type spread = { off1 : Big_int_Z.big_int; slack1 : Big_int_Z.big_int;
                off2 : Big_int_Z.big_int; slack2 : Big_int_Z.big_int }

(** val radix : Big_int_Z.big_int **)

let radix =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))))))))))))))))))))))))))))

type long = { upper : Big_int_Z.big_int; lower : Big_int_Z.big_int }

(** val whole : long -> Big_int_Z.big_int **)

let whole b =
  Integers.add (Integers.mul b.upper radix) b.lower

(** val long_of : Big_int_Z.big_int -> long **)

let long_of b =
  let h = Integers.div b radix in
  { upper = h; lower = (Integers.sub b (Integers.mul h radix)) }

type neuron = { function0 : curve; other : curve option; row1 : runs;
                long1 : long; row2 : runs; long2 : long;
                unknown : spread option }

(** val bias1 : neuron -> Big_int_Z.big_int **)

let bias1 k =
  whole k.long1

(** val bias2 : neuron -> Big_int_Z.big_int **)

let bias2 k =
  whole k.long2

(** val curve_of : side -> neuron -> curve **)

let curve_of s k =
  match s with
  | First -> k.function0
  | Second -> (match k.other with
               | Some c -> c
               | None -> k.function0)

(** val row : side -> neuron -> Big_int_Z.big_int list **)

let row s k =
  entries (match s with
           | First -> k.row1
           | Second -> k.row2)

(** val off : side -> neuron -> Big_int_Z.big_int **)

let off s k =
  match k.unknown with
  | Some e -> Z.of_N (match s with
                      | First -> e.off1
                      | Second -> e.off2)
  | None -> Big_int_Z.zero_big_int

(** val slack : side -> neuron -> Big_int_Z.big_int **)

let slack s k =
  match k.unknown with
  | Some e -> Z.of_N (match s with
                      | First -> e.slack1
                      | Second -> e.slack2)
  | None -> Big_int_Z.zero_big_int

type layer = { denominator : Big_int_Z.big_int; neurons : neuron list }

type net = layer list

(** val width : nat -> net -> nat **)

let width inputs = function
| [] -> inputs
| l :: _ -> length l.neurons

(** val fits : nat -> neuron -> bool **)

let fits m k =
  (&&) (Nat.leb (length (row First k)) m) (Nat.leb (length (row Second k)) m)

(** val curves : neuron list -> curve list **)

let curves ks =
  flat_map (fun k ->
    k.function0 :: (match k.other with
                    | Some c -> c :: []
                    | None -> [])) ks

(** val well_formed : nat -> net -> bool **)

let rec well_formed inputs = function
| [] -> true
| l :: n' ->
  (&&)
    ((&&) (forallb (fits (width inputs n')) l.neurons)
      (all_sound [] (curves l.neurons))) (well_formed inputs n')

type bounds = { lx : Big_int_Z.big_int; ux : Big_int_Z.big_int;
                ly : Big_int_Z.big_int; uy : Big_int_Z.big_int;
                ld : Big_int_Z.big_int; ud : Big_int_Z.big_int }

(** val exchange : bounds -> bounds **)

let exchange b =
  { lx = (Integers.max b.lx (Integers.add b.ly b.ld)); ux =
    (Integers.min b.ux (Integers.add b.uy b.ud)); ly =
    (Integers.max b.ly (Integers.sub b.lx b.ud)); uy =
    (Integers.min b.uy (Integers.sub b.ux b.ld)); ld =
    (Integers.max b.ld (Integers.sub b.lx b.uy)); ud =
    (Integers.min b.ud (Integers.sub b.ux b.ly)) }

(** val meet : bounds -> bounds -> bounds **)

let meet a b =
  { lx = (Integers.max a.lx b.lx); ux = (Integers.min a.ux b.ux); ly =
    (Integers.max a.ly b.ly); uy = (Integers.min a.uy b.uy); ld =
    (Integers.max a.ld b.ld); ud = (Integers.min a.ud b.ud) }

(** val contradictory : bounds -> bool **)

let contradictory b =
  (||) ((||) (Integers.lt b.ux b.lx) (Integers.lt b.uy b.ly))
    (Integers.lt b.ud b.ld)

type kind =
| KX
| KY
| KD

(** val of_x : kind -> Big_int_Z.big_int **)

let of_x = function
| KY -> Big_int_Z.zero_big_int
| _ -> Big_int_Z.unit_big_int

(** val of_y : kind -> Big_int_Z.big_int **)

let of_y = function
| KX -> Big_int_Z.zero_big_int
| KY -> Big_int_Z.unit_big_int
| KD -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int

(** val tight : kind -> bool -> Big_int_Z.big_int -> bounds -> bounds **)

let tight d least c b =
  match d with
  | KX ->
    if least
    then { lx = (Integers.max c b.lx); ux = b.ux; ly = b.ly; uy = b.uy; ld =
           b.ld; ud = b.ud }
    else { lx = b.lx; ux = (Integers.min c b.ux); ly = b.ly; uy = b.uy; ld =
           b.ld; ud = b.ud }
  | KY ->
    if least
    then { lx = b.lx; ux = b.ux; ly = (Integers.max c b.ly); uy = b.uy; ld =
           b.ld; ud = b.ud }
    else { lx = b.lx; ux = b.ux; ly = b.ly; uy = (Integers.min c b.uy); ld =
           b.ld; ud = b.ud }
  | KD ->
    if least
    then { lx = b.lx; ux = b.ux; ly = b.ly; uy = b.uy; ld =
           (Integers.max c b.ld); ud = b.ud }
    else { lx = b.lx; ux = b.ux; ly = b.ly; uy = b.uy; ld = b.ld; ud =
           (Integers.min c b.ud) }

(** val tighter : kind -> bool -> Big_int_Z.big_int -> bounds -> bounds **)

let tighter d least c b =
  exchange (tight d least c b)

type known = bounds list list

(** val update : nat -> ('a1 -> 'a1) -> 'a1 list -> 'a1 list **)

let rec update i f = function
| [] -> []
| a :: l' -> (match i with
              | O -> (f a) :: l'
              | S i' -> a :: (update i' f l'))

(** val tighten :
    known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int -> known **)

let rec tighten k t i d least c =
  match k with
  | [] -> []
  | bs :: k' ->
    (match t with
     | O -> (update i (tighter d least c) bs) :: k'
     | S t' -> bs :: (tighten k' t' i d least c))

(** val get : known -> nat -> nat -> bounds option **)

let get k t i =
  match nth_error k t with
  | Some bs -> nth_error bs i
  | None -> None

(** val lowest : kind -> bounds -> Big_int_Z.big_int **)

let lowest d b =
  match d with
  | KX -> b.lx
  | KY -> b.ly
  | KD -> b.ld

(** val highest : kind -> bounds -> Big_int_Z.big_int **)

let highest d b =
  match d with
  | KX -> b.ux
  | KY -> b.uy
  | KD -> b.ud

(** val steps : Big_int_Z.big_int -> Big_int_Z.big_int -> fn **)

let steps up0 down0 =
  { base = down0; shift = Big_int_Z.zero_big_int; kinks_of =
    ((Big_int_Z.zero_big_int, (Integers.sub up0 down0)) :: []) }

(** val low_difference :
    Big_int_Z.big_int -> curve -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    bounds -> Big_int_Z.big_int **)

let low_difference m c t s b =
  if (&&) (Integers.eq t Big_int_Z.zero_big_int)
       (Integers.eq s Big_int_Z.zero_big_int)
  then Big_int_Z.zero_big_int
  else let l = Integers.min b.lx b.ly in
       let u = Integers.max b.ux b.uy in
       let (lo, hi) = slopes_on c l u in
       low_over m
         (if Integers.leq Big_int_Z.zero_big_int t
          then steps lo hi
          else steps hi lo) t s b.ld b.ud

type hint = { link : Big_int_Z.big_int; slope_x : Big_int_Z.big_int;
              slope_y : Big_int_Z.big_int; slope_d : Big_int_Z.big_int }

(** val no_hint : hint **)

let no_hint =
  { link = Big_int_Z.zero_big_int; slope_x = Big_int_Z.zero_big_int;
    slope_y = Big_int_Z.zero_big_int; slope_d = Big_int_Z.zero_big_int }

type wish = Big_int_Z.big_int * Big_int_Z.big_int

(** val low_second :
    Big_int_Z.big_int -> neuron -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let low_second m k q g a l u =
  match k.other with
  | Some c ->
    Integers.div
      (low_mixed q (close c) (Z.opp g) (close k.function0) (Integers.mul m a)
        l u) m
  | None -> low_over m (close k.function0) (Integers.sub q g) a l u

(** val agrees : neuron -> bounds -> bool **)

let agrees k b =
  (&&)
    ((&&) (Integers.eq b.ld Big_int_Z.zero_big_int)
      (Integers.eq b.ud Big_int_Z.zero_big_int))
    (match k.other with
     | Some c ->
       one_function k.function0 c (Integers.max b.lx b.ly)
         (Integers.min b.ux b.uy)
     | None -> true)

(** val gathered :
    neuron -> bounds -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let gathered k b p q =
  if agrees k b then ((Integers.add p q), Big_int_Z.zero_big_int) else (p, q)

(** val low_errors :
    neuron -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    bounds -> Big_int_Z.big_int **)

let low_errors k p q g b =
  let c = k.function0 in
  (match c with
   | Smooth _ ->
     (match k.other with
      | Some c' ->
        Integers.add
          (Integers.add (low_error c (Integers.add p g) b.lx b.ux)
            (low_error c' q b.ly b.uy)) (low_error c (Z.opp g) b.ly b.uy)
      | None ->
        Integers.add (low_error c (Integers.add p g) b.lx b.ux)
          (low_error c (Integers.sub q g) b.ly b.uy))
   | _ ->
     Integers.add (low_error c p b.lx b.ux)
       (low_error (curve_of Second k) q b.ly b.uy))

(** val lost :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> neuron ->
    Big_int_Z.big_int **)

let lost n0 a a' k =
  match k.unknown with
  | Some e ->
    Integers.add
      (Integers.mul (Z.abs a)
        (Integers.add (Integers.mul (Z.of_N e.off1) n0) (Z.of_N e.slack1)))
      (Integers.mul (Z.abs a')
        (Integers.add (Integers.mul (Z.of_N e.off2) n0) (Z.of_N e.slack2)))
  | None -> Big_int_Z.zero_big_int

(** val unasked : hint -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let unasked t p q =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (Integers.eq p Big_int_Z.zero_big_int)
            (Integers.eq q Big_int_Z.zero_big_int))
          (Integers.eq t.link Big_int_Z.zero_big_int))
        (Integers.eq t.slope_x Big_int_Z.zero_big_int))
      (Integers.eq t.slope_y Big_int_Z.zero_big_int))
    (Integers.eq t.slope_d Big_int_Z.zero_big_int)

(** val idle :
    hint list -> wish list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> bool **)

let idle h o p q =
  match h with
  | [] ->
    (match o with
     | [] ->
       (match p with
        | [] -> (match q with
                 | [] -> true
                 | _ :: _ -> false)
        | _ :: _ -> false)
     | _ :: _ -> false)
  | _ :: _ -> false

(** val low_neuron :
    Big_int_Z.big_int -> Big_int_Z.big_int -> neuron -> bounds -> hint ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let low_neuron u m k b t p q =
  if unasked t p q
  then Big_int_Z.zero_big_int
  else let f = close k.function0 in
       let (u0, v) = gathered k b p q in
       Integers.add
         (Integers.add
           (Integers.add
             (low_over u f (Integers.add u0 t.link)
               (Integers.mul m t.slope_x) b.lx b.ux)
             (low_second u k v t.link (Integers.mul m t.slope_y) b.ly b.uy))
           (low_difference u k.function0 (Z.opp t.link)
             (Integers.mul m t.slope_d) b))
         (over u (low_errors k u0 v t.link b))

(** val add_biases :
    Big_int_Z.big_int -> long -> Big_int_Z.big_int -> long ->
    Big_int_Z.big_int -> long -> long **)

let add_biases a b a' b' lost0 sum =
  { upper =
    (Integers.plus_times (Integers.plus_times sum.upper a b.upper) a'
      b'.upper); lower =
    (Integers.sub
      (Integers.plus_times (Integers.plus_times sum.lower a b.lower) a'
        b'.lower) lost0) }

(** val silent :
    neuron -> bounds -> hint -> wish -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> bool **)

let silent k b t e p q =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (Integers.eq t.slope_x Big_int_Z.zero_big_int)
            (Integers.eq t.slope_y Big_int_Z.zero_big_int))
          (Integers.eq t.slope_d Big_int_Z.zero_big_int))
        (Integers.eq (fst e) Big_int_Z.zero_big_int))
      (Integers.eq (snd e) Big_int_Z.zero_big_int))
    (match k.function0 with
     | Bent f ->
       (match k.other with
        | Some _ ->
          (&&) (Integers.eq p Big_int_Z.zero_big_int)
            (Integers.eq q Big_int_Z.zero_big_int)
        | None ->
          (&&)
            ((||) (Integers.eq p Big_int_Z.zero_big_int) (vanishes f b.ux))
            ((||) (Integers.eq q Big_int_Z.zero_big_int) (vanishes f b.uy)))
     | _ ->
       (&&) (Integers.eq p Big_int_Z.zero_big_int)
         (Integers.eq q Big_int_Z.zero_big_int))

(** val relax :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> neuron
    list -> bounds list -> hint list -> wish list -> Big_int_Z.big_int list
    -> Big_int_Z.big_int list ->
    ((Big_int_Z.big_int * long) * (Big_int_Z.big_int * runs)
    list) * (Big_int_Z.big_int * runs) list **)

let rec relax u m n0 ks bs h o p q =
  match ks with
  | [] ->
    (((Big_int_Z.zero_big_int, { upper = Big_int_Z.zero_big_int; lower =
      Big_int_Z.zero_big_int }), []), [])
  | k :: ks' ->
    (match bs with
     | [] ->
       (((Big_int_Z.zero_big_int, { upper = Big_int_Z.zero_big_int; lower =
         Big_int_Z.zero_big_int }), []), [])
     | b :: bs' ->
       if idle h o p q
       then (((Big_int_Z.zero_big_int, { upper = Big_int_Z.zero_big_int;
              lower = Big_int_Z.zero_big_int }), []), [])
       else let rest = relax u m n0 ks' bs' (tl h) (tl o) (tl p) (tl q) in
            let t = hd no_hint h in
            let e = hd (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int) o in
            if silent k b t e (head p) (head q)
            then rest
            else let (p0, q') = rest in
                 let (p1, p') = p0 in
                 let (c, cb) = p1 in
                 let a =
                   Integers.add (Integers.add t.slope_x t.slope_d) (fst e)
                 in
                 let a' =
                   Integers.add (Integers.sub t.slope_y t.slope_d) (snd e)
                 in
                 ((((Integers.add c (low_neuron u m k b t (head p) (head q))),
                 (add_biases a k.long1 a' k.long2 (lost n0 a a' k) cb)),
                 (with_row a k.row1 p')), (with_row a' k.row2 q')))

type box = (Big_int_Z.big_int * Big_int_Z.big_int) list

type constraint0 = Big_int_Z.big_int list * Big_int_Z.big_int

type region = { sides : box; constraints : constraint0 list }

(** val low_box : box -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec low_box b p =
  match b with
  | [] -> Big_int_Z.zero_big_int
  | p0 :: b' ->
    let (l, u) = p0 in
    (match p with
     | [] -> Big_int_Z.zero_big_int
     | a :: p' ->
       Integers.add (Integers.min (Integers.mul a l) (Integers.mul a u))
         (low_box b' p'))

(** val low_region :
    box -> constraint0 list -> hint list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let rec low_region b cs h p =
  match cs with
  | [] -> low_box b p
  | c :: cs' ->
    let (r, b0) = c in
    (match h with
     | [] -> low_box b p
     | m :: h' ->
       Integers.sub (low_region b cs' h' (add_times (Z.abs m.link) r p))
         (Integers.mul (Z.abs m.link) b0))

(** val size_on :
    curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let size_on c l u =
  Integers.max
    (Z.opp
      (Integers.add
        (low_line (close c) Big_int_Z.unit_big_int Big_int_Z.zero_big_int l u)
        (low_error c Big_int_Z.unit_big_int l u)))
    (Z.opp
      (Integers.add
        (low_line (close c) (Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
          Big_int_Z.zero_big_int l u)
        (low_error c (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) l u)))

(** val reach_of : neuron list -> bounds list -> Big_int_Z.big_int **)

let rec reach_of ks bs =
  match ks with
  | [] -> Big_int_Z.zero_big_int
  | k :: ks' ->
    (match bs with
     | [] -> Big_int_Z.zero_big_int
     | b :: bs' ->
       Integers.max
         (Integers.max (size_on k.function0 b.lx b.ux)
           (size_on (curve_of Second k) b.ly b.uy)) (reach_of ks' bs'))

(** val reach_box : box -> Big_int_Z.big_int **)

let rec reach_box = function
| [] -> Big_int_Z.zero_big_int
| p :: b' ->
  let (l, u) = p in Integers.max (Integers.max (Z.opp l) u) (reach_box b')

(** val is_unknown : neuron -> bool **)

let is_unknown k =
  match k.unknown with
  | Some _ -> true
  | None -> false

(** val reach : layer -> net -> region -> known -> Big_int_Z.big_int **)

let reach l n0 b k =
  if existsb is_unknown l.neurons
  then (match n0 with
        | [] -> reach_box b.sides
        | l' :: _ ->
          (match k with
           | [] -> Big_int_Z.zero_big_int
           | bs :: _ -> reach_of l'.neurons bs))
  else Big_int_Z.zero_big_int

type hints = (Big_int_Z.big_int * hint list) list

type wishes = wish list list

(** val scale : hints -> Big_int_Z.big_int **)

let scale = function
| [] -> Big_int_Z.unit_big_int
| p :: _ -> let (m, _) = p in Integers.max Big_int_Z.unit_big_int m

(** val parts : Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int **)

let parts m =
  let u =
    Integers.div m (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))
  in
  if Integers.eq
       (Integers.mul u (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))) m
  then (u, (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)))))))))
  else (m, Big_int_Z.unit_big_int)

(** val hints_here : hints -> hint list **)

let hints_here = function
| [] -> []
| p :: _ -> let (_, h0) = p in h0

(** val total : net -> Big_int_Z.big_int **)

let rec total = function
| [] -> Big_int_Z.unit_big_int
| l :: n' -> Integers.mul l.denominator (total n')

(** val pull :
    net -> region -> known -> hints -> wishes -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int * Big_int_Z.big_int **)

let rec pull n0 b k h o p q =
  match n0 with
  | [] ->
    ((low_region b.sides b.constraints (hints_here h)
       (add_times Big_int_Z.unit_big_int (map fst (hd [] o))
         (add_times Big_int_Z.unit_big_int p q))), Big_int_Z.unit_big_int)
  | l :: n' ->
    if idle (hints_here h) (hd [] o) p q
    then let (low0, below0) = pull n' b (tl k) (tl h) (tl o) [] [] in
         ((Integers.mul (scale h) low0), (Integers.mul l.denominator below0))
    else let (u, m) = parts (scale h) in
         let (p0, q') =
           relax u m (reach l n' b (tl k)) l.neurons (hd [] k) (hints_here h)
             (hd [] o) p q
         in
         let (p1, p') = p0 in
         let (c, cb) = p1 in
         let (low0, below0) =
           pull n' b (tl k) (tl h) (tl o) (sum_rows p') (sum_rows q')
         in
         let all = Integers.mul l.denominator below0 in
         ((Integers.add (Integers.mul (Integers.mul u c) all)
            (Integers.mul (scale h)
              (Integers.add (Integers.mul (whole cb) below0) low0))), all)

(** val floor_div :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let floor_div =
  Integers.div

(** val interval :
    net -> region -> known -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    neuron -> bounds **)

let interval n0 b k m d k0 =
  let low0 = fun p q c ->
    let (v, all) = pull n0 b k [] [] p q in
    floor_div (Integers.add v (Integers.mul c all)) (Integers.mul d all)
  in
  let o = map Z.opp in
  let e = Integers.add (Integers.mul (off First k0) m) (slack First k0) in
  let e' = Integers.add (Integers.mul (off Second k0) m) (slack Second k0) in
  { lx = (low0 (row First k0) [] (Integers.sub (bias1 k0) e)); ux =
  (Z.opp (low0 (o (row First k0)) [] (Integers.sub (Z.opp (bias1 k0)) e)));
  ly = (low0 [] (row Second k0) (Integers.sub (bias2 k0) e')); uy =
  (Z.opp (low0 [] (o (row Second k0)) (Integers.sub (Z.opp (bias2 k0)) e')));
  ld =
  (low0 (row First k0) (o (row Second k0))
    (Integers.sub (Integers.sub (bias1 k0) (bias2 k0)) (Integers.add e e')));
  ud =
  (Z.opp
    (low0 (o (row First k0)) (row Second k0)
      (Integers.sub (Integers.sub (bias2 k0) (bias1 k0)) (Integers.add e e')))) }

(** val start : net -> region -> known **)

let rec start n0 b =
  match n0 with
  | [] -> []
  | l :: n' ->
    let k = start n' b in
    (map (interval n' b k (reach l n' b k) l.denominator) l.neurons) :: k

(** val forward : net -> region -> known -> nat -> known **)

let rec forward n0 b k t =
  match n0 with
  | [] -> k
  | l :: n' ->
    (match k with
     | [] -> k
     | bs :: k' ->
       (match t with
        | O ->
          let m = reach l n' b k' in
          (map (fun kb ->
            exchange
              (meet (interval n' b k' m l.denominator (fst kb)) (snd kb)))
            (combine l.neurons bs)) :: k'
        | S t' -> bs :: (forward n' b k' t')))

(** val single : nat -> nat -> wish -> wishes **)

let rec single t i e =
  match t with
  | O ->
    (app (repeat (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int) i)
      (e :: [])) :: []
  | S t' -> [] :: (single t' i e)

(** val unit_of : net -> nat -> hints -> Big_int_Z.big_int **)

let rec unit_of n0 t h =
  match n0 with
  | [] -> Big_int_Z.unit_big_int
  | _ :: n' ->
    (match t with
     | O -> scale h
     | S t' -> Integers.mul (scale h) (unit_of n' t' (tl h)))

(** val below : net -> nat -> Big_int_Z.big_int **)

let rec below n0 t =
  match n0 with
  | [] -> Big_int_Z.unit_big_int
  | _ :: n' -> (match t with
                | O -> total n0
                | S t' -> below n' t')

(** val signed : bool -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let signed least z0 =
  if least then z0 else Z.opp z0

(** val pulled :
    net -> region -> known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int
    -> hints -> Big_int_Z.big_int option **)

let pulled n0 b k t i d least e h =
  let d0 = Integers.mul (below n0 t) (Integers.mul (unit_of n0 t h) (Z.abs e))
  in
  if Integers.lt Big_int_Z.zero_big_int d0
  then let l =
         fst
           (pull n0 b k h
             (single t i ((Integers.mul (signed least (of_x d)) (Z.abs e)),
               (Integers.mul (signed least (of_y d)) (Z.abs e)))) [] [])
       in
       Some (signed least (floor_div l d0))
  else None

(** val bound :
    net -> region -> known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int
    -> hints -> known **)

let bound n0 b k t i d least e h =
  match pulled n0 b k t i d least e h with
  | Some c -> if Nat.ltb t (length n0) then tighten k t i d least c else k
  | None -> k

(** val cut_side : nat -> bool -> Big_int_Z.big_int -> region -> region **)

let cut_side i least c b =
  { sides =
    (update i (fun b0 ->
      if least
      then ((Integers.max (fst b0) c), (snd b0))
      else ((fst b0), (Integers.min (snd b0) c))) b.sides); constraints =
    b.constraints }

(** val bound_input :
    net -> region -> known -> nat -> bool -> Big_int_Z.big_int -> hints ->
    region **)

let bound_input n0 b k i least e h =
  match pulled n0 b k (length n0) i KX least e h with
  | Some c -> cut_side i least c b
  | None -> b

type limit = { layer_of : nat; neuron_of : nat; kind_of : kind;
               at_least : bool; value_of : Big_int_Z.big_int; strict : 
               bool }

type obligation = limit list

(** val excluded_limit : known -> limit -> bool **)

let excluded_limit k q =
  match get k q.layer_of q.neuron_of with
  | Some b ->
    if q.at_least
    then let h = highest q.kind_of b in
         (||) (Integers.lt h q.value_of)
           ((&&) q.strict (Integers.leq h q.value_of))
    else let l = lowest q.kind_of b in
         (||) (Integers.lt q.value_of l)
           ((&&) q.strict (Integers.leq q.value_of l))
  | None -> false

(** val excluded : known -> obligation -> bool **)

let excluded k o =
  existsb (excluded_limit k) o

(** val assume : known -> limit -> known **)

let assume k q =
  tighten k q.layer_of q.neuron_of q.kind_of q.at_least q.value_of

type node = { area : region; known_of : known; open0 : obligation list }

type record =
| RInput of nat * Big_int_Z.big_int
| RCut of nat * nat * kind * Big_int_Z.big_int
| RAssume of nat
| RBound of nat * nat * kind * bool * Big_int_Z.big_int * hints
| RBoundInput of nat * bool * Big_int_Z.big_int * hints
| RForward of nat
| RDone
| RLeaf of hints
| RVoid of nat * nat
| REmpty of nat

(** val without : nat -> 'a1 list -> 'a1 list **)

let rec without i = function
| [] -> []
| a :: l' -> (match i with
              | O -> l'
              | S i' -> a :: (without i' l'))

(** val void : known -> nat -> nat -> bool **)

let void k t i =
  match get k t i with
  | Some b -> contradictory b
  | None -> false

(** val crossed : region -> nat -> bool **)

let crossed b i =
  match nth_error b.sides i with
  | Some b0 -> Integers.lt (snd b0) (fst b0)
  | None -> false

(** val step : net -> record -> node list -> node list option **)

let step n0 r = function
| [] -> None
| n1 :: rest ->
  let { area = b; known_of = k; open0 = os } = n1 in
  (match r with
   | RInput (i, c) ->
     Some ({ area = (cut_side i false c b); known_of = k; open0 =
       os } :: ({ area = (cut_side i true c b); known_of = k; open0 =
       os } :: rest))
   | RCut (t, i, d, c) ->
     Some ({ area = b; known_of = (tighten k t i d false c); open0 =
       os } :: ({ area = b; known_of = (tighten k t i d true c); open0 =
       os } :: rest))
   | RAssume i ->
     (match nth_error os i with
      | Some o ->
        Some ({ area = b; known_of = (fold_left assume o k); open0 =
          (o :: []) } :: ({ area = b; known_of = k; open0 =
          (without i os) } :: rest))
      | None -> None)
   | RBound (t, i, d, least, e, h) ->
     Some ({ area = b; known_of = (bound n0 b k t i d least e h); open0 =
       os } :: rest)
   | RBoundInput (i, least, e, h) ->
     Some ({ area = (bound_input n0 b k i least e h); known_of = k; open0 =
       os } :: rest)
   | RForward t ->
     Some ({ area = b; known_of = (forward n0 b k t); open0 = os } :: rest)
   | RDone ->
     (match filter (fun o -> negb (excluded k o)) os with
      | [] -> Some rest
      | o :: l -> Some ({ area = b; known_of = k; open0 = (o :: l) } :: rest))
   | RLeaf h ->
     if Integers.lt Big_int_Z.zero_big_int (fst (pull n0 b k h [] [] []))
     then Some rest
     else None
   | RVoid (t, i) -> if void k t i then Some rest else None
   | REmpty i -> if crossed b i then Some rest else None)

(** val run : net -> record list -> node list -> node list option **)

let rec run n0 rs todo =
  match rs with
  | [] -> Some todo
  | r :: rs' ->
    (match step n0 r todo with
     | Some next -> run n0 rs' next
     | None -> None)

(** val root_of : net -> region -> obligation list -> node **)

let root_of n0 b os =
  { area = b; known_of = (start n0 b); open0 = os }

(** val numbered : 'a1 list -> (nat * 'a1) list **)

let numbered l =
  combine (seq O (length l)) l

(** val above_half : nat -> nat -> Big_int_Z.big_int -> bool -> obligation **)

let above_half t i a closed =
  { layer_of = t; neuron_of = i; kind_of = KY; at_least = true; value_of =
    (Integers.div a (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int));
    strict = ((||) closed (Z.odd a)) } :: []

(** val below_half : nat -> nat -> Big_int_Z.big_int -> bool -> obligation **)

let below_half t i a closed =
  { layer_of = t; neuron_of = i; kind_of = KY; at_least = false; value_of =
    (Z.opp
      (Integers.div (Z.opp a) (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))); strict = ((||) closed (Z.odd a)) } :: []

(** val leaving : bool -> nat -> nat -> curve -> obligation list **)

let leaving wrapping t i = function
| Levels g ->
  if eqb g.wraps wrapping
  then (above_half t i (fst (highest_kept g)) (snd (highest_kept g))) :: (
         (below_half t i (fst (lowest_kept g)) (snd (lowest_kept g))) :: [])
  else []
| _ -> []

(** val all_leaving : bool -> nat -> net -> obligation list **)

let rec all_leaving wrapping t = function
| [] -> []
| l :: n' ->
  app
    (flat_map (fun ik ->
      leaving wrapping t (fst ik) (curve_of Second (snd ik)))
      (numbered l.neurons)) (all_leaving wrapping (S t) n')

type rat = Big_int_Z.big_int * Big_int_Z.big_int

type group = (nat * (Big_int_Z.big_int * rat)) list

(** val distinct : nat list -> bool **)

let rec distinct = function
| [] -> true
| j :: s' -> (&&) (negb (existsb (Nat.eqb j) s')) (distinct s')

(** val square : Big_int_Z.big_int -> Big_int_Z.big_int **)

let square x =
  Integers.mul x x

(** val total_weight : group -> Big_int_Z.big_int **)

let rec total_weight = function
| [] -> Big_int_Z.zero_big_int
| p :: s' ->
  let (_, p0) = p in let (a, _) = p0 in Integers.add a (total_weight s')

(** val margin_of_share :
    rat -> nat -> Big_int_Z.big_int -> (nat * (Big_int_Z.big_int * rat)) ->
    bool **)

let margin_of_share delta powers all e =
  let a = fst (snd e) in
  let t = snd (snd e) in
  let den =
    Integers.mul (snd t)
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Z.of_nat powers))
  in
  let num = Integers.sub den (fst t) in
  let n0 = Nat.iter powers square num in
  let d = Nat.iter powers square den in
  (&&)
    ((&&) (Integers.leq Big_int_Z.zero_big_int a)
      (Integers.leq Big_int_Z.zero_big_int num))
    (Integers.leq
      (Integers.mul (Integers.mul (Integers.sub (snd delta) (fst delta)) a) d)
      (Integers.mul (Integers.mul n0 (fst delta)) all))

(** val margins_of_group : rat -> nat -> group -> bool **)

let margins_of_group delta powers s =
  (&&)
    ((&&) (Integers.lt Big_int_Z.zero_big_int (fst delta))
      (Integers.lt (fst delta) (snd delta)))
    (forallb (margin_of_share delta powers (total_weight s)) s)

(** val down : Big_int_Z.big_int -> rat -> Big_int_Z.big_int **)

let down g r =
  Integers.div (Integers.mul (fst r) g) (snd r)

(** val up : Big_int_Z.big_int -> rat -> Big_int_Z.big_int **)

let up g r =
  Z.opp (down g ((Z.opp (fst r)), (snd r)))

type claim =
| Distance of nat list * rat
| Manhattan of nat list * rat
| KeepsFirst of rat
| KeepsConfident of rat * rat * nat * group list
| Inequality of Big_int_Z.big_int list * Big_int_Z.big_int list * rat * bool
| Fits of bool

(** val unit_row : nat -> Big_int_Z.big_int list **)

let unit_row i =
  app (repeat Big_int_Z.zero_big_int i) (Big_int_Z.unit_big_int :: [])

(** val signed_rows : nat list -> Big_int_Z.big_int list list **)

let rec signed_rows = function
| [] -> [] :: []
| i :: outs' ->
  flat_map (fun r ->
    (add_row Big_int_Z.unit_big_int (unit_row i) r) :: ((add_row
                                                          (Big_int_Z.minus_big_int
                                                          Big_int_Z.unit_big_int)
                                                          (unit_row i) r) :: []))
    (signed_rows outs')

(** val pairs : nat -> (nat * nat) list **)

let pairs m =
  filter (fun p -> negb (Nat.eqb (fst p) (snd p)))
    (list_prod (seq O m) (seq O m))

(** val members : nat -> group list -> (nat * group) list **)

let members m groups =
  filter (fun p ->
    (&&) (distinct ((fst p) :: (map fst (snd p))))
      (forallb (fun j -> Nat.ltb j m) (map fst (snd p))))
    (list_prod (seq O m) groups)

(** val group_row : nat -> group -> Big_int_Z.big_int list **)

let rec group_row k = function
| [] -> []
| p :: s' ->
  let (j, p0) = p in
  let (a, _) = p0 in
  add_row (Z.opp a) (unit_row j) (add_row a (unit_row k) (group_row k s'))

(** val group_least : Big_int_Z.big_int -> group -> Big_int_Z.big_int **)

let rec group_least g = function
| [] -> Big_int_Z.zero_big_int
| p :: s' ->
  let (_, p0) = p in
  let (a, t) = p0 in
  Integers.add (down g ((Integers.mul a (fst t)), (snd t))) (group_least g s')

(** val ahead_rows :
    nat -> group list -> (Big_int_Z.big_int list * Big_int_Z.big_int list)
    list **)

let ahead_rows m groups =
  app
    (map (fun p ->
      let r =
        add_row (Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
          (unit_row (snd p)) (unit_row (fst p))
      in
      (r, r)) (pairs m))
    (map (fun p -> let r = group_row (fst p) (snd p) in (r, r))
      (members m groups))

(** val rows_of :
    nat -> claim -> (Big_int_Z.big_int list * Big_int_Z.big_int list) list **)

let rows_of m = function
| Distance (outs, _) -> map (fun i -> ((unit_row i), (unit_row i))) outs
| Manhattan (outs, _) -> map (fun r -> (r, r)) (signed_rows outs)
| KeepsFirst _ -> ahead_rows m []
| KeepsConfident (_, _, _, groups) -> ahead_rows m groups
| Inequality (a, b, _, _) -> (a, (map Z.opp b)) :: []
| Fits _ -> []

(** val group_limits :
    Big_int_Z.big_int -> nat -> nat -> group list -> limit list **)

let group_limits g m k groups =
  map (fun sp -> { layer_of = O; neuron_of =
    (add (length (pairs m)) (fst sp)); kind_of = KX; at_least = true;
    value_of = (group_least g (snd (snd sp))); strict = false })
    (filter (fun sp -> Nat.eqb (fst (snd sp)) k)
      (numbered (members m groups)))

(** val ahead :
    Big_int_Z.big_int -> nat -> Big_int_Z.big_int -> group list -> obligation
    list **)

let ahead g m least groups =
  let all = numbered (pairs m) in
  map (fun rp -> { layer_of = O; neuron_of = (fst rp); kind_of = KY;
    at_least = false; value_of = Big_int_Z.zero_big_int; strict =
    true } :: (app
                (map (fun sq -> { layer_of = O; neuron_of = (fst sq);
                  kind_of = KX; at_least = true; value_of = least; strict =
                  false })
                  (filter (fun sq -> Nat.eqb (fst (snd sq)) (fst (snd rp)))
                    all)) (group_limits g m (fst (snd rp)) groups))) all

(** val obligations_of :
    Big_int_Z.big_int -> net -> nat -> claim -> obligation list **)

let obligations_of g n0 m = function
| Distance (outs, eps) ->
  flat_map (fun r -> ({ layer_of = O; neuron_of = r; kind_of = KD; at_least =
    true; value_of = (down g eps); strict = true } :: []) :: (({ layer_of =
    O; neuron_of = r; kind_of = KD; at_least = false; value_of =
    (Z.opp (down g eps)); strict = true } :: []) :: [])) (seq O (length outs))
| Manhattan (outs, eps) ->
  map (fun r -> { layer_of = O; neuron_of = r; kind_of = KD; at_least = true;
    value_of = (down g eps); strict = true } :: [])
    (seq O (length (signed_rows outs)))
| KeepsFirst margin -> ahead g m (down g margin) []
| KeepsConfident (_, t, _, groups) ->
  ahead g m (Integers.max Big_int_Z.zero_big_int (down g t)) groups
| Inequality (_, _, most, less) ->
  ({ layer_of = O; neuron_of = O; kind_of = KD; at_least = true; value_of =
    (down g most); strict = (negb less) } :: []) :: []
| Fits wrapping -> all_leaving wrapping (S O) n0

(** val zero : curve **)

let zero =
  Bent { base = Big_int_Z.zero_big_int; shift = Big_int_Z.zero_big_int;
    kinks_of = [] }

(** val claim_layer :
    (Big_int_Z.big_int list * Big_int_Z.big_int list) list -> layer **)

let claim_layer rows =
  { denominator = Big_int_Z.unit_big_int; neurons =
    (map (fun r -> { function0 = zero; other = None; row1 = (dense (fst r));
      long1 = (long_of Big_int_Z.zero_big_int); row2 = (dense (snd r));
      long2 = (long_of Big_int_Z.zero_big_int); unknown = None }) rows) }

(** val sensible : claim -> bool **)

let sensible = function
| KeepsConfident (delta, t, powers, groups) ->
  (&&)
    (margins_of_group delta powers ((O, (Big_int_Z.unit_big_int, t)) :: []))
    (forallb (margins_of_group delta powers) groups)
| _ -> true

type question = { grain : Big_int_Z.big_int; pair : net;
                  ranges : (rat * rat) list;
                  inequalities : (Big_int_Z.big_int list * rat) list;
                  asked_for : claim }

(** val outputs_count : question -> nat **)

let outputs_count q =
  width (length q.ranges) q.pair

(** val problem : question -> net **)

let problem q =
  (claim_layer (rows_of (outputs_count q) q.asked_for)) :: q.pair

(** val region_of : question -> region **)

let region_of q =
  { sides =
    (map (fun s -> ((down q.grain (fst s)), (up q.grain (snd s)))) q.ranges);
    constraints =
    (map (fun c -> ((fst c), (up q.grain (snd c)))) q.inequalities) }

(** val root : question -> node **)

let root q =
  root_of (problem q) (region_of q)
    (obligations_of q.grain q.pair (outputs_count q) q.asked_for)

(** val meaningful : question -> bool **)

let meaningful q =
  (&&)
    ((&&) (well_formed (length q.ranges) (problem q)) (sensible q.asked_for))
    (forallb (fun c -> Nat.leb (length (fst c)) (length q.ranges))
      q.inequalities)

(** val check : question -> record list -> bool **)

let check q rs =
  (&&) (meaningful q)
    (match run (problem q) rs ((root q) :: []) with
     | Some l -> (match l with
                  | [] -> true
                  | _ :: _ -> false)
     | None -> false)
