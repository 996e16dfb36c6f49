"""Small float graphs of every kind of node that is quantised, with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


@dataclass
class Graph:
    """Nodes one behind the other; `last` is the value that the next one reads."""

    shape: Sequence[int | str]
    seed: int
    outputs: int
    last: str = "x"
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def constant(self, value: NDArray[Any]) -> str:
        """A constant, real numbers in float32."""
        name = f"c{len(self.constants)}"
        stored = value.astype(np.float32) if value.dtype.kind == "f" else value
        self.constants.append(numpy_helper.from_array(stored, name))
        return name

    def then(self, kind: str, *given: str | NDArray[Any], **attributes: Any) -> Graph:
        """A node on the last value, other values and constants."""
        names = [one if isinstance(one, str) else self.constant(one) for one in given]
        made = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.last, *names], [made], name=f"n{made}", **attributes))
        self.last = made
        return self

    def drawn(self, *shape: int) -> NDArray[Any]:
        """Random weights."""
        return np.asarray(self.random.normal(size=shape) / np.sqrt(np.prod(shape[1:]) or 1.0))

    def model(self, opset: int = OPSET) -> onnx.ModelProto:
        """The graph as a model whose output is the last value."""
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(self.shape))
        answer = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, [self.shape[0], self.outputs])
        graph = helper.make_graph(self.nodes, "g", [given], [answer], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def dense() -> Graph:
    """Gemm and ReLU, with weights one way round and the other."""
    graph = Graph(("batch", 4), 1, 3)
    graph.then("Gemm", graph.drawn(6, 4), graph.drawn(6), transB=1).then("Relu")
    return graph.then("Gemm", graph.drawn(6, 3), graph.drawn(1, 3), beta=0.5)


def products() -> Graph:
    """MatMul, with an Add of a bias, without one, and in front of a Softmax."""
    graph = Graph((1, 4), 2, 3)
    graph.then("MatMul", graph.drawn(4, 5)).then("Add", graph.drawn(5)).then("Relu")
    graph.then("MatMul", graph.drawn(5, 5)).then("Tanh")
    return graph.then("MatMul", graph.drawn(5, 3)).then("Add", graph.drawn(3)).then("Softmax", axis=1)


def image() -> Graph:
    """Convolutions with normalisations in front and behind, pools, moved and flattened."""
    graph = Graph((1, 2, 6, 6), 3, 2)

    def normalised(channels: int) -> Graph:
        spread = graph.random.uniform(0.5, 2.0, channels)
        return graph.then("BatchNormalization", *(graph.drawn(channels) for _ in range(3)), spread)

    normalised(2).then("Conv", graph.drawn(3, 2, 3, 3), graph.drawn(3), pads=[1, 1, 1, 1])
    normalised(3).then("Relu").then("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    graph.then("Conv", graph.drawn(4, 3, 2, 2), strides=[1, 1]).then("Clip", np.array(0.0), np.array(1.5))
    graph.then("AveragePool", kernel_shape=[2, 2]).then("Transpose", perm=[0, 2, 3, 1]).then("Flatten")
    return graph.then("MatMul", graph.drawn(4, 2))


def normalised() -> Graph:
    """Normalisations behind a Gemm with a factor of its bias, with no bias at all, and behind a MatMul with an Add."""
    graph = Graph(("batch", 4), 7, 3)

    def behind(channels: int) -> Graph:
        spread = graph.random.uniform(0.5, 2.0, channels)
        return graph.then("BatchNormalization", *(graph.drawn(channels) for _ in range(3)), spread).then("Relu")

    graph.then("Gemm", graph.drawn(6, 4), graph.drawn(6), transB=1, beta=3.0)
    behind(6).then("Gemm", graph.drawn(6, 5), beta=0.25)
    behind(5).then("MatMul", graph.drawn(5, 4)).then("Add", graph.drawn(4))
    return behind(4).then("Gemm", graph.drawn(4, 3))


def branches() -> Graph:
    """Sums, differences and joins of values and constants."""
    graph = Graph(("batch", 3), 4, 2)
    graph.then("Sub", graph.drawn(3)).then("Div", np.array([2.0, 1e-3, 400.0]))
    first = graph.then("Gemm", graph.drawn(3, 3), graph.drawn(3)).then("Relu").last
    graph.then("Gemm", graph.drawn(3, 3), graph.drawn(3)).then("Add", first).then("Relu")
    graph.then("Concat", "x", axis=1).then("Mul", np.array(0.75))
    graph.then("Gemm", graph.drawn(6, 4), graph.drawn(4)).then("LeakyRelu", alpha=0.1)
    return graph.then("Gemm", graph.drawn(4, 2)).then("Add", np.array([0.25, -3.0]))


def sizes() -> Graph:
    """A Reshape to what a Shape says, as PyTorch exports a flattening."""
    graph = Graph((1, 2, 4, 4), 5, 2)
    graph.then("Conv", graph.drawn(2, 2, 3, 3)).then("Relu")
    pooled = graph.then("GlobalAveragePool").last
    rows = graph.then("Shape").then("Gather", np.array(0), axis=0).then("Unsqueeze", np.array([0])).last
    rest = graph.constant(np.array([-1]))
    graph.nodes.append(helper.make_node("Concat", [rows, rest], ["shape"], axis=0))
    graph.last = pooled
    return graph.then("Reshape", "shape").then("Gemm", graph.drawn(2, 2), graph.drawn(2)).then("Sigmoid")


def columns() -> Graph:
    """Weights in front of values that are columns."""
    graph = Graph((1, 3, 1), 6, 2)
    for outputs, inputs in ((4, 3), (2, 4)):
        weight = graph.constant(graph.drawn(outputs, inputs))
        made = f"v{len(graph.nodes)}"
        graph.nodes.append(helper.make_node("MatMul", [weight, graph.last], [made]))
        graph.last = made
        graph.then("Add", graph.drawn(outputs, 1)).then("Relu")
    return graph.then("Flatten")


def sequences() -> Graph:
    """MatMul of sequences, whose outputs lie along the last axis, with normalisations of their steps behind them."""
    graph = Graph((1, 4, 2), 8, 12)

    def behind(steps: int) -> Graph:
        spread = graph.random.uniform(0.5, 2.0, steps)
        return graph.then("BatchNormalization", *(graph.drawn(steps) for _ in range(3)), spread).then("Relu")

    graph.then("MatMul", graph.drawn(2, 4))
    behind(4).then("MatMul", graph.drawn(4, 3)).then("Add", graph.drawn(3))
    return behind(4).then("Flatten")


GRAPHS = {
    "dense": dense,
    "columns": columns,
    "products": products,
    "image": image,
    "normalised": normalised,
    "branches": branches,
    "sequences": sequences,
    "sizes": sizes,
}
