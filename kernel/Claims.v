(** What is asked, in exact rationals, and the theorem.

    [check_ok]: if [check] accepts a question with a stream of records, then at every real input v of the box that meets
    the constraints, the claim holds of whatever the two networks compute at v: of every network that is within the errors
    of the pair, and even if these differ from input to input ([computes] in Networks.v). Where a pair has no errors,
    that is one network each ([check_exact_ok]). All rounding, of the box, the constraints and
    the thresholds to multiples of the unit 1 / grain, is done here and is part of what is proved. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Levels Networks Bounds Relaxation Regions Pulls Trees Types Confidence.
Import ListNotations.
Open Scope R_scope.

Definition down (g : positive) (r : rat) : Z := ((fst r * Zpos g) / Zpos (snd r))%Z.
Definition up (g : positive) (r : rat) : Z := (- down g (- fst r, snd r))%Z.

(** * Claims about outputs F of the first network, the reference, and G of the second, the candidate *)
Inductive claim :=
| Distance (outs : list nat) (eps : rat)            (* none of these outputs differs by more than eps *)
| Manhattan (outs : list nat) (eps : rat)           (* nor do all of them together *)
| KeepsFirst (margin : rat)                         (* what F puts first by the margin, G puts first *)
| KeepsConfident (delta t : rat) (powers : nat) (groups : list group)
    (* what F puts first with softmax delta, G puts first; t is a hint, and so are weighted margins over groups of classes *)
| Inequality (a b : list Z) (most : rat) (less : bool)    (* a F + b G is at most a number, or less than it *)
| Fits (wrapping : bool).     (* no level of the second network leaves a type in which it wraps, or saturates *)

Fixpoint sum_abs (outs : list nat) (F G : list R) : R :=
  match outs with [] => 0 | i :: outs' => Rabs (nth i F 0 - nth i G 0) + sum_abs outs' F G end.
Definition first (k : nat) (G : list R) : Prop := forall j, (j < length G)%nat -> nth j G 0 <= nth k G 0.
(** What a claim says of outputs; b is what the functions of the second network read. *)
Definition says_of (c : claim) (u : R) (n : net) (F G : list R) (b : list (list R)) : Prop :=
  match c with
  | Distance outs eps => forall i, In i outs -> Rabs (nth i F 0 - nth i G 0) <= real eps
  | Manhattan outs eps => sum_abs outs F G <= real eps
  | KeepsFirst margin =>
      forall k, (k < length F)%nat ->
        (forall j, (j < length F)%nat -> j <> k -> nth k F 0 - nth j F 0 >= real margin) -> first k G
  | KeepsConfident delta _ _ _ =>
      forall k, (k < length F)%nat -> first k F -> exp (nth k F 0) / sum_exp F >= real delta -> first k G
  | Inequality a b most less => if less then dot a F + dot b G < real most else dot a F + dot b G <= real most
  | Fits wrapping => all_fit u wrapping Second n b
  end.
(** What it says at the input v of the pair n, whose numbers are counted in units of u. *)
Definition holds (c : claim) (u : R) (n : net) (v : list R) : Prop :=
  forall a b, computes u First n a v -> computes u Second n b v ->
  says_of c u n (result u First n a v) (result u Second n b v) b.

(** * Rows of outputs and obligations about them, which are one more layer *)
Definition unit_row (i : nat) : list Z := repeat 0%Z i ++ [1%Z].
Fixpoint signed_rows (outs : list nat) : list (list Z) :=
  match outs with
  | [] => [[]]
  | i :: outs' => flat_map (fun r => [add_row 1 (unit_row i) r; add_row (-1) (unit_row i) r]) (signed_rows outs')
  end.
Definition pairs (m : nat) : list (nat * nat) :=
  filter (fun p => negb (fst p =? snd p)%nat) (list_prod (seq 0 m) (seq 0 m)).
(** Groups of classes, together with a class k that is not among them; and by how much k is ahead of all of them, added up. *)
Definition members (m : nat) (groups : list group) : list (nat * group) :=
  filter (fun p => distinct (fst p :: map fst (snd p)) && forallb (fun j => j <? m)%nat (map fst (snd p)))%bool
    (list_prod (seq 0 m) groups).
Fixpoint group_row (k : nat) (S : group) : list Z :=
  match S with
  | [] => []
  | (j, (a, _)) :: S' => add_row (- a) (unit_row j) (add_row a (unit_row k) (group_row k S'))
  end.
Fixpoint group_least (g : positive) (S : group) : Z :=
  match S with [] => 0%Z | (_, (a, t)) :: S' => (down g (a * fst t, snd t) + group_least g S')%Z end.
Definition ahead_rows (m : nat) (groups : list group) : list (list Z * list Z) :=
  map (fun p => let r := add_row (-1) (unit_row (snd p)) (unit_row (fst p)) in (r, r)) (pairs m)
  ++ map (fun p => let r := group_row (fst p) (snd p) in (r, r)) (members m groups).
Definition rows_of (m : nat) (c : claim) : list (list Z * list Z) :=
  match c with
  | Distance outs _ => map (fun i => (unit_row i, unit_row i)) outs
  | Manhattan outs _ => map (fun r => (r, r)) (signed_rows outs)
  | KeepsFirst _ => ahead_rows m []
  | KeepsConfident _ _ _ groups => ahead_rows m groups
  | Inequality a b _ _ => [(a, map Z.opp b)]
  | Fits _ => []
  end.
Definition group_limits (g : positive) (m k : nat) (groups : list group) : list limit :=
  map (fun sp => Limit 0 (length (pairs m) + fst sp) KX true (group_least g (snd (snd sp))) false)
    (filter (fun sp => fst (snd sp) =? k)%nat (numbered (members m groups))).
Definition ahead (g : positive) (m : nat) (least : Z) (groups : list group) : list obligation :=
  let all := numbered (pairs m) in
  map (fun rp => Limit 0 (fst rp) KY false 0 true
    :: map (fun sq => Limit 0 (fst sq) KX true least false) (filter (fun sq => fst (snd sq) =? fst (snd rp))%nat all)
       ++ group_limits g m (fst (snd rp)) groups) all.
Definition obligations_of (g : positive) (n : net) (m : nat) (c : claim) : list obligation :=
  match c with
  | Distance outs eps =>
      flat_map (fun r => [[Limit 0 r KD true (down g eps) true]; [Limit 0 r KD false (- down g eps) true]])
        (seq 0 (length outs))
  | Manhattan outs eps => map (fun r => [Limit 0 r KD true (down g eps) true]) (seq 0 (length (signed_rows outs)))
  | KeepsFirst margin => ahead g m (down g margin) []
  | KeepsConfident _ t _ groups => ahead g m (Z.max 0 (down g t)) groups
  | Inequality _ _ most less => [[Limit 0 0 KD true (down g most) (negb less)]]
  | Fits wrapping => all_leaving wrapping 1 n
  end.
Definition zero : curve := Bent (Fn 0 0 []).
Definition claim_layer (rows : list (list Z * list Z)) : layer :=
  Layer 1 (map (fun r => Neuron zero None (dense (fst r)) (long_of 0) (dense (snd r)) (long_of 0) None) rows).

Definition sensible (c : claim) : bool :=
  match c with
  | KeepsConfident delta t powers groups =>
      (margins_of_group delta powers [(O, (1%Z, t))]
       && forallb (margins_of_group delta powers) groups)%bool
  | _ => true
  end.

(** * The question *)
Record question := Question {
  grain : positive;                          (* numbers are counted in units of 1 / grain *)
  pair : net;                                (* both networks in step *)
  ranges : list (rat * rat);                 (* the least and the greatest value of every input *)
  inequalities : list (list Z * rat);        (* a v <= b *)
  asked_for : claim }.
Definition unit (q : question) : R := / IZR (Zpos (grain q)).
Definition inputs_in (q : question) (v : list R) : Prop :=
  Forall2 (fun s x => real (fst s) <= x <= real (snd s)) (ranges q) v
  /\ Forall (fun c => dot (fst c) v <= real (snd c)) (inequalities q).

Definition outputs_count (q : question) : nat := width (length (ranges q)) (pair q).
Definition problem (q : question) : net := claim_layer (rows_of (outputs_count q) (asked_for q)) :: pair q.
Definition region_of (q : question) : region :=
  Region (map (fun s => (down (grain q) (fst s), up (grain q) (snd s))) (ranges q))
         (map (fun c => (fst c, up (grain q) (snd c))) (inequalities q)).
Definition root (q : question) : node :=
  root_of (problem q) (region_of q) (obligations_of (grain q) (pair q) (outputs_count q) (asked_for q)).
Definition meaningful (q : question) : bool :=
  (well_formed (length (ranges q)) (problem q) && sensible (asked_for q)
   && forallb (fun c => length (fst c) <=? length (ranges q))%nat (inequalities q))%bool.
Definition check (q : question) (rs : list record) : bool :=
  (meaningful q && match run (problem q) rs [root q] with Some [] => true | _ => false end)%bool.

(** * Proof *)
Lemma down_ok g r : IZR (down g r) <= real r * IZR (Zpos g).
Proof.
  unfold down, real. pose proof (real_den r) as H.
  assert (P : (0 < Zpos (snd r))%Z) by lia. pose proof (Z.mul_div_le (fst r * Zpos g) (Zpos (snd r)) P) as G.
  apply IZR_le in G. rewrite !mult_IZR in G.
  apply (Rmult_le_reg_l (IZR (Zpos (snd r)))); [exact H |].
  eapply Rle_trans; [exact G |]. right. field. lra.
Qed.
Lemma up_ok g r : real r * IZR (Zpos g) <= IZR (up g r).
Proof.
  unfold up. pose proof (down_ok g (- fst r, snd r)%Z) as H. unfold real in *. simpl in *. rewrite opp_IZR in *.
  unfold Rdiv in *. lra.
Qed.

Lemma dot_unit i : forall F, dot (unit_row i) F = nth i F 0.
Proof.
  unfold unit_row. induction i as [| i IH]; intros [| x F]; simpl; try ring. rewrite IH. ring.
Qed.
Lemma pairs_in m k j : (k < m)%nat -> (j < m)%nat -> j <> k -> In (k, j) (pairs m).
Proof.
  intros K J D. unfold pairs. apply filter_In. split.
  - apply in_prod; apply in_seq; lia.
  - simpl. apply negb_true_iff, Nat.eqb_neq. auto.
Qed.
Lemma pairs_of m k j : In (k, j) (pairs m) -> (k < m)%nat /\ (j < m)%nat /\ j <> k.
Proof.
  unfold pairs. intros H. apply filter_In in H. destruct H as [H D]. apply in_prod_iff in H. destruct H as [A B].
  apply in_seq in A, B. simpl in D. apply negb_true_iff, Nat.eqb_neq in D. repeat split; lia.
Qed.
Lemma signed_rows_ok outs F G : exists r, In r (signed_rows outs) /\ dot r F - dot r G = sum_abs outs F G.
Proof.
  induction outs as [| i outs IH]; simpl; [exists []; split; [auto | rewrite !dot_none; ring] |].
  destruct IH as (r & I & E). set (z := nth i F 0 - nth i G 0).
  destruct (Rle_dec 0 z) as [P | P].
  - exists (add_row 1 (unit_row i) r). split; [apply in_flat_map; exists r; simpl; auto |].
    rewrite !dot_add_row, !dot_unit, Rabs_pos_eq by exact P. unfold z. lra.
  - exists (add_row (-1) (unit_row i) r). split; [apply in_flat_map; exists r; simpl; auto |].
    rewrite !dot_add_row, !dot_unit, Rabs_left by lra. unfold z. lra.
Qed.

Lemma dot_group_row k S F : dot (group_row k S) F = weighted_lead k S F.
Proof.
  induction S as [| (j, (a, t)) S IH]; simpl; [reflexivity |]. rewrite !dot_add_row, !dot_unit, IH, opp_IZR. ring.
Qed.

Section Claim.
  Variables (g : positive) (F' G' : list R) (r' : trace).
  Let u := / IZR (Zpos g).
  Lemma u_pos : 0 < u. Proof. apply Rinv_0_lt_compat, pos_IZR. Qed.
  Lemma u_g : IZR (Zpos g) * u = 1.
  Proof. unfold u. pose proof (pos_IZR g). field. lra. Qed.
  Lemma nth_u i (L : list R) : nth i (map (Rmult u) L) 0 = u * nth i L 0.
  Proof. rewrite <- (Rmult_0_r u) at 1. apply map_nth. Qed.
  (** What rows of a claim are, before the traces of both networks. *)
  Definition with_rows (rows : list (list Z * list Z)) : trace := map (fun r => (dot (fst r) F', dot (snd r) G')) rows :: r'.
  Lemma at_row rows i : at_ (with_rows rows) 0 i =
    match nth_error rows i with None => None | Some r => Some (dot (fst r) F', dot (snd r) G') end.
  Proof. unfold at_, with_rows. cbn [nth_error]. rewrite nth_error_map. destruct (nth_error rows i); reflexivity. Qed.
  Lemma rows_trace n w rows : traces n r' w -> given First n r' w = F' -> given Second n r' w = G' ->
    traces (claim_layer rows :: n) (with_rows rows) w.
  Proof.
    intros T E E'. simpl. rewrite E, E'. split; [| exact T]. induction rows as [| r rows IH]; simpl; constructor; [| exact IH].
    unfold reads, row, bias, bias1, bias2, blur, off, slack. cbn [row1 row2 long1 long2 unknown fst snd]. rewrite !whole_of. rewrite !entries_dense.
    split; (rewrite Rmult_0_l, Rplus_0_r, Rmult_1_l, Rplus_0_r; unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra).
  Qed.
  Lemma from_down z r : z <= IZR (down g r) -> u * z <= real r.
  Proof.
    intros H. pose proof (down_ok g r) as D. pose proof u_pos. apply Rle_trans with (u * (real r * IZR (Zpos g))).
    - apply Rmult_le_compat_l; lra.
    - right. unfold u. pose proof (pos_IZR g). field. lra.
  Qed.

  Lemma ahead_ok m least groups k j : length F' = m -> (k < m)%nat -> (j < m)%nat -> j <> k ->
    (forall o, In o (ahead g m least groups) -> ~ violated o (with_rows (ahead_rows m groups))) ->
    (forall i, (i < m)%nat -> i <> k -> nth k F' 0 - nth i F' 0 >= IZR least) ->
    (forall S, In (k, S) (members m groups) -> weighted_lead k S F' >= IZR (group_least g S)) ->
    nth j G' 0 <= nth k G' 0.
  Proof.
    intros L K J D H P Q0. destruct (Rle_dec (nth j G' 0) (nth k G' 0)) as [| N]; [assumption | exfalso].
    destruct (numbered_in (pairs m) (k, j) (pairs_in m k j K J D)) as [r R].
    assert (A : forall s a b, In (s, (a, b)) (numbered (pairs m)) -> at_ (with_rows (ahead_rows m groups)) 0 s
      = Some (nth a F' 0 - nth b F' 0, nth a G' 0 - nth b G' 0)).
    { intros s a b I. apply numbered_nth in I. rewrite at_row. unfold ahead_rows.
      rewrite nth_error_app1 by (rewrite map_length; apply nth_error_Some; congruence).
      rewrite nth_error_map, I. simpl. rewrite !dot_add_row, !dot_unit. f_equal. f_equal; lra. }
    refine (H _ (in_map _ _ _ R) _). unfold violated. constructor; [| apply Forall_app; split].
    - unfold meets. simpl layer_of. simpl neuron_of. rewrite (A _ _ _ R). unfold quantity. simpl. lra.
    - apply Forall_forall. intros q Q. apply in_map_iff in Q. destruct Q as ((s, (a, b)) & E & Q). subst q.
      apply filter_In in Q. destruct Q as [Q X]. simpl in X. apply Nat.eqb_eq in X. subst a.
      unfold meets. simpl layer_of. simpl neuron_of. simpl fst. rewrite (A _ _ _ Q). unfold quantity. simpl.
      pose proof (numbered_nth _ _ _ Q) as Y. apply nth_error_In in Y. apply pairs_of in Y. destruct Y as (_ & Y & Z0).
      specialize (P b Y Z0). lra.
    - apply Forall_forall. intros q Q. apply in_map_iff in Q. destruct Q as ((s, (a, S)) & E & Q). subst q.
      apply filter_In in Q. destruct Q as [Q X]. simpl in X. apply Nat.eqb_eq in X. subst a.
      pose proof (numbered_nth _ _ _ Q) as Y.
      unfold meets. cbn [layer_of neuron_of]. rewrite at_row. unfold ahead_rows.
      rewrite nth_error_app2 by (rewrite map_length; lia). rewrite map_length.
      cbn [fst snd]. replace (length (pairs m) + s - length (pairs m))%nat with s by lia.
      rewrite nth_error_map, Y. cbn [option_map fst snd kind_of at_least strict value_of]. rewrite !dot_group_row.
      apply nth_error_In in Y. specialize (Q0 S Y). unfold quantity. simpl. lra.
  Qed.
End Claim.

Lemma group_least_ok g S : IZR (group_least g S) <= weighted_margins S * IZR (Zpos g).
Proof.
  induction S as [| (j, (a, t)) S IH]; simpl; [lra |]. fold (weighted_margins S). rewrite plus_IZR.
  pose proof (down_ok g (a * fst t, snd t)%Z) as D. unfold real in *. cbn [fst snd] in *. rewrite mult_IZR in D.
  unfold Rdiv in *. lra.
Qed.

(** * The theorem *)
Lemma same_length {A B} (P : A -> B -> Prop) l m : Forall2 P l m -> length l = length m.
Proof. induction 1; simpl; congruence. Qed.
Lemma scaled_le g x z : x <= / IZR (Zpos g) * z -> x * IZR (Zpos g) <= z.
Proof.
  intros H. pose proof (pos_IZR g). replace z with (/ IZR (Zpos g) * z * IZR (Zpos g)) by (field; lra).
  apply Rmult_le_compat_r; lra.
Qed.
Lemma scaled_back g (v : list R) : map (Rmult (/ IZR (Zpos g))) (map (Rmult (IZR (Zpos g))) v) = v.
Proof.
  rewrite map_map. rewrite <- (map_id v) at 2. apply map_ext. intros x. pose proof (pos_IZR g). field. lra.
Qed.
Lemma region_ok q v : inputs_in q v -> in_region (region_of q) (map (Rmult (IZR (Zpos (grain q)))) v).
Proof.
  intros [HB HC]. pose proof (pos_IZR (grain q)) as P. split.
  - unfold region_of. simpl. clear HC. unfold in_box. induction HB as [| s x ss v' H HB IH]; simpl; constructor; auto.
    simpl. pose proof (down_ok (grain q) (fst s)). pose proof (up_ok (grain q) (snd s)). split; nra.
  - unfold region_of. simpl. clear HB. induction HC as [| c cs H HC IH]; simpl; constructor; auto.
    simpl. rewrite dot_scaled. pose proof (up_ok (grain q) (snd c)). nra.
Qed.

Theorem check_ok q rs : check q rs = true -> forall v, inputs_in q v ->
  holds (asked_for q) (unit q) (pair q) v.
Proof.
  unfold check. intros H v HV. apply andb_prop in H. destruct H as [M H].
  apply andb_prop in M. destruct M as [M _]. apply andb_prop in M. destruct M as [HW HS].
  destruct (run (problem q) rs [root q]) as [[| x xs] |] eqn:E; try discriminate. clear H.
  intros reads1 reads2 RA RB. unfold unit in *.
  assert (U : 0 < / IZR (Zpos (grain q))) by (apply Rinv_0_lt_compat, pos_IZR).
  destruct (joined_ok _ _ _ U reads1 reads2 RA RB) as (TR & EF & EG). rewrite Rinv_inv in TR, EF, EG.
  set (w := map (Rmult (IZR (Zpos (grain q)))) v) in *.
  assert (T := fun r => tree_ok _ _ _ _ (well_formed_ordered _ _ HW) E w r (region_ok q v HV)). clear E.
  set (r' := joined (IZR (Zpos (grain q))) reads1 reads2) in *.
  set (F' := given First (pair q) r' w) in *. set (G' := given Second (pair q) r' w) in *.
  assert (BACK : forall X, map (Rmult (/ IZR (Zpos (grain q)))) (map (Rmult (IZR (Zpos (grain q)))) X) = X) by apply scaled_back.
  pose proof (result_length _ _ _ _ _ RA) as LF. pose proof (result_length _ _ _ _ _ RB) as LG.
  assert (C : width (length v) (pair q) = outputs_count q).
  { unfold outputs_count. destruct HV as [HB _]. apply same_length in HB. rewrite HB. reflexivity. }
  rewrite C in LF, LG.
  assert (L : length F' = outputs_count q) by (rewrite EF, map_length; exact LF).
  assert (L2 : length G' = outputs_count q) by (rewrite EG, map_length; exact LG).
  rewrite <- (BACK (result _ First _ _ _)), <- (BACK (result _ Second _ _ _)), <- EF, <- EG. clear LF LG C.
  specialize (T (with_rows F' G' r' (rows_of (outputs_count q) (asked_for q)))
    (rows_trace F' G' r' (pair q) w _ TR eq_refl eq_refl)).
  assert (FITS : forall wrapping, (forall o, In o (all_leaving wrapping 1 (pair q)) ->
      ~ violated o (with_rows F' G' r' [])) -> all_fit (/ IZR (Zpos (grain q))) wrapping Second (pair q) reads2).
  { intros wrapping HN. eapply (all_leaving_ok _ wrapping (with_rows F' G' r' []) v U (pair q) reads1 reads2 1 RA RB); [| exact HN].
    intros t' i. rewrite Rinv_inv. reflexivity. }
  clearbody F' G' r'. clear TR EF EG RA RB BACK.
  set (n := pair q) in *. set (g := grain q) in *. set (m := outputs_count q) in *. set (u := / IZR (Zpos g)) in *.
  clearbody n g m. clear HW HV.
  assert (FIRST : forall least groups k, (forall o, In o (ahead g m least groups) ->
      ~ violated o (with_rows F' G' r' (ahead_rows m groups))) -> (k < m)%nat ->
      (forall i, (i < m)%nat -> i <> k -> nth k F' 0 - nth i F' 0 >= IZR least) ->
      (forall S, In (k, S) (members m groups) -> weighted_lead k S F' >= IZR (group_least g S)) ->
      first k (map (Rmult u) G')).
  { intros least groups k A K P Q j J. rewrite map_length, L2 in J. rewrite !(nth_u g).
    destruct (Nat.eq_dec j k) as [-> | D]; [lra |].
    pose proof (ahead_ok g F' G' r' m least groups k j L K J D A P Q) as X. fold u. nra. }
  destruct (asked_for q) as [outs eps | outs eps | margin | delta t powers groups | a b most less | wrapping];
    simpl in T; cbn [says_of].
  - intros i I. destruct (numbered_in outs i I) as [r R]. pose proof (numbered_nth _ _ _ R) as N.
    assert (RL : (r < length outs)%nat) by (apply nth_error_Some; congruence).
    assert (A : at_ (with_rows F' G' r' (map (fun i => (unit_row i, unit_row i)) outs)) 0 r
      = Some (nth i F' 0, nth i G' 0)).
    { rewrite at_row. rewrite nth_error_map, N. simpl. rewrite !dot_unit. reflexivity. }
    assert (UP : ~ violated [Limit 0 r KD true (down g eps) true]
      (with_rows F' G' r' (map (fun i => (unit_row i, unit_row i)) outs))).
    { apply T. apply in_flat_map. exists r. split; [apply in_seq; lia | simpl; auto]. }
    assert (LO : ~ violated [Limit 0 r KD false (- down g eps) true]
      (with_rows F' G' r' (map (fun i => (unit_row i, unit_row i)) outs))).
    { apply T. apply in_flat_map. exists r. split; [apply in_seq; lia | simpl; auto]. }
    rewrite !(nth_u g). fold u.
    set (x := nth i F' 0) in *. set (y := nth i G' 0) in *.
    assert (X : x - y <= IZR (down g eps)).
    { apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite A. unfold quantity. simpl. lra. }
    assert (Y : - IZR (down g eps) <= x - y).
    { apply Rnot_lt_le. intros Z0. apply LO. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite A. unfold quantity. simpl. rewrite opp_IZR. lra. }
    pose proof (from_down g _ eps (Rle_refl _)) as Z0. fold u in Z0. apply Rabs_le. split; nra.
  - destruct (signed_rows_ok outs F' G') as (s & I & S).
    destruct (numbered_in _ _ I) as [r R]. pose proof (numbered_nth _ _ _ R) as N.
    assert (RL : (r < length (signed_rows outs))%nat) by (apply nth_error_Some; congruence).
    assert (UP : ~ violated [Limit 0 r KD true (down g eps) true]
      (with_rows F' G' r' (map (fun r => (r, r)) (signed_rows outs)))).
    { apply T. apply in_map_iff. exists r. split; [reflexivity | apply in_seq; lia]. }
    assert (X : sum_abs outs F' G' <= IZR (down g eps)).
    { apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite at_row, nth_error_map, N. unfold quantity. simpl. lra. }
    apply from_down in X. fold u in X.
    replace (sum_abs outs (map (Rmult u) F') (map (Rmult u) G'))
      with (u * sum_abs outs F' G'); [exact X |].
    clear - U. induction outs as [| i outs IH]; simpl; [ring |]. rewrite <- IH, !(nth_u g). fold u.
    rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq u) by (left; exact U). ring.
  - intros k K P. rewrite map_length, L in K. apply (FIRST (down g margin) [] k T K).
    + intros i I D. rewrite map_length, L in P. specialize (P i I D). rewrite !(nth_u g) in P. fold u in P.
      rewrite <- Rmult_minus_distr_l in P. apply Rle_ge. eapply Rle_trans; [apply (down_ok g margin) |].
      apply (scaled_le g). fold u. lra.
    + intros S I. apply filter_In in I. destruct I as [I _]. apply in_prod_iff in I. destruct (proj2 I).
  - intros k K A P. assert (K' := K). rewrite map_length, L in K. simpl in HS. apply andb_prop in HS. destruct HS as [H1 HG].
    apply (FIRST (Z.max 0 (down g t)) groups k T K).
    + intros i I D. assert (I' := I). rewrite <- L, <- (map_length (Rmult u)) in I'.
      assert (U2 : distinct [k; i] = true).
      { simpl. rewrite orb_false_r, andb_true_r. apply negb_true_iff, Nat.eqb_neq. auto. }
      pose proof (margins_of_group_ok delta powers [(i, (1%Z, t))] _ k H1 U2 K'
        ltac:(intros x [<- | []]; exact I') P) as Q. simpl in Q. specialize (A i I').
      rewrite !(nth_u g) in Q, A. fold u in Q, A. apply Rle_ge, max_case.
      * assert (B : 0 <= u * (nth k F' 0 - nth i F' 0)) by lra.
        apply (Rmult_le_reg_l u); [exact U |]. rewrite Rmult_0_r. exact B.
      * eapply Rle_trans; [apply (down_ok g t) |]. apply (scaled_le g). fold u. lra.
    + intros S I. apply filter_In in I. destruct I as [I X]. cbn [fst snd] in X. apply andb_prop in X. destruct X as [X V].
      apply in_prod_iff in I. destruct I as [_ I]. rewrite forallb_forall in HG. specialize (HG _ I).
      assert (J : forall j, In j (map fst S) -> (j < length (map (Rmult u) F'))%nat).
      { intros j J. rewrite map_length, L. rewrite forallb_forall in V. apply Nat.ltb_lt, V, J. }
      pose proof (margins_of_group_ok delta powers S _ k HG X K' J P) as Q.
      apply Rle_ge. eapply Rle_trans; [apply group_least_ok |].
      apply (scaled_le g). fold u. rewrite <- weighted_lead_scaled. lra.
  - rewrite !dot_scaled.
    assert (UP := T _ (or_introl eq_refl)).
    assert (S : forall z, z <= IZR (down g most) -> u * z <= real most) by (intros; apply (from_down g); assumption).
    assert (S' : forall z, z < IZR (down g most) -> u * z < real most).
    { intros z Z0. eapply Rlt_le_trans; [apply (Rmult_lt_compat_l u _ _ U Z0) | apply S; lra]. }
    rewrite <- Rmult_plus_distr_l. destruct less.
    + apply S'. apply Rnot_le_lt. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl.
      unfold quantity. simpl. rewrite dot_opp. lra.
    + apply S. apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl.
      unfold quantity. simpl. rewrite dot_opp. lra.
  - exact (FITS wrapping T).
Qed.

(** Where nothing is unknown, [outputs] is what the networks compute. *)
Corollary check_exact_ok q rs : check q rs = true -> forall v, inputs_in q v ->
  says_of (asked_for q) (unit q) (pair q) (outputs (unit q) First (pair q) v) (outputs (unit q) Second (pair q) v)
    (arguments (unit q) Second (pair q) v).
Proof.
  intros H v HV. assert (U : 0 <= unit q) by (left; apply Rinv_0_lt_compat, pos_IZR).
  destruct (computes_exactly (unit q) First (pair q) v U) as [CA <-].
  destruct (computes_exactly (unit q) Second (pair q) v U) as [CB <-].
  exact (check_ok q rs H v HV _ _ CA CB).
Qed.
