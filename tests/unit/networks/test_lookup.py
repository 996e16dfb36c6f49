"""Embeddings: stored rows that are looked up at integer inputs, against onnxruntime at all integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.function_cases import weights
from unit.networks.models import node, save

ROWS = 5


def embedding(
    nodes: list[NodeProto], tables: dict[str, tuple[int, ...]], places: int, seed: int = 0
) -> onnx.ModelProto:
    """A model of int64 `i` (1, places) whose last node gives `y`."""
    stored = [
        onnx.numpy_helper.from_array(weights(*s, seed=n + seed), name) for n, (name, s) in enumerate(tables.items())
    ]
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, [1, places])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def split() -> list[NodeProto]:
    halves = helper.make_node("Split", ["i"], ["a", "b"], axis=1)
    looked = [node("Gather", ["t", "a"], "u"), node("Gather", ["s", "b"], "v")]
    return [halves, *looked, node("Add", ["u", "v"], "w"), node("Tanh", ["w"], "y")]


CASES: dict[str, tuple[list[NodeProto], dict[str, tuple[int, ...]]]] = {
    "rows": ([node("Gather", ["t", "i"], "y")], {"t": (ROWS, 3)}),
    "columns": ([node("Gather", ["t", "i"], "y", axis=1)], {"t": (2, ROWS, 3)}),
    "numbers": ([node("Gather", ["t", "i"], "y")], {"t": (ROWS,)}),
    "two tables": (split(), {"t": (ROWS, 3), "s": (ROWS + 2, 3)}),
    "a network behind": (
        [node("Gather", ["t", "i"], "e"), node("MatMul", ["e", "w"], "h"), node("Relu", ["h"], "y")],
        {"t": (ROWS, 3), "w": (3, 4)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_integer_is_looked_up_as_onnxruntime_does(name: str, tmp_path: Path) -> None:
    proto = embedding(*CASES[name], places=2)
    network = read_network(save(tmp_path, proto))
    assert any("places in a table" in note for note in network.notes)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    for first in range(-ROWS, ROWS):
        for second in range(-ROWS, ROWS):
            point = np.array([[first, second]])
            (expected,) = session.run(None, {"i": point})
            near = point + 0.25 * np.array([[1, -1]])  # stands for the same integers
            for x in (point.astype(float), near):
                np.testing.assert_allclose(network.evaluate(x)[0], expected.ravel(), rtol=1e-6, atol=1e-6)


def test_pairs_are_decided_over_all_integers(tmp_path: Path) -> None:
    first, second = (embedding(*CASES["a network behind"], places=2) for _ in "ab")
    moved = weights(ROWS, 3)
    moved[3] += np.float32(0.25)
    second.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(moved, "t"))
    a, b = (save(tmp_path, proto, name) for proto, name in ((first, "a.onnx"), (second, "b.onnx")))
    found = eqspec.verify(a, b, [0, 0], [4, 4], Epsilon("0.01"), timeout=20)
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert 3 in np.rint([float(v) for v in found.witness.raw]).tolist()
    assert eqspec.verify(a, b, [0, 0], [2, 2], Epsilon("1e-6"), timeout=20).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("nodes", "tables", "words"),
    [
        ([node("Gather", ["t", "i"], "y")], {"t": (30_000, 2)}, "comparisons"),
        ([node("Add", ["i", "i"], "j"), node("Gather", ["t", "j"], "y")], {"t": (5, 2)}, "int64"),
    ],
)
def test_what_is_refused(
    nodes: list[NodeProto], tables: dict[str, tuple[int, ...]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, embedding(nodes, tables, 2)))


def test_in_float32_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="jumps"):
        in_float32(read_network(save(tmp_path, embedding(*CASES["rows"], places=2))))
