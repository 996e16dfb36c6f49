(* What floats foresee of a node, and the few exact bounds that make it true.

   The kernel's arithmetic costs many times that of floats. So all bounds of a node are found in floats first, from those
   that floats found of the node above it. Only if they promise that everything is excluded, exact bounds are asked for,
   and only of what this rests on: going back from the rows, the heights of lines tell by how much a row would be lower if
   a neuron had the bounds that are known already, and what all together stays within the room that is left is dropped. *)

open Attempts

(* Rows, and which of their bounds would exclude one of these obligations. Of the guard only rows of two classes are bounded
   by themselves: groups of more serve in sums. *)
let wanted state obligations =
  let few (q : Kernel.limit) =
    let row = state.layers.(0).Relaxing.rows1.(Reader.int_of_nat q.neuron_of) in
    Array.fold_left (fun c a -> if a <> 0.0 then c + 1 else c) 0 row <= 2
  in
  let of_limit (q : Kernel.limit) =
    let i = Reader.int_of_nat q.neuron_of in
    let differences = match q.kind_of with KY -> [ (i, Kernel.KD, true); (i, Kernel.KD, false) ] | _ -> [] in
    (i, q.kind_of, not q.at_least) :: differences
  in
  List.sort_uniq compare (List.concat_map (fun o -> List.concat_map of_limit (List.filteri (fun n q -> n = 0 || few q) o)) obligations)

type t = {
  known : Relaxing.known array;
  rooms : (Kernel.obligation * float) list; (* of the obligations that are excluded: by how much *)
  remaining : Kernel.obligation list;
  crossed : (int * int * float) option; (* a neuron of a layer whose bounds contradict each other, and by how much *)
}

(* By how much bounds of rows exclude an obligation, at most 0 if they do not: those of x, y and d of one row with the limits
   of it, as they are exchanged where it is assumed. *)
let room (k : Relaxing.known) (obligation : Kernel.obligation) =
  let of_limit (q : Kernel.limit) =
    let i = Reader.int_of_nat q.neuron_of and value = Z.to_float q.value_of in
    let low, high = Tightening.interval k i q.kind_of in
    let own = if q.at_least then value -. high else low -. value in
    let with_other (r : Kernel.limit) =
      let other = Z.to_float r.value_of in
      if r.neuron_of <> q.neuron_of then neg_infinity
      else
        match (q.kind_of, q.at_least, r.kind_of, r.at_least) with
        | KY, false, KX, true -> other -. value -. k.ud.(i)
        | KY, true, KX, false -> value -. other +. k.ld.(i)
        | _ -> neg_infinity
    in
    if q.kind_of = KY then List.fold_left (fun most r -> Lines.greater most (with_other r)) own obligation else own
  in
  List.fold_left (fun most q -> Lines.greater most (of_limit q)) neg_infinity obligation

(* The neuron whose bounds contradict each other the most, of the first such layer: it rests on the fewest others. *)
let contradicted (known : Relaxing.known array) =
  let rec of_layer t =
    if t < 0 then None
    else begin
      let best = ref None and most = ref 0.0 in
      for i = 0 to Array.length known.(t).lx - 1 do
        let by = Tightening.contradiction known.(t) i in
        if by > !most then (most := by; best := Some (t, i, by))
      done;
      if !best <> None then !best else of_layer (t - 1)
    end
  in
  of_layer (Array.length known - 1)

(* All bounds of the node at hand in floats, which its parts begin with; of a node that they show to be empty, those up to there. *)
let foresee state =
  let now = knowns state and sides = box state in
  let known =
    match state.foreseen with
    | Some above :: _ ->
        let known = Array.map Relaxing.copy above in
        Array.iteri (fun t k -> Relaxing.meet_into k now.(t)) known;
        known
    | _ -> now
  in
  let obligations = (top state).open0 in
  (try
     let promises = Tightening.imagine ~watches:true state sides known in
     List.iter
       (fun (i, kind, least) ->
         let promised = promises.Tightening.of_quantity 0 i kind least in
         if Tightening.is_tighter known.(0) i kind least promised then Tightening.put known.(0) i kind least promised)
       (wanted state obligations)
   with Tightening.Crossed -> ());
  (match state.foreseen with _ :: others -> state.foreseen <- Some known :: others | [] -> ());
  let rooms = List.map (fun o -> (o, room known.(0) o)) obligations in
  { known; rooms = List.filter (fun (_, r) -> r > 0.0) rooms;
    remaining = List.filter_map (fun (o, r) -> if r > 0.0 then None else Some o) rooms;
    crossed = contradicted known }

let kinds = [| Kernel.KX; KY; KD |]

(* Which sides of a bound count: of a neuron that is not bent only those with a kink between what is known and what is
   foreseen, else, and where intervals of the neuron are taken, those that are tighter. *)
let sides_of ?(taken = false) state (known : Relaxing.known) (now : Relaxing.known) t i kind =
  let low, high = Tightening.interval known i kind and low', high' = Tightening.interval now i kind in
  let layer = state.layers.(t) in
  let bent (f : Lines.shape) =
    if taken || Lines.bent f low high then (low > low', high < high')
    else
      let crossed test = Array.exists (fun (b, s) -> s <> 0.0 && test b) f.kinks in
      (crossed (fun b -> low' < b && b <= low), crossed (fun b -> high <= b && b < high'))
  in
  let lower, upper =
    match kind with
    | Kernel.KX -> bent layer.shapes.(i)
    | KY -> bent layer.others.(i)
    | KD -> (low > low', high < high')
  in
  (if lower then [ true ] else []) @ if upper then [ false ] else []

(* What is to be shown: bounds of rows that exclude obligations, or those of one neuron which contradict each other; each
   with 1 over the room that may be lost. *)
let targets state { known; rooms; crossed; _ } (now : Relaxing.known array) =
  match crossed with
  | None -> List.concat_map (fun (o, room) -> List.map (fun (i, kind, least) -> (1.0 /. room, 0, i, kind, least)) (wanted state [ o ])) rooms
  | Some (t, i, by) ->
      let tighter kind least =
        let low, high = Tightening.interval known.(t) i kind in
        Tightening.is_tighter now.(t) i kind least (if least then low else high)
      in
      List.concat_map (fun kind -> List.map (fun least -> (1.0 /. by, t, i, kind, least)) (List.filter (tighter kind) [ true; false ]))
        [ Kernel.KD; KX; KY ]

(* The bounds that these rest on, from where they are known now, with the pulls that show them; what is dropped may lose a part
   of the room. *)
let needed state { known; _ } (now : Relaxing.known array) targets most_lost =
  let count = Array.length state.layers and sides = box state in
  let width t = Array.length state.layers.(t).shapes in
  let losses = Array.init count (fun t -> Array.make (3 * width t) 0.0) in
  let taken = Array.init count (fun t -> Bytes.make (3 * width t) '0') in
  let pulls = Hashtbl.create 997 and promises = Tightening.promises state sides known in
  (* As foreseen, but for one of x, y and d. *)
  let without = Array.init 3 (fun kind -> Array.mapi (fun t (f : Relaxing.known) ->
    let k : Relaxing.known = now.(t) in
    let f = { f with table = Array.copy f.table; ready = Bytes.make (width t) '0' } in
    match kind with
    | 0 -> { f with lx = k.lx; ux = k.ux }
    | 1 -> { f with ly = k.ly; uy = k.uy }
    | _ -> { f with ld = k.ld; ud = k.ud }) known) in
  let gain t kind i =
    let low, high = Tightening.interval known.(t) i kinds.(kind) and low', high' = Tightening.interval now.(t) i kinds.(kind) in
    Lines.greater 0.0 (low -. low') +. Lines.greater 0.0 (high' -. high)
  in
  let gains = Array.init count (fun t -> let m = width t in Array.init (3 * m) (fun n -> gain t (n / m) (n mod m))) in
  (* Whether the lines of a neuron would be others if it had the bounds that are known of one of x, y and d. *)
  let moved = Array.init 3 (fun _ -> Array.init count (fun t -> Bytes.make (width t) '?')) in
  let moves kind j i =
    match Bytes.get moved.(kind).(j) i with
    | '?' ->
        let moves =
          gains.(j).((kind * width j) + i) > 0.0 && not (Relaxing.same_lines state.layers.(j) known.(j) without.(kind).(j) i)
        in
        Bytes.set moved.(kind).(j) i (if moves then '1' else '0');
        moves
    | known -> known = '1'
  in
  let see weight ends j p q unit =
    let layer = state.layers.(j) and k = known.(j) and into = losses.(j) in
    let m = width j in
    for i = 0 to m - 1 do
      let pi = p.(i) and qi = q.(i) in
      if pi <> 0.0 || qi <> 0.0 then begin
        let x1 = k.lx.(i) and x2 = k.ux.(i) in
        let x = 0.5 *. (x1 +. x2) and y = 0.5 *. (x1 -. k.ld.(i) +. x2 -. k.ud.(i)) in
        let in_the_middle k =
          if ends then Relaxing.least_flat layer k i pi qi else Relaxing.height layer k i pi qi x y
        in
        let counts kind = if ends then gains.(j).((kind * m) + i) > 0.0 else moves kind j i in
        let height = if counts 0 || counts 1 || counts 2 then in_the_middle k else 0.0 in
        for kind = 0 to 2 do
          let n = (kind * m) + i in
          if counts kind then begin
            let lost = height -. in_the_middle without.(kind).(j) in
            if lost > 0.0 then (into.(n) <- into.(n) +. (weight *. unit *. lost); if ends then Bytes.set taken.(j) n '1')
          end
        done
      end
    done
  in
  let look weight t i kind least =
    let one = Tightening.best_pull ~see:(see (weight /. state.layers.(t).factors.(i))) promises t i kind least in
    Hashtbl.replace pulls (number_of t i kind least) one
  in
  List.iter (fun (weight, t, i, kind, least) -> look weight t i kind least) targets;
  let share = most_lost /. float_of_int (max 1 (count - 1)) in
  for t = 1 to count - 1 do
    let m = width t in
    let some = List.filter (fun n -> losses.(t).(n) > 0.0) (List.init (3 * m) Fun.id) in
    let lost = ref 0.0 in
    List.iter
      (fun n ->
        let loss = losses.(t).(n) in
        lost := !lost +. loss;
        if !lost > share then begin
          let kind = n / m and i = n mod m in
          let weight = loss /. gains.(t).(n) in
          List.iter (look weight t i kinds.(kind)) (sides_of ~taken:(Bytes.get taken.(t) n = '1') state known.(t) now.(t) t i kinds.(kind))
        end)
      (List.sort (fun a b -> compare losses.(t).(a) losses.(t).(b)) some)
  done;
  pulls

(* The parts of the room that are tried. *)
let parts_lost = [ 0.5; 0.1 ]

(* Tell the kernel of these bounds, and of what they are to show; true if that closes the node. *)
let comes_true state ({ known; crossed; _ } as foreseen) =
  let before = left state and last = Array.length state.layers - 1 in
  if last > 0 then take state (RForward state.naturals.(last));
  let now = knowns state in
  let tell pulls t i kind least =
    match Hashtbl.find_opt pulls (number_of t i kind least) with
    | Some one ->
        let low, high = Tightening.interval known.(t) i kind in
        if Tightening.is_worth state now t i kind least (if least then low else high) then Tightening.keep state now t i kind least one
    | None -> ()
  in
  let shown targets most_lost =
    let pulls = needed state foreseen now targets most_lost in
    for t = last - 1 downto 1 do
      for i = 0 to Array.length state.layers.(t).shapes - 1 do
        List.iter (fun (kind, least) -> tell pulls t i kind least)
          [ (Kernel.KD, true); (KD, false); (KX, true); (KX, false); (KY, true); (KY, false) ]
      done
    done;
    match crossed with
    | Some (t, i, _) ->
        List.iter (fun (_, t, i, kind, least) -> ignore (Tightening.bound state now t i kind least)) targets;
        takes state (RVoid (state.naturals.(t), state.naturals.(i)))
    | None ->
        List.iter (fun (_, t, i, kind, least) -> ignore (Tightening.bound state now t i kind least)) targets;
        take state RDone;
        closed state before
  in
  List.exists (fun most_lost -> shown (targets state foreseen now) most_lost) parts_lost

(* Of a node that stays open: neurons that floats foresee to be bent no more are told to be so, where a pull from what is
   known shows it, since everything below rests on them. *)
let settle_phases state ({ known; _ } : t) =
  let last = Array.length state.layers - 1 and sides = box state in
  if last > 0 then begin
    take state (RForward state.naturals.(last));
    let now = knowns state in
    for t = last - 1 downto 1 do
      let f = known.(t) and k = now.(t) in
      Array.iteri
        (fun i shape ->
          let settle kind (shape : Lines.shape) =
            let low, high = Tightening.interval f i kind and low', high' = Tightening.interval k i kind in
            if Lines.bent shape low' high' && not (Lines.bent shape low high) then
              List.iter
                (fun least ->
                  let (_, _, promised) as one = Tightening.pulled state sides now t i kind least in
                  let low, high = if least then (promised, high') else (low', promised) in
                  if Tightening.is_tighter k i kind least promised && not (Lines.bent shape low high) then
                    Tightening.keep state now t i kind least one)
                (sides_of state f k t i kind)
          in
          settle Kernel.KX shape;
          settle KY state.layers.(t).others.(i))
        state.layers.(t).shapes
    done
  end
