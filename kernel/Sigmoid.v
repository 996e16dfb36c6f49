(** The real function sigmoid: how steep it is and how much it bends, which is all that Smooth.v uses of it.

    Its slope is s (1 - s) where its value is s ([slope_of]). A chord is as far from it at most as the second derivative
    allows, which is at most 1/10 anywhere, and less where sigmoid is near 0 or 1 ([chord_ok]). *)
From Coq Require Import Reals Lia Lra Psatz.
Open Scope R_scope.

Definition sigmoid (t : R) : R := / (1 + exp (- t)).

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
