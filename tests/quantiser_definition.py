"""Quantisers in rationals, word by word: the oracle of all tests of them."""

from fractions import Fraction
from math import ceil, floor, trunc

from eqspec.networks.quantiser import Quantiser, Rounding


def rounded(t: Fraction, rounding: Rounding) -> int:
    """Every rounding as its documentation puts it."""
    sign = -1 if t < 0 else 1
    match rounding:
        case Rounding.HALF_EVEN:
            return round(t)
        case Rounding.HALF_AWAY:
            return sign * floor(abs(t) + Fraction(1, 2))
        case Rounding.HALF_UP:
            return floor(t + Fraction(1, 2))
        case Rounding.HALF_DOWN:
            return ceil(t - Fraction(1, 2))
        case Rounding.HALF_ZERO:
            return sign * ceil(abs(t) - Fraction(1, 2))
        case Rounding.FLOOR:
            return floor(t)
        case Rounding.CEIL:
            return ceil(t)
        case Rounding.ZERO:
            return trunc(t)
        case Rounding.AWAY:
            return sign * ceil(abs(t))


def defined(q: Quantiser, x: Fraction) -> Fraction:
    """The definition, word by word."""
    level = rounded(x / Fraction(q.scale) + Fraction(q.zero), q.rounding)
    if q.wraps:
        level = q.low + (level - q.low) % (q.high - q.low + 1)
    level = min(max(level, q.low), q.high)
    unit = q.scale if q.unit is None else q.unit
    base = q.zero if q.base is None else q.base
    return Fraction(unit) * (level - Fraction(base))
