"""Exact layers as an ONNX file in a random style: the same function of real numbers, written as exporters might.

Shapes: layers (W (m, n), b (m,)) with ReLU between them; the file takes n numbers in one of six shapes, and values on
the way have the shape [1, n]. Every rewriting is exact over the reals: factors are powers of two that lose no digit,
what is added is taken away again, and a matrix is divided by columns, by rows, or into halves. A reader that folds such
a file rounds on the way and has to say by how much; one that does not is found by the oracle, which knows the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from oracle.pairs import Random
from oracle.pieces import Layers

Array = NDArray[np.float64]
OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21)


def write_styled(
    path: Path,
    layers: Layers,
    rng: Random,
    *,
    softmax: bool = False,
    before: Affine | None = None,
    root: float | None = None,
) -> None:
    """Write layers in a style drawn at random; `softmax` puts one behind them.

    `before` is a normalisation (centre, scale) that the file applies to its input: (x - centre) / scale, with scales
    that are powers of two. With `root`, what goes into each layer is divided by the square root of that number and
    multiplied by it again, in the same way in every file, so that two files share rows which no float holds.
    """
    writer = _Writer(rng, layers, before, root)
    path.write_bytes(writer.model(softmax).SerializeToString())


Affine = tuple[Array, Array]


def is_power_of_two(numbers: Array) -> bool:
    """Whether every number is a positive power of two, so that multiplying by it or its inverse is exact."""
    mantissa, _ = np.frexp(numbers)
    return bool((mantissa == 0.5).all())


class _Writer:
    """The nodes and constants of one file as they grow."""

    def __init__(self, rng: Random, layers: Layers, before: Affine | None, root: float | None) -> None:
        self.rng, self.layers, self.before, self.root = rng, layers, before, root
        self.opset = int(rng.choice(OPSETS))
        numbers = [array for layer in layers for array in layer] + list(before or ())
        short = all(_is_float32(array) for array in numbers) and rng.random() < 0.7
        self.kind: Any = np.float32 if short else np.float64
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []
        self.count = 0
        # Constants are initialisers, nodes, or (as in old files) initialisers that are listed among the inputs.
        self.as_nodes, self.listed = float(rng.choice([0.0, 0.3, 1.0])), rng.random() < 0.15

    def one(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def name(self) -> str:
        self.count += 1
        return f"{self.rng.choice(['onnx::', 'layer.', '/fc/', 'n'])}{self.count}"

    def constant(self, array: NDArray[Any]) -> str:
        """The name of a constant; real numbers in the type of the file."""
        if array.dtype == np.float64:
            array = array.astype(self.kind)
        tensor, name = numpy_helper.from_array(np.ascontiguousarray(array), self.name()), self.name()
        if self.one(self.as_nodes) and (self.opset >= 9 or array.dtype == self.kind):  # integers since opset 9
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            tensor.name = name
            self.stored.append(tensor)
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The output of a new node."""
        made = self.name()
        named = {"name": self.name()} if self.one(0.5) else {}
        self.nodes.append(helper.make_node(kind, list(inputs), [made], **named, **attributes))
        return made

    def fits(self, *arrays: Array) -> bool:
        """Whether the file's type holds these numbers without rounding."""
        return all(np.isfinite(a).all() for a in arrays) and (self.kind is np.float64 or all(map(_is_float32, arrays)))

    # The whole model.

    def model(self, softmax: bool) -> onnx.ModelProto:
        inputs, outputs = self.layers[0][0].shape[1], self.layers[-1][0].shape[0]
        element = TensorProto.FLOAT if self.kind is np.float32 else TensorProto.DOUBLE
        forms: list[tuple[list[int | str], Callable[[str], str]]] = [
            ([1, inputs], lambda value: value),
            (["N", inputs], lambda value: value),
            ([inputs], lambda value: self.reshaped(value, [1, inputs])),
            ([1, 1, inputs], lambda value: self.node("Flatten", value, axis=2)),
            ([1, inputs, 1, 1], lambda value: self.node("Flatten", value, axis=1)),
            ([1, 1, 1, inputs], lambda value: self.reshaped(value, [1, -1])),
        ]
        shape, enter = forms[int(self.rng.choice(len(forms), p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]))]
        self.fixed_batch = shape[0] != "N"
        value = enter("x")
        if self.before is not None:
            value = self.normalised(value, *self.before)
        for number, (weight, bias) in enumerate(self.layers):
            if number:
                value = self.node("Relu", value)
            if self.root is None:
                value = self.affine(self.unchanged(value, weight.shape[1]), weight, bias)
            else:
                value = self._gemm(self.rooted(value, weight.shape[1], self.root), weight, bias)
        value = self.unchanged(value, outputs)
        if softmax:
            value = self.node("Softmax", value, axis=1)
        described = helper.make_tensor_value_info
        given = [described("x", element, shape)]
        if self.listed:
            given += [described(t.name, t.data_type, t.dims) for t in self.stored]
        graph = helper.make_graph(
            self.nodes,
            "styled",
            given,
            [described(value, element, [shape[0] if not self.fixed_batch else 1, outputs])],
            self.stored,
        )
        version = 3 if self.listed else 8 if self.opset <= 18 else 10
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=version)

    # What changes nothing.

    def unchanged(self, value: str, size: int) -> str:
        """The value, behind none or a few nodes that leave it as it is."""
        for _ in range(int(self.rng.choice(4, p=[0.5, 0.3, 0.15, 0.05]))):
            value = self._nothing(value, size)
        return value

    def _nothing(self, value: str, size: int) -> str:
        match int(self.rng.integers(13)):
            case 0:
                return self.node("Identity", value)
            case 1:
                ratio = {"ratio": 0.5} if self.opset < 12 else {}
                return self.node("Dropout", value, **ratio)
            case 2 if self.fixed_batch:
                return self.reshaped(value, [1, size])
            case 3:
                return self.node("Flatten", value, axis=1)
            case 4:
                axes = [int(self.rng.integers(3))]
                return self.axes("Squeeze", self.axes("Unsqueeze", value, axes), axes)
            case 5:
                return self.node("Transpose", self.node("Transpose", value, perm=[1, 0]), perm=[1, 0])
            case 6:
                return self.node("Neg", self.node("Neg", value))
            case 7:
                to = TensorProto.FLOAT if self.kind is np.float32 else TensorProto.DOUBLE
                return self.node("Cast", value, to=to)
            case 8:
                return self.node("Concat", value, axis=int(self.rng.choice([0, 1])))
            case 9:
                return self.shifted(value, size)
            case 10:
                return self.halved(value, size)
            case 11:
                return self.batch_normalised(value, size)
            case 12 if size > 1:
                order = self.rng.permutation(size)
                there = self.node("Gather", value, self.constant(order.astype(np.int64)), axis=1)
                return self.node("Gather", there, self.constant(np.argsort(order).astype(np.int64)), axis=1)
        return value

    def reshaped(self, value: str, shape: Sequence[int]) -> str:
        return self.node("Reshape", value, self.constant(np.array(shape, np.int64)))

    def axes(self, kind: str, value: str, axes: list[int]) -> str:
        """Squeeze and Unsqueeze: their axes moved from an attribute to an input."""
        if self.opset < 13:
            return self.node(kind, value, axes=axes)
        return self.node(kind, value, self.constant(np.array(axes, np.int64)))

    def large(self, size: int) -> Array:
        """Whole multiples of large powers of two, which swallow what they are added to in floats, but not in reals."""
        exponent = int(self.rng.choice([0, 20, 40, 60, 90]))
        return np.ldexp(self.rng.integers(-3, 4, size).astype(np.float64), exponent)

    def shifted(self, value: str, size: int) -> str:
        """x + c - c."""
        shift = self.large(size)
        there, back = ("Add", "Sub") if self.one(0.5) else ("Sub", "Add")
        return self.node(back, self.node(there, value, self.constant(shift)), self.constant(shift))

    def halved(self, value: str, size: int) -> str:
        """x / 2^k times 2^k, over the reals."""
        factor = np.ldexp(np.ones(size), self.rng.integers(-9, 10, size))
        there, back = ("Mul", "Div") if self.one(0.5) else ("Div", "Mul")
        return self.node(back, self.node(there, value, self.constant(factor)), self.constant(factor))

    def batch_normalised(self, value: str, size: int) -> str:
        """(x - c) / sqrt(var + eps) * 2^k + c with var + eps = 4^k."""
        power = self.rng.integers(0, 3, size)
        epsilon = 2.0**-10
        shift = self.large(size)
        arrays = [np.ldexp(np.ones(size), power), shift, shift, np.ldexp(np.ones(size), 2 * power) - epsilon]
        return self.node("BatchNormalization", value, *map(self.constant, arrays), epsilon=epsilon)

    def rooted(self, value: str, size: int, number: float) -> str:
        """x / sqrt(number) * sqrt(number): by a normalisation, and by a square root of constants."""
        epsilon = 2.0**-10
        arrays = [np.ones(size), np.zeros(size), np.zeros(size), np.full(size, number - epsilon)]
        divided = self.node("BatchNormalization", value, *map(self.constant, arrays), epsilon=epsilon)
        return self.node("Mul", divided, self.node("Sqrt", self.constant(np.full(size, number))))

    def normalised(self, value: str, centre: Array, scale: Array) -> str:
        """(x - centre) / scale."""
        value = self.node("Sub", value, self.constant(centre))
        if self.one(0.5):
            return self.node("Div", value, self.constant(scale))
        return self.node("Mul", value, self.constant(1 / scale))

    # One affine layer.

    def affine(self, value: str, weight: Array, bias: Array) -> str:
        """W x + b, written in one of many ways."""
        match int(self.rng.integers(9)):
            case 0 if weight.shape[1] > 1:
                return self._by_columns(value, weight, bias)
            case 1 if len(bias) > 1:
                return self._by_rows(value, weight, bias)
            case 2:
                return self._with_cancellation(value, weight, bias)
            case 3:
                halves = np.ldexp(weight, -1)
                if self.fits(halves) and (np.ldexp(halves, 1) == weight).all():
                    first, second = (self._product(value, halves) for _ in range(2))
                    return self._plus(self.node("Add", first, second), bias)
            case 4:
                return self._plus(self._product(self.node("Neg", value), -weight), bias)
            case 5 if self.fixed_batch:
                column = self.node("Transpose", value, perm=[1, 0])
                product = self.node("MatMul", self.constant(weight), column)
                total = self.node("Add", product, self.constant(bias[:, None]))
                return self.node("Transpose", total, perm=[1, 0])
            case 6 | 7:
                return self._gemm(value, weight, bias)
        return self._plus(self._product(value, weight), bias)

    def _product(self, value: str, weight: Array) -> str:
        return self.node("MatMul", value, self.constant(weight.T))

    def _plus(self, value: str, bias: Array) -> str:
        if not bias.any() and self.one(0.5):
            return value
        match int(self.rng.integers(4)):
            case 0:
                return self.node("Add", self.constant(bias), value)
            case 1:
                return self.node("Sub", value, self.constant(-bias))
            case 2 if self.opset >= 8:
                return self.node("Sum", value, self.constant(bias))
        return self.node("Add", value, self.constant(bias))

    def _gemm(self, value: str, weight: Array, bias: Array) -> str:
        alpha, beta = (float(2.0 ** self.rng.integers(-3, 4)) if self.one(0.3) else 1.0 for _ in range(2))
        inner, constant = weight / alpha, bias / beta
        if not (self.fits(inner, constant) and (inner * alpha == weight).all() and (constant * beta == bias).all()):
            alpha = beta = 1.0
            inner, constant = weight, bias
        turned = self.one(0.5)
        factors = {name: number for name, number in (("alpha", alpha), ("beta", beta)) if number != 1.0}
        named = [self.constant(inner if turned else inner.T), self.constant(constant)]
        if self.opset >= 11 and not bias.any() and self.one(0.5):
            named.pop()
        return self.node("Gemm", value, *named, transB=int(turned), **factors)

    def _by_columns(self, value: str, weight: Array, bias: Array) -> str:
        """Some inputs through one product, the others through another."""
        size = weight.shape[1]
        at = int(self.rng.integers(1, size))
        if self.one(0.5):
            parts = [self.name(), self.name()]
            if self.opset < 13:
                self.nodes.append(helper.make_node("Split", [value], parts, axis=1, split=[at, size - at]))
            else:
                sizes = self.constant(np.array([at, size - at], np.int64))
                self.nodes.append(helper.make_node("Split", [value, sizes], parts, axis=1))
        else:
            parts = [self.sliced(value, 0, at), self.sliced(value, at, int(self.rng.choice([size, 1 << 40])))]
        products = [self._product(p, w) for p, w in zip(parts, (weight[:, :at], weight[:, at:]), strict=True)]
        return self._plus(self.node("Add", *products), bias)

    def sliced(self, value: str, start: int, end: int) -> str:
        if self.opset < 10:
            return self.node("Slice", value, axes=[1], starts=[start], ends=[end])
        return self.node("Slice", value, *(self.constant(np.array([n], np.int64)) for n in (start, end, -1)))

    def _by_rows(self, value: str, weight: Array, bias: Array) -> str:
        at = int(self.rng.integers(1, len(bias)))
        parts = [self._gemm(value, weight[part], bias[part]) for part in (slice(None, at), slice(at, None))]
        return self.node("Concat", *parts, axis=1)

    def _with_cancellation(self, value: str, weight: Array, bias: Array) -> str:
        """Over three copies of x: (M + W - M) x, where M swallows W in floats."""
        size = weight.shape[1]
        copies = self.node("MatMul", value, self.constant(np.tile(np.eye(size), 3)))
        swallow = np.broadcast_to(self.large(size), weight.shape)
        return self._plus(self._product(copies, np.concatenate([swallow, weight, -swallow], axis=1)), bias)


def _is_float32(numbers: Array) -> bool:
    with np.errstate(over="ignore"):
        return bool((numbers.astype(np.float32).astype(np.float64) == numbers).all())
