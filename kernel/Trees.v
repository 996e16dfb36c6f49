(** Refutations: a stream of records for a stack of nodes.

    A node is a region, known bounds, and the obligations that are open on it. An obligation is what a violation of the
    claim would be: some facts about the last layer, all together. [step] takes a record and the stack, and gives the
    stack that is left to refute, or None. [step_ok]: if no trace of a node that is left violates an obligation that is
    open there, then that holds for the nodes before the step. So a stream that ends with an empty stack refutes the root. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Kernel Require Import Functions Networks Bounds Relaxation Regions Pulls.
Import ListNotations.
Open Scope R_scope.

Record limit := Limit { layer_of : nat; neuron_of : nat; kind_of : kind; at_least : bool; value_of : Z; strict : bool }.
Definition obligation := list limit.
(** A limit at an input; about a neuron that there is not it says nothing. *)
Definition meets (r : trace) (q : limit) : Prop :=
  match at_ r (layer_of q) (neuron_of q) with
  | None => True
  | Some (x, y) =>
      let z := quantity (kind_of q) x y in
      match at_least q, strict q with
      | true, true => z > IZR (value_of q)
      | true, false => z >= IZR (value_of q)
      | false, true => z < IZR (value_of q)
      | false, false => z <= IZR (value_of q)
      end
  end.
Definition violated (o : obligation) (r : trace) : Prop := Forall (meets r) o.

(** Whether known bounds exclude a limit. *)
Definition excluded_limit (K : known) (q : limit) : bool :=
  match get K (layer_of q) (neuron_of q) with
  | None => false
  | Some b =>
      (if at_least q then
         let h := highest (kind_of q) b in (h <? value_of q) || (strict q && (h <=? value_of q))
       else
         let l := lowest (kind_of q) b in (value_of q <? l) || (strict q && (value_of q <=? l)))%Z%bool
  end.
Definition excluded (K : known) (o : obligation) : bool := existsb (excluded_limit K) o.
Lemma excluded_ok K o r : inside K r -> excluded K o = true -> ~ violated o r.
Proof.
  intros HI HE HV. unfold excluded in HE. apply existsb_exists in HE. destruct HE as (q & Q & E).
  unfold violated in HV. rewrite Forall_forall in HV. specialize (HV q Q). clear Q.
  unfold excluded_limit in E. destruct (get K (layer_of q) (neuron_of q)) as [b |] eqn:G; [| discriminate].
  destruct (inside_get _ _ _ _ _ HI G) as (x & y & A & W). unfold meets in HV. rewrite A in HV.
  pose proof (within_quantity (kind_of q) b x y W) as [L U].
  destruct (at_least q); apply orb_prop in E; destruct E as [E | E].
  - apply Z.ltb_lt in E. apply IZR_lt in E. destruct (strict q); lra.
  - apply andb_prop in E. destruct E as [S E]. rewrite S in HV. apply Z.leb_le in E. apply IZR_le in E. lra.
  - apply Z.ltb_lt in E. apply IZR_lt in E. destruct (strict q); lra.
  - apply andb_prop in E. destruct E as [S E]. rewrite S in HV. apply Z.leb_le in E. apply IZR_le in E. lra.
Qed.
(** The bounds with a limit assumed. *)
Definition assume (K : known) (q : limit) : known :=
  tighten K (layer_of q) (neuron_of q) (kind_of q) (at_least q) (value_of q).
Lemma assume_ok r o : forall K, inside K r -> violated o r -> inside (fold_left assume o K) r.
Proof.
  induction o as [| q o IH]; intros K HI HV; [exact HI |]. inversion HV as [| ? ? HQ HV']; subst. simpl. apply IH; auto.
  apply tighten_ok; [exact HI |]. unfold fact. unfold meets in HQ. destruct (at_ r (layer_of q) (neuron_of q)) as [[x y] |];
    [| exact I]. unfold says. destruct (at_least q), (strict q); lra.
Qed.

Record node := Node { area : region; known_of : known; open : list obligation }.
Inductive record :=
| RInput (i : nat) (c : Z)                                 (* two nodes follow: input i <= c, input i >= c *)
| RCut (t i : nat) (d : kind) (c : Z)                      (* the same for a quantity of a neuron *)
| RAssume (o : nat)                                        (* two follow: an open obligation alone, assumed; the others *)
| RBound (t i : nat) (d : kind) (least : bool) (e : Z) (H : hints)   (* a bound by a pull; the node goes on *)
| RBoundInput (i : nat) (least : bool) (e : Z) (H : hints) (* the same for an input *)
| RForward (t : nat)                                       (* intervals of a layer; the node goes on *)
| RDone                                                    (* what known bounds exclude is closed; goes on if any is left *)
| RLeaf (H : hints)                                        (* 0 is at least something positive: the node is empty *)
| RVoid (t i : nat)                                        (* bounds of a neuron contradict each other *)
| REmpty (i : nat).                                        (* the sides of an input do *)

Fixpoint without {A} (i : nat) (l : list A) : list A :=
  match l, i with [], _ => [] | _ :: l', O => l' | a :: l', S i' => a :: without i' l' end.
Definition void (K : known) (t i : nat) : bool := match get K t i with None => false | Some b => contradictory b end.
Definition crossed (B : region) (i : nat) : bool :=
  match nth_error (sides B) i with None => false | Some b => (snd b <? fst b)%Z end.

Definition step (n : net) (r : record) (todo : list node) : option (list node) :=
  match todo with
  | [] => None
  | Node B K os :: rest =>
      match r with
      | RInput i c => Some (Node (cut_side i false c B) K os :: Node (cut_side i true c B) K os :: rest)
      | RCut t i d c => Some (Node B (tighten K t i d false c) os :: Node B (tighten K t i d true c) os :: rest)
      | RAssume i =>
          match nth_error os i with
          | None => None
          | Some o => Some (Node B (fold_left assume o K) [o] :: Node B K (without i os) :: rest)
          end
      | RBound t i d least e H => Some (Node B (bound n B K t i d least e H) os :: rest)
      | RBoundInput i least e H => Some (Node (bound_input n B K i least e H) K os :: rest)
      | RForward t => Some (Node B (forward n B K t) os :: rest)
      | RDone =>
          match filter (fun o => negb (excluded K o)) os with
          | [] => Some rest
          | kept => Some (Node B K kept :: rest)
          end
      | RLeaf H => if (0 <? fst (pull n B K H [] [] []))%Z then Some rest else None
      | RVoid t i => if void K t i then Some rest else None
      | REmpty i => if crossed B i then Some rest else None
      end
  end.

Definition refuted (n : net) (a : node) : Prop :=
  forall w r, in_region (area a) w -> traces n r w -> inside (known_of a) r -> forall o, In o (open a) -> ~ violated o r.

Lemma without_in {A} (l : list A) : forall i a b, nth_error l i = Some a -> In b l -> b = a \/ In b (without i l).
Proof.
  induction l as [| c l IH]; intros i a b N I; [destruct I |]. destruct i as [| i]; simpl in *.
  - inversion N; subst. destruct I; auto.
  - destruct I as [-> | I]; [auto |]. destruct (IH _ _ _ N I); auto.
Qed.
Lemma split_input B i c w : in_region B w -> in_region (cut_side i false c B) w \/ in_region (cut_side i true c B) w.
Proof.
  intros HB. destruct (nth_error w i) as [x |] eqn:E.
  - destruct (Rle_dec x (IZR c)); [left | right]; apply cut_side_ok; auto;
      intros z N; rewrite E in N; inversion N; subst; lra.
  - left. apply cut_side_ok; auto. intros z N. rewrite E in N. discriminate.
Qed.
Lemma crossed_ok B i w : in_region B w -> crossed B i = true -> False.
Proof.
  intros [HB _]. unfold crossed. revert i. induction HB as [| b x bs w H HB IH]; intros [| i] E; simpl in E; try discriminate.
  - apply Z.ltb_lt in E. apply IZR_lt in E. lra.
  - exact (IH i E).
Qed.

Theorem step_ok n r todo next : Forall ordered n ->
  step n r todo = Some next -> Forall (refuted n) next -> Forall (refuted n) todo.
Proof.
  intros HF. destruct todo as [| [B K os] rest]; [discriminate |].
  destruct r; simpl; intros E HN.
  - inversion E; subst; clear E. inversion HN as [| ? ? A HN']; subst. inversion HN' as [| ? ? A' HR]; subst.
    constructor; auto. intros w tr HB HT HI. simpl in *. destruct (split_input B i c w HB); [apply (A w) | apply (A' w)]; auto.
  - inversion E; subst; clear E. inversion HN as [| ? ? A HN']; subst. inversion HN' as [| ? ? A' HR]; subst.
    constructor; auto. intros w tr HB HT HI. simpl in *.
    destruct (cut_fact tr t i d c); [apply (A w) | apply (A' w)]; auto; simpl; apply tighten_ok; auto.
  - destruct (nth_error os o) as [ob |] eqn:N; [| discriminate]. inversion E; subst; clear E.
    inversion HN as [| ? ? A HN']; subst. inversion HN' as [| ? ? A' HR]; subst.
    constructor; auto. intros w tr HB HT HI o' I HV. simpl in *. destruct (without_in _ _ _ _ N I) as [-> | J].
    + apply (A w tr HB HT) with (o := ob); simpl; auto. apply assume_ok; auto.
    + apply (A' w tr HB HT HI o' J HV).
  - inversion E; subst; clear E. inversion HN as [| ? ? A HR]; subst. constructor; auto.
    intros w tr HB HT HI. apply (A w); auto. simpl in *. eapply bound_ok; eauto.
  - inversion E; subst; clear E. inversion HN as [| ? ? A HR]; subst. constructor; auto.
    intros w tr HB HT HI. apply (A w); auto. simpl in *. eapply bound_input_ok; eauto.
  - inversion E; subst; clear E. inversion HN as [| ? ? A HR]; subst. constructor; auto.
    intros w tr HB HT HI. apply (A w); auto. simpl in *. eapply forward_ok; eauto.
  - assert (C : forall tr, inside K tr -> forall o, In o os -> violated o tr ->
        In o (filter (fun o => negb (excluded K o)) os)).
    { intros tr HI o I HV. apply filter_In. split; [exact I |].
      destruct (excluded K o) eqn:X; [| reflexivity]. destruct (excluded_ok K o tr HI X HV). }
    destruct (filter (fun o => negb (excluded K o)) os) as [| o1 kept] eqn:L; inversion E; subst; clear E.
    + constructor; auto. intros w tr HB HT HI o I HV. simpl in *. destruct (C tr HI o I HV).
    + inversion HN as [| ? ? A HR]; subst. constructor; auto. intros w tr HB HT HI o I HV. simpl in *.
      exact (A w tr HB HT HI o (C tr HI o I HV) HV).
  - destruct (Z.ltb_spec 0 (fst (pull n B K H [] [] []))) as [L | L]; [| discriminate]. inversion E; subst.
    constructor; auto. intros w tr HB HT HI. simpl in *.
    pose proof (pull_ok n B w HF HB K H [] [] [] tr HT HI) as P. rewrite asked_nil, !dot_none in P.
    apply IZR_lt in L. lra.
  - destruct (void K t i) eqn:V; [| discriminate]. inversion E; subst. constructor; auto.
    intros w tr HB HT HI. simpl in *. unfold void in V. destruct (get K t i) as [b |] eqn:G; [| discriminate].
    destruct (inside_get _ _ _ _ _ HI G) as (x & y & _ & W). destruct (contradictory_ok _ _ _ W V).
  - destruct (crossed B i) eqn:V; [| discriminate]. inversion E; subst. constructor; auto.
    intros w tr HB HT HI. destruct (crossed_ok _ _ _ HB V).
Qed.

Fixpoint run (n : net) (rs : list record) (todo : list node) : option (list node) :=
  match rs with
  | [] => Some todo
  | r :: rs' => match step n r todo with None => None | Some next => run n rs' next end
  end.
Lemma run_ok n rs : Forall ordered n -> forall todo, run n rs todo = Some [] -> Forall (refuted n) todo.
Proof.
  intros HF. induction rs as [| r rs IH]; intros todo H; simpl in H; [inversion H; constructor |].
  destruct (step n r todo) eqn:E; [| discriminate]. eapply step_ok; eauto.
Qed.

(** The node of a whole region. *)
Definition root_of (n : net) (B : region) (os : list obligation) : node := Node B (start n B) os.
Theorem tree_ok n B os rs : Forall ordered n -> run n rs [root_of n B os] = Some [] ->
  forall w r, in_region B w -> traces n r w -> forall o, In o os -> ~ violated o r.
Proof.
  intros HF H w r HB HT o I. pose proof (run_ok n rs HF _ H) as R. inversion R as [| ? ? A _]; subst.
  apply (A w r HB HT); [eapply start_ok; eassumption | exact I].
Qed.
