(** Functions of neurons: piecewise linear ones, smooth ones (Smooth.v), and quantisers, which have levels instead of slopes.

    A quantiser rounds its argument, over the size of a step and moved by a zero point, to an integer, its level. A level
    that is below the least or above the greatest of its type does not fit: it saturates, which gives the nearest level
    of the type, or it wraps, which counts it modulo the number of levels. What is left is moved back and multiplied by
    the size again. [stays_ok]: whether all levels of an interval fit is decided at its ends, exactly.

    A quantiser has jumps, so no line follows it closely. [close_ok] says how far it is from the piecewise linear function
    that is cut off at the same ends but not rounded: by half a step or one; not at all where everything is cut off; and
    where a level may wrap, by all levels of the type. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Smooth Rounding.
Import ListNotations.
Open Scope R_scope.

(** * Quantisers; the size of a step is given in units of u. *)
Record grid := Grid {
  size : positive; zero_point : Z; least_level : Z; greatest_level : Z; rounding : mode; wraps : bool }.
(** The level of t = v / size before it is brought into the type; whether it fits; and what it is brought to. *)
Definition level_of (g : grid) (t : R) : Z := rounded (rounding g) (t + IZR (zero_point g)).
Definition fits_type (g : grid) (k : Z) : Prop := (least_level g <= k <= greatest_level g)%Z.
Definition brought (g : grid) (k : Z) : Z :=
  (if wraps g then least_level g + (k - least_level g) mod (greatest_level g - least_level g + 1)
   else Z.min (Z.max k (least_level g)) (greatest_level g))%Z.
Definition level (g : grid) (t : R) : Z := (brought g (level_of g t) - zero_point g)%Z.

Lemma brought_within g k : (least_level g <= greatest_level g)%Z -> fits_type g (brought g k).
Proof.
  unfold fits_type, brought. intros O. destruct (wraps g); [| lia].
  pose proof (Z.mod_pos_bound (k - least_level g) (greatest_level g - least_level g + 1) ltac:(lia)). lia.
Qed.
Lemma brought_cut_off g k : wraps g = false \/ fits_type g k -> brought g k = Z.min (Z.max k (least_level g)) (greatest_level g).
Proof.
  unfold fits_type, brought. destruct (wraps g); intros [H | H]; try discriminate; [| reflexivity | reflexivity].
  rewrite Z.mod_small by lia. lia.
Qed.

(** The functions of neurons. *)
Inductive curve := Bent (f : fn) | Levels (g : grid) | Smooth (s : smooth).
Definition curve_value (u : R) (c : curve) (v : R) : R :=
  match c with
  | Bent f => value u f v
  | Levels g => IZR (Zpos (size g)) * u * IZR (level g (v / (IZR (Zpos (size g)) * u)))
  | Smooth s => u * gR s (v / u)
  end.
Definition cR (c : curve) (w : R) : R :=
  match c with
  | Bent f => fR f w
  | Levels g => IZR (Zpos (size g)) * IZR (level g (w / IZR (Zpos (size g))))
  | Smooth s => gR s w
  end.
Lemma curve_value_scaled u c w : 0 < u -> curve_value u c (u * w) = u * cR c w.
Proof.
  intros U. destruct c as [f | g | s]; [apply value_scaled, U | |]; simpl.
  2: { replace (u * w / u) with w by (field; lra). reflexivity. }
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
  | Smooth s => follower s
  end.
Definition sound (c : curve) : bool :=
  (sorted (kinks_of (close c)) && match c with Smooth s => follows s | _ => true end)%bool.
Lemma sound_sorted c : sound c = true -> sorted (kinks_of (close c)) = true.
Proof. intros H. apply andb_prop in H. apply H. Qed.
Lemma smooth_near s w : sound (Smooth s) = true -> Rabs (gR s w - fR (follower s) w) <= IZR (astray s).
Proof. intros H. apply andb_prop in H. destruct H as [S F]. exact (follows_ok s S F w). Qed.

(** Layers have few functions, and to show how far a smooth one may be from its follower takes long: of each it is done once. *)
Fixpoint same_kinks (ks ls : kinks) : bool :=
  match ks, ls with
  | [], [] => true
  | (b, s) :: ks', (b', s') :: ls' => ((b =? b')%Z && (s =? s')%Z && same_kinks ks' ls')%bool
  | _, _ => false
  end.
Definition same_smooth (s t : smooth) : bool :=
  ((Zpos (rise s) =? Zpos (rise t)) && (Zpos (stretch s) =? Zpos (stretch t)) && (foot s =? foot t) && (astray s =? astray t)
   && (base (follower s) =? base (follower t)) && (shift (follower s) =? shift (follower t)))%Z%bool
  && same_kinks (kinks_of (follower s)) (kinks_of (follower t)).
Fixpoint all_sound (shown : list smooth) (cs : list curve) : bool :=
  match cs with
  | [] => true
  | Smooth s :: cs' =>
      if existsb (same_smooth s) shown then all_sound shown cs' else (sound (Smooth s) && all_sound (s :: shown) cs')%bool
  | c :: cs' => (sound c && all_sound shown cs')%bool
  end.
Lemma same_kinks_ok ks : forall ls, same_kinks ks ls = true -> ks = ls.
Proof.
  induction ks as [| [b s] ks IH]; intros [| [b' s'] ls] H; try discriminate; [reflexivity |].
  cbn [same_kinks] in H. apply andb_prop in H. destruct H as [H E]. apply andb_prop in H. destruct H as [B S].
  apply Z.eqb_eq in B, S. rewrite B, S, (IH _ E). reflexivity.
Qed.
Lemma same_smooth_ok s t : same_smooth s t = true -> s = t.
Proof.
  unfold same_smooth. rewrite !andb_true_iff, !Z.eqb_eq. destruct s as [a b c [d e f] g], t as [a' b' c' [d' e' f'] g'].
  cbn [rise stretch foot follower astray base shift kinks_of]. intros ((((((A & B) & C) & G) & D) & E) & F).
  injection A as ->. injection B as ->. rewrite C, G, D, E, (same_kinks_ok _ _ F). reflexivity.
Qed.
Lemma all_sound_ok cs : forall shown, Forall (fun s => sound (Smooth s) = true) shown -> all_sound shown cs = true ->
  Forall (fun c => sound c = true) cs.
Proof.
  induction cs as [| c cs IH]; intros shown HS H; [constructor |]. destruct c as [f | g | s]; cbn [all_sound] in H.
  1, 2: apply andb_prop in H; destruct H; constructor; eauto.
  destruct (existsb (same_smooth s) shown) eqn:E.
  - constructor; [| eauto]. apply existsb_exists in E. destruct E as (t & I & E). apply same_smooth_ok in E. subst t.
    rewrite Forall_forall in HS. exact (HS s I).
  - apply andb_prop in H. destruct H. constructor; [assumption |]. eapply IH; [| eassumption]. constructor; assumption.
Qed.

(** * Whether all levels of an interval fit

    Twice an argument is compared with numbers that are twice those at which the rounding passes an end of the type. *)
Definition highest_kept (g : grid) : Z * bool :=
  let (a, closed) := top (rounding g) (greatest_level g) in
  (Zpos (size g) * (2 * (greatest_level g - zero_point g) + a), closed)%Z.
Definition lowest_kept (g : grid) : Z * bool :=
  let (a, closed) := bottom (rounding g) (least_level g) in
  (Zpos (size g) * (2 * (least_level g - zero_point g) - a), closed)%Z.
Definition is_under (closed : bool) (a b : Z) : bool := if closed then (a <=? b)%Z else (a <? b)%Z.
Definition stays (g : grid) (l u : Z) : bool :=
  (is_under (snd (lowest_kept g)) (fst (lowest_kept g)) (2 * l)
   && is_under (snd (highest_kept g)) (2 * u) (fst (highest_kept g)))%Z%bool.

Lemma highest_kept_ok g w : under (snd (highest_kept g)) (2 * w) (IZR (fst (highest_kept g))) ->
  (level_of g (w / IZR (Zpos (size g))) <= greatest_level g)%Z.
Proof.
  intros H. apply top_ok. unfold highest_kept in H. destruct (top _ _) as [a closed]. cbn [fst snd] in *.
  assert (S : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia). set (s := IZR (Zpos (size g))) in *.
  rewrite mult_IZR, plus_IZR, mult_IZR, minus_IZR in H. fold s in H.
  assert (E : w = s * (w / s)) by (field; lra). set (t := w / s) in *.
  destruct closed; unfold under in *; nra.
Qed.
Lemma lowest_kept_ok g w : under (snd (lowest_kept g)) (IZR (fst (lowest_kept g))) (2 * w) ->
  (least_level g <= level_of g (w / IZR (Zpos (size g))))%Z.
Proof.
  intros H. apply bottom_ok. unfold lowest_kept in H. destruct (bottom _ _) as [a closed]. cbn [fst snd] in *.
  assert (S : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia). set (s := IZR (Zpos (size g))) in *.
  rewrite mult_IZR, minus_IZR, mult_IZR, minus_IZR in H. fold s in H.
  assert (E : w = s * (w / s)) by (field; lra). set (t := w / s) in *.
  destruct closed; unfold under in *; nra.
Qed.
Lemma is_under_ok closed a b x y : is_under closed a b = true -> x <= IZR a -> IZR b <= y -> under closed x y.
Proof.
  unfold is_under, under. destruct closed; intros H X Y; [apply Z.leb_le, IZR_le in H | apply Z.ltb_lt, IZR_lt in H]; lra.
Qed.
Theorem stays_ok g l u w : stays g l u = true -> IZR l <= w <= IZR u -> fits_type g (level_of g (w / IZR (Zpos (size g)))).
Proof.
  intros H W. apply andb_prop in H. destruct H as [L H]. split; [apply lowest_kept_ok | apply highest_kept_ok].
  - apply (is_under_ok _ _ _ _ _ L); rewrite ?mult_IZR; lra.
  - apply (is_under_ok _ _ _ _ _ H); rewrite ?mult_IZR; lra.
Qed.
(** Whether a quantiser saturates, or does as if: nothing wraps. *)
Definition settled (g : grid) (l u : Z) : bool := (negb (wraps g) || stays g l u)%bool.
Lemma settled_ok g l u w : settled g l u = true -> IZR l <= w <= IZR u ->
  brought g (level_of g (w / IZR (Zpos (size g))))
    = Z.min (Z.max (level_of g (w / IZR (Zpos (size g)))) (least_level g)) (greatest_level g).
Proof.
  intros H W. apply brought_cut_off. unfold settled in H. apply orb_prop in H. destruct H as [H | H].
  - left. apply negb_true_iff, H.
  - right. apply (stays_ok g l u); assumption.
Qed.

(** By how much a curve differs from it on [l, u]. *)
Definition span (g : grid) : Z := (Zpos (size g) * (greatest_level g - least_level g))%Z.
Definition errors (g : grid) (l u : Z) : Z * Z :=
  (if negb (settled g l u) then (- span g, span g)
   else if (snd (ends g) <=? l) || (u <=? fst (ends g)) then (0, 0)
   else let (a, b) := halves (rounding g) in ((a * Zpos (size g)) / 2, - ((- b * Zpos (size g)) / 2)))%Z%bool.
Definition low_error (c : curve) (p l u : Z) : Z :=
  match c with
  | Bent _ => 0%Z
  | Levels g => if (p =? 0)%Z then 0%Z else let (a, b) := errors g l u in Z.min (p * a) (p * b)
  | Smooth s => (- (Z.abs p * astray s))%Z
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
  unfold errors. destruct (settled g l u) eqn:SETTLED; cbn [negb].
  2: {
    pose proof (brought_within g (level_of g (w / IZR (Zpos (size g)))) O) as [B1 B2].
    apply IZR_le in B1, B2. unfold fR, cR, close, level, ends, hR, span. cbn [base shift kinks_of fst snd].
    rewrite !opp_IZR, !mult_IZR, !minus_IZR.
    set (s := IZR (Zpos (size g))) in *. set (z := IZR (zero_point g)) in *. set (k := IZR (brought _ _)) in *.
    set (lo := IZR (least_level g)) in *. set (hi := IZR (greatest_level g)) in *.
    assert (s * (lo - z) <= s * (k - z) <= s * (hi - z)) by (split; nra).
    destruct (Rle_dec w (s * (lo - z))), (Rle_dec w (s * (hi - z))); lra. }
  pose proof (settled_ok g l u w SETTLED W) as CUT.
  unfold level_of in CUT.
  set (t := w / IZR (Zpos (size g)) + IZR (zero_point g)).
  assert (T : w = IZR (Zpos (size g)) * (t - IZR (zero_point g))) by (unfold t; field; lra).
  unfold fR, cR, close, level, level_of, ends, hR. cbn [base shift kinks_of fst snd]. fold t. fold t in CUT. rewrite CUT.
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
  unfold ends. cbn [fst snd].
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
  intros S W. destruct c as [f | g | s]; [simpl; lra | |]; unfold low_error.
  2: {
    pose proof (smooth_near s w S) as H. cbn [close cR]. rewrite opp_IZR, mult_IZR, abs_IZR.
    set (d := gR s w - fR (follower s) w) in *. pose proof (Rle_abs (- (IZR p * d))) as A. rewrite Rabs_Ropp, Rabs_mult in A.
    apply (Rmult_le_compat_l (Rabs (IZR p))) in H; [lra | apply Rabs_pos]. }
  destruct (Z.eqb_spec p 0) as [-> | _]; [lra |]. pose proof (close_ok g l u w S W) as H.
  destruct (errors g l u) as [a b]. cbn [fst snd] in H.
  pose proof (min_l (p * a) (p * b)) as A. pose proof (min_r (p * a) (p * b)) as B. rewrite mult_IZR in A, B.
  set (e := cR (Levels g) w - fR (close (Levels g)) w) in *.
  destruct (Rle_dec 0 (IZR p)); nra.
Qed.

(** * Differences of a function at two places

    Those of a smooth function are its own; those of a quantiser, of the function that it follows. *)
Definition drawn (c : curve) (w : R) : R := match c with Smooth s => gR s w | _ => fR (close c) w end.
Definition slopes_on (c : curve) (l u : Z) : Z * Z :=
  match c with Smooth s => smooth_slopes s l u | _ => (steepest_down (close c) l u, steepest_up (close c) l u) end.
Lemma slopes_on_ok c l u x y : sound c = true -> IZR l <= y -> y <= x -> x <= IZR u ->
  IZR (fst (slopes_on c l u)) * (x - y) <= drawn c x - drawn c y <= IZR (snd (slopes_on c l u)) * (x - y).
Proof.
  intros S L M U. pose proof (slopes_ok (close c) l u x y (sound_sorted c S) L M U) as H.
  destruct c as [f | g | s]; [exact H | exact H |]. apply smooth_slopes_ok; auto. intros w. apply smooth_near, S.
Qed.

(** * Two quantisers that are one function

    as far as their argument goes: steps of one size, the same rounding, zero points that it moves along, and ends that
    are the same or not reached. Two that wrap have the same ends, or are taken as ones that saturate, where no level wraps. *)
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
  | Levels g, Levels h =>
      (same_steps c c'
       && ((settled g l u && settled h l u && cut_alike g h l u)
           || (wraps g && wraps h && (fst (ends g) =? fst (ends h))%Z && (snd (ends g) =? snd (ends h))%Z)))%bool
  | _, _ => false
  end.

Theorem one_function_ok c c' l u w : sound c = true -> sound c' = true -> IZR l <= w <= IZR u ->
  one_function c c' l u = true -> cR c w = cR c' w.
Proof.
  intros S S' W E. destruct c as [f | g | f], c' as [f' | h | f']; unfold one_function in E; try discriminate.
  apply andb_prop in E. destruct E as [E WAYS]. unfold same_steps in E. apply andb_prop in E. destruct E as [E MOVES].
  apply andb_prop in E. destruct E as [SIZE MODE]. apply Pos.eqb_eq in SIZE.
  assert (M : rounding h = rounding g) by (destruct (rounding g), (rounding h); try discriminate; reflexivity).
  clear MODE. unfold sound in S, S'. cbn [close kinks_of sorted forallb fst] in S, S'.
  rewrite !andb_true_r in S, S'. apply Z.leb_le in S, S'.
  apply orb_prop in WAYS. destruct WAYS as [CUT | TURNS]; cycle 1.
  { (* Both wrap in the same type. *)
    apply andb_prop in TURNS. destruct TURNS as [TURNS E2]. apply andb_prop in TURNS. destruct TURNS as [TURNS E1].
    apply andb_prop in TURNS. destruct TURNS as [WG WH]. apply Z.eqb_eq in E1, E2. unfold ends in E1, E2. cbn [fst snd] in E1, E2.
    rewrite <- SIZE in E1, E2. apply Z.mul_reg_l in E1; [| discriminate]. apply Z.mul_reg_l in E2; [| discriminate].
    unfold cR, level, brought, level_of. rewrite WG, WH, M, <- SIZE. set (t := w / IZR (Zpos (size g))).
    replace (t + IZR (zero_point h)) with (t + IZR (zero_point g) + IZR (zero_point h - zero_point g))
      by (rewrite minus_IZR; ring).
    rewrite (moves_ok _ _ _ MOVES). set (k := rounded _ _). f_equal. f_equal.
    replace (k + (zero_point h - zero_point g) - least_level h)%Z with (k - least_level g)%Z by lia.
    replace (greatest_level h - least_level h)%Z with (greatest_level g - least_level g)%Z by lia. lia. }
  apply andb_prop in CUT. destruct CUT as [SETTLED CUT]. apply andb_prop in SETTLED. destruct SETTLED as [SG SH].
  pose proof (settled_ok g l u w SG W) as BG. pose proof (settled_ok h l u w SH W) as BH.
  unfold cR, level. rewrite BG, BH. clear BG BH SG SH. unfold level_of.
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
