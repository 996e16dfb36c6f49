"""Intervals of floats, rounded outward: what exact numbers lie in. Arrays low <= high, elementwise.

A sum that is exact is not widened: what the sum of two floats loses is itself a float (Knuth), and its sign tells on
which side the exact sum is. A product is not widened where a factor is 0, 1 or -1. Everything else is moved to the next
float, which covers a correctly rounded operation and gradual underflow. What is not a number stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..rounding import Array, float_above, float_below


class Interval:
    """Immutable."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # arrays leave arithmetic to us

    def __init__(self, low: Array | float, high: Array | float) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)

    @classmethod
    def of(cls, x: Any) -> Interval:
        """Numbers as they are."""
        return x if isinstance(x, Interval) else cls(x, x)

    @classmethod
    def around(cls, low: Fraction, high: Fraction | None = None) -> Interval:
        """The smallest one around an exact number, or two."""
        return cls(float_below(low), float_above(low if high is None else high))

    def __getitem__(self, key: Any) -> Interval:
        return Interval(self.low[key], self.high[key])

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __add__(self, other: Any) -> Interval:
        other = Interval.of(other)
        return Interval(_sum(self.low, other.low), -_sum(-self.high, -other.high))

    def __sub__(self, other: Any) -> Interval:
        minus: Interval = -Interval.of(other)
        return self + minus

    def __rsub__(self, other: Any) -> Interval:
        turned: Interval = -self + other
        return turned

    def __mul__(self, other: Any) -> Interval:
        other = Interval.of(other)
        ends = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(_least([_times(a, b) for a, b in ends]), -_least([_times(-a, b) for a, b in ends]))

    def __truediv__(self, other: Any) -> Interval:
        other = Interval.of(other)
        ends = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = _least([_over(a, b) for a, b in ends]), -_least([_over(-a, b) for a, b in ends])
        none = (other.low <= 0.0) & (other.high >= 0.0)
        return Interval(np.where(none, np.nan, low), np.where(none, np.nan, high))

    def __rtruediv__(self, other: Any) -> Interval:
        found: Interval = Interval.of(other) / self
        return found

    def __abs__(self) -> Interval:
        low, high = np.abs(self.low), np.abs(self.high)
        inside = (self.low <= 0.0) & (self.high >= 0.0)
        return Interval(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))

    __radd__, __rmul__ = __add__, __mul__


def increasing(function: Callable[[Interval], Interval], x: Interval) -> Interval:
    """A function of points that increases, of an interval."""
    return Interval(function(Interval.of(x.low)).low, function(Interval.of(x.high)).high)


def choose(where: Array, a: Any, b: Any) -> Any:
    """Elementwise, of intervals or of plain floats."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        a, b = Interval.of(a), Interval.of(b)
        return Interval(np.where(where, a.low, b.low), np.where(where, a.high, b.high))
    return np.where(where, a, b)


def below(x: Array) -> Array:
    """The next float."""
    return np.asarray(np.nextafter(x, -np.inf))


def _sum(a: Array, b: Array) -> Array:
    """At most a + b."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return np.where(lost >= 0.0, total, below(total))


def _times(a: Array, b: Array) -> Array:
    """At most a b; an end at infinity stands for numbers, of which 0 makes 0."""
    exact = (a == 0.0) | (b == 0.0) | (np.abs(a) == 1.0) | (np.abs(b) == 1.0)
    found = np.where((a == 0.0) | (b == 0.0), 0.0 * np.where(np.isfinite(a + b), a + b, 0.0), a * b)
    found = np.where(np.isnan(a) | np.isnan(b), np.nan, found)
    return np.where(exact, found, below(found))


def _over(a: Array, b: Array) -> Array:
    """At most a / b."""
    return np.where((a == 0.0) | (b == 1.0), a / b, below(a / b))


def _least(several: list[Array]) -> Array:
    return np.asarray(np.minimum(np.minimum(several[0], several[1]), np.minimum(several[2], several[3])))
