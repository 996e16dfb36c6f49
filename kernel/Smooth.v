(** Logistic functions of one variable: sigmoid, and tanh, which is 2 sigmoid (2 v) - 1.

    A smooth function is followed by a piecewise linear one, which comes with it and is not trusted. [follows] calculates
    that it is nowhere farther away than is said: at the kinks by enclosures of the exponential ([enclosed_ok]), between
    two of them by how far a chord may be from a function whose second derivative is bounded ([chord_ok] in Sigmoid.v), and
    outside by the two limits. Of differences more is known: they lie between the least and the greatest slope on an
    interval times the distance ([smooth_slopes_ok]), where the slope at an end is that of the follower's value, s (1 - s). *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Sigmoid.
Import ListNotations.
Open Scope R_scope.

(** foot + rise sigmoid (w / stretch), in multiples of u; the function that follows it, and how far it may be astray. *)
Record smooth := Logistic { rise : positive; stretch : positive; foot : Z; follower : fn; astray : Z }.
Definition gR (s : smooth) (w : R) : R := IZR (foot s) + IZR (Zpos (rise s)) * sigmoid (w / IZR (Zpos (stretch s))).

(** * Enclosures: exp (-a / T) is the 2^squarings-th power of exp (-x), x = a / (T 2^squarings), which is between 1 - x and 1 / (1 + x) *)
Definition one : Z := (2 ^ 80)%Z.
Definition squarings : nat := 32.
Definition parts_of : Z := (2 ^ 32)%Z.
Definition ceil_div (a b : Z) : Z := (- (- a / b))%Z.
Definition square_down (x : Z) : Z := (x * x / one)%Z.
Definition square_up (x : Z) : Z := ceil_div (x * x) one.
Definition exp_low (a T : Z) : Z := Nat.iter squarings square_down (Z.max 0 (one - ceil_div (one * a) (T * parts_of))).
Definition exp_high (a T : Z) : Z := Nat.iter squarings square_up (ceil_div (one * (T * parts_of)) (T * parts_of + a)).

Lemma floor_below a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros P. pose proof (Z.mul_div_le a b P) as H. apply IZR_le in H. rewrite mult_IZR in H. apply IZR_lt in P.
  apply (Rmult_le_reg_l (IZR b)); [exact P |]. replace (IZR b * (IZR a / IZR b)) with (IZR a) by (field; lra). exact H.
Qed.
Lemma ceil_above a b : (0 < b)%Z -> IZR a / IZR b <= IZR (ceil_div a b).
Proof.
  intros P. unfold ceil_div. pose proof (floor_below (- a) b P) as H. rewrite !opp_IZR in *. unfold Rdiv in *. lra.
Qed.
Lemma one_over_0 : (0 < one)%Z.
Proof. reflexivity. Qed.
Lemma one_pos : 0 < IZR one.
Proof. apply IZR_lt, one_over_0. Qed.
Lemma halved_power y n : exp (y / 2 / 2 ^ n) = exp (y / 2 ^ S n).
Proof. f_equal. simpl. field. apply pow_nonzero. lra. Qed.
Lemma exp_doubled y : exp y = exp (y / 2) * exp (y / 2).
Proof. rewrite <- exp_plus. f_equal. field. Qed.
Lemma squares_down x n : (0 <= x)%Z -> forall y, IZR x <= IZR one * exp (y / 2 ^ n) ->
  (0 <= Nat.iter n square_down x)%Z /\ IZR (Nat.iter n square_down x) <= IZR one * exp y.
Proof.
  intros P. induction n as [| n IH]; intros y H.
  - simpl in *. replace (y / 1) with y in H by field. auto.
  - destruct (IH (y / 2)) as [A B]; [rewrite halved_power; exact H |]. cbn [Nat.iter nat_rect].
    change (nat_rect _ _ _ n) with (Nat.iter n square_down x). set (z := Nat.iter n square_down x) in *.
    unfold square_down. split; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; exact A | exact one_over_0] |].
    eapply Rle_trans; [apply floor_below, one_over_0 |]. rewrite mult_IZR, (exp_doubled y).
    pose proof one_pos as O. set (e := exp (y / 2)) in *. apply IZR_le in A.
    apply (Rmult_le_reg_r (IZR one)); [exact O |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    replace (IZR one * (e * e) * IZR one) with ((IZR one * e) * (IZR one * e)) by ring. apply Rmult_le_compat; lra.
Qed.
Lemma squares_up x n : forall y, IZR one * exp (y / 2 ^ n) <= IZR x -> IZR one * exp y <= IZR (Nat.iter n square_up x).
Proof.
  induction n as [| n IH]; intros y H.
  - simpl in *. replace (y / 1) with y in H by field. exact H.
  - specialize (IH (y / 2)). rewrite halved_power in IH. specialize (IH H). cbn [Nat.iter nat_rect].
    change (nat_rect _ _ _ n) with (Nat.iter n square_up x). set (z := Nat.iter n square_up x) in *. unfold square_up.
    eapply Rle_trans; [| apply ceil_above, one_over_0]. rewrite mult_IZR, (exp_doubled y).
    pose proof one_pos as O. pose proof (exp_pos (y / 2)) as EP. set (e := exp (y / 2)) in *.
    apply (Rmult_le_reg_r (IZR one)); [exact O |]. unfold Rdiv. rewrite (Rmult_assoc _ (/ IZR one)), Rinv_l, Rmult_1_r by lra.
    replace (IZR one * (e * e) * IZR one) with ((IZR one * e) * (IZR one * e)) by ring.
    assert (0 <= IZR one * e) by nra. apply Rmult_le_compat; lra.
Qed.
Lemma parts_power : IZR parts_of = 2 ^ squarings.
Proof. unfold parts_of, squarings. rewrite (pow_IZR 2 32). reflexivity. Qed.
Lemma parts_over_0 : (0 < parts_of)%Z.
Proof. reflexivity. Qed.
Local Opaque one parts_of squarings.
Lemma exp_enclosed a T : (0 <= a)%Z -> (0 < T)%Z ->
  (0 <= exp_low a T)%Z /\ IZR (exp_low a T) <= IZR one * exp (- (IZR a / IZR T)) <= IZR (exp_high a T).
Proof.
  intros A P. assert (PN : (0 < T * parts_of)%Z) by (apply Z.mul_pos_pos; [exact P | exact parts_over_0]).
  assert (RA := IZR_le _ _ A). assert (RP := IZR_lt _ _ P). assert (RN := IZR_lt _ _ PN). pose proof one_pos as O.
  assert (E : - (IZR a / IZR T) / 2 ^ squarings = - (IZR a / IZR (T * parts_of))).
  { rewrite <- parts_power, mult_IZR. pose proof (IZR_lt _ _ parts_over_0). field. lra. }
  set (x := IZR a / IZR (T * parts_of)) in *.
  assert (X : 0 <= x) by (unfold x; apply Rmult_le_pos; [exact RA | left; apply Rinv_0_lt_compat, RN]).
  assert (LOW : (0 <= exp_low a T)%Z /\ IZR (exp_low a T) <= IZR one * exp (- (IZR a / IZR T))).
  { unfold exp_low. apply squares_down; [apply Z.le_max_l |]. rewrite E. pose proof (exp_pos (- x)).
    destruct (Z.max_spec 0 (one - ceil_div (one * a) (T * parts_of))) as [[_ ->] | [_ ->]]; [| nra].
    pose proof (ceil_above (one * a) _ PN) as C. rewrite mult_IZR in C. rewrite minus_IZR.
    pose proof (exp_ineq1_le (- x)) as G. replace (IZR one * IZR a / IZR (T * parts_of)) with (IZR one * x) in C by (unfold x; field; lra).
    nra. }
  split; [apply LOW |]. split; [apply LOW |]. unfold exp_high. apply squares_up. rewrite E.
  eapply Rle_trans; [| apply ceil_above; apply Z.add_pos_nonneg; [exact PN | exact A]]. rewrite mult_IZR, plus_IZR.
  pose proof (exp_ineq1_le x) as G. rewrite exp_Ropp.
  replace (IZR one * IZR (T * parts_of) / (IZR (T * parts_of) + IZR a)) with (IZR one * / (1 + x)) by (unfold x; field; lra).
  apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra.
Qed.

(** The function at a multiple of u. *)
Definition enclosed (s : smooth) (w : Z) : Z * Z :=
  (let a := Z.abs w in
   let T := Zpos (stretch s) in
   let H := Zpos (rise s) in
   let lo := exp_low a T in
   let hi := exp_high a T in
   if 0 <=? w then (foot s + H * one / (one + hi), foot s + ceil_div (H * one) (one + lo))
   else (foot s + H * lo / (one + lo), foot s + ceil_div (H * hi) (one + hi)))%Z.
Lemma part_up x y : 0 <= x -> x <= y -> x / (1 + x) <= y / (1 + y).
Proof.
  intros X Y. apply (Rmult_le_reg_r ((1 + x) * (1 + y))); [nra |].
  replace (x / (1 + x) * ((1 + x) * (1 + y))) with (x * (1 + y)) by (field; lra).
  replace (y / (1 + y) * ((1 + x) * (1 + y))) with (y * (1 + x)) by (field; lra). nra.
Qed.
Theorem enclosed_ok s w : IZR (fst (enclosed s w)) <= gR s (IZR w) <= IZR (snd (enclosed s w)).
Proof.
  unfold enclosed, gR. set (T := Zpos (stretch s)). set (H := Zpos (rise s)). assert (PT : (0 < T)%Z) by reflexivity.
  assert (RH : 0 < IZR H) by (apply IZR_lt; reflexivity).
  destruct (exp_enclosed (Z.abs w) T (Z.abs_nonneg w) PT) as (P & L & U). pose proof one_pos as O.
  pose proof (exp_pos (- (IZR (Z.abs w) / IZR T))) as EP. set (e := exp (- (IZR (Z.abs w) / IZR T))) in *.
  set (lo := exp_low (Z.abs w) T) in *. set (hi := exp_high (Z.abs w) T) in *.
  assert (RL := IZR_le _ _ P). apply IZR_lt in PT.
  assert (PH : (0 < one + hi)%Z) by (apply lt_IZR; rewrite plus_IZR; nra).
  assert (PL : (0 < one + lo)%Z) by (apply lt_IZR; rewrite plus_IZR; nra).
  assert (QL : 0 <= IZR lo / IZR one) by (apply Rmult_le_pos; [exact RL | left; apply Rinv_0_lt_compat, O]).
  assert (L' : IZR lo / IZR one <= e).
  { apply (Rmult_le_reg_l (IZR one)); [exact O |]. replace (IZR one * (IZR lo / IZR one)) with (IZR lo) by (field; lra). exact L. }
  assert (U' : e <= IZR hi / IZR one).
  { apply (Rmult_le_reg_l (IZR one)); [exact O |]. replace (IZR one * (IZR hi / IZR one)) with (IZR hi) by (field; lra). exact U. }
  set (l := IZR lo / IZR one) in *. set (h := IZR hi / IZR one) in *.
  assert (EL : IZR lo = IZR one * l) by (unfold l; field; lra). assert (EH : IZR hi = IZR one * h) by (unfold h; field; lra).
  destruct (Z.leb_spec 0 w) as [W | W]; cbn [fst snd]; rewrite !plus_IZR.
  - pose proof (floor_below (H * one) (one + hi) PH) as F. pose proof (ceil_above (H * one) (one + lo) PL) as C.
    rewrite mult_IZR, plus_IZR in F, C. rewrite EH in F. rewrite EL in C.
    assert (G : sigmoid (IZR w / IZR T) = / (1 + e)) by (unfold sigmoid, e; rewrite Z.abs_eq by exact W; reflexivity). rewrite G.
    replace (IZR H * IZR one / (IZR one + IZR one * h)) with (IZR H * / (1 + h)) in F by (field; lra).
    replace (IZR H * IZR one / (IZR one + IZR one * l)) with (IZR H * / (1 + l)) in C by (field; lra).
    pose proof (Rinv_le_contravar (1 + e) (1 + h) ltac:(lra) ltac:(lra)) as X.
    pose proof (Rinv_le_contravar (1 + l) (1 + e) ltac:(lra) ltac:(lra)) as Y.
    apply (Rmult_le_compat_l (IZR H)) in X, Y; lra.
  - pose proof (floor_below (H * lo) (one + lo) PL) as F. pose proof (ceil_above (H * hi) (one + hi) PH) as C.
    rewrite mult_IZR, plus_IZR in F, C. rewrite EL in F. rewrite EH in C.
    assert (G : sigmoid (IZR w / IZR T) = e / (1 + e)).
    { unfold sigmoid, e. rewrite Z.abs_neq, opp_IZR by lia. set (z := IZR w / IZR T).
      replace (- (- IZR w / IZR T)) with z by (unfold z; field; lra). rewrite exp_Ropp. pose proof (exp_pos z). field. lra. }
    rewrite G.
    replace (IZR H * (IZR one * l) / (IZR one + IZR one * l)) with (IZR H * (l / (1 + l))) in F by (field; lra).
    replace (IZR H * (IZR one * h) / (IZR one + IZR one * h)) with (IZR H * (h / (1 + h))) in C by (field; lra).
    pose proof (part_up l e QL L') as X. pose proof (part_up e h ltac:(lra) U') as Y.
    apply (Rmult_le_compat_l (IZR H)) in X, Y; lra.
Qed.

(** * How far the follower is astray *)
Definition off_at (s : smooth) (w : Z) : Z :=
  (let '(lo, hi) := enclosed s w in let v := fZ (follower s) w in Z.max (hi - v) (v - lo))%Z.
(** How much it bends between a and b, times its rise; and how far it may be off there, beside what it is at both. *)
Definition bend (s : smooth) (a b : Z) : Z :=
  Z.min (ceil_div (Zpos (rise s)) 10)
    (Z.min (foot s + Zpos (rise s) - fst (enclosed s a)) (snd (enclosed s b) - foot s)).
Definition bow (s : smooth) (a b : Z) : Z :=
  ceil_div (bend s a b * ((b - a) * (b - a))) (8 * (Zpos (stretch s) * Zpos (stretch s)))%Z.
(** From place a on, at which it is astray by ea. *)
Fixpoint follows_from (s : smooth) (a ea : Z) (ks : kinks) : bool :=
  (match ks with
   | [] => (Z.abs (foot s + Zpos (rise s) - fZ (follower s) a) <=? astray s)
   | (b, _) :: ks' =>
       let eb := off_at s b in
       (a <? b) && (eb <=? astray s) && (Z.max ea eb + bow s a b <=? astray s) && follows_from s b eb ks'
   end)%Z%bool.
Definition follows (s : smooth) : bool :=
  match kinks_of (follower s) with
  | [] => false
  | (a, _) :: ks =>
      let ea := off_at s a in
      ((base (follower s) =? 0) && (turns (kinks_of (follower s)) =? 0) && (ea <=? astray s)
       && (Z.abs (foot s - fZ (follower s) a) <=? astray s) && follows_from s a ea ks)%Z%bool
  end.

Lemma off_at_ok s w : Rabs (gR s (IZR w) - fR (follower s) (IZR w)) <= IZR (off_at s w).
Proof.
  unfold off_at. pose proof (enclosed_ok s w) as E. destruct (enclosed s w) as [lo hi]. cbn [fst snd] in E. rewrite f_IZR.
  set (v := fZ (follower s) w). pose proof (max_l (hi - v) (v - lo)) as A. pose proof (max_r (hi - v) (v - lo)) as B.
  rewrite minus_IZR in A, B. apply Rabs_le. lra.
Qed.
Lemma gR_up s x y : x <= y -> gR s x <= gR s y.
Proof.
  intros H. unfold gR. assert (P : 0 < IZR (Zpos (rise s))) by (apply IZR_lt; reflexivity).
  assert (Q : 0 < / IZR (Zpos (stretch s))) by (apply Rinv_0_lt_compat, IZR_lt; reflexivity).
  pose proof (sigmoid_up (x / IZR (Zpos (stretch s))) (y / IZR (Zpos (stretch s))) ltac:(apply Rmult_le_compat_r; lra)) as U.
  apply (Rmult_le_compat_l (IZR (Zpos (rise s)))) in U; lra.
Qed.
Lemma gR_limits s x : IZR (foot s) <= gR s x <= IZR (foot s + Zpos (rise s)).
Proof.
  unfold gR. rewrite plus_IZR. assert (P : 0 < IZR (Zpos (rise s))) by (apply IZR_lt; reflexivity).
  pose proof (sigmoid_between (x / IZR (Zpos (stretch s)))). split; nra.
Qed.
Lemma h_beyond ks l v : Forall (fun k => (fst k <= l)%Z) ks -> IZR l <= v ->
  hR ks v = hR ks (IZR l) + IZR (turns ks) * (v - IZR l).
Proof.
  intros F V. induction F as [| [b t] ks B F IH]; simpl; [ring |]. fold (turns ks). rewrite IH, plus_IZR. simpl in B. apply IZR_le in B.
  destruct (Rle_dec v (IZR b)); destruct (Rle_dec (IZR l) (IZR b)); try lra.
  - assert (v = IZR l) by lra. subst. lra.
  - assert (IZR l = IZR b) by lra. nra.
Qed.

Lemma bend_ok s a b : let T := IZR (Zpos (stretch s)) in
  bends_by (IZR (bend s a b) / IZR (Zpos (rise s))) (IZR a / T) (IZR b / T).
Proof.
  cbv zeta. assert (P : 0 < IZR (Zpos (rise s))) by (apply IZR_lt; reflexivity).
  pose proof (proj1 (enclosed_ok s a)) as A. pose proof (proj2 (enclosed_ok s b)) as B. unfold gR in A, B. unfold bend, bends_by.
  assert (G : forall z q, IZR (Zpos (rise s)) * q <= IZR z -> q <= IZR z / IZR (Zpos (rise s))).
  { intros z q H. apply (Rmult_le_reg_l (IZR (Zpos (rise s)))); [exact P |].
    replace (IZR (Zpos (rise s)) * (IZR z / IZR (Zpos (rise s)))) with (IZR z) by (field; lra). exact H. }
  destruct (Z.min_spec (ceil_div (Zpos (rise s)) 10)
    (Z.min (foot s + Zpos (rise s) - fst (enclosed s a)) (snd (enclosed s b) - foot s))) as [[_ ->] | [_ ->]].
  - left. apply G. eapply Rle_trans; [| apply ceil_above; reflexivity]. lra.
  - right. destruct (Z.min_spec (foot s + Zpos (rise s) - fst (enclosed s a)) (snd (enclosed s b) - foot s)) as [[_ ->] | [_ ->]];
      [left | right]; apply G; rewrite ?minus_IZR, ?plus_IZR; lra.
Qed.

(** Between two neighbours the follower is a chord. *)
Lemma near_chord s a b w : free (kinks_of (follower s)) a b -> (a < b)%Z -> IZR a <= w <= IZR b ->
  Rabs (gR s w - fR (follower s) w) <= IZR (Z.max (off_at s a) (off_at s b) + bow s a b).
Proof.
  intros F L W. apply IZR_lt in L. destruct (affine _ _ _ F) as (c & d & H).
  pose proof (off_at_ok s a) as OA. pose proof (off_at_ok s b) as OB.
  unfold fR in *. rewrite (H w W). rewrite (H (IZR a)) in OA by lra. rewrite (H (IZR b)) in OB by lra.
  assert (T : 0 < IZR (Zpos (stretch s))) by (apply IZR_lt; reflexivity).
  assert (P : 0 < IZR (Zpos (rise s))) by (apply IZR_lt; reflexivity).
  set (t := (w - IZR a) / (IZR b - IZR a)).
  assert (TW : w = (1 - t) * IZR a + t * IZR b) by (unfold t; field; lra).
  assert (T01 : 0 <= t <= 1).
  { unfold t. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
    apply (Rmult_le_reg_r (IZR b - IZR a)); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  unfold gR in *. set (T' := IZR (Zpos (stretch s))) in *. set (H' := IZR (Zpos (rise s))) in *.
  assert (AB : IZR a / T' < IZR b / T') by (apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, T | exact L]).
  pose proof (chord_ok _ _ _ t (bend_ok s a b) AB T01) as C. fold T' H' in C. set (k := IZR (bend s a b) / H') in *.
  replace ((1 - t) * (IZR a / T') + t * (IZR b / T')) with (w / T') in C by (rewrite TW; field; lra).
  assert (CC : H' * (k * ((IZR b / T' - IZR a / T') * (IZR b / T' - IZR a / T')) / 8) <= IZR (bow s a b)).
  { unfold bow. eapply Rle_trans; [| apply ceil_above; reflexivity]. rewrite !mult_IZR, minus_IZR. fold T'. right. unfold k. field. lra. }
  rewrite plus_IZR. pose proof (max_l (off_at s a) (off_at s b)) as MA. pose proof (max_r (off_at s a) (off_at s b)) as MB.
  set (m := IZR (Z.max (off_at s a) (off_at s b))) in *.
  set (sa := sigmoid (IZR a / T')) in *. set (sb := sigmoid (IZR b / T')) in *. set (sw := sigmoid (w / T')) in *.
  assert (C1 : H' * (sw - ((1 - t) * sa + t * sb)) <= IZR (bow s a b)).
  { eapply Rle_trans; [| exact CC]. apply Rmult_le_compat_l; [lra |]. eapply Rle_trans; [apply Rle_abs | exact C]. }
  assert (C2 : - IZR (bow s a b) <= H' * (sw - ((1 - t) * sa + t * sb))).
  { pose proof (Rle_abs (- (sw - ((1 - t) * sa + t * sb)))) as G. rewrite Rabs_Ropp in G.
    apply (Rmult_le_compat_l H') in C; [| lra]. apply (Rmult_le_compat_l H') in G; [| lra]. lra. }
  set (A := IZR (foot s) + H' * sa - (IZR (base (follower s)) * IZR a + IZR (shift (follower s)) + (c * IZR a + d))) in *.
  set (B := IZR (foot s) + H' * sb - (IZR (base (follower s)) * IZR b + IZR (shift (follower s)) + (c * IZR b + d))) in *.
  assert (A1 : - m <= A <= m) by (pose proof (Rle_abs A); pose proof (Rle_abs (- A)) as G; rewrite Rabs_Ropp in G; lra).
  assert (B1 : - m <= B <= m) by (pose proof (Rle_abs B); pose proof (Rle_abs (- B)) as G; rewrite Rabs_Ropp in G; lra).
  match goal with |- Rabs ?x <= _ => replace x with ((1 - t) * A + t * B + H' * (sw - ((1 - t) * sa + t * sb)))
    by (unfold A, B; rewrite TW; ring) end.
  assert (- m <= (1 - t) * A + t * B <= m) by (split; nra). apply Rabs_le. lra.
Qed.

Lemma follows_from_ok s ks : forall a x, sorted ((a, x) :: ks) = true -> follows_from s a (off_at s a) ks = true ->
  exists last, (a <= last)%Z /\ Forall (fun k => (fst k <= last)%Z) ks
  /\ (Z.abs (foot s + Zpos (rise s) - fZ (follower s) last) <= astray s)%Z
  /\ (off_at s a <= astray s -> off_at s last <= astray s)%Z
  /\ (forall w, IZR a <= w <= IZR last -> w = IZR a \/ exists l u, (a <= l)%Z /\ (l < u)%Z /\ IZR l <= w <= IZR u
      /\ free ks l u /\ (Z.max (off_at s l) (off_at s u) + bow s l u <= astray s)%Z).
Proof.
  induction ks as [| [b y] ks IH]; intros a x S H; cbn [follows_from] in H.
  - exists a. apply Z.leb_le in H. repeat split; auto; try lia. intros w W. left. lra.
  - apply andb_prop in H. destruct H as [H REST]. apply andb_prop in H. destruct H as [H BOW].
    apply andb_prop in H. destruct H as [AB EB]. apply Z.ltb_lt in AB. apply Z.leb_le in EB, BOW.
    assert (S' : sorted ((b, y) :: ks) = true) by (simpl in S |- *; apply andb_prop in S; apply S).
    destruct (IH b y S' REST) as (last & LB & F & E & O & IN). exists last. repeat split; try lia.
    + constructor; [simpl; lia | exact F].
    + intros w W. destruct (Rle_dec w (IZR b)) as [L | L].
      * right. exists a, b. repeat split; try lia; try lra. intros p q [I | I]; [inversion I; lia |].
        simpl in S'. apply andb_prop in S'. destruct S' as [S' _]. rewrite forallb_forall in S'. specialize (S' _ I).
        simpl in S'. apply Z.leb_le in S'. lia.
      * destruct (IN w ltac:(lra)) as [-> | (l & u & AL & LU & WW & FR & BB)]; [lra |].
        right. exists l, u. repeat split; try lia; try lra. intros p q [I | I]; [inversion I; lia | eauto].
Qed.
Theorem follows_ok s : sorted (kinks_of (follower s)) = true -> follows s = true ->
  forall w, Rabs (gR s w - fR (follower s) w) <= IZR (astray s).
Proof.
  intros S H w. unfold follows in H. destruct (kinks_of (follower s)) as [| [a x] ks] eqn:K; [discriminate |].
  apply andb_prop in H. destruct H as [H REST]. apply andb_prop in H. destruct H as [H FOOT].
  apply andb_prop in H. destruct H as [H EA]. apply andb_prop in H. destruct H as [B T].
  apply Z.eqb_eq in B, T. apply Z.leb_le in EA, FOOT.
  destruct (follows_from_ok s ks a x S REST) as (last & LA & F & TOP & EL & IN).
  assert (G : forall l u, IZR l <= w <= IZR u -> (a <= l)%Z -> (l < u)%Z -> free ks l u ->
    (Z.max (off_at s l) (off_at s u) + bow s l u <= astray s)%Z -> Rabs (gR s w - fR (follower s) w) <= IZR (astray s)).
  { intros l u W AL LU FR BB. eapply Rle_trans; [| apply IZR_le, BB]. apply near_chord; auto. rewrite K.
    intros p q [I | I]; [inversion I; lia | eauto]. }
  assert (FA : forallb (fun k => a <=? fst k)%Z ((a, x) :: ks) = true).
  { simpl in S |- *. rewrite Z.leb_refl. apply andb_prop in S. apply S. }
  destruct (Rle_dec w (IZR a)) as [L | L]; [| destruct (Rle_dec (IZR last) w) as [M | M]].
  - assert (E : forall v, v <= IZR a -> fR (follower s) v = IZR (shift (follower s))).
    { intros v V. unfold fR. rewrite K, B, (h_below _ a v FA V). ring. }
    pose proof (E w L) as E1. pose proof (E (IZR a) ltac:(lra)) as E2. pose proof E2 as E3. rewrite f_IZR in E3.
    pose proof (off_at_ok s a) as O. rewrite E2 in O. rewrite E1. apply IZR_le in EA, FOOT. rewrite abs_IZR, minus_IZR, E3 in FOOT.
    pose proof (gR_up s _ _ L). pose proof (gR_limits s w) as [LO _].
    pose proof (Rle_abs (gR s (IZR a) - IZR (shift (follower s)))).
    pose proof (Rle_abs (- (IZR (foot s) - IZR (shift (follower s))))) as G'. rewrite Rabs_Ropp in G'. apply Rabs_le. lra.
  - assert (FL : Forall (fun k => (fst k <= last)%Z) ((a, x) :: ks)) by (constructor; auto).
    assert (E : fR (follower s) w = fR (follower s) (IZR last)).
    { unfold fR. rewrite K, B, (h_beyond _ last w FL M), T. ring. }
    pose proof (off_at_ok s last) as O. rewrite E. rewrite f_IZR in *. specialize (EL EA). apply IZR_le in EL, TOP.
    rewrite abs_IZR, minus_IZR in TOP. pose proof (gR_up s _ _ M). pose proof (gR_limits s w) as [_ HI].
    set (v := IZR (fZ (follower s) last)) in *. pose proof (Rle_abs (IZR (foot s + Zpos (rise s)) - v)).
    pose proof (Rle_abs (- (gR s (IZR last) - v))) as G'. rewrite Rabs_Ropp in G'. apply Rabs_le. lra.
  - destruct (IN w ltac:(lra)) as [-> | (l & u & AL & LU & WW & FR & BB)]; [lra | eauto].
Qed.

(** * Slopes: between the least and the greatest one on an interval *)
Definition value_above (s : smooth) (w : Z) : Z := Z.max 0 (Z.min (Zpos (rise s)) (fZ (follower s) w - foot s)).
Definition slope_under (s : smooth) (w : Z) : Z :=
  (let v := value_above s w in
   (v * (Zpos (rise s) - v) - astray s * Zpos (rise s)) / (Zpos (rise s) * Zpos (stretch s)))%Z.
Definition slope_over (s : smooth) (w : Z) : Z :=
  (let v := value_above s w in
   ceil_div (v * (Zpos (rise s) - v) + astray s * Zpos (rise s)) (Zpos (rise s) * Zpos (stretch s)))%Z.
Definition smooth_slopes (s : smooth) (l u : Z) : Z * Z :=
  (Z.max 0 (Z.min (slope_under s l) (slope_under s u)),
   let top := ceil_div (Zpos (rise s)) (4 * Zpos (stretch s)) in
   Z.min top (if u <? 0 then slope_over s u else if 0 <? l then slope_over s l else top))%Z%bool.

Lemma slope_at s w : (forall w, Rabs (gR s w - fR (follower s) w) <= IZR (astray s)) ->
  let q := IZR (Zpos (rise s)) * slope_of (sigmoid (IZR w / IZR (Zpos (stretch s)))) / IZR (Zpos (stretch s)) in
  IZR (slope_under s w) <= q <= IZR (slope_over s w).
Proof.
  intros F. specialize (F (IZR w)). rewrite f_IZR in F. unfold gR in F. cbv zeta.
  set (T := Zpos (stretch s)) in *. set (H := Zpos (rise s)) in *.
  assert (PT : 0 < IZR T) by (apply IZR_lt; reflexivity). assert (PH : 0 < IZR H) by (apply IZR_lt; reflexivity).
  set (g := sigmoid (IZR w / IZR T)) in *. pose proof (sigmoid_between (IZR w / IZR T)) as G. fold g in G.
  set (v := value_above s w). set (e := IZR (astray s)) in *.
  assert (V : 0 <= IZR v <= IZR H /\ - e <= IZR v - IZR H * g <= e).
  { assert (- e <= IZR (fZ (follower s) w - foot s) - IZR H * g <= e).
    { rewrite minus_IZR. set (x := IZR (foot s) + IZR H * g - IZR (fZ (follower s) w)) in *.
      pose proof (Rle_abs x). pose proof (Rle_abs (- x)) as N. rewrite Rabs_Ropp in N. unfold x in *. lra. }
    assert (0 <= IZR H * g <= IZR H) by (split; nra).
    unfold v, value_above. fold H. set (z := (fZ (follower s) w - foot s)%Z) in *.
    assert (C : (Z.max 0 (Z.min H z) = 0 /\ z <= 0 \/ Z.max 0 (Z.min H z) = H /\ H <= z \/ Z.max 0 (Z.min H z) = z /\ 0 <= z <= H)%Z)
      by (unfold H; lia).
    destruct C as [[-> A] | [[-> A] | [-> [A B]]]]; [| | apply IZR_le in B]; apply IZR_le in A; split; lra. }
  destruct V as [V1 V2].
  assert (D : - (e * IZR H) <= IZR v * (IZR H - IZR v) - IZR H * g * (IZR H - IZR H * g) <= e * IZR H).
  { set (z := IZR H * g) in *. assert (Z1 : 0 <= z <= IZR H) by (unfold z; split; nra).
    replace (IZR v * (IZR H - IZR v) - z * (IZR H - z)) with ((IZR v - z) * (IZR H - IZR v - z)) by ring.
    set (k := IZR H - IZR v - z) in *. assert (- IZR H <= k <= IZR H) by (unfold k; lra). set (d := IZR v - z) in *.
    assert (0 <= e) by lra. split; nra. }
  assert (Q : IZR H * slope_of g / IZR T = IZR H * g * (IZR H - IZR H * g) / (IZR H * IZR T)) by (unfold slope_of; field; lra).
  rewrite Q. assert (I : 0 < / (IZR H * IZR T)) by (apply Rinv_0_lt_compat; nra).
  unfold slope_under, slope_over. fold v H T. split.
  - eapply Rle_trans; [apply floor_below; reflexivity |]. rewrite minus_IZR, !mult_IZR, minus_IZR. apply Rmult_le_compat_r; [lra |]. fold e. lra.
  - eapply Rle_trans; [| apply ceil_above; reflexivity]. rewrite plus_IZR, !mult_IZR, minus_IZR. apply Rmult_le_compat_r; [lra |]. fold e. lra.
Qed.
Theorem smooth_slopes_ok s l u x y : (forall w, Rabs (gR s w - fR (follower s) w) <= IZR (astray s)) ->
  IZR l <= y -> y <= x -> x <= IZR u ->
  IZR (fst (smooth_slopes s l u)) * (x - y) <= gR s x - gR s y <= IZR (snd (smooth_slopes s l u)) * (x - y).
Proof.
  intros F L M U. assert (T : 0 < IZR (Zpos (stretch s))) by (apply IZR_lt; reflexivity).
  assert (P : 0 < IZR (Zpos (rise s))) by (apply IZR_lt; reflexivity).
  pose proof (slope_at s l F) as [UL OL]. pose proof (slope_at s u F) as [UU OU].
  unfold gR. set (T' := IZR (Zpos (stretch s))) in *. set (H := IZR (Zpos (rise s))) in *.
  assert (TI : 0 < / T') by (apply Rinv_0_lt_compat, T).
  destruct (mean_value (y / T') (x / T')) as (c & C & E); [apply Rmult_le_compat_r; lra |].
  assert (LC : IZR l / T' <= c) by (assert (IZR l / T' <= y / T') by (apply Rmult_le_compat_r; lra); lra).
  assert (UC : c <= IZR u / T') by (assert (x / T' <= IZR u / T') by (apply Rmult_le_compat_r; lra); lra).
  pose proof (sigmoid_up _ _ LC) as SL. pose proof (sigmoid_up _ _ UC) as SU. pose proof (sigmoid_between c) as SC.
  replace (IZR (foot s) + H * sigmoid (x / T') - (IZR (foot s) + H * sigmoid (y / T'))) with (H * slope_of (sigmoid c) / T' * (x - y))
    by (replace (sigmoid (x / T')) with (sigmoid (y / T') + slope_of (sigmoid c) * (x / T' - y / T')) by lra; field; lra).
  assert (HT : 0 < H / T') by (apply Rmult_lt_0_compat; assumption).
  assert (MONO : forall a b, slope_of a <= slope_of b -> H * slope_of a / T' <= H * slope_of b / T').
  { intros a b AB. unfold Rdiv. apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra. }
  set (sc := sigmoid c) in *. set (sl := sigmoid (IZR l / T')) in *. set (su := sigmoid (IZR u / T')) in *.
  assert (TOP : H * slope_of sc / T' <= IZR (ceil_div (Zpos (rise s)) (4 * Zpos (stretch s)))).
  { eapply Rle_trans; [| apply ceil_above; reflexivity]. rewrite mult_IZR. fold H T'.
    assert (slope_of sc <= 1 / 4) by (unfold slope_of; pose proof (Rle_0_sqr (sc - 1 / 2)) as Q; unfold Rsqr in Q; lra).
    replace (H / (4 * T')) with (H / T' * (1 / 4)) by (field; lra).
    replace (H * slope_of sc / T') with (H / T' * slope_of sc) by (field; lra). apply Rmult_le_compat_l; lra. }
  unfold smooth_slopes. cbn [fst snd]. set (top := ceil_div _ (4 * _)) in *. split; apply times_le; try lra.
  - assert (Q0 : 0 <= H * slope_of sc / T').
    { unfold slope_of. apply Rmult_le_pos; [| lra]. apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; lra. }
    destruct (Z.max_spec 0 (Z.min (slope_under s l) (slope_under s u))) as [[_ ->] | [_ ->]]; [| exact Q0].
    pose proof (min_l (slope_under s l) (slope_under s u)). pose proof (min_r (slope_under s l) (slope_under s u)).
    destruct (Rle_dec (slope_of sl) (slope_of sc)) as [A | A]; [pose proof (MONO _ _ A); lra |].
    destruct (Rle_dec (slope_of su) (slope_of sc)) as [B | B]; [pose proof (MONO _ _ B); lra |].
    exfalso. unfold slope_of in A, B. assert (1 < sc + sl) by nra. assert (sc + su < 1) by nra. lra.
  - match goal with |- _ <= IZR (Z.min _ ?z) => destruct (Z.min_spec top z) as [[_ ->] | [_ ->]] end; [exact TOP |].
    destruct (Z.ltb_spec u 0) as [N | N]; [| destruct (Z.ltb_spec 0 l) as [N' | N']; [| exact TOP]].
    + apply IZR_lt in N. assert (SH : su <= 1 / 2).
      { unfold su. rewrite <- sigmoid_0. apply sigmoid_up. unfold Rdiv. nra. }
      assert (slope_of sc <= slope_of su) by (unfold slope_of; nra). pose proof (MONO _ _ H0). lra.
    + apply IZR_lt in N'. assert (SH : 1 / 2 <= sl).
      { unfold sl. rewrite <- sigmoid_0. apply sigmoid_up. unfold Rdiv. nra. }
      assert (slope_of sc <= slope_of sl) by (unfold slope_of; nra). pose proof (MONO _ _ H0). lra.
Qed.
