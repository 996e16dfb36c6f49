"""Small random graphs of operators that networks of images are made of, and what the auditor reads in them."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.audit.functions import behind
from eqspec.audit.reading import INPUTS, File, Number
from eqspec.audit.reading.program import Step
from eqspec.audit.reading.tiles import exactly
from eqspec.audit.reading.value import CONSTANT

Array = NDArray[Any]


class Graph:
    """Nodes one after the other, over a value (1, C, H, W); weights are multiples of 1/8."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        self.rng, self.given, self.shape, self.now = rng, shape, shape, "x"
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {}

    def constant(self, *shape: int, values: Array | None = None) -> str:
        name = f"c{len(self.constants)}"
        made = np.round(8 * self.rng.normal(size=shape)) / 8 if values is None else values
        self.constants[name] = np.asarray(made, np.float32 if made.dtype.kind == "f" else made.dtype)
        return name

    def add(self, kind: str, *more: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.now, *more], [name], name=f"{kind}_{name}", **attributes))
        self.now = name
        return name

    def conv(self, out: int | None = None) -> None:
        """Of the same size, or smaller; with groups where they divide."""
        channels, out = self.shape[1], out or int(self.rng.integers(1, 4)) * 2
        groups = int(self.rng.choice([g for g in (1, 2, channels) if channels % g == 0 and out % g == 0]))
        stride = int(self.rng.choice([1, 1, 2])) if min(self.shape[2:]) > 3 else 1
        names = [self.constant(out, channels // groups, 3, 3)] + (
            [self.constant(out)] if self.rng.random() < 0.7 else []
        )
        self.add("Conv", *names, pads=[1] * 4, strides=[stride] * 2, group=groups)
        self.shape = (1, out, *(-(-n // stride) for n in self.shape[2:]))

    def normal(self) -> None:
        c = self.shape[1]
        scale, shift, mean = (self.constant(c) for _ in range(3))
        self.add("BatchNormalization", scale, shift, mean, self.constant(values=np.abs(self.rng.normal(size=c)) + 0.25))

    def bend(self) -> None:
        kind = str(self.rng.choice(["Relu", "Relu", "Relu", "LeakyRelu", "Clip", "Abs", "PRelu", "HardSigmoid"]))
        if kind == "Clip":
            self.add(kind, *(self.constant(values=np.array(v)) for v in (-0.5, 1.25)))
        elif kind == "PRelu":
            self.add(kind, self.constant(self.shape[1], 1, 1))
        else:
            self.add(kind, **({"alpha": 0.125} if kind == "LeakyRelu" else {}))

    def pool(self) -> None:
        if min(self.shape[2:]) < 4:
            return
        if self.rng.random() < 0.5:
            self.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
        else:
            self.add("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
        self.shape = (*self.shape[:2], *(n // 2 for n in self.shape[2:]))

    def residual(self) -> None:
        """A block beside a way around it."""
        around, shape = self.now, self.shape
        self.bend()
        groups = self.shape[1]
        self.add("Conv", self.constant(groups, groups, 3, 3), pads=[1] * 4)
        self.add(str(self.rng.choice(["Add", "Sub"])), around)
        self.shape = shape

    def joined(self) -> None:
        """Two parts of the channels, one behind the other in another order, with the larger of both."""
        first = self.now
        self.bend()
        self.add("Concat", first, axis=1)
        self.shape = (1, 2 * self.shape[1], *self.shape[2:])

    def model(self, outputs: int) -> onnx.ModelProto:
        """With a matrix at the end."""
        self.add("Flatten")
        self.add("Gemm", self.constant(outputs, prod(self.shape)), self.constant(outputs), transB=1)
        value = helper.make_tensor_value_info
        stored = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(
            self.nodes,
            "g",
            [value("x", TensorProto.FLOAT, self.given)],
            [value(self.now, TensorProto.FLOAT, None)],
            stored,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def random_graph(rng: np.random.Generator, size: int = 5, outputs: int = 3, blocks: int = 3) -> onnx.ModelProto:
    """Of some blocks."""
    graph = Graph(rng, (1, 2, size, size))
    graph.conv()
    for _ in range(blocks):
        getattr(graph, str(rng.choice(["conv", "normal", "bend", "pool", "residual", "joined"])))()
    graph.bend()
    return graph.model(outputs)


def nudged(model: onnx.ModelProto, rng: np.random.Generator, off: float) -> onnx.ModelProto:
    """The same with other kernels and matrices by about so much; functions stay as they are."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    for tensor in other.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.ndim in (2, 4):
            moved = array + off * rng.normal(size=array.shape)
            tensor.CopyFrom(numpy_helper.from_array(moved.astype(np.float32), tensor.name))
    return other


def read(model: onnx.ModelProto, outputs: int, kind: type[Number] = Number) -> File:
    """As the auditor reads it, over inputs of at most 1."""
    size = prod(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
    one, none = ((Fraction(c),) * size for c in (1, 0))
    return File("m.onnx", model.SerializeToString(), kind, one, none, (1.0,) * size, False, outputs)


def trace(steps: list[Step], point: list[Fraction]) -> list[Array]:
    """Exact values of every step before its function, of numbers without roots."""
    values: dict[int, Array] = {INPUTS: np.array(point, object), CONSTANT: np.array([Fraction(1)], object)}
    found = []
    for number, step in enumerate(steps):
        total = np.full(step.value.size, Fraction(0), object)
        for part in step.value.parts:
            kernels, _ = exactly(part.kernels)
            weights = np.frompyfunc(Fraction, 1, 1)(kernels) if kernels.dtype != object else kernels
            some = np.append(values[part.source], np.array([Fraction(0)], object))[part.index]
            total[part.rows] += (np.asarray(weights, object)[part.kind] * some).sum(axis=1)
        found.append(total)
        values[number] = behind(step.curves, total, total)[0] if step.curves else total
    return found


def task_of(folder: Path, first: onnx.ModelProto, second: onnx.ModelProto, radius: Fraction, eps: Fraction) -> Any:
    """That two graphs differ by at most so much on a box around 0, as the auditor is asked; their files are written."""
    size = prod(d.dim_value for d in first.graph.input[0].type.tensor_type.shape.dim)
    asked: dict[str, Any] = {"schema": "eqspec-task/1", "id": "graphs"}
    for role, proto in (("reference", first), ("candidate", second)):
        content = proto.SerializeToString()
        (folder / f"{role}.onnx").write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        asked[role] = {"path": f"{role}.onnx", "sha256": digest, "takes": "normalised", "gives": "logits", "name": role}
    outputs = numpy_helper.to_array(first.graph.initializer[-1]).size
    asked["space"] = {
        "features": [f"x{i}" for i in range(size)],
        "outputs": [f"y{o}" for o in range(outputs)],
        "mean_exact": ["0"] * size,
        "std_exact": ["1"] * size,
    }
    ends = {"lo_exact": [str(-radius)] * size, "hi_exact": [str(radius)] * size}
    asked["region"] = ends | {"A": [], "b": [], "strict": []}
    asked["property"] = {"kind": "epsilon", "decide": "max", "eps": str(eps), "norm": "linf", "outputs": None}
    return asked
