(* SHA-256 of a string, in hexadecimal (FIPS 180-4), on native integers of at least 63 bits. *)

let primes count =
  let rec is_prime n d = d * d > n || (n mod d <> 0 && is_prime n (d + 1)) in
  let rec go n left = if left = 0 then [] else if is_prime n 2 then n :: go (n + 1) (left - 1) else go (n + 1) left in
  Array.of_list (go 2 count)

(* The first 32 bits of the fractional part of the root of degree k of n: floor (n^(1/k) 2^32) mod 2^32, exactly. *)
let fraction k n =
  Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int n) (32 * k)) k) (Z.of_string "0xffffffff"))

let initial = Array.map (fraction 2) (primes 8)
let constants = Array.map (fraction 3) (primes 64)
let mask = 0xffffffff
let rotate x n = ((x lsr n) lor (x lsl (32 - n))) land mask

let hex text =
  let size = String.length text in
  let padded = Bytes.make ((size + 9 + 63) / 64 * 64) '\000' in
  Bytes.blit_string text 0 padded 0 size;
  Bytes.set padded size '\128';
  Bytes.set_int64_be padded (Bytes.length padded - 8) (Int64.of_int (8 * size));
  let state = Array.copy initial and w = Array.make 64 0 in
  for block = 0 to (Bytes.length padded / 64) - 1 do
    for i = 0 to 15 do
      w.(i) <- Int32.to_int (Bytes.get_int32_be padded ((64 * block) + (4 * i))) land mask
    done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      let s0 = rotate a 7 lxor rotate a 18 lxor (a lsr 3) and s1 = rotate b 17 lxor rotate b 19 lxor (b lsr 10) in
      w.(i) <- (w.(i - 16) + s0 + w.(i - 7) + s1) land mask
    done;
    let v = Array.copy state in
    for i = 0 to 63 do
      let e = v.(4) and a = v.(0) in
      let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 and choice = e land v.(5) lxor (lnot e land mask land v.(6)) in
      let one = (v.(7) + s1 + choice + constants.(i) + w.(i)) land mask in
      let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 in
      let majority = a land v.(1) lxor (a land v.(2)) lxor (v.(1) land v.(2)) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + one) land mask;
      v.(0) <- (one + s0 + majority) land mask
    done;
    Array.iteri (fun i x -> state.(i) <- (x + v.(i)) land mask) state
  done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") state))
