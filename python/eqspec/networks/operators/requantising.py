"""How far a float32 runtime may be off where it turns integers into levels again: QLinearConv, QLinearAdd and others.

Sums of products of levels are integers, which a runtime has exactly in 32 bits. It multiplies them by a float32 number
for s_a s_b / s_c, so what it rounds to a level is t (1 + d)^k for the exact t, with |d| <= u and k at most `ROUNDINGS`
(of the two products or quotients of scales, of the integer that becomes a float, of the product; the rest is slack).
Where the level is not cut off, |t| is at most one more than the levels reach, and the error at most k u times that;
where it is cut off, so is the computed one, which lies less than half a level away from there. So one radius for all
of a tensor covers it, and the weights stay exact. With scales that are powers of two nothing is rounded, as long as the
integers stay below 2^24.

Other operators (QLinearAdd, QLinearAveragePool, ...) are computed in float32. A term s (k - z) may be s k - s z, so
that both count; k u times the largest they can be is their radius.

A runtime that scales by fixed-point multipliers, as those of microcontrollers do, or that dequantises the factors of a
sum of products, is *not covered* here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import grain
from eqspec.networks.enclosure import Array
from eqspec.networks.levels import Levels
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import OperatorCall, Value
from eqspec.networks.operators.quantising import SLACK, relative, scales, zeros

_EXACT = 2.0**24
_SMALLEST, _LARGEST = 2.0**-100, 2.0**100
"""Scales, their products and quotients lie between these, so that nothing overflows or underflows on the way."""


def of_sum(call: OperatorCall, factors: tuple[int, int], at: int, ends: tuple[int, int], most: float) -> float | None:
    """How far a sum of products of levels may be off, in the units of the result; None over the reals.

    `factors` and `at` are the inputs that are the scales of the factors and of the result, the zero point behind it;
    `ends` are the lowest and highest level of the result, and `most` is how large the integers get.
    """
    rounds = call.given.reading.rounds
    if not rounds:
        return None
    first, second = (scales(call, factor).reshape(-1) for factor in factors)
    unit = scales(call, at).reshape(-1)
    together = np.multiply.outer(first, second).reshape(-1)
    _check(first, second, unit, together, np.divide.outer(together, unit))
    if most < _EXACT and all(grain.powers_of_two(a) for a in (first, second, unit)):
        return 0.0
    zero = zeros(call, at + 1, unit)
    reach = 1.0 + max(float(np.abs(end - zero).max(initial=0.0)) for end in ends)
    share = relative(rounds)
    if reach * share >= 0.25:
        raise UnreadableError(f"levels of {reach:.0f}, which float32 does not tell apart", "quantise to 16 bits")
    return float(reach * share * unit.max(initial=0.0))


def of_terms(call: OperatorCall, size: float, at: int, *, summed: int = 0) -> float | None:
    """How far what is computed in float32 may be off, its terms of at most `size` together; None over the reals.

    `at` is the input that is the scale of the result, and `summed` how many terms are added up.
    """
    rounds = call.given.reading.rounds
    if not rounds:
        return None
    unit = scales(call, at).reshape(-1)
    _check(unit)
    zero = float(np.abs(zeros(call, at + 1, unit)).max(initial=0.0))
    tiny = 8.0 * (summed + 1) * call.given.reading.tiny * (1.0 + float(unit.max(initial=0.0)))
    return relative(rounds, summed) * (size + zero * float(unit.max(initial=0.0))) + tiny


def size_of(call: OperatorCall, at: int) -> float:
    """How large s k and s z are together: levels at `at`, with scale and zero point behind them."""
    unit = scales(call, at + 1)
    if call.given.reading.rounds:
        _check(unit)
    zero = np.abs(zeros(call, at + 2, unit))
    return float((unit * (largest(call.value(at)) + zero)).max(initial=0.0)) * SLACK


def largest(x: Value) -> float:
    """How large the integers of levels, or constants, may be."""
    if isinstance(x, Levels):
        return float(max(abs(x.low), abs(x.high)))
    return float(np.abs(np.asarray(x, np.float64)).max(initial=0.0)) if isinstance(x, np.ndarray) else 0.0


def check_scales(call: OperatorCall, first: int, second: int) -> None:
    """Refuse scales whose product float32 does not hold, where that matters."""
    if call.given.reading.rounds:
        a, b = (scales(call, at).reshape(-1) for at in (first, second))
        _check(a, b, np.multiply.outer(a, b))


def _check(*numbers: Array) -> None:
    for some in numbers:
        if ((some < _SMALLEST) | (some > _LARGEST)).any():
            raise UnreadableError("scales so small or large that float32 may lose them", "rescale the weights")


def together(call: OperatorCall, places: Sequence[int]) -> float:
    """The largest size of several tensors of levels."""
    return max((size_of(call, at) for at in places), default=0.0)
