(** Pairs of networks in step: layers of neurons, each with a row and a bias in either network and one function.

    A network with rational weights is written with integers: all weights of a layer over one denominator, and biases,
    kinks and shifts over that and in units u = 1 / grain besides. [outputs u s n v] is what network s of the pair n
    computes at the real input v. The kernel calculates in multiples of u: [post s n w] is the same with u = 1, and
    [outputs_scaled] says that outputs u s n (u w) = u post s n w. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Levels.
Import ListNotations.
Open Scope R_scope.

(** * Vectors; entries that a row does not have are 0. *)
Fixpoint dot (p : list Z) (v : list R) : R :=
  match p, v with a :: p', x :: v' => IZR a * x + dot p' v' | _, _ => 0 end.
Fixpoint add_row (m : Z) (r acc : list Z) : list Z :=
  match r, acc with
  | [], _ => acc
  | a :: r', [] => (m * a)%Z :: add_row m r' []
  | a :: r', b :: acc' => (b + m * a)%Z :: add_row m r' acc'
  end.
Definition add_times (m : Z) (r acc : list Z) : list Z := if (m =? 0)%Z then acc else add_row m r acc.

Lemma dot_nil p : dot p [] = 0.
Proof. destruct p; reflexivity. Qed.
Lemma dot_none v : dot [] v = 0.
Proof. reflexivity. Qed.
Lemma dot_add_row m r : forall acc v, dot (add_row m r acc) v = IZR m * dot r v + dot acc v.
Proof.
  induction r as [| a r IH]; intros acc v; simpl; [ring |].
  destruct acc as [| b acc]; destruct v as [| x v]; simpl; rewrite ?dot_nil; try ring.
  - rewrite IH, mult_IZR. simpl. ring.
  - rewrite IH, plus_IZR, mult_IZR. ring.
Qed.
Lemma dot_add_times m r acc v : dot (add_times m r acc) v = IZR m * dot r v + dot acc v.
Proof. unfold add_times. destruct (Z.eqb_spec m 0); [subst; ring | apply dot_add_row]. Qed.
Lemma dot_opp p : forall v, dot (map Z.opp p) v = - dot p v.
Proof. induction p; intros [| x v]; simpl; try lra. rewrite IHp, opp_IZR. lra. Qed.
Lemma dot_scaled p u : forall w, dot p (map (Rmult u) w) = u * dot p w.
Proof. induction p; intros [| x w]; simpl; try lra. rewrite IHp. ring. Qed.
Definition head (p : list Z) : Z := match p with [] => 0%Z | a :: _ => a end.
Lemma dot_head p x v : dot p (x :: v) = IZR (head p) * x + dot (tl p) v.
Proof. destruct p; simpl; ring. Qed.

(** Rows of weights are runs, each behind so many zeros: a row of a convolution is mostly zeros, which cost no
    multiplication then. [add_weights m r acc] is acc + m r. *)
Definition runs := list (nat * list Z).
Definition entries (r : runs) : list Z := flat_map (fun run => repeat 0%Z (fst run) ++ snd run) r.
Definition dense (r : list Z) : runs := [(O, r)].
Fixpoint behind (zeros : nat) (add : list Z -> list Z) (acc : list Z) : list Z :=
  match zeros, acc with
  | O, _ => add acc
  | S zeros', [] => 0%Z :: behind zeros' add []
  | S zeros', b :: acc' => b :: behind zeros' add acc'
  end.
Fixpoint add_run (m : Z) (r : list Z) (add : list Z -> list Z) (acc : list Z) : list Z :=
  match r, acc with
  | [], _ => add acc
  | a :: r', [] => (m * a)%Z :: add_run m r' add []
  | a :: r', b :: acc' => (b + m * a)%Z :: add_run m r' add acc'
  end.
Fixpoint add_runs (m : Z) (r : runs) (acc : list Z) : list Z :=
  match r with [] => acc | (zeros, weights) :: r' => behind zeros (add_run m weights (add_runs m r')) acc end.
Definition add_weights (m : Z) (r : runs) (acc : list Z) : list Z := if (m =? 0)%Z then acc else add_runs m r acc.

Definition adds (m : Z) (r : list Z) (add : list Z -> list Z) : Prop :=
  forall acc v, dot (add acc) v = IZR m * dot r v + dot acc v.
Lemma behind_adds m r add : adds m r add -> forall zeros, adds m (repeat 0%Z zeros ++ r) (behind zeros add).
Proof.
  intros A. induction zeros as [| zeros IH]; intros acc v; [apply A |].
  destruct acc as [| b acc]; destruct v as [| x v]; simpl; rewrite ?dot_nil; try ring; rewrite IH; simpl; ring.
Qed.
Lemma add_run_adds m r add : adds m r add -> forall weights, adds m (weights ++ r) (add_run m weights add).
Proof.
  intros A. induction weights as [| a weights IH]; intros acc v; [apply A |].
  destruct acc as [| b acc]; destruct v as [| x v]; simpl; rewrite ?dot_nil; try ring;
    rewrite IH, ?plus_IZR, mult_IZR; simpl; ring.
Qed.
Lemma add_runs_adds m r : adds m (entries r) (add_runs m r).
Proof.
  induction r as [| [zeros weights] r IH]; intros acc v; [simpl; rewrite ?dot_nil, ?dot_none; ring |].
  cbn [entries flat_map fst snd add_runs]. rewrite <- app_assoc. apply behind_adds, add_run_adds, IH.
Qed.
Lemma dot_add_weights m r acc v : dot (add_weights m r acc) v = IZR m * dot (entries r) v + dot acc v.
Proof. unfold add_weights. destruct (Z.eqb_spec m 0); [subst; ring | apply add_runs_adds]. Qed.
Lemma entries_dense r : entries (dense r) = r.
Proof. unfold entries, dense. simpl. apply app_nil_r. Qed.

(** * Pairs of networks, layers from the last to the first *)
Inductive side := First | Second.
Record neuron := Neuron {
  function : curve; other : option curve;      (* of the first network; of the second, if it is not the same one *)
  row1 : runs; bias1 : Z; row2 : runs; bias2 : Z }.
Definition curve_of (s : side) (k : neuron) : curve :=
  match s, other k with Second, Some c => c | _, _ => function k end.
Definition row (s : side) (k : neuron) := entries match s with First => row1 k | Second => row2 k end.
Definition bias (s : side) (k : neuron) := match s with First => bias1 k | Second => bias2 k end.
Record layer := Layer { denominator : positive; neurons : list neuron }.
Definition net := list layer.

(** What the networks compute: the meaning of all statements rests on these two definitions and [curve_value], [dot]. *)
Definition argument (u : R) (s : side) (d : positive) (k : neuron) (X : list R) : R :=
  (dot (row s k) X + IZR (bias s k) * u) / IZR (Zpos d).
Fixpoint outputs (u : R) (s : side) (n : net) (v : list R) : list R :=
  match n with
  | [] => v
  | l :: n' => map (fun k => curve_value u (curve_of s k) (argument u s (denominator l) k (outputs u s n' v))) (neurons l)
  end.

(** The same in multiples of u. *)
Definition pre (s : side) (d : positive) (k : neuron) (X : list R) : R :=
  (dot (row s k) X + IZR (bias s k)) / IZR (Zpos d).
Fixpoint post (s : side) (n : net) (w : list R) : list R :=
  match n with
  | [] => w
  | l :: n' => map (fun k => cR (curve_of s k) (pre s (denominator l) k (post s n' w))) (neurons l)
  end.

Lemma pos_IZR d : 0 < IZR (Zpos d).
Proof. apply IZR_lt. lia. Qed.

Theorem outputs_scaled u s n w : 0 < u -> outputs u s n (map (Rmult u) w) = map (Rmult u) (post s n w).
Proof.
  intros U. induction n as [| l n IH]; [reflexivity |]. simpl. rewrite IH, map_map. apply map_ext. intros k.
  rewrite <- curve_value_scaled by exact U. f_equal. unfold argument, pre. rewrite dot_scaled.
  pose proof (pos_IZR (denominator l)). field. lra.
Qed.

(** * Well-formed: no row is longer than what it reads, functions have their kinks in order. *)
Definition width (inputs : nat) (n : net) : nat := match n with [] => inputs | l :: _ => length (neurons l) end.
Definition fits (m : nat) (k : neuron) : bool :=
  ((length (row First k) <=? m)%nat && (length (row Second k) <=? m)%nat && sound (function k) && sound (curve_of Second k))%bool.
Fixpoint well_formed (inputs : nat) (n : net) : bool :=
  match n with
  | [] => true
  | l :: n' => (forallb (fits (width inputs n')) (neurons l) && well_formed inputs n')%bool
  end.
Definition ordered (l : layer) : Prop := Forall (fun k => sound (function k) = true /\ sound (curve_of Second k) = true) (neurons l).
Lemma well_formed_ordered inputs n : well_formed inputs n = true -> Forall ordered n.
Proof.
  induction n as [| l n IH]; intros W; constructor; simpl in W; apply andb_prop in W; destruct W as [A B]; auto.
  apply Forall_forall. intros k K. rewrite forallb_forall in A. specialize (A k K).
  unfold fits in A. apply andb_prop in A. destruct A as [A A2]. apply andb_prop in A. tauto.
Qed.
Lemma outputs_length u s n v : length (outputs u s n v) = width (length v) n.
Proof. destruct n; simpl; [reflexivity | apply map_length]. Qed.
