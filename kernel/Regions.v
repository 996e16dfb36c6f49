(** The region of inputs, and how large the numbers are that a layer reads.

    [low_region_ok]: a functional of the inputs is at least what [low_region] calculates, with multipliers of constraints.
    [reach_ok]: where what a layer reads is known up to errors, these are at most what they are for numbers of the size
    [reach], which follows from the known bounds of the layer before, or from the box. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Levels Networks Bounds Relaxation.
Import ListNotations.
Open Scope R_scope.

(** * A box and constraints A w <= b, in multiples of the unit *)
Definition box := list (Z * Z).
Definition constraint := (list Z * Z)%type.
Record region := Region { sides : box; constraints : list constraint }.
Definition in_box (B : box) (w : list R) : Prop := Forall2 (fun b x => IZR (fst b) <= x <= IZR (snd b)) B w.
Definition in_region (B : region) (w : list R) : Prop :=
  in_box (sides B) w /\ Forall (fun c => dot (fst c) w <= IZR (snd c)) (constraints B).

Fixpoint low_box (B : box) (p : list Z) : Z :=
  match B, p with
  | (l, u) :: B', a :: p' => (Z.min (a * l) (a * u) + low_box B' p')%Z
  | _, _ => 0%Z
  end.
(** With multipliers of constraints, of which the sizes count: p w >= (p + m A) w - m b for m >= 0. *)
Fixpoint low_region (B : box) (cs : list constraint) (h : list hint) (p : list Z) : Z :=
  match cs, h with
  | (r, b) :: cs', m :: h' =>
      (low_region B cs' h' (add_times (Z.abs (link m)) r p) - Z.abs (link m) * b)%Z
  | _, _ => low_box B p
  end.

Lemma line_ends (c l u v : R) : l <= v <= u -> c * v >= c * l \/ c * v >= c * u.
Proof. intros. destruct (Rle_dec 0 c); [left | right]; nra. Qed.
Lemma low_box_ok B : forall w p, in_box B w -> dot p w >= IZR (low_box B p).
Proof.
  induction B as [| [l u] B IH]; intros w p HB; inversion HB; subst.
  - rewrite dot_nil. simpl. lra.
  - destruct p as [| a p]; simpl; [lra |]. rewrite plus_IZR. specialize (IH _ p H3). simpl in H1.
    destruct (line_ends (IZR a) (IZR l) (IZR u) y H1) as [G | G].
    + pose proof (min_l (a * l) (a * u)) as Q. rewrite mult_IZR in Q. lra.
    + pose proof (min_r (a * l) (a * u)) as Q. rewrite (mult_IZR a u) in Q. lra.
Qed.
Lemma low_region_ok B w : in_box B w -> forall cs h p, Forall (fun c => dot (fst c) w <= IZR (snd c)) cs ->
  dot p w >= IZR (low_region B cs h p).
Proof.
  intros HB. induction cs as [| [r b] cs IH]; intros h p HC; [apply low_box_ok, HB |].
  destruct h as [| m h]; [apply low_box_ok, HB |]. inversion HC as [| ? ? C1 C2]; subst. simpl in *.
  specialize (IH h (add_times (Z.abs (link m)) r p) C2). rewrite dot_add_times in IH. rewrite minus_IZR, mult_IZR.
  assert (0 <= IZR (Z.abs (link m))) by (apply IZR_le; lia). nra.
Qed.

(** * Sizes *)
(** At least the sizes of what a layer reads, which only matters where something is unknown of it. *)
Definition size_on (c : curve) (l u : Z) : Z :=
  Z.max (- (low_line (close c) 1 0 l u + low_error c 1 l u)) (- (low_line (close c) (-1) 0 l u + low_error c (-1) l u)).
Fixpoint reach_of (ks : list neuron) (bs : list bounds) : Z :=
  match ks, bs with
  | k :: ks', b :: bs' =>
      Z.max (Z.max (size_on (function k) (lx b) (ux b)) (size_on (curve_of Second k) (ly b) (uy b))) (reach_of ks' bs')
  | _, _ => 0%Z
  end.
Fixpoint reach_box (B : box) : Z := match B with [] => 0%Z | (l, u) :: B' => Z.max (Z.max (- l) u) (reach_box B') end.
Definition is_unknown (k : neuron) : bool := match unknown k with None => false | Some _ => true end.
Definition reach (l : layer) (n : net) (B : region) (K : known) : Z :=
  if existsb is_unknown (neurons l) then
    match n, K with [], _ => reach_box (sides B) | l' :: _, bs :: _ => reach_of (neurons l') bs | _, [] => 0%Z end
  else 0%Z.

Lemma size_on_ok c l u x : sound c = true -> IZR l <= x <= IZR u -> Rabs (cR c x) <= IZR (size_on c l u).
Proof.
  intros S V. unfold size_on.
  pose proof (low_line_ok (close c) 1 0 l u x V) as A. pose proof (low_line_ok (close c) (-1) 0 l u x V) as B.
  pose proof (low_error_ok c 1 l u x S V) as E. pose proof (low_error_ok c (-1) l u x S V) as F.
  set (a := (low_line (close c) 1 0 l u + low_error c 1 l u)%Z).
  set (b := (low_line (close c) (-1) 0 l u + low_error c (-1) l u)%Z).
  assert (HA : IZR a <= cR c x) by (unfold a; rewrite plus_IZR; lra).
  assert (HB : IZR b <= - cR c x) by (unfold b; rewrite plus_IZR; lra).
  pose proof (max_l (- a) (- b)) as G. pose proof (max_r (- a) (- b)) as G'. rewrite opp_IZR in G, G'.
  apply Rabs_le. lra.
Qed.
Lemma largest_le X m : 0 <= m -> Forall (fun x => Rabs x <= m) X -> largest X <= m.
Proof. intros P H. induction H; simpl; [exact P | apply Rmax_lub; assumption]. Qed.
Lemma reach_of_pos ks : forall bs, (0 <= reach_of ks bs)%Z.
Proof. induction ks as [| k ks IH]; intros [| b bs]; simpl; try lia. specialize (IH bs). lia. Qed.
Lemma reach_of_ok ks : Forall (fun k => sound (function k) = true /\ sound (curve_of Second k) = true) ks -> forall bs zs,
  Forall2 (fun b z => within b (fst z) (snd z)) bs zs -> forall s, Forall (fun x => Rabs x <= IZR (reach_of ks bs)) (values s ks zs).
Proof.
  induction 1 as [| k ks [S1 S2] HS IH]; intros bs zs HW s; inversion HW as [| b [x y] bs' zs' (WX & WY & _) HW']; subst;
    cbn [values]; try constructor.
  - cbn [fst snd reach_of] in *.
    pose proof (size_on_ok _ _ _ _ S1 WX) as GX. pose proof (size_on_ok _ _ _ _ S2 WY) as GY.
    destruct s; cbn [part fst snd]; (eapply Rle_trans; [eassumption |]); apply IZR_le; lia.
  - apply Forall_impl with (2 := IH bs' zs' HW' s). intros x0 L. eapply Rle_trans; [exact L |]. apply IZR_le. cbn [reach_of]. lia.
Qed.
Lemma reach_box_ok B w : in_box B w -> largest w <= IZR (reach_box B).
Proof.
  induction 1 as [| [l u] x B w H HB IH]; simpl; [lra |]. simpl in H. apply Rmax_lub.
  - pose proof (max_l (- l) u) as G. pose proof (max_r (- l) u) as G'. rewrite opp_IZR in G.
    pose proof (max_l (Z.max (- l) u) (reach_box B)). apply Rabs_le. lra.
  - eapply Rle_trans; [exact IH | apply max_r].
Qed.
(** What the functions of a layer read, with one bound for the sizes of both networks. *)
Lemma reach_ok l n B K r w zs : Forall ordered n -> in_region B w -> traces n r w -> inside K r ->
  Forall2 (fun k => reads (denominator l) k (given First n r w) (given Second n r w)
    (largest (given First n r w)) (largest (given Second n r w))) (neurons l) zs ->
  let m := IZR (reach l n B K) in
  Forall2 (fun k => reads (denominator l) k (given First n r w) (given Second n r w) m m) (neurons l) zs.
Proof.
  intros HO [HB _] HT HI HR. cbv zeta. unfold reach. destruct (existsb is_unknown (neurons l)) eqn:E.
  - assert (L : forall s, largest (given s n r w) <= IZR match n, K with
        [], _ => reach_box (sides B) | l' :: _, bs :: _ => reach_of (neurons l') bs | _, [] => 0%Z end).
    { intros s. destruct n as [| l' n], r as [| z r]; simpl in HT; try contradiction; [apply reach_box_ok, HB |].
      inversion HI as [| bs ? K' ? HW HI']; subst. cbn [given]. inversion HO as [| ? ? HO1 HO2]; subst.
      apply largest_le; [apply IZR_le, reach_of_pos | apply reach_of_ok; assumption]. }
    clear - HR L. induction HR as [| k z ks zs R HR IH]; constructor; [| exact IH].
    eapply reads_more; [apply (L First) | apply (L Second) | exact R].
  - clear - HR E. induction HR as [| k z ks zs R HR IH]; constructor.
    + simpl in E. apply orb_false_elim in E. destruct E as [E _]. unfold reads, blur, off, slack in *.
      unfold is_unknown in E. destruct (unknown k); [discriminate |]. rewrite !Rmult_0_l in *. exact R.
    + apply IH. simpl in E. apply orb_false_elim in E. tauto.
Qed.
