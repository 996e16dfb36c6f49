"""Intervals of floats, rounded outward: what exact numbers lie in. Arrays low <= high, elementwise.

A sum that is exact is not widened: what the sum of two floats loses is itself a float (Knuth), and its sign tells on
which side the exact sum is. A product is not widened where a factor is 0, 1 or -1. Everything else is moved by
|x| 2^-52 + 2^-1074, which is at least to the next float and covers a correctly rounded operation and gradual underflow
(`nextafter` takes five times as long). What is not a number stays so.

An interval of single points has one array for both ends; of such, everything is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from ..rounding import Array, float_above, float_below

LARGEST, UNIT, LEAST = float(np.finfo(float).max), 2.0**-52, 2.0**-1074


class Interval:
    """Immutable."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # arrays leave arithmetic to us

    def __init__(self, low: Array | float, high: Array | float) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)

    @classmethod
    def of(cls, x: Any) -> Interval:
        """Numbers as they are."""
        if isinstance(x, Interval):
            return x
        points = np.asarray(x, float)
        return cls(points, points)

    @classmethod
    def around(cls, low: Fraction, high: Fraction | None = None) -> Interval:
        """The smallest one around an exact number, or two."""
        return cls(float_below(low), float_above(low if high is None else high))

    @property
    def ends(self) -> tuple[Array, ...]:
        """Both, or the one array of single points."""
        return (self.low,) if self.low is self.high else (self.low, self.high)

    def at_ends(self, bounds: Callable[[Array], tuple[Array, Array]]) -> Interval:
        """Of an increasing function, given two bounds of its values at points."""
        found = [bounds(end) for end in self.ends]
        return Interval(found[0][0], found[-1][1])

    def __getitem__(self, key: Any) -> Interval:
        return Interval.of(self.low[key]) if self.low is self.high else Interval(self.low[key], self.high[key])

    def __neg__(self) -> Interval:
        return Interval.of(-self.low) if self.low is self.high else Interval(-self.high, -self.low)

    def __add__(self, other: Any) -> Interval:
        other = Interval.of(other)
        if len(self.ends) == len(other.ends) == 1:
            return _sum(self.low, other.low)
        return Interval(_sum(self.low, other.low).low, _sum(self.high, other.high).high)

    def __sub__(self, other: Any) -> Interval:
        minus: Interval = -Interval.of(other)
        return self + minus

    def __rsub__(self, other: Any) -> Interval:
        turned: Interval = -self + other
        return turned

    def __mul__(self, other: Any) -> Interval:
        found = [_product(a, b) for a in self.ends for b in Interval.of(other).ends]
        return Interval(reduce(np.minimum, [low for low, _ in found]), reduce(np.maximum, [high for _, high in found]))

    def __truediv__(self, other: Any) -> Interval:
        other = Interval.of(other)
        turned = other.high < 0.0  # then both are taken with the other sign
        low, high = np.where(turned, -self.high, self.low), np.where(turned, -self.low, self.high)
        least, most = np.where(turned, -other.high, other.low), np.where(turned, -other.low, other.high)
        below_, above_ = _over(low, np.where(low >= 0.0, most, least)), _over(-high, np.where(high >= 0.0, least, most))
        none = ~(least > 0.0)
        return Interval(np.where(none, np.nan, below_), np.where(none, np.nan, -above_))

    def __rtruediv__(self, other: Any) -> Interval:
        found: Interval = Interval.of(other) / self
        return found

    def __abs__(self) -> Interval:
        if self.low is self.high:
            return Interval.of(np.abs(self.low))
        low, high = np.abs(self.low), np.abs(self.high)
        inside = (self.low <= 0.0) & (self.high >= 0.0)
        return Interval(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))

    __radd__, __rmul__ = __add__, __mul__


def increasing(function: Callable[[Interval], Interval], x: Interval) -> Interval:
    """A function of points that increases, of an interval."""
    found = [function(Interval.of(end)) for end in x.ends]
    return Interval(found[0].low, found[-1].high)


def choose(where: Array, a: Any, b: Any) -> Any:
    """Elementwise, of intervals or of plain floats."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        a, b = Interval.of(a), Interval.of(b)
        return Interval(np.where(where, a.low, b.low), np.where(where, a.high, b.high))
    return np.where(where, a, b)


def below(x: Array) -> Array:
    """A float below, by one to three units; of infinity the largest but such."""
    finite = np.minimum(x, LARGEST)
    return np.asarray(finite - (np.abs(finite) * UNIT + LEAST))


def _sum(a: Array, b: Array) -> Interval:
    """Around a + b, of points."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    if not lost.any():  # what is not a number counts as lost
        return Interval.of(total)
    return Interval(np.where(lost >= 0.0, total, below(total)), np.where(lost <= 0.0, total, -below(-total)))


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """At most and at least a b; an end at infinity stands for numbers, of which 0 makes 0."""
    found = a * b
    if (odd := np.isnan(found)).any():
        found = np.where(odd & ~np.isnan(a + b), 0.0, found)
    exact = _keeps(a) | _keeps(b)
    return np.where(exact, found, below(found)), np.where(exact, found, -below(-found))


def _keeps(a: Array) -> Array:
    """Where a factor is 0, 1 or -1."""
    size = np.abs(a)
    return np.asarray((size == 0.0) | (size == 1.0))


def _over(a: Array, b: Array) -> Array:
    """At most a / b."""
    return np.where((a == 0.0) | (b == 1.0), a / b, below(a / b))
