(** The one rule for a layer: from a functional of what its functions give to one of what it reads.

    With a hint (g, a, b, s) per neuron, any integers,
      p f(x) + q f(y)  =  (p + g) f(x) + (q - g) f(y) - g (f(x) - f(y)),
    and each of the three is at least a line in x, in y or in d = x - y, of slope M a, M b or M s, by the bounds that are
    known. The slopes of CROWN and of alpha-CROWN, chords, stable phases, the link g between two networks, multipliers of
    phase splits, of assumed violations and of guards are all choices of the hint. M is a common scale of the slopes, so
    that they are short. Constants are multiples of a unit U, of which M = m U is a multiple: so they are short as well. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Levels Networks Bounds.
Import ListNotations.
Open Scope R_scope.

(** * The difference of a function at two places *)
Definition steps (up down : Z) : fn := Fn down 0 [(0, up - down)%Z].   (* up v for v > 0, down v for v < 0 *)
(** In units of M. *)
Definition low_difference (M : Z) (c : curve) (t s : Z) (b : bounds) : Z :=
  (if (t =? 0) && (s =? 0) then 0
   else
     let l := Z.min (lx b) (ly b) in
     let u := Z.max (ux b) (uy b) in
     let (lo, hi) := slopes_on c l u in
     low_over M (if 0 <=? t then steps lo hi else steps hi lo) t s (ld b) (ud b))%Z%bool.

Lemma steps_above up down v : 0 <= v -> fR (steps up down) v = IZR up * v.
Proof.
  intros. unfold fR, steps. simpl. rewrite minus_IZR. destruct (Rle_dec v 0); [assert (v = 0) by lra; subst; lra | lra].
Qed.
Lemma steps_below up down v : v <= 0 -> fR (steps up down) v = IZR down * v.
Proof. intros. unfold fR, steps. simpl. destruct (Rle_dec v 0); lra. Qed.
Lemma difference_between c b x y : sound c = true -> within b x y ->
  let l := Z.min (lx b) (ly b) in
  let u := Z.max (ux b) (uy b) in
  let lo := fst (slopes_on c l u) in
  let hi := snd (slopes_on c l u) in
  fR (steps lo hi) (x - y) <= drawn c x - drawn c y <= fR (steps hi lo) (x - y).
Proof.
  intros S (HX & HY & _) l u lo hi.
  assert (L : IZR l <= x /\ IZR l <= y).
  { pose proof (min_l (lx b) (ly b)). pose proof (min_r (lx b) (ly b)). unfold l. lra. }
  assert (U : x <= IZR u /\ y <= IZR u).
  { pose proof (max_l (ux b) (uy b)). pose proof (max_r (ux b) (uy b)). unfold u. lra. }
  destruct (Rle_dec y x) as [O | O].
  - rewrite !steps_above by lra. pose proof (slopes_on_ok c l u x y S). unfold lo, hi. lra.
  - rewrite !steps_below by lra. pose proof (slopes_on_ok c l u y x S) as H. unfold lo, hi. lra.
Qed.
Lemma low_difference_ok M c t s b x y : (0 < M)%Z -> sound c = true -> within b x y ->
  IZR t * (drawn c x - drawn c y) >= IZR M * (IZR s * (x - y) + IZR (low_difference M c t s b)).
Proof.
  intros PM S W. unfold low_difference. destruct ((t =? 0) && (s =? 0))%Z%bool eqn:E.
  { apply andb_prop in E. destruct E as [T E]. apply Z.eqb_eq in T, E. subst. lra. }
  pose proof (difference_between c b x y S W) as D. cbv zeta in D. destruct (slopes_on c _ _) as [lo hi]. cbn [fst snd] in D. destruct W as (_ & _ & W).
  cbv zeta. destruct (Z.leb_spec 0 t) as [T | T].
  - apply IZR_le in T.
    match goal with |- context [low_over M ?g t s _ _] => pose proof (low_over_ok M g t s _ _ _ PM eq_refl W) end. nra.
  - apply IZR_lt in T.
    match goal with |- context [low_over M ?g t s _ _] => pose proof (low_over_ok M g t s _ _ _ PM eq_refl W) end. nra.
Qed.

(** * A layer *)
Record hint := Hint { link : Z; slope_x : Z; slope_y : Z; slope_d : Z }.
Definition no_hint := Hint 0 0 0 0.
Definition wish := (Z * Z)%type.      (* coefficients of x and y that are asked about *)

(** q f2(y) - g f(y), of functions that are close to those of either network, in units of M. *)
Definition low_second (M : Z) (k : neuron) (q g a l u : Z) : Z :=
  match other k with
  | None => low_over M (close (function k)) (q - g) a l u
  | Some c => (low_mixed q (close c) (- g) (close (function k)) (M * a) l u / M)%Z
  end.
Lemma low_second_ok M k q g a l u y : (0 < M)%Z -> sound (function k) = true -> IZR l <= y <= IZR u ->
  IZR q * fR (close (curve_of Second k)) y - IZR g * fR (close (function k)) y
    >= IZR M * (IZR a * y + IZR (low_second M k q g a l u)).
Proof.
  intros PM S V. unfold low_second, curve_of. destruct (other k) as [c |].
  - pose proof (low_mixed_ok q (close c) (- g) (close (function k)) (M * a) l u y V) as B. rewrite opp_IZR, mult_IZR in B.
    pose proof (over_ok M (low_mixed q (close c) (- g) (close (function k)) (M * a) l u) PM). lra.
  - pose proof (low_over_ok M (close (function k)) (q - g) a l u y PM (sound_sorted _ S) V) as B. rewrite minus_IZR in B. lra.
Qed.

(** Where x is y and the functions of both networks are one, p F(x) + q G(y) is p + q times one number. So two networks
    that agree up to here go on to agree, whatever their functions do, and without a hint. *)
Definition agrees (k : neuron) (b : bounds) : bool :=
  ((ld b =? 0) && (ud b =? 0)
   && match other k with
      | None => true
      | Some c => one_function (function k) c (Z.max (lx b) (ly b)) (Z.min (ux b) (uy b))
      end)%Z%bool.
Definition gathered (k : neuron) (b : bounds) (p q : Z) : Z * Z := if agrees k b then (p + q, 0)%Z else (p, q).
Lemma gathered_ok k b p q x y : sound (function k) = true -> sound (curve_of Second k) = true -> within b x y ->
  IZR p * cR (function k) x + IZR q * cR (curve_of Second k) y
    = IZR (fst (gathered k b p q)) * cR (function k) x + IZR (snd (gathered k b p q)) * cR (curve_of Second k) y.
Proof.
  intros S S' (HX & HY & HD). unfold gathered. destruct (agrees k b) eqn:A; [| reflexivity].
  unfold agrees in A. apply andb_prop in A. destruct A as [A R]. apply andb_prop in A. destruct A as [L U].
  apply Z.eqb_eq in L, U. rewrite L, U in HD. assert (y = x) as -> by lra.
  assert (E : cR (curve_of Second k) x = cR (function k) x).
  { unfold curve_of in *. destruct (other k) as [c |]; [| reflexivity]. symmetry.
    assert (W : IZR (Z.max (lx b) (ly b)) <= x <= IZR (Z.min (ux b) (uy b)))
      by (split; [apply max_case | apply min_case]; lra).
    exact (one_function_ok _ _ _ _ _ S S' W R). }
  rewrite E. cbn [fst snd]. rewrite plus_IZR. ring.
Qed.

(** What functions take that are not those followed: where differences are their own, of what does not go through the link. *)
Definition low_errors (k : neuron) (p q g : Z) (b : bounds) : Z :=
  let c := function k in
  match c, other k with
  | Smooth _, None => low_error c (p + g) (lx b) (ux b) + low_error c (q - g) (ly b) (uy b)
  | Smooth _, Some c' => low_error c (p + g) (lx b) (ux b) + low_error c' q (ly b) (uy b) + low_error c (- g) (ly b) (uy b)
  | _, _ => low_error c p (lx b) (ux b) + low_error (curve_of Second k) q (ly b) (uy b)
  end%Z.
Lemma low_errors_ok k p q g b x y : sound (function k) = true -> sound (curve_of Second k) = true -> within b x y ->
  let c := function k in
  let c' := curve_of Second k in
  IZR p * (cR c x - fR (close c) x) + IZR q * (cR c' y - fR (close c') y)
    + IZR g * (drawn c x - fR (close c) x - (drawn c y - fR (close c) y)) >= IZR (low_errors k p q g b).
Proof.
  intros S S' (WX & WY & _). cbv zeta. pose proof (fun p => low_error_ok _ p _ _ _ S WX) as EX.
  pose proof (fun p => low_error_ok _ p _ _ _ S WY) as EY. pose proof (low_error_ok _ q _ _ _ S' WY) as EQ.
  unfold low_errors. destruct (function k) as [f | h | s] eqn:F; rewrite ?plus_IZR.
  1, 2: specialize (EX p); cbn [drawn]; lra.
  destruct (other k) as [c' |] eqn:O; rewrite ?plus_IZR.
  - assert (CS : curve_of Second k = c') by (unfold curve_of; rewrite O; reflexivity). rewrite CS in *.
    specialize (EX (p + g)%Z). specialize (EY (- g)%Z). rewrite plus_IZR in EX. rewrite opp_IZR in EY. cbn [cR drawn] in *. lra.
  - assert (CS : curve_of Second k = Smooth s) by (unfold curve_of; rewrite O, F; reflexivity). rewrite CS in *.
    specialize (EX (p + g)%Z). specialize (EY (q - g)%Z). rewrite plus_IZR in EX. rewrite minus_IZR in EY. cbn [cR drawn] in *. lra.
Qed.

(** What the errors of a neuron may take from a x + a' y, times the denominator, where its rows read numbers of sizes up to N. *)
Definition lost (N a a' : Z) (k : neuron) : Z :=
  match unknown k with
  | None => 0%Z
  | Some e => (Z.abs a * (Z.of_N (off1 e) * N + Z.of_N (slack1 e)) + Z.abs a' * (Z.of_N (off2 e) * N + Z.of_N (slack2 e)))%Z
  end.
Lemma lost_ok N a a' k :
  IZR (lost N a a' k) = IZR (Z.abs a) * blur First k (IZR N) + IZR (Z.abs a') * blur Second k (IZR N).
Proof.
  unfold lost, blur, off, slack. destruct (unknown k) as [e |]; [| ring]. rewrite plus_IZR, !mult_IZR, !plus_IZR, !mult_IZR. reflexivity.
Qed.
Lemma line_near D a x c e : 0 < D -> Rabs (D * x - c) <= e -> (IZR a * c - IZR (Z.abs a) * e) / D <= IZR a * x.
Proof.
  intros P H. apply (Rmult_le_reg_r D); [exact P |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite abs_IZR.
  assert (M : IZR a * (D * x - c) >= - (Rabs (IZR a) * e)).
  { pose proof (Rabs_pos (IZR a)). pose proof (Rle_abs (- (IZR a * (D * x - c)))) as B. rewrite Rabs_Ropp, Rabs_mult in B.
    assert (Rabs (IZR a) * Rabs (D * x - c) <= Rabs (IZR a) * e) by (apply Rmult_le_compat_l; lra). lra. }
  lra.
Qed.

(** Whether nothing is asked of a neuron, and whether nothing is asked of any from here on. *)
Definition unasked (t : hint) (p q : Z) : bool :=
  ((p =? 0) && (q =? 0) && (link t =? 0) && (slope_x t =? 0) && (slope_y t =? 0) && (slope_d t =? 0))%Z%bool.
Definition idle (h : list hint) (o : list wish) (p q : list Z) : bool :=
  match h, o, p, q with [], [], [], [] => true | _, _, _, _ => false end.
(** What p f(x) + q f(y) of a neuron is at least beside its lines, in units of U. *)
Definition low_neuron (U m : Z) (k : neuron) (b : bounds) (t : hint) (p q : Z) : Z :=
  if unasked t p q then 0%Z
  else
    let f := close (function k) in
    let '(u, v) := gathered k b p q in
    (low_over U f (u + link t) (m * slope_x t) (lx b) (ux b)
       + low_second U k v (link t) (m * slope_y t) (ly b) (uy b)
       + low_difference U (function k) (- link t) (m * slope_d t) b
       + over U (low_errors k u v (link t) b))%Z.
Lemma low_neuron_ok U m k b t p q x y : (0 < U)%Z -> sound (function k) = true -> sound (curve_of Second k) = true ->
  within b x y ->
  IZR p * cR (function k) x + IZR q * cR (curve_of Second k) y
    >= IZR U * (IZR m * (IZR (slope_x t) * x + IZR (slope_y t) * y + IZR (slope_d t) * (x - y)) + IZR (low_neuron U m k b t p q)).
Proof.
  intros PU K1 K2 W. unfold low_neuron. destruct (unasked t p q) eqn:N.
  - unfold unasked in N. repeat (apply andb_prop in N; destruct N as [N ?]).
    repeat match goal with H : (_ =? _)%Z = true |- _ => apply Z.eqb_eq in H; rewrite H end. lra.
  - clear N. pose proof (gathered_ok k b p q x y K1 K2 W) as G. destruct (gathered k b p q) as [u v]. cbn [fst snd] in G.
    set (f := close (function k)) in *.
    pose proof (low_over_ok U f (u + link t) (m * slope_x t) _ _ _ PU (sound_sorted _ K1) (proj1 W)) as A.
    pose proof (low_difference_ok U (function k) (- link t) (m * slope_d t) _ _ _ PU K1 W) as C.
    pose proof (low_errors_ok k u v (link t) _ _ _ K1 K2 W) as E9. cbv zeta in E9. fold f in E9.
    pose proof (low_second_ok U k v (link t) (m * slope_y t) _ _ _ PU K1 (proj1 (proj2 W))) as B. fold f in B.
    pose proof (over_below U (low_errors k u v (link t) b) PU) as E.
    rewrite !plus_IZR. rewrite plus_IZR, mult_IZR in A. rewrite mult_IZR in B. rewrite opp_IZR, mult_IZR in C. lra.
Qed.

(** Biases times numbers, less what is lost. *)
Definition add_biases (a : Z) (b : long) (a' : Z) (b' : long) (lost : Z) (sum : long) : long :=
  Long (plus_times (plus_times (upper sum) a (upper b)) a' (upper b'))
        (plus_times (plus_times (lower sum) a (lower b)) a' (lower b') - lost).
Lemma add_biases_ok a b a' b' lost sum :
  IZR (whole (add_biases a b a' b' lost sum)) = IZR (whole sum) + IZR a * IZR (whole b) + IZR a' * IZR (whole b') - IZR lost.
Proof. rewrite <- !mult_IZR, <- !plus_IZR, <- minus_IZR. f_equal. unfold whole, add_biases, plus_times. cbn [upper lower]. ring. Qed.

(** Whether a neuron is asked for nothing, or has no line, and functions that are 0 wherever their arguments may be. *)
Definition silent (k : neuron) (b : bounds) (t : hint) (e : wish) (p q : Z) : bool :=
  ((slope_x t =? 0) && (slope_y t =? 0) && (slope_d t =? 0) && (fst e =? 0) && (snd e =? 0)
   && match function k, other k with
      | Bent f, None => ((p =? 0) || vanishes f (ux b)) && ((q =? 0) || vanishes f (uy b))
      | _, _ => (p =? 0) && (q =? 0)
      end)%Z%bool.
Lemma silent_ok k b t e p q x y : sound (function k) = true -> within b x y -> silent k b t e p q = true ->
  IZR p * cR (function k) x + IZR q * cR (curve_of Second k) y = 0 /\ fst e = 0%Z /\ snd e = 0%Z.
Proof.
  intros S (WX & WY & _) H. unfold silent in H. repeat (apply andb_prop in H; destruct H as [H ?]).
  repeat match goal with E : (_ =? 0)%Z = true |- _ => apply Z.eqb_eq in E end. split; [| split; assumption].
  assert (V : forall f z c v, sorted (kinks_of f) = true -> v <= IZR c -> ((z =? 0)%Z || vanishes f c)%bool = true ->
    IZR z * fR f v = 0).
  { intros f z c v F L E. apply orb_prop in E. destruct E as [E | E]; [apply Z.eqb_eq in E; subst; ring |].
    rewrite (vanishes_ok f c v F E L). ring. }
  assert (N : ((p =? 0) && (q =? 0))%Z%bool = true -> IZR p * cR (function k) x + IZR q * cR (curve_of Second k) y = 0).
  { intros E. apply andb_prop in E. destruct E as [E E']. apply Z.eqb_eq in E, E'. subst. ring. }
  unfold curve_of in *. destruct (function k) as [f | |]; [| apply N; assumption | apply N; assumption].
  destruct (other k) as [c |]; [apply N; assumption |].
  match goal with E : (_ && _)%bool = true |- _ => apply andb_prop in E; destruct E as [EX EY] end.
  apply sound_sorted in S. cbn [close cR] in *. rewrite (V f p (ux b) x S (proj2 WX) EX), (V f q (uy b) y S (proj2 WY) EY). ring.
Qed.

(** p f(x) + q f(y) + M (wishes) >= U c + M (cb + p' X + q' Y) / D over the layer of denominator D that reads X and Y, whose
    numbers are of sizes up to N; p' and q' are rows times numbers, which are yet to be added up. *)
Fixpoint relax (U m N : Z) (ks : list neuron) (bs : list bounds) (h : list hint) (o : list wish) (p q : list Z)
  : Z * long * list (Z * runs) * list (Z * runs) :=
  match ks, bs with
  | k :: ks', b :: bs' =>
      if idle h o p q then (0%Z, Long 0 0, [], [])
      else
        let rest := relax U m N ks' bs' (tl h) (tl o) (tl p) (tl q) in
        let t := hd no_hint h in
        let e := hd (0, 0)%Z o in
        if silent k b t e (head p) (head q) then rest else
        let '(c, cb, p', q') := rest in
        let a := (slope_x t + slope_d t + fst e)%Z in
        let a' := (slope_y t - slope_d t + snd e)%Z in
        ( (c + low_neuron U m k b t (head p) (head q))%Z
        , add_biases a (long1 k) a' (long2 k) (lost N a a' k) cb
        , with_row a (row1 k) p', with_row a' (row2 k) q' )
  | _, _ => (0%Z, Long 0 0, [], [])
  end.

Fixpoint wished (o : list wish) (z : list (R * R)) : R :=
  match o, z with
  | e :: o', a :: z' => IZR (fst e) * fst a + IZR (snd e) * snd a + wished o' z'
  | _, _ => 0
  end.
Lemma wished_head o a z : wished o (a :: z) =
  IZR (fst (hd (0, 0)%Z o)) * fst a + IZR (snd (hd (0, 0)%Z o)) * snd a + wished (tl o) z.
Proof. destruct o; simpl; ring. Qed.
Lemma wished_nil z : wished [] z = 0.
Proof. destruct z; reflexivity. Qed.

Theorem relax_ok U m N d X Y : (0 < U)%Z -> (0 < m)%Z -> forall ks bs zs h o p q c cb p' q',
  Forall (fun k => sound (function k) = true /\ sound (curve_of Second k) = true) ks ->
  Forall2 (fun k => reads d k X Y (IZR N) (IZR N)) ks zs ->
  Forall2 (fun b z => within b (fst z) (snd z)) bs zs ->
  relax U m N ks bs h o p q = (c, cb, p', q') ->
  dot p (values First ks zs) + dot q (values Second ks zs) + IZR (U * m) * wished o zs
  >= IZR U * IZR c + IZR (U * m) * ((IZR (whole cb) + dot (sum_rows p') X + dot (sum_rows q') Y) / IZR (Zpos d)).
Proof.
  intros PU PS. pose proof (pos_IZR d) as HD. pose proof (IZR_lt _ _ PU) as RU. pose proof (IZR_lt _ _ PS) as RS.
  assert (RM : 0 <= IZR (U * m)) by (rewrite mult_IZR; nra).
  induction ks as [| k ks IH]; intros bs zs h o p q c cb p' q' HS HR HW E; inversion HR as [| ? z ? zs' R1 HR']; subst;
    inversion HW as [| b ? bs' ? W HW']; subst; simpl in E.
  - inversion E; subst. change (whole (Long 0 0)) with 0%Z. simpl. rewrite !dot_nil. destruct o; simpl; field_simplify; lra.
  - destruct (idle h o p q) eqn:EI.
    { assert (h = [] /\ o = [] /\ p = [] /\ q = []) as (-> & -> & -> & ->) by (destruct h, o, p, q; try discriminate; auto).
      inversion E; subst. change (whole (Long 0 0)) with 0%Z. rewrite !dot_none, wished_nil. field_simplify; lra. }
    destruct (relax U m N ks bs' (tl h) (tl o) (tl p) (tl q)) as [[[c0 cb0] p0] q0] eqn:E0.
    inversion HS as [| ? ? HK HS']; subst.
    specialize (IH _ _ _ _ _ _ _ _ _ _ HS' HR' HW' E0). cbn [values]. rewrite !dot_head, wished_head.
    destruct (silent k b (hd no_hint h) (hd (0, 0)%Z o) (head p) (head q)) eqn:ES.
    { inversion E; subst. destruct z as [x y]. cbn [part fst snd] in *.
      destruct (silent_ok _ _ _ _ _ _ x y (proj1 HK) W ES) as (A & B & C). rewrite B, C. unfold curve_of in A |- *. lra. }
    inversion E; subst; clear E. rewrite !dot_sum_with.
    set (t := hd no_hint h). set (e := hd (0, 0)%Z o). destruct z as [x y]. cbn [part fst snd] in *.
    destruct HK as [K1 K2].
    pose proof (low_neuron_ok U m k b t (head p) (head q) x y PU K1 K2 W) as L.
    change (curve_of First k) with (function k).
    change (match other k with Some c => c | None => function k end) with (curve_of Second k).
    destruct R1 as [N1 N2]. cbn [fst snd] in N1, N2.
    apply (line_near _ (slope_x t + slope_d t + fst e)%Z) in N1; [| exact HD].
    apply (line_near _ (slope_y t - slope_d t + snd e)%Z) in N2; [| exact HD].
    rewrite add_biases_ok, lost_ok.
    set (a := (slope_x t + slope_d t + fst e)%Z) in *. set (a' := (slope_y t - slope_d t + snd e)%Z) in *.
    assert (EA : IZR a = IZR (slope_x t) + IZR (slope_d t) + IZR (fst e)) by (unfold a; rewrite !plus_IZR; reflexivity).
    assert (EB : IZR a' = IZR (slope_y t) - IZR (slope_d t) + IZR (snd e)) by (unfold a'; rewrite plus_IZR, minus_IZR; reflexivity).
    rewrite !plus_IZR, !mult_IZR. rewrite !mult_IZR in IH.
    set (low := IZR (low_neuron _ _ _ _ _ _ _)) in *.
    set (R := (IZR (whole cb0) + dot (sum_rows p0) X + dot (sum_rows q0) Y) / IZR (Zpos d)) in *.
    match goal with |- _ >= _ + _ * (?N / _) => assert (F : N / IZR (Zpos d) <= R
      + (IZR (slope_x t) + IZR (slope_d t) + IZR (fst e)) * x + (IZR (slope_y t) - IZR (slope_d t) + IZR (snd e)) * y) end.
    { rewrite <- EA, <- EB. match goal with |- ?n / _ <= _ => replace (n / IZR (Zpos d)) with (R
        + (IZR a * (dot (row First k) X + IZR (bias First k)) - IZR (Z.abs a) * blur First k (IZR N)) / IZR (Zpos d)
        + (IZR a' * (dot (row Second k) Y + IZR (bias Second k)) - IZR (Z.abs a') * blur Second k (IZR N)) / IZR (Zpos d)) end; [lra |].
      unfold R, row, bias, bias1, bias2. field. lra. }
    rewrite mult_IZR in RM. apply (Rmult_le_compat_l (IZR U * IZR m)) in F; [| exact RM]. lra.
Qed.
