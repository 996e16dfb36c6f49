"""Small convolutional networks as plain data, as ONNX files, and changed as their users change them.

A `Model` is a list of layers over one example of shape (channels, *positions). `to_onnx` writes it as exporters do,
with BatchNormalization as a node of its own or folded into the convolution before it. The changes are those that leave
a network almost or exactly as it was: weights on a grid of 8 bits, weights cut, channels in another order. Weights are
float64 here and float32 in files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float64]
Kind = Literal["plain", "separable", "pool", "residual"]
KINDS: tuple[Kind, ...] = ("plain", "separable", "pool", "residual")
FUNCTIONS = ("relu", "leaky", "relu6", "hardtanh", "hardsigmoid", "abs")
SMOOTH = ("sigmoid", "tanh", "softplus", "elu", "silu", "gelu", "hardswish")
SLOPE, ALPHA, BETA = 0.1, 1 / 6, 0.5
"""Of the leaky ReLU, and of the hard sigmoid max(0, min(1, ALPHA x + BETA))."""
OPSET, IR_VERSION = 17, 8
VARIANCE_EPSILON = 1e-5


@dataclass(eq=False)
class Conv:
    """`weight` (outputs, inputs of a group, *kernel); the same stride and padding along every axis."""

    weight: Array
    bias: Array | None = None
    stride: int = 1
    padding: int = 0
    groups: int = 1


@dataclass(eq=False)
class Dense:
    """`weight` (outputs, inputs)."""

    weight: Array
    bias: Array


@dataclass(eq=False)
class Norm:
    """BatchNormalization; `mean` and `variance` are the running ones."""

    scale: Array
    shift: Array
    mean: Array
    variance: Array


@dataclass(frozen=True)
class Function:
    """One of FUNCTIONS or SMOOTH, elementwise."""

    name: str


@dataclass(frozen=True)
class Pool:
    """Two by two with stride two, or the mean of all positions."""

    kind: Literal["max", "average", "global"]


@dataclass(frozen=True)
class Flatten:
    """(channels, *positions) to one axis."""


@dataclass(eq=False)
class Residual:
    """x + body(x)."""

    body: list[Layer]


Layer = Conv | Dense | Norm | Function | Pool | Flatten | Residual


@dataclass(eq=False)
class Model:
    """Layers, and the shape of one example."""

    layers: list[Layer]
    shape: tuple[int, ...] = (1, 8, 8)


def initialise(kind: Kind, function: str, rng: np.random.Generator, width: int = 8) -> Model:
    """Untrained weights for 8 x 8 images of ten classes; `width` channels, and twice as many after the first layers."""
    act, wide = Function(function), 2 * width
    layers: list[Layer]
    match kind:
        case "plain":
            layers = [_conv(rng, 1, width), act, _conv(rng, width, wide, stride=2), act, Flatten()]
            layers += [_dense(rng, 16 * wide, 4 * width), act, _dense(rng, 4 * width, 10)]
        case "separable":
            layers = [_conv(rng, 1, width, bias=False), _norm(width), act]
            layers += [_conv(rng, width, width, groups=width, bias=False), _conv(rng, width, wide, size=1, bias=False)]
            layers += [_norm(wide), act, Pool("average"), Flatten(), _dense(rng, 16 * wide, 10)]
        case "pool":
            layers = [_conv(rng, 1, width), act, Pool("max"), _conv(rng, width, wide, bias=False), _norm(wide), act]
            layers += [Flatten(), _dense(rng, 16 * wide, 10)]
        case "residual":
            block: list[Layer] = [_conv(rng, width, width, bias=False), _norm(width), act]
            block += [_conv(rng, width, width, bias=False), _norm(width)]
            layers = [_conv(rng, 1, width, bias=False), _norm(width), act, Residual(block), act]
            layers += [_conv(rng, width, wide, stride=2), act, Pool("global"), Flatten(), _dense(rng, wide, 10)]
    return Model(layers)


def tagger(rng: np.random.Generator) -> Model:
    """A convolution over ten particles of four features each, five classes: the shape of small jet taggers."""
    layers: list[Layer] = [_conv(rng, 4, 8, axes=1), Function("relu"), _conv(rng, 8, 6, axes=1, stride=2)]
    layers += [Function("relu"), Flatten(), _dense(rng, 30, 12), Function("relu"), _dense(rng, 12, 5)]
    return Model(layers, (4, 10))


def settle(model: Model, rng: np.random.Generator) -> Model:
    """The statistics of normalisations as they are after some training: neither 0 nor 1."""

    def settled(norm: Norm) -> Norm:
        size = norm.scale.size
        return Norm(
            rng.uniform(0.7, 1.3, size),
            rng.normal(0, 0.2, size),
            rng.normal(0, 0.2, size),
            rng.uniform(0.4, 1.5, size),
        )

    return replace(model, layers=_mapped(model.layers, lambda x: settled(x) if isinstance(x, Norm) else x))


def _conv(
    rng: np.random.Generator,
    inputs: int,
    outputs: int,
    *,
    size: int = 3,
    stride: int = 1,
    groups: int = 1,
    bias: bool = True,
    axes: int = 2,
) -> Conv:
    shape = (outputs, inputs // groups, *(size,) * axes)
    weight = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))
    return Conv(weight, 0.1 * rng.normal(size=outputs) if bias else None, stride, size // 2, groups)


def _dense(rng: np.random.Generator, inputs: int, outputs: int) -> Dense:
    return Dense(rng.normal(size=(outputs, inputs)) * np.sqrt(2 / inputs), 0.1 * rng.normal(size=outputs))


def _norm(channels: int) -> Norm:
    return Norm(np.ones(channels), np.zeros(channels), np.zeros(channels), np.ones(channels))


def _mapped(layers: Sequence[Layer], change: Callable[[Layer], Layer]) -> list[Layer]:
    return [Residual(_mapped(x.body, change)) if isinstance(x, Residual) else change(x) for x in layers]


def copied(model: Model) -> Model:
    """The same with arrays of its own."""

    def copy(layer: Layer) -> Layer:
        fields = {k: v.copy() for k, v in vars(layer).items() if isinstance(v, np.ndarray)}
        return replace(layer, **fields) if fields else layer  # type: ignore[arg-type]

    return replace(model, layers=_mapped(model.layers, copy))


def folded(model: Model) -> Model:
    """Every normalisation in the convolution before it, in the float32 that exporters fold in."""

    def fold(layers: Sequence[Layer]) -> list[Layer]:
        done: list[Layer] = []
        for layer in layers:
            if isinstance(layer, Residual):
                done.append(Residual(fold(layer.body)))
            elif isinstance(layer, Norm):
                before = done.pop()
                assert isinstance(before, Conv)
                parts = [x.astype(np.float32) for x in (layer.scale, layer.shift, layer.mean, layer.variance)]
                factor = parts[0] / np.sqrt(parts[3] + np.float32(VARIANCE_EPSILON))
                weight = before.weight.astype(np.float32) * factor.reshape(-1, *(1,) * (before.weight.ndim - 1))
                bias = np.float32(0) if before.bias is None else before.bias.astype(np.float32)
                shift = (bias - parts[2]) * factor + parts[1]
                done.append(replace(before, weight=weight.astype(np.float64), bias=shift.astype(np.float64)))
            else:
                done.append(layer)
        return done

    return replace(model, layers=fold(model.layers))


def on_a_grid(model: Model, bits: int = 8) -> Model:
    """Every weight rounded to a grid of its tensor, as quantisers do it; biases stay."""

    def rounded(layer: Layer) -> Layer:
        if not isinstance(layer, Conv | Dense):
            return layer
        weight = layer.weight.astype(np.float32).astype(np.float64)
        step = np.abs(weight).max() / (2 ** (bits - 1) - 1)
        return replace(layer, weight=np.round(weight / step) * step)

    return replace(model, layers=_mapped(model.layers, rounded))


def permuted(model: Model, rng: np.random.Generator) -> Model:
    """All hidden channels and neurons in another order; the same function."""
    last = next(x for x in reversed(model.layers) if isinstance(x, Dense))

    def walk(layers: Sequence[Layer], order: NDArray[np.intp], end: NDArray[np.intp] | None) -> Any:
        final = max((i for i, x in enumerate(layers) if isinstance(x, Conv)), default=-1) if end is not None else -1
        done: list[Layer] = []
        for index, layer in enumerate(layers):
            match layer:
                case Conv():
                    if layer.groups == 1:
                        layer = replace(layer, weight=layer.weight[:, order])
                        chosen = end if index == final else None
                        order = rng.permutation(len(layer.weight)) if chosen is None else chosen
                    bias = None if layer.bias is None else layer.bias[order]
                    done.append(replace(layer, weight=layer.weight[order], bias=bias))
                case Dense():
                    weight = layer.weight
                    places = weight.shape[1] // len(order)
                    weight = weight[:, (order[:, None] * places + np.arange(places)).ravel()]
                    order = np.arange(len(weight)) if layer is last else rng.permutation(len(weight))
                    done.append(Dense(weight[order], layer.bias[order]))
                case Norm():
                    done.append(Norm(*(x[order] for x in (layer.scale, layer.shift, layer.mean, layer.variance))))
                case Residual():
                    done.append(Residual(walk(layer.body, order, order)[0]))
                case _:
                    done.append(layer)
        return done, order

    return replace(model, layers=walk(model.layers, np.arange(model.shape[0]), None)[0])


def write(model: Model, path: Path) -> Path:
    """The model as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_onnx(model).SerializeToString())
    return path


def to_onnx(model: Model) -> onnx.ModelProto:
    """The model with a symbolic batch, float32 throughout."""
    writer = _Writer()
    value = writer.layers(model.layers, "image", len(model.shape) - 1)
    writer.nodes[-1].output[0] = "scores"
    assert value != "scores"
    outputs = [x for x in model.layers if isinstance(x, Dense)][-1].bias.size
    graph = helper.make_graph(
        writer.nodes,
        "model",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", *model.shape])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", outputs])],
        writer.tensors,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eqspec-tests")
    made.ir_version = IR_VERSION
    onnx.checker.check_model(made, full_check=True)
    return made


@dataclass
class _Writer:
    """Nodes and tensors so far."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)
    number: Any = field(default_factory=count)

    def layers(self, layers: Sequence[Layer], value: str, axes: int) -> str:
        for layer in layers:
            value = self.layer(layer, value, axes)
        return value

    def layer(self, layer: Layer, value: str, axes: int) -> str:
        match layer:
            case Conv():
                fields = {"strides": [layer.stride] * axes, "pads": [layer.padding] * 2 * axes, "group": layer.groups}
                return self.node("Conv", [value, *self.store(layer.weight, layer.bias)], **fields)
            case Dense():
                return self.node("Gemm", [value, *self.store(layer.weight, layer.bias)], transB=1)
            case Norm():
                stored = self.store(layer.scale, layer.shift, layer.mean, layer.variance)
                return self.node("BatchNormalization", [value, *stored], epsilon=VARIANCE_EPSILON)
            case Residual():
                return self.node("Add", [self.layers(layer.body, value, axes), value])
            case Flatten():
                return self.node("Flatten", [value], axis=1)
            case Pool(kind="global"):
                return self.node("GlobalAveragePool", [value])
            case Pool():
                kind = "MaxPool" if layer.kind == "max" else "AveragePool"
                return self.node(kind, [value], kernel_shape=[2] * axes, strides=[2] * axes)
            case Function():
                return self.function(layer.name, value)

    def function(self, name: str, value: str) -> str:
        match name:
            case "relu" | "abs":
                return self.node(name.capitalize(), [value])
            case "leaky":
                return self.node("LeakyRelu", [value], alpha=SLOPE)
            case "hardsigmoid":
                return self.node("HardSigmoid", [value], alpha=ALPHA, beta=BETA)
            case "sigmoid" | "tanh" | "softplus" | "elu":
                return self.node(name.capitalize(), [value])
            case "silu":
                return self.node("Mul", [value, self.node("Sigmoid", [value])])
            case "hardswish":
                return self.node("HardSwish", [value])
            case "gelu":  # as exporters wrote it before there was an operator for it
                scaled = self.node("Div", [value, *self.store(np.sqrt(2))])
                raised = self.node("Add", [self.node("Erf", [scaled]), *self.store(np.array(1))])
                return self.node("Mul", [self.node("Mul", [value, raised]), *self.store(np.array(0.5))])
            case _:
                ends = (0.0, 6.0) if name == "relu6" else (-1.0, 1.0)
                return self.node("Clip", [value, *self.store(*map(np.array, ends))])

    def store(self, *arrays: Array | None) -> list[str]:
        kept = [
            numpy_helper.from_array(np.asarray(x, np.float32), f"t{next(self.number)}") for x in arrays if x is not None
        ]
        self.tensors += kept
        return [tensor.name for tensor in kept]

    def node(self, kind: str, inputs: Sequence[str], **fields: Any) -> str:
        name = f"v{next(self.number)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **fields))
        return name
