(** Logistic functions of one variable: sigmoid, and tanh, which is 2 sigmoid (2 v) - 1.

    A smooth function is followed by a piecewise linear one, which comes with it and is not trusted. [follows] calculates
    that it is nowhere farther away than is said: at the kinks by enclosures of the exponential ([enclosed_ok]), between
    two of them by how far a chord may be from a function whose second derivative is bounded ([chord_ok]), and outside by
    the two limits. Of differences more is known: they lie between the least and the greatest slope on an interval times
    the distance ([smooth_slopes_ok]), where the slope at an end is that of the follower's value, s (1 - s). *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions.
Import ListNotations.
Open Scope R_scope.

Definition sigmoid (t : R) : R := / (1 + exp (- t)).
(** foot + rise sigmoid (w / stretch), in multiples of u; the function that follows it, and how far it may be astray. *)
Record smooth := Logistic { rise : positive; stretch : positive; foot : Z; follower : fn; astray : Z }.
Definition gR (s : smooth) (w : R) : R := IZR (foot s) + IZR (Zpos (rise s)) * sigmoid (w / IZR (Zpos (stretch s))).

(** * Sigmoid *)
Lemma sigmoid_between t : 0 < sigmoid t < 1.
Proof.
  unfold sigmoid. pose proof (exp_pos (- t)). split; [apply Rinv_0_lt_compat; lra |].
  rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.
Lemma sigmoid_up x y : x <= y -> sigmoid x <= sigmoid y.
Proof.
  intros H. unfold sigmoid. pose proof (exp_pos (- y)). apply Rinv_le_contravar; [lra |].
  assert (exp (- y) <= exp (- x)); [| lra].
  destruct (Rle_lt_or_eq_dec x y H) as [L | ->]; [| lra]. left. apply exp_increasing. lra.
Qed.
Lemma sigmoid_0 : sigmoid 0 = 1 / 2.
Proof. unfold sigmoid. rewrite Ropp_0, exp_0. field. Qed.
Definition slope_of (s : R) : R := s * (1 - s).
Lemma sigmoid_derivative t : derivable_pt_lim sigmoid t (slope_of (sigmoid t)).
Proof.
  assert (D : derivable_pt_lim (fun t => exp (- t)) t (exp (- t) * -1)).
  { apply (derivable_pt_lim_comp (fun t => - t) exp t (-1)); [| apply derivable_pt_lim_exp].
    replace (-1) with (- (1)) by ring. apply (derivable_pt_lim_opp id). apply derivable_pt_lim_id. }
  pose proof (exp_pos (- t)) as P.
  assert (S : derivable_pt_lim (fct_cte 1 + (fun t => exp (- t)))%F t (0 + exp (- t) * -1))
    by (apply derivable_pt_lim_plus; [apply derivable_pt_lim_const | exact D]).
  pose proof (derivable_pt_lim_div (fct_cte 1) _ t 0 _ (derivable_pt_lim_const 1 t) S) as Q.
  unfold plus_fct, div_fct, fct_cte in Q. specialize (Q ltac:(lra)).
  replace (slope_of (sigmoid t)) with ((0 * (1 + exp (- t)) - (0 + exp (- t) * -1) * 1) / Rsqr (1 + exp (- t))).
  - intros e E. destruct (Q e E) as [d H]. exists d. intros h H1 H2. specialize (H h H1 H2). unfold sigmoid.
    unfold Rdiv in H at 2 3. rewrite !Rmult_1_l in H. exact H.
  - unfold slope_of, sigmoid, Rsqr. field. lra.
Qed.
Lemma mean_value x y : x <= y -> exists c, x <= c <= y /\ sigmoid y - sigmoid x = slope_of (sigmoid c) * (y - x).
Proof.
  intros H. destruct (Rle_lt_or_eq_dec x y H) as [L | ->]; [| exists y; split; [lra | ring]].
  destruct (MVT_cor2 sigmoid (fun t => slope_of (sigmoid t)) x y L) as (c & E & B); [intros; apply sigmoid_derivative |].
  exists c. split; [lra | exact E].
Qed.
(** The second derivative. *)
Lemma slope_derivative t :
  derivable_pt_lim (fun t => slope_of (sigmoid t)) t (slope_of (sigmoid t) * (1 - 2 * sigmoid t)).
Proof.
  pose proof (sigmoid_derivative t) as D. set (d := slope_of (sigmoid t)) in *.
  assert (M : derivable_pt_lim (fct_cte 1 - sigmoid)%F t (0 - d))
    by (apply derivable_pt_lim_minus; [apply derivable_pt_lim_const | exact D]).
  pose proof (derivable_pt_lim_mult _ _ t _ _ D M) as Q. unfold minus_fct, fct_cte, mult_fct in Q.
  replace (d * (1 - 2 * sigmoid t)) with (d * (1 - sigmoid t) + sigmoid t * (0 - d)) by ring. exact Q.
Qed.
Lemma bend_bounded s : 0 <= s <= 1 -> - (1 / 10) <= slope_of s * (1 - 2 * s) <= 1 / 10.
Proof.
  intros H. unfold slope_of.
  assert (K : forall d, 0 <= d -> d - d * d * d <= 4 / 10).
  { intros d P. assert (0 <= (d - 58 / 100) * (d - 58 / 100) * (d + 116 / 100)).
    { apply Rmult_le_pos; [| lra]. pose proof (Rle_0_sqr (d - 58 / 100)) as Q. exact Q. }
    lra. }
  set (d := 1 - 2 * s). assert (E : s * (1 - s) * d = (d - d * d * d) / 4) by (unfold d; field).
  destruct (Rle_dec 0 d) as [P | P].
  - pose proof (K d P). assert (0 <= d <= 1) by (unfold d in *; lra). assert (0 <= d * (1 - d * d)) by (apply Rmult_le_pos; nra). lra.
  - pose proof (K (- d) ltac:(lra)). assert (0 <= - d <= 1) by (unfold d in *; lra).
    assert (0 <= (- d) * (1 - d * d)) by (apply Rmult_le_pos; nra). lra.
Qed.
Lemma bend_far s : 0 <= s <= 1 ->
  (- (1 - s) <= slope_of s * (1 - 2 * s) <= 1 - s) /\ (- s <= slope_of s * (1 - 2 * s) <= s).
Proof.
  intros H. unfold slope_of. assert (A : -1 <= s * (1 - 2 * s) <= 1) by (split; nra).
  assert (B : -1 <= (1 - s) * (1 - 2 * s) <= 1) by (split; nra).
  replace (s * (1 - s) * (1 - 2 * s)) with ((1 - s) * (s * (1 - 2 * s))) by ring.
  assert (C : (1 - s) * (s * (1 - 2 * s)) = s * ((1 - s) * (1 - 2 * s))) by ring.
  split; [| rewrite C]; split; nra.
Qed.
(** Between a and b the second derivative is at most k: 1/10 at any place, and little where sigmoid is nearly 1 or 0. *)
Definition bends_by (k a b : R) : Prop := 1 / 10 <= k \/ 1 - sigmoid a <= k \/ sigmoid b <= k.
Lemma slopes_near k a b x y : bends_by k a b -> a <= x -> x <= y -> y <= b ->
  - ((y - x) * k) <= slope_of (sigmoid y) - slope_of (sigmoid x) <= (y - x) * k.
Proof.
  intros K A H B. destruct (Rle_lt_or_eq_dec x y H) as [L | ->]; [| lra].
  destruct (MVT_cor2 _ _ x y L (fun c _ => slope_derivative c)) as (c & E & C). cbv beta in E. rewrite E.
  pose proof (sigmoid_between c) as S. pose proof (bend_bounded (sigmoid c) ltac:(lra)). pose proof (bend_far (sigmoid c) ltac:(lra)).
  pose proof (sigmoid_up a c ltac:(lra)). pose proof (sigmoid_up c b ltac:(lra)).
  set (d := slope_of (sigmoid c) * (1 - 2 * sigmoid c)) in *.
  assert (- k <= d <= k) by (destruct K as [K | [K | K]]; lra). split; nra.
Qed.

(** How far a chord is from it: the sum of a parabola and sigmoid, or of it and minus sigmoid, is convex. *)
Lemma below_chord (k : R) f f' a b t : (forall c, derivable_pt_lim f c (f' c)) ->
  (forall x y, a <= x -> x <= y -> y <= b -> f' x - f' y <= (y - x) * k) -> a < b -> 0 <= t <= 1 ->
  f ((1 - t) * a + t * b) <= (1 - t) * f a + t * f b + k * t * (1 - t) * (b - a) * (b - a) / 2.
Proof.
  intros D I L T. set (g := fun x => k / 2 * Rsqr x + f x). set (g' := fun x => k / 2 * (2 * x) + f' x).
  assert (DG : forall c, derivable_pt_lim g c (g' c)).
  { intros c. apply (derivable_pt_lim_plus (fun x => k / 2 * Rsqr x) f); [| apply D].
    apply (derivable_pt_lim_scal Rsqr (k / 2)). apply derivable_pt_lim_Rsqr. }
  set (v := (1 - t) * a + t * b).
  enough (g v <= (1 - t) * g a + t * g b) by (unfold g, Rsqr, v in *; nra).
  destruct (Req_dec t 0) as [-> | T0]; [replace v with a by (unfold v; ring); lra |].
  destruct (Req_dec t 1) as [-> | T1]; [replace v with b by (unfold v; ring); lra |].
  assert (A : a < v) by (unfold v; nra). assert (B : v < b) by (unfold v; nra).
  destruct (MVT_cor2 g g' a v A (fun c _ => DG c)) as (c1 & E1 & B1).
  destruct (MVT_cor2 g g' v b B (fun c _ => DG c)) as (c2 & E2 & B2).
  assert (M : g' c1 <= g' c2) by (pose proof (I c1 c2 ltac:(lra) ltac:(lra) ltac:(lra)); unfold g'; lra).
  assert (V1 : v - a = t * (b - a)) by (unfold v; ring). assert (V2 : b - v = (1 - t) * (b - a)) by (unfold v; ring).
  rewrite V1 in E1. rewrite V2 in E2.
  assert ((1 - t) * (g v - g a) - t * (g b - g v) <= 0); [| lra]. rewrite E1, E2.
  replace ((1 - t) * (g' c1 * (t * (b - a))) - t * (g' c2 * ((1 - t) * (b - a))))
    with (- (t * (1 - t) * (b - a) * (g' c2 - g' c1))) by ring.
  assert (0 <= t * (1 - t) * (b - a)) by (apply Rmult_le_pos; [nra | lra]). nra.
Qed.
Lemma chord_ok k a b t : bends_by k a b -> a < b -> 0 <= t <= 1 ->
  Rabs (sigmoid ((1 - t) * a + t * b) - ((1 - t) * sigmoid a + t * sigmoid b)) <= k * ((b - a) * (b - a)) / 8.
Proof.
  intros K L T. assert (K0 : 0 <= k).
  { pose proof (sigmoid_between a). pose proof (sigmoid_between b). destruct K as [K | [K | K]]; lra. }
  pose proof (below_chord k sigmoid _ a b t sigmoid_derivative) as U.
  pose proof (below_chord k (fun x => - sigmoid x) (fun x => - slope_of (sigmoid x)) a b t) as W. cbv beta in U, W.
  specialize (U ltac:(intros x y A H B; pose proof (slopes_near k a b x y K A H B); lra) L T).
  specialize (W ltac:(intros c; apply (derivable_pt_lim_opp sigmoid), sigmoid_derivative)
    ltac:(intros x y A H B; pose proof (slopes_near k a b x y K A H B); lra) L T).
  assert (Q : t * (1 - t) <= 1 / 4) by (pose proof (Rle_0_sqr (t - 1 / 2)) as Q; unfold Rsqr in Q; lra).
  pose proof (Rle_0_sqr (b - a)) as X. unfold Rsqr in X.
  assert (Y : 0 <= k * ((b - a) * (b - a))) by (apply Rmult_le_pos; assumption). apply (Rmult_le_compat_l _ _ _ Y) in Q.
  assert (P : k * t * (1 - t) * (b - a) * (b - a) / 2 <= k * ((b - a) * (b - a)) / 8) by lra.
  apply Rabs_le. lra.
Qed.

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
