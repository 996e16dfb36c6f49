"""Whole numbers beyond those that a program has of its file: a claim is not decided where one may lie there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import eqspec
from eqspec.tasks.verdict import Verdict

ort = pytest.importorskip("onnxruntime")
Nodes = tuple[int, list[NodeProto]]
INT64, FLOAT = int(TensorProto.INT64), int(TensorProto.FLOAT)
node = helper.make_node
TO_INTEGER, TO_FLOAT = node("Cast", ["x"], ["whole"], to=INT64), node("Cast", ["whole"], ["y"], to=FLOAT)
FILES: dict[str, tuple[Nodes, Nodes, float]] = {
    "a cast of the input": (
        (FLOAT, [TO_INTEGER, TO_FLOAT]),
        (FLOAT, [node("Clip", ["x", "", "2^31"], ["cut"]), node("Floor", ["cut"], ["y"])]),
        2.0**31,
    ),
    "a cast of what only one input makes large": (
        (
            FLOAT,
            [
                node("Sub", ["x", "2^31"], ["less"]),
                node("Relu", ["less"], ["bent"]),
                node("Mul", ["bent", "10"], ["high"]),
                node("Cast", ["high"], ["whole"], to=INT64),
                TO_FLOAT,
            ],
        ),
        (
            FLOAT,
            [
                node("Sub", ["x", "2^31"], ["less"]),
                node("Relu", ["less"], ["bent"]),
                node("Mul", ["bent", "10"], ["high"]),
                node("Clip", ["high", "", "2^31"], ["cut"]),
                node("Floor", ["cut"], ["y"]),
            ],
        ),
        1.1 * 2.0**31,
    ),
    "an integer input": (
        (INT64, [node("Div", ["x", "whole 10"], ["whole"]), TO_FLOAT]),
        (
            INT64,
            [
                node("Cast", ["x"], ["real"], to=int(TensorProto.DOUBLE)),
                node("Div", ["real", "real 10"], ["tenth"]),
                node("Clip", ["tenth", "", "2^40 / 10"], ["cut"]),
                node("Floor", ["cut"], ["low"]),
                node("Cast", ["low"], ["y"], to=FLOAT),
            ],
        ),
        2.0**40,
    ),
}
"""A network, one that has its last number from some input on, and that input."""


def saved(nodes: Nodes, path: Path) -> Path:
    """One number to one number."""
    kind, graph_nodes = nodes
    stored = {
        "2^31": np.float32(2**31),
        "10": np.float32(10),
        "whole 10": np.int64(10),
        "real 10": np.float64(10),
        "2^40 / 10": np.float64(2**40 // 10),
    }
    read = {name for one in graph_nodes for name in one.input}
    graph = helper.make_graph(
        graph_nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, ["batch", 1])],
        [helper.make_tensor_value_info("y", FLOAT, ["batch", 1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items() if name in read],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("share", [0.9, 0.999])
@pytest.mark.parametrize("name", FILES)
def test_nothing_is_proved_where_a_whole_number_may_be_beyond_what_is_read(
    name: str, share: float, tmp_path: Path
) -> None:
    """The two are far apart beyond an input, whether few or most of the points of the box lie beyond it."""
    first, second, border = FILES[name]
    paths = saved(first, tmp_path / "first.onnx"), saved(second, tmp_path / "second.onnx")
    upper = 1.01 * border
    at = np.array([[int(upper)]], np.int64 if first[0] == INT64 else np.float32)
    answers = [ort.InferenceSession(path).run(None, {"x": at})[0].item() for path in paths]
    assert abs(answers[0] - answers[1]) > 1e6
    with pytest.raises(eqspec.EqspecError, match=r"may reach .*, and is read up to"):
        eqspec.verify(*paths, [share * border], [upper], eqspec.Epsilon(1e5), timeout=20)


@pytest.mark.parametrize("name", FILES)
def test_below_it_claims_are_decided(name: str, tmp_path: Path) -> None:
    """A whole number is off by less than one, and by what float32 cannot tell apart where it is large."""
    first, second, border = FILES[name]
    paths = saved(first, tmp_path / "first.onnx"), saved(second, tmp_path / "second.onnx")
    upper = 0.999 * border
    result = eqspec.verify(*paths, [0.99 * border], [upper], eqspec.Epsilon(1.5), timeout=20)
    assert result.verdict is Verdict.EQUIVALENT
