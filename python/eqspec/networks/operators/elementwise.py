"""Elementwise operators of ONNX over the reals: Add, Sub, Mul, Div, Neg, Sum.

With a constant operand products and quotients are affine; of two values that depend on the input they are reduced to
squares and reciprocals (`variable_products`). Integer constants are computed with in their own type (see `integers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators import curves, integers, variable_products
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def _negated(value: Affine | Enclosure) -> Affine | Enclosure:
    return af.negate(value) if isinstance(value, Affine) else constants.negate(value)


def add(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    """a + b, broadcast."""
    check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine):
        return af.add(a, b) if isinstance(b, Affine) else af.shift(a, b)
    return af.shift(b, a) if isinstance(b, Affine) else constants.add(a, b)


def multiply(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    """a b elementwise, broadcast."""
    check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine) and isinstance(b, Affine):
        return variable_products.product(a, b)
    if isinstance(a, Affine):
        assert isinstance(b, Enclosure)
        return af.scale(a, b)
    return af.scale(b, a) if isinstance(b, Affine) else constants.multiply(a, b)


def _quotient(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    check_broadcast(a.shape, b.shape)
    if isinstance(b, Affine):
        if isinstance(a, Affine):
            return variable_products.quotient(a, b)
        return multiply(a, curves.of(Curve("reciprocal"), b))
    if not ((np.abs(b.value) - b.radius) > 0).all():
        raise UnreadableError("a division by zero", "repair the constant")
    return af.scale(a, b, en.divide) if isinstance(a, Affine) else constants.divide(a, b)


Real = Callable[[Affine | Enclosure, Affine | Enclosure], Affine | Enclosure]


def _binary(real: Real, whole: Callable[[Whole, Whole], Whole]) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        a, b = call.value(0), call.value(1)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            check_broadcast(a.shape, b.shape)
            return [whole(a, b)]
        x, y = call.real_value(0), call.real_value(1)
        check_one_for_all(call, x.shape, y.shape)
        return [real(x, y)]

    return operator


def sum_all(call: OperatorCall) -> Sequence[Value]:
    """Sum of any number of values."""
    total = call.real_value(0)
    for index in range(1, len(call.inputs)):
        check_one_for_all(call, total.shape, call.real_value(index).shape)
        total = add(total, call.real_value(index))
    return [total]


def negative(call: OperatorCall) -> Sequence[Value]:
    """Neg."""
    a = call.value(0)
    return [integers.negate(a) if isinstance(a, np.ndarray) else _negated(call.real_value(0))]


OPERATORS: dict[str, Operator] = {
    "Add": _binary(add, integers.add),
    "Div": _binary(_quotient, integers.divide),
    "Mul": _binary(multiply, integers.multiply),
    "Neg": negative,
    "Sub": _binary(lambda a, b: add(a, _negated(b)), integers.subtract),
    "Sum": sum_all,
}
