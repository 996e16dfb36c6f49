"""Sums, products, extremes and comparisons of integers that depend on the input, as counts of comparisons are.

A point's bucket is how many thresholds it is above: `(x > thresholds).sum()`, looked up in a table. The integers are
an affine value of truth values and of other levels, and their products with constants and with each other; all of them
are known to lie between two ends. Runtimes wrap around beyond the ends of a type, so what may leave it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.levels import Computed, Levels
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import comparisons, elementwise, matrix_products, reductions
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value

Ends = tuple[int, int]
Real = Affine | Enclosure
_TYPES: dict[int, Ends] = {
    int(TensorProto.INT32): (-(2**31), 2**31 - 1),
    int(TensorProto.INT64): (-(2**53), 2**53),  # no further than float64 tells integers apart
}
_SIGN = Curves.all(Curve("sign"))
_FIX = "compute with floating-point numbers, or end the model in front of it"


def counted(call: OperatorCall, made: Real, among: Array) -> Levels:
    """A value as the integers that it is, each of which lies between the least and the largest of some."""
    if (among != np.rint(among)).any() or (np.abs(among) > 2.0**53).any():
        raise UnreadableError("integers beyond 2^53", _FIX)
    return _integers(call, made, (int(among.min()), int(among.max())))


def _integers(call: OperatorCall, made: Real, ends: Ends) -> Levels:
    whole = made if isinstance(made, Affine) else af.constant(call.given, made)
    return Levels.of(Computed(whole), made.shape, *ends)


def holds(kind: int, levels: Levels) -> bool:
    """Whether a type of 32 or 64 bits holds some integers."""
    low, high = _TYPES.get(kind, (0, -1))
    return low <= levels.low and levels.high <= high


def _operand(call: OperatorCall, index: int) -> tuple[Real, Ends]:
    """An input as real numbers, and the integers between which it is."""
    found = call.value(index)
    if isinstance(found, Levels):
        return found.meaning(1.0, 0.0), (found.low, found.high)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu":
        raise UnreadableError("integers that depend on the input beside numbers of another type", _FIX)
    ends = (int(found.min()), int(found.max())) if found.size else (0, 0)
    if max(-ends[0], ends[1]) > 2**53:
        raise UnreadableError("an integer beyond 2^53", _FIX)
    return Enclosure(found.astype(np.float64)), ends


def _made(call: OperatorCall, made: Real, ends: Ends) -> Levels:
    """The result, which must lie within its type."""
    if call.kind(0) not in _TYPES:
        raise UnreadableError("it computes with levels of a quantiser, which may leave their type", _FIX)
    levels = _integers(call, made, ends)
    if not holds(call.kind(0) or 0, levels):
        raise UnreadableError(f"integers from {ends[0]} to {ends[1]} may leave their type", _FIX)
    return levels


def _binary(combine: Callable[[Real, Real], Real], ends: Callable[[int, int], int]) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        (a, first), (b, second) = _operand(call, 0), _operand(call, 1)
        check_broadcast(a.shape, b.shape)
        check_one_for_all(call, a.shape, b.shape)
        corners = [ends(i, j) for i in first for j in second]
        return [_made(call, combine(a, b), (min(corners), max(corners)))]

    return operator


def _summed(call: OperatorCall) -> Sequence[Value]:
    """ReduceSum."""
    x, (low, high) = _operand(call, 0)
    (made,) = reductions.OPERATORS["ReduceSum"](replace(call, inputs=[x, *call.inputs[1:]]))
    assert isinstance(made, Affine | Enclosure)
    count = max(1, int(np.prod(x.shape)) // max(1, int(np.prod(made.shape))))
    return [_made(call, made, (min(low, count * low), max(high, count * high)))]


def _extreme(call: OperatorCall) -> Sequence[Value]:
    """ReduceMax and ReduceMin, as whether any or all of some truth values are true."""
    x, ends = _operand(call, 0)
    (made,) = reductions.OPERATORS[call.node.op_type](replace(call, inputs=[x, *call.inputs[1:]]))
    assert isinstance(made, Affine | Enclosure)
    return [_integers(call, made, ends)]  # one of them, which is of their type


def _cumulative(call: OperatorCall) -> Sequence[Value]:
    """CumSum, of any number of entries of an axis."""
    x, (low, high) = _operand(call, 0)
    (made,) = matrix_products.OPERATORS["CumSum"](replace(call, inputs=[x, *call.inputs[1:]]))
    assert isinstance(made, Affine | Enclosure)
    count = max(x.shape, default=1)
    return [_made(call, made, (min(0, low, count * low), max(0, high, count * high)))]


def _negated(call: OperatorCall) -> Sequence[Value]:
    """Neg."""
    x, (low, high) = _operand(call, 0)
    return [_made(call, comparisons.negated(x), (-high, -low))]


def _compared(holds_above: tuple[float, ...], *, opposite: bool = False) -> Operator:
    """Whether the difference of two integers is above the first threshold and not above the second; or the opposite.

    Thresholds lie half-way between integers, so rounding of a bound leaves no comparison open.
    """

    def operator(call: OperatorCall) -> Sequence[Value]:
        operands: list[Value | None] = [_operand(call, index)[0] for index in range(2)]
        kinds = [int(TensorProto.DOUBLE)] * 2
        a, b = (comparisons.truth(replace(call, inputs=operands, kinds=kinds), index) for index in range(2))
        check_broadcast(a.shape, b.shape)
        check_one_for_all(call, a.shape, b.shape)
        apart = elementwise.add(a, comparisons.negated(b))
        assert isinstance(apart, Affine)
        half = en.exactly(0.5)
        above = [af.scale(af.curve(af.shift(apart, en.exactly(-t)), _SIGN), half) for t in holds_above]
        made = af.shift(above[0], half) if len(above) == 1 else af.add(above[0], af.negate(above[1]))
        return [comparisons.opposite(made) if opposite else made]

    return operator


def where(call: OperatorCall) -> Sequence[Value]:
    """Where: of integers, by a condition that depends on the input; of other numbers as in `comparisons`."""
    condition, values = call.value(0), (call.value(1), call.value(2))
    of_levels = any(isinstance(v, Levels) for v in values)
    of_integers = all(isinstance(v, Levels) or (isinstance(v, np.ndarray) and v.dtype.kind in "iu") for v in values)
    if not of_integers or not (isinstance(condition, Affine) or of_levels):
        return comparisons.where(call)
    (a, first), (b, second) = _operand(call, 1), _operand(call, 2)
    truth = comparisons.truth(call, 0)
    for operand in (a, b):
        check_broadcast(truth.shape, operand.shape)
        check_one_for_all(call, truth.shape, operand.shape)
    return [_integers(call, comparisons.chosen(truth, a, b), (min(*first, *second), max(*first, *second)))]


OPERATORS: dict[str, Operator] = {
    "Add": _binary(elementwise.add, lambda i, j: i + j),
    "CumSum": _cumulative,
    "Mul": _binary(elementwise.multiply, lambda i, j: i * j),
    "ReduceMax": _extreme,
    "ReduceMin": _extreme,
    "ReduceSum": _summed,
    "Sub": _binary(lambda a, b: elementwise.add(a, comparisons.negated(b)), lambda i, j: i - j),
    "Neg": _negated,
    "Equal": _compared((-0.5, 0.5)),
    "Greater": _compared((0.5,)),
    "GreaterOrEqual": _compared((-0.5,)),
    "Less": _compared((-0.5,), opposite=True),
    "LessOrEqual": _compared((0.5,), opposite=True),
    "Where": where,
}
"""In place of the operators of the same names, where an input is levels."""
