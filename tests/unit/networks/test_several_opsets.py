"""Files that import the standard operators in several versions: onnxruntime takes the last, and others another one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec import NetworkError, read_network

POINT = np.array([[0.5, -1.0, 2.0, 0.25, 1.0, -3.0]])
RELU = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Gemm", ["r", "w", "b"], ["y"])]
WHOLE_OR_LAST = [
    helper.make_node("Reshape", ["x", "cube"], ["c"]),
    helper.make_node("Softmax", ["c"], ["s"], axis=1),  # over all numbers of a sample up to opset 12, then over two
    helper.make_node("Reshape", ["s", "row"], ["f"]),
    helper.make_node("Gemm", ["f", "w", "b"], ["y"]),
]


def saved(folder: Path, nodes: list[NodeProto], versions: list[tuple[str, int]]) -> Path:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name, n in (("x", 6), ("y", 2))]
    rng = np.random.default_rng(3)
    stored = {"w": rng.normal(size=(6, 2)).astype(np.float32), "b": np.ones(2, np.float32)}
    shapes = {"cube": np.array([1, 2, 3]), "row": np.array([1, 6])}
    constants = [numpy_helper.from_array(array, name) for name, array in (stored | shapes).items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    opsets = [helper.make_opsetid(*version) for version in versions]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "net.onnx")
    return folder / "net.onnx"


@pytest.mark.parametrize("other", ["", "ai.onnx"], ids=["one-name", "two-names"])
@pytest.mark.parametrize("order", [(9, 17), (17, 9)], ids=str)
def test_versions_that_mean_the_same_are_read(order: tuple[int, int], other: str, tmp_path: Path) -> None:
    path = saved(tmp_path, RELU, [("", order[0]), (other, order[1])])
    network = read_network(path)
    (there,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": POINT.astype(np.float32)})
    assert network.evaluate(POINT) == pytest.approx(there, abs=1e-5)
    assert f"it imports opset {order[0]} beside {order[1]}; {order[1]} is read" in " ".join(network.notes)


@pytest.mark.parametrize("order", [(11, 13), (13, 11)], ids=str)
def test_versions_that_mean_different_functions_are_refused(order: tuple[int, int], tmp_path: Path) -> None:
    path = saved(tmp_path, WHOLE_OR_LAST, [("", version) for version in order])
    with pytest.raises(NetworkError, match=f"in opset {order[0]} it is another function"):
        read_network(path)


def test_the_last_is_taken_where_the_file_makes_no_sense_in_the_other(tmp_path: Path) -> None:
    nodes = [helper.make_node("Clip", ["x", "low", "high"], ["r"]), RELU[1]]  # its ends are inputs since opset 11
    path = saved(tmp_path, nodes, [("", 10), ("", 13)])
    proto = onnx.load(path)
    for name, end in (("low", -1), ("high", 1)):
        proto.graph.initializer.append(numpy_helper.from_array(np.array(end, np.float32), name))
    onnx.save(proto, path)
    (there,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": POINT.astype(np.float32)})
    assert read_network(path).evaluate(POINT) == pytest.approx(there, abs=1e-5)
    proto.opset_import.append(helper.make_opsetid("", 10))
    onnx.save(proto, path)
    with pytest.raises(NetworkError, match="opset 10 takes"):
        read_network(path)
