"""Operators on constants whose axes are longer than small ones are, against onnxruntime.

The reference evaluator of the package onnx computes some of them with functions of numpy that take 32 or 64 arrays at
most, and goes another way beyond. The random graphs of `conformance` have short axes.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save

LONG = 70
RANDOM = np.random.default_rng(0)
COLUMN, ROW = np.arange(LONG)[:, None], np.arange(LONG)[None]
TABLE = RANDOM.integers(-50, 50, (LONG, 3))
MIXED = RANDOM.permutation(LONG) - LONG // 2

CASES: dict[str, tuple[str, list[NDArray[Any]], dict[str, Any]]] = {
    "GatherElements, zeros": ("GatherElements", [COLUMN, np.zeros((LONG, 1), np.int64)], {"axis": 0}),
    "GatherElements, rows": ("GatherElements", [COLUMN, MIXED[:, None]], {"axis": 0}),
    "GatherElements, a few": ("GatherElements", [ROW, np.array([[3, -1, 7]])], {"axis": 1}),
    "GatherElements, fewer columns": ("GatherElements", [TABLE, MIXED[:5, None]], {"axis": 0}),
    "GatherElements, one row": ("GatherElements", [TABLE.T, MIXED[None, :2]], {"axis": -1}),
    "GatherND": ("GatherND", [TABLE, MIXED[:, None]], {}),
    "ScatterElements": ("ScatterElements", [TABLE, np.arange(LONG)[::-1, None], COLUMN], {"axis": 0}),
    "ScatterND": ("ScatterND", [TABLE, MIXED[:5, None] % LONG, TABLE[:5]], {"reduction": "max"}),
    "Compress": ("Compress", [TABLE, MIXED > 0], {"axis": 0}),
    "ReverseSequence": ("ReverseSequence", [TABLE, np.array([70, 1, 33])], {"time_axis": 0, "batch_axis": 1}),
    "TopK": ("TopK", [ROW * 7 % 71, np.array([35])], {"axis": 1}),
    "ArgMax": ("ArgMax", [TABLE], {"axis": 0, "select_last_index": 1, "keepdims": 0}),
    "OneHot": ("OneHot", [MIXED, np.array(LONG), np.array([2, 5])], {"axis": 0}),
    "CumSum": ("CumSum", [TABLE, np.array(0)], {"reverse": 1, "exclusive": 1}),
    "Where": ("Where", [ROW > 33, ROW, COLUMN], {}),
    "Trilu": ("Trilu", [TABLE, np.array(-34)], {"upper": 0}),
    "NonZero": ("NonZero", [TABLE > 40], {}),
}


def summed(kind: str, given: list[NDArray[Any]], attributes: dict[str, Any], *, real: bool) -> ModelProto:
    """x plus every entry of what an operator makes of constants, of which the first may hold real numbers."""
    constants = [a if a.dtype == bool else a.astype(np.int64) for a in given]
    if real:
        constants[0] = constants[0].astype(np.float32)
        constants[2:] = [a.astype(np.float32) for a in constants[2:]]
    names = [f"c{i}" for i in range(len(constants))]
    nodes = [
        helper.make_node(kind, names, ["made", "places"] if kind == "TopK" else ["made"], **attributes),
        node("Cast", ["made"], "numbers", to=TensorProto.FLOAT),
        node("Reshape", ["numbers", "row"], "all"),
        node("Add", ["x", "all"], "y"),
    ]
    stored = [
        numpy_helper.from_array(a, n) for a, n in zip([*constants, np.array([1, -1])], [*names, "row"], strict=True)
    ]
    value = helper.make_tensor_value_info
    ends = [value("x", TensorProto.FLOAT, [1, 1])], [value("y", TensorProto.FLOAT, None)]
    return helper.make_model(
        helper.make_graph(nodes, "g", *ends, stored), opset_imports=[helper.make_opsetid("", 18)], ir_version=8
    )


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_constants_are_what_onnxruntime_makes_of_them(case: str, real: bool, tmp_path: Path) -> None:
    kind, given, attributes = CASES[case]
    if real and (given[0].dtype == bool or kind in ("CumSum", "OneHot")):
        return
    proto = summed(kind, given, attributes, real=real)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": np.full((1, 1), 0.5, np.float32)})[0].ravel()
    found = read_network(save(tmp_path, proto)).evaluate_exact([Fraction(1, 2)])
    assert expected.size > 1
    assert [float(low) for low, _ in found] == expected.tolist()


def test_long_axes_of_values_that_depend_on_the_input(tmp_path: Path) -> None:
    """The first column was turned, as if places counted along the other axis."""
    places = numpy_helper.from_array(np.zeros((LONG, 1), np.int64), "places")
    shape = numpy_helper.from_array(np.array([LONG, 1]), "shape")
    row = numpy_helper.from_array(np.array([1, LONG]), "row")
    nodes = [
        node("Reshape", ["x", "shape"], "column"),
        node("GatherElements", ["column", "places"], "g", axis=0),
        node("Reshape", ["g", "row"], "y"),
    ]
    value = helper.make_tensor_value_info
    ends = [value("x", TensorProto.FLOAT, [1, LONG])], [value("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ends, [places, shape, row])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    assert read_network(save(tmp_path, proto)).evaluate(np.arange(1.0, LONG + 1)[None]).tolist() == [[1.0] * LONG]


@pytest.mark.parametrize("place", [3, -4])
def test_places_beyond_the_end_are_refused(place: int, tmp_path: Path) -> None:
    """They counted on from the other end, where onnxruntime refuses to run."""
    proto = summed("GatherElements", [np.arange(3)[:, None], np.array([[place], [0], [0]])], {"axis": 0}, real=False)
    with pytest.raises(NetworkError, match="beyond the 3 entries"):
        read_network(save(tmp_path, proto))
