"""Quantisers: one function of one variable for all of Quant, QuantizeLinear, ap_fixed, casts and thresholds.

    Q(x) = unit (k - base),    k = R(x / scale + zero), brought into low .. high

All numbers are exact float64 numbers, scale and unit are positive, low <= high are integers. R is one of `Rounding`.
What lies outside of low .. high is cut off there (saturated), or counted modulo high - low + 1 (wrapped). As rounding
never passes an integer, it does not matter whether saturation is done before or behind it.

`scale` and `zero` are those of the argument, `unit` and `base` those of the result: Quant and QuantizeLinear followed
by DequantizeLinear have unit = scale and base = zero, QuantizeLinear alone has unit 1 and base 0, ap_fixed<W, I> has
scale = unit = 2^(I - W), and BipolarQuant with scale s is -s or s by `bipolar`.

Shapes: `value` any, elementwise in float64, which is exact up to rounding but for arguments within rounding of a
threshold; `levels` takes arrays of Python integers and is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_vectors import Integers


class Rounding(Enum):
    """How a number becomes an integer; the names of QONNX and of ap_fixed (AP_) behind each.

    `curves` says them in words, by number.
    """

    HALF_EVEN = 0  # ROUND, HALF_EVEN; AP_RND_CONV
    HALF_AWAY = 1  # HALF_UP; AP_RND_INF
    HALF_UP = 2  # AP_RND: towards plus infinity
    HALF_DOWN = 3  # AP_RND_MIN_INF: towards minus infinity
    HALF_ZERO = 4  # HALF_DOWN; AP_RND_ZERO
    FLOOR = 5  # FLOOR; AP_TRN
    CEIL = 6  # CEIL
    ZERO = 7  # DOWN; AP_TRN_ZERO
    AWAY = 8  # UP


@dataclass(frozen=True)
class Quantiser:
    """One quantiser; see the head of this file."""

    scale: float
    low: int
    high: int
    rounding: Rounding = Rounding.HALF_EVEN
    zero: float = 0.0
    wraps: bool = False
    unit: float | None = None
    """The distance of two results; `scale` if it is left out."""
    base: float | None = None
    """The level that stands for 0; `zero` if it is left out."""

    @classmethod
    def bipolar(cls, size: float) -> Quantiser:
        """`size` from 0 on, -`size` below."""
        return cls(1.0, 0, 1, Rounding.FLOOR, 1.0, unit=2.0 * size, base=0.5)

    @classmethod
    def of(cls, curve: Curve) -> Quantiser:
        """What a curve of this name and valid parameters is."""
        scale, zero, low, high, unit, base, rounding, wraps = curve.parameters
        return cls(scale, int(low), int(high), Rounding(int(rounding)), zero, bool(wraps), unit, base)

    @property
    def curve(self) -> Curve:
        """The quantiser as the function of a row."""
        unit = self.scale if self.unit is None else self.unit
        base = self.zero if self.base is None else self.base
        numbers = (self.scale, self.zero, self.low, self.high, unit, base, self.rounding.value, self.wraps)
        return Curve("quantiser", tuple(map(float, numbers)))

    def levels(self, numerators: Integers, denominator: Integers | int) -> Integers:
        """k for rational arguments numerators / denominator > 0, before it is brought into low .. high."""
        (zero, of_zero), (scale, of_scale) = (number.as_integer_ratio() for number in (self.zero, self.scale))
        # x / scale + zero = n / d
        n = numerators * (of_scale * of_zero) + zero * denominator * scale
        d = denominator * (scale * of_zero)
        return _rounded(n, d, self.rounding)

    def value_of(self, level: int) -> Fraction:
        """The value of a level that is not brought into low .. high yet."""
        if self.wraps:
            level = self.low + (level - self.low) % (self.high - self.low + 1)
        level = min(max(level, self.low), self.high)
        unit, base = self.scale if self.unit is None else self.unit, self.zero if self.base is None else self.base
        return Fraction(unit) * (level - Fraction(base))

    def brought(self, levels: Integers) -> Integers:
        """Levels as they are stored: saturated or wrapped."""
        if self.wraps:
            return np.asarray(self.low + (levels - self.low) % (self.high - self.low + 1))
        return np.minimum(np.maximum(levels, self.low), self.high)


def _rounded(n: Integers, d: Integers | int, rounding: Rounding) -> Integers:
    """n / d as an integer, d > 0."""
    floor = n // d
    match rounding:
        case Rounding.FLOOR:
            return np.asarray(floor)
        case Rounding.CEIL:
            return np.asarray(-(-n // d))
        case Rounding.ZERO:
            return np.where(n >= 0, floor, -(-n // d))
        case Rounding.AWAY:
            return np.where(n >= 0, -(-n // d), floor)
    rest = 2 * (n - floor * d)  # against d: below, at or above the middle
    tie_goes_up = {
        Rounding.HALF_EVEN: floor % 2 == 1,
        Rounding.HALF_UP: floor == floor,
        Rounding.HALF_DOWN: floor != floor,
        Rounding.HALF_AWAY: floor >= 0,
        Rounding.HALF_ZERO: floor < 0,
    }[rounding]
    up = (rest > d) | ((rest == d) & tie_goes_up)
    return np.asarray(floor + up.astype(object))


def rounded(t: Fraction, rounding: Rounding) -> int:
    """One number as an integer."""
    n, d = t.numerator, t.denominator
    floor = n // d
    match rounding:
        case Rounding.FLOOR:
            return floor
        case Rounding.CEIL:
            return -(-n // d)
        case Rounding.ZERO:
            return floor if n >= 0 else -(-n // d)
        case Rounding.AWAY:
            return -(-n // d) if n >= 0 else floor
        case Rounding.HALF_EVEN:
            tie_goes_up = floor % 2 == 1
        case Rounding.HALF_UP | Rounding.HALF_DOWN:
            tie_goes_up = rounding is Rounding.HALF_UP
        case Rounding.HALF_AWAY | Rounding.HALF_ZERO:
            tie_goes_up = (floor >= 0) == (rounding is Rounding.HALF_AWAY)
    rest = 2 * (n - floor * d)
    return floor + (rest > d or (rest == d and tie_goes_up))


def problem(parameters: Sequence[float]) -> str | None:
    """What is wrong with the parameters of a curve, None if nothing is."""
    scale, _, low, high, unit, _, rounding, wraps = parameters
    if not (scale > 0.0 and unit > 0.0):
        return "its scales have to be positive"
    if not (low == int(low) and high == int(high) and low <= high and max(-low, high) <= 2.0**50):
        return "its levels have to be integers up to 2^50, the lowest first"
    if rounding not in {r.value for r in Rounding} or wraps not in (0.0, 1.0):
        return "its rounding is a number from 0 to 8 and its overflow 0 or 1"
    return None


def value(x: Array, parameters: Sequence[float]) -> Array:
    """What a quantiser makes of numbers, in floats."""
    scale, zero, low, high, unit, base, rounding, wraps = parameters
    levels = in_floats(x / scale + zero, Rounding(int(rounding)))
    if wraps:
        levels = low + np.mod(levels - low, high - low + 1.0)
    return np.asarray(unit * (np.clip(levels, low, high) - base))


def in_floats(t: Array, rounding: Rounding) -> Array:
    """t rounded, for floats that rounding errors did not move over a threshold."""
    match rounding:
        case Rounding.HALF_EVEN:
            return np.asarray(np.rint(t))
        case Rounding.HALF_UP:
            return np.asarray(np.floor(t + 0.5))
        case Rounding.HALF_DOWN:
            return np.asarray(np.ceil(t - 0.5))
        case Rounding.HALF_AWAY:
            return np.asarray(np.copysign(np.floor(np.abs(t) + 0.5), t))
        case Rounding.HALF_ZERO:
            return np.asarray(np.copysign(np.ceil(np.abs(t) - 0.5), t))
        case Rounding.FLOOR:
            return np.asarray(np.floor(t))
        case Rounding.CEIL:
            return np.asarray(np.ceil(t))
        case Rounding.ZERO:
            return np.asarray(np.trunc(t))
        case Rounding.AWAY:
            return np.asarray(np.copysign(np.ceil(np.abs(t)), t))


def slope(x: Array, parameters: Sequence[float]) -> Array:
    """That of the line which it follows in steps, 0 where it is saturated: what an attack should climb."""
    scale, zero, low, high, unit, _, _, wraps = parameters
    t = x / scale + zero
    return np.asarray(np.where(((t >= low) & (t <= high)) | bool(wraps), unit / scale, 0.0))


def jump(parameters: Sequence[float]) -> float:
    """How far it may jump at one point: a level, or the whole type where it wraps."""
    _, _, low, high, unit, _, rounding, wraps = parameters
    levels = high - low if wraps else min(high - low, 2.0 if rounding == Rounding.AWAY.value else 1.0)
    return unit * levels


def in_range(quantiser: Quantiser, least: Integers, most: Integers) -> tuple[Integers, Integers]:
    """The stored levels of all levels from `least` to `most`: an interval that contains them."""
    low, high = quantiser.brought(least), quantiser.brought(most)
    if not quantiser.wraps:
        return low, high
    # Within one turn the order is kept; else anything of the type may come out.
    span = quantiser.high - quantiser.low + 1
    together = (least - quantiser.low) // span == (most - quantiser.low) // span
    return np.where(together, low, quantiser.low), np.where(together, high, quantiser.high)
