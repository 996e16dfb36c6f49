"""Pairs of networks of ordinary size and of all kinds, as ONNX files: what `hunt.transformed` asks questions about.

Weights are multiples of 2^-10, so that rows may be scaled by powers of two and taken apart without rounding. The files
that onnxruntime's `quantize_static` makes have any scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from oracle.pairs import Random

Array = NDArray[Any]
QONNX = "qonnx.custom_op.general"
KINDS = (
    "dense", "dense", "convolution", "convolution", "residual", "smooth", "int8", "int8 convolution", "qonnx", "inputs",
    "softmax",
)  # fmt: skip


@dataclass
class Writer:
    """A graph while it is written."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    stored: list[TensorProto] = field(default_factory=list)

    def store(self, array: Any, kind: type = np.float32) -> str:
        """The name of stored numbers."""
        name = f"c{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.array(array, kind), name))
        return name

    def node(self, operator: str, *asked: str, domain: str = "", **given: Any) -> str:
        """The name of what a node gives."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(asked), [name], name=f"n_{name}", domain=domain, **given))
        return name

    def dense(self, x: str, weight: Array, bias: Array) -> str:
        """A Gemm of stored weights (outputs, inputs)."""
        return self.node("Gemm", x, self.store(weight), self.store(bias), transB=1)

    def model(self, inputs: Sequence[tuple[str, tuple[int, ...]]], result: str, outputs: int) -> onnx.ModelProto:
        """The file."""
        self.nodes.append(helper.make_node("Identity", [result], ["y"], name="n_y"))
        floats = TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info(name, floats, shape) for name, shape in inputs],
            [helper.make_tensor_value_info("y", floats, (1, outputs))],
            self.stored,
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 13)]
        if any(node.domain == QONNX for node in self.nodes):
            opsets.append(helper.make_opsetid(QONNX, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


Weights = list[tuple[Array, Array]]


@dataclass(frozen=True)
class Pair:
    """Two files of one kind, how many inputs and outputs they have, and how the second was made of the first."""

    kind: str
    f: onnx.ModelProto
    g: onnx.ModelProto
    inputs: int
    outputs: int
    change: str


def _dyadic(array: Array) -> Array:
    multiples: Array = np.rint(array * 1024) / 1024
    return multiples


def _layer(rng: Random, *shape: int) -> tuple[Array, Array]:
    size = np.sqrt(2 / int(np.prod(shape[1:])))
    return _dyadic(rng.normal(0, size, shape)), _dyadic(rng.normal(0, 0.2, shape[0]))


def _changed(rng: Random, layers: Weights) -> tuple[Weights, str]:
    """Other weights near these, and how they came about."""
    change = str(rng.choice(["rounded", "pruned", "noise", "noise", "one"]))
    changed = []
    at = int(rng.integers(len(layers)))
    for place, (weight, bias) in enumerate(layers):
        if change == "rounded":
            step = 2.0 ** -int(rng.integers(4, 8))
            weight, bias = np.rint(weight / step) * step, np.rint(bias / step) * step
        elif change == "pruned":
            weight = np.where(np.abs(weight) < np.quantile(np.abs(weight), 0.15), 0, weight)
        elif change == "noise":
            weight = weight + _dyadic(rng.normal(0, 0.01, weight.shape))
        elif place == at:
            weight = weight.copy()
            weight.flat[int(rng.integers(weight.size))] += 1 / 16
        changed.append((weight, bias))
    return changed, change


def _dense(layers: Weights, activation: str = "Relu", soft: bool = False) -> onnx.ModelProto:
    writer, x = Writer(), "x"
    for place, (weight, bias) in enumerate(layers):
        x = writer.dense(x, weight, bias)
        if place < len(layers) - 1:
            x = writer.node(activation, x)
    if soft:
        x = writer.node("Softmax", x, axis=-1)
    return writer.model([("x", (1, layers[0][0].shape[1]))], x, len(layers[-1][1]))


def _residual(layers: Weights) -> onnx.ModelProto:
    writer = Writer()
    x = writer.node("Relu", writer.dense("x", *layers[0]))
    for first, second in zip(layers[1:-1:2], layers[2:-1:2], strict=True):
        inner = writer.dense(writer.node("Relu", writer.dense(x, *first)), *second)
        x = writer.node("Relu", writer.node("Add", x, inner))
    return writer.model([("x", (1, layers[0][0].shape[1]))], writer.dense(x, *layers[-1]), len(layers[-1][1]))


def _convolution(layers: Weights, pooled: str | None, side: int) -> onnx.ModelProto:
    writer, x = Writer(), "x"
    (first, second, last), channels = layers, layers[0][0].shape[1]
    x = writer.node("Conv", x, writer.store(first[0]), writer.store(first[1]), kernel_shape=[3, 3], pads=[1] * 4)
    x = writer.node("Relu", x)
    if pooled is None:
        more: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
        x = writer.node("Relu", writer.node("Conv", x, *map(writer.store, second), **more))
    else:
        x = writer.node(pooled, x, kernel_shape=[2, 2], strides=[2, 2])
        x = writer.node("Relu", writer.node("Conv", x, *map(writer.store, second), kernel_shape=[3, 3], pads=[1] * 4))
    x = writer.dense(writer.node("Flatten", x), *last)
    return writer.model([("x", (1, channels, side, side))], x, len(last[1]))


def _several(layers: Weights) -> onnx.ModelProto:
    writer = Writer()
    (first, second, middle, last) = layers
    a = writer.node("Relu", writer.dense("a", *first))
    b = writer.node("Relu", writer.dense("b", *second))
    x = writer.node("Relu", writer.dense(writer.node("Concat", a, b, axis=1), *middle))
    sizes = [("a", (1, first[0].shape[1])), ("b", (1, second[0].shape[1]))]
    return writer.model(sizes, writer.dense(x, *last), len(last[1]))


def _qonnx(layers: Weights, bits: int, scale: float) -> onnx.ModelProto:
    writer, x = Writer(), "x"
    zero, width = writer.store(0.0), writer.store(float(bits))

    def quant(x: str, scale: float, signed: int) -> str:
        more = {"signed": signed, "narrow": 0, "rounding_mode": "ROUND"}
        return writer.node("Quant", x, writer.store(scale), zero, width, domain=QONNX, **more)

    for place, (weight, bias) in enumerate(layers):
        stored = quant(writer.store(weight.T), 2.0 ** (2 - bits), 1)
        x = writer.node("Add", writer.node("MatMul", x, stored), writer.store(bias))
        if place < len(layers) - 1:
            x = quant(writer.node("Relu", x), scale, 0)
    return writer.model([("x", (1, layers[0][0].shape[1]))], x, len(layers[-1][1]))


class _Rows(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, model: onnx.ModelProto, seed: int) -> None:
        (asked,) = model.graph.input
        sizes = [d.dim_value for d in asked.type.tensor_type.shape.dim]
        rng = np.random.default_rng(seed)
        self.rows = iter([{asked.name: rng.normal(0, 1, sizes).astype(np.float32)} for _ in range(24)])

    def get_next(self) -> Any:
        return next(self.rows, None)


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="hunt-quantised-")


def quantised(model: onnx.ModelProto, per_channel: bool, seed: int) -> onnx.ModelProto:
    """What `quantize_static` makes of a file."""
    given, made = Path(_folder().name, "float.onnx"), Path(_folder().name, "int8.onnx")
    onnx.save(model, given)
    quantize_static(
        given, made, _Rows(model, seed), quant_format=QuantFormat.QDQ, per_channel=per_channel,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    return onnx.load(made)


def _sizes(rng: Random, inputs: int, outputs: int) -> list[int]:
    return [inputs, *(int(n) for n in rng.integers(8, 33, int(rng.integers(1, 4)))), outputs]


def kind_of(rng: Random) -> str:
    """The kind of the files that `pair_of` draws."""
    return str(rng.choice(KINDS))


def pair_of(rng: Random) -> Pair:
    """Two files at random."""
    kind = kind_of(rng)
    inputs, outputs = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    sizes = _sizes(rng, inputs, outputs)
    shapes: list[tuple[int, ...]] = [(b, a) for a, b in pairwise(sizes)]
    build: Callable[[Weights], onnx.ModelProto] = _dense
    if "convolution" in kind:
        channels, side, pooled = int(rng.integers(1, 3)), int(rng.integers(5, 8)), None
        if rng.random() < 0.5:
            pooled, side = str(rng.choice(["MaxPool", "AveragePool"])), 6
        after = 3 if pooled is not None else (side - 3) // 2 + 1
        wide = [int(n) for n in rng.integers(2, 5, 2)]
        shapes = [(wide[0], channels, 3, 3), (wide[1], wide[0], 3, 3), (outputs, wide[1] * after * after)]
        inputs, build = channels * side * side, lambda layers: _convolution(layers, pooled, side)
    elif kind == "residual":
        width = int(rng.integers(6, 17))
        shapes = [(width, inputs), *[(width, width)] * 2 * int(rng.integers(1, 3)), (outputs, width)]
        build = _residual
    elif kind == "smooth":
        activation = str(rng.choice(["Tanh", "Sigmoid", "Softplus"]))
        sizes = [inputs, *(min(n, 16) for n in sizes[1:-1][:2]), outputs]
        shapes = [(b, a) for a, b in pairwise(sizes)]
        build = lambda layers: _dense(layers, activation)  # noqa: E731
    elif kind == "softmax":
        build = lambda layers: _dense(layers, soft=True)  # noqa: E731
    elif kind == "inputs":
        first = int(rng.integers(1, inputs))
        a, b, c = (int(n) for n in rng.integers(6, 17, 3))
        shapes, build = [(a, first), (b, inputs - first), (c, a + b), (outputs, c)], _several
    elif kind == "qonnx":
        bits, scale = int(rng.integers(3, 7)), 2.0 ** -int(rng.integers(1, 5))
        build = lambda layers: _qonnx(layers, bits, scale)  # noqa: E731
    layers = [_layer(rng, *shape) for shape in shapes]
    other, change = _changed(rng, layers)
    f, g = build(layers), build(other)
    if kind.startswith("int8"):
        per_channel, seed = bool(rng.random() < 0.5), int(rng.integers(1 << 30))
        if rng.random() < 0.5:
            f, change = quantised(f, per_channel, seed), f"both int8, {change}"
        else:
            g, change = f, "int8"
        g = quantised(g, per_channel, seed)
    return Pair(kind, f, g, inputs, outputs, change)
