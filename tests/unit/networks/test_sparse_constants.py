"""Constants that a file stores sparsely: read as the dense ones, as onnxruntime runs them, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import SparseTensorProto, TensorProto, helper, numpy_helper

from eqspec import NetworkError, read_network

WEIGHT = np.array([[0, 2, 0], [1.5, 0, -1]], np.float32)


def sparse(pairs: bool) -> SparseTensorProto:
    """The weights, with a place as one number or as two."""
    places = np.argwhere(WEIGHT).astype(np.int64)
    listed = places if pairs else np.asarray(np.ravel_multi_index(tuple(places.T), WEIGHT.shape), np.int64)
    numbers = numpy_helper.from_array(WEIGHT[WEIGHT != 0], "w")
    made: SparseTensorProto = helper.make_sparse_tensor(numbers, numpy_helper.from_array(listed, "at"), WEIGHT.shape)
    return made


def model(weight: SparseTensorProto) -> onnx.ModelProto:
    """x -> W x, of three inputs."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name, n in (("x", 3), ("y", 2))]
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], sparse_initializer=[weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("pairs", [False, True], ids=["one-index", "an-index-for-each-axis"])
def test_they_are_read_as_runtimes_read_them(pairs: bool, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(model(sparse(pairs)), path)
    point = np.array([[1.0, 2.0, 3.0]])
    (there,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": point.astype(np.float32)})
    assert read_network(path).evaluate(point) == pytest.approx(there)
    assert there == pytest.approx(point @ WEIGHT.T)


def doubled(weight: SparseTensorProto) -> onnx.ModelProto:
    """x -> W x, the weights in a Constant of the graph, and doubled by a sparse constant of a branch."""
    proto = model(weight)
    del proto.graph.sparse_initializer[:]
    two = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([2.0], np.float32), "two"), numpy_helper.from_array(np.array([0]), "at"), [1]
    )
    given = helper.make_tensor_value_info("d", TensorProto.FLOAT, None)
    constant = helper.make_node("Constant", [], ["w"], sparse_value=weight)
    branches = [
        helper.make_graph(
            [helper.make_node("Mul", ["z", "two"], ["d"])], "twice", [], [given], sparse_initializer=[two]
        ),
        helper.make_graph(
            [helper.make_node("Constant", [], ["two"], sparse_value=two), helper.make_node("Sub", ["z", "two"], ["d"])],
            "less",
            [],
            [given],
        ),
    ]
    chosen = helper.make_node("If", ["yes"], ["y"], then_branch=branches[0], else_branch=branches[1])
    proto.graph.node[0].output[0] = "z"
    proto.graph.node.insert(0, constant)
    proto.graph.node.append(chosen)
    proto.graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
    return proto


@pytest.mark.parametrize("yes", [True, False])
def test_those_of_nodes_and_branches_are_read(yes: bool, tmp_path: Path) -> None:
    path, proto = tmp_path / "net.onnx", doubled(sparse(pairs=True))
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(yes), "yes"))
    onnx.save(proto, path)
    point = np.array([[1.0, 2.0, 3.0]])
    product = point @ WEIGHT.T
    assert read_network(path).evaluate(point) == pytest.approx(2 * product if yes else product - 2)


def moved(tensor: TensorProto, numbers: NDArray[Any]) -> None:
    tensor.CopyFrom(numpy_helper.from_array(numbers, tensor.name))


REFUSED: dict[str, tuple[Callable[[SparseTensorProto], object], str]] = {
    "not in order": (lambda s: moved(s.indices, np.array([3, 1, 5])), "every place once, in ascending order"),
    "twice": (lambda s: moved(s.indices, np.array([1, 1, 5])), "every place once, in ascending order"),
    "outside": (lambda s: moved(s.indices, np.array([1, 3, 6])), "every place once, in ascending order"),
    "negative": (lambda s: moved(s.indices, np.array([-1, 3, 5])), "every place once, in ascending order"),
    "of another type": (lambda s: moved(s.indices, np.array([1, 3, 5], np.int32)), "every place once"),
    "too few": (lambda s: moved(s.indices, np.array([1, 3])), "every place once, in ascending order"),
    "huge": (lambda s: s.dims.__setitem__(0, 10**9), "up to 10000000 entries"),
    "in two ways": (lambda s: s.values.float_data.extend([9.0] * 3), "'float_data'"),
    "outside of the file": (lambda s: setattr(s.values, "data_location", 1), "outside of the file"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_runtimes_may_differ_on_is_refused(what: str, tmp_path: Path) -> None:
    change, words = REFUSED[what]
    weight = sparse(pairs=False)
    change(weight)
    (tmp_path / "net.onnx").write_bytes(model(weight).SerializeToString())
    with pytest.raises(NetworkError, match=words):
        read_network(tmp_path / "net.onnx")
    (tmp_path / "net.onnx").write_bytes(doubled(weight).SerializeToString())
    with pytest.raises(NetworkError, match=words):
        read_network(tmp_path / "net.onnx")


@pytest.mark.parametrize("tensors", [["z"], ["z", "r"]], ids=["one", "two"])
def test_an_output_that_is_a_list_is_refused_as_one(tensors: list[str], tmp_path: Path) -> None:
    proto = model(sparse(pairs=False))
    proto.graph.node[0].output[0] = "z"
    proto.graph.node.append(helper.make_node("Relu", ["z"], ["r"]))
    proto.graph.node.append(helper.make_node("SequenceConstruct", tensors, ["y"]))
    proto.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None))
    onnx.save(proto, tmp_path / "net.onnx")
    with pytest.raises(NetworkError, match=f"'y' is no tensor but a list.*'{tensors[-1]}'"):
        read_network(tmp_path / "net.onnx")
    assert read_network(tmp_path / "net.onnx", output="z").output_size == 2


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    content = model(sparse(pairs=False)).SerializeToString()
    named = numpy_helper.from_array(WEIGHT[WEIGHT != 0], "w").SerializeToString()
    (tmp_path / "net.onnx").write_bytes(content.replace(named, named.replace(b"B\x01w", b"B\x01\xff")))
    with pytest.raises(NetworkError, match="is not UTF-8"):
        read_network(tmp_path / "net.onnx")


def test_many_that_are_large_only_together_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    proto = model(sparse(pairs=False))
    for number in range(200):
        numbers, places = np.ones(1, np.float32), np.zeros(1, np.int64)
        stored = numpy_helper.from_array(numbers, f"s{number}"), numpy_helper.from_array(places, "at")
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(*stored, [9_000_000]))
    (tmp_path / "net.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(NetworkError, match="1800000006 entries"):
        read_network(tmp_path / "net.onnx")
