"""Files whose last operators differ: what exporters and people put behind a small network, one after the other.

A body (I inputs, a hidden layer, O scores) has weights that are eighths, and is followed by up to three endings, each
of one to three nodes: softmaxes, sigmoids, labels, casts, changes of shape, 1 - p beside p, choices of some scores,
steps and scalings. Beside the result stand other outputs at times: a label, the input, a constant. Most of it makes
sense, the rest is refused by onnxruntime and is no case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Random = np.random.Generator
Weights = tuple[NDArray[Any], ...]
STEPS = frozenset(
    ("Cast", "ArgMax", "ArgMin", "TopK", "Round", "Floor", "Sign", "Greater", "Less", "Equal", "Not", "Hardmax", "Mod")
)
"""Operators that jump, where a rounding of onnxruntime may be another number altogether."""
_REAL = (TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.FLOAT)
_WHOLE = (TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8)
_TYPES = (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE, *_REAL[:1], *_WHOLE)


@dataclass
class Graph:
    """A graph that is being written, `width` scores wide; the name of its last value goes from hand to hand."""

    rng: Random
    width: int
    nodes: list[NodeProto] = field(default_factory=list)
    stored: list[TensorProto] = field(default_factory=list)

    def put(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output."""
        return self.several(kind, 1, *inputs, **attributes)[0]

    def several(self, kind: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node."""
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def number(self, value: Any, kind: Any = np.float32) -> str:
        """A stored array, as an initialiser or as a node."""
        tensor = numpy_helper.from_array(np.asarray(value, kind), f"c{len(self.stored)}_{len(self.nodes)}")
        if self.rng.random() < 0.2:
            return self.put("Constant", value=tensor)
        self.stored.append(tensor)
        return tensor.name

    def one_of(self, *values: Any) -> Any:
        """One of some values."""
        return values[int(self.rng.integers(len(values)))]

    @property
    def axis(self) -> int:
        """The axis of the scores, by either of its numbers."""
        return int(self.one_of(-1, 1))


Ending = Callable[[Graph, str], str]


def _soft(g: Graph, x: str) -> str:
    chosen = {} if g.rng.random() < 0.4 else {"axis": g.axis if g.rng.random() < 0.8 else 0}
    return g.put(g.one_of("Softmax", "Softmax", "LogSoftmax"), x, **chosen)


def _plain(g: Graph, x: str) -> str:
    kinds = (
        "Identity",
        "Tanh",
        "Relu",
        "Neg",
        "Round",
        "Floor",
        "Sign",
        "Exp",
        "Sqrt",
        "Reciprocal",
        "Softplus",
        "Abs",
    )
    return g.put(g.one_of(*kinds, "HardSigmoid", "Dropout"), x)


def _cast(g: Graph, x: str) -> str:
    cast = g.put("Cast", x, to=g.one_of(*_REAL, *_WHOLE))
    return g.put("Cast", cast, to=TensorProto.FLOAT) if g.rng.random() < 0.7 else cast


def _scaled(g: Graph, x: str) -> str:
    numbers = g.rng.integers(-4, 5, g.width) / 2 if g.rng.random() < 0.4 else g.one_of(-2, -1, -0.5, 0.5, 1, 2, 0)
    given = [x, g.number(numbers)]
    kind = g.one_of("Mul", "Div", "Add", "Sub", "Max", "Min")
    return g.put(kind, *(given[::-1] if kind in ("Add", "Sub") and g.rng.random() < 0.5 else given))


def _label(g: Graph, x: str) -> str:
    if g.rng.random() < 0.4:
        found = g.several(
            "TopK", 2, x, g.number([g.rng.integers(1, g.width + 1)], np.int64), axis=-1, largest=g.one_of(0, 1)
        )
        x = g.one_of(*found)
    else:
        last = {"select_last_index": 1} if g.rng.random() < 0.3 else {}
        x = g.put(g.one_of("ArgMax", "ArgMin"), x, axis=g.axis, keepdims=g.one_of(0, 1), **last)
    return g.put("Cast", x, to=TensorProto.FLOAT) if g.rng.random() < 0.6 else x


def _shape(g: Graph, x: str) -> str:
    match g.one_of("Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze"):
        case "Transpose":
            return g.put("Transpose", x, perm=[1, 0])
        case "Reshape":
            return g.put("Reshape", x, g.number(g.one_of([-1], [1, -1], [-1, 1], [0, -1], [-1, g.width]), np.int64))
        case "Flatten":
            return g.put("Flatten", x, axis=g.one_of(0, 1))
        case kind:
            return g.put(kind, x, g.number([g.one_of(0, 1, -1)], np.int64))


def _both(g: Graph, x: str) -> str:
    other = g.put("Sub", g.number(1), x) if g.rng.random() < 0.6 else g.put(g.one_of("Neg", "Sigmoid"), x)
    return g.put("Concat", *((other, x) if g.rng.random() < 0.6 else (x, other)), axis=g.axis)


def _chosen(g: Graph, x: str) -> str:
    if g.rng.random() < 0.5:
        places = g.rng.integers(0, g.width, int(g.rng.integers(1, 4)))
        return g.put("Gather", x, g.number(places, np.int64), axis=g.axis)
    ends = ([g.rng.integers(0, 2)], [g.one_of(1, 2, 3, 100, -1)], [1])
    return g.put("Slice", x, *(g.number(end, np.int64) for end in ends))


def _test(g: Graph, x: str) -> str:
    limit = g.number(g.one_of(0, 0.5, 1))
    if g.rng.random() < 0.3:
        test = g.put("Greater", x, limit)
        return g.put("Where", test, g.one_of(x, g.number(1)), g.one_of(x, g.number(0)))
    test = g.put(g.one_of("Greater", "Less", "Equal"), x, limit)
    if g.rng.random() < 0.2:
        test = g.put("Not", test)
    return g.put("Cast", test, to=TensorProto.FLOAT) if g.rng.random() < 0.8 else test


def _normalised(g: Graph, x: str) -> str:
    match g.one_of("ReduceSum", "ReduceMax", "ReduceL2", "less"):
        case "ReduceSum":
            return g.put("Div", x, g.put("ReduceSum", x, g.number([g.axis], np.int64), keepdims=1))
        case "less":
            return g.put("Sub", x, g.put("ReduceMax", x, keepdims=1))
        case kind:
            return g.put("Div", x, g.put(kind, x, keepdims=1))


def _halves(g: Graph, x: str) -> str:
    cut = int(g.rng.integers(1, max(g.width, 2)))
    first, second = g.several("Split", 2, x, g.number([cut, g.width - cut], np.int64), axis=g.axis)
    if g.rng.random() < 0.4:
        return first
    if g.rng.random() < 0.5:
        first, second = g.put("Softmax", first, axis=-1), g.put("Softmax", second, axis=-1)
    return g.put("Concat", second, first, axis=g.axis)


def _rest(g: Graph, x: str) -> str:
    match g.one_of("Clip", "Pow", "Mod", "Hardmax", "Log"):
        case "Clip":
            low, high = sorted(g.rng.integers(-4, 5, 2) / 2)
            return g.put("Clip", x, g.number(low), g.number(high))
        case "Pow":
            return g.put("Pow", x, g.number(g.one_of(2, 3, 0.5, 1)))
        case "Mod":
            return g.put("Mod", x, g.number(2), fmod=1)
        case "Hardmax":
            return g.put("Hardmax", x, axis=g.axis)
        case _:
            return g.put("Log", g.put("Add", x, g.number(g.one_of(0, 1))))


def _sigmoid(g: Graph, x: str) -> str:
    return g.put("Sigmoid", x)


ENDINGS: tuple[Ending, ...] = (
    _soft, _soft, _soft, _sigmoid, _sigmoid, _plain, _plain, _cast, _cast, _scaled, _scaled, _label, _shape, _shape,
    _both, _chosen, _test, _normalised, _halves, _rest,
)  # fmt: skip


HANDED_ON: tuple[Ending, ...] = (_cast, _cast, _shape, _both, _chosen, _test, _rest)
"""What stands behind probabilities; readers see through some of it."""


def endings(rng: Random, length: int) -> list[Ending]:
    """So many at random; half of them are what readers know, probabilities, and what may stand behind these."""
    if length < 2 or rng.random() < 0.5:
        return [ENDINGS[int(rng.integers(len(ENDINGS)))] for _ in range(length)]
    first = (_sigmoid, _soft)[int(rng.integers(2))]
    return [first, *(HANDED_ON[int(rng.integers(len(HANDED_ON)))] for _ in range(length - 1))]


@dataclass(frozen=True)
class File:
    """A model, how onnxruntime runs it without its optimiser, and what is known of its result."""

    model: ModelProto
    session: onnxruntime.InferenceSession
    result: str
    size: int
    kinds: tuple[str, ...]

    def at(self, point: NDArray[Any]) -> NDArray[np.float64]:
        """The result at a point, one number behind the other."""
        return np.asarray(self.session.run([self.result], {"x": point})[0], np.float64).ravel()


def weights(rng: Random, inputs: int, outputs: int) -> Weights:
    """The two layers of a body."""
    hidden = int(rng.integers(1, 5))
    shapes = ((inputs, hidden), (hidden,), (hidden, outputs), (outputs,))
    return tuple((rng.integers(-8, 9, shape) / 8).astype(np.float32) for shape in shapes)


def write(rng: Random, layers: Weights, length: int, opset: int) -> File | None:
    """A file, or None where onnxruntime does not run it."""
    g = Graph(rng, len(layers[3]))
    hidden = g.put("Relu", g.put("Gemm", "x", g.number(layers[0]), g.number(layers[1])))
    body = value = g.put("Gemm", hidden, g.number(layers[2]), g.number(layers[3]))
    for ending in endings(rng, length):
        value = ending(g, value)
    beside: list[tuple[str, int]] = []
    if rng.random() < 0.2:
        beside.append(g.one_of((g.put("ArgMax", body, axis=1), TensorProto.INT64), (g.put("Identity", "x"), 1)))
    first = bool(rng.random() < 0.5)
    batch = g.one_of(1, 1, "N")
    for kind in _TYPES:
        others = [helper.make_tensor_value_info(name, other, None) for name, other in beside]
        shape: tuple[int, ...] | None = None
        for _ in range(2):  # once to see the shape, once with it
            told = [helper.make_tensor_value_info(value, kind, shape)]
            entry = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, layers[0].shape[0]])]
            graph = helper.make_graph(g.nodes, "g", entry, others + told if first else told + others, g.stored)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
            session, complaint = _session(model)
            if session is None:
                break
            try:
                found = session.run([value], {"x": np.zeros((1, layers[0].shape[0]), np.float32)})[0]
            except Exception:  # its exceptions have no common class
                return None
            shape = found.shape if batch == 1 else None
        if session is not None:
            return File(model, session, value, int(found.size), tuple(node.op_type for node in g.nodes))
        if "Type Error" not in complaint and "does not match expected type" not in complaint:
            return None
    return None


def _session(model: ModelProto) -> tuple[onnxruntime.InferenceSession | None, str]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    content = model.SerializeToString()
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]), ""
    except Exception as error:  # its exceptions have no common class
        return None, str(error)
