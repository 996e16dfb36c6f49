(** By how much the first of some classes is ahead of others if it has at least a given part delta of the softmax.

    [margins_of_group_ok]: where class j has weight a_j, of A together, and t_j is at most log (A delta / (a_j (1 - delta))),
    the first class is ahead of the others by a sum of a_j t_j, weighted in the same way. All weights together say what the
    entropy of weights says of the whole softmax. That the t_j are small enough is calculated in integers. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Networks.
Import ListNotations.
Open Scope R_scope.

Definition rat := (Z * positive)%type.
Definition real (r : rat) : R := IZR (fst r) / IZR (Zpos (snd r)).

(** Some classes, each with a weight and with the margin of a class that has this share of what a confidence leaves. *)
Definition group := list (nat * (Z * rat)).
Fixpoint sum_exp (F : list R) : R := match F with [] => 0 | x :: F' => exp x + sum_exp F' end.
Fixpoint distinct (S : list nat) : bool :=
  match S with [] => true | j :: S' => (negb (existsb (Nat.eqb j) S') && distinct S')%bool end.
Fixpoint weighted_lead (k : nat) (S : group) (F : list R) : R :=
  match S with [] => 0 | (j, (a, _)) :: S' => IZR a * (nth k F 0 - nth j F 0) + weighted_lead k S' F end.

Definition square (x : Z) : Z := (x * x)%Z.
(** Of class j with weight a, of A together: (1 - t / N)^N A >= a (1 - delta) / delta. *)
Fixpoint total_weight (S : group) : Z := match S with [] => 0%Z | (_, (a, _)) :: S' => (a + total_weight S')%Z end.
Definition margin_of_share (delta : rat) (powers : nat) (all : Z) (e : nat * (Z * rat)) : bool :=
  let a := fst (snd e) in
  let t := snd (snd e) in
  let den := (Zpos (snd t) * 2 ^ Z.of_nat powers)%Z in
  let num := (den - fst t)%Z in
  let n := Nat.iter powers square num in
  let d := Nat.iter powers square den in
  ((0 <=? a) && (0 <=? num) && ((Zpos (snd delta) - fst delta) * a * d <=? n * fst delta * all))%Z%bool.
Definition margins_of_group (delta : rat) (powers : nat) (S : group) : bool :=
  ((0 <? fst delta) && (fst delta <? Zpos (snd delta)))%Z%bool && forallb (margin_of_share delta powers (total_weight S)) S.

(** * Proof *)
Lemma real_den (r : rat) : 0 < IZR (Zpos (snd r)).
Proof. apply pos_IZR. Qed.
Lemma iterated_squares num den y powers : (0 <= num)%Z -> (0 < den)%Z -> IZR num / IZR den <= exp (y / 2 ^ powers) ->
  (0 <= Nat.iter powers square num)%Z /\ (0 < Nat.iter powers square den)%Z
  /\ IZR (Nat.iter powers square num) / IZR (Nat.iter powers square den) <= exp y.
Proof.
  intros N D. revert y. induction powers as [| p IH]; intros y H.
  - simpl in *. replace (y / 1) with y in H by field. auto.
  - destruct (IH (y / 2)) as (A & B & C).
    { replace (y / 2 / 2 ^ p) with (y / 2 ^ S p); [exact H |]. simpl. field. apply pow_nonzero. lra. }
    change (Nat.iter (S p) square num) with (square (Nat.iter p square num)).
    change (Nat.iter (S p) square den) with (square (Nat.iter p square den)).
    set (n := Nat.iter p square num) in *. set (d := Nat.iter p square den) in *. unfold square.
    split; [apply Z.mul_nonneg_nonneg; exact A |]. split; [apply Z.mul_pos_pos; exact B |].
    rewrite !mult_IZR. apply IZR_le in A. apply IZR_lt in B.
    replace (IZR n * IZR n / (IZR d * IZR d)) with ((IZR n / IZR d) * (IZR n / IZR d)) by (field; lra).
    replace y with (y / 2 + y / 2) by field. rewrite exp_plus.
    assert (0 <= IZR n / IZR d) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    apply Rmult_le_compat; lra.
Qed.
Fixpoint sum_over (f : nat -> R) (S : list nat) : R := match S with [] => 0 | j :: S' => f j + sum_over f S' end.
Lemma sum_over_app f S T : sum_over f (S ++ T) = sum_over f S + sum_over f T.
Proof. induction S as [| j S IH]; simpl; lra. Qed.
Lemma sum_over_nonneg f S : (forall j, 0 <= f j) -> 0 <= sum_over f S.
Proof. intros P. induction S as [| j S IH]; simpl; [lra |]. specialize (P j). lra. Qed.
Lemma sum_over_some f S : (forall j, 0 <= f j) -> NoDup S -> forall T, incl S T -> sum_over f S <= sum_over f T.
Proof.
  intros P. induction S as [| j S IH]; intros N T I; [apply sum_over_nonneg, P |]. inversion N as [| ? ? A B]; subst.
  destruct (in_split j T (I j (or_introl eq_refl))) as (T1 & T2 & ->). rewrite sum_over_app. simpl.
  assert (J : incl S (T1 ++ T2)).
  { intros x X. specialize (I x (or_intror X)). apply in_app_iff in I. apply in_app_iff.
    destruct I as [I | [I | I]]; auto. subst. contradiction. }
  specialize (IH B _ J). rewrite sum_over_app in IH. lra.
Qed.
Lemma sum_over_shifted f S : sum_over f (map Datatypes.S S) = sum_over (fun j => f (Datatypes.S j)) S.
Proof. induction S as [| j S IH]; simpl; congruence. Qed.
Lemma sum_exp_over F : sum_exp F = sum_over (fun j => exp (nth j F 0)) (seq 0 (length F)).
Proof.
  induction F as [| x F IH]; [reflexivity |]. simpl. rewrite <- seq_shift, sum_over_shifted, IH. reflexivity.
Qed.
Lemma distinct_ok S : distinct S = true -> NoDup S.
Proof.
  induction S as [| j S IH]; simpl; intros H; constructor; apply andb_prop in H; destruct H as [A B]; auto.
  intros I. apply negb_true_iff in A. assert (X : existsb (Nat.eqb j) S = true)
    by (apply existsb_exists; exists j; split; [exact I | apply Nat.eqb_refl]). congruence.
Qed.

(** Of the softmax of class j the tangent of exp at -t is taken, t by its own share: what it has bounds by how much it is behind k. *)
Definition weighted_margins (S : group) : R := fold_right (fun e s => IZR (fst (snd e)) * real (snd (snd e)) + s) 0 S.
Lemma decay_ok t powers (den := (Zpos (snd t) * 2 ^ Z.of_nat powers)%Z) : (0 <= den - fst t)%Z ->
  (0 < Nat.iter powers square den)%Z
  /\ IZR (Nat.iter powers square (den - fst t)%Z) / IZR (Nat.iter powers square den) <= exp (- real t).
Proof.
  intros N. assert (P : (0 < 2 ^ Z.of_nat powers)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (HD : (0 < den)%Z) by (apply Z.mul_pos_pos; lia).
  apply (iterated_squares _ _ _ _ N HD). replace (IZR (den - fst t) / IZR den) with (1 + (- real t / 2 ^ powers)).
  - apply exp_ineq1_le.
  - rewrite minus_IZR. unfold den, real. rewrite mult_IZR.
    replace (IZR (2 ^ Z.of_nat powers)) with (2 ^ powers) by (rewrite pow_IZR; reflexivity).
    pose proof (real_den t). assert (2 ^ powers <> 0) by (apply pow_nonzero; lra). field. lra.
Qed.
Lemma total_weight_nonneg delta powers all S : forallb (margin_of_share delta powers all) S = true -> (0 <= total_weight S)%Z.
Proof.
  induction S as [| (j, (a, t)) S IH]; intros H; simpl in *; [lia |]. apply andb_prop in H. destruct H as [H HS].
  specialize (IH HS). unfold margin_of_share in H. apply andb_prop in H. destruct H as [H _].
  apply andb_prop in H. destruct H as [H _]. apply Z.leb_le in H. simpl in H. lia.
Qed.
Lemma share_below delta powers all S F k : (0 < fst delta)%Z -> (fst delta < Zpos (snd delta))%Z -> (0 <= all)%Z ->
  forallb (margin_of_share delta powers all) S = true ->
  sum_over (fun j => exp (nth j F 0)) (map fst S) * (IZR (fst delta) * IZR all)
  >= exp (nth k F 0) * (IZR (Zpos (snd delta)) - IZR (fst delta))
     * (IZR (total_weight S) - weighted_lead k S F + weighted_margins S).
Proof.
  intros H1 H2 PA. apply IZR_lt in H1, H2. apply IZR_le in PA. induction S as [| (j, (a, t)) S IH]; intros H.
  - simpl. lra.
  - simpl in H. apply andb_prop in H. destruct H as [H HS]. specialize (IH HS). clear HS.
    unfold margin_of_share in H. cbn [fst snd] in H. apply andb_prop in H. destruct H as [H H5].
    apply andb_prop in H. destruct H as [H3 H4]. apply Z.leb_le in H3, H4, H5.
    destruct (decay_ok t powers H4) as [B X].
    set (n := Nat.iter powers square (_ - _)%Z) in *. set (d := Nat.iter powers square (_ * _)%Z) in *.
    apply IZR_le in H3, H5. apply IZR_lt in B. rewrite !mult_IZR, minus_IZR in H5.
    cbn [map fst sum_over total_weight weighted_lead weighted_margins fold_right snd]. fold (weighted_margins S).
    rewrite plus_IZR.
    set (x := nth k F 0) in *. set (y := nth j F 0) in *. set (p := IZR (fst delta)) in *.
    set (q := IZR (Zpos (snd delta))) in *. set (A := IZR all) in *.
    assert (Y : (q - p) * IZR a <= exp (- real t) * (p * A)).
    { apply (Rmult_le_reg_r (IZR d)); [exact B |]. eapply Rle_trans; [exact H5 |].
      replace (IZR n * p * A) with (IZR n / IZR d * (p * A) * IZR d) by (field; lra).
      apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | exact X]. }
    assert (E : exp y = exp x * exp (- real t) * exp (y - x + real t)) by (rewrite <- !exp_plus; f_equal; ring).
    pose proof (exp_ineq1_le (y - x + real t)) as G. pose proof (exp_pos x) as PX. pose proof (exp_pos (y - x + real t)) as PE.
    assert (V : exp y * (p * A) >= exp x * (q - p) * (IZR a * (1 - (x - y) + real t))).
    { rewrite E. replace (exp x * exp (- real t) * exp (y - x + real t) * (p * A))
        with (exp x * exp (y - x + real t) * (exp (- real t) * (p * A))) by ring.
      apply Rle_ge. eapply Rle_trans; [| apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact Y]].
      replace (exp x * (q - p) * (IZR a * (1 - (x - y) + real t)))
        with (exp x * ((q - p) * IZR a) * (1 + (y - x + real t))) by ring.
      replace (exp x * exp (y - x + real t) * ((q - p) * IZR a)) with (exp x * ((q - p) * IZR a) * exp (y - x + real t)) by ring.
      apply Rmult_le_compat_l; [| exact G]. apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; lra. }
    lra.
Qed.
Theorem margins_of_group_ok delta powers S F k : margins_of_group delta powers S = true ->
  distinct (k :: map fst S) = true -> (k < length F)%nat -> (forall j, In j (map fst S) -> (j < length F)%nat) ->
  exp (nth k F 0) / sum_exp F >= real delta -> weighted_lead k S F >= weighted_margins S.
Proof.
  unfold margins_of_group. intros H U K J C. apply andb_prop in H. destruct H as [H H3].
  apply andb_prop in H. destruct H as [H1 H2]. apply Z.ltb_lt in H1, H2.
  assert (W0 : (0 <= total_weight S)%Z) by (apply (total_weight_nonneg delta powers (total_weight S)), H3).
  pose proof (share_below delta powers (total_weight S) S F k H1 H2 W0 H3) as G.
  assert (S0 : exp (nth k F 0) + sum_over (fun j => exp (nth j F 0)) (map fst S) <= sum_exp F).
  { rewrite sum_exp_over. change (sum_over (fun j => exp (nth j F 0)) (k :: map fst S)
      <= sum_over (fun j => exp (nth j F 0)) (seq 0 (length F))).
    apply sum_over_some; [intros; left; apply exp_pos | apply distinct_ok, U |].
    intros x [-> | I]; apply in_seq; [lia |]. specialize (J x I). lia. }
  apply IZR_le in W0.
  pose proof (exp_pos (nth k F 0)) as PK.
  assert (PO : 0 <= sum_over (fun j => exp (nth j F 0)) (map fst S)) by (apply sum_over_nonneg; intros; left; apply exp_pos).
  assert (PS : 0 < sum_exp F) by lra.
  assert (C' : exp (nth k F 0) >= real delta * sum_exp F).
  { replace (exp (nth k F 0)) with (exp (nth k F 0) / sum_exp F * sum_exp F) by (field; lra).
    apply Rle_ge, Rmult_le_compat_r; lra. }
  apply IZR_lt in H1, H2. pose proof (real_den delta) as Q. unfold real in C'.
  set (a := IZR (fst delta)) in *. set (b := IZR (Zpos (snd delta))) in *.
  set (T := sum_over _ (map fst S)) in *. set (e := exp (nth k F 0)) in *. set (A := IZR (total_weight S)) in *.
  assert (W : a * T <= (b - a) * e).
  { assert (V : b * e >= a * sum_exp F).
    { replace (a * sum_exp F) with (b * (a / b * sum_exp F)) by (field; lra).
      apply Rle_ge, Rmult_le_compat_l; lra. }
    pose proof (Rmult_le_compat_l a _ _ (Rlt_le _ _ H1) S0). lra. }
  pose proof (Rmult_le_compat_r A _ _ W0 W) as V.
  assert (P : 0 < e * (b - a)) by (apply Rmult_lt_0_compat; lra).
  assert (Z0 : e * (b - a) * (A - weighted_lead k S F + weighted_margins S) <= e * (b - a) * A) by lra.
  apply Rmult_le_reg_l in Z0; [lra | exact P].
Qed.
Lemma weighted_lead_scaled u k S F : weighted_lead k S (map (Rmult u) F) = u * weighted_lead k S F.
Proof.
  induction S as [| (j, (a, t)) S IH]; simpl; [ring |]. rewrite IH.
  assert (N : forall i, nth i (map (Rmult u) F) 0 = u * nth i F 0)
    by (intros; rewrite <- (Rmult_0_r u) at 1; apply map_nth).
  rewrite !N. ring.
Qed.
