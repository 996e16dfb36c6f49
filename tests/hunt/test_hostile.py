"""A fixed slice of the hunt through functions that jump or have no value somewhere, and what it found."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conformance.judging import audited
from eqspec.audit import Refused
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Epsilon, Linear
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict
from hunt.expressions import Expression, Node, evaluate, write
from hunt.hostile import Searching, judge
from small_tasks import space, task


def test_a_slice_of_the_hunt(tmp_path: Path) -> None:
    seen = [judge(seed, tmp_path, boxes=10) for seed in range(8)]
    assert not [wrong for _, wrong in seen if wrong is not None]
    assert {what for what, _ in seen} >= {"equivalent", "different", "unknown"}


@pytest.mark.parametrize(
    ("kind", "constants"), [("Clip", (1.0, 1.0)), ("MulConstant", (0.0,)), ("Pow", (0.0,)), ("Softmax", ())]
)
def test_what_is_constant_where_it_has_a_value_has_none_elsewhere(
    kind: str, constants: tuple[float, ...], tmp_path: Path
) -> None:
    """Of a logarithm: where that has no value the network has none, so nothing is proved of it there."""
    made = Expression(1, (Node("Log", (0,)), Node(kind, (1,), constants)), (2,))
    write(tmp_path / "f.onnx", made, np.random.default_rng(0))
    network = read_network(tmp_path / "f.onnx")
    read = audited((tmp_path / "f.onnx").read_bytes(), 1, 1)
    with pytest.raises(Refused, match="is not defined there"):
        values_at(read, [Fraction(-1)])
    few = Runner(Options(threads=1, boxes=20))
    for low, verdict in ((1, Verdict.EQUIVALENT), (-1, Verdict.UNKNOWN)):
        assert few.run(task(network, network, Epsilon(1), [low], [2], space=space(1, 1))).verdict is verdict


def test_a_search_of_a_single_point(tmp_path: Path) -> None:
    """No input is free, so nothing goes backwards through a jump to any."""
    nodes = (Node("Round", (1,)), Node("Div", (0, 1)), Node("Greater", (3, 2)))
    write(tmp_path / "f.onnx", Expression(2, nodes, (4, 2)), np.random.default_rng(0))
    network, half = read_network(tmp_path / "f.onnx"), Fraction(1, 2)
    for bound, broken in ((1, False), (-1, True)):
        asked = task(network, network, Linear((1, 0), (0, 0), bound), [half] * 2, [half] * 2, space=space(2, 2))
        found = Searching(Options(threads=1, boxes=20)).run(asked)
        assert (found.verdict is Verdict.DIFFERENT) is broken


def test_the_evaluator_knows_where_jumps_belong() -> None:
    """Ties to even, the sign of zero, and the first of equal entries."""
    nodes = (Node("Round", (0,)), Node("Sign", (0,)), Node("ArgMax", (0, 0)), Node("ChooseGreater", (0, 1, 2), (0.5,)))
    assert evaluate(Expression(1, nodes, (1, 2, 3, 4)), [Fraction(1, 2)]) == [0, 1, 0, 1]
    assert evaluate(Expression(1, nodes, (1, 2, 3, 4)), [Fraction(0)]) == [0, 0, 0, 0]
