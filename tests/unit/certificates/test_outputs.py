"""Files with several values that could be their output: which one the auditor reads, says, and refuses to choose."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

from eqspec.audit import Refused, audit
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.property import Epsilon
from small_tasks import task
from unit.certificates.proofs import certify, holds, unpack
from unit.certificates.test_reading import file, saved
from unit.networks.models import model, node

WEIGHTS = {
    "w": np.array([[1.0, -0.5], [0.25, 2.0]], np.float32),
    "v": np.array([[2.0, 1.0], [-1.0, 0.5]], np.float32),
}
NODES = [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "r"), node("MatMul", ["r", "v"], "y")]
Output = tuple[str, int]


def graph(nodes: Sequence[NodeProto], outputs: Sequence[Output], weights: dict[str, Any] = WEIGHTS) -> onnx.ModelProto:
    """A model from x (1, 2) with these outputs, by name and type."""
    made = model(nodes, weights, [1, 2])
    del made.graph.output[:]
    made.graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name, kind in outputs)
    return made


FLOAT, LABEL = TensorProto.FLOAT, TensorProto.INT64
MAX = node("ArgMax", ["y"], "label", axis=1)
STATE = node("Identity", ["x"], "state")
TURNED = node("Transpose", ["x"], "turned")
ONE = node("Constant", [], "one", value_float=1.0)
CHOSEN: dict[str, tuple[list[NodeProto], list[Output]]] = {
    "a label": ([*NODES, MAX], [("y", FLOAT), ("label", LABEL)]),
    "a label in front": ([*NODES, MAX], [("label", LABEL), ("y", FLOAT)]),
    "the state of a policy": ([*NODES, STATE], [("state", FLOAT), ("y", FLOAT)]),
    "the input itself": ([*NODES, TURNED], [("y", FLOAT), ("x", FLOAT), ("turned", FLOAT)]),
    "a constant and a label": ([*NODES, ONE, MAX], [("one", FLOAT), ("label", LABEL), ("y", FLOAT)]),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_says_nothing_is_left_alone_as_the_reader_does(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path, graph(*CHOSEN[name]))
    own, point = file(path, 2, 2), [Fraction(1, 2), Fraction(-3, 4)]
    assert own.named == "y"
    assert [low for low, _ in values_at(own, point)] == [low for low, _ in read_network(path).evaluate_exact(point)]


TWO: list[Output] = [("y", FLOAT), ("r", FLOAT)]
SUM = node("Add", ["one", "one"], "two")
UNCHOSEN: dict[str, tuple[list[NodeProto], list[Output]]] = {
    "two that count": (NODES, TWO),
    "nothing that counts": ([STATE, TURNED], [("state", FLOAT), ("turned", FLOAT)]),
    "one that depends on nothing": ([ONE, SUM, STATE], [("two", FLOAT), ("state", FLOAT)]),
    "labels alone": ([*NODES, MAX], [("label", LABEL), ("label2", LABEL)]),
    "the same twice": (NODES, [("y", FLOAT), ("y", FLOAT)]),
    "none": (NODES, []),
    "a dictionary that is declared a label": (
        [*NODES, node("ZipMap", ["r"], "z"), ONE], [("one", FLOAT), ("z", LABEL), ("y", FLOAT)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCHOSEN)
def test_where_nobody_says_which_one_is_meant_the_file_is_refused(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path, graph(*UNCHOSEN[name]))
    with pytest.raises(Refused, match=r"several outputs|no output, or two|does not read ZipMap|No Op registered"):
        file(path, 2, 2).steps()


def test_no_two_outputs_are_chosen_differently(tmp_path: Path) -> None:
    """Files of random outputs: where both readers choose, it is the same function."""
    rng, seen = np.random.default_rng(0), 0
    some = [
        ("y", FLOAT),
        ("r", FLOAT),
        ("state", FLOAT),
        ("one", FLOAT),
        ("two", FLOAT),
        ("label", LABEL),
        ("x", FLOAT),
    ]
    for number in range(24):
        outputs = [some[i] for i in rng.permutation(len(some))[: rng.integers(1, 5)]]
        path = tmp_path / f"{number}.onnx"
        onnx.save(graph([*NODES, STATE, ONE, SUM, MAX], outputs), path)
        try:
            network = read_network(path)
            own = file(path, 2, network.output_size)
            values = values_at(own, point := [Fraction(1, 2), Fraction(-3, 4)])
        except (NetworkError, Refused):
            continue
        assert [low for low, _ in values] == [low for low, _ in network.evaluate_exact(point)], outputs
        seen += 1
    assert seen > 5


def test_a_chosen_output_has_a_certificate_that_says_so_and_proves_nothing_of_another(tmp_path: Path) -> None:
    path = saved(tmp_path, graph(NODES, TWO))
    near = tmp_path / "near.onnx"
    onnx.save(graph(NODES, TWO, {**WEIGHTS, "v": WEIGHTS["v"] * np.float32(1.001)}), near)
    chosen = [read_network(one, output="y") for one in (path, near)]
    made = task(chosen[0], chosen[1], Epsilon(Fraction(1, 10)), [Fraction(-1)] * 2, [Fraction(1)] * 2)
    _, certificate = certify(made, tmp_path)
    assert certificate is not None
    assert certificate.reason is None
    said = dict(audit(certificate.path).said)
    assert 'of its outputs "y"' in said["candidate"]
    for role in ("reference", "candidate"):
        for name in ("r", "h", "nothing", "", "x", 3, None):
            parts = unpack(certificate.path)
            parts.header["task"][role]["output"] = name
            assert not holds(parts, tmp_path), name
        parts = unpack(certificate.path)
        del parts.header["task"][role]["output"]
        assert not holds(parts, tmp_path)
