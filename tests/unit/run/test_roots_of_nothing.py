"""Roots of sums that are 0 on a whole box, or next to it: norms of what ReLUs have cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

import eqspec
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.models import save

WEIGHT = np.random.default_rng(0).normal(size=(3, 4))
CUT_OFF = -np.linalg.pinv(WEIGHT.T) @ np.ones(4)
"""Where no ReLU is active."""


def norm(folder: Path, function: list[Any], more: float) -> str:
    """A function of the sum of squares behind ReLUs, of weights that are a little larger."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Mul", ["r", "r"], ["q"]), helper.make_node("ReduceSum", ["q", "last"], ["s"]), *function,
    ]  # fmt: skip
    stored = {"w": (WEIGHT * (1.0 + more)).astype(np.float32), "last": np.array([1])}
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", 1, [None, 3])], [value("y", 1, [None, 1])],
        [numpy_helper.from_array(a, k) for k, a in stored.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return save(folder, made, f"{more}.onnx")


def test_where_all_is_cut_off_nothing_differs(tmp_path: Path) -> None:
    """The interval of such a sum is a few of the smallest numbers wide, and its root begins in the middle of it."""
    root = [helper.make_node("Sqrt", ["s"], ["y"])]
    one, other = (norm(tmp_path, root, more) for more in (0.0, 1e-7))
    found = eqspec.verify(one, other, CUT_OFF - 0.05, CUT_OFF + 0.05, Epsilon("1e-3"), timeout=10, cache=False)
    assert found.verdict is Verdict.EQUIVALENT
    assert found.boxes == 1
