"""What ONNX files give at many points at once, by the definition of their operators: in rationals, or in float64.

It shares nothing with eqspec. The first size of every tensor that depends on the input is one in the file, and the
number of points here. Numbers are exact where `exact` asks for rationals, which functions such as Tanh have no use for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]
Attributes = Mapping[str, Any]
SMOOTH = {"Tanh", "Sigmoid", "Softplus", "Softmax", "Gelu"}
"""Operators that give no rationals."""


@dataclass(frozen=True)
class Given:
    """All outputs of a file in one row for each point, and at which points a level had to be cut off."""

    rows: Array
    saturated: Array


@dataclass
class _Run:
    exact: bool
    points: int
    saturated: Array = field(init=False)

    def __post_init__(self) -> None:
        self.saturated = np.zeros(self.points, bool)

    def number(self, array: Array) -> Array:
        """Numbers of a file, in which integers of shapes stay what they are."""
        if not self.exact:
            return array.astype(np.float64)
        found = np.array([Fraction(x) for x in array.ravel().tolist()], object)
        return found.reshape(array.shape)

    def levels(self, scaled: Array, zero: Array, ends: tuple[int, int], mode: str = "ROUND") -> Array:
        """The levels of numbers in units of a scale."""
        rounding: dict[str, Callable[[Any], Any]] = {"ROUND": round, "FLOOR": floor, "CEIL": ceil}
        if self.exact:
            flat = [Fraction(rounding[mode](x)) for x in scaled.ravel()]
            rounded = np.array(flat, object).reshape(scaled.shape)
        else:
            rounded = {"ROUND": np.rint, "FLOOR": np.floor, "CEIL": np.ceil}[mode](scaled)
        found = rounded + zero
        out = (found < ends[0]) | (found > ends[1])
        self.saturated |= out.reshape(self.points, -1).any(axis=1).astype(bool)
        return np.asarray(np.clip(found, *ends))


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """Those of a node."""
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def inputs_of(model: onnx.ModelProto) -> list[tuple[str, tuple[int, ...]]]:
    """Names and sizes of the inputs that are no stored numbers."""
    stored = {tensor.name for tensor in model.graph.initializer}
    return [
        (i.name, tuple(d.dim_value for d in i.type.tensor_type.shape.dim))
        for i in model.graph.input
        if i.name not in stored
    ]


def is_smooth(model: onnx.ModelProto) -> bool:
    """Whether a file gives numbers that are no rationals."""
    return any(node.op_type in SMOOTH for node in model.graph.node)


def given(model: onnx.ModelProto, points: Sequence[Sequence[Fraction]] | Array, exact: bool) -> Given:
    """The first output of a file at points, each with all inputs one behind the other."""
    rows = np.array(points, object if exact else np.float64)
    run = _Run(exact, len(rows))
    values: dict[str, Array] = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    at = 0
    for name, sizes in inputs_of(model):
        count = int(np.prod(sizes))
        values[name] = rows[:, at : at + count].reshape(len(rows), *sizes[1:])
        at += count
    for node in model.graph.node:
        asked = [values[name] if name else None for name in node.input]
        values[node.output[0]] = _operator(run, node.op_type, asked, attributes(node))
    return Given(values[model.graph.output[0].name].reshape(len(rows), -1), run.saturated)


def _operator(run: _Run, kind: str, x: list[Any], given: Attributes) -> Array:
    if kind == "Constant":
        return numpy_helper.to_array(given["value"])
    if kind in _SHAPES:
        return _SHAPES[kind](run, x, given)
    if kind in ("QuantizeLinear", "DequantizeLinear", "Quant"):
        return _QUANTISERS[kind](run, x, given)
    return _NUMBERS[kind](run, [None if a is None else run.number(a) if a.dtype != object else a for a in x], given)


def _gemm(_: _Run, x: list[Array], given: Attributes) -> Array:
    product: Array = x[0] @ (x[1].T if given.get("transB") else x[1])
    return product + x[2] if len(x) > 2 else product


def _conv(run: _Run, x: list[Array], given: Attributes) -> Array:
    image, weight = x[0], x[1]
    steps, pads = given.get("strides", [1, 1]), given.get("pads", [0] * 4)
    image = np.pad(image, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    seen = sliding_window_view(image, weight.shape[2:], axis=(2, 3))[:, :, :: steps[0], :: steps[1]]
    points, _, high, wide = seen.shape[:4]
    flat = seen.transpose(0, 2, 3, 1, 4, 5).reshape(points * high * wide, -1)
    found = (flat @ weight.reshape(len(weight), -1).T).reshape(points, high, wide, -1).transpose(0, 3, 1, 2)
    shifted: Array = found + x[2].reshape(1, -1, 1, 1)
    return shifted


def _pool(run: _Run, x: list[Array], given: Attributes) -> Array:
    steps = given.get("strides", [1, 1])
    seen = sliding_window_view(x[0], given["kernel_shape"], axis=(2, 3))[:, :, :: steps[0], :: steps[1]]
    count = int(np.prod(given["kernel_shape"]))
    mean: Array = seen.sum(axis=(4, 5)) * (Fraction(1, count) if run.exact else 1 / count)
    return mean


def _largest(_: _Run, x: list[Array], given: Attributes) -> Array:
    steps = given.get("strides", [1, 1])
    seen = sliding_window_view(x[0], given["kernel_shape"], axis=(2, 3))[:, :, :: steps[0], :: steps[1]]
    largest: Array = seen.max(axis=(4, 5))
    return largest


def _normalised(run: _Run, x: list[Array], given: Attributes) -> Array:
    """With a variance whose root is a float."""
    shape = (1, -1, *[1] * (x[0].ndim - 2))
    assert not given["epsilon"]
    root = np.sqrt(x[4].astype(np.float64))
    scale, shift, mean, root = (a.reshape(shape) for a in (x[1], x[2], x[3], run.number(root)))
    return (x[0] - mean) / root * scale + shift


def _softmax(_: _Run, x: list[Array], __: Attributes) -> Array:
    found = np.exp(x[0] - x[0].max(axis=-1, keepdims=True))
    shares: Array = found / found.sum(axis=-1, keepdims=True)
    return shares


def _along(x: Array, axis: int, like: Array) -> Array:
    """Numbers of a scale, one or one for each position of an axis."""
    return x.reshape([-1 if i == axis % like.ndim else 1 for i in range(like.ndim)]) if x.ndim == 1 else x


def _quantize(run: _Run, x: list[Any], given: Attributes) -> Array:
    ends = np.iinfo(x[2].dtype)
    scale = _along(run.number(x[1]), given.get("axis", 1), x[0])
    return run.levels(x[0] / scale, x[2].astype(object if run.exact else np.float64), (ends.min, ends.max))


def _dequantize(run: _Run, x: list[Any], given: Attributes) -> Array:
    level = run.number(x[0]) if x[0].dtype.kind in "iu" else x[0]
    zero = run.number(x[2]) if len(x) > 2 and x[2] is not None else run.number(np.array(0))
    axis = given.get("axis", 1)
    return (level - _along(zero, axis, level)) * _along(run.number(x[1]), axis, level)


def _quant(run: _Run, x: list[Any], given: Attributes) -> Array:
    bits, signed = int(x[3]), given.get("signed", 1)
    ends = (-(2 ** (bits - 1)) + given.get("narrow", 0), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    scale = run.number(x[1])
    argument = x[0] if x[0].dtype in (object, np.float64) else run.number(x[0])
    if argument.shape[0] != run.points:  # a weight, of which it counts as little whether it is cut off
        run = _Run(run.exact, argument.shape[0])
    levels = run.levels(argument / scale, run.number(np.array(0)), ends, given["rounding_mode"].decode())
    return np.asarray(levels * scale)


def _reshape(run: _Run, x: list[Any], _: Attributes) -> Array:
    shaped: Array = x[0].reshape(run.points, *[int(n) for n in x[1].ravel()[1:]])
    return shaped


_SHAPES: dict[str, Callable[[_Run, list[Any], Attributes], Array]] = {
    "Reshape": _reshape,
    "Flatten": lambda run, x, _: x[0].reshape(run.points, -1),
    "Transpose": lambda _, x, given: x[0].transpose(given["perm"]),
    "Concat": lambda _, x, given: np.concatenate(x, axis=given["axis"]),
    "Gather": lambda _, x, given: np.take(x[0], x[1].astype(int), axis=given.get("axis", 0)),
    "Identity": lambda _, x, __: x[0],
}
_QUANTISERS = {"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, "Quant": _quant}
_NUMBERS: dict[str, Callable[[_Run, list[Any], Attributes], Array]] = {
    "Gemm": _gemm,
    "MatMul": lambda _, x, __: x[0] @ x[1],
    "Add": lambda _, x, __: x[0] + x[1],
    "Sub": lambda _, x, __: x[0] - x[1],
    "Mul": lambda _, x, __: x[0] * x[1],
    "Relu": lambda _, x, __: np.maximum(x[0], 0),
    "Max": lambda _, x, __: np.maximum(x[0], x[1]),
    "Tanh": lambda _, x, __: np.tanh(x[0]),
    "Sigmoid": lambda _, x, __: 1 / (1 + np.exp(-x[0])),
    "Softplus": lambda _, x, __: np.logaddexp(x[0], 0),
    "Softmax": _softmax,
    "Conv": _conv,
    "AveragePool": _pool,
    "MaxPool": _largest,
    "BatchNormalization": _normalised,
}
