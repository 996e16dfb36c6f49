"""The short ways of the kernel's integers (`kernel/integers.ml`) give what Zarith gives, wherever one may overflow."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

KERNEL = Path(__file__).parents[3] / "kernel"

COMPARISON = """
let powers = [ 0; 1; 2; 19; 20; 21; 22; 29; 30; 31; 32; 39; 40; 41; 42; 60; 61; 62; 63; 64; 100 ]
let near v = [ Z.pred v; v; Z.succ v ]
let edges = List.concat_map (fun k -> let v = Z.shift_left Z.one k in near v @ near (Z.neg v)) powers
let drawn () =
  let v = Z.of_int64 (Random.int64 Int64.max_int) in
  let v = Z.shift_right v (Random.int 63) in
  if Random.bool () then v else Z.neg v
let wrong = ref 0 and count = ref 0
let check name found wanted numbers =
  incr count;
  (* A number that fits into a machine integer has to be one: comparisons rely on it. *)
  if not (Z.equal found wanted) || Z.fits_int found <> Obj.is_int (Obj.repr found) then begin
    incr wrong;
    if !wrong < 10 then print_endline (String.concat " " (name :: List.map Z.to_string (found :: wanted :: numbers)))
  end
let pair a b =
  check "add" (Integers.add a b) (Z.add a b) [ a; b ];
  check "sub" (Integers.sub a b) (Z.sub a b) [ a; b ];
  check "mul" (Integers.mul a b) (Z.mul a b) [ a; b ];
  check "min" (Integers.min a b) (Z.min a b) [ a; b ];
  check "max" (Integers.max a b) (Z.max a b) [ a; b ];
  check "div" (Integers.div a b) (if Z.sign b = 0 then Z.zero else Z.fdiv a b) [ a; b ];
  let truth v = if v then Z.one else Z.zero and order = Z.compare a b in
  check "eq" (truth (Integers.eq a b)) (truth (order = 0)) [ a; b ];
  check "leq" (truth (Integers.leq a b)) (truth (order <= 0)) [ a; b ];
  check "lt" (truth (Integers.lt a b)) (truth (order < 0)) [ a; b ]
let triple b m a = check "plus_times" (Integers.plus_times b m a) (Z.add b (Z.mul m a)) [ b; m; a ]
let () =
  List.iter (fun a -> List.iter (fun b -> pair a b; List.iter (triple a b) edges) edges) edges;
  for _ = 1 to 300_000 do pair (drawn ()) (drawn ()); triple (drawn ()) (drawn ()) (drawn ()) done;
  Printf.printf "%d compared, %d wrong\\n" !count !wrong
"""


def compared(folder: Path, integers: str) -> str:
    """The last line of the comparison of this text of integers.ml with Zarith."""
    (folder / "integers.ml").write_text(integers)
    (folder / "comparison.ml").write_text(COMPARISON)
    build = ["ocamlfind", "ocamlopt", "-inline", "100", "-package", "zarith", "-linkpkg"]
    subprocess.run(
        [*build, "integers.ml", "comparison.ml", "-o", "comparison"], cwd=folder, check=True, capture_output=True
    )
    done = subprocess.run([str(folder / "comparison")], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def has_ocaml() -> bool:
    """Whether OCaml and Zarith are here."""
    if shutil.which("ocamlfind") is None or shutil.which("ocamlopt") is None:
        return False
    return subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, check=False).returncode == 0


needs_ocaml = pytest.mark.skipif(not has_ocaml(), reason="OCaml and Zarith are not installed")


@needs_ocaml
def test_short_ways_are_those_of_zarith(tmp_path: Path) -> None:
    said = compared(tmp_path, (KERNEL / "integers.ml").read_text())
    assert said.endswith(" 0 wrong"), said
    assert not said.startswith("0 ")


@needs_ocaml
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("within 21 m", "within 24 m"),
        ("within 36 a", "within 38 a"),
        ("if q * short b > short a then q - 1 else q", "q"),
        ("short b > 0", "short b <> 0"),
        ("short a <= short b else", "short a < short b else"),
        ("within 30 (short a) && within 30 (short b)", "within 32 (short a) && within 32 (short b)"),
        ("((a asr bits) + 1) land (-2) = 0", "((a asr bits) + 1) land (-4) = 0"),
        ("(short b lxor s) land (p lxor s) >= 0", "true"),
        ("(short a lxor s) land (short b lxor s) >= 0", "true"),
        ("(short a lxor short b) land (short a lxor s) >= 0", "(short a lxor short b) land (short b lxor s) >= 0"),
    ],
)
def test_a_short_way_that_overflows_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    text = (KERNEL / "integers.ml").read_text()
    assert right in text
    assert not compared(tmp_path, text.replace(right, wrong)).endswith(" 0 wrong")
