(* A proof under way, which only the kernel's records change: whoever makes records cannot make a proof. *)

type t

(* The root of a meaningful question alone; otherwise none. *)
val start : Kernel.question -> t option

(* The proof after a record, if the kernel takes it. *)
val step : t -> Kernel.record -> t option

(* What is left, the node at hand first. *)
val nodes : t -> Kernel.node list

(* Whether nothing is left of this very question, so that Kernel.check accepts it with the records that were taken. *)
val accepts : t -> Kernel.question -> bool
