(** Levels that fit their types, which is what `never wraps` and `never saturates` claim of the second network.

    [all_fit u wrapping s n b]: where the functions read the numbers b, every quantiser of network s that wraps (or
    saturates, where [wrapping] is false) rounds its argument to a level of its type, before anything is brought there. The
    accumulator of a layer is such an argument, whole levels of its type. [all_leaving_ok]: that holds wherever none of the
    obligations [all_leaving] is violated, two for each quantiser: its argument lies beyond the place at which the
    rounding passes the greatest level, or the least one. Places are exact, ties included; where one lies in the middle of
    two multiples of the unit, the obligation begins at the nearer one to the type. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Rounding Levels Networks Bounds Trees.
Import ListNotations.
Open Scope R_scope.

Definition fits_here (u : R) (wrapping : bool) (c : curve) (v : R) : Prop :=
  match c with
  | Bent _ | Smooth _ => True
  | Levels g => wraps g = wrapping -> fits_type g (level_of g (v / (IZR (Zpos (size g)) * u)))
  end.
Fixpoint all_fit (u : R) (wrapping : bool) (s : side) (n : net) (b : list (list R)) : Prop :=
  match n, b with
  | l :: n', z :: b' => Forall2 (fun k y => fits_here u wrapping (curve_of s k) y) (neurons l) z /\ all_fit u wrapping s n' b'
  | _, _ => True
  end.

(** * Obligations *)
Definition numbered {A} (l : list A) : list (nat * A) := combine (seq 0 (length l)) l.
Lemma numbered_nth {A} (l : list A) r a : In (r, a) (numbered l) -> nth_error l r = Some a.
Proof.
  unfold numbered. assert (G : forall k, In (r, a) (combine (seq k (length l)) l) ->
    (k <= r)%nat /\ nth_error l (r - k) = Some a).
  { induction l as [| b l IH]; intros k H; simpl in H; [destruct H |]. destruct H as [H | H].
    - inversion H; subst. rewrite Nat.sub_diag. auto.
    - destruct (IH _ H) as [L N]. split; [lia |]. replace (r - k)%nat with (S (r - S k)) by lia. exact N. }
  intros H. apply G in H. rewrite Nat.sub_0_r in H. tauto.
Qed.
Lemma numbered_in {A} (l : list A) a : In a l -> exists r, In (r, a) (numbered l).
Proof.
  unfold numbered. generalize 0%nat. induction l as [| b l IH]; intros k H; [destruct H |]. destruct H as [-> | H].
  - exists k. left. reflexivity.
  - destruct (IH (S k) H) as [r R]. exists r. right. exact R.
Qed.

(** y lies above half of a number, or below half of one. *)
Definition above_half (t i : nat) (a : Z) (closed : bool) : obligation :=
  [Limit t i KY true (a / 2) (closed || Z.odd a)].
Definition below_half (t i : nat) (a : Z) (closed : bool) : obligation :=
  [Limit t i KY false (- (- a / 2)) (closed || Z.odd a)].
Definition leaving (wrapping : bool) (t i : nat) (c : curve) : list obligation :=
  match c with
  | Bent _ | Smooth _ => []
  | Levels g =>
      if eqb (wraps g) wrapping then
        [above_half t i (fst (highest_kept g)) (snd (highest_kept g)); below_half t i (fst (lowest_kept g)) (snd (lowest_kept g))]
      else []
  end.
Fixpoint all_leaving (wrapping : bool) (t : nat) (n : net) : list obligation :=
  match n with
  | [] => []
  | l :: n' =>
      flat_map (fun ik => leaving wrapping t (fst ik) (curve_of Second (snd ik))) (numbered (neurons l))
      ++ all_leaving wrapping (S t) n'
  end.

Lemma half_below a : IZR (a / 2) <= IZR a / 2 /\ (Z.odd a = true -> IZR (a / 2) < IZR a / 2).
Proof.
  pose proof (Z.mul_div_le a 2 ltac:(lia)) as H. apply IZR_le in H. rewrite mult_IZR in H. split; [lra |]. intros O.
  rewrite Z.odd_spec in O. destruct O as [k ->].
  replace ((2 * k + 1) / 2)%Z with k by (apply Z.div_unique with (r := 1%Z); lia). rewrite plus_IZR, mult_IZR. lra.
Qed.
Lemma above_half_ok r t i a closed x y : at_ r t i = Some (x, y) -> ~ violated (above_half t i a closed) r ->
  under closed (2 * y) (IZR a).
Proof.
  intros A V. destruct (half_below a) as [H H'].
  assert (N : under closed (2 * y) (IZR a) \/ ~ under closed (2 * y) (IZR a)).
  { unfold under. destruct closed; [destruct (Rle_dec (2 * y) (IZR a)) | destruct (Rlt_dec (2 * y) (IZR a))]; auto. }
  destruct N as [| N]; [assumption | exfalso]. apply V. constructor; [| constructor]. unfold meets. cbn [layer_of neuron_of].
  rewrite A. cbn [kind_of at_least strict value_of]. unfold quantity, of_x, of_y, under in *.
  destruct closed, (Z.odd a); cbn [orb]; try specialize (H' eq_refl); lra.
Qed.
Lemma below_half_ok r t i a closed x y : at_ r t i = Some (x, y) -> ~ violated (below_half t i a closed) r ->
  under closed (IZR a) (2 * y).
Proof.
  intros A V. destruct (half_below (- a)) as [H H']. rewrite Z.odd_opp, opp_IZR in *.
  assert (N : under closed (IZR a) (2 * y) \/ ~ under closed (IZR a) (2 * y)).
  { unfold under. destruct closed; [destruct (Rle_dec (IZR a) (2 * y)) | destruct (Rlt_dec (IZR a) (2 * y))]; auto. }
  destruct N as [| N]; [assumption | exfalso]. apply V. constructor; [| constructor]. unfold meets. cbn [layer_of neuron_of].
  rewrite A. cbn [kind_of at_least strict value_of]. unfold quantity, of_x, of_y, under in *. rewrite opp_IZR.
  destruct closed, (Z.odd a); cbn [orb]; try specialize (H' eq_refl); lra.
Qed.

Lemma leaving_ok wrapping r t i c x y : at_ r t i = Some (x, y) ->
  (forall o, In o (leaving wrapping t i c) -> ~ violated o r) -> fits_here 1 wrapping c y.
Proof.
  intros A H. destruct c as [f | g | s]; [exact I | | exact I]. simpl. intros W. unfold leaving in H. rewrite W, eqb_reflx in H.
  rewrite Rmult_1_r. split; [apply lowest_kept_ok | apply highest_kept_ok].
  - eapply below_half_ok; [exact A |]. apply H. right. left. reflexivity.
  - eapply above_half_ok; [exact A |]. apply H. left. reflexivity.
Qed.

(** * The networks that are counted in multiples of u *)
Lemma fits_here_scaled u wrapping c y : 0 < u -> fits_here 1 wrapping c y -> fits_here u wrapping c (u * y).
Proof.
  intros U. destruct c as [f | g | s]; [auto | | auto]. simpl. intros H W. specialize (H W).
  assert (S : 0 < IZR (Zpos (size g))) by (apply IZR_lt; lia).
  replace (u * y / (IZR (Zpos (size g)) * u)) with (y / (IZR (Zpos (size g)) * 1)) by (field; lra). exact H.
Qed.
Lemma all_at {A B} (P : A -> B -> Prop) l : forall m, length l = length m ->
  (forall i a b, nth_error l i = Some a -> nth_error m i = Some b -> P a b) -> Forall2 P l m.
Proof.
  induction l as [| a l IH]; intros [| b m] L H; try discriminate; constructor.
  - apply (H O); reflexivity.
  - apply IH; [simpl in L; lia |]. intros i c d C D. exact (H (S i) c d C D).
Qed.
Lemma nth_combine {A B} (l : list A) : forall (m : list B) i a b, nth_error l i = Some a -> nth_error m i = Some b ->
  nth_error (combine l m) i = Some (a, b).
Proof. induction l as [| c l IH]; intros [| d m] [| i] a b H H'; simpl in *; try discriminate; [congruence | apply IH; assumption]. Qed.
Lemma nth_numbered {A} (l : list A) i a : nth_error l i = Some a -> In (i, a) (numbered l).
Proof.
  intros H. unfold numbered. apply (nth_error_In _ i). apply nth_combine; [| exact H].
  assert (L : (i < length l)%nat) by (apply nth_error_Some; congruence).
  rewrite nth_error_nth' with (d := O) by (rewrite seq_length; exact L). rewrite seq_nth by exact L. reflexivity.
Qed.
Theorem all_leaving_ok u wrapping whole v : 0 < u -> forall n a b t, computes u First n a v -> computes u Second n b v ->
  (forall t' i, at_ whole (t + t') i = at_ (joined (/ u) a b) t' i) ->
  (forall o, In o (all_leaving wrapping t n) -> ~ violated o whole) -> all_fit u wrapping Second n b.
Proof.
  intros U. induction n as [| l n IH]; intros a b t HA HB A H; [exact I |].
  destruct a as [| x a], b as [| y b]; simpl in HA, HB; try contradiction. destruct HA as [HA RA], HB as [HB RB].
  assert (LX : length (neurons l) = length x) by (clear - HA; induction HA; simpl; congruence).
  assert (LY : length (neurons l) = length y) by (clear - HB; induction HB; simpl; congruence).
  simpl. split.
  - apply all_at; [exact LY |]. intros i k yi K YI.
    assert (IL : (i < length (neurons l))%nat) by (apply nth_error_Some; congruence).
    destruct (nth_error x i) as [xi |] eqn:XI; [| apply nth_error_None in XI; lia].
    assert (AT : at_ whole t i = Some (/ u * xi, / u * yi)).
    { specialize (A O i). rewrite Nat.add_0_r in A. rewrite A. unfold at_, joined. cbn [combine map fst snd nth_error].
      apply nth_combine; rewrite nth_error_map; [rewrite XI | rewrite YI]; reflexivity. }
    replace yi with (u * (/ u * yi)) by (field; lra).
    apply fits_here_scaled; [exact U |]. eapply leaving_ok; [exact AT |]. intros o O. apply H. simpl. apply in_or_app. left.
    apply in_flat_map. exists (i, k). split; [apply nth_numbered, K | exact O].
  - apply (IH a b (S t) RA RB).
    + intros t' i. specialize (A (S t') i). rewrite Nat.add_succ_r in A. exact A.
    + intros o O. apply H. simpl. apply in_or_app. right. exact O.
Qed.
