"""A network that asks whether a value is a number has no value where that one has none: neither reader forgets it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.networks import read_network
from eqspec.networks.fixed_point import UndefinedError
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from small_tasks import task as task_of
from unit.certificates.proofs import certify
from unit.certificates.test_reading import file
from unit.networks.models import model, node

WEIGHT = np.array([[1.0, 0.5], [-0.5, 1.0]], np.float32)
POINT = [Fraction(3), Fraction(4)]


def written(folder: Path, asks: str | None) -> Path:
    """relu(W x), with 1 added where a logarithm or a quotient of W x is no number, or without looking."""
    nodes = [node("Gemm", ["x", "w"], "v"), node("Relu", ["v"], "r")]
    if asks is None:
        nodes.append(node("Identity", ["r"], "y"))
    else:
        nodes += [node("Log" if asks == "IsNaN" else "Reciprocal", ["v"], "l"), node(asks, ["l"], "n")]
        nodes += [node("Cast", ["n"], "c", to=1), node("Add", ["r", "c"], "y")]
    path = folder / f"{asks}.onnx"
    path.write_bytes(model(nodes, {"w": WEIGHT}, [1, 2], opset=17).SerializeToString())
    return path


@pytest.mark.parametrize("asks", ["IsNaN", "IsInf"])
def test_only_where_a_value_is_a_number_it_is_known_to_be_one(asks: str, tmp_path: Path) -> None:
    one, other = (read_network(written(tmp_path, kind)) for kind in (asks, None))
    assert one.evaluate_exact(POINT) == other.evaluate_exact(POINT)
    with pytest.raises(UndefinedError):
        one.evaluate_exact([Fraction(n) for n in ((-2, 4) if asks == "IsNaN" else (1, 2))])
    for first, second in ((one, other), (one, one)):
        result, made = certify(task_of(first, second, Epsilon("0.1"), [3, 3], [4, 4]), tmp_path / "proofs")
        assert result.verdict is Verdict.EQUIVALENT
        assert made is not None
        assert made.reason is None
        found, _ = certify(task_of(first, second, Epsilon("0.1"), [-1, -1], [1, 1]), tmp_path / "proofs", boxes=20)
        assert found.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("asks", ["IsNaN", "IsInf"])
def test_the_auditor_keeps_what_is_asked_about(asks: str, tmp_path: Path) -> None:
    """Without weight, and so without a bound where the value may be none."""
    steps = file(written(tmp_path, asks), 2, 2).steps()
    assert len(steps) == 3, "the ReLU, the logarithm or reciprocal, and the outputs"
