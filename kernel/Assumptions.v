(** What the theorem rests on: `make proofs` prints it, and `.ci/kernel` compares it with Assumptions.expected. *)
From Kernel Require Import Claims.
Print Assumptions check_ok.
