(** Backward bounds: a functional is pulled through all layers, down to the region of inputs.

    [pull_ok]: what is asked about (the wishes), plus p X + q Y of the last layer, times the product of all denominators,
    is at least the number that [pull] calculates, of every trace from the region of which the known bounds hold. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
From Kernel Require Import Functions Networks Bounds Relaxation Regions.
Import ListNotations.
Open Scope R_scope.

(** * Pulls *)
Definition hints := list (Z * list hint).      (* per layer a scale and hints; behind them multipliers of constraints *)
Definition wishes := list (list wish).         (* per layer; behind them coefficients of inputs *)
Definition scale (H : hints) : Z := match H with [] => 1%Z | (m, _) :: _ => Z.max 1 m end.
(** The unit of constants under a scale, and how many of it are one of the scale: slopes get eight bits more there. *)
Definition parts (M : Z) : Z * Z := (let U := M / 256 in if U * 256 =? M then (U, 256) else (M, 1))%Z.
Lemma parts_ok M : (0 < M)%Z -> (0 < fst (parts M))%Z /\ (0 < snd (parts M))%Z /\ (fst (parts M) * snd (parts M) = M)%Z.
Proof. intros P. unfold parts. destruct (Z.eqb_spec (M / 256 * 256) M); cbn [fst snd]; lia. Qed.
Definition hints_here (H : hints) : list hint := match H with [] => [] | (_, h) :: _ => h end.

Fixpoint total (n : net) : Z := match n with [] => 1%Z | l :: n' => (Zpos (denominator l) * total n')%Z end.

(** A bound, and the product of the denominators. *)
Fixpoint pull (n : net) (B : region) (K : known) (H : hints) (O : wishes) (p q : list Z) : Z * Z :=
  match n with
  | [] => (low_region (sides B) (constraints B) (hints_here H) (add_times 1 (map fst (hd [] O)) (add_times 1 p q)), 1%Z)
  | l :: n' =>
      if idle (hints_here H) (hd [] O) p q then
        let '(low, below) := pull n' B (tl K) (tl H) (tl O) [] [] in
        (scale H * low, Zpos (denominator l) * below)%Z
      else
        let '(U, m) := parts (scale H) in
        let '(c, cb, p', q') :=
          relax U m (reach l n' B (tl K)) (neurons l) (hd [] K) (hints_here H) (hd [] O) p q in
        let '(low, below) := pull n' B (tl K) (tl H) (tl O) (sum_rows p') (sum_rows q') in
        let all := (Zpos (denominator l) * below)%Z in
        (U * c * all + scale H * (whole cb * below + low), all)%Z
  end.

Fixpoint asked (n : net) (O : wishes) (H : hints) (r : trace) (w : list R) : R :=
  match n with
  | [] => dot (map fst (hd [] O)) w
  | l :: n' => IZR (scale H) * (wished (hd [] O) (hd [] r) + asked n' (tl O) (tl H) (tl r) w / IZR (Zpos (denominator l)))
  end.

Lemma total_pos n : (0 < total n)%Z.
Proof. induction n; [reflexivity |]. cbn [total]. apply Z.mul_pos_pos; [reflexivity | assumption]. Qed.
Lemma pull_total : forall n B K H O p q, snd (pull n B K H O p q) = total n.
Proof.
  induction n as [| l n IH]; intros B K H O p q; [reflexivity |]. cbn [pull total].
  destruct (idle _ _ _ _).
  - specialize (IH B (tl K) (tl H) (tl O) [] []). destruct (pull _ _ _ _ _ _ _). cbn [snd] in *. subst. reflexivity.
  - destruct (parts (scale H)) as [U m]. destruct (relax _ _ _ _ _ _ _ _ _) as [[[c cb] p'] q']. specialize (IH B (tl K) (tl H) (tl O) (sum_rows p') (sum_rows q')).
    destruct (pull _ _ _ _ _ _ _). cbn [snd] in *. subst. reflexivity.
Qed.
Lemma scale_pos H : (0 < scale H)%Z.
Proof. destruct H as [| [m ?] ?]; cbn [scale]; lia. Qed.

Theorem pull_ok : forall n B w, Forall ordered n -> in_region B w -> forall K H O p q r, traces n r w -> inside K r ->
  (asked n O H r w + dot p (given First n r w) + dot q (given Second n r w)) * IZR (total n) >= IZR (fst (pull n B K H O p q)).
Proof.
  induction n as [| l n IH]; intros B w HF HB K H O p q r HT HI.
  - destruct HB as [HB HC]. cbn [asked total pull fst].
    assert (N : forall s, given s [] r w = w) by reflexivity. rewrite !N.
    pose proof (low_region_ok _ w HB (constraints B) (hints_here H)
      (add_times 1 (map fst (hd [] O)) (add_times 1 p q)) HC) as G.
    rewrite !dot_add_times in G. rewrite ?Rmult_1_l in G. lra.
  - destruct r as [| z r]; [destruct HT |]. cbn [traces] in HT. destruct HT as [HR HT].
    inversion HI as [| bs ? K' ? HW HI']; subst. inversion HF as [| ? ? HO HF']; subst.
    pose proof (scale_pos H) as PM. pose proof (IZR_lt _ _ PM) as HM. pose proof (pos_IZR (denominator l)) as HD.
    pose proof (total_pos n) as HP. apply IZR_lt in HP.
    cbn [pull asked hd tl total given]. destruct (idle _ _ _ _) eqn:E.
    + specialize (IH B w HF' HB K' (tl H) (tl O) [] [] r HT HI').
      destruct (pull n B K' (tl H) (tl O) [] []) as [low below]. cbn [fst snd] in *. rewrite !dot_none in IH.
      assert (p = [] /\ q = [] /\ hd [] O = []) as (-> & -> & ->)
        by (destruct (hints_here H), (hd [] O), p, q; try discriminate; auto).
      rewrite wished_nil, !mult_IZR, !dot_none.
      replace ((IZR (scale H) * (0 + asked n (tl O) (tl H) r w / IZR (Zpos (denominator l))) + 0 + 0)
        * (IZR (Zpos (denominator l)) * IZR (total n)))
        with (IZR (scale H) * ((asked n (tl O) (tl H) r w + 0 + 0) * IZR (total n))) by (field; lra).
      nra.
    + pose proof (reach_ok l n B K' r w z HF' HB HT HI' HR) as HN. cbv zeta in HN.
      destruct (parts_ok _ PM) as (PU & PS & EM). destruct (parts (scale H)) as [U m] eqn:EP. cbn [fst snd] in PU, PS, EM.
      destruct (relax U m (reach l n B K') (neurons l) bs (hints_here H) (hd [] O) p q) as [[[c cb] p'] q'] eqn:R.
      pose proof (relax_ok _ _ _ _ _ _ PU PS _ _ _ _ _ _ _ _ _ _ _ HO HN HW R) as G. rewrite EM in G.
      specialize (IH B w HF' HB K' (tl H) (tl O) (sum_rows p') (sum_rows q') r HT HI').
      pose proof (pull_total n B K' (tl H) (tl O) (sum_rows p') (sum_rows q')) as T.
      destruct (pull n B K' (tl H) (tl O) (sum_rows p') (sum_rows q')) as [low below]. cbn [fst snd] in *. subst below.
      rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR, ?plus_IZR, ?mult_IZR.
      set (D := IZR (Zpos (denominator l))) in *. set (T := IZR (total n)) in *. set (M := IZR (scale H)) in *.
      set (A := asked n (tl O) (tl H) r w) in *. set (P := dot (sum_rows p') (given First n r w)) in *.
      set (Q := dot (sum_rows q') (given Second n r w)) in *.
      set (F := wished _ _) in *.
      match goal with |- ((M * (F + A / D) + ?u + ?v) * (D * T) >= _) => set (E1 := u) in *; set (E2 := v) in * end.
      assert (X : (M * (F + A / D) + E1 + E2) * (D * T) = (E1 + E2 + M * F) * D * T + M * (A * T)) by (field; lra).
      assert (Y : (IZR U * IZR c + M * ((IZR (whole cb) + P + Q) / D)) * D * T = IZR U * IZR c * (D * T) + M * ((IZR (whole cb) + P + Q) * T))
        by (field; lra).
      assert (Z1 : (E1 + E2 + M * F) * D * T >= (IZR U * IZR c + M * ((IZR (whole cb) + P + Q) / D)) * D * T).
      { apply Rle_ge. apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_r; [lra |]. lra. }
      rewrite X. nra.
Qed.

(** * Interval arithmetic: the same without hints *)
Lemma asked_nil n w : forall r H, asked n [] H r w = 0.
Proof.
  induction n as [| l n IH]; intros r H; cbn [asked hd tl]; [reflexivity |]. rewrite wished_nil, IH.
  pose proof (pos_IZR (denominator l)). field. lra.
Qed.
Definition floor_div (a b : Z) : Z := (a / b)%Z.
Lemma floor_div_ok L D z : (0 < D)%Z -> z * IZR D >= IZR L -> z >= IZR (floor_div L D).
Proof.
  intros P H. unfold floor_div. pose proof (Z.mul_div_le L D P) as G. apply IZR_le in G. rewrite mult_IZR in G.
  apply IZR_lt in P. nra.
Qed.
(** Of one neuron of a layer whose rows read numbers of sizes up to m. *)
Definition interval (n : net) (B : region) (K : known) (m : Z) (d : positive) (k : neuron) : bounds :=
  let low p q c :=
    let '(v, all) := pull n B K [] [] p q in floor_div (v + c * all) (Zpos d * all) in
  let o := map Z.opp in
  let e := (off First k * m + slack First k)%Z in
  let e' := (off Second k * m + slack Second k)%Z in
  (Bounds (low (row First k) [] (bias1 k - e)) (- low (o (row First k)) [] (- bias1 k - e))
          (low [] (row Second k) (bias2 k - e')) (- low [] (o (row Second k)) (- bias2 k - e'))
          (low (row First k) (o (row Second k)) (bias1 k - bias2 k - (e + e')))
          (- low (o (row First k)) (row Second k) (bias2 k - bias1 k - (e + e'))))%Z.
Lemma between x e : Rabs x <= e -> - e <= x <= e.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.
Lemma interval_ok n B K r m d k w z : Forall ordered n -> in_region B w -> traces n r w -> inside K r ->
  reads d k (given First n r w) (given Second n r w) (IZR m) (IZR m) z -> within (interval n B K m d k) (fst z) (snd z).
Proof.
  intros HF HB HT HI [NX NY]. pose proof (pos_IZR d) as HD.
  assert (L : forall p q c v, dot p (given First n r w) + dot q (given Second n r w) + IZR c <= IZR (Zpos d) * v ->
    v >= IZR (let '(v, all) := pull n B K [] [] p q in floor_div (v + c * all) (Zpos d * all))).
  { intros p q c v V. pose proof (pull_ok n B w HF HB K [] [] p q r HT HI) as P.
    pose proof (pull_total n B K [] [] p q) as T. destruct (pull n B K [] [] p q) as [low all]. cbn [fst snd] in *. subst all.
    rewrite asked_nil in P. pose proof (total_pos n) as HP. apply floor_div_ok; [lia |].
    apply IZR_lt in HP. rewrite plus_IZR, !mult_IZR.
    apply (Rmult_le_compat_r (IZR (total n))) in V; [| lra]. lra. }
  set (e := (off First k * m + slack First k)%Z). set (e' := (off Second k * m + slack Second k)%Z).
  assert (EX : blur First k (IZR m) = IZR e) by (unfold blur, e; rewrite plus_IZR, mult_IZR; reflexivity).
  assert (EY : blur Second k (IZR m) = IZR e') by (unfold blur, e'; rewrite plus_IZR, mult_IZR; reflexivity).
  rewrite EX in NX. rewrite EY in NY. unfold bias in NX, NY. unfold interval, within. fold e e'. cbn [lx ux ly uy ld ud].
  rewrite !opp_IZR. destruct z as [x y]. cbn [fst snd] in *.
  set (X := given First n r w) in *. set (Y := given Second n r w) in *.
  assert (AX : - IZR e <= IZR (Zpos d) * x - (dot (row First k) X + IZR (bias1 k)) <= IZR e) by (apply between, NX).
  assert (AY : - IZR e' <= IZR (Zpos d) * y - (dot (row Second k) Y + IZR (bias2 k)) <= IZR e') by (apply between, NY).
  assert (A1 := L (row First k) [] (bias1 k - e)%Z x ltac:(rewrite dot_none, minus_IZR; lra)).
  assert (A2 := L (map Z.opp (row First k)) [] (- bias1 k - e)%Z (- x) ltac:(rewrite dot_opp, dot_none, minus_IZR, opp_IZR; lra)).
  assert (B1 := L [] (row Second k) (bias2 k - e')%Z y ltac:(rewrite dot_none, minus_IZR; lra)).
  assert (B2 := L [] (map Z.opp (row Second k)) (- bias2 k - e')%Z (- y) ltac:(rewrite dot_opp, dot_none, minus_IZR, opp_IZR; lra)).
  assert (D1 := L (row First k) (map Z.opp (row Second k)) (bias1 k - bias2 k - (e + e'))%Z (x - y)
    ltac:(rewrite dot_opp, !minus_IZR, plus_IZR; lra)).
  assert (D2 := L (map Z.opp (row First k)) (row Second k) (bias2 k - bias1 k - (e + e'))%Z (y - x)
    ltac:(rewrite dot_opp, !minus_IZR, plus_IZR; lra)).
  repeat split; lra.
Qed.
Fixpoint start (n : net) (B : region) : known :=
  match n with
  | [] => []
  | l :: n' => let K := start n' B in map (interval n' B K (reach l n' B K) (denominator l)) (neurons l) :: K
  end.
Lemma start_ok B w : in_region B w -> forall n r, Forall ordered n -> traces n r w -> inside (start n B) r.
Proof.
  intros HB. induction n as [| l n IH]; intros [| z r] HF HT; simpl in HT; try contradiction; [constructor |].
  destruct HT as [HR HT]. inversion HF; subst. specialize (IH r H2 HT). simpl. constructor; [| exact IH].
  pose proof (reach_ok l n B (start n B) r w z H2 HB HT IH HR) as HN. cbv zeta in HN. clear HR.
  induction HN; simpl; constructor; auto. eapply interval_ok; eassumption.
Qed.
(** Intervals of one layer again, from what is known by now. *)
Fixpoint forward (n : net) (B : region) (K : known) (t : nat) : known :=
  match n, K, t with
  | l :: n', bs :: K', O =>
      let m := reach l n' B K' in
      map (fun kb => exchange (meet (interval n' B K' m (denominator l) (fst kb)) (snd kb))) (combine (neurons l) bs) :: K'
  | _ :: n', bs :: K', S t' => bs :: forward n' B K' t'
  | _, _, _ => K
  end.
Lemma forward_ok B w : in_region B w -> forall n t K r, Forall ordered n -> traces n r w -> inside K r -> inside (forward n B K t) r.
Proof.
  intros HB. induction n as [| l n IH]; intros t K r HF HT HI; [exact HI |].
  destruct r as [| z r]; simpl in HT; [contradiction |]. destruct HT as [HR HT].
  inversion HI as [| bs ? K' ? HW HI']; subst. inversion HF as [| ? ? HO HF']; subst.
  destruct t as [| t]; simpl; constructor; [| exact HI' | exact HW | apply IH; assumption].
  pose proof (reach_ok l n B K' r w z HF' HB HT HI' HR) as HN. cbv zeta in HN. clear HO HR HI.
  revert bs HW. induction HN as [| k a ks zs N HN IHN]; intros bs HW; inversion HW as [| b ? bs' ? W HW']; subst; simpl; constructor; auto.
  apply exchange_ok, meet_ok; [| exact W]. eapply interval_ok; eassumption.
Qed.

(** * A bound of one quantity: its coefficient times its unit times the quantity is at least the pull. *)
Fixpoint single (t i : nat) (e : wish) : wishes :=
  match t with O => [repeat (0, 0)%Z i ++ [e]] | S t' => [] :: single t' i e end.
Fixpoint unit_of (n : net) (t : nat) (H : hints) : Z :=
  match n, t with
  | [], _ => 1%Z
  | _ :: _, O => scale H
  | _ :: n', S t' => (scale H * unit_of n' t' (tl H))%Z
  end.
Fixpoint below (n : net) (t : nat) : Z :=
  match n, t with [], _ => 1%Z | _ :: _, O => total n | _ :: n', S t' => below n' t' end.
(** The quantity itself: coefficients of x and y of a neuron, or one of an input. *)
Definition sought (n : net) (t i : nat) (e : wish) (r : trace) (w : list R) : R :=
  if (t <? length n)%nat then
    match at_ r t i with None => 0 | Some (x, y) => IZR (fst e) * x + IZR (snd e) * y end
  else if (t =? length n)%nat then IZR (fst e) * nth i w 0 else 0.

Lemma wished_single e : forall i z, wished (repeat (0, 0)%Z i ++ [e]) z =
  match nth_error z i with None => 0 | Some (x, y) => IZR (fst e) * x + IZR (snd e) * y end.
Proof.
  induction i as [| i IH]; intros [| [x y] z]; simpl; try reflexivity; [ring |]. rewrite IH.
  destruct (nth_error z i) as [[x' y'] |]; ring.
Qed.
Lemma dot_single e : forall i w, dot (map fst (repeat (0, 0)%Z i ++ [e])) w = IZR (fst e) * nth i w 0.
Proof.
  induction i as [| i IH]; intros [| x w]; simpl; try ring. rewrite IH. ring.
Qed.
Lemma asked_single e w : forall n t i H r, length r = length n ->
  asked n (single t i e) H r w * IZR (total n) = IZR (unit_of n t H) * IZR (below n t) * sought n t i e r w.
Proof.
  induction n as [| l n IH]; intros t i H r LR.
  - destruct t as [| t]; simpl; [rewrite dot_single; unfold sought; simpl; ring | unfold sought; simpl; ring].
  - destruct r as [| z r]; [discriminate |]. simpl in LR. injection LR as LR.
    pose proof (pos_IZR (denominator l)) as HD. destruct t as [| t]; cbn [single asked hd tl unit_of below].
    + rewrite wished_single, asked_nil. unfold sought, at_. simpl. destruct (nth_error z i) as [[x y] |]; simpl; field; lra.
    + rewrite wished_nil. cbn [total]. rewrite !mult_IZR.
      replace (IZR (scale H) * (0 + asked n (single t i e) (tl H) r w / IZR (Zpos (denominator l)))
        * (IZR (Zpos (denominator l)) * IZR (total n)))
        with (IZR (scale H) * (asked n (single t i e) (tl H) r w * IZR (total n))) by (field; lra).
      rewrite IH by exact LR. unfold sought, at_. simpl.
      change (S t <? S (length n))%nat with (t <? length n)%nat. ring.
Qed.
Lemma below_pos : forall n t, (0 < below n t)%Z.
Proof.
  induction n as [| l n IH]; intros [| t]; cbn [below]; try reflexivity; [apply total_pos | apply IH].
Qed.

Definition signed (least : bool) (z : Z) : Z := if least then z else (- z)%Z.
Definition pulled (n : net) (B : region) (K : known) (t i : nat) (d : kind) (least : bool) (e : Z) (H : hints) : option Z :=
  let D := (below n t * (unit_of n t H * Z.abs e))%Z in
  if (0 <? D)%Z then
    let L := fst (pull n B K H (single t i (signed least (of_x d) * Z.abs e, signed least (of_y d) * Z.abs e)%Z) [] []) in
    Some (signed least (floor_div L D))
  else None.
Lemma pulled_ok n B K t i d least e H c r w : Forall ordered n -> in_region B w -> traces n r w -> inside K r ->
  pulled n B K t i d least e H = Some c ->
  IZR (signed least 1) * sought n t i (of_x d, of_y d) r w >= IZR (signed least c).
Proof.
  intros HF HB HT HI E. unfold pulled in E. destruct (Z.ltb_spec 0 (below n t * (unit_of n t H * Z.abs e))) as [L | L];
    [| discriminate]. inversion E; subst; clear E.
  set (E := (signed least (of_x d) * Z.abs e, signed least (of_y d) * Z.abs e)%Z).
  pose proof (pull_ok n B w HF HB K H (single t i E) [] [] r HT HI) as P. simpl in P.
  rewrite !Rplus_0_r in P. rewrite asked_single in P by (eapply traces_length, HT).
  set (Q := fst (pull n B K H (single t i E) [] [])) in *.
  assert (S : sought n t i E r w = IZR (Z.abs e) * (IZR (signed least 1) * sought n t i (of_x d, of_y d) r w)).
  { unfold sought, E. destruct (t <? length n)%nat.
    - destruct (at_ r t i) as [[x y] |]; simpl; [| ring].
      rewrite !mult_IZR. destruct least; simpl; rewrite ?opp_IZR; ring.
    - destruct (t =? length n)%nat; simpl; [| ring]. rewrite mult_IZR. destruct least; simpl; rewrite ?opp_IZR; ring. }
  rewrite S in P.
  assert (G : IZR (signed least 1) * sought n t i (of_x d, of_y d) r w
    >= IZR (floor_div Q (below n t * (unit_of n t H * Z.abs e)))).
  { apply floor_div_ok; [exact L |]. rewrite !mult_IZR. lra. }
  destruct least; simpl in *; [exact G |]. rewrite Z.opp_involutive. exact G.
Qed.
Definition bound (n : net) (B : region) (K : known) (t i : nat) (d : kind) (least : bool) (e : Z) (H : hints) : known :=
  match pulled n B K t i d least e H with
  | Some c => if (t <? length n)%nat then tighten K t i d least c else K
  | None => K
  end.
Lemma bound_ok n B K t i d least e H r w : Forall ordered n -> in_region B w -> traces n r w -> inside K r ->
  inside (bound n B K t i d least e H) r.
Proof.
  intros HF HB HT HI. unfold bound. destruct (pulled n B K t i d least e H) as [c |] eqn:E; [| exact HI].
  destruct (t <? length n)%nat eqn:T; [| exact HI].
  pose proof (pulled_ok _ _ _ _ _ _ _ _ _ _ _ _ HF HB HT HI E) as G.
  apply tighten_ok; [exact HI |]. unfold fact, sought in *. rewrite T in G.
  destruct (at_ r t i) as [[x y] |]; [| exact I]. unfold says, quantity. simpl in G.
  destruct least; simpl in G; rewrite ?opp_IZR in G; lra.
Qed.

(** The same for an input. *)
Definition cut_side (i : nat) (least : bool) (c : Z) (B : region) : region :=
  Region (update i (fun b => if least then (Z.max (fst b) c, snd b) else (fst b, Z.min (snd b) c)) (sides B)) (constraints B).
Definition bound_input (n : net) (B : region) (K : known) (i : nat) (least : bool) (e : Z) (H : hints) : region :=
  match pulled n B K (length n) i KX least e H with Some c => cut_side i least c B | None => B end.
Lemma in_box_update B : forall i w f, in_box B w ->
  (forall b x, nth_error w i = Some x -> IZR (fst b) <= x <= IZR (snd b) -> IZR (fst (f b)) <= x <= IZR (snd (f b))) ->
  in_box (update i f B) w.
Proof.
  induction B as [| b B IH]; intros i w f HB HF; inversion HB; subst; [simpl; constructor |].
  destruct i; simpl; constructor; auto. apply IH; [assumption | intros; eapply HF; eauto].
Qed.
Lemma cut_side_ok B i (least : bool) c w : in_region B w ->
  (forall x, nth_error w i = Some x -> if least then IZR c <= x else x <= IZR c) -> in_region (cut_side i least c B) w.
Proof.
  intros [HB HC] H. split; [| exact HC]. apply in_box_update; [exact HB |]. intros b x E Hb. specialize (H x E).
  destruct least; simpl; split; try lra; [apply max_case; lra | apply min_case; lra].
Qed.
Lemma bound_input_ok n B K i least e H r w : Forall ordered n -> in_region B w -> traces n r w -> inside K r ->
  in_region (bound_input n B K i least e H) w.
Proof.
  intros HF HB HT HI. unfold bound_input. destruct (pulled n B K (length n) i KX least e H) as [c |] eqn:E; [| exact HB].
  pose proof (pulled_ok _ _ _ _ _ _ _ _ _ _ _ _ HF HB HT HI E) as G. apply cut_side_ok; [exact HB |]. intros x N.
  unfold sought in G. rewrite Nat.ltb_irrefl, Nat.eqb_refl in G. simpl in G.
  rewrite (nth_error_nth w i 0 N) in G. destruct least; simpl in G; rewrite ?opp_IZR in G; lra.
Qed.
