(** Tiny certificates, checked inside Coq: made by tiny_in_coq.py of the streams in tiny/. *)
From Coq Require Import ZArith List.
From Kernel Require Import Functions Smooth Rounding Levels Networks Bounds Relaxation Pulls Trees Claims.
Import ListNotations.
Open Scope Z_scope.

Module Tiny_agreeing.
Definition pair : net := [Layer 1%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(2)%Z; (-1)%Z])] (long_of (0)) [(0%nat, [(2)%Z; (-1)%Z])] (long_of (0)) None]; Layer 2%positive [Neuron (Levels (Grid 1024%positive (0)%Z (0)%Z (15)%Z HalfAway false)) (Some (Levels (Grid 1024%positive (0)%Z (-8)%Z (16)%Z HalfAway false))) [(0%nat, [(1)%Z; (-1)%Z])] (long_of (16384)) [(0%nat, [(1)%Z; (-1)%Z])] (long_of (16384)) None; Neuron (Bent (Fn (1)%Z (0)%Z [((4096)%Z, (-1)%Z)])) None [(0%nat, [(2)%Z; (1)%Z])] (long_of (-1024)) [(0%nat, [(2)%Z; (1)%Z])] (long_of (-1024)) None]; Layer 4%positive [Neuron (Levels (Grid 512%positive (0)%Z (-128)%Z (127)%Z HalfEven false)) (Some (Levels (Grid 512%positive (128)%Z (0)%Z (255)%Z HalfEven false))) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 512%positive (0)%Z (-128)%Z (127)%Z HalfEven false)) (Some (Levels (Grid 512%positive (128)%Z (0)%Z (255)%Z HalfEven false))) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z], ((3)%Z, 2%positive))] (Distance [0%nat] ((0)%Z, 1%positive)).
Definition records := [
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_agreeing.

Module Tiny_clip.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(8)%Z; (6)%Z; (-1)%Z; (2)%Z])] (long_of (131072)) [(0%nat, [(9)%Z; (6)%Z; (-1)%Z; (2)%Z])] (long_of (114688)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((65536)%Z, (-1)%Z)])) None [(0%nat, [(5)%Z; (-11)%Z])] (long_of (-458752)) [(0%nat, [(4)%Z; (-12)%Z])] (long_of (-442368)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((65536)%Z, (-1)%Z)])) None [(0%nat, [(13)%Z; (-1)%Z])] (long_of (262144)) [(0%nat, [(13)%Z; (-1)%Z])] (long_of (262144)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((65536)%Z, (-1)%Z)])) None [(0%nat, [(-10)%Z; (-15)%Z])] (long_of (262144)) [(0%nat, [(-11)%Z; (-15)%Z])] (long_of (262144)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((65536)%Z, (-1)%Z)])) None [(0%nat, [(-2)%Z; (-9)%Z])] (long_of (-393216)) [(0%nat, [(-2)%Z; (-9)%Z])] (long_of (-409600)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat] ((1)%Z, 16%positive)).
Definition records := [
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (67108864)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (2097152)%Z; Hint (16777216)%Z (0)%Z (0)%Z (-8388608)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-606208)%Z (9437184)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1048576)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RDone;
  RAssume 1%nat;
  RDone;
  RBoundInput 0%nat false (5963776)%Z [((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (1073741824)%Z]); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-606208)%Z (9437184)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1048576)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (16711680)%Z [((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (1073741824)%Z]); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-606208)%Z (9437184)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1048576)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-1195102)%Z (16022676)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-889343)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RDone;
  RBoundInput 0%nat false (3608072)%Z [((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (1073741824)%Z]); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-1195134)%Z (9437184)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1048576)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (23778792)%Z [((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (1073741824)%Z]); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-67108864)%Z (0)%Z (-1195134)%Z (9437184)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1048576)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-67108864)%Z (0)%Z (-893721)%Z (8388608)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-242312)%Z; Hint (-16777216)%Z (0)%Z (0)%Z (2097152)%Z])];
  RVoid 0%nat 0%nat;
  RForward 2%nat;
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (67108864)%Z (0)%Z (0)%Z (-16777216)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (4194304)%Z; Hint (16777216)%Z (0)%Z (0)%Z (-16777216)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (67108864)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (4194304)%Z; Hint (16777216)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_clip.

Module Tiny_confident.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-4)%Z; (11)%Z; (-12)%Z])] (long_of (196608)) [(0%nat, [(-4)%Z; (11)%Z; (-12)%Z])] (long_of (180224)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(1)%Z; (-8)%Z; (14)%Z])] (long_of (196608)) [(0%nat, [(1)%Z; (-9)%Z; (13)%Z])] (long_of (180224)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(9)%Z; (16)%Z])] (long_of (327680)) [(0%nat, [(10)%Z; (17)%Z])] (long_of (344064)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-14)%Z; (-3)%Z])] (long_of (-524288)) [(0%nat, [(-14)%Z; (-3)%Z])] (long_of (-524288)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(8)%Z; (-16)%Z])] (long_of (-196608)) [(0%nat, [(8)%Z; (-16)%Z])] (long_of (-196608)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (KeepsConfident ((55)%Z, 100%positive) ((841591)%Z, 4194304%positive) 10%nat [[(1%nat, ((1)%Z, ((841591)%Z, 4194304%positive)))]; [(0%nat, ((1)%Z, ((0)%Z, 1%positive))); (1%nat, ((1)%Z, ((0)%Z, 1%positive)))]]).
Definition records := [
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((4)%Z, [Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-10547441)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (0)%Z (-3131164)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-11468800)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-41943040)%Z (0)%Z (0)%Z (11796480)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (41943040)%Z (0)%Z (0)%Z (-9175040)%Z; Hint (0)%Z (-1110257)%Z (0)%Z (0)%Z; Hint (0)%Z (-1835008)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (-3145728)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-11927552)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((4)%Z, [Hint (0)%Z (0)%Z (10485760)%Z (0)%Z; Hint (0)%Z (-11102569)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (41943040)%Z (0)%Z (0)%Z (-9175040)%Z; Hint (0)%Z (-1110257)%Z (0)%Z (0)%Z; Hint (0)%Z (-1835008)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-41943040)%Z (0)%Z (0)%Z (11796480)%Z])];
  RBound 0%nat 2%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((4)%Z, [Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-10547441)%Z (0)%Z (0)%Z])];
  RDone;
  RAssume 0%nat;
  RVoid 0%nat 0%nat;
  RAssume 0%nat;
  RVoid 0%nat 1%nat;
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_confident.

Module Tiny_constraint.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-12)%Z; (1)%Z; (-9)%Z; (9)%Z])] (long_of (65536)) [(0%nat, [(-12)%Z; (1)%Z; (-9)%Z; (9)%Z])] (long_of (49152)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(6)%Z; (-9)%Z])] (long_of (-524288)) [(0%nat, [(6)%Z; (-10)%Z])] (long_of (-507904)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(15)%Z; (-14)%Z])] (long_of (-524288)) [(0%nat, [(16)%Z; (-14)%Z])] (long_of (-540672)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(10)%Z; (12)%Z])] (long_of (-65536)) [(0%nat, [(11)%Z; (11)%Z])] (long_of (-49152)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-12)%Z; (-11)%Z])] (long_of (-458752)) [(0%nat, [(-13)%Z; (-11)%Z])] (long_of (-458752)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z], ((1)%Z, 4%positive))] (Distance [0%nat] ((3)%Z, 16%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((4)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (15728640)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1310720)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (10616832)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-9437184)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (100663296)%Z (0)%Z (0)%Z (-9437184)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (786432)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-8257536)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (9437184)%Z])];
  RDone;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((4)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (15728640)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-1310720)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (10616832)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-9437184)%Z])];
  RInput 0%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((4)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (15728640)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-2097152)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (7864320)%Z; Hint (75497472)%Z (0)%Z (0)%Z (0)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (7864320)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-262144)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (7077888)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-9437184)%Z])];
  RDone;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (7864320)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-262144)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (7077888)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-9437184)%Z])];
  RInput 0%nat (32768)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (7864320)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-524288)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (6606029)%Z; Hint (75497472)%Z (0)%Z (0)%Z (-9437184)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (-100663296)%Z (0)%Z (0)%Z (7864320)%Z; Hint (8388608)%Z (0)%Z (0)%Z (0)%Z; Hint (-75497472)%Z (0)%Z (0)%Z (8493466)%Z; Hint (75497472)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_constraint.

Module Tiny_deep.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(14)%Z; (-4)%Z; (-8)%Z])] (long_of (-393216)) [(0%nat, [(14)%Z; (-5)%Z; (-8)%Z])] (long_of (-409600)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(1)%Z; (10)%Z; (-9)%Z])] (long_of (196608)) [(0%nat, [(0)%Z; (11)%Z; (-8)%Z])] (long_of (196608)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-10)%Z; (2)%Z; (16)%Z])] (long_of (131072)) [(0%nat, [(-9)%Z; (2)%Z; (16)%Z])] (long_of (114688)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(10)%Z; (10)%Z; (7)%Z])] (long_of (393216)) [(0%nat, [(10)%Z; (10)%Z; (8)%Z])] (long_of (393216)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(4)%Z; (-5)%Z])] (long_of (458752)) [(0%nat, [(4)%Z; (-4)%Z])] (long_of (442368)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(10)%Z; (13)%Z])] (long_of (196608)) [(0%nat, [(10)%Z; (14)%Z])] (long_of (180224)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-3)%Z; (-1)%Z])] (long_of (196608)) [(0%nat, [(-4)%Z; (-1)%Z])] (long_of (196608)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat] ((3)%Z, 16%positive)).
Definition records := [
  RForward 3%nat;
  RBound 2%nat 0%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((32)%Z, [Hint (0)%Z (2097152)%Z (0)%Z (0)%Z; Hint (-671088640)%Z (0)%Z (-1168725)%Z (7864320)%Z; Hint (536870912)%Z (-1835008)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 0%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((32)%Z, [Hint (0)%Z (-1864135)%Z (0)%Z (0)%Z; Hint (671088640)%Z (0)%Z (2097152)%Z (-13107200)%Z; Hint (-536870912)%Z (2097152)%Z (0)%Z (8388608)%Z])];
  RBound 2%nat 0%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-8257536)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-932068)%Z (0)%Z (0)%Z; Hint (0)%Z (-5926734)%Z (0)%Z (0)%Z; Hint (0)%Z (9437184)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (603979776)%Z (-932068)%Z (0)%Z (-5898240)%Z; Hint (-134217728)%Z (0)%Z (0)%Z (786432)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z])];
  RBound 2%nat 1%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (-603979776)%Z (1048576)%Z (0)%Z (3538944)%Z; Hint (134217728)%Z (0)%Z (0)%Z (-1310720)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 1%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (-4660338)%Z (0)%Z (0)%Z; Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-1185347)%Z (0)%Z (0)%Z; Hint (0)%Z (-14680064)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-8019053)%Z; Hint (-33554432)%Z (0)%Z (-685216)%Z (2548799)%Z; Hint (-67108864)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-50379037)%Z (0)%Z (-507136)%Z (2361517)%Z; Hint (-2144527)%Z (831078)%Z (0)%Z (100525)%Z; Hint (-171672517)%Z (0)%Z (-1133301)%Z (10729532)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (6661011)%Z; Hint (33554432)%Z (0)%Z (1048576)%Z (-1645505)%Z; Hint (67108864)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (59639351)%Z (-125630)%Z (0)%Z (-4659324)%Z; Hint (16003121)%Z (-322447)%Z (0)%Z (-1250244)%Z; Hint (144997435)%Z (0)%Z (2313102)%Z (-9062340)%Z])];
  RDone;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-8019053)%Z; Hint (-33554432)%Z (0)%Z (-685216)%Z (2548799)%Z; Hint (-67108864)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-50379037)%Z (0)%Z (-507136)%Z (2361517)%Z; Hint (-2144527)%Z (831078)%Z (0)%Z (100525)%Z; Hint (-171672517)%Z (0)%Z (-1133301)%Z (10729532)%Z])];
  RInput 0%nat (0)%Z;
  RForward 3%nat;
  RBound 2%nat 0%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (-671088640)%Z (0)%Z (-462201)%Z (3932160)%Z; Hint (536870912)%Z (-1048576)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 0%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-898779)%Z (0)%Z (0)%Z; Hint (671088640)%Z (0)%Z (0)%Z (-6553600)%Z; Hint (-536870912)%Z (1048576)%Z (0)%Z (8388608)%Z])];
  RBound 2%nat 0%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-9437184)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-898779)%Z (0)%Z (0)%Z; Hint (0)%Z (-4660338)%Z (0)%Z (0)%Z; Hint (0)%Z (9437184)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (603979776)%Z (-449390)%Z (0)%Z (-2949120)%Z; Hint (-134217728)%Z (0)%Z (0)%Z (393216)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z])];
  RBound 2%nat 1%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (-603979776)%Z (524288)%Z (0)%Z (1769472)%Z; Hint (134217728)%Z (0)%Z (0)%Z (-655360)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 1%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (-4493897)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (5242880)%Z (0)%Z (0)%Z; Hint (0)%Z (-466034)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-6995281)%Z; Hint (-33554432)%Z (0)%Z (-892259)%Z (3289785)%Z; Hint (-67108864)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-43992949)%Z (0)%Z (-126242)%Z (1031085)%Z; Hint (-15302077)%Z (0)%Z (0)%Z (358642)%Z; Hint (-174314345)%Z (0)%Z (-979342)%Z (10894647)%Z])];
  RDone;
  RForward 3%nat;
  RBound 2%nat 0%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (-671088640)%Z (0)%Z (-738142)%Z (3932160)%Z; Hint (536870912)%Z (-838861)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 0%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((32)%Z, [Hint (0)%Z (-2097152)%Z (0)%Z (0)%Z; Hint (671088640)%Z (0)%Z (2097152)%Z (-13107200)%Z; Hint (-536870912)%Z (2097152)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-7549747)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (-7573049)%Z (0)%Z (0)%Z; Hint (0)%Z (9437184)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KD true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (603979776)%Z (-1048576)%Z (0)%Z (-9437184)%Z; Hint (-134217728)%Z (0)%Z (0)%Z (786432)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KD false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (-603979776)%Z (524288)%Z (0)%Z (4718592)%Z; Hint (134217728)%Z (0)%Z (0)%Z (-655360)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z])];
  RBound 2%nat 1%nat KX true (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (-5242880)%Z (0)%Z (0)%Z; Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KX false (67108864)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (10485760)%Z (0)%Z (0)%Z; Hint (0)%Z (-1514610)%Z (0)%Z (0)%Z; Hint (0)%Z (-13421773)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-6854295)%Z; Hint (-33554432)%Z (0)%Z (-539964)%Z (2216308)%Z; Hint (-67108864)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-54868705)%Z (0)%Z (-1052732)%Z (13717176)%Z; Hint (-14001379)%Z (1443592)%Z (0)%Z (1312629)%Z; Hint (-155869839)%Z (0)%Z (-1695623)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_deep.

Module Tiny_distance.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(9)%Z; (-14)%Z; (-1)%Z])] (long_of (196608)) [(0%nat, [(9)%Z; (-14)%Z; (-1)%Z])] (long_of (180224)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-13)%Z; (-14)%Z; (15)%Z])] (long_of (131072)) [(0%nat, [(-13)%Z; (-14)%Z; (16)%Z])] (long_of (114688)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-7)%Z; (5)%Z])] (long_of (0)) [(0%nat, [(-6)%Z; (4)%Z])] (long_of (0)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(4)%Z; (3)%Z])] (long_of (-196608)) [(0%nat, [(3)%Z; (3)%Z])] (long_of (-180224)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(3)%Z; (14)%Z])] (long_of (-196608)) [(0%nat, [(2)%Z; (13)%Z])] (long_of (-180224)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat; 1%nat] ((3)%Z, 16%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (75497472)%Z (0)%Z (0)%Z (-4718592)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (9175040)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (589824)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (-75497472)%Z (0)%Z (0)%Z (9437184)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-11010048)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-917504)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (-109051904)%Z (0)%Z (0)%Z (6815744)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (9175040)%Z; Hint (125829120)%Z (0)%Z (0)%Z (-6881280)%Z])];
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (109051904)%Z (0)%Z (0)%Z (-6815744)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-5505024)%Z; Hint (-125829120)%Z (0)%Z (-428169)%Z (8847360)%Z])];
  RDone;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (109051904)%Z (0)%Z (0)%Z (-6815744)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-5505024)%Z; Hint (-125829120)%Z (0)%Z (-428169)%Z (8847360)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((4)%Z, [Hint (109051904)%Z (0)%Z (0)%Z (-9087659)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-11010048)%Z; Hint (-125829120)%Z (0)%Z (0)%Z (0)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (109051904)%Z (0)%Z (0)%Z (-9087659)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-5505024)%Z; Hint (-125829120)%Z (0)%Z (-755592)%Z (6553600)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_distance.

Module Tiny_errors.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(1)%Z])] (long_of (-12287)) [(0%nat, [(1)%Z])] (long_of (-12287)) (Some (Spread 1%N 1%N 1%N 1178%N)); Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(10)%Z])] (long_of (4608)) [(0%nat, [(9)%Z])] (long_of (3041)) (Some (Spread 0%N 512%N 0%N 0%N))]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (-4096)%Z [((-4096)%Z, (1)%Z); ((4096)%Z, (-1)%Z)])) None [(0%nat, [(4)%Z])] (long_of (-16384)) [(0%nat, [(4)%Z])] (long_of (-18794)) None]; Layer 7%positive [Neuron (Bent (Fn (0)%Z (-4096)%Z [((-4096)%Z, (1)%Z); ((4096)%Z, (-1)%Z)])) None [(0%nat, [(-3)%Z; (-10)%Z])] (long_of (28673)) [(0%nat, [(-2)%Z; (-12)%Z])] (long_of (28975)) (Some (Spread 2%N 1%N 1%N 0%N))]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z], ((2)%Z, 2%positive))] (Distance [0%nat; 1%nat] ((1120519933)%Z, 6553600000%positive)).
Definition records := [
  RBoundInput 0%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 0%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 3%nat;
  RForward 3%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (8388608)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (33554432)%Z (0)%Z (0)%Z (-16569382)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (-8388608)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-33554432)%Z (0)%Z (0)%Z (8492525)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (75497472)%Z (-1048576)%Z (0)%Z (-9437184)%Z]); ((2)%Z, [Hint (37748736)%Z (-978575)%Z (0)%Z (-9320277)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-75497472)%Z (1048576)%Z (0)%Z (9437184)%Z]); ((2)%Z, [Hint (-37748736)%Z (978575)%Z (0)%Z (9554091)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_errors.

Module Tiny_first.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-11)%Z; (-16)%Z; (-7)%Z])] (long_of (196608)) [(0%nat, [(-12)%Z; (-17)%Z; (-7)%Z])] (long_of (212992)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(13)%Z; (8)%Z; (-11)%Z])] (long_of (-458752)) [(0%nat, [(13)%Z; (8)%Z; (-11)%Z])] (long_of (-475136)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(14)%Z; (-11)%Z; (1)%Z])] (long_of (458752)) [(0%nat, [(15)%Z; (-12)%Z; (0)%Z])] (long_of (442368)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-2)%Z; (10)%Z])] (long_of (-65536)) [(0%nat, [(-2)%Z; (9)%Z])] (long_of (-81920)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(1)%Z; (-10)%Z])] (long_of (458752)) [(0%nat, [(1)%Z; (-10)%Z])] (long_of (475136)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(8)%Z; (-1)%Z])] (long_of (-393216)) [(0%nat, [(8)%Z; (-1)%Z])] (long_of (-409600)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (KeepsFirst ((1)%Z, 8%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (12582912)%Z (0)%Z (0)%Z; Hint (0)%Z (-349525)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (-5808873)%Z (0)%Z; Hint (0)%Z (0)%Z (-10873018)%Z (0)%Z])];
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-201326592)%Z (0)%Z (-232355)%Z (4718592)%Z; Hint (-201326592)%Z (0)%Z (-434921)%Z (12582912)%Z; Hint (33554432)%Z (0)%Z (0)%Z (-2097152)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (201326592)%Z (0)%Z (0)%Z (-15728640)%Z; Hint (201326592)%Z (0)%Z (1048576)%Z (0)%Z; Hint (-33554432)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((4)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (10485760)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (0)%Z (-12547165)%Z (0)%Z; Hint (0)%Z (0)%Z (-4349207)%Z (0)%Z; Hint (0)%Z (0)%Z (-1121394)%Z (0)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-209715200)%Z (0)%Z (-929420)%Z (9830400)%Z; Hint (-41943040)%Z (0)%Z (0)%Z (5242880)%Z; Hint (-58720256)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (209715200)%Z (0)%Z (0)%Z (-16384000)%Z; Hint (41943040)%Z (0)%Z (0)%Z (0)%Z; Hint (58720256)%Z (-174763)%Z (0)%Z (-7340032)%Z])];
  RBound 0%nat 2%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (-5767168)%Z (0)%Z (0)%Z; Hint (0)%Z (-10295110)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (13107200)%Z (0)%Z; Hint (0)%Z (0)%Z (-320398)%Z (0)%Z])];
  RBound 0%nat 2%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (201326592)%Z (0)%Z (0)%Z (-15728640)%Z; Hint (201326592)%Z (0)%Z (1048576)%Z (0)%Z; Hint (-33554432)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-201326592)%Z (0)%Z (-232355)%Z (4718592)%Z; Hint (-201326592)%Z (0)%Z (-434921)%Z (12582912)%Z; Hint (33554432)%Z (0)%Z (0)%Z (-2097152)%Z])];
  RBound 0%nat 3%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-16300591)%Z (0)%Z (0)%Z])];
  RBound 0%nat 3%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (-464710)%Z (0)%Z; Hint (0)%Z (0)%Z (10485760)%Z (0)%Z; Hint (0)%Z (0)%Z (-881095)%Z (0)%Z])];
  RBound 0%nat 3%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (-8388608)%Z (0)%Z (-3717679)%Z (3145728)%Z; Hint (159383552)%Z (0)%Z (8388608)%Z (0)%Z; Hint (-92274688)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 3%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (8388608)%Z (0)%Z (0)%Z (-327680)%Z; Hint (-159383552)%Z (0)%Z (-434921)%Z (9961472)%Z; Hint (92274688)%Z (-87381)%Z (0)%Z (-5767168)%Z])];
  RBound 0%nat 4%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (-12014933)%Z (0)%Z (0)%Z; Hint (0)%Z (-4289629)%Z (0)%Z (0)%Z; Hint (0)%Z (-1398101)%Z (0)%Z (0)%Z])];
  RBound 0%nat 4%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((4)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (10485760)%Z (0)%Z])];
  RBound 0%nat 4%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (209715200)%Z (0)%Z (0)%Z (-16384000)%Z; Hint (41943040)%Z (0)%Z (0)%Z (0)%Z; Hint (58720256)%Z (-174763)%Z (0)%Z (-7340032)%Z])];
  RBound 0%nat 4%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-209715200)%Z (0)%Z (-929420)%Z (9830400)%Z; Hint (-41943040)%Z (0)%Z (0)%Z (5242880)%Z; Hint (-58720256)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 5%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (-240299)%Z (0)%Z (0)%Z; Hint (0)%Z (9961472)%Z (0)%Z (0)%Z; Hint (0)%Z (-1048576)%Z (0)%Z (0)%Z])];
  RBound 0%nat 5%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (-8698415)%Z (0)%Z])];
  RBound 0%nat 5%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (8388608)%Z (0)%Z (0)%Z (-327680)%Z; Hint (-159383552)%Z (0)%Z (-434921)%Z (9961472)%Z; Hint (92274688)%Z (-87381)%Z (0)%Z (-5767168)%Z])];
  RBound 0%nat 5%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (-8388608)%Z (0)%Z (-3717679)%Z (3145728)%Z; Hint (159383552)%Z (0)%Z (8388608)%Z (0)%Z; Hint (-92274688)%Z (0)%Z (0)%Z (0)%Z])];
  RDone;
  RAssume 1%nat;
  RVoid 0%nat 3%nat;
  RAssume 1%nat;
  RVoid 0%nat 5%nat;
  RBound 0%nat 2%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (13107200)%Z (0)%Z; Hint (0)%Z (0)%Z (-320398)%Z (0)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 2%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (-898779)%Z (0)%Z (0)%Z; Hint (0)%Z (-12582912)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (0)%Z (13107200)%Z (0)%Z; Hint (0)%Z (0)%Z (-339245)%Z (0)%Z])];
  RBound 0%nat 2%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (201326592)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (201326592)%Z (0)%Z (524288)%Z (-12582912)%Z; Hint (-33554432)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-201326592)%Z (0)%Z (-30247)%Z (9437184)%Z; Hint (-201326592)%Z (0)%Z (-524288)%Z (12582912)%Z; Hint (33554432)%Z (0)%Z (0)%Z (-2097152)%Z])];
  RBound 0%nat 3%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-9961472)%Z (0)%Z (0)%Z])];
  RDone;
  RAssume 0%nat;
  RVoid 0%nat 2%nat;
  RDone;
  RForward 2%nat;
  RBound 0%nat 2%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (-9886574)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KY true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (-8388608)%Z (0)%Z; Hint (0)%Z (0)%Z (8388608)%Z (0)%Z]); ((16)%Z, [Hint (0)%Z (0)%Z (13107200)%Z (0)%Z; Hint (0)%Z (0)%Z (13107200)%Z (0)%Z; Hint (0)%Z (0)%Z (-215883)%Z (0)%Z])];
  RBound 0%nat 2%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (201326592)%Z (0)%Z (524288)%Z (-12582912)%Z; Hint (201326592)%Z (0)%Z (524288)%Z (0)%Z; Hint (-33554432)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 2%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-201326592)%Z (0)%Z (-393216)%Z (0)%Z; Hint (-201326592)%Z (0)%Z (-360448)%Z (12582912)%Z; Hint (33554432)%Z (0)%Z (0)%Z (-2097152)%Z])];
  RBound 0%nat 3%nat KX false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z]); ((8)%Z, [Hint (0)%Z (1048576)%Z (0)%Z (0)%Z; Hint (0)%Z (-13281963)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_first.

Module Tiny_inequality.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-15)%Z; (-16)%Z; (-5)%Z])] (long_of (327680)) [(0%nat, [(-16)%Z; (-16)%Z; (-5)%Z])] (long_of (344064)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(7)%Z; (5)%Z; (-3)%Z])] (long_of (-262144)) [(0%nat, [(7)%Z; (6)%Z; (-2)%Z])] (long_of (-278528)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(13)%Z; (-12)%Z])] (long_of (-393216)) [(0%nat, [(13)%Z; (-13)%Z])] (long_of (-393216)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-7)%Z; (-4)%Z])] (long_of (-524288)) [(0%nat, [(-7)%Z; (-4)%Z])] (long_of (-507904)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(13)%Z; (-8)%Z])] (long_of (393216)) [(0%nat, [(13)%Z; (-9)%Z])] (long_of (393216)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Inequality [(1)%Z; (0)%Z] [(-1)%Z; (0)%Z] ((3)%Z, 16%positive) true).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (-125829120)%Z (0)%Z (-201649)%Z (3932160)%Z; Hint (-134217728)%Z (0)%Z (0)%Z (8388608)%Z; Hint (-41943040)%Z (0)%Z (0)%Z (1310720)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_inequality.

Module Tiny_leaky.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(3)%Z; (15)%Z; (0)%Z])] (long_of (327680)) [(0%nat, [(2)%Z; (15)%Z; (0)%Z])] (long_of (327680)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(2)%Z; (-7)%Z; (14)%Z])] (long_of (-524288)) [(0%nat, [(1)%Z; (-6)%Z; (14)%Z])] (long_of (-540672)) None]; Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [((0)%Z, (3)%Z)])) None [(0%nat, [(4)%Z; (-7)%Z])] (long_of (131072)) [(0%nat, [(5)%Z; (-7)%Z])] (long_of (131072)) None; Neuron (Bent (Fn (1)%Z (0)%Z [((0)%Z, (3)%Z)])) None [(0%nat, [(11)%Z; (-2)%Z])] (long_of (458752)) [(0%nat, [(11)%Z; (-2)%Z])] (long_of (475136)) None; Neuron (Bent (Fn (1)%Z (0)%Z [((0)%Z, (3)%Z)])) None [(0%nat, [(8)%Z; (8)%Z])] (long_of (-196608)) [(0%nat, [(9)%Z; (9)%Z])] (long_of (-196608)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat; 1%nat] ((11)%Z, 16%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (16777216)%Z (-2907415)%Z (0)%Z (-5242880)%Z; Hint (125829120)%Z (0)%Z (0)%Z (-15728640)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-16777216)%Z (1048576)%Z (0)%Z (1310720)%Z; Hint (-125829120)%Z (0)%Z (0)%Z (15728640)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((32)%Z, [Hint (8388608)%Z (-726854)%Z (0)%Z (-655360)%Z; Hint (-50331648)%Z (1048576)%Z (0)%Z (6291456)%Z; Hint (117440512)%Z (0)%Z (0)%Z (-9175040)%Z])];
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (1048576)%Z (0)%Z (655360)%Z; Hint (50331648)%Z (-867092)%Z (0)%Z (-1572864)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (9175040)%Z])];
  RDone;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (1048576)%Z (0)%Z (655360)%Z; Hint (50331648)%Z (-867092)%Z (0)%Z (-1572864)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (9175040)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (-8388608)%Z (2097152)%Z (0)%Z (1310720)%Z; Hint (50331648)%Z (-1835008)%Z (0)%Z (-3145728)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (262144)%Z (0)%Z (655360)%Z; Hint (50331648)%Z (-851968)%Z (0)%Z (-1572864)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (11010048)%Z])];
  RDone;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (262144)%Z (0)%Z (655360)%Z; Hint (50331648)%Z (-851968)%Z (0)%Z (-1572864)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (11010048)%Z])];
  RInput 0%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (262144)%Z (0)%Z (262144)%Z; Hint (50331648)%Z (-685607)%Z (0)%Z (-1572864)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (9175040)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 1%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((32)%Z, [Hint (-8388608)%Z (1048576)%Z (0)%Z (1048576)%Z; Hint (50331648)%Z (-1048576)%Z (0)%Z (-6291456)%Z; Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_leaky.

Module Tiny_levels.
Definition pair : net := [Layer 1%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(2)%Z; (-1)%Z; (1)%Z])] (long_of (0)) [(0%nat, [(2)%Z; (-1)%Z; (1)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((4096)%Z, (-1)%Z)])) (Some (Levels (Grid 512%positive (0)%Z (0)%Z (8)%Z HalfEven false))) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z); ((4096)%Z, (-1)%Z)])) (Some (Levels (Grid 512%positive (0)%Z (0)%Z (8)%Z HalfEven false))) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) None; Neuron (Levels (Grid 512%positive (0)%Z (0)%Z (8)%Z HalfEven false)) None [(1%nat, [(4)%Z])] (long_of (0)) [(1%nat, [(5)%Z])] (long_of (0)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat] ((3)%Z, 4%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (16777216)%Z (0)%Z (0)%Z (-16777216)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-4194304)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (-16777216)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (4194304)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_levels.

Module Tiny_manhattan.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-1)%Z; (-14)%Z; (14)%Z])] (long_of (-458752)) [(0%nat, [(-1)%Z; (-14)%Z; (14)%Z])] (long_of (-475136)) None; Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-15)%Z; (13)%Z; (14)%Z])] (long_of (-262144)) [(0%nat, [(-16)%Z; (13)%Z; (14)%Z])] (long_of (-262144)) None]; Layer 16%positive [Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(4)%Z; (13)%Z])] (long_of (393216)) [(0%nat, [(3)%Z; (13)%Z])] (long_of (376832)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(-6)%Z; (-12)%Z])] (long_of (196608)) [(0%nat, [(-6)%Z; (-12)%Z])] (long_of (180224)) None; Neuron (Bent (Fn (0)%Z (0)%Z [((0)%Z, (1)%Z)])) None [(0%nat, [(0)%Z; (-9)%Z])] (long_of (0)) [(0%nat, [(0)%Z; (-9)%Z])] (long_of (16384)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Manhattan [0%nat; 1%nat] ((1)%Z, 8%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((4)%Z, [Hint (-134217728)%Z (0)%Z (-1425408)%Z (12582912)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (0)%Z; Hint (234881024)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 1%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (-117440512)%Z (0)%Z (-356352)%Z (2752512)%Z; Hint (226492416)%Z (0)%Z (0)%Z (-14155776)%Z])];
  RBound 0%nat 2%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (1048576)%Z (-9175040)%Z; Hint (-226492416)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 3%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z; Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((16)%Z, [Hint (134217728)%Z (0)%Z (524288)%Z (-5242880)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-524288)%Z; Hint (-234881024)%Z (0)%Z (0)%Z (14680064)%Z])];
  RDone;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((4)%Z, [Hint (-134217728)%Z (0)%Z (-1425408)%Z (12582912)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (0)%Z; Hint (234881024)%Z (0)%Z (0)%Z (0)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (-134217728)%Z (0)%Z (-241448)%Z (3145728)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (0)%Z; Hint (234881024)%Z (0)%Z (0)%Z (-14680064)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z; Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((16)%Z, [Hint (-134217728)%Z (0)%Z (-524288)%Z (8388608)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_manhattan.

Module Tiny_runs.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(-4)%Z]); (1%nat, [])] (long_of (-28672)) [(0%nat, [(-4)%Z]); (1%nat, [])] (long_of (-26186)) None]; Layer 7%positive [Neuron (Bent (Fn (2)%Z (2048)%Z [((-2048)%Z, (-3)%Z); ((0)%Z, (1)%Z); ((1024)%Z, (2)%Z)])) None [(0%nat, [(10)%Z]); (1%nat, [(8)%Z])] (long_of (16384)) [(0%nat, [(9)%Z; (-1)%Z; (8)%Z])] (long_of (17114)) None; Neuron (Bent (Fn (2)%Z (2048)%Z [((-2048)%Z, (-3)%Z); ((0)%Z, (1)%Z); ((1024)%Z, (2)%Z)])) None [(1%nat, [(1)%Z; (2)%Z])] (long_of (8192)) [(1%nat, [(1)%Z; (3)%Z])] (long_of (7840)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z; (1)%Z], ((3)%Z, 2%positive))] (Distance [0%nat] ((1798417267)%Z, 3072000000%positive)).
Definition records := [
  RBoundInput 0%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 0%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 2%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 2%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (-33554432)%Z (0)%Z (0)%Z (10635365)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (33554432)%Z (0)%Z (0)%Z (-12283703)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_runs.

Module Tiny_saturating.
Definition pair : net := [Layer 1%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(1)%Z; (1)%Z])] (long_of (0)) [(0%nat, [(1)%Z; (1)%Z])] (long_of (0)) None]; Layer 1%positive [Neuron (Levels (Grid 256%positive (0)%Z (-76)%Z (75)%Z Down true)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 256%positive (0)%Z (-28)%Z (28)%Z HalfEven true)) None [(0%nat, [(1)%Z; (-1)%Z])] (long_of (0)) [(0%nat, [(1)%Z; (-1)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Levels (Grid 512%positive (0)%Z (-10)%Z (10)%Z HalfEven false)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 512%positive (0)%Z (-10)%Z (10)%Z HalfEven false)) None [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Fits false).
Definition records := [
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_saturating.

Module Tiny_sigmoid.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(5)%Z; (-3)%Z])] (long_of (0)) [(0%nat, [(5)%Z; (-3)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Smooth (Logistic 65536%positive 4096%positive (0)%Z (Fn (0)%Z (0)%Z [((-49152)%Z, (0)%Z); ((-19002)%Z, (1)%Z); ((-9329)%Z, (1)%Z); ((0)%Z, (1)%Z); ((9329)%Z, (-2)%Z); ((19002)%Z, (-1)%Z); ((49152)%Z, (0)%Z)]) (8691)%Z)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Smooth (Logistic 65536%positive 4096%positive (0)%Z (Fn (0)%Z (0)%Z [((-49152)%Z, (0)%Z); ((-19002)%Z, (1)%Z); ((-9329)%Z, (1)%Z); ((0)%Z, (1)%Z); ((9329)%Z, (-2)%Z); ((19002)%Z, (-1)%Z); ((49152)%Z, (0)%Z)]) (8691)%Z)) None [(0%nat, [(1)%Z; (4)%Z])] (long_of (4096)) [(0%nat, [(1)%Z; (4)%Z])] (long_of (4160)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z], ((2)%Z, 2%positive))] (Distance [0%nat] ((1)%Z, 40%positive)).
Definition records := [
  RBoundInput 0%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 0%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-25165824)%Z (0)%Z (0)%Z (12582912)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (25165824)%Z (0)%Z (0)%Z (-14388872)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_sigmoid.

Module Tiny_size.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(14)%Z; (6)%Z; (-16)%Z])] (long_of (327680)) [(0%nat, [(14)%Z; (6)%Z; (-15)%Z])] (long_of (327680)) None]; Layer 16%positive [Neuron (Bent (Fn (-1)%Z (0)%Z [((0)%Z, (2)%Z)])) None [(0%nat, [(6)%Z; (2)%Z])] (long_of (327680)) [(0%nat, [(6)%Z; (3)%Z])] (long_of (311296)) None; Neuron (Bent (Fn (-1)%Z (0)%Z [((0)%Z, (2)%Z)])) None [(0%nat, [(-3)%Z; (-5)%Z])] (long_of (262144)) [(0%nat, [(-4)%Z; (-6)%Z])] (long_of (245760)) None; Neuron (Bent (Fn (-1)%Z (0)%Z [((0)%Z, (2)%Z)])) None [(0%nat, [(-14)%Z; (-5)%Z])] (long_of (-131072)) [(0%nat, [(-14)%Z; (-6)%Z])] (long_of (-131072)) None]].
Definition question := Question 65536%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat] ((3)%Z, 16%positive)).
Definition records := [
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (-125829120)%Z (-4194304)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (125829120)%Z (441506)%Z (0)%Z (0)%Z])];
  RDone;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (-125829120)%Z (-4194304)%Z (0)%Z (0)%Z])];
  RInput 0%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((2)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (50331648)%Z (0)%Z (0)%Z (4194304)%Z; Hint (-125829120)%Z (4194304)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (4194304)%Z; Hint (125829120)%Z (-1747627)%Z (0)%Z (0)%Z])];
  RDone;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((2)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (4194304)%Z; Hint (125829120)%Z (-1747627)%Z (0)%Z (0)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-827823)%Z (0)%Z (15728640)%Z])];
  RDone;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-827823)%Z (0)%Z (15728640)%Z])];
  RInput 0%nat (-32768)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-1048576)%Z (0)%Z (-15728640)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (0)%Z (14680064)%Z (-8563371)%Z (0)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-699051)%Z (0)%Z (15728640)%Z])];
  RDone;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (0)%Z (14680064)%Z (-8563371)%Z (0)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-699051)%Z (0)%Z (15728640)%Z])];
  RInput 1%nat (-32768)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (0)%Z (14680064)%Z (-6524473)%Z (0)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-1048576)%Z (0)%Z (-15728640)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (6291456)%Z; Hint (125829120)%Z (-607070)%Z (0)%Z (15728640)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (7340032)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (-1572864)%Z; Hint (125829120)%Z (-275941)%Z (0)%Z (-15728640)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((8)%Z, [Hint (117440512)%Z (0)%Z (0)%Z (-14680064)%Z; Hint (50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (-125829120)%Z (-1048576)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (125829120)%Z (786432)%Z (0)%Z (0)%Z])];
  RDone;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (-3145728)%Z; Hint (125829120)%Z (786432)%Z (0)%Z (0)%Z])];
  RInput 1%nat (0)%Z;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z; Hint (0)%Z (6291456)%Z (-5976883)%Z (0)%Z; Hint (125829120)%Z (717447)%Z (0)%Z (15728640)%Z])];
  RDone;
  RForward 2%nat;
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((8)%Z, [Hint (-117440512)%Z (0)%Z (0)%Z (14680064)%Z; Hint (-50331648)%Z (0)%Z (0)%Z (-6291456)%Z; Hint (125829120)%Z (1048576)%Z (0)%Z (15728640)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_size.

Module Tiny_tanh.
Definition pair : net := [Layer 16%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(5)%Z; (-3)%Z])] (long_of (0)) [(0%nat, [(5)%Z; (-3)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Smooth (Logistic 131072%positive 2048%positive (-65536)%Z (Fn (0)%Z (-65535)%Z [((-24576)%Z, (0)%Z); ((-9501)%Z, (3)%Z); ((-4664)%Z, (8)%Z); ((0)%Z, (0)%Z); ((4664)%Z, (-8)%Z); ((9501)%Z, (-3)%Z); ((24576)%Z, (0)%Z)]) (10826)%Z)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Smooth (Logistic 131072%positive 2048%positive (-65536)%Z (Fn (0)%Z (-65535)%Z [((-24576)%Z, (0)%Z); ((-9501)%Z, (3)%Z); ((-4664)%Z, (8)%Z); ((0)%Z, (0)%Z); ((4664)%Z, (-8)%Z); ((9501)%Z, (-3)%Z); ((24576)%Z, (0)%Z)]) (10826)%Z)) None [(0%nat, [(1)%Z; (4)%Z])] (long_of (4096)) [(0%nat, [(1)%Z; (4)%Z])] (long_of (4160)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [([(1)%Z; (1)%Z], ((2)%Z, 2%positive))] (Distance [0%nat] ((1)%Z, 40%positive)).
Definition records := [
  RBoundInput 0%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 0%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBoundInput 1%nat false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((32)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-25165824)%Z (0)%Z (0)%Z (12582912)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (25165824)%Z (0)%Z (0)%Z (0)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_tanh.

Module Tiny_turning.
Definition pair : net := [Layer 1%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(2)%Z; (1)%Z])] (long_of (0)) [(0%nat, [(2)%Z; (1)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Levels (Grid 512%positive (0)%Z (-4)%Z (3)%Z HalfEven true)) (Some (Levels (Grid 512%positive (2)%Z (-2)%Z (5)%Z HalfEven true))) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 512%positive (0)%Z (-16)%Z (15)%Z Down true)) None [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) [(0%nat, [(1)%Z; (3)%Z])] (long_of (1024)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Distance [0%nat] ((3)%Z, 4%positive)).
Definition records := [
  RForward 2%nat;
  RForward 2%nat;
  RBound 0%nat 0%nat KD false (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (1073741824)%Z (0)%Z (0)%Z (-8388608)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (8388608)%Z (0)%Z (0)%Z (-8388608)%Z])];
  RBound 0%nat 0%nat KD true (1073741824)%Z [((1)%Z, []); ((128)%Z, [Hint (-1073741824)%Z (0)%Z (0)%Z (8388608)%Z]); ((1)%Z, [Hint (0)%Z (0)%Z (0)%Z (0)%Z; Hint (-8388608)%Z (0)%Z (0)%Z (8388608)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_turning.

Module Tiny_wrapping.
Definition pair : net := [Layer 1%positive [Neuron (Bent (Fn (1)%Z (0)%Z [])) None [(0%nat, [(1)%Z; (1)%Z])] (long_of (0)) [(0%nat, [(1)%Z; (1)%Z])] (long_of (0)) None]; Layer 1%positive [Neuron (Levels (Grid 256%positive (0)%Z (-76)%Z (75)%Z Down true)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 256%positive (0)%Z (-28)%Z (28)%Z HalfEven true)) None [(0%nat, [(1)%Z; (-1)%Z])] (long_of (0)) [(0%nat, [(1)%Z; (-1)%Z])] (long_of (0)) None]; Layer 4%positive [Neuron (Levels (Grid 512%positive (0)%Z (-9)%Z (10)%Z HalfEven false)) None [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) [(0%nat, [(3)%Z; (-2)%Z])] (long_of (0)) None; Neuron (Levels (Grid 512%positive (0)%Z (-9)%Z (10)%Z HalfEven false)) None [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) [(0%nat, [(1)%Z; (2)%Z])] (long_of (1024)) None]].
Definition question := Question 4096%positive pair [(((-1)%Z, 1%positive), ((1)%Z, 1%positive)); (((-1)%Z, 1%positive), ((1)%Z, 1%positive))] [] (Fits true).
Definition records := [
  RDone;
  RForward 3%nat;
  RBound 2%nat 0%nat KX true (268435456)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (12582912)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KX false (268435456)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-11953766)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KX true (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (8388608)%Z (0)%Z (0)%Z; Hint (0)%Z (-8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KX false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (-7969178)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 0%nat KY false (268435456)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((64)%Z, [Hint (0)%Z (-11953766)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RBound 2%nat 1%nat KY false (1073741824)%Z [((1)%Z, []); ((1)%Z, []); ((1)%Z, []); ((128)%Z, [Hint (0)%Z (-7969178)%Z (0)%Z (0)%Z; Hint (0)%Z (8388608)%Z (0)%Z (0)%Z])];
  RDone].
Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.
Definition proved := check_ok question records accepted.
End Tiny_wrapping.

