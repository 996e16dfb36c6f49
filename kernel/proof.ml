type t = { question : Kernel.question; net : Kernel.net; nodes : Kernel.node list }

let start question =
  if Kernel.meaningful question then Some { question; net = Kernel.problem question; nodes = [ Kernel.root question ] } else None

let step proof record =
  match Kernel.step proof.net record proof.nodes with Some nodes -> Some { proof with nodes } | None -> None

let nodes proof = proof.nodes
let accepts proof question = proof.question == question && proof.nodes = []
