(** Continuous piecewise linear functions of one variable with integer data: ReLU, leaky ReLU, clip, |v|, hard sigmoids,
    finite tables of slopes, with any number of kinks at any places.

    Two facts about them are all that the kernel uses:
    - [low_line_ok]: p f(v) >= a v + c on [l, u], where c is the least of p f(v) - a v at the ends and the kinks inside;
    - [slopes_ok]: f(x) - f(y) lies between the least and the greatest slope on [l, u] times x - y. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
Import ListNotations.
Open Scope R_scope.

(** Places where the slope changes, and by how much. *)
Definition kinks := list (Z * Z).

(** f(v) = base v + shift + the sum of s max(0, v - b) over the kinks (b, s). *)
Record fn := Fn { base : Z; shift : Z; kinks_of : kinks }.

Fixpoint hR (ks : kinks) (v : R) : R :=
  match ks with
  | [] => 0
  | (b, s) :: ks' => (if Rle_dec v (IZR b) then 0 else IZR s * (v - IZR b)) + hR ks' v
  end.
Fixpoint hZ (ks : kinks) (v : Z) : Z :=
  (match ks with
   | [] => 0
   | (b, s) :: ks' => (if v <=? b then 0 else s * (v - b)) + hZ ks' v
   end)%Z.
Definition fR (f : fn) (v : R) : R := IZR (base f) * v + IZR (shift f) + hR (kinks_of f) v.
Definition fZ (f : fn) (v : Z) : Z := (base f * v + shift f + hZ (kinks_of f) v)%Z.

Lemma h_IZR ks v : hR ks (IZR v) = IZR (hZ ks v).
Proof.
  induction ks as [| [b s] ks IH]; simpl; [reflexivity |]. rewrite plus_IZR, IH. f_equal.
  destruct (Rle_dec (IZR v) (IZR b)) as [L | L]; destruct (Z.leb_spec v b) as [M | M]; try reflexivity.
  - apply le_IZR in L. lia.
  - apply IZR_le in M. lra.
  - rewrite mult_IZR, minus_IZR. reflexivity.
Qed.
Lemma f_IZR f v : fR f (IZR v) = IZR (fZ f v).
Proof. unfold fR, fZ. rewrite h_IZR, !plus_IZR, mult_IZR. reflexivity. Qed.

(** * Lines below multiples of a function *)
Definition atZ (f : fn) (p a v : Z) : Z := (p * fZ f v - a * v)%Z.
Fixpoint low (f : fn) (p a : Z) (ks : kinks) (l u : Z) : Z :=
  match ks with
  | [] => Z.min (atZ f p a l) (atZ f p a u)
  | (b, _) :: ks' =>
      if ((l <? b) && (b <? u))%Z%bool then Z.min (atZ f p a b) (low f p a ks' l u) else low f p a ks' l u
  end.
Definition low_line (f : fn) (p a l u : Z) : Z :=
  if ((p =? 0) && (a =? 0))%Z%bool then 0%Z else low f p a (kinks_of f) l u.

(** Between two neighbours among ends and kinks the function is affine. *)
Definition free (ks : kinks) (l u : Z) : Prop := forall b s, In (b, s) ks -> (b <= l \/ u <= b)%Z.
Lemma affine ks l u : free ks l u -> exists c d, forall v, IZR l <= v <= IZR u -> hR ks v = c * v + d.
Proof.
  induction ks as [| [b s] ks IH]; intros F; simpl; [exists 0, 0; intros; ring |].
  destruct IH as (c & d & H); [intros x y I; apply (F x y); right; exact I |].
  destruct (F b s (or_introl eq_refl)) as [L | L]; apply IZR_le in L.
  - exists (c + IZR s), (d - IZR s * IZR b). intros v V. rewrite (H v V).
    destruct (Rle_dec v (IZR b)); [assert (v = IZR b) by lra; subst; lra | lra].
  - exists c, d. intros v V. rewrite (H v V). destruct (Rle_dec v (IZR b)); lra.
Qed.
Lemma on_free f p a l u v : free (kinks_of f) l u -> IZR l <= v <= IZR u ->
  IZR p * fR f v - IZR a * v >= Rmin (IZR (atZ f p a l)) (IZR (atZ f p a u)).
Proof.
  intros F V. destruct (affine _ _ _ F) as (c & d & H).
  assert (E : forall z, IZR l <= IZR z <= IZR u -> IZR (atZ f p a z) = IZR p * fR f (IZR z) - IZR a * IZR z).
  { intros. unfold atZ. rewrite minus_IZR, !mult_IZR, f_IZR. reflexivity. }
  rewrite (E l), (E u) by lra. unfold fR. rewrite (H v V), (H (IZR l)), (H (IZR u)) by lra.
  set (k := IZR p * (IZR (base f) + c) - IZR a).
  unfold Rmin. destruct (Rle_dec _ _); destruct (Rle_dec 0 k); unfold k in *; nra.
Qed.

(** The nearest ends or kinks around v. *)
Lemma around ks l u v : IZR l <= v <= IZR u -> exists l' u',
  IZR l' <= v <= IZR u' /\ free ks l' u' /\ (l <= l')%Z /\ (u' <= u)%Z
  /\ (l' = l \/ exists s, In (l', s) ks) /\ (u' = u \/ exists s, In (u', s) ks).
Proof.
  induction ks as [| [b s] ks IH]; intros V.
  - exists l, u. repeat split; try lra; try lia; auto. intros ? ? [].
  - destruct (IH V) as (l' & u' & W & F & A & B & C & D).
    assert (C' : l' = l \/ exists s0, In (l', s0) ((b, s) :: ks))
      by (destruct C as [C | [x C]]; [auto | right; exists x; right; auto]).
    assert (D' : u' = u \/ exists s0, In (u', s0) ((b, s) :: ks))
      by (destruct D as [D | [x D]]; [auto | right; exists x; right; auto]).
    destruct (Z_le_dec b l'); [| destruct (Z_le_dec u' b)].
    1, 2: exists l', u'; repeat split; try lra; try lia; auto;
      intros x y [I | I]; [inversion I; subst; auto | eauto].
    destruct (Rle_dec v (IZR b)).
    + exists l', b. repeat split; try lra; try lia; auto.
      * intros x y [I | I]; [inversion I; subst; lia | destruct (F x y I); lia].
      * right. exists s. left. reflexivity.
    + exists b, u'. repeat split; try lra; try lia; auto.
      * intros x y [I | I]; [inversion I; subst; lia | destruct (F x y I); lia].
      * right. exists s. left. reflexivity.
Qed.
Lemma low_end f p a ks l u : (low f p a ks l u <= atZ f p a l /\ low f p a ks l u <= atZ f p a u)%Z.
Proof. induction ks as [| [b s] ks IH]; simpl; [lia |]. destruct ((l <? b) && (b <? u))%Z%bool; lia. Qed.
Lemma low_kink f p a ks l u b s : In (b, s) ks -> (l <= b <= u)%Z -> (low f p a ks l u <= atZ f p a b)%Z.
Proof.
  intros I B. destruct (Z.eq_dec b l) as [-> |]; [apply low_end |]. destruct (Z.eq_dec b u) as [-> |]; [apply low_end |].
  induction ks as [| [c t] ks IH]; [destruct I |]. simpl. destruct I as [I | I].
  - inversion I; subst. destruct (Z.ltb_spec l b); [| lia]. destruct (Z.ltb_spec b u); [| lia]. simpl. lia.
  - specialize (IH I). destruct ((l <? c) && (c <? u))%Z%bool; lia.
Qed.
Theorem low_line_ok f p a l u v :
  IZR l <= v <= IZR u -> IZR p * fR f v >= IZR a * v + IZR (low_line f p a l u).
Proof.
  intros V. unfold low_line. destruct ((p =? 0) && (a =? 0))%Z%bool eqn:E.
  { apply andb_prop in E. destruct E as [P A]. apply Z.eqb_eq in P, A. subst. lra. }
  destruct (around (kinks_of f) l u v V) as (l' & u' & W & F & A & B & C & D).
  pose proof (on_free f p a l' u' v F W) as G.
  assert (Q : (l' <= u')%Z) by (apply le_IZR; lra).
  assert (X : (low f p a (kinks_of f) l u <= atZ f p a l')%Z).
  { destruct C as [-> | [s C]]; [apply low_end | eapply low_kink; eauto; lia]. }
  assert (Y : (low f p a (kinks_of f) l u <= atZ f p a u')%Z).
  { destruct D as [-> | [s D]]; [apply low_end | eapply low_kink; eauto; lia]. }
  apply IZR_le in X, Y. unfold Rmin in G. destruct (Rle_dec _ _); lra.
Qed.

(** * The same in units of a scale M, with short numbers

    Of a long coefficient p only the quotient by M is multiplied. What remains of it is between 0 and M, so it takes at
    most M times what the function has below 0. Kinks in order are walked along once, from value to value. *)
Fixpoint sorted (ks : kinks) : bool :=
  match ks with
  | [] => true
  | (b, _) :: ks' => (forallb (fun k => b <=? fst k)%Z ks' && sorted ks')%bool
  end.
Lemma h_below ks b v : forallb (fun k => b <=? fst k)%Z ks = true -> v <= IZR b -> hR ks v = 0.
Proof.
  induction ks as [| [c s] ks IH]; simpl; intros F V; [reflexivity |].
  apply andb_prop in F. destruct F as [L F]. apply Z.leb_le in L. apply IZR_le in L.
  rewrite (IH F V). destruct (Rle_dec v (IZR c)); lra.
Qed.
Definition turns (ks : kinks) : Z := fold_right (fun k t => (snd k + t)%Z) 0%Z ks.
Definition gM (p : Z) (all : bool) (a w v : Z) : Z := (p * w - a * v + (if all then 0 else Z.min 0 w))%Z.
Definition atM (f : fn) (p : Z) (all : bool) (a v : Z) : Z := gM p all a (fZ f v) v.
(** From x on, where the value is w and the slope to the right c. *)
Fixpoint walk (p : Z) (all : bool) (a c w x : Z) (ks : kinks) (u : Z) : Z :=
  (match ks with
   | [] => gM p all a (w + c * (u - x)) u
   | (b, s) :: ks' =>
       if u <=? b then gM p all a (w + c * (u - x)) u
       else let w' := w + c * (b - x) in Z.min (gM p all a w' b) (walk p all a (c + s) w' b ks' u)
   end)%Z.
Fixpoint walk_from (p : Z) (all : bool) (a c w l : Z) (ks : kinks) (u : Z) : Z :=
  (match ks with
   | (b, s) :: ks' => if b <=? l then walk_from p all a (c + s) w l ks' u else walk p all a c w l ks u
   | [] => walk p all a c w l [] u
   end)%Z.
Definition lowM (f : fn) (p : Z) (all : bool) (a l u : Z) : Z :=
  let w := fZ f l in Z.min (gM p all a w l) (walk_from p all a (base f) w l (kinks_of f) u).
(** Whether the function is 0 up to u, as a ReLU is below 0: what is above the line 0 then needs no calculation. *)
Definition vanishes (f : fn) (u : Z) : bool :=
  ((base f =? 0) && (shift f =? 0) && match kinks_of f with [] => true | (b, _) :: _ => u <=? b end)%Z%bool.
Lemma vanishes_ok f u v : sorted (kinks_of f) = true -> vanishes f u = true -> v <= IZR u -> fR f v = 0.
Proof.
  unfold vanishes, fR. intros S H V. apply andb_prop in H. destruct H as [H K]. apply andb_prop in H. destruct H as [B H].
  apply Z.eqb_eq in B, H. rewrite B, H. destruct (kinks_of f) as [| [b s] ks]; simpl; [ring |].
  apply Z.leb_le in K. apply IZR_le in K. simpl in S. apply andb_prop in S. destruct S as [F _].
  rewrite (h_below ks b v F) by lra. destruct (Rle_dec v (IZR b)); lra.
Qed.
Definition low_over (M : Z) (f : fn) (p a l u : Z) : Z :=
  if ((a =? 0) && ((p =? 0) || vanishes f u))%Z%bool then 0%Z
  else let whole := (p / M)%Z in lowM f whole (whole * M =? p)%Z a l u.
Lemma atM_below M f p a v : (0 < M)%Z -> (M * atM f (p / M) (p / M * M =? p) a v <= atZ f p (M * a) v)%Z.
Proof.
  intros PM. unfold atM, gM, atZ. pose proof (Z.div_mod p M ltac:(lia)) as E. pose proof (Z.mod_pos_bound p M PM) as R.
  destruct (Z.eqb_spec (p / M * M) p) as [D | _]; [nia |].
  set (w := fZ f v). set (c := (p / M)%Z) in *. set (r := (p mod M)%Z) in *. assert (M * Z.min 0 w <= r * w)%Z by nia. nia.
Qed.

Lemma hZ_app ks js v : hZ (ks ++ js) v = (hZ ks v + hZ js v)%Z.
Proof. induction ks as [| [b s] ks IH]; simpl; [reflexivity |]. rewrite IH. ring. Qed.
Lemma hZ_before ks v : Forall (fun k => (v <= fst k)%Z) ks -> hZ ks v = 0%Z.
Proof.
  induction 1 as [| [b s] ks B F IH]; simpl; [reflexivity |]. simpl in B. rewrite IH. destruct (Z.leb_spec v b); lia.
Qed.
Lemma hZ_behind ks x v : Forall (fun k => (fst k <= x)%Z) ks -> (x <= v)%Z ->
  hZ ks v = (hZ ks x + turns ks * (v - x))%Z.
Proof.
  intros F V. induction F as [| [b s] ks B F IH]; simpl; [ring |]. simpl in B. rewrite IH. fold (turns ks).
  destruct (Z.leb_spec v b); destruct (Z.leb_spec x b); try lia; [assert (v = x) by lia | assert (x = b) by lia]; subst; ring.
Qed.
Lemma turns_app ks js : turns (ks ++ js) = (turns ks + turns js)%Z.
Proof. induction ks as [| [b s] ks IH]; simpl; [reflexivity |]. fold (turns (ks ++ js)) (turns ks). rewrite IH. ring. Qed.
(** The function is a line from a place to the next kink. *)
Lemma on_line f passed ks x v : kinks_of f = passed ++ ks -> Forall (fun k => (fst k <= x)%Z) passed -> (x <= v)%Z ->
  Forall (fun k => (v <= fst k)%Z) ks -> fZ f v = (fZ f x + (base f + turns passed) * (v - x))%Z.
Proof.
  intros E P V N. unfold fZ. rewrite E, !hZ_app, (hZ_behind passed x v P V), (hZ_before ks v N), (hZ_before ks x); [ring |].
  eapply Forall_impl; [| exact N]. simpl. intros k K. lia.
Qed.
Lemma sorted_head b s ks : sorted ((b, s) :: ks) = true -> Forall (fun k => (b <= fst k)%Z) ks /\ sorted ks = true.
Proof.
  intros H. simpl in H. apply andb_prop in H. destruct H as [F S]. split; [| exact S].
  rewrite forallb_forall in F. apply Forall_forall. intros k I. apply Z.leb_le, F, I.
Qed.
Lemma walk_ok f p all a u ks : forall passed c w x, kinks_of f = passed ++ ks -> sorted ks = true ->
  Forall (fun k => (fst k <= x)%Z) passed -> Forall (fun k => (x <= fst k)%Z) ks ->
  c = (base f + turns passed)%Z -> w = fZ f x -> (x <= u)%Z ->
  (walk p all a c w x ks u <= atM f p all a u)%Z
  /\ forall b s, In (b, s) ks -> (b < u)%Z -> (walk p all a c w x ks u <= atM f p all a b)%Z.
Proof.
  induction ks as [| [b s] ks IH]; intros passed c w x E S P N C W U; subst c w; cbn [walk].
  - unfold atM. rewrite (on_line f passed [] x u E P U ltac:(constructor)). split; [lia | intros ? ? []].
  - destruct (sorted_head _ _ _ S) as [H S']. assert (XB : (x <= b)%Z) by (inversion N; assumption).
    destruct (Z.leb_spec u b) as [UB | UB].
    + unfold atM. rewrite (on_line f passed ((b, s) :: ks) x u E P U);
        [| constructor; [exact UB | eapply Forall_impl; [| exact H]; simpl; intros k K; lia]].
      split; [lia |]. intros b' s' [I | I] L; [inversion I; lia |].
      rewrite Forall_forall in H. specialize (H _ I). simpl in H. lia.
    + assert (FB : fZ f b = (fZ f x + (base f + turns passed) * (b - x))%Z).
      { apply (on_line f passed ((b, s) :: ks)); auto. constructor; [simpl; lia | exact H]. }
      destruct (IH (passed ++ [(b, s)]) (base f + turns passed + s)%Z (fZ f x + (base f + turns passed) * (b - x))%Z b) as [A B];
        auto; try lia.
      * rewrite <- app_assoc. exact E.
      * apply Forall_app. split; [eapply Forall_impl; [| exact P]; simpl; intros k K; lia | constructor; [simpl; lia | constructor]].
      * rewrite turns_app. simpl. ring.
      * split; [lia |]. intros b' s' [I | I] L; [inversion I; subst b' s' | specialize (B _ _ I L); lia].
        unfold atM. rewrite FB. lia.
Qed.
Lemma walk_from_ok f p all a l u ks : forall passed c, kinks_of f = passed ++ ks -> sorted ks = true ->
  Forall (fun k => (fst k <= l)%Z) passed -> c = (base f + turns passed)%Z -> (l <= u)%Z ->
  (walk_from p all a c (fZ f l) l ks u <= atM f p all a u)%Z
  /\ forall b s, In (b, s) ks -> (l < b)%Z -> (b < u)%Z -> (walk_from p all a c (fZ f l) l ks u <= atM f p all a b)%Z.
Proof.
  induction ks as [| [b s] ks IH]; intros passed c E S P C U.
  - cbn [walk_from]. destruct (walk_ok f p all a u [] passed c (fZ f l) l) as [A _]; auto. split; [exact A | intros ? ? []].
  - destruct (sorted_head _ _ _ S) as [H S']. cbn [walk_from]. destruct (Z.leb_spec b l) as [L | L].
    + destruct (IH (passed ++ [(b, s)]) (c + s)%Z) as [A B]; auto.
      * rewrite <- app_assoc. exact E.
      * apply Forall_app. split; [exact P | constructor; [exact L | constructor]].
      * rewrite turns_app. simpl. rewrite C. ring.
      * split; [exact A |]. intros b' s' [I | I] G; [inversion I; lia | apply (B b' s' I G)].
    + destruct (walk_ok f p all a u ((b, s) :: ks) passed c (fZ f l) l) as [A B]; auto.
      * constructor; [simpl; lia |]. eapply Forall_impl; [| exact H]. simpl. intros k K. lia.
      * split; [exact A |]. intros b' s' I _ G. exact (B b' s' I G).
Qed.
Lemma low_is f p a ks l u :
  low f p a ks l u = atZ f p a l \/ low f p a ks l u = atZ f p a u
  \/ exists b s, In (b, s) ks /\ (l < b < u)%Z /\ low f p a ks l u = atZ f p a b.
Proof.
  induction ks as [| [b s] ks IH]; cbn [low]; [lia |].
  assert (R : low f p a ks l u = atZ f p a l \/ low f p a ks l u = atZ f p a u
    \/ exists b' s', In (b', s') ((b, s) :: ks) /\ (l < b' < u)%Z /\ low f p a ks l u = atZ f p a b').
  { destruct IH as [A | [A | (b' & s' & I & L & A)]]; auto. right. right. exists b', s'. simpl. auto. }
  destruct ((l <? b) && (b <? u))%Z%bool eqn:In; [| exact R]. apply andb_prop in In. destruct In as [L U].
  apply Z.ltb_lt in L, U. destruct (Z.min_spec (atZ f p a b) (low f p a ks l u)) as [[_ ->] | [_ ->]]; [| exact R].
  right. right. exists b, s. simpl. auto.
Qed.
Lemma lowM_below M f p a l u : (0 < M)%Z -> (l <= u)%Z -> sorted (kinks_of f) = true ->
  (M * lowM f (p / M) (p / M * M =? p) a l u <= low f p (M * a) (kinks_of f) l u)%Z.
Proof.
  intros PM LU S. pose proof (fun v => atM_below M f p a v PM) as H. unfold lowM. set (all := (p / M * M =? p)%Z) in *.
  destruct (walk_from_ok f (p / M) all a l u (kinks_of f) [] (base f)) as [A B]; auto; [simpl; ring |].
  change (gM (p / M) all a (fZ f l) l) with (atM f (p / M) all a l). set (z := walk_from _ _ _ _ _ _ _ _) in *.
  destruct (low_is f p (M * a) (kinks_of f) l u) as [-> | [-> | (b & s & I & L & ->)]].
  - pose proof (H l). nia.
  - pose proof (H u). nia.
  - specialize (B b s I ltac:(lia) ltac:(lia)). pose proof (H b). nia.
Qed.
Theorem low_over_ok M f p a l u v : (0 < M)%Z -> sorted (kinks_of f) = true ->
  IZR l <= v <= IZR u -> IZR p * fR f v >= IZR M * (IZR a * v + IZR (low_over M f p a l u)).
Proof.
  intros PM S V. unfold low_over. destruct ((a =? 0) && ((p =? 0) || vanishes f u))%Z%bool eqn:E.
  { apply andb_prop in E. destruct E as [A E]. apply Z.eqb_eq in A. subst a. apply orb_prop in E. destruct E as [P | N].
    - apply Z.eqb_eq in P. subst. lra.
    - rewrite (vanishes_ok f u v S N) by lra. lra. }
  pose proof (low_line_ok f p (M * a) l u v V) as G. unfold low_line in G.
  assert (X : ((p =? 0) && (M * a =? 0))%Z%bool = false).
  { destruct (Z.eqb_spec p 0) as [-> | _]; [| reflexivity]. destruct (Z.eqb_spec a 0); [discriminate |]. apply Z.eqb_neq. nia. }
  assert (LU : (l <= u)%Z) by (apply le_IZR; lra).
  rewrite X in G. pose proof (lowM_below M f p a l u PM LU S) as B. apply IZR_le in B.
  rewrite mult_IZR in B, G. cbv zeta. lra.
Qed.
(** A number in units of M. *)
Definition over (M z : Z) : Z := if (z =? 0)%Z then 0%Z else (z / M)%Z.
Lemma over_ok M z : (0 < M)%Z -> IZR M * IZR (z / M) <= IZR z.
Proof. intros P. rewrite <- mult_IZR. apply IZR_le, Z.mul_div_le, P. Qed.
Lemma over_below M z : (0 < M)%Z -> IZR M * IZR (over M z) <= IZR z.
Proof. intros P. unfold over. destruct (Z.eqb_spec z 0) as [-> |]; [lra | apply over_ok, P]. Qed.

(** * Sums of multiples of two functions, and lines below them *)
Definition times (q : Z) (ks : kinks) : kinks := map (fun k => (fst k, (q * snd k)%Z)) ks.
Definition mixed (q : Z) (f : fn) (r : Z) (g : fn) : fn :=
  (Fn (q * base f + r * base g) (q * shift f + r * shift g) (times q (kinks_of f) ++ times r (kinks_of g)))%Z.
Lemma h_times q ks v : hR (times q ks) v = IZR q * hR ks v.
Proof.
  induction ks as [| [b s] ks IH]; simpl; [ring |]. rewrite IH, mult_IZR. destruct (Rle_dec v (IZR b)); ring.
Qed.
Lemma h_app ks js v : hR (ks ++ js) v = hR ks v + hR js v.
Proof. induction ks as [| [b s] ks IH]; simpl; [ring |]. rewrite IH. ring. Qed.
Definition low_mixed (q : Z) (f : fn) (r : Z) (g : fn) (a l u : Z) : Z :=
  if ((q =? 0) && (r =? 0) && (a =? 0))%Z%bool then 0%Z else low_line (mixed q f r g) 1 a l u.
Theorem low_mixed_ok q f r g a l u v : IZR l <= v <= IZR u ->
  IZR q * fR f v + IZR r * fR g v >= IZR a * v + IZR (low_mixed q f r g a l u).
Proof.
  intros V. unfold low_mixed. destruct ((q =? 0) && (r =? 0) && (a =? 0))%Z%bool eqn:E.
  { apply andb_prop in E. destruct E as [E A]. apply andb_prop in E. destruct E as [Q P].
    apply Z.eqb_eq in Q, P, A. subst. lra. }
  pose proof (low_line_ok (mixed q f r g) 1 a l u v V) as H.
  set (c := low_line _ _ _ _ _) in *. clearbody c. unfold fR, mixed in H. cbn [base shift kinks_of] in H.
  rewrite h_app, !h_times, !plus_IZR, !mult_IZR in H. unfold fR. lra.
Qed.

(** * Slopes *)
Fixpoint slope_low (c : Z) (ks : kinks) (l u : Z) : Z :=
  (match ks with
   | [] => c
   | (b, s) :: ks' =>
       if u <=? b then c
       else if b <=? l then slope_low (c + s) ks' l u else Z.min c (slope_low (c + s) ks' l u)
   end)%Z.
Fixpoint slope_high (c : Z) (ks : kinks) (l u : Z) : Z :=
  (match ks with
   | [] => c
   | (b, s) :: ks' =>
       if u <=? b then c
       else if b <=? l then slope_high (c + s) ks' l u else Z.max c (slope_high (c + s) ks' l u)
   end)%Z.

Lemma times_le a b d : a <= b -> 0 <= d -> a * d <= b * d.
Proof. intros. nra. Qed.
Lemma min_l a b : IZR (Z.min a b) <= IZR a. Proof. apply IZR_le. lia. Qed.
Lemma min_r a b : IZR (Z.min a b) <= IZR b. Proof. apply IZR_le. lia. Qed.
Lemma max_l a b : IZR a <= IZR (Z.max a b). Proof. apply IZR_le. lia. Qed.
Lemma max_r a b : IZR b <= IZR (Z.max a b). Proof. apply IZR_le. lia. Qed.

Lemma slopes_walk ks l u : sorted ks = true -> forall c x y, IZR l <= y -> y <= x -> x <= IZR u ->
  IZR (slope_low c ks l u) * (x - y) <= IZR c * x + hR ks x - (IZR c * y + hR ks y)
    <= IZR (slope_high c ks l u) * (x - y).
Proof.
  induction ks as [| [b s] ks IH]; intros S c x y L M U; simpl; [lra |].
  simpl in S. apply andb_prop in S. destruct S as [F S].
  pose proof (fun c x y => IH S c x y) as IHs. clear IH.
  assert (Z0 : forall v, v <= IZR b -> hR ks v = 0) by (intros; eapply h_below; eauto).
  destruct (Z.leb_spec u b) as [UB | UB].
  - apply IZR_le in UB. rewrite !Z0 by lra.
    destruct (Rle_dec x (IZR b)); destruct (Rle_dec y (IZR b)); lra.
  - apply IZR_lt in UB. destruct (Z.leb_spec b l) as [BL | BL].
    + apply IZR_le in BL. specialize (IHs (c + s)%Z x y L M U). rewrite plus_IZR in IHs.
      destruct (Rle_dec x (IZR b)) as [X | X]; destruct (Rle_dec y (IZR b)) as [Y | Y]; try lra.
      * assert (x = IZR b) by lra. assert (y = IZR b) by lra. subst x. rewrite H0 in *. lra.
      * assert (y = IZR b) by lra. subst y. lra.
    + apply IZR_lt in BL.
      pose proof (min_l c (slope_low (c + s) ks l u)) as A. pose proof (min_r c (slope_low (c + s) ks l u)) as B.
      pose proof (max_l c (slope_high (c + s) ks l u)) as A'. pose proof (max_r c (slope_high (c + s) ks l u)) as B'.
      destruct (Rle_dec x (IZR b)) as [X | X]; destruct (Rle_dec y (IZR b)) as [Y | Y]; try lra.
      * rewrite !Z0 by lra.
        pose proof (times_le _ _ (x - y) A). pose proof (times_le _ _ (x - y) A'). lra.
      * rewrite (Z0 y) by lra. specialize (IHs (c + s)%Z x (IZR b)). rewrite plus_IZR, (Z0 (IZR b)) in IHs by lra.
        assert (P : IZR l <= IZR b) by lra. specialize (IHs P ltac:(lra) U).
        pose proof (times_le _ _ (x - IZR b) B ltac:(lra)). pose proof (times_le _ _ (x - IZR b) B' ltac:(lra)).
        pose proof (times_le _ _ (IZR b - y) A ltac:(lra)). pose proof (times_le _ _ (IZR b - y) A' ltac:(lra)). lra.
      * specialize (IHs (c + s)%Z x y L M U). rewrite plus_IZR in IHs.
        pose proof (times_le _ _ (x - y) B ltac:(lra)). pose proof (times_le _ _ (x - y) B' ltac:(lra)). lra.
Qed.

Definition steepest_down (f : fn) (l u : Z) : Z := slope_low (base f) (kinks_of f) l u.
Definition steepest_up (f : fn) (l u : Z) : Z := slope_high (base f) (kinks_of f) l u.
Theorem slopes_ok f l u x y : sorted (kinks_of f) = true -> IZR l <= y -> y <= x -> x <= IZR u ->
  IZR (steepest_down f l u) * (x - y) <= fR f x - fR f y <= IZR (steepest_up f l u) * (x - y).
Proof.
  intros S L M U. pose proof (slopes_walk _ l u S (base f) x y L M U) as H.
  unfold fR, steepest_down, steepest_up. lra.
Qed.

(** * The same functions in another unit: kinks and shift are given in units of u. *)
Fixpoint bends (u : R) (ks : kinks) (v : R) : R :=
  match ks with
  | [] => 0
  | (b, s) :: ks' => IZR s * Rmax 0 (v - IZR b * u) + bends u ks' v
  end.
Definition value (u : R) (f : fn) (v : R) : R := IZR (base f) * v + IZR (shift f) * u + bends u (kinks_of f) v.
Lemma bends_scaled u ks w : 0 < u -> bends u ks (u * w) = u * hR ks w.
Proof.
  intros U. induction ks as [| [b s] ks IH]; simpl; [ring |]. rewrite IH.
  assert (E : Rmax 0 (u * w - IZR b * u) = u * (if Rle_dec w (IZR b) then 0 else w - IZR b)).
  { unfold Rmax. destruct (Rle_dec 0 _); destruct (Rle_dec w (IZR b)); nra. }
  rewrite E. destruct (Rle_dec w (IZR b)); ring.
Qed.
Lemma value_scaled u f w : 0 < u -> value u f (u * w) = u * fR f w.
Proof. intros U. unfold value, fR. rewrite bends_scaled by exact U. ring. Qed.
