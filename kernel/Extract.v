(** The extracted kernel: what [check] consists of, so that the records can be read one by one.
    [check q rs] is [meaningful q], and that [step (problem q)] takes [root q] alone to the empty stack. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Kernel Require Import Networks Trees Claims.
(* Comparisons that the library leaves as a match on Z.compare. *)
Extract Inlined Constant Z.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Inlined Constant Z.eqb => "Big_int_Z.eq_big_int".
(* Sums and products, with short ways in place (integers.ml). *)
Extract Inlined Constant Z.add => "Integers.add".
Extract Inlined Constant Z.sub => "Integers.sub".
Extract Inlined Constant Z.mul => "Integers.mul".
Extract Inlined Constant plus_times => "Integers.plus_times".
Extraction "kernel.ml" step root problem meaningful check.
