(** Pairs of networks in step: layers of neurons, each with a row and a bias in either network and one function.

    A network with rational weights is written with integers: all weights of a layer over one denominator, and biases,
    kinks and shifts over that and in units u = 1 / grain besides. Of a neuron it may be known only up to an error what
    its function reads: then two numbers say how large the error may be, one for its row, times the largest of what the
    row reads, and one for its bias. So the pair is a set of networks. [computes u s n a v]: the numbers a may be what the
    functions of network s read at the real input v; [result u s n a v] is what comes out. Where there are no errors this
    is [outputs u s n v] alone ([computes_exactly]); networks whose weights are near those of n run so too ([near_weights]).

    The kernel calculates in multiples of u, with both networks side by side: [traces n r w] and [given s n r w]. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Levels.
Import ListNotations.
Open Scope R_scope.

(** b + m a: the sums of products that nearly all time goes to. *)
Definition plus_times (b m a : Z) : Z := (b + m * a)%Z.

(** * Vectors; entries that a row does not have are 0. *)
Fixpoint dot (p : list Z) (v : list R) : R :=
  match p, v with a :: p', x :: v' => IZR a * x + dot p' v' | _, _ => 0 end.
Fixpoint add_row (m : Z) (r acc : list Z) : list Z :=
  match r, acc with
  | [], _ => acc
  | a :: r', [] => (m * a)%Z :: add_row m r' []
  | a :: r', b :: acc' => plus_times b m a :: add_row m r' acc'
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
  - unfold plus_times. rewrite IH, plus_IZR, mult_IZR. ring.
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
  | a :: r', b :: acc' => plus_times b m a :: add_run m r' add acc'
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
  destruct acc as [| b acc]; destruct v as [| x v]; simpl; unfold plus_times; rewrite ?dot_nil; try ring;
    rewrite IH, ?plus_IZR, mult_IZR; simpl; ring.
Qed.
Lemma add_runs_adds m r : adds m (entries r) (add_runs m r).
Proof.
  induction r as [| [zeros weights] r IH]; intros acc v; [simpl; rewrite ?dot_nil, ?dot_none; ring |].
  cbn [entries flat_map fst snd add_runs]. rewrite <- app_assoc. apply behind_adds, add_run_adds, IH.
Qed.
Lemma dot_add_weights m r acc v : dot (add_weights m r acc) v = IZR m * dot (entries r) v + dot acc v.
Proof. unfold add_weights. destruct (Z.eqb_spec m 0); [subst; ring | apply add_runs_adds]. Qed.

(** Rows times numbers, to be added up: four of them at a time where they have no zeros, for each step makes a list anew. *)
Definition with_row (m : Z) (r : runs) (rows : list (Z * runs)) := if (m =? 0)%Z then rows else (m, r) :: rows.
Fixpoint add_two (m : Z) (r : list Z) (n : Z) (s acc : list Z) : list Z :=
  match r, s with
  | a :: r', b :: s' =>
      match acc with
      | [] => plus_times (m * a) n b :: add_two m r' n s' []
      | e :: acc' => plus_times (plus_times e m a) n b :: add_two m r' n s' acc'
      end
  | _, _ => add_row m r (add_row n s acc)
  end.
Fixpoint add_four (m : Z) (r : list Z) (n : Z) (s : list Z) (k : Z) (t : list Z) (j : Z) (u acc : list Z) : list Z :=
  match r, s, t, u with
  | a :: r', b :: s', c :: t', d :: u' =>
      match acc with
      | [] => plus_times (plus_times (plus_times (m * a) n b) k c) j d :: add_four m r' n s' k t' j u' []
      | e :: acc' =>
          plus_times (plus_times (plus_times (plus_times e m a) n b) k c) j d :: add_four m r' n s' k t' j u' acc'
      end
  | _, _, _, _ => add_two m r n s (add_two k t j u acc)
  end.
Definition without_zeros (r : runs) : option (list Z) := match r with [(O, v)] => Some v | _ => None end.
Fixpoint sum_rows (rows : list (Z * runs)) : list Z :=
  match rows with
  | [] => []
  | (m, r) :: rows1 =>
      match without_zeros r, rows1 with
      | Some v, (n, s) :: rows2 =>
          match without_zeros s, rows2 with
          | Some w, (k, t) :: (j, u) :: rows4 =>
              match without_zeros t, without_zeros u with
              | Some y, Some z => add_four m v n w k y j z (sum_rows rows4)
              | _, _ => add_two m v n w (sum_rows rows2)
              end
          | Some w, _ => add_two m v n w (sum_rows rows2)
          | None, _ => add_weights m r (sum_rows rows1)
          end
      | _, _ => add_weights m r (sum_rows rows1)
      end
  end.
Lemma dot_add_two m n v : forall r s acc,
  dot (add_two m r n s acc) v = IZR m * dot r v + (IZR n * dot s v + dot acc v).
Proof.
  revert v. intros v r. revert v. induction r as [| a r IH]; intros v s acc.
  - cbn [add_two]. rewrite !dot_add_row. reflexivity.
  - destruct s as [| b s]; [cbn [add_two]; rewrite !dot_add_row; reflexivity |].
    destruct acc as [| c acc], v as [| x v]; cbn [add_two dot]; unfold plus_times; rewrite ?dot_nil; try ring;
      rewrite IH, ?plus_IZR, !mult_IZR, ?dot_none; ring.
Qed.
Lemma dot_add_four m n k j : forall r s t u acc v, dot (add_four m r n s k t j u acc) v
  = IZR m * dot r v + (IZR n * dot s v + (IZR k * dot t v + (IZR j * dot u v + dot acc v))).
Proof.
  assert (E : forall r s t u acc v, dot (add_two m r n s (add_two k t j u acc)) v
    = IZR m * dot r v + (IZR n * dot s v + (IZR k * dot t v + (IZR j * dot u v + dot acc v))))
    by (intros; rewrite !dot_add_two; reflexivity).
  induction r as [| a r IH]; intros s t u acc v; [apply E |].
  destruct s as [| b s]; [apply E |]. destruct t as [| c t]; [apply E |]. destruct u as [| d u]; [apply E |].
  destruct acc as [| e acc], v as [| x v]; cbn [add_four dot]; unfold plus_times; rewrite ?dot_nil; try ring;
    rewrite IH, ?plus_IZR, !mult_IZR, ?dot_none; ring.
Qed.
Lemma without_zeros_ok r v : without_zeros r = Some v -> entries r = v.
Proof.
  destruct r as [| [[| ?] a] [| ? ?]]; intros E; inversion E; subst. unfold entries. cbn [flat_map fst snd repeat app].
  apply app_nil_r.
Qed.
Fixpoint rows_at (rows : list (Z * runs)) (v : list R) : R :=
  match rows with [] => 0 | (m, r) :: rows' => IZR m * dot (entries r) v + rows_at rows' v end.
Lemma dot_sum_rows v : forall rows, dot (sum_rows rows) v = rows_at rows v.
Proof.
  assert (H : forall most rows, (length rows <= most)%nat -> dot (sum_rows rows) v = rows_at rows v).
  { induction most as [| most IH]; intros [| [m r] rows1] L; cbn [length] in L; try (apply dot_none); [lia |].
    assert (G1 : dot (sum_rows rows1) v = rows_at rows1 v) by (apply IH; lia).
    assert (E1 : dot (add_weights m r (sum_rows rows1)) v = rows_at ((m, r) :: rows1) v)
      by (rewrite dot_add_weights, G1; reflexivity).
    cbn [sum_rows]. destruct (without_zeros r) as [p |] eqn:R; [| exact E1]. apply without_zeros_ok in R.
    destruct rows1 as [| [n s] rows2]; [exact E1 |]. cbn [length] in L.
    destruct (without_zeros s) as [w |] eqn:S; [| exact E1]. apply without_zeros_ok in S.
    assert (G2 : dot (sum_rows rows2) v = rows_at rows2 v) by (apply IH; lia).
    assert (E2 : dot (add_two m p n w (sum_rows rows2)) v = rows_at ((m, r) :: (n, s) :: rows2) v)
      by (rewrite dot_add_two, G2; cbn [rows_at]; rewrite R, S; reflexivity).
    destruct rows2 as [| [k t] [| [j u] rows4]]; [exact E2 | exact E2 |]. cbn [length] in L.
    destruct (without_zeros t) as [y |] eqn:T; [| exact E2]. apply without_zeros_ok in T.
    destruct (without_zeros u) as [z |] eqn:U; [| exact E2]. apply without_zeros_ok in U.
    assert (G4 : dot (sum_rows rows4) v = rows_at rows4 v) by (apply IH; lia).
    rewrite dot_add_four, G4. cbn [rows_at]. rewrite R, S, T, U. reflexivity. }
  intros rows. apply (H (length rows)). apply le_n.
Qed.
Lemma dot_sum_with m r rows v : dot (sum_rows (with_row m r rows)) v = IZR m * dot (entries r) v + dot (sum_rows rows) v.
Proof. rewrite !dot_sum_rows. unfold with_row. destruct (Z.eqb_spec m 0); [subst; ring | reflexivity]. Qed.
Lemma entries_dense r : entries (dense r) = r.
Proof. unfold entries, dense. simpl. apply app_nil_r. Qed.

(** * Pairs of networks, layers from the last to the first *)
Inductive side := First | Second.
(** What is unknown of a row in the sum of its weights' sizes, and of a bias, in either network. *)
Record spread := Spread { off1 : N; slack1 : N; off2 : N; slack2 : N }.
(** A bias in two parts, so that their products with slopes are short. *)
Definition radix : Z := 2147483648.
Record long := Long { upper : Z; lower : Z }.
Definition whole (b : long) : Z := (upper b * radix + lower b)%Z.
Definition long_of (b : Z) : long := (let h := b / radix in Long h (b - h * radix))%Z.
Record neuron := Neuron {
  function : curve; other : option curve;      (* of the first network; of the second, if it is not the same one *)
  row1 : runs; long1 : long; row2 : runs; long2 : long; unknown : option spread }.
Definition bias1 (k : neuron) := whole (long1 k).
Definition bias2 (k : neuron) := whole (long2 k).
Definition curve_of (s : side) (k : neuron) : curve :=
  match s, other k with Second, Some c => c | _, _ => function k end.
Definition row (s : side) (k : neuron) := entries match s with First => row1 k | Second => row2 k end.
Definition bias (s : side) (k : neuron) := match s with First => bias1 k | Second => bias2 k end.
Definition off (s : side) (k : neuron) : Z :=
  match unknown k with None => 0%Z | Some e => Z.of_N match s with First => off1 e | Second => off2 e end end.
Definition slack (s : side) (k : neuron) : Z :=
  match unknown k with None => 0%Z | Some e => Z.of_N match s with First => slack1 e | Second => slack2 e end end.
Record layer := Layer { denominator : positive; neurons : list neuron }.
Definition net := list layer.

(** What the networks compute: the meaning of all statements rests on these definitions and [curve_value], [dot]. *)
Fixpoint largest (X : list R) : R := match X with [] => 0 | x :: X' => Rmax (Rabs x) (largest X') end.
(** Whether a function may read z where its row reads X. *)
Definition near (u : R) (s : side) (d : positive) (k : neuron) (X : list R) (z : R) : Prop :=
  Rabs (IZR (Zpos d) * z - (dot (row s k) X + IZR (bias s k) * u)) <= IZR (off s k) * largest X + IZR (slack s k) * u.
Fixpoint results (u : R) (s : side) (ks : list neuron) (a : list R) : list R :=
  match ks, a with k :: ks', z :: a' => curve_value u (curve_of s k) z :: results u s ks' a' | _, _ => [] end.
Definition result (u : R) (s : side) (n : net) (a : list (list R)) (v : list R) : list R :=
  match n, a with l :: _, z :: _ => results u s (neurons l) z | _, _ => v end.
Fixpoint computes (u : R) (s : side) (n : net) (a : list (list R)) (v : list R) : Prop :=
  match n, a with
  | [], [] => True
  | l :: n', z :: a' => Forall2 (fun k => near u s (denominator l) k (result u s n' a' v)) (neurons l) z /\ computes u s n' a' v
  | _, _ => False
  end.

(** Without errors. *)
Definition argument (u : R) (s : side) (d : positive) (k : neuron) (X : list R) : R :=
  (dot (row s k) X + IZR (bias s k) * u) / IZR (Zpos d).
Fixpoint outputs (u : R) (s : side) (n : net) (v : list R) : list R :=
  match n with
  | [] => v
  | l :: n' => map (fun k => curve_value u (curve_of s k) (argument u s (denominator l) k (outputs u s n' v))) (neurons l)
  end.
Fixpoint arguments (u : R) (s : side) (n : net) (v : list R) : list (list R) :=
  match n with
  | [] => []
  | l :: n' => map (fun k => argument u s (denominator l) k (outputs u s n' v)) (neurons l) :: arguments u s n' v
  end.

Lemma whole_of b : whole (long_of b) = b.
Proof. unfold whole, long_of. cbn [upper lower]. ring. Qed.
Lemma pos_IZR d : 0 < IZR (Zpos d).
Proof. apply IZR_lt. lia. Qed.
Lemma largest_pos X : 0 <= largest X.
Proof. induction X; simpl; [lra |]. eapply Rle_trans; [exact IHX | apply Rmax_r]. Qed.
Lemma off_pos s k : 0 <= IZR (off s k).
Proof. apply IZR_le. unfold off. destruct (unknown k); [| lia]. destruct s; apply N2Z.is_nonneg. Qed.
Lemma slack_pos s k : 0 <= IZR (slack s k).
Proof. apply IZR_le. unfold slack. destruct (unknown k); [| lia]. destruct s; apply N2Z.is_nonneg. Qed.

Lemma results_exactly u s (ks : list neuron) (h : neuron -> R) :
  results u s ks (map h ks) = map (fun k => curve_value u (curve_of s k) (h k)) ks.
Proof. induction ks; simpl; congruence. Qed.
Theorem computes_exactly u s n v : 0 <= u ->
  computes u s n (arguments u s n v) v /\ result u s n (arguments u s n v) v = outputs u s n v.
Proof.
  intros U. induction n as [| l n [IH E]]; [simpl; auto |]. cbn [computes arguments result outputs]. rewrite E.
  split; [split; [| exact IH] |].
  - induction (neurons l) as [| k ks IHk]; simpl; constructor; auto. unfold near, argument.
    set (z := dot _ _ + _). pose proof (pos_IZR (denominator l)).
    replace (IZR (Zpos (denominator l)) * (z / IZR (Zpos (denominator l))) - z) with 0 by (field; lra). rewrite Rabs_R0.
    pose proof (off_pos s k). pose proof (slack_pos s k). pose proof (largest_pos (outputs u s n v)). nra.
  - apply results_exactly.
Qed.

(** Real weights whose distances from those of the row add up to what is unknown of it at most, and a bias alike. *)
Fixpoint product (p v : list R) : R := match p, v with a :: p', x :: v' => a * x + product p' v' | _, _ => 0 end.
Definition sizes (q : list R) : R := fold_right (fun b t => Rabs b + t) 0 q.
Fixpoint apart (p : list Z) (q : list R) : R :=
  match p, q with
  | [], _ => sizes q
  | _, [] => sizes (map IZR p)
  | a :: p', b :: q' => Rabs (b - IZR a) + apart p' q'
  end.
Lemma sizes_pos q : 0 <= sizes q.
Proof. induction q as [| b q IH]; simpl; [lra | pose proof (Rabs_pos b); lra]. Qed.
Lemma product_far q X : Rabs (product q X) <= sizes q * largest X.
Proof.
  revert X. induction q as [| b q IH]; intros [| x X]; simpl; rewrite ?Rabs_R0; try lra.
  pose proof (Rabs_triang (b * x) (product q X)) as T. rewrite Rabs_mult in T. specialize (IH X).
  pose proof (Rmax_l (Rabs x) (largest X)). pose proof (Rmax_r (Rabs x) (largest X)). pose proof (Rabs_pos b).
  pose proof (sizes_pos q). nra.
Qed.
Lemma apart_ok p : forall q X, Rabs (product q X - dot p X) <= apart p q * largest X.
Proof.
  assert (Z0 : forall p, apart p [] = sizes (map IZR p)) by (intros []; reflexivity).
  assert (P : forall p q, 0 <= apart p q).
  { clear. induction p as [| a p IH]; intros [| b q]; cbn [apart].
    - apply sizes_pos.
    - apply sizes_pos.
    - apply sizes_pos.
    - specialize (IH q). pose proof (Rabs_pos (b - IZR a)). lra. }
  induction p as [| a p IH]; intros q X.
  - simpl apart. rewrite dot_none, Rminus_0_r. apply product_far.
  - destruct q as [| b q].
    + rewrite Z0. cbn [product]. rewrite Rminus_0_l, Rabs_Ropp.
      assert (E : forall p X, dot p X = product (map IZR p) X).
      { clear. induction p as [| a p IH]; intros [| x X]; simpl; try reflexivity. rewrite IH. reflexivity. }
      rewrite E. apply product_far.
    + destruct X as [| x X]; [simpl; rewrite Rminus_0_r, Rabs_R0, Rmult_0_r; lra |]. cbn [product dot apart largest].
      replace (b * x + product q X - (IZR a * x + dot p X)) with ((b - IZR a) * x + (product q X - dot p X)) by ring.
      eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult. specialize (IH q X). specialize (P p q).
      pose proof (Rmax_l (Rabs x) (largest X)). pose proof (Rmax_r (Rabs x) (largest X)). pose proof (Rabs_pos (b - IZR a)).
      pose proof (largest_pos X). nra.
Qed.
Theorem near_weights u s d k X p c : 0 <= u -> apart (row s k) p <= IZR (off s k) -> Rabs (c - IZR (bias s k)) <= IZR (slack s k) ->
  near u s d k X ((product p X + c * u) / IZR (Zpos d)).
Proof.
  intros U P C. unfold near. pose proof (pos_IZR d).
  replace (IZR (Zpos d) * ((product p X + c * u) / IZR (Zpos d)) - (dot (row s k) X + IZR (bias s k) * u))
    with (product p X - dot (row s k) X + (c - IZR (bias s k)) * u) by (field; lra).
  eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult, (Rabs_pos_eq u) by exact U.
  pose proof (apart_ok (row s k) p X). pose proof (largest_pos X). nra.
Qed.

(** * Both side by side, in multiples of u *)
Definition trace := list (list (R * R)).
Definition part (s : side) (z : R * R) : R := match s with First => fst z | Second => snd z end.
Fixpoint values (s : side) (ks : list neuron) (z : list (R * R)) : list R :=
  match ks, z with k :: ks', a :: z' => cR (curve_of s k) (part s a) :: values s ks' z' | _, _ => [] end.
Definition given (s : side) (n : net) (r : trace) (w : list R) : list R :=
  match n, r with l :: _, z :: _ => values s (neurons l) z | _, _ => w end.
(** How far d z may be from what a row without error gives, where this reads numbers of sizes up to m. *)
Definition blur (s : side) (k : neuron) (m : R) : R := IZR (off s k) * m + IZR (slack s k).
Definition reads (d : positive) (k : neuron) (X Y : list R) (m m' : R) (z : R * R) : Prop :=
  Rabs (IZR (Zpos d) * fst z - (dot (row First k) X + IZR (bias First k))) <= blur First k m
  /\ Rabs (IZR (Zpos d) * snd z - (dot (row Second k) Y + IZR (bias Second k))) <= blur Second k m'.
Fixpoint traces (n : net) (r : trace) (w : list R) : Prop :=
  match n, r with
  | [], [] => True
  | l :: n', z :: r' =>
      let X := given First n' r' w in
      let Y := given Second n' r' w in
      Forall2 (fun k => reads (denominator l) k X Y (largest X) (largest Y)) (neurons l) z /\ traces n' r' w
  | _, _ => False
  end.
Lemma traces_length w : forall n r, traces n r w -> length r = length n.
Proof. induction n; intros [| z r] T; simpl in *; try tauto. f_equal. apply IHn, T. Qed.
Lemma reads_more d k X Y m m' M z : m <= M -> m' <= M -> reads d k X Y m m' z -> reads d k X Y M M z.
Proof.
  unfold reads, blur. intros H H' [A B]. pose proof (off_pos First k). pose proof (off_pos Second k). split; nra.
Qed.

(** From runs of both networks, in units of u, to a trace in multiples. *)
Definition joined (g : R) (a b : list (list R)) : trace :=
  map (fun ab => combine (map (Rmult g) (fst ab)) (map (Rmult g) (snd ab))) (combine a b).
Lemma largest_scaled g X : 0 < g -> largest (map (Rmult g) X) = g * largest X.
Proof.
  intros G. induction X as [| x X IH]; simpl; [ring |]. rewrite IH, Rabs_mult, (Rabs_pos_eq g), RmaxRmult by lra. reflexivity.
Qed.
Lemma results_scaled u s ks : 0 < u -> forall (x y : list R), length x = length y -> length ks = length x ->
  values s ks (combine (map (Rmult (/ u)) x) (map (Rmult (/ u)) y))
    = map (Rmult (/ u)) (results u s ks (match s with First => x | Second => y end)).
Proof.
  intros U. induction ks as [| k ks IH]; intros [| x X] [| y Y] L L'; try discriminate; [destruct s; reflexivity |]. simpl in L, L'.
  cbn [map combine values].
  assert (E : forall z, cR (curve_of s k) (/ u * z) = / u * curve_value u (curve_of s k) z).
  { intros z. replace z with (u * (/ u * z)) at 2 by (field; lra). rewrite curve_value_scaled by exact U. field. lra. }
  destruct s; cbn [results map part fst snd]; rewrite E, IH by lia; reflexivity.
Qed.
Lemma computes_lengths u s n v : forall a, computes u s n a v -> Forall2 (fun l z => length (neurons l) = length z) n a.
Proof.
  induction n as [| l n IH]; intros [| z a] H; simpl in H; try tauto; constructor; [| apply IH, H].
  destruct H as [H _]. induction H; simpl; congruence.
Qed.
Theorem joined_ok u n v : 0 < u -> forall a b, computes u First n a v -> computes u Second n b v ->
  traces n (joined (/ u) a b) (map (Rmult (/ u)) v)
  /\ given First n (joined (/ u) a b) (map (Rmult (/ u)) v) = map (Rmult (/ u)) (result u First n a v)
  /\ given Second n (joined (/ u) a b) (map (Rmult (/ u)) v) = map (Rmult (/ u)) (result u Second n b v).
Proof.
  intros U. assert (G : 0 < / u) by (apply Rinv_0_lt_compat, U).
  induction n as [| l n IH]; intros a b HA HB; destruct a as [| x a], b as [| y b]; simpl in HA, HB; try contradiction; [simpl; auto |].
  destruct HA as [HA RA], HB as [HB RB]. destruct (IH a b RA RB) as (T & E1 & E2). clear IH.
  assert (LX : length (neurons l) = length x) by (clear - HA; induction HA; simpl; congruence).
  assert (LY : length (neurons l) = length y) by (clear - HB; induction HB; simpl; congruence).
  unfold joined. cbn [combine map fst snd traces given result]. fold (joined (/ u) a b). rewrite E1, E2.
  split; [split; [| exact T] |].
  - clear - HA HB U G. revert y HB. induction HA as [| k z ks x HZ HA IH]; intros y HB; inversion HB; subst; [constructor |].
    cbn [map combine]. constructor; [| apply IH; assumption]. unfold reads, near, blur in *. cbn [fst snd].
    assert (S : forall s z X, Rabs (IZR (Zpos (denominator l)) * z - (dot (row s k) X + IZR (bias s k) * u))
        <= IZR (off s k) * largest X + IZR (slack s k) * u ->
      Rabs (IZR (Zpos (denominator l)) * (/ u * z) - (dot (row s k) (map (Rmult (/ u)) X) + IZR (bias s k)))
        <= IZR (off s k) * largest (map (Rmult (/ u)) X) + IZR (slack s k)).
    { intros s t X H. rewrite dot_scaled, largest_scaled by exact G.
      replace (IZR (Zpos (denominator l)) * (/ u * t) - (/ u * dot (row s k) X + IZR (bias s k)))
        with (/ u * (IZR (Zpos (denominator l)) * t - (dot (row s k) X + IZR (bias s k) * u))) by (field; lra).
      rewrite Rabs_mult, (Rabs_pos_eq (/ u)) by lra.
      replace (IZR (off s k) * (/ u * largest X) + IZR (slack s k)) with (/ u * (IZR (off s k) * largest X + IZR (slack s k) * u))
        by (field; lra).
      apply Rmult_le_compat_l; lra. }
    split; apply S; assumption.
  - split; [exact (results_scaled u First _ U x y ltac:(lia) LX) | exact (results_scaled u Second _ U x y ltac:(lia) LX)].
Qed.

(** * Well-formed: no row is longer than what it reads, functions have their kinks in order. *)
Definition width (inputs : nat) (n : net) : nat := match n with [] => inputs | l :: _ => length (neurons l) end.
Definition fits (m : nat) (k : neuron) : bool := ((length (row First k) <=? m)%nat && (length (row Second k) <=? m)%nat)%bool.
Definition curves (ks : list neuron) : list curve :=
  flat_map (fun k => function k :: match other k with None => [] | Some c => [c] end) ks.
Fixpoint well_formed (inputs : nat) (n : net) : bool :=
  match n with
  | [] => true
  | l :: n' => (forallb (fits (width inputs n')) (neurons l) && all_sound [] (curves (neurons l)) && well_formed inputs n')%bool
  end.
Definition ordered (l : layer) : Prop := Forall (fun k => sound (function k) = true /\ sound (curve_of Second k) = true) (neurons l).
Lemma well_formed_ordered inputs n : well_formed inputs n = true -> Forall ordered n.
Proof.
  induction n as [| l n IH]; intros W; constructor; simpl in W; apply andb_prop in W; destruct W as [A B]; auto.
  apply Forall_forall. intros k K. apply andb_prop in A. destruct A as [_ A]. apply all_sound_ok in A; [| constructor].
  rewrite Forall_forall in A. assert (S : forall c, In c (function k :: match other k with None => [] | Some c => [c] end) -> sound c = true)
    by (intros c C; apply A, in_flat_map; exists k; auto).
  split; [apply S; left; reflexivity |]. unfold curve_of. destruct (other k) as [c |]; apply S; [right |]; left; reflexivity.
Qed.
Lemma result_length u s n a v : computes u s n a v -> length (result u s n a v) = width (length v) n.
Proof.
  destruct n as [| l n], a as [| z a]; simpl; try tauto. intros [H _]. induction H; simpl; congruence.
Qed.
