"""Operators of the standard that are applied to levels as they are: Relu, Clip, Max, Min, MaxPool, Concat, Pad, Cast.

What only moves entries (Reshape, Slice, Gather, ...) moves levels like any other value (see `shapes.apply`), and stands
in its own file. Maxima and clips act on integers as on real numbers, since what levels mean grows with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Computed, Joined, Levels, Through, limited
from eqspec.networks.onnx_tensor import FLOATS, UnreadableError, Whole
from eqspec.networks.operators import integer_arithmetic, places, pooling, rearranging, shapes
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.quantising import TYPES

_DEQUANTISE = "dequantise it in front of the node"


def _given(call: OperatorCall) -> Levels:
    """The integers that an operator is applied to; constants as such that happen not to depend on the input."""
    found = call.value(0)
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu" and found.dtype.itemsize < 8:
        limits = np.iinfo(found.dtype)
        return _constant(call, found, int(limits.min), int(limits.max))
    if not isinstance(found, Levels):
        raise UnreadableError("integers that depend on the input stand where constants are read", _DEQUANTISE)
    return found


def relu(call: OperatorCall) -> Sequence[Value]:
    """Relu of integers."""
    return [limited(_given(call), 0, None)]


def _end(call: OperatorCall, index: int) -> int | None:
    if not call.has(index):
        return None
    found = call.whole(index)
    if found.size != 1:
        raise UnreadableError("integers that are cut off at several ends", _DEQUANTISE)
    return int(found.reshape(()))


def clip(call: OperatorCall) -> Sequence[Value]:
    """Clip of integers, the upper end where they cross."""
    return [limited(_given(call), _end(call, 1), _end(call, 2))]


def _extreme(*, largest: bool) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        variable = [i for i, value in enumerate(call.inputs) if isinstance(value, Levels)]
        if len(variable) != 1 or len(call.inputs) != 2:
            raise UnreadableError("a maximum or minimum of several tensors of integers", _DEQUANTISE)
        (at,) = variable
        given, end = call.value(at), _end(call, 1 - at)
        assert isinstance(given, Levels)
        if len(call.whole(1 - at).shape) > len(given.shape):
            raise UnreadableError("a number of more axes than the integers", _DEQUANTISE)
        return [limited(given, end if largest else None, None if largest else end)]

    return operator


def max_pool(call: OperatorCall) -> Sequence[Value]:
    """MaxPool of integers."""
    given = _given(call)

    def pooled(x: Affine) -> Affine:
        (made,) = pooling.max_pool(replace(call, inputs=[x]))
        assert isinstance(made, Affine)
        return made

    (empty,) = pooling.max_pool(replace(call, inputs=[Enclosure(np.zeros(given.shape))]))
    assert isinstance(empty, Enclosure)
    return [Levels.of(Through(given, empty.value.size, pooled), empty.shape, given.low, given.high)]


def _constant(call: OperatorCall, whole: Whole, low: int, high: int) -> Levels:
    return Levels.of(Computed(af.constant(call.given, Enclosure(whole.astype(np.float64)))), whole.shape, low, high)


def _joined(call: OperatorCall, values: Sequence[Value]) -> tuple[Joined, int, int]:
    """Levels and constants one behind the other, and the integers between which all of them are."""
    parts = list[Levels]()
    for value in values:
        if isinstance(value, np.ndarray):
            ends = (int(value.min()), int(value.max())) if value.size else (0, 0)
            value = _constant(call, value, *ends)
        if not isinstance(value, Levels):
            raise UnreadableError("integers and real numbers in one tensor", _DEQUANTISE)
        parts.append(value)
    some = [part for part in parts if part.size] or parts
    return Joined(tuple(parts)), min(part.low for part in some), max(part.high for part in some)


def concat(call: OperatorCall) -> Sequence[Value]:
    """Concat of integers: entries keep what they are levels of."""
    values = [call.value(i) for i in range(len(call.inputs))]
    rule, low, high = _joined(call, values)
    starts = np.cumsum([0, *(part.size for part in rule.parts)])
    places = [start + np.arange(p.size).reshape(p.shape) for start, p in zip(starts, rule.parts, strict=False)]
    (index,) = shapes.concat(replace(call, inputs=places))
    return [Levels(rule, np.asarray(index), low, high)]


def pad(call: OperatorCall) -> Sequence[Value]:
    """Pad of integers, with a number or with entries of their own."""
    given = _given(call)
    number = call.value(2) if call.has(2) else np.zeros((), np.int64)
    if not isinstance(number, np.ndarray) or number.size != 1:
        raise UnreadableError("integers are padded with something else", _DEQUANTISE)
    rule, low, high = _joined(call, [given, number.reshape(())])
    places = np.arange(given.size).reshape(given.shape)
    inputs: list[Value | None] = [places, *call.inputs[1:]]
    inputs += [None] * (3 - len(inputs))
    inputs[2] = np.array(given.size)
    (index,) = rearranging.pad(replace(call, inputs=inputs))
    return [Levels(rule, np.asarray(index), low, high)]


def cast(call: OperatorCall) -> Sequence[Value]:
    """Cast of integers: to real numbers, or to a type that holds them all."""
    given, kind = _given(call), call.integer("to", 0)
    if kind in FLOATS:
        return [given.meaning(1.0, 0.0)]
    if kind == TensorProto.BOOL:
        return [_is_not_zero(call, given)]
    if integer_arithmetic.holds(kind, given):
        return [given]
    low, high = TYPES.get(kind, (0, -1))
    if not (low <= given.low and given.high <= high):
        fix = "cast them to a type that holds them all, or to a float type"
        raise UnreadableError(f"integers of {given.low} to {given.high} are cast to type number {kind}", fix)
    return [replace(given, low=low, high=high)]


def _is_not_zero(call: OperatorCall, given: Levels) -> Affine:
    """Integers as truth values, 0 or 1: whether they are not zero. Language models have their masks so."""
    call.refuse_rounded_jump("a comparison jumps at its threshold")
    sign = af.curve(given.meaning(1.0, 0.0), Curves.all(Curve("sign")))
    return af.curve(sign, Curves.all(ABSOLUTE))


def _as_numbers(operator: Operator) -> Operator:
    """An operator that asks of integers only which of them are larger."""
    return lambda call: operator(replace(call, inputs=[_given(call).meaning(1.0, 0.0), *call.inputs[1:]]))


OPERATORS: dict[str, Operator] = {
    **integer_arithmetic.OPERATORS,
    **{name: _as_numbers(places.OPERATORS[name]) for name in ("ArgMax", "ArgMin")},
    "Cast": cast,
    "Clip": clip,
    "Concat": concat,
    "Max": _extreme(largest=True),
    "MaxPool": max_pool,
    "Min": _extreme(largest=False),
    "Pad": pad,
    "Relu": relu,
}
"""In place of the operators of the same names, where an input is levels."""

OF_INTEGERS = frozenset({"MaxPool", "Relu"})
"""Those whose first input may also be constant integers."""
