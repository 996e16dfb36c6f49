(** The extracted kernel: what [check] consists of, so that the records can be read one by one.
    [check q rs] is [meaningful q], and that [step (problem q)] takes [root q] alone to the empty stack. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Kernel Require Import Networks Trees Claims.
(* With short ways in place (integers.ml); comparisons the library leaves as a match on Z.compare. *)
Extract Inlined Constant Z.leb => "Integers.leq".
Extract Inlined Constant Z.ltb => "Integers.lt".
Extract Inlined Constant Z.eqb => "Integers.eq".
Extract Inlined Constant Z.min => "Integers.min".
Extract Inlined Constant Z.max => "Integers.max".
Extract Inlined Constant Z.div => "Integers.div".
Extract Inlined Constant Z.add => "Integers.add".
Extract Inlined Constant Z.sub => "Integers.sub".
Extract Inlined Constant Z.mul => "Integers.mul".
Extract Inlined Constant plus_times => "Integers.plus_times".
Extraction "kernel.ml" step root problem meaningful check long_of bias1 bias2.
