"""Loops that run a number of times that is known, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.networks.readers import onnx_reader
from unit.networks.function_cases import numbers, weights
from unit.networks.models import node, save
from unit.networks.test_graph_operators import others

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def loop(
    inner: list[NodeProto],
    behind: list[NodeProto],
    *,
    most: int | None = 3,
    going: str = "going",
    outputs: tuple[str, ...] = ("last", "all"),
    opset: int = 17,
    stored: dict[str, Any] | None = None,
) -> onnx.ModelProto:
    """A state that starts as x; the body makes `next` of `state` and adds `seen` to the results."""
    inputs = [
        helper.make_tensor_value_info("round", INT64, []), helper.make_tensor_value_info("going", BOOL, []),
        helper.make_tensor_value_info("state", FLOAT, None),
    ]  # fmt: skip
    ends = [(going, BOOL), ("next", FLOAT), ("seen", FLOAT)]
    body = helper.make_graph(inner, "body", inputs, [helper.make_tensor_value_info(n, k, None) for n, k in ends])
    given = ["most" if most is not None else "", "true", "x"]
    nodes = [helper.make_node("Loop", given, list(outputs), name="loop", body=body), *behind]
    constants = {"most": np.array(most or 0), "true": np.array(True), "w": weights(3, 3), **(stored or {})}
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


RECURRENT = [node("MatMul", ["state", "w"], "m"), node("Tanh", ["m"], "next"), node("Add", ["next", "x"], "seen")]
SUM = [node("ReduceSum", ["all"], "s", keepdims=0), node("Add", ["s", "last"], "y")]
UNTIL = [node("Add", ["round", "one"], "n"), node("Less", ["n", "end"], "more")]
ENDS = {"one": np.array(1), "end": np.array(2)}
CASES = {
    "the last state": loop(RECURRENT, [node("Relu", ["last"], "y")], outputs=("last",)),
    "all states": loop(RECURRENT, SUM),
    "all states, axes as attributes": loop(RECURRENT, SUM, opset=11),
    "the entries of all rounds": loop(RECURRENT, [node("Squeeze", ["all"], "y")]),
    "until its condition fails": loop([*RECURRENT, *UNTIL], SUM, going="more", stored=ENDS),
    "without a number": loop([*RECURRENT, *UNTIL], SUM, most=None, going="more", stored=ENDS),
    "an entry for each round": loop(
        [node("Gather", ["rows", "round"], "r"), node("Mul", ["state", "r"], "next"), node("Neg", ["next"], "seen")],
        SUM, stored={"rows": weights(3, 3)},
    ),
    "the state as it is": loop(
        [node("Identity", ["state"], "next"), node("Neg", ["state"], "seen")], SUM, stored={"unused": numbers(1)}
    ),
}  # fmt: skip

BRANCHES = [
    helper.make_graph([node(kind, ["state"], "b")], kind, [], [helper.make_tensor_value_info("b", FLOAT, None)])
    for kind in ("Neg", "Relu")
]
INSIDE = [
    node("Equal", ["round", "one"], "second"),
    helper.make_node("If", ["second"], ["next"], then_branch=BRANCHES[0], else_branch=BRANCHES[1]),
    node("Neg", ["next"], "seen"),
]
CASES["a branch by the round"] = loop(INSIDE, SUM, stored=ENDS)


@pytest.mark.parametrize("name", CASES)
def test_loops_are_read_as_others_run_them(name: str, tmp_path: Path) -> None:
    network = read_network(save(tmp_path, CASES[name]))
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(1, 3)).astype(np.float32)
        found = network.evaluate(x.astype(float))[0]
        np.testing.assert_allclose(found, others(CASES[name], x).ravel(), rtol=1e-5, atol=1e-6)


ENDLESS = [*RECURRENT, node("Identity", ["going"], "more")]
LATE = {"one": np.array(1), "end": np.array(101), "most": np.array(200)}
BY_VALUE = [*RECURRENT, node("ReduceSum", ["next"], "t", keepdims=0), node("Less", ["t", "limit"], "more")]


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (loop(ENDLESS, SUM, most=None, going="more"), "a loop of too many rounds"),
        (loop(RECURRENT, SUM, most=2001), "a loop of too many rounds"),
        (loop([*RECURRENT, *UNTIL], SUM, going="more", stored=LATE), "too many branches or rounds"),
        (loop(BY_VALUE, SUM, going="more", stored={"limit": np.array(0.5, np.float32)}), "depends on the input"),
        (loop(RECURRENT, SUM, most=0), "never runs"),
    ],
    ids=["endless", "too often", "until too late", "by a value", "never"],
)
def test_loops_that_are_refused(
    proto: onnx.ModelProto, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer rounds than may be written out, since what all rounds give is handed on from each to the next."""
    monkeypatch.setattr(onnx_reader, "MOST_BRANCHES", 100)
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, proto))
