"""Operands of opset 6 that meet at an axis, against numpy; no runtime in use computes these versions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, save

F = np.float32
Numbers = NDArray[Any]
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.true_divide, "Pow": np.power,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"Greater": np.greater, "Less": np.less}
LOGICAL: dict[str, Callable[[Any, Any], Any]] = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], int | None]] = [
    ((1, 2, 2), (2,), 1), ((1, 2, 2), (2,), 2), ((1, 2, 2), (2,), None), ((1, 2, 2), (1, 2), 0),
    ((1, 2, 2), (2, 2), 1), ((1, 2, 2), (1,), None), ((1, 2, 2), (), None), ((1, 2, 3, 2), (2, 3), 1),
    ((1, 2, 3, 2), (3, 2), None), ((1, 3, 3), (3, 1), 1), ((1, 3, 3), (1, 2), 0),
]  # fmt: skip
"""Of the first operand, of the second one, and the axis; the last pair does not go together."""


def met(a: tuple[int, ...], b: Numbers, axis: int | None) -> Numbers | None:
    """The second operand as the standard lays it along the first: an axis of it for each, by a loop."""
    begin = len(a) - b.ndim if axis is None else axis
    found = np.empty(a, b.dtype)
    for place in np.ndindex(*a):
        inner = place[begin : begin + b.ndim]
        if b.size > 1 and any(size not in (1, a[begin + i]) for i, size in enumerate(b.shape)):
            return None
        found[place] = b.reshape(-1)[0] if b.size == 1 else b[tuple(i % s for i, s in zip(inner, b.shape, strict=True))]
    return found


def with_axis(kind: str, inputs: list[str], output: str, axis: int | None) -> NodeProto:
    return node(kind, inputs, output, broadcast=1, **({} if axis is None else {"axis": axis}))


def answers(nodes: list[NodeProto], constants: dict[str, Numbers], x: Numbers, folder: Path) -> Numbers:
    proto = model(nodes, constants, x.shape, opset=6)
    network = read_network(save(folder, proto))
    found = network.evaluate_exact([Fraction(float(v)) for v in x.reshape(-1)])
    assert all(high - low < 1e-9 for low, high in found)
    return np.array([float(low) for low, _ in found])


def check(nodes: list[NodeProto], constants: dict[str, Numbers], x: Numbers, wanted: Numbers | None, to: Path) -> None:
    if wanted is None:
        with pytest.raises(NetworkError, match="do not broadcast as opset 6 asks"):
            answers(nodes, constants, x, to)
    else:
        assert np.allclose(answers(nodes, constants, x, to), wanted.reshape(-1).astype(float), rtol=1e-12)


@pytest.mark.parametrize(("a", "b", "axis"), SHAPES)
@pytest.mark.parametrize("kind", [*ARITHMETIC, *COMPARISONS])
def test_a_constant_meets_a_value_at_an_axis(
    kind: str, a: tuple[int, ...], b: tuple[int, ...], axis: int | None, tmp_path: Path
) -> None:
    rng = np.random.default_rng(len(a) + 10 * len(b))
    second = rng.choice([1, 2, 3], size=b).astype(F)
    x = rng.integers(1, 8, size=a).astype(float) / 2
    other = met(a, second, axis)
    nodes = [with_axis(kind, ["x", "c"], "y" if kind in ARITHMETIC else "t", axis)]
    nodes += [] if kind in ARITHMETIC else [node("Cast", ["t"], "y", to=TensorProto.FLOAT)]
    wanted = None if other is None else {**ARITHMETIC, **COMPARISONS}[kind](x, other)
    check(nodes, {"c": second}, x, wanted, tmp_path)


@pytest.mark.parametrize("kind", [*ARITHMETIC, *COMPARISONS])
def test_constants_meet_at_an_axis(kind: str, tmp_path: Path) -> None:
    first, second = np.array([[1, 2], [4, 3]], F), np.array([2, 3], F)
    nodes = [with_axis(kind, ["k", "c"], "t", 0), node("Cast", ["t"], "w", to=TensorProto.FLOAT)]
    nodes += [node("MatMul", ["x", "w"], "y")]
    x = np.array([[0.5, -2.0]])
    wanted = x @ {**ARITHMETIC, **COMPARISONS}[kind](first.astype(float), second[:, None].astype(float))
    check(nodes, {"k": first, "c": second}, x, wanted, tmp_path)


@pytest.mark.parametrize("kind", [*COMPARISONS, *LOGICAL, "Mul"])
def test_values_meet_at_an_axis(kind: str, tmp_path: Path) -> None:
    """x beside the sums of its rows, and whether either is above 0."""
    x = np.array([[[1.0, -3.0], [2.0, 1.0]]])
    sums = x.sum(axis=2)
    nodes = [node("ReduceSum", ["x"], "s", axes=[2], keepdims=0)]
    if kind in LOGICAL:
        nodes += [node("Greater", ["x", "zero"], "g", broadcast=1), node("Greater", ["s", "zero"], "h", broadcast=1)]
        wanted = LOGICAL[kind](x > 0, (sums > 0)[:, :, None])
    else:
        wanted = {**ARITHMETIC, **COMPARISONS}[kind](x, sums[:, :, None])
    pair = ["g", "h"] if kind in LOGICAL else ["x", "s"]
    nodes += [with_axis(kind, pair, "y" if kind == "Mul" else "t", 0)]
    nodes += [] if kind == "Mul" else [node("Cast", ["t"], "y", to=TensorProto.FLOAT)]
    check(nodes, {"zero": np.array(0, F)}, x, np.asarray(wanted), tmp_path)


def test_a_mask_meets_scores_at_an_axis(tmp_path: Path) -> None:
    hidden = np.array([-np.inf, 0], F)
    nodes = [with_axis("Add", ["x", "c"], "h", 1), node("Softmax", ["h"], "s", axis=1), node("MatMul", ["s", "w"], "y")]
    x = np.array([[[1.0, -3.0], [2.0, 1.0]]])
    powers = np.exp(x + hidden[:, None])
    check(nodes, {"c": hidden, "w": np.eye(2, dtype=F)}, x, powers / powers.sum(), tmp_path)


@pytest.mark.parametrize("kind", [*ARITHMETIC, *COMPARISONS])
def test_without_broadcast_shapes_are_equal(kind: str, tmp_path: Path) -> None:
    nodes = [node(kind, ["x", "c"], "t"), node("Cast", ["t"], "y", to=TensorProto.FLOAT)]
    check(nodes, {"c": np.array([1, 2], F)}, np.ones((1, 2, 2)), None, tmp_path)


def test_operators_that_are_written_out_with_a_number(tmp_path: Path) -> None:
    """A Binarizer is a comparison with its threshold, which says no `broadcast`."""
    proto = model([node("Binarizer", ["x"], "y", domain="ai.onnx.ml", threshold=0.5)], {}, [1, 2], opset=6)
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    network = read_network(save(tmp_path, proto))
    assert network.evaluate_exact([Fraction(1, 2), Fraction(3, 4)]) == [(0, 0), (1, 1)]
