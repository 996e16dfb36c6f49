"""Answers of other verifiers to exported tasks: confirmed where the claim breaks, and nowhere else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.errors import InputError
from eqspec.replay.replay import raw_point
from eqspec.vnnlib.exporting import export
from eqspec.vnnlib.replaying import read_input
from unit.vnnlib.pairs import pair, points
from unit.vnnlib.test_export import breaks, spec, the_task


@pytest.mark.parametrize("target", ["vnnlib2", "product-onnx"])
@pytest.mark.parametrize("takes", ["", "takes raw"])
def test_sat_is_confirmed_where_the_claim_breaks(
    target: str, takes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair(tmp_path, 5)
    normalise = "zscore mean [0.5, -0.25] std [2, 0.5]"
    box = "box { x0: -1 .. 2 x1: -0.5 .. 0.25 }"
    answer = tmp_path / "answer.txt"
    seen = set()
    for eps in (1, 9):
        task = the_task(spec(f"cand stays within {eps} of ref", normalise=normalise, ref=takes, region=box), tmp_path)
        (made,) = export([task], target, tmp_path / f"out_{eps}")  # type: ignore[arg-type]
        sidecar = made.property.parent / f"{made.property.stem}.task.json"
        for point in points(1, 2, 20):
            shown = raw_point(task, point) if takes and target == "vnnlib2" else point
            numbers = [str(float(x)) for x in shown]
            if target == "vnnlib2":
                answer.write_text("sat\nX_ref real [1,2]\n" + "\n".join(numbers) + "\nY_ref real [1,3]\n0\n0\n0\n")
            else:
                answer.write_text(
                    "sat\n(" + "\n".join(f"(X_{i} {x})" for i, x in enumerate(numbers)) + "\n(Y_0 1.5))\n"
                )
            inside = all(a <= x <= b for a, x, b in zip(task.lower_exact, point, task.upper_exact, strict=True))
            if not inside:
                continue  # the nearest point of the region is another one
            code = main(["replay", str(sidecar), "--assignment", str(answer)])
            said = capsys.readouterr().out
            assert (code, "not confirmed" in said) == ((0, False) if breaks(task, point) else (1, True))
            seen.add(code)
    assert seen == {0, 1}


def test_what_is_no_assignment() -> None:
    assert read_input("((X_1 2) (X_0 1e-1))", 2) == (Fraction(1, 10), 2)
    for text in ("", "unsat", "((X_0 1))", "((X_0 1) (X_2 1))", "X real [2]\n1\n", "((X_0 one) (X_1 2))"):
        with pytest.raises(InputError, match="inputs"):
            read_input(text, 2)
