"""Comparisons, truth values and choices that depend on the input: Greater, Equal, And, Not, Where and others.

A truth value is 0 or 1. Comparisons are functions with jumps of a difference, and a choice is a product:

    u > v :  relu(sign(u - v))        u = v :  1 - |sign(u - v)|        where(b, u, v) = v + b (u - v) = b u + (1 - b) v

Exact over the real numbers. If u - v is constant a choice is affine; else it is as loosely bounded as other products
(`variable_products`). Choices of one variable without a jump are seen before, as the function that they are (`unary`).
Near its threshold a runtime that rounds may decide a comparison otherwise, so where float32 counts it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks import constants, products
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curve_definitions import defined_everywhere
from eqspec.networks.curves import ABSOLUTE, Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import FLOATS, UnreadableError
from eqspec.networks.operators import folding, peaks
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.elementwise import add, multiply
from eqspec.networks.operators.isolated_values import check_threshold
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.rearranging import where_constant
from eqspec.networks.units import Reading

Real = Affine | Enclosure
_ONE, _SIGN = en.exactly(1.0), Curves.all(Curve("sign"))


def _operand(call: OperatorCall, index: int) -> Real:
    """An input as real numbers, truth values as 0 and 1."""
    found = call.value(index)
    if isinstance(found, np.ndarray) and found.dtype.kind == "b":
        return Enclosure(found.astype(np.float64))
    if isinstance(found, Affine) and call.kind(index) not in (*FLOATS, TensorProto.BOOL):
        raise UnreadableError("integers that depend on the input are compared", "cast them to floats before")
    return call.real_value(index)


def truth(call: OperatorCall, index: int) -> Real:
    """A truth value, as 0 and 1."""
    call.refuse_rounded_jump("a comparison jumps at its threshold")
    return _operand(call, index)


def _operands(call: OperatorCall) -> list[Real]:
    found = [truth(call, index) for index in range(len(call.inputs))]
    for other in found[1:]:
        check_broadcast(found[0].shape, other.shape)
        check_one_for_all(call, found[0].shape, other.shape)
    return found


def negated(x: Real) -> Real:
    """-x."""
    return af.negate(x) if isinstance(x, Affine) else constants.negate(x)


def opposite(x: Real) -> Real:
    """1 - x: the opposite of a truth value."""
    return af.opposite(x) if isinstance(x, Affine) else constants.add(constants.negate(x), _ONE)


def _moving(x: Real) -> Affine:
    assert isinstance(x, Affine)  # of constants alone nothing is asked here
    return x


def _apart(a: Real, b: Real) -> Affine:
    return _moving(add(a, negated(b)))


def _compared(a: Real, b: Real) -> Affine:
    """The difference of what is compared, of which the sign tells."""
    apart = _apart(a, b)
    check_threshold(apart)
    return apart


def _greater(a: Real, b: Real) -> Real:
    if isinstance(a, Affine) and isinstance(b, Affine):
        if (found := peaks.reaches(a, b, strictly=True)) is not None:
            return found
        if (found := peaks.reaches(b, a, strictly=False)) is not None:
            return opposite(found)
    return af.is_positive(_compared(a, b))


def _equal(a: Real, b: Real) -> Real:
    if isinstance(a, Affine) and isinstance(b, Affine):
        for x, y in ((a, b), (b, a)):
            found, beyond = (peaks.reaches(x, y, strictly=strictly) for strictly in (False, True))
            if found is not None:  # nothing is beyond a largest entry
                return found if beyond is None else both(found, opposite(beyond))
    return opposite(af.curve(af.curve(_compared(a, b), _SIGN), Curves.all(ABSOLUTE)))


def both(a: Real, b: Real) -> Real:
    """Whether two truth values are both 1."""
    if isinstance(a, Enclosure) or isinstance(b, Enclosure):
        return multiply(a, b)
    return af.relu(af.shift(af.add(a, b), en.exactly(-1.0)))


def _either(a: Real, b: Real) -> Real:
    return opposite(both(opposite(a), opposite(b)))


def _differ(a: Real, b: Real) -> Real:
    if isinstance(a, Enclosure):
        a, b = b, a
    if isinstance(b, Enclosure):  # a (1 - 2 b) + b
        return add(multiply(a, Enclosure(1.0 - 2.0 * b.value)), b)
    return af.curve(_apart(a, b), Curves.all(ABSOLUTE))


def _comparison(of: Callable[[Real, Real], Real]) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        if folding.is_constant(call):
            return folding.fold(call)
        a, b = _operands(call)
        return [of(a, b)]

    return operator


def negation(call: OperatorCall) -> Sequence[Value]:
    """Not."""
    if folding.is_constant(call):
        return folding.fold(call)
    return [opposite(*_operands(call))]


def where(call: OperatorCall) -> Sequence[Value]:
    """Where: entries of two values, by a constant condition or by one that depends on the input."""
    if not isinstance(call.value(0), Affine):
        return where_constant(call)
    condition, a, b = _operands(call)
    check_broadcast(a.shape, b.shape)
    return [chosen(condition, a, b)]


def chosen(condition: Real, a: Real, b: Real) -> Real:
    """a where a truth value is 1, and b where it is 0, broadcast."""
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    check_value(shape)
    if isinstance(a, Enclosure) != isinstance(b, Enclosure):
        # A mask may be -1e9, which would leave no digits of what it hides in a product with the difference.
        return add(multiply(condition, a), multiply(opposite(condition), b))
    return add(b, multiply(condition, add(a, negated(b))))


def never(call: OperatorCall) -> Sequence[Value]:
    """IsNaN and IsInf: real numbers are neither, and what a runtime makes beyond its range is not the network.

    Where the value may be none, as a logarithm below 0 is, a runtime answers otherwise. So the value is remembered, and
    the network has no value there (`with_all_asked`).
    """
    if folding.is_constant(call):
        return folding.fold(call)
    value = call.real_value(0)
    if isinstance(value, Affine) and not _is_everywhere(value):
        call.given.reading.asked.append(value)
    return [np.zeros(value.shape, bool)]


def with_all_asked(result: Affine, reading: Reading) -> Affine:
    """The outputs, which have no value where one that was asked about has none: it stays, without weight."""
    with reading.over_the_reals():  # nothing is added
        for value in reading.asked:
            every = np.arange(prod(value.shape))[None, None]
            nothing = products.tile(value, every, en.exactly(np.zeros(every.shape)), (1,))
            result = af.add(result, nothing)
    return result


def _is_everywhere(value: Affine) -> bool:
    """Whether it is made of functions alone that have a value at every number."""
    todo, seen = [part.units for part in value.parts], set[int]()
    while todo:
        units = todo.pop()
        if units.number in seen:
            continue
        seen.add(units.number)
        if isinstance(units.function, Curves) and not all(map(defined_everywhere, units.function.kinds)):
            return False
        todo += [part.units for block in units.blocks for part in block.parts]
    return True


OPERATORS: dict[str, Operator] = {
    "And": _comparison(both),
    "Equal": _comparison(_equal),
    "Greater": _comparison(_greater),
    "GreaterOrEqual": _comparison(lambda a, b: opposite(_greater(b, a))),
    "IsInf": never,
    "IsNaN": never,
    "Less": _comparison(lambda a, b: _greater(b, a)),
    "LessOrEqual": _comparison(lambda a, b: opposite(_greater(a, b))),
    "Not": negation,
    "Or": _comparison(_either),
    "Where": where,
    "Xor": _comparison(_differ),
}
