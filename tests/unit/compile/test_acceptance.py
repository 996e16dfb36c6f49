"""The acceptance specs compile unchanged, to the boxes and claims that were published."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.compile import load
from eqspec.property import Confidence, Epsilon, Top1

BOUND = re.compile(r"\(assert \((<=|>=) X_(\d+) (-?[\d.]+)\)\)")


def published_box(file: Path) -> list[tuple[Fraction, Fraction]]:
    bounds: dict[tuple[int, str], Fraction] = {}
    for operator, index, number in BOUND.findall(file.read_text()):
        bounds[int(index), operator] = Fraction(number)
    return [(bounds[i, ">="], bounds[i, "<="]) for i in range(5)]


@pytest.mark.part(4)
@pytest.mark.parametrize("name", [f"{i}_{j}" for i in range(1, 6) for j in (1, 9)])
def test_acas(name: str, shared: Path) -> None:
    compiled = load(shared / "acceptance" / "acas" / f"{name}.eqspec")
    assert (len(compiled.tasks), compiled.finds, compiled.diagnostics) == (20, (), ())
    for task in compiled.tasks:
        assert task.property == Epsilon(task.parameters["eps"])
        assert task.budget.timeout == 120
        assert task.space.decide == "min"
        file = shared / "data" / "acas" / "boxes" / f"{task.check}.vnnlib"
        if file.exists():  # prop_26 has no file with its box alone
            wanted = published_box(file)
            assert list(zip(task.lower_exact, task.upper_exact, strict=True)) == wanted
            assert (task.lower <= [float(low) for low, _ in wanted]).all()
            assert (task.upper >= [float(high) for _, high in wanted]).all()


def test_lhc(shared: Path) -> None:
    tasks = load(shared / "acceptance" / "lhc.eqspec").tasks
    deltas = ["0.8", "0.9", "0.99", "0.999"]
    assert [t.id for t in tasks] == [f"{check}[delta={d}]" for check in ("near", "far") for d in deltas]
    assert [t.expected for t in tasks] == ["different"] * 2 + ["equivalent"] * 2 + ["different"] * 4
    for task in tasks:
        sigma = Fraction(1, 10) if task.check == "near" else Fraction(1, 2)
        assert task.property == Confidence(task.parameters["delta"])
        assert (task.lower_exact, task.upper_exact) == ((-sigma,) * 16, (sigma,) * 16)
        assert (task.reference.stripped, task.candidate.stripped) == ("softmax", "softmax")
        assert task.reference_name == "reference"


def test_limits(shared: Path) -> None:
    compiled = load(shared / "acceptance" / "limits.eqspec")
    assert compiled.tasks == ()
    found = {f.id: (f.variable, f.direction, str(f.low), str(f.high), str(f.width)) for f in compiled.finds}
    assert found == {
        "reach": ("sigma", "largest", "1/100", "1/2", "1/100"),
        "confidence": ("d", "smallest", "1/2", "9999/10000", "1/200"),
        "distance": ("eps", "smallest", "1/10", "20", "1/10"),
    }
    task = compiled.finds[0].task_at(Fraction(1, 3))
    assert (task.id, task.upper_exact[0]) == ("reach[sigma=1/3]", Fraction(1, 3))


def test_mnist(shared: Path) -> None:
    tasks = load(shared / "acceptance" / "mnist.eqspec").tasks
    assert len(tasks) == 700
    assert tasks[105].id == "close[radius=4,row=5]"
    assert {type(t.property) for t in tasks} == {Epsilon, Top1}
    pixels = np.loadtxt(shared / "data" / "mnist" / "ref_images_100x784.csv", delimiter=",")
    for task in tasks[::37]:
        row, radius = int(task.parameters["row"]), float(task.parameters["radius"])
        low, high = np.clip(pixels[row] - radius, 0, 255) / 255, np.clip(pixels[row] + radius, 0, 255) / 255
        np.testing.assert_allclose(task.lower, low, rtol=0, atol=1e-15)
        np.testing.assert_allclose(task.upper, high, rtol=0, atol=1e-15)
        exact = [max(Fraction(int(p)) - int(radius), Fraction(0)) / 255 for p in pixels[row]]
        assert list(task.lower_exact) == exact
