"""What floats promise of a quantity by forms (`kernel/forms.ml`) is what the pull with the same lines promises; where
tangents promise more than the usual lines, the kernel's exact bound is more as well, with few exceptions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from unit.kernel.pairs import blurred, question, random_pair, twins
from unit.kernel.test_integers import KERNEL, needs_ocaml

COMPARISON = """
open Attempts

let count = ref 0 and wrong = ref 0 and touching = ref 0 and exactly = ref 0

let compare_one state knowns promises t i kind least =
  let sign = if least then 1.0 else -1.0 in
  let promised = promises.Tightening.of_quantity t i kind least in
  let (_, _, shown) as one = promises.pull_of t i kind least in
  let _, _, usual = Tightening.pulled state (box state) knowns t i kind least in
  let near = 1e-3 *. (Float.abs promised +. 4096.0) in
  let exact = ref nan in
  ignore (attempt state (fun () ->
    Tightening.keep state (Array.map Relaxing.copy knowns) t i kind least one;
    let low, high = Tightening.interval (Relaxing.known_of [ bounds_of state t i ]) 0 kind in
    exact := if least then low else high;
    false));
  incr count;
  let higher = sign *. (shown -. usual) > near in
  if higher then incr touching;
  if higher && sign *. (!exact -. usual) > near then incr exactly;
  if not (Float.abs (promised -. shown) <= near && sign *. (promised -. usual) >= -.near) then begin
    incr wrong;
    if !wrong < 10 then Printf.printf "%d %d: promised %g, shown %g, usual %g\\n" t i promised shown usual
  end

let compare_all pair question =
  let question = Reader.question question (Reader.pair pair) in
  match Proof.start question with
  | None -> ()
  | Some proof ->
      let state = Attempts.start question proof None in
      let knowns = knowns state in
      let promises = Tightening.promises state (box state) knowns in
      for t = Array.length state.layers - 1 downto 0 do
        for i = 0 to Array.length knowns.(t).lx - 1 do
          List.iter
            (fun kind -> List.iter (compare_one state knowns promises t i kind) [ true; false ])
            [ Kernel.KX; KY; KD ]
        done
      done

let () =
  let file = open_in "pairs" in
  (try while true do let pair = input_line file in compare_all pair (input_line file) done with End_of_file -> ());
  Printf.printf "%d compared, %d higher by tangents, %d of them exactly, %d wrong\\n" !count !touching !exactly !wrong
"""


def compared(folder: Path, right: str = "", wrong: str = "") -> list[int]:
    """How many promises were compared, were higher by tangents, of these also exactly, and were wrong."""
    for file in KERNEL.glob("*.ml*"):
        shutil.copy(file, folder)
    forms = folder / "forms.ml"
    assert right in forms.read_text()
    forms.write_text(forms.read_text().replace(right, wrong) if right else forms.read_text())
    (folder / "comparison.ml").write_text(COMPARISON)
    random, lines = Random(5), []
    for _ in range(60):
        pair = random.choice([random_pair, random_pair, twins])(random)
        pair = blurred(pair, random) if random.random() < 0.2 else pair
        lines += [
            pair.text(),
            question(pair, f"distance {pair.outputs} " + " ".join(map(str, range(pair.outputs))) + " 1 2"),
        ]
    (folder / "pairs").write_text("\n".join([*lines, ""]))
    files = (KERNEL / "Makefile").read_text().split("WRITTEN = ")[1].split("OPTIONS")[0].replace("\\", "").split()
    build = ["ocamlfind", "ocamlopt", "-inline", "100", "-package", "zarith", "-w", "-a"]
    modules = ["integers.ml", "kernel.mli", "kernel.ml", *files[: files.index("main.ml")], "comparison.ml"]
    subprocess.run([*build, "-linkpkg", *modules, "-o", "comparison"], cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["./comparison"], cwd=folder, check=True, capture_output=True, text=True)
    print(done.stdout)  # for whoever reads why it failed
    return [int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(",")]


@needs_ocaml
def test_forms_promise_what_the_kernel_shows(tmp_path: Path) -> None:
    count, touching, exactly, wrong = compared(tmp_path)
    assert count > 1000
    assert touching >= 5
    assert 10 * exactly >= 9 * touching
    assert wrong == 0


@needs_ocaml
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(by_y *. slope_y) -. s", "(by_y *. slope_y) +. s"),
        ("v.(0) <- v.(0) +. (w *. constant.(k));", ""),
        ("-. (taken_by_errors layer i a b /. layer.denominator)", ""),
        ("not (exact f k.lx.(i) k.ux.(i) && exact h k.ly.(i) k.uy.(i))", "false"),
    ],
)
def test_a_form_that_promises_too_much_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    assert compared(tmp_path, right, wrong)[3] > 0
