"""Quantisers and operators on integers that depend on the input: nodes at the edges of what they may be.

Scales are small multiples of powers of two, so a quotient is a tie in float32 where it is one in rationals: what the
readers find in rationals is what runtimes find, at ties as well. What lies between a quantiser and what dequantises it
is not offered to other operators, since few of them take integers that depend on the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.building import AnyArray, Builder, Value
from conformance.functions import add
from conformance.operators import TYPES, Generator, sample_of

_BYTES = (np.int8, np.uint8)
_SCALES = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 3.0)


def _scale(g: Builder, shape: tuple[int, ...] = ()) -> Value:
    numbers = np.array([g.one(_SCALES) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)
    return g.constant(-numbers if g.chance(0.01) else numbers)


def _zero(g: Builder, kind: Any, shape: tuple[int, ...] = ()) -> Value:
    limits = np.iinfo(kind)
    edges = [0, 0, 0, 1, 3, limits.max, limits.min, max(limits.min, -2)]
    return g.constant(np.array([g.one(edges) for _ in range(int(np.prod(shape)))], kind).reshape(shape))


def _hidden(g: Builder, value: Value) -> Value:
    """A value that other operators do not work on."""
    g.values.remove(value)
    return value


def _integers(g: Builder, kind: Any, shape: Sequence[int]) -> AnyArray:
    """Integers of a type, mostly small."""
    limits = np.iinfo(kind)
    numbers = g.rng.integers(max(limits.min, -4), 5, tuple(shape))
    if g.chance(0.2):
        numbers = g.rng.integers(limits.min, int(limits.max) + 1, tuple(shape))
    return np.asarray(numbers, kind)


def _weights(g: Builder, kind: Any, shape: Sequence[int]) -> AnyArray:
    """Integers of a type, signed ones of 7 bits: onnxruntime cuts off products of larger ones on some processors."""
    numbers = _integers(g, kind, shape)
    return numbers // 2 if kind is np.int8 else numbers


def _types(g: Builder) -> list[Any]:
    return [*_BYTES, np.int16, np.uint16] if g.opset >= 21 else [*_BYTES]


def _along(g: Builder, shape: tuple[int, ...]) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The shape of scales, for the whole tensor, along an axis or in blocks of one."""
    if g.opset < 13 or not shape or g.chance(0.5):
        return (), {}
    axis = g.whole(0, len(shape) - 1)
    named: dict[str, Any] = {"axis": axis - len(shape) if g.chance(0.3) else axis}
    if axis == 1 and g.chance(0.3):
        named = {}
    if g.opset >= 21 and g.chance(0.3):
        size = g.whole(1, max(1, shape[axis]))
        blocks = list(shape)
        blocks[axis] = -(-shape[axis] // size)
        return tuple(blocks), {**named, "block_size": size}
    return (shape[axis] + g.chance(0.03),), named


def _levels(g: Builder, value: Value, kind: Any) -> tuple[Value, Value, Value, dict[str, Any]]:
    """A value quantised: its levels, their scale and zero point, and along what."""
    shape, named = _along(g, sample_of(value).shape)
    scale, zero = _scale(g, shape), _zero(g, kind, shape)
    given: list[Value] = [value, scale, zero]
    attributes = dict(named)
    if kind is np.uint8 and not sample_of(zero).any() and g.chance(0.5):
        given.pop()
    elif g.opset >= 21 and g.chance(0.2):
        attributes["output_dtype"] = TYPES[kind]
        if not sample_of(zero).any() and g.chance(0.5):
            given.pop()
    if g.opset >= 19 and g.chance(0.2):
        attributes["saturate"] = 1  # which only floats of 8 bits have to be told
    (levels,) = add(g, "QuantizeLinear", given, **attributes)
    return _hidden(g, levels), scale, zero, named


def quantise(g: Builder) -> None:
    """A quantiser and what dequantises it, with the same parameters or, now and then, with others."""
    value = g.operand(floats=True)
    kind = g.one(_types(g))
    levels, scale, zero, named = _levels(g, value, kind)
    if levels.sample is None:
        g.values.append(levels)
        return
    if g.chance(0.1):
        named = {}
        scale, zero = _scale(g), _zero(g, kind)
    add(g, "DequantizeLinear", [levels, scale, zero] if g.chance(0.9) else [levels, scale], **named)


def dequantise(g: Builder) -> None:
    """A constant of integers, as weights are stored, of any type that has a scale."""
    kind = g.one([*_types(g), np.int32])
    shape = g.some_shape()
    levels = g.constant(_integers(g, kind, shape))
    along, named = _along(g, shape)
    given = [levels, _scale(g, along)]
    if g.chance(0.7):
        zero = np.zeros(along, kind) if kind is np.int32 else None
        given.append(_zero(g, kind, along) if zero is None else g.constant(zero))
    add(g, "DequantizeLinear", given, **named)


def _matrices(g: Builder) -> tuple[Value, tuple[int, ...]] | None:
    """A value that a matrix can be multiplied with from the right, and the shape of that matrix."""
    value = g.operand(floats=True)
    shape = sample_of(value).shape
    # onnxruntime leaves integer products over nothing as they were in memory.
    return (value, (shape[-1], g.whole(1, 3))) if len(shape) >= 2 and shape[-1] else None


def _as_floats(g: Builder, sums: Value) -> None:
    """Integers that depend on the input, dequantised or cast."""
    if sums.sample is None:
        g.finished = True
        return
    _hidden(g, sums)
    if g.chance(0.5):
        add(g, "Cast", [sums], to=TYPES[np.float32])
    elif sample_of(sums).dtype == np.int32:
        add(g, "DequantizeLinear", [sums, _scale(g)])
    else:
        add(g, "DequantizeLinear", [sums, _scale(g), _zero(g, sample_of(sums).dtype.type)])


def matmul_integer(g: Builder) -> None:
    """Sums of products of bytes, with zero points or without."""
    if (found := _matrices(g)) is None:
        return quantise(g)
    value, shape = found
    first, second = g.one(_BYTES), g.one(_BYTES)
    levels, _, zero, named = _levels(g, value, first)
    if levels.sample is None or named:
        g.finished = levels.sample is None
        return None
    matrix = g.constant(_weights(g, second, shape))
    given: list[Value | None] = [levels, matrix]
    if g.chance(0.7):
        given.append(zero if g.chance(0.7) else None)
        if g.chance(0.6):
            given.append(_zero(g, second, shape[1:] if g.chance(0.4) else ()))
    _as_floats(g, add(g, "MatMulInteger", given)[0])
    return None


def dynamic(g: Builder) -> None:
    """A product of levels whose step follows from the input: 1/8, between two ends that lie 255 of it apart."""
    value = g.operand(floats=True)
    size = int(np.prod(sample_of(value).shape))
    if sample_of(value).dtype != np.float32 or g.opset < 11 or not 0 < size <= 64:
        return quantise(g)
    low = -0.125 * g.whole(0, 255)
    limited = add(g, "Clip", [value, *(g.constant(np.array(n, np.float32)) for n in (low, low + 31.875))])[0]
    row = add(g, "Reshape", [limited, g.constant(np.array([1, size], np.int64))])[0]
    wide = add(g, "Concat", [row, g.constant(np.array([[low, low + 31.875]], np.float32))], axis=1)[0]
    levels, scale, zero = (_hidden(g, v) for v in add(g, "DynamicQuantizeLinear", [wide], 3))
    kind = g.one(_BYTES)
    given: list[Value | None] = [levels, g.constant(_weights(g, kind, (size + 2, g.whole(1, 3)))), zero]
    if g.chance(0.5):
        given.append(_zero(g, kind))
    sums = _hidden(g, add(g, "MatMulInteger", given)[0])
    add(g, "Mul", [add(g, "Cast", [sums], to=TYPES[np.float32])[0], scale])
    return None


def qlinear_matmul(g: Builder) -> None:
    """A product of bytes brought to the scale of its result."""
    if (found := _matrices(g)) is None:
        return quantise(g)
    value, shape = found
    kind = g.one(_BYTES)
    levels, scale, zero, named = _levels(g, value, kind)
    if levels.sample is None or named:
        g.finished = levels.sample is None
        return None
    other = kind if g.chance(0.7) else g.one(_BYTES)
    along = shape[1:] if g.chance(0.3) else ()
    matrix = [g.constant(_weights(g, other, shape)), _scale(g, along), _zero(g, other, along)]
    _as_floats(g, add(g, "QLinearMatMul", [levels, scale, zero, *matrix, _scale(g), _zero(g, kind)])[0])
    return None


def _image(g: Builder) -> Value:
    """A value of one sample with channels and one or two axes of space."""
    value = g.operand(floats=True)
    shape = sample_of(value).shape
    if len(shape) in (3, 4) and shape[0] == 1 and all(shape):
        return value
    size = int(np.prod(shape))
    if not size or size > 64:
        return g.constant(g.floats((1, 2, 3, 3)))
    return add(g, "Reshape", [value, g.constant(np.array([1, 1, 1, size], np.int64))])[0]


def _windows(g: Builder, image: AnyArray) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Of a convolution: the shape of its weights and its attributes."""
    channels, space = image.shape[1], image.shape[2:]
    groups = channels if g.chance(0.3) else 1
    kernel = tuple(g.whole(1, min(3, n)) for n in space)
    attributes: dict[str, Any] = {"kernel_shape": list(kernel)} if g.chance(0.7) else {}
    if groups > 1:
        attributes["group"] = groups
    if g.chance(0.3):
        attributes["strides"] = [g.whole(1, 2) for _ in space]
    if g.chance(0.4):
        attributes["pads"] = [g.whole(0, 1) for _ in (*space, *space)]
    return (groups * g.whole(1, 2), channels // groups, *kernel), attributes


def conv_integer(g: Builder) -> None:
    """A convolution of bytes."""
    levels, _, zero, named = _levels(g, _image(g), np.uint8)
    if levels.sample is None or named:
        g.finished = levels.sample is None
        return
    shape, attributes = _windows(g, levels.sample)
    kind = np.uint8 if g.chance(0.5) else np.int8
    given: list[Value | None] = [levels, g.constant(_weights(g, kind, shape))]
    if g.chance(0.7):
        given.append(zero)
        if g.chance(0.5):
            given.append(_zero(g, kind))
    _as_floats(g, add(g, "ConvInteger", given, **attributes)[0])


def qlinear_conv(g: Builder) -> None:
    """A convolution of bytes brought to the scale of its result, with a bias or without."""
    kind = g.one(_BYTES)
    levels, scale, zero, named = _levels(g, _image(g), kind)
    if levels.sample is None or named:
        g.finished = levels.sample is None
        return
    shape, attributes = _windows(g, levels.sample)
    other = np.int8 if kind is np.int8 or g.chance(0.5) else np.uint8
    along = shape[:1] if g.chance(0.3) else ()
    weights = [g.constant(_weights(g, other, shape)), _scale(g, along), g.constant(np.zeros(along, other))]
    bias = [g.constant(_integers(g, np.int32, shape[:1]))] if g.chance(0.5) else []
    given = [levels, scale, zero, *weights, _scale(g), _zero(g, kind), *bias]
    _as_floats(g, add(g, "QLinearConv", given, **attributes)[0])


QUANTISED: dict[str, Generator] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantise,
    "DynamicQuantizeLinear": dynamic,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantise,
}
