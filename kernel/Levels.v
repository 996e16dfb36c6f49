(** Functions of neurons: piecewise linear ones, and quantisers, which have levels instead of slopes.

    A quantiser gives the integer that its argument, over the size of a step and moved by a zero point, is rounded to, cut
    off at a least and a greatest level; here it is moved back and multiplied by the size again. It has jumps, so no line follows it
    closely. [close_ok] says how far it is from the piecewise linear function that is cut off alike but not rounded:
    by half a step or one, and not at all where everything is cut off. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions.
Import ListNotations.
Open Scope R_scope.

(** * Rounding to integers, in the seven ways that quantisers know *)
Inductive mode := HalfEven | HalfAway | HalfZero | Down | Up | ToZero | FromZero.
Definition floor (t : R) : Z := Int_part t.
Definition ceiling (t : R) : Z := (- floor (- t))%Z.
Definition rounded (m : mode) (t : R) : Z :=
  match m with
  | HalfEven =>
      let n := floor (t + 1 / 2) in
      if Req_EM_T (IZR n) (t + 1 / 2) then if Z.even n then n else (n - 1)%Z else n
  | HalfAway => if Rle_dec 0 t then floor (t + 1 / 2) else ceiling (t - 1 / 2)
  | HalfZero => if Rle_dec 0 t then ceiling (t - 1 / 2) else floor (t + 1 / 2)
  | Down => floor t
  | Up => ceiling t
  | ToZero => if Rle_dec 0 t then floor t else ceiling t
  | FromZero => if Rle_dec 0 t then ceiling t else floor t
  end.

Lemma floor_ok t : IZR (floor t) <= t < IZR (floor t) + 1.
Proof. unfold floor. destruct (base_Int_part t). lra. Qed.
Lemma ceiling_ok t : IZR (ceiling t) - 1 < t <= IZR (ceiling t).
Proof. unfold ceiling. rewrite opp_IZR. pose proof (floor_ok (- t)). lra. Qed.
Lemma rounded_ok m t : IZR (rounded m t) - 1 < t < IZR (rounded m t) + 1.
Proof.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  destruct m; unfold rounded; try match goal with |- context [Rle_dec 0 t] => destruct (Rle_dec 0 t) end; try lra.
  cbv zeta. destruct (Req_EM_T _ _); [destruct (Z.even _); rewrite ?minus_IZR; lra | lra].
Qed.
(** How far the integer may be below and above what was rounded, in halves. *)
Definition halves (m : mode) : Z * Z :=
  match m with
  | HalfEven | HalfAway | HalfZero => (-1, 1)
  | Down => (-2, 0)
  | Up => (0, 2)
  | ToZero | FromZero => (-2, 2)
  end%Z.
Lemma halves_ok m t : IZR (fst (halves m)) <= 2 * (IZR (rounded m t) - t) <= IZR (snd (halves m)).
Proof.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  destruct m; unfold rounded; cbn [halves fst snd]; try match goal with |- context [Rle_dec 0 t] => destruct (Rle_dec 0 t) end; try lra.
  cbv zeta. destruct (Req_EM_T _ _); [destruct (Z.even _); rewrite ?minus_IZR; lra | lra].
Qed.
Lemma signs_ok m : IZR (fst (halves m)) <= 0 <= IZR (snd (halves m)).
Proof. destruct m; simpl; lra. Qed.
Lemma rounded_above m t n : IZR n <= t -> (n <= rounded m t)%Z.
Proof.
  intros H. destruct (rounded_ok m t) as [_ U]. assert (L : IZR n < IZR (rounded m t + 1)) by (rewrite plus_IZR; lra).
  apply lt_IZR in L. lia.
Qed.
Lemma rounded_below m t n : t <= IZR n -> (rounded m t <= n)%Z.
Proof.
  intros H. destruct (rounded_ok m t) as [L _]. assert (U : IZR (rounded m t - 1) < IZR n) by (rewrite minus_IZR; lra).
  apply lt_IZR in U. lia.
Qed.

(** * Quantisers; the size of a step is given in units of u. *)
Record grid := Grid { size : positive; zero_point : Z; least_level : Z; greatest_level : Z; rounding : mode }.
Definition level (g : grid) (t : R) : Z :=
  (Z.min (Z.max (rounded (rounding g) (t + IZR (zero_point g))) (least_level g)) (greatest_level g) - zero_point g)%Z.

(** The functions of neurons. *)
Inductive curve := Bent (f : fn) | Levels (g : grid).
Definition curve_value (u : R) (c : curve) (v : R) : R :=
  match c with
  | Bent f => value u f v
  | Levels g => IZR (Zpos (size g)) * u * IZR (level g (v / (IZR (Zpos (size g)) * u)))
  end.
Definition cR (c : curve) (w : R) : R :=
  match c with
  | Bent f => fR f w
  | Levels g => IZR (Zpos (size g)) * IZR (level g (w / IZR (Zpos (size g))))
  end.
Lemma curve_value_scaled u c w : 0 < u -> curve_value u c (u * w) = u * cR c w.
Proof.
  intros U. destruct c as [f | g]; [apply value_scaled, U |]. simpl.
  assert (S : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia).
  replace (u * w / (IZR (Zpos (size g)) * u)) with (w / IZR (Zpos (size g))) by (field; lra). ring.
Qed.

(** * The piecewise linear function that is close to it *)
Definition ends (g : grid) : Z * Z :=
  (Zpos (size g) * (least_level g - zero_point g), Zpos (size g) * (greatest_level g - zero_point g))%Z.
Definition close (c : curve) : fn :=
  match c with
  | Bent f => f
  | Levels g => Fn 0 (fst (ends g)) [(fst (ends g), 1); (snd (ends g), -1)]%Z
  end.
Definition sound (c : curve) : bool := sorted (kinks_of (close c)).

(** By how much a curve differs from it on [l, u]. *)
Definition errors (g : grid) (l u : Z) : Z * Z :=
  (if (snd (ends g) <=? l) || (u <=? fst (ends g)) then (0, 0)
   else let (a, b) := halves (rounding g) in ((a * Zpos (size g)) / 2, - ((- b * Zpos (size g)) / 2)))%Z%bool.
Definition low_error (c : curve) (p l u : Z) : Z :=
  match c with
  | Bent _ => 0%Z
  | Levels g => if (p =? 0)%Z then 0%Z else let (a, b) := errors g l u in Z.min (p * a) (p * b)
  end.

Lemma half_ok a s : IZR (a * s / 2) <= IZR a * IZR s / 2.
Proof.
  pose proof (Z.mul_div_le (a * s) 2 ltac:(lia)) as H. apply IZR_le in H. rewrite !mult_IZR in H. lra.
Qed.
Theorem close_ok g l u w : sound (Levels g) = true -> IZR l <= w <= IZR u ->
  IZR (fst (errors g l u)) <= cR (Levels g) w - fR (close (Levels g)) w <= IZR (snd (errors g l u)).
Proof.
  intros S W. unfold sound in S. cbn [close kinks_of sorted forallb fst] in S. rewrite !andb_true_r in S. apply Z.leb_le in S.
  unfold ends in S. cbn [fst snd] in S.
  assert (P : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia).
  assert (O : (least_level g <= greatest_level g)%Z) by nia.
  assert (OR := IZR_le _ _ O).
  set (t := w / IZR (Zpos (size g)) + IZR (zero_point g)).
  assert (T : w = IZR (Zpos (size g)) * (t - IZR (zero_point g))) by (unfold t; field; lra).
  unfold fR, cR, close, level, ends, hR. cbn [base shift kinks_of fst snd]. fold t.
  rewrite !mult_IZR, !minus_IZR.
  set (s := IZR (Zpos (size g))) in *. set (z := IZR (zero_point g)) in *.
  set (lo := IZR (least_level g)) in *. set (hi := IZR (greatest_level g)) in *.
  assert (LOW : t <= lo -> IZR (Z.min (Z.max (rounded (rounding g) t) (least_level g)) (greatest_level g)) = lo).
  { intros H. apply rounded_below with (m := rounding g) in H. unfold lo. f_equal. lia. }
  assert (HIGH : hi <= t -> IZR (Z.min (Z.max (rounded (rounding g) t) (least_level g)) (greatest_level g)) = hi).
  { intros H. apply rounded_above with (m := rounding g) in H. unfold hi. f_equal. lia. }
  assert (MID : lo <= t <= hi -> IZR (Z.min (Z.max (rounded (rounding g) t) (least_level g)) (greatest_level g))
      = IZR (rounded (rounding g) t)).
  { intros [H1 H2]. apply rounded_above with (m := rounding g) in H1. apply rounded_below with (m := rounding g) in H2.
    f_equal. lia. }
  assert (A : t <= lo -> w <= s * (lo - z)) by (intros; rewrite T; nra).
  assert (A' : lo <= t -> s * (lo - z) <= w) by (intros; rewrite T; nra).
  assert (B : t <= hi -> w <= s * (hi - z)) by (intros; rewrite T; nra).
  assert (B' : hi <= t -> s * (hi - z) <= w) by (intros; rewrite T; nra).
  assert (Q : s * (lo - z) <= s * (hi - z)) by nra.
  pose proof (halves_ok (rounding g) t) as [H1 H2].
  set (L := IZR (Z.min (Z.max (rounded (rounding g) t) (least_level g)) (greatest_level g))) in *.
  set (n := IZR (rounded (rounding g) t)) in *.
  assert (SUM : exists e, s * (L - z) - (0 * w + s * (lo - z) + ((if Rle_dec w (s * (lo - z)) then 0 else 1 * (w - s * (lo - z)))
      + ((if Rle_dec w (s * (hi - z)) then 0 else -1 * (w - s * (hi - z))) + 0))) = s * e
      /\ (e = 0 \/ lo < t < hi /\ e = n - t)).
  { destruct (Rle_dec t lo) as [C | C]; [| destruct (Rle_dec hi t) as [D | D]].
    - exists 0. rewrite (LOW C). split; [| left; reflexivity].
      destruct (Rle_dec w (s * (lo - z))) as [X | X]; destruct (Rle_dec w (s * (hi - z))) as [Y | Y];
        try (exfalso; specialize (A C); lra). ring.
    - exists 0. rewrite (HIGH D). split; [| left; reflexivity].
      destruct (Rle_dec w (s * (lo - z))) as [X | X]; destruct (Rle_dec w (s * (hi - z))) as [Y | Y];
        specialize (B' D); try (exfalso; lra).
      + assert (E : s * (lo - z) = s * (hi - z)) by lra. nra.
      + assert (E : w = s * (hi - z)) by lra. rewrite E. ring.
      + ring.
    - exists (n - t). rewrite MID by lra. split; [| right; split; [lra | reflexivity]].
      destruct (Rle_dec w (s * (lo - z))) as [X | X]; destruct (Rle_dec w (s * (hi - z))) as [Y | Y].
      + assert (E : w = s * (lo - z)) by (specialize (A' ltac:(lra)); lra). rewrite T in E.
        assert (t = lo) by nra. lra.
      + exfalso; specialize (B ltac:(lra)); lra.
      + rewrite T. ring.
      + exfalso; specialize (B ltac:(lra)); lra. }
  destruct SUM as (e & -> & E).
  unfold errors, ends. cbn [fst snd].
  destruct ((Zpos (size g) * (greatest_level g - zero_point g) <=? l)
      || (u <=? Zpos (size g) * (least_level g - zero_point g)))%Z%bool eqn:F.
  - cbn [fst snd]. enough (e = 0) as -> by lra. destruct E as [| [[C D] _]]; [assumption | exfalso].
    apply orb_prop in F. destruct F as [F | F]; apply Z.leb_le, IZR_le in F;
      rewrite mult_IZR, minus_IZR in F; fold s z lo hi in F; rewrite T in W; nra.
  - pose proof (signs_ok (rounding g)) as [NA NB]. destruct (halves (rounding g)) as [a b]. cbn [fst snd] in *.
    rewrite opp_IZR.
    pose proof (half_ok a (Zpos (size g))) as GA. pose proof (half_ok (- b) (Zpos (size g))) as GB. fold s in GA, GB.
    rewrite opp_IZR in GB.
    assert (A0 : s * IZR a <= 0) by nra. assert (B0 : 0 <= s * IZR b) by nra.
    apply (Rmult_le_compat_l s) in H1, H2; [| lra | lra]. destruct E as [-> | [_ ->]]; lra.
Qed.

Theorem low_error_ok c p l u w : sound c = true -> IZR l <= w <= IZR u ->
  IZR p * (cR c w - fR (close c) w) >= IZR (low_error c p l u).
Proof.
  intros S W. destruct c as [f | g]; [simpl; lra |]. unfold low_error.
  destruct (Z.eqb_spec p 0) as [-> | _]; [lra |]. pose proof (close_ok g l u w S W) as H.
  destruct (errors g l u) as [a b]. cbn [fst snd] in H.
  pose proof (min_l (p * a) (p * b)) as A. pose proof (min_r (p * a) (p * b)) as B. rewrite mult_IZR in A, B.
  set (e := cR (Levels g) w - fR (close (Levels g)) w) in *.
  destruct (Rle_dec 0 (IZR p)); nra.
Qed.

(** * Two quantisers that are one function

    as far as their argument goes: steps of one size, the same rounding, zero points that it moves along, and ends that
    are the same or not reached. *)
Lemma floor_shift t n : floor (t + IZR n) = (floor t + n)%Z.
Proof.
  pose proof (floor_ok t). pose proof (floor_ok (t + IZR n)).
  assert (A : (floor (t + IZR n) < floor t + n + 1)%Z) by (apply lt_IZR; rewrite !plus_IZR; lra).
  assert (B : (floor t + n < floor (t + IZR n) + 1)%Z) by (apply lt_IZR; rewrite !plus_IZR; lra).
  lia.
Qed.
(** Whether a mode rounds t + n to n more than t. *)
Definition moves (m : mode) (n : Z) : bool :=
  ((n =? 0)%Z || match m with Down | Up => true | HalfEven => Z.even n | _ => false end)%bool.
Lemma moves_ok m n t : moves m n = true -> rounded m (t + IZR n) = (rounded m t + n)%Z.
Proof.
  unfold moves. intros M. destruct (Z.eqb_spec n 0) as [-> | N]; [rewrite Rplus_0_r, Z.add_0_r; reflexivity |].
  destruct m; simpl in M; try discriminate; unfold rounded.
  - replace (t + IZR n + 1 / 2) with (t + 1 / 2 + IZR n) by ring. cbv zeta. rewrite floor_shift, plus_IZR.
    assert (E : Z.even (floor (t + 1 / 2) + n) = Z.even (floor (t + 1 / 2)))
      by (rewrite Z.even_add, M; destruct (Z.even (floor _)); reflexivity).
    rewrite E. set (k := floor (t + 1 / 2)) in *.
    destruct (Req_EM_T (IZR k + IZR n) _), (Req_EM_T (IZR k) _); try (exfalso; lra); [destruct (Z.even k) |]; lia.
  - apply floor_shift.
  - unfold ceiling. replace (- (t + IZR n)) with (- t + IZR (- n)) by (rewrite opp_IZR; ring). rewrite floor_shift. lia.
Qed.

(** Whether two ends are one, or are not reached: both at most l; alike for u. *)
Definition cut_alike (g h : grid) (l u : Z) : bool :=
  (((fst (ends g) =? fst (ends h)) || ((fst (ends g) <=? l) && (fst (ends h) <=? l)))
   && ((snd (ends g) =? snd (ends h)) || ((u <=? snd (ends g)) && (u <=? snd (ends h)))))%Z%bool.
Definition same_mode (m m' : mode) : bool :=
  match m, m' with
  | HalfEven, HalfEven | HalfAway, HalfAway | HalfZero, HalfZero | Down, Down | Up, Up | ToZero, ToZero
  | FromZero, FromZero => true
  | _, _ => false
  end.
Definition same_steps (c c' : curve) : bool :=
  match c, c' with
  | Levels g, Levels h =>
      ((size g =? size h)%positive && same_mode (rounding g) (rounding h)
       && moves (rounding g) (zero_point h - zero_point g))%bool
  | _, _ => false
  end.
Definition one_function (c c' : curve) (l u : Z) : bool :=
  match c, c' with
  | Levels g, Levels h => (same_steps c c' && cut_alike g h l u)%bool
  | _, _ => false
  end.

Theorem one_function_ok c c' l u w : sound c = true -> sound c' = true -> IZR l <= w <= IZR u ->
  one_function c c' l u = true -> cR c w = cR c' w.
Proof.
  intros S S' W E. destruct c as [f | g], c' as [f' | h]; simpl in E; try discriminate.
  apply andb_prop in E. destruct E as [E CUT]. apply andb_prop in E. destruct E as [E MOVES].
  apply andb_prop in E. destruct E as [SIZE MODE]. apply Pos.eqb_eq in SIZE.
  assert (M : rounding h = rounding g) by (destruct (rounding g), (rounding h); try discriminate; reflexivity).
  clear MODE. unfold sound in S, S'. cbn [close kinks_of sorted forallb fst] in S, S'.
  rewrite !andb_true_r in S, S'. apply Z.leb_le in S, S'.
  unfold cR, level.
  rewrite M, <- SIZE. set (t := w / IZR (Zpos (size g))).
  replace (t + IZR (zero_point h)) with (t + IZR (zero_point g) + IZR (zero_point h - zero_point g))
    by (rewrite minus_IZR; ring).
  rewrite (moves_ok _ _ _ MOVES). clear MOVES.
  assert (P : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia).
  assert (T : w = IZR (Zpos (size g)) * t) by (unfold t; field; lra).
  (* What is reached in units of w, and what is not. *)
  assert (LOW : forall k, (k = g \/ k = h) -> (fst (ends k) <= l)%Z ->
    (least_level k - zero_point k <= rounded (rounding g) (t + IZR (zero_point g)) - zero_point g)%Z).
  { intros k K L. assert (Q : IZR (least_level k - zero_point k) <= t).
    { assert (size k = size g) as SK by (destruct K as [-> | ->]; congruence).
      unfold ends in L. cbn [fst] in L. rewrite SK in L. apply IZR_le in L. rewrite mult_IZR in L. nra. }
    enough ((least_level k - zero_point k + zero_point g <= rounded (rounding g) (t + IZR (zero_point g)))%Z) by lia.
    apply rounded_above. rewrite plus_IZR. lra. }
  assert (HIGH : forall k, (k = g \/ k = h) -> (u <= snd (ends k))%Z ->
    (rounded (rounding g) (t + IZR (zero_point g)) - zero_point g <= greatest_level k - zero_point k)%Z).
  { intros k K L. assert (Q : t <= IZR (greatest_level k - zero_point k)).
    { assert (size k = size g) as SK by (destruct K as [-> | ->]; congruence).
      unfold ends in L. cbn [snd] in L. rewrite SK in L. apply IZR_le in L. rewrite mult_IZR in L. nra. }
    enough ((rounded (rounding g) (t + IZR (zero_point g)) <= greatest_level k - zero_point k + zero_point g)%Z) by lia.
    apply rounded_below. rewrite plus_IZR. lra. }
  set (n := rounded (rounding g) (t + IZR (zero_point g))) in *.
  assert (SAME : (Z.min (Z.max n (least_level g)) (greatest_level g) - zero_point g
    = Z.min (Z.max (n + (zero_point h - zero_point g)) (least_level h)) (greatest_level h) - zero_point h)%Z).
  { unfold cut_alike in CUT. apply andb_prop in CUT. destruct CUT as [CL CH].
    assert (GS : (least_level g - zero_point g <= greatest_level g - zero_point g)%Z) by (unfold ends in S; cbn [fst snd] in S; nia).
    assert (HS : (least_level h - zero_point h <= greatest_level h - zero_point h)%Z) by (unfold ends in S'; cbn [fst snd] in S'; nia).
    assert (LO : (least_level g - zero_point g = least_level h - zero_point h)%Z
      \/ (least_level g - zero_point g <= n - zero_point g)%Z /\ (least_level h - zero_point h <= n - zero_point g)%Z).
    { apply orb_prop in CL. destruct CL as [C | C].
      - left. apply Z.eqb_eq in C. unfold ends in C. cbn [fst] in C. rewrite <- SIZE in C.
        apply Z.mul_reg_l in C; [exact C | discriminate].
      - right. apply andb_prop in C. destruct C as [A B]. apply Z.leb_le in A, B. split; apply LOW; auto. }
    assert (HI : (greatest_level g - zero_point g = greatest_level h - zero_point h)%Z
      \/ (n - zero_point g <= greatest_level g - zero_point g)%Z /\ (n - zero_point g <= greatest_level h - zero_point h)%Z).
    { apply orb_prop in CH. destruct CH as [C | C].
      - left. apply Z.eqb_eq in C. unfold ends in C. cbn [snd] in C. rewrite <- SIZE in C.
        apply Z.mul_reg_l in C; [exact C | discriminate].
      - right. apply andb_prop in C. destruct C as [A B]. apply Z.leb_le in A, B. split; apply HIGH; auto. }
    lia. }
  rewrite SAME. reflexivity.
Qed.
