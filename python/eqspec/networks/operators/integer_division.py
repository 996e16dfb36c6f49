"""Quotients and remainders of integers that depend on the input by stored positive integers: hashed places, buckets.

    floor(i / k) = floor((i + 1/2) / k)        trunc(i / k) = floor(max(i, 0) / k) - floor(max(-i, 0) / k)
    mod(i, k) = i - k floor(i / k)             fmod(i, k) = i - k trunc(i / k)

(i + 1/2) / k is never an integer, so what bounds are rounded by leaves no quotient open. ONNX divides towards zero; a
remainder has the sign of the divisor, with `fmod` that of the dividend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.levels import Computed, Levels, Quantised, limited
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import integer_arithmetic
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.quantiser import Rounding

_JUMP = "a quotient of integers jumps at every multiple of the divisor"
_FIX = "divide by a positive integer that the file stores, in a type of 32 or 64 bits"


def _given(call: OperatorCall) -> tuple[Levels, np.ndarray[Any, Any]]:
    """The dividend and the divisors, in one shape."""
    x, by = call.value(0), call.value(1)
    if not isinstance(x, Levels) or not isinstance(by, np.ndarray) or by.dtype.kind not in "iu" or not by.size:
        raise UnreadableError("a division of integers by one that depends on the input", _FIX)
    if not integer_arithmetic.holds(call.kind(0) or 0, x):
        raise UnreadableError("a division of levels of a quantiser", _FIX)
    if by.min() < 1 or by.max() > 2**50:
        raise UnreadableError(f"a division of integers by {int(by.min())} to {int(by.max())}", _FIX)
    call.refuse_rounded_jump(_JUMP)
    check_broadcast(x.shape, by.shape)
    check_one_for_all(call, x.shape, by.shape)
    shape = np.broadcast_shapes(x.shape, by.shape)
    check_value(shape)
    return x.rearranged(lambda index: np.broadcast_to(index, shape)), np.broadcast_to(by, shape).astype(np.float64)


def _floored(x: Levels, by: np.ndarray[Any, Any]) -> Levels:
    """floor(i / k)."""
    low, high = np.floor(x.low / by.reshape(-1)), np.floor(x.high / by.reshape(-1))
    argument = af.shift(x.meaning(1.0, 0.0), en.exactly(0.5))
    none = np.zeros(by.size)
    rule = Quantised(argument, by.reshape(-1), none, low, high, none, Rounding.FLOOR)
    return Levels.of(rule, by.shape, int(low.min()), int(high.max()))


def _negative(x: Levels) -> Levels:
    return Levels.of(Computed(af.negate(x.meaning(1.0, 0.0))), x.shape, -x.high, -x.low)


def _truncated(x: Levels, by: np.ndarray[Any, Any]) -> Levels:
    """i / k without what is behind its point."""
    if x.low >= 0:
        return _floored(x, by)
    above, below = (_floored(limited(part, 0, None), by) for part in (x, _negative(x)))
    made = af.add(above.meaning(1.0, 0.0), af.negate(below.meaning(1.0, 0.0)))
    return Levels.of(Computed(made), by.shape, -below.high, above.high)


def divide(call: OperatorCall) -> Sequence[Value]:
    """Div of integers."""
    return [_truncated(*_given(call))]


def modulo(call: OperatorCall) -> Sequence[Value]:
    """Mod of integers."""
    x, by = _given(call)
    signed = bool(call.integer("fmod", 0)) and x.low < 0
    quotient = (_truncated if signed else _floored)(x, by).meaning(1.0, 0.0)
    left: Affine = af.add(x.meaning(1.0, 0.0), af.negate(af.scale(quotient, en.exactly(by))))
    most = int(by.max()) - 1
    return [Levels.of(Computed(left), by.shape, -most if signed else 0, most)]


OPERATORS: dict[str, Operator] = {"Div": divide, "Mod": modulo}
"""In place of the operators of the same names, where an input is levels."""
