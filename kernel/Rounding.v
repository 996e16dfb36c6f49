(** Rounding real numbers to integers, in the seven ways that quantisers know: how far the integer is from the number,
    which numbers are rounded to n or less, and to n or more, and by which integers a number may be moved. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
Open Scope R_scope.

Inductive mode := HalfEven | HalfAway | HalfZero | Down | Up | ToZero | FromZero.
Definition floor (t : R) : Z := Int_part t.
Definition ceiling (t : R) : Z := (- floor (- t))%Z.
Definition rounded (m : mode) (t : R) : Z :=
  match m with
  | HalfEven =>
      let n := floor (t + 1 / 2) in
      if Req_EM_T (IZR n) (t + 1 / 2) then if Z.even n then n else (n - 1)%Z else n
  | HalfAway => if Rle_dec 0 t then floor (t + 1 / 2) else ceiling (t - 1 / 2)
  | HalfZero => if Rle_dec 0 t then ceiling (t - 1 / 2) else floor (t + 1 / 2)
  | Down => floor t
  | Up => ceiling t
  | ToZero => if Rle_dec 0 t then floor t else ceiling t
  | FromZero => if Rle_dec 0 t then ceiling t else floor t
  end.

Lemma floor_ok t : IZR (floor t) <= t < IZR (floor t) + 1.
Proof. unfold floor. destruct (base_Int_part t). lra. Qed.
Lemma ceiling_ok t : IZR (ceiling t) - 1 < t <= IZR (ceiling t).
Proof. unfold ceiling. rewrite opp_IZR. pose proof (floor_ok (- t)). lra. Qed.
Lemma rounded_ok m t : IZR (rounded m t) - 1 < t < IZR (rounded m t) + 1.
Proof.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  destruct m; unfold rounded; try match goal with |- context [Rle_dec 0 t] => destruct (Rle_dec 0 t) end; try lra.
  cbv zeta. destruct (Req_EM_T _ _); [destruct (Z.even _); rewrite ?minus_IZR; lra | lra].
Qed.
(** How far the integer may be below and above what was rounded, in halves. *)
Definition halves (m : mode) : Z * Z :=
  match m with
  | HalfEven | HalfAway | HalfZero => (-1, 1)
  | Down => (-2, 0)
  | Up => (0, 2)
  | ToZero | FromZero => (-2, 2)
  end%Z.
Lemma halves_ok m t : IZR (fst (halves m)) <= 2 * (IZR (rounded m t) - t) <= IZR (snd (halves m)).
Proof.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  destruct m; unfold rounded; cbn [halves fst snd]; try match goal with |- context [Rle_dec 0 t] => destruct (Rle_dec 0 t) end; try lra.
  cbv zeta. destruct (Req_EM_T _ _); [destruct (Z.even _); rewrite ?minus_IZR; lra | lra].
Qed.
Lemma signs_ok m : IZR (fst (halves m)) <= 0 <= IZR (snd (halves m)).
Proof. destruct m; simpl; lra. Qed.
Lemma rounded_above m t n : IZR n <= t -> (n <= rounded m t)%Z.
Proof.
  intros H. destruct (rounded_ok m t) as [_ U]. assert (L : IZR n < IZR (rounded m t + 1)) by (rewrite plus_IZR; lra).
  apply lt_IZR in L. lia.
Qed.
Lemma rounded_below m t n : t <= IZR n -> (rounded m t <= n)%Z.
Proof.
  intros H. destruct (rounded_ok m t) as [L _]. assert (U : IZR (rounded m t - 1) < IZR n) by (rewrite minus_IZR; lra).
  apply lt_IZR in U. lia.
Qed.

(** * Where a rounding passes an integer

    t is rounded to n or less if 2 t is at most 2 n + a, or below that where the end does not count; alike with
    2 n - a for n or more. Both say so of every t for which it is true. *)
Definition under (closed : bool) (a b : R) : Prop := if closed then a <= b else a < b.
Definition top (m : mode) (n : Z) : Z * bool :=
  match m with
  | HalfEven => (1, Z.even n)
  | HalfAway => (1, n <? 0)
  | HalfZero => (1, 0 <=? n)
  | Down => (2, false)
  | Up => (0, true)
  | ToZero => if 0 <=? n then (2, false) else (0, true)
  | FromZero => if 0 <=? n then (0, true) else (2, false)
  end%Z.
Definition bottom (m : mode) (n : Z) : Z * bool :=
  match m with
  | HalfEven => (1, Z.even n)
  | HalfAway => (1, 0 <? n)
  | HalfZero => (1, n <=? 0)
  | Down => (0, true)
  | Up => (2, false)
  | ToZero => if n <=? 0 then (2, false) else (0, true)
  | FromZero => if n <=? 0 then (0, true) else (2, false)
  end%Z.

Ltac by_cases :=
  repeat match goal with
  | |- context [Z.leb ?a ?b] => destruct (Z.leb_spec a b)
  | |- context [Z.ltb ?a ?b] => destruct (Z.ltb_spec a b)
  | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
  end.
Theorem top_ok m n t : under (snd (top m n)) (2 * t) (2 * IZR n + IZR (fst (top m n))) -> (rounded m t <= n)%Z.
Proof.
  intros H. apply Z.lt_succ_r, Z.nle_gt. unfold Z.succ. intros G.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  assert (S : ((0 <= n)%Z -> 0 <= IZR n) /\ ((n < 0)%Z -> IZR n <= -1)) by (split; intros; apply IZR_le; lia).
  destruct S as [S S']. revert H G. destruct m; unfold top, rounded, under; cbv zeta; cbn [fst snd].
  { destruct (Req_EM_T _ _) as [E | E].
    - destruct (Z.even n) eqn:P; intros H G.
      + assert (K : (floor (t + 1 / 2) <= n + 1)%Z) by (apply le_IZR; rewrite plus_IZR; lra).
        destruct (Z.even (floor (t + 1 / 2))) eqn:Q; [| lia].
        assert (X : floor (t + 1 / 2) = (n + 1)%Z) by lia. rewrite X, Z.even_add, P in Q. discriminate.
      + assert (K : (floor (t + 1 / 2) < n + 1)%Z) by (apply lt_IZR; rewrite plus_IZR; lra).
        destruct (Z.even (floor (t + 1 / 2))); lia.
    - intros H G. apply IZR_le in G. rewrite plus_IZR in G. destruct (Z.even n); lra. }
  all: by_cases; cbn [fst snd]; intros FAR G; apply IZR_le in G; rewrite plus_IZR in G;
    repeat match goal with Q : (_ <= _)%Z |- _ => specialize (S Q); clear Q | Q : (_ < _)%Z |- _ => specialize (S' Q); clear Q end;
    lra.
Qed.
Theorem bottom_ok m n t : under (snd (bottom m n)) (2 * IZR n - IZR (fst (bottom m n))) (2 * t) -> (n <= rounded m t)%Z.
Proof.
  intros H. apply Z.lt_pred_le, Z.nle_gt. unfold Z.pred. intros G.
  pose proof (floor_ok t). pose proof (ceiling_ok t). pose proof (floor_ok (t + 1 / 2)). pose proof (ceiling_ok (t - 1 / 2)).
  assert (S : ((n <= 0)%Z -> IZR n <= 0) /\ ((0 < n)%Z -> 1 <= IZR n)) by (split; intros; apply IZR_le; lia).
  destruct S as [S S']. revert H G. destruct m; unfold bottom, rounded, under; cbv zeta; cbn [fst snd].
  { destruct (Req_EM_T _ _) as [E | E].
    - destruct (Z.even n) eqn:P; intros H G.
      + assert (K : (n <= floor (t + 1 / 2))%Z) by (apply le_IZR; lra).
        destruct (Z.even (floor (t + 1 / 2))) eqn:Q; [lia |].
        assert (X : floor (t + 1 / 2) = n) by lia. rewrite X, P in Q. discriminate.
      + assert (K : (n < floor (t + 1 / 2))%Z) by (apply lt_IZR; lra).
        destruct (Z.even (floor (t + 1 / 2))); lia.
    - intros H G. apply IZR_le in G. rewrite plus_IZR in G. destruct (Z.even n); lra. }
  all: by_cases; cbn [fst snd]; intros FAR G; apply IZR_le in G; rewrite plus_IZR in G;
    repeat match goal with Q : (_ <= _)%Z |- _ => specialize (S Q); clear Q | Q : (_ < _)%Z |- _ => specialize (S' Q); clear Q end;
    lra.
Qed.

(** * Integers that a rounding moves along *)
Lemma floor_shift t n : floor (t + IZR n) = (floor t + n)%Z.
Proof.
  pose proof (floor_ok t). pose proof (floor_ok (t + IZR n)).
  assert (A : (floor (t + IZR n) < floor t + n + 1)%Z) by (apply lt_IZR; rewrite !plus_IZR; lra).
  assert (B : (floor t + n < floor (t + IZR n) + 1)%Z) by (apply lt_IZR; rewrite !plus_IZR; lra).
  lia.
Qed.
(** Whether a mode rounds t + n to n more than t. *)
Definition moves (m : mode) (n : Z) : bool :=
  ((n =? 0)%Z || match m with Down | Up => true | HalfEven => Z.even n | _ => false end)%bool.
Lemma moves_ok m n t : moves m n = true -> rounded m (t + IZR n) = (rounded m t + n)%Z.
Proof.
  unfold moves. intros M. destruct (Z.eqb_spec n 0) as [-> | N]; [rewrite Rplus_0_r, Z.add_0_r; reflexivity |].
  destruct m; simpl in M; try discriminate; unfold rounded.
  - replace (t + IZR n + 1 / 2) with (t + 1 / 2 + IZR n) by ring. cbv zeta. rewrite floor_shift, plus_IZR.
    assert (E : Z.even (floor (t + 1 / 2) + n) = Z.even (floor (t + 1 / 2)))
      by (rewrite Z.even_add, M; destruct (Z.even (floor _)); reflexivity).
    rewrite E. set (k := floor (t + 1 / 2)) in *.
    destruct (Req_EM_T (IZR k + IZR n) _), (Req_EM_T (IZR k) _); try (exfalso; lra); [destruct (Z.even k) |]; lia.
  - apply floor_shift.
  - unfold ceiling. replace (- (t + IZR n)) with (- t + IZR (- n)) by (rewrite opp_IZR; ring). rewrite floor_shift. lia.
Qed.
