"""Integers that a file takes, of which columns go different ways, and which are computed with: against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.models import node, save
from unit.networks.test_lookup import ROWS, embedding


def halves(cut: str) -> list[NodeProto]:
    """The two columns `a` and `b` of the input, in one of the ways in which exporters take them out."""
    if cut == "split":
        return [helper.make_node("Split", ["i"], ["a", "b"], axis=1)]
    if cut == "gathers":
        return [node("Gather", ["i", "first"], "a", axis=1), node("Gather", ["i", "second"], "b", axis=1)]
    moved = node("Unsqueeze", ["i", "first"], "k")
    return [
        moved,
        node("Slice", ["k", "first", "second", "last"], "a"),
        node("Slice", ["k", "second", "two", "last"], "b"),
    ]


BESIDE: dict[str, tuple[list[NodeProto], range]] = {
    "a larger table": ([node("Gather", ["s", "b"], "v")], range(-ROWS - 3, ROWS + 3)),
    "a number": ([node("Cast", ["b"], "f", to=1), node("Sin", ["f"], "v")], range(-12, 13, 3)),
    "a comparison": ([node("Greater", ["b", "twelve"], "g"), node("Cast", ["g"], "v", to=1)], range(9, 16)),
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("cut", ["split", "gathers", "slices"])
def test_a_table_limits_the_integers_alone_that_it_is_looked_up_at(cut: str, beside: str, tmp_path: Path) -> None:
    """The smallest table of an input limited all of its entries: categories of a second column were read as others."""
    nodes, whole = BESIDE[beside]
    nodes = [*halves(cut), node("Gather", ["t", "a"], "u"), *nodes, node("Add", ["u", "v"], "y")]
    proto = embedding(nodes, {"t": (ROWS, 1), "s": (ROWS + 3, 1)}, places=2)
    for name, number in (("first", [0]), ("second", [1]), ("two", [2]), ("last", [-1]), ("twelve", [[12]])):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(number), name))
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    for first in (-ROWS, 0, ROWS - 1):
        for second in whole:
            point = np.array([[first, second]])
            (expected,) = session.run(None, {"i": point})
            np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected.ravel(), rtol=1e-6, atol=1e-6)


DIVISIONS: dict[str, list[NodeProto]] = {
    "quotient": [node("Div", ["i", "k"], "q"), node("Cast", ["q"], "y", to=1)],
    "remainder": [node("Mod", ["i", "k"], "q"), node("Cast", ["q"], "y", to=1)],
    "remainder with the sign of the dividend": [node("Mod", ["i", "k"], "q", fmod=1), node("Cast", ["q"], "y", to=1)],
    "hashed place": [node("Mod", ["i", "five"], "q"), node("Gather", ["t", "q"], "y")],
    "of what is not negative": [
        node("Max", ["i", "zero"], "s"), node("Div", ["s", "k"], "q"), node("Gather", ["t", "q"], "y"),
    ],
    "unknown category": [
        node("Greater", ["i", "four"], "g"), node("Where", ["g", "zero", "i"], "q"), node("Gather", ["t", "q"], "y"),
    ],
    "positions": [
        node("Equal", ["i", "zero"], "e"), node("Not", ["e"], "n"), node("Cast", ["n"], "c", to=7),
        node("CumSum", ["c", "one"], "q"), node("Gather", ["t", "q"], "y"),
    ],
    "beside each other": [node("GatherElements", ["flat", "i"], "y", axis=1)],
    "at the first of a kind": [
        node("Mod", ["i", "five"], "q"), node("Gather", ["t", "q"], "h"), node("Equal", ["q", "four"], "e"),
        node("Cast", ["e"], "c", to=7), node("ArgMax", ["c"], "p", axis=1, keepdims=1),
        node("Concat", ["row", "p"], "n", axis=1), node("GatherND", ["h", "n"], "y"),
    ],
    "at the largest": [
        node("Mod", ["i", "five"], "q"), node("Gather", ["t", "q"], "h"),
        node("ArgMax", ["i"], "p", axis=1, keepdims=1, select_last_index=1),
        node("Concat", ["row", "p"], "n", axis=1), node("GatherND", ["h", "n"], "y"),
    ],
    "at the smallest": [
        node("Mod", ["i", "five"], "q"), node("Gather", ["t", "q"], "h"), node("ArgMin", ["i"], "p", axis=1),
        node("Concat", ["row", "p"], "n", axis=1), node("GatherND", ["h", "n"], "y"),
    ],
    "the larger of two": [
        node("Mod", ["i", "five"], "q"), node("ReduceMax", ["q"], "m", axes=[1]), node("Gather", ["t", "m"], "y"),
    ],
    "the smaller of two": [node("ReduceMin", ["i"], "m", axes=[1], keepdims=0), node("Cast", ["m"], "y", to=1)],
    "whether any and all are above, as torch writes them": [
        node("Greater", ["i", "four"], "g"), node("Cast", ["g"], "c", to=7),
        node("ReduceMax", ["c"], "any", axes=[1]), node("Cast", ["any"], "b", to=9),
        node("ReduceMin", ["c"], "all", axes=[1]), node("Cast", ["all"], "d", to=9),
        node("Concat", ["b", "d"], "e", axis=1), node("Cast", ["e"], "y", to=1),
    ],
    "integers beside each other": [
        node("GatherElements", ["kinds", "i"], "q", axis=1), node("Gather", ["t", "q"], "y"),
    ],
}  # fmt: skip
"""Where `t` has the rows 0 to 4."""


@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_are_divided_and_chosen_as_onnxruntime_does(name: str, tmp_path: Path) -> None:
    proto = embedding(DIVISIONS[name], {"t": (ROWS, 2), "flat": (1, ROWS)}, places=2)
    for constant, number in (
        ("k", [[3, 12]]),
        ("five", 5),
        ("four", 4),
        ("zero", 0),
        ("one", 1),
        ("kinds", [[4, 0, 2, 2, 1]]),
        ("row", [[0]]),
    ):
        if any(constant in one.input for one in DIVISIONS[name]):
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(number), constant))
    network = read_network(save(tmp_path, proto))
    state = onnxruntime.capi.onnxruntime_pybind11_state
    session, compared = onnxruntime.InferenceSession(proto.SerializeToString()), 0
    for first in range(-7, 10):
        point = np.array([[first, 1 - first // 2]])
        try:
            (expected,) = session.run(None, {"i": point})
        except (state.Fail, state.InvalidArgument):  # a place beyond the table
            continue
        compared += 1
        np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected.ravel(), rtol=1e-6, atol=1e-6)
    assert compared > 8


@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_extremes_of_integers_of_every_type(operator: str, kind: type[np.integer], tmp_path: Path) -> None:
    stored = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    graph = helper.make_graph(
        [node(operator, ["i"], "m", axes=[1], keepdims=1), node("Cast", ["m"], "y", to=1)],
        "g",
        [helper.make_tensor_value_info("i", stored, ["batch", 3])],
        [helper.make_tensor_value_info("y", 1, ["batch", 1])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    points = np.random.default_rng(0).integers(0 if kind is np.uint8 else -100, 100, (50, 3))
    (expected,) = session.run(None, {"i": points.astype(kind)})
    np.testing.assert_array_equal(network.evaluate(points.astype(float)), expected)


@pytest.mark.parametrize("by", [0, -3])
def test_a_division_by_what_is_not_positive_is_refused(by: int, tmp_path: Path) -> None:
    proto = embedding(DIVISIONS["remainder"], {}, places=2)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(by), "k"))
    with pytest.raises(NetworkError, match=f"a division of integers by {by}"):
        read_network(save(tmp_path, proto))


def test_a_pair_of_hashed_places_is_decided_over_all_integers(tmp_path: Path) -> None:
    """Row 3 of five is that of 3, 8 and 13."""
    paths = []
    for change in (0.0, 0.25):
        proto = embedding(DIVISIONS["hashed place"], {"t": (ROWS, 2)}, places=2)
        table = onnx.numpy_helper.to_array(proto.graph.initializer[0]).copy()
        table[3] += np.float32(change)
        proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(table, "t"))
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(5), "five"))
        paths.append(save(tmp_path, proto, f"{change}.onnx"))
    assert eqspec.verify(paths[0], paths[1], [9, 4], [12, 7], Epsilon("1e-6"), timeout=20).verdict is Verdict.EQUIVALENT
    found = eqspec.verify(paths[0], paths[1], [9, 4], [13, 7], Epsilon("0.2"), timeout=20)
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert np.rint([float(v) for v in found.witness.raw]).tolist()[0] == 13
