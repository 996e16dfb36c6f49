(** What is asked, in exact rationals, and the theorem.

    [check_ok]: if [check] accepts a question with a stream of records, then at every real input v of the box that meets
    the constraints, the claim holds of what the two networks compute at v. All rounding, of the box, the constraints and
    the thresholds to multiples of the unit 1 / grain, is done here and is part of what is proved. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Networks Bounds Relaxation Pulls Trees.
Import ListNotations.
Open Scope R_scope.

Definition rat := (Z * positive)%type.
Definition real (r : rat) : R := IZR (fst r) / IZR (Zpos (snd r)).
Definition down (g : positive) (r : rat) : Z := ((fst r * Zpos g) / Zpos (snd r))%Z.
Definition up (g : positive) (r : rat) : Z := (- down g (- fst r, snd r))%Z.

(** * Claims about outputs F of the first network, the reference, and G of the second, the candidate *)
Inductive claim :=
| Distance (outs : list nat) (eps : rat)            (* none of these outputs differs by more than eps *)
| Manhattan (outs : list nat) (eps : rat)           (* nor do all of them together *)
| KeepsFirst (margin : rat)                         (* what F puts first by the margin, G puts first *)
| KeepsConfident (delta t : rat) (powers : nat) (groups : list (list nat * rat))
    (* what F puts first with softmax delta, G puts first; t is a hint, and so are margins over groups of classes *)
| Inequality (a b : list Z) (most : rat) (less : bool).   (* a F + b G is at most a number, or less than it *)

Fixpoint sum_abs (outs : list nat) (F G : list R) : R :=
  match outs with [] => 0 | i :: outs' => Rabs (nth i F 0 - nth i G 0) + sum_abs outs' F G end.
Fixpoint sum_exp (F : list R) : R := match F with [] => 0 | x :: F' => exp x + sum_exp F' end.
Definition first (k : nat) (G : list R) : Prop := forall j, (j < length G)%nat -> nth j G 0 <= nth k G 0.
Definition holds (c : claim) (F G : list R) : Prop :=
  match c with
  | Distance outs eps => forall i, In i outs -> Rabs (nth i F 0 - nth i G 0) <= real eps
  | Manhattan outs eps => sum_abs outs F G <= real eps
  | KeepsFirst margin =>
      forall k, (k < length F)%nat ->
        (forall j, (j < length F)%nat -> j <> k -> nth k F 0 - nth j F 0 >= real margin) -> first k G
  | KeepsConfident delta _ _ _ =>
      forall k, (k < length F)%nat -> first k F -> exp (nth k F 0) / sum_exp F >= real delta -> first k G
  | Inequality a b most less => if less then dot a F + dot b G < real most else dot a F + dot b G <= real most
  end.

(** * Rows of outputs and obligations about them, which are one more layer *)
Definition unit_row (i : nat) : list Z := repeat 0%Z i ++ [1%Z].
Definition numbered {A} (l : list A) : list (nat * A) := combine (seq 0 (length l)) l.
Fixpoint signed_rows (outs : list nat) : list (list Z) :=
  match outs with
  | [] => [[]]
  | i :: outs' => flat_map (fun r => [add_row 1 (unit_row i) r; add_row (-1) (unit_row i) r]) (signed_rows outs')
  end.
Definition pairs (m : nat) : list (nat * nat) :=
  filter (fun p => negb (fst p =? snd p)%nat) (list_prod (seq 0 m) (seq 0 m)).
(** Groups of classes, together with a class k that is not among them; and by how much k is ahead of all of them, added up. *)
Fixpoint distinct (S : list nat) : bool :=
  match S with [] => true | j :: S' => (negb (existsb (Nat.eqb j) S') && distinct S')%bool end.
Definition members (m : nat) (groups : list (list nat * rat)) : list (nat * (list nat * rat)) :=
  filter (fun p => distinct (fst p :: fst (snd p)) && forallb (fun j => j <? m)%nat (fst (snd p)))%bool
    (list_prod (seq 0 m) groups).
Fixpoint group_row (k : nat) (S : list nat) : list Z :=
  match S with [] => [] | j :: S' => add_row (-1) (unit_row j) (add_row 1 (unit_row k) (group_row k S')) end.
Definition group_least (g : positive) (S : list nat) (t : rat) : Z := down g (Z.of_nat (length S) * fst t, snd t)%Z.
Definition ahead_rows (m : nat) (groups : list (list nat * rat)) : list (list Z * list Z) :=
  map (fun p => let r := add_row (-1) (unit_row (snd p)) (unit_row (fst p)) in (r, r)) (pairs m)
  ++ map (fun p => let r := group_row (fst p) (fst (snd p)) in (r, r)) (members m groups).
Definition rows_of (m : nat) (c : claim) : list (list Z * list Z) :=
  match c with
  | Distance outs _ => map (fun i => (unit_row i, unit_row i)) outs
  | Manhattan outs _ => map (fun r => (r, r)) (signed_rows outs)
  | KeepsFirst _ => ahead_rows m []
  | KeepsConfident _ _ _ groups => ahead_rows m groups
  | Inequality a b _ _ => [(a, map Z.opp b)]
  end.
Definition group_limits (g : positive) (m k : nat) (groups : list (list nat * rat)) : list limit :=
  map (fun sp => Limit 0 (length (pairs m) + fst sp) KX true (group_least g (fst (snd (snd sp))) (snd (snd (snd sp)))) false)
    (filter (fun sp => fst (snd sp) =? k)%nat (numbered (members m groups))).
Definition ahead (g : positive) (m : nat) (least : Z) (groups : list (list nat * rat)) : list obligation :=
  let all := numbered (pairs m) in
  map (fun rp => Limit 0 (fst rp) KY false 0 true
    :: map (fun sq => Limit 0 (fst sq) KX true least false) (filter (fun sq => fst (snd sq) =? fst (snd rp))%nat all)
       ++ group_limits g m (fst (snd rp)) groups) all.
Definition obligations_of (g : positive) (m : nat) (c : claim) : list obligation :=
  match c with
  | Distance outs eps =>
      flat_map (fun r => [[Limit 0 r KD true (down g eps) true]; [Limit 0 r KD false (- down g eps) true]])
        (seq 0 (length outs))
  | Manhattan outs eps => map (fun r => [Limit 0 r KD true (down g eps) true]) (seq 0 (length (signed_rows outs)))
  | KeepsFirst margin => ahead g m (down g margin) []
  | KeepsConfident _ t _ groups => ahead g m (Z.max 0 (down g t)) groups
  | Inequality _ _ most less => [[Limit 0 0 KD true (down g most) (negb less)]]
  end.
Definition zero : fn := Fn 0 0 [].
Definition claim_layer (rows : list (list Z * list Z)) : layer :=
  Layer 1 (map (fun r => Neuron zero (fst r) 0 (snd r) 0) rows).

(** (1 - t / N)^N size >= (1 - delta) / delta with N = 2^powers, from which size exp(-t) >= (1 - delta) / delta. *)
Definition square (x : Z) : Z := (x * x)%Z.
Definition margin_of_confidence (delta t : rat) (powers size : nat) : bool :=
  let den := (Zpos (snd t) * 2 ^ Z.of_nat powers)%Z in
  let num := (den - fst t)%Z in
  let n := Nat.iter powers square num in
  let d := Nat.iter powers square den in
  ((0 <? fst delta) && (fst delta <=? Zpos (snd delta)) && (0 <=? num)
   && ((Zpos (snd delta) - fst delta) * d <=? n * fst delta * Z.of_nat size))%Z%bool.
Definition sensible (c : claim) : bool :=
  match c with
  | KeepsConfident delta t powers groups =>
      (margin_of_confidence delta t powers 1
       && forallb (fun e => margin_of_confidence delta (snd e) powers (length (fst e))) groups)%bool
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
Definition reference (q : question) (v : list R) : list R := outputs (unit q) First (pair q) v.
Definition candidate (q : question) (v : list R) : list R := outputs (unit q) Second (pair q) v.

Definition outputs_count (q : question) : nat := width (length (ranges q)) (pair q).
Definition problem (q : question) : net := claim_layer (rows_of (outputs_count q) (asked_for q)) :: pair q.
Definition region_of (q : question) : region :=
  Region (map (fun s => (down (grain q) (fst s), up (grain q) (snd s))) (ranges q))
         (map (fun c => (fst c, up (grain q) (snd c))) (inequalities q)).
Definition root (q : question) : node :=
  root_of (problem q) (region_of q) (obligations_of (grain q) (outputs_count q) (asked_for q)).
Definition meaningful (q : question) : bool :=
  (well_formed (length (ranges q)) (problem q) && sensible (asked_for q)
   && forallb (fun c => length (fst c) <=? length (ranges q))%nat (inequalities q))%bool.
Definition check (q : question) (rs : list record) : bool :=
  (meaningful q && match run (problem q) rs [root q] with Some [] => true | _ => false end)%bool.

(** * Proof *)
Lemma real_den (r : rat) : 0 < IZR (Zpos (snd r)).
Proof. apply pos_IZR. Qed.
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

Fixpoint lead (k : nat) (S : list nat) (F : list R) : R :=
  match S with [] => 0 | j :: S' => nth k F 0 - nth j F 0 + lead k S' F end.
Lemma dot_group_row k S F : dot (group_row k S) F = lead k S F.
Proof. induction S as [| j S IH]; simpl; [reflexivity |]. rewrite !dot_add_row, !dot_unit, IH. ring. Qed.

Section Claim.
  Variables (g : positive) (n : net) (w : list R).
  Let u := / IZR (Zpos g).
  Let F' := post First n w.
  Let G' := post Second n w.
  Let F := map (Rmult u) F'.
  Let G := map (Rmult u) G'.
  Lemma u_pos : 0 < u. Proof. apply Rinv_0_lt_compat, pos_IZR. Qed.
  Lemma u_g : IZR (Zpos g) * u = 1.
  Proof. unfold u. pose proof (pos_IZR g). field. lra. Qed.
  Lemma nth_u i (L : list R) : nth i (map (Rmult u) L) 0 = u * nth i L 0.
  Proof. rewrite <- (Rmult_0_r u) at 1. apply map_nth. Qed.
  Lemma at_row rows i : at_ (claim_layer rows :: n) 0 i w =
    match nth_error rows i with None => None | Some r => Some (dot (fst r) F', dot (snd r) G') end.
  Proof.
    simpl. rewrite nth_error_map. destruct (nth_error rows i); simpl; [| reflexivity].
    unfold pre. simpl. unfold Rdiv. rewrite !Rplus_0_r, Rinv_1, !Rmult_1_r. reflexivity.
  Qed.
  Lemma from_down z r : z <= IZR (down g r) -> u * z <= real r.
  Proof.
    intros H. pose proof (down_ok g r) as D. pose proof u_pos. apply Rle_trans with (u * (real r * IZR (Zpos g))).
    - apply Rmult_le_compat_l; lra.
    - right. unfold u. pose proof (pos_IZR g). field. lra.
  Qed.

  Lemma ahead_ok m least groups k j : length F' = m -> (k < m)%nat -> (j < m)%nat -> j <> k ->
    (forall o, In o (ahead g m least groups) -> ~ violated (claim_layer (ahead_rows m groups) :: n) o w) ->
    (forall i, (i < m)%nat -> i <> k -> nth k F' 0 - nth i F' 0 >= IZR least) ->
    (forall S t, In (k, (S, t)) (members m groups) -> lead k S F' >= IZR (group_least g S t)) ->
    nth j G' 0 <= nth k G' 0.
  Proof.
    intros L K J D H P Q0. destruct (Rle_dec (nth j G' 0) (nth k G' 0)) as [| N]; [assumption | exfalso].
    destruct (numbered_in (pairs m) (k, j) (pairs_in m k j K J D)) as [r R].
    assert (A : forall s a b, In (s, (a, b)) (numbered (pairs m)) -> at_ (claim_layer (ahead_rows m groups) :: n) 0 s w
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
    - apply Forall_forall. intros q Q. apply in_map_iff in Q. destruct Q as ((s, (a, (S, t))) & E & Q). subst q.
      apply filter_In in Q. destruct Q as [Q X]. simpl in X. apply Nat.eqb_eq in X. subst a.
      pose proof (numbered_nth _ _ _ Q) as Y.
      unfold meets. cbn [layer_of neuron_of]. rewrite at_row. unfold ahead_rows.
      rewrite nth_error_app2 by (rewrite map_length; lia). rewrite map_length.
      cbn [fst snd]. replace (length (pairs m) + s - length (pairs m))%nat with s by lia.
      rewrite nth_error_map, Y. cbn [option_map fst snd kind_of at_least strict value_of]. rewrite !dot_group_row.
      apply nth_error_In in Y. specialize (Q0 S t Y). unfold quantity. simpl. lra.
  Qed.
End Claim.

(** * Confidence *)
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

(** The tangent of exp at -t, below exp: what a group has of the softmax bounds by how much it is behind k. *)
Lemma group_below t S F k : sum_over (fun j => exp (nth j F 0)) S
  >= exp (nth k F 0) * exp (- t) * (INR (length S) - lead k S F + INR (length S) * t).
Proof.
  induction S as [| j S IH]; [simpl; lra |]. cbn [sum_over lead length]. rewrite S_INR.
  assert (E : exp (nth j F 0) = exp (nth k F 0) * exp (- t) * exp (nth j F 0 - nth k F 0 + t))
    by (rewrite <- !exp_plus; f_equal; ring).
  pose proof (exp_ineq1_le (nth j F 0 - nth k F 0 + t)) as G.
  pose proof (Rmult_lt_0_compat _ _ (exp_pos (nth k F 0)) (exp_pos (- t))) as P.
  apply (Rmult_le_compat_l (exp (nth k F 0) * exp (- t))) in G; [| lra]. rewrite <- E in G. lra.
Qed.
Theorem margin_of_confidence_ok delta t powers S F k : margin_of_confidence delta t powers (length S) = true ->
  distinct (k :: S) = true -> (k < length F)%nat -> (forall j, In j S -> (j < length F)%nat) ->
  exp (nth k F 0) / sum_exp F >= real delta -> lead k S F >= INR (length S) * real t.
Proof.
  unfold margin_of_confidence. intros H U K J C.
  set (den := (Zpos (snd t) * 2 ^ Z.of_nat powers)%Z) in *. set (num := (den - fst t)%Z) in *.
  apply andb_prop in H. destruct H as [H H4]. apply andb_prop in H. destruct H as [H H3].
  apply andb_prop in H. destruct H as [H1 H2].
  apply Z.ltb_lt in H1. apply Z.leb_le in H2, H3, H4.
  assert (P : (0 < 2 ^ Z.of_nat powers)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (HD : (0 < den)%Z) by (apply Z.mul_pos_pos; lia).
  assert (E : IZR num / IZR den <= exp (- real t / 2 ^ powers)).
  { replace (IZR num / IZR den) with (1 + (- real t / 2 ^ powers)).
    - apply exp_ineq1_le.
    - unfold num. rewrite minus_IZR. unfold den, real. rewrite mult_IZR.
      replace (IZR (2 ^ Z.of_nat powers)) with (2 ^ powers) by (rewrite pow_IZR; reflexivity).
      pose proof (real_den t). assert (2 ^ powers <> 0) by (apply pow_nonzero; lra). field. lra. }
  destruct (iterated_squares num den (- real t) powers H3 HD E) as (A & B & X).
  set (n := Nat.iter powers square num) in *. set (d := Nat.iter powers square den) in *.
  assert (S0 : exp (nth k F 0) + sum_over (fun j => exp (nth j F 0)) S <= sum_exp F).
  { rewrite sum_exp_over. change (sum_over (fun j => exp (nth j F 0)) (k :: S)
      <= sum_over (fun j => exp (nth j F 0)) (seq 0 (length F))).
    apply sum_over_some; [intros; left; apply exp_pos | apply distinct_ok, U |].
    intros x [-> | I]; apply in_seq; [lia |]. specialize (J x I). lia. }
  pose proof (group_below (real t) S F k) as G. pose proof (exp_pos (nth k F 0)) as PK.
  assert (PO : 0 <= sum_over (fun j => exp (nth j F 0)) S) by (apply sum_over_nonneg; intros; left; apply exp_pos).
  assert (PS : 0 < sum_exp F) by lra.
  assert (C' : exp (nth k F 0) >= real delta * sum_exp F).
  { replace (exp (nth k F 0)) with (exp (nth k F 0) / sum_exp F * sum_exp F) by (field; lra).
    apply Rle_ge, Rmult_le_compat_r; lra. }
  apply IZR_le in H4, A, H2. apply IZR_lt in H1, B. rewrite !mult_IZR, minus_IZR, <- INR_IZR_INZ in H4.
  pose proof (real_den delta) as Q. unfold real at 1 in C'. pose proof (pos_INR (length S)) as PN.
  set (a := IZR (fst delta)) in *. set (b := IZR (Zpos (snd delta))) in *.
  set (T := sum_over _ S) in *. set (s := INR (length S)) in *. set (e := exp (nth k F 0)) in *.
  set (x := exp (- real t)) in *.
  assert (W : a * T <= (b - a) * e).
  { assert (V : b * e >= a * sum_exp F).
    { replace (a * sum_exp F) with (b * (a / b * sum_exp F)) by (field; lra).
      apply Rle_ge, Rmult_le_compat_l; lra. }
    pose proof (Rmult_le_compat_l a _ _ (Rlt_le _ _ H1) S0). lra. }
  assert (Y : b - a <= a * s * x).
  { apply (Rmult_le_reg_r (IZR d)); [exact B |]. eapply Rle_trans; [exact H4 |].
    replace (IZR n * a * s) with (a * s * (IZR n / IZR d) * IZR d) by (field; lra).
    apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; [| exact X]. apply Rmult_le_pos; lra. }
  assert (PX : 0 < a * e * x) by (repeat apply Rmult_lt_0_compat; try assumption; apply exp_pos).
  assert (V : a * e * x * (s - lead k S F + s * real t) <= a * e * x * s).
  { pose proof (Rmult_le_compat_l a _ _ (Rlt_le _ _ H1) (Rge_le _ _ G)).
    pose proof (Rmult_le_compat_r e _ _ (Rlt_le _ _ PK) Y). lra. }
  apply Rmult_le_reg_l in V; [lra | exact PX].
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

Lemma lead_scaled u k S F : lead k S (map (Rmult u) F) = u * lead k S F.
Proof.
  induction S as [| j S IH]; simpl; [ring |]. rewrite IH.
  assert (N : forall i, nth i (map (Rmult u) F) 0 = u * nth i F 0)
    by (intros; rewrite <- (Rmult_0_r u) at 1; apply map_nth).
  rewrite !N. ring.
Qed.

Theorem check_ok q rs : check q rs = true -> forall v, inputs_in q v ->
  holds (asked_for q) (reference q v) (candidate q v).
Proof.
  unfold check. intros H v HV. apply andb_prop in H. destruct H as [M H].
  apply andb_prop in M. destruct M as [M _]. apply andb_prop in M. destruct M as [HW HS].
  destruct (run (problem q) rs [root q]) as [[| x xs] |] eqn:E; try discriminate. clear H.
  set (w := map (Rmult (IZR (Zpos (grain q)))) v).
  assert (T := tree_ok _ _ _ _ (well_formed_ordered _ _ HW) E w (region_ok q v HV)). clear E.
  unfold reference, candidate. rewrite <- (scaled_back (grain q) v). fold w. unfold unit.
  assert (U : 0 < / IZR (Zpos (grain q))) by (apply Rinv_0_lt_compat, pos_IZR).
  rewrite !outputs_scaled by exact U.
  assert (L : length (post First (pair q) w) = outputs_count q).
  { unfold outputs_count. destruct HV as [HB _]. apply same_length in HB. rewrite HB.
    replace (length v) with (length w) by (unfold w; apply map_length).
    destruct (pair q); simpl; [reflexivity | apply map_length]. }
  assert (L2 : length (post Second (pair q) w) = outputs_count q).
  { unfold outputs_count. destruct HV as [HB _]. apply same_length in HB. rewrite HB.
    replace (length v) with (length w) by (unfold w; apply map_length).
    destruct (pair q); simpl; [reflexivity | apply map_length]. }
  unfold problem in T.
  set (n := pair q) in *. set (g := grain q) in *. set (m := outputs_count q) in *. set (u := / IZR (Zpos g)) in *.
  clearbody n g m. clear HW HV.
  assert (FIRST : forall least groups k, (forall o, In o (ahead g m least groups) ->
      ~ violated (claim_layer (ahead_rows m groups) :: n) o w) -> (k < m)%nat ->
      (forall i, (i < m)%nat -> i <> k -> nth k (post First n w) 0 - nth i (post First n w) 0 >= IZR least) ->
      (forall S t, In (k, (S, t)) (members m groups) -> lead k S (post First n w) >= IZR (group_least g S t)) ->
      first k (map (Rmult u) (post Second n w))).
  { intros least groups k A K P Q j J. rewrite map_length, L2 in J. rewrite !(nth_u g).
    destruct (Nat.eq_dec j k) as [-> | D]; [lra |].
    pose proof (ahead_ok g n w m least groups k j L K J D A P Q) as X. fold u. nra. }
  destruct (asked_for q) as [outs eps | outs eps | margin | delta t powers groups | a b most less]; simpl in T; simpl holds.
  - intros i I. destruct (numbered_in outs i I) as [r R]. pose proof (numbered_nth _ _ _ R) as N.
    assert (RL : (r < length outs)%nat) by (apply nth_error_Some; congruence).
    assert (A : at_ (claim_layer (map (fun i => (unit_row i, unit_row i)) outs) :: n) 0 r w
      = Some (nth i (post First n w) 0, nth i (post Second n w) 0)).
    { rewrite at_row. rewrite nth_error_map, N. simpl. rewrite !dot_unit. reflexivity. }
    assert (UP : ~ violated (claim_layer (map (fun i => (unit_row i, unit_row i)) outs) :: n)
      [Limit 0 r KD true (down g eps) true] w).
    { apply T. apply in_flat_map. exists r. split; [apply in_seq; lia | simpl; auto]. }
    assert (LO : ~ violated (claim_layer (map (fun i => (unit_row i, unit_row i)) outs) :: n)
      [Limit 0 r KD false (- down g eps) true] w).
    { apply T. apply in_flat_map. exists r. split; [apply in_seq; lia | simpl; auto]. }
    rewrite !(nth_u g). fold u.
    set (x := nth i (post First n w) 0) in *. set (y := nth i (post Second n w) 0) in *.
    assert (X : x - y <= IZR (down g eps)).
    { apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite A. unfold quantity. simpl. lra. }
    assert (Y : - IZR (down g eps) <= x - y).
    { apply Rnot_lt_le. intros Z0. apply LO. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite A. unfold quantity. simpl. rewrite opp_IZR. lra. }
    pose proof (from_down g _ eps (Rle_refl _)) as Z0. fold u in Z0. apply Rabs_le. split; nra.
  - destruct (signed_rows_ok outs (post First n w) (post Second n w)) as (s & I & S).
    destruct (numbered_in _ _ I) as [r R]. pose proof (numbered_nth _ _ _ R) as N.
    assert (RL : (r < length (signed_rows outs))%nat) by (apply nth_error_Some; congruence).
    assert (UP : ~ violated (claim_layer (map (fun r => (r, r)) (signed_rows outs)) :: n)
      [Limit 0 r KD true (down g eps) true] w).
    { apply T. apply in_map_iff. exists r. split; [reflexivity | apply in_seq; lia]. }
    assert (X : sum_abs outs (post First n w) (post Second n w) <= IZR (down g eps)).
    { apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl layer_of. simpl neuron_of.
      rewrite at_row, nth_error_map, N. unfold quantity. simpl. lra. }
    apply from_down in X. fold u in X.
    replace (sum_abs outs (map (Rmult u) (post First n w)) (map (Rmult u) (post Second n w)))
      with (u * sum_abs outs (post First n w) (post Second n w)); [exact X |].
    clear - U. induction outs as [| i outs IH]; simpl; [ring |]. rewrite <- IH, !(nth_u g). fold u.
    rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq u) by (left; exact U). ring.
  - intros k K P. rewrite map_length, L in K. apply (FIRST (down g margin) [] k T K).
    + intros i I D. rewrite map_length, L in P. specialize (P i I D). rewrite !(nth_u g) in P. fold u in P.
      rewrite <- Rmult_minus_distr_l in P. apply Rle_ge. eapply Rle_trans; [apply (down_ok g margin) |].
      apply (scaled_le g). fold u. lra.
    + intros S t I. apply filter_In in I. destruct I as [I _]. apply in_prod_iff in I. destruct (proj2 I).
  - intros k K A P. assert (K' := K). rewrite map_length, L in K. simpl in HS. apply andb_prop in HS. destruct HS as [H1 HG].
    apply (FIRST (Z.max 0 (down g t)) groups k T K).
    + intros i I D. assert (I' := I). rewrite <- L, <- (map_length (Rmult u)) in I'.
      assert (U2 : distinct [k; i] = true).
      { simpl. rewrite orb_false_r, andb_true_r. apply negb_true_iff, Nat.eqb_neq. auto. }
      pose proof (margin_of_confidence_ok delta t powers [i] _ k H1 U2 K'
        ltac:(intros x [<- | []]; exact I') P) as Q. simpl in Q. specialize (A i I').
      rewrite !(nth_u g) in Q, A. fold u in Q, A. apply Rle_ge, max_case.
      * assert (B : 0 <= u * (nth k (post First n w) 0 - nth i (post First n w) 0)) by lra.
        apply (Rmult_le_reg_l u); [exact U |]. rewrite Rmult_0_r. exact B.
      * eapply Rle_trans; [apply (down_ok g t) |]. apply (scaled_le g). fold u. lra.
    + intros S e I. apply filter_In in I. destruct I as [I X]. cbn [fst snd] in X. apply andb_prop in X. destruct X as [X V].
      apply in_prod_iff in I. destruct I as [_ I]. rewrite forallb_forall in HG. specialize (HG _ I). cbn [fst snd] in HG.
      assert (J : forall j, In j S -> (j < length (map (Rmult u) (post First n w)))%nat).
      { intros j J. rewrite map_length, L. rewrite forallb_forall in V. apply Nat.ltb_lt, V, J. }
      pose proof (margin_of_confidence_ok delta e powers S _ k HG X K' J P) as Q. unfold group_least.
      eapply Rge_trans; [| apply Rle_ge, (down_ok g)]. unfold real at 1. cbn [fst snd]. rewrite mult_IZR, <- INR_IZR_INZ.
      apply Rle_ge, (scaled_le g). fold u. rewrite <- (lead_scaled u). unfold real in Q. lra.
  - rewrite !dot_scaled.
    assert (UP := T _ (or_introl eq_refl)).
    assert (S : forall z, z <= IZR (down g most) -> u * z <= real most) by (intros; apply (from_down g); assumption).
    assert (S' : forall z, z < IZR (down g most) -> u * z < real most).
    { intros z Z0. eapply Rlt_le_trans; [apply (Rmult_lt_compat_l u _ _ U Z0) | apply S; lra]. }
    rewrite <- Rmult_plus_distr_l. destruct less.
    + apply S'. apply Rnot_le_lt. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl.
      unfold quantity, pre, row, bias. simpl. rewrite dot_opp. lra.
    + apply S. apply Rnot_lt_le. intros Z0. apply UP. constructor; [| constructor]. unfold meets. simpl.
      unfold quantity, pre, row, bias. simpl. rewrite dot_opp. lra.
Qed.
