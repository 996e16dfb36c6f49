(** What is known of a box: integer bounds of x, y and d = x - y for every neuron, before its function.

    [inside K r] says that the bounds K hold of the trace r, which is what the functions read. Everything here keeps it:
    bounds taken from a fact, intersections, and the exchange between x, y and d (the reduced product). *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Networks.
Import ListNotations.
Open Scope R_scope.

Record bounds := Bounds { lx : Z; ux : Z; ly : Z; uy : Z; ld : Z; ud : Z }.
Definition within (b : bounds) (x y : R) : Prop :=
  IZR (lx b) <= x <= IZR (ux b) /\ IZR (ly b) <= y <= IZR (uy b) /\ IZR (ld b) <= x - y <= IZR (ud b).

Lemma max_case a b (z : R) : IZR a <= z -> IZR b <= z -> IZR (Z.max a b) <= z.
Proof. intros. destruct (Z.max_spec a b) as [[_ ->] | [_ ->]]; lra. Qed.
Lemma min_case a b (z : R) : z <= IZR a -> z <= IZR b -> z <= IZR (Z.min a b).
Proof. intros. destruct (Z.min_spec a b) as [[_ ->] | [_ ->]]; lra. Qed.

Definition exchange (b : bounds) : bounds :=
  (Bounds (Z.max (lx b) (ly b + ld b)) (Z.min (ux b) (uy b + ud b))
          (Z.max (ly b) (lx b - ud b)) (Z.min (uy b) (ux b - ld b))
          (Z.max (ld b) (lx b - uy b)) (Z.min (ud b) (ux b - ly b)))%Z.
Lemma exchange_ok b x y : within b x y -> within (exchange b) x y.
Proof.
  unfold within, exchange. simpl. intros (? & ? & ?).
  repeat split; try (apply max_case; rewrite ?plus_IZR, ?minus_IZR; lra);
    apply min_case; rewrite ?plus_IZR, ?minus_IZR; lra.
Qed.
Definition meet (a b : bounds) : bounds :=
  (Bounds (Z.max (lx a) (lx b)) (Z.min (ux a) (ux b)) (Z.max (ly a) (ly b)) (Z.min (uy a) (uy b))
          (Z.max (ld a) (ld b)) (Z.min (ud a) (ud b)))%Z.
Lemma meet_ok a b x y : within a x y -> within b x y -> within (meet a b) x y.
Proof.
  unfold within. simpl. intros (? & ? & ?) (? & ? & ?). repeat split; try (apply max_case; lra); apply min_case; lra.
Qed.
Definition contradictory (b : bounds) : bool := ((ux b <? lx b) || (uy b <? ly b) || (ud b <? ld b))%Z%bool.
Lemma contradictory_ok b x y : within b x y -> contradictory b = true -> False.
Proof.
  unfold within, contradictory. intros (HX & HY & HD) H.
  apply orb_prop in H. destruct H as [H | H]; [apply orb_prop in H; destruct H as [H | H] |];
    apply Z.ltb_lt in H; apply IZR_lt in H; lra.
Qed.

(** * Quantities x, y and d, and facts: least says q >= c, else q <= c. *)
Inductive kind := KX | KY | KD.
Definition of_x (d : kind) : Z := match d with KX => 1 | KY => 0 | KD => 1 end.
Definition of_y (d : kind) : Z := match d with KX => 0 | KY => 1 | KD => -1 end.
Definition quantity (d : kind) (x y : R) : R := IZR (of_x d) * x + IZR (of_y d) * y.
Definition says (d : kind) (least : bool) (c : Z) (x y : R) : Prop :=
  if least then quantity d x y >= IZR c else quantity d x y <= IZR c.
Definition tight (d : kind) (least : bool) (c : Z) (b : bounds) : bounds :=
  match d, least with
  | KX, true => Bounds (Z.max c (lx b)) (ux b) (ly b) (uy b) (ld b) (ud b)
  | KX, false => Bounds (lx b) (Z.min c (ux b)) (ly b) (uy b) (ld b) (ud b)
  | KY, true => Bounds (lx b) (ux b) (Z.max c (ly b)) (uy b) (ld b) (ud b)
  | KY, false => Bounds (lx b) (ux b) (ly b) (Z.min c (uy b)) (ld b) (ud b)
  | KD, true => Bounds (lx b) (ux b) (ly b) (uy b) (Z.max c (ld b)) (ud b)
  | KD, false => Bounds (lx b) (ux b) (ly b) (uy b) (ld b) (Z.min c (ud b))
  end.
Definition tighter (d : kind) (least : bool) (c : Z) (b : bounds) : bounds := exchange (tight d least c b).
Lemma tighter_ok d least c b x y : within b x y -> says d least c x y -> within (tighter d least c b) x y.
Proof.
  intros W S. apply exchange_ok. revert W S. unfold within, says, quantity. intros (HX & HY & HD) S.
  destruct d, least; simpl in *; repeat split; try lra; try (apply max_case; lra); apply min_case; lra.
Qed.

(** * Bounds of all neurons, layer by layer, from the last to the first *)
Definition known := list (list bounds).
Definition inside (K : known) (r : trace) : Prop := Forall2 (Forall2 (fun b z => within b (fst z) (snd z))) K r.

(** x and y of neuron i of the layer that is t before the last. *)
Definition at_ (r : trace) (t i : nat) : option (R * R) := match nth_error r t with None => None | Some z => nth_error z i end.
(** A fact about a neuron; about one that there is not it says nothing. *)
Definition fact (r : trace) (t i : nat) (d : kind) (least : bool) (c : Z) : Prop :=
  match at_ r t i with None => True | Some (x, y) => says d least c x y end.

Fixpoint update {A} (i : nat) (f : A -> A) (l : list A) {struct l} : list A :=
  match l, i with [], _ => [] | a :: l', O => f a :: l' | a :: l', S i' => a :: update i' f l' end.
Fixpoint tighten (K : known) (t i : nat) (d : kind) (least : bool) (c : Z) : known :=
  match K, t with
  | [], _ => []
  | bs :: K', O => update i (tighter d least c) bs :: K'
  | bs :: K', S t' => bs :: tighten K' t' i d least c
  end.
Lemma tighten_ok r t i d least c : forall K, inside K r -> fact r t i d least c -> inside (tighten K t i d least c) r.
Proof.
  revert t. induction r as [| z r IH]; intros t K HI HF; inversion HI as [| bs ? K' ? HW HI']; subst; [constructor |].
  destruct t as [| t]; simpl; constructor; auto; [| apply IH; assumption]. clear IH HI HI'. unfold fact, at_ in HF. simpl in HF.
  revert i HF. induction HW as [| b [x y] bs z W HW IHW]; intros i HF; [constructor |].
  destruct i as [| i]; simpl in *; constructor; auto. apply tighter_ok; assumption.
Qed.
Lemma cut_fact r t i d c : fact r t i d false c \/ fact r t i d true c.
Proof.
  unfold fact, says. destruct (at_ r t i) as [[x y] |]; [| auto].
  destruct (Rle_dec (quantity d x y) (IZR c)); [left; lra | right; lra].
Qed.

Definition get (K : known) (t i : nat) : option bounds :=
  match nth_error K t with None => None | Some bs => nth_error bs i end.
Lemma inside_get r : forall K t i b, inside K r -> get K t i = Some b ->
  exists x y, at_ r t i = Some (x, y) /\ within b x y.
Proof.
  unfold get, at_. induction r as [| z r IH]; intros K t i b HI HG; inversion HI as [| bs ? K' ? HW HI']; subst.
  - destruct t; discriminate.
  - destruct t as [| t]; [| apply (IH K' t i b HI' HG)]. simpl in *. clear IH HI HI'. revert i HG.
    induction HW as [| a [x y] bs z W HW IHW]; intros [| i] HG; simpl in *; try discriminate; [| apply IHW, HG].
    inversion HG; subst. eauto.
Qed.
Definition lowest (d : kind) (b : bounds) : Z := match d with KX => lx b | KY => ly b | KD => ld b end.
Definition highest (d : kind) (b : bounds) : Z := match d with KX => ux b | KY => uy b | KD => ud b end.
Lemma within_quantity d b x y : within b x y -> IZR (lowest d b) <= quantity d x y <= IZR (highest d b).
Proof. unfold within, quantity. intros (? & ? & ?). destruct d; simpl; lra. Qed.
