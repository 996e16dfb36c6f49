"""How a function of one variable that is enclosed at points is enclosed on intervals.

Intervals are pairs of arrays of integers that stand for n / 2^bits (`fixed_point`). An increasing function is enclosed
by its values at both ends. One that turns is so outside of some rational intervals around its turning points; where
an interval meets one of these, the values at its ends and the largest slope bound it. A function that is composed of
others is computed in more bits, as its argument and parameters may magnify an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from eqspec.networks import fixed_point as fp
from eqspec.networks.fixed_point import Ends, Integers

Parameters: TypeAlias = Sequence[float]
Enclosed: TypeAlias = Callable[[Ends, int, Parameters], Ends]
"""A function of intervals, in so many bits behind the point."""
_EXTRA = 24
"""Bits more than asked for in which a function is composed of others."""


def composed(f: Enclosed) -> Enclosed:
    """A function computed in more bits, as many as its argument and parameters may magnify an error by."""

    def in_more_bits(ends: Ends, bits: int, p: Parameters) -> Ends:
        low, high = ends
        if not low.size:
            return ends
        largest = max(int(np.abs(low).max()), int(np.abs(high).max()))
        extra = _EXTRA + 2 * max(0, largest.bit_length() - bits) + sum(abs(int(a)).bit_length() for a in p)
        moved = low << extra
        return fp.outward(f((moved, moved if low is high else high << extra), bits + extra, p), extra)

    return in_more_bits


def increasing(f: Callable[[Integers, int], Ends]) -> Enclosed:
    """An increasing function of points, without parameters, as one of intervals."""
    of_interval = fp.increasing(f)
    return lambda ends, bits, _: of_interval(ends, bits)


def turning(
    f: Callable[[Integers, int, Parameters], Ends],
    turns: Callable[[Parameters], Sequence[tuple[Fraction, Fraction]]],
    steepest: Callable[[Parameters], Fraction],
) -> Enclosed:
    """A function of points as one of intervals, which is monotone outside of some rational intervals."""

    def of_interval(ends: Ends, bits: int, p: Parameters) -> Ends:
        low, high = ends
        first = f(low, bits, p)
        if low is high:
            return first
        second = f(high, bits, p)
        least, most = np.minimum(first[0], second[0]), np.maximum(first[1], second[1])
        slope = steepest(p)
        reach = -(-(high - low) * slope.numerator // slope.denominator)
        turned = np.zeros(low.shape, bool)
        for start, end in turns(p):
            before, behind = (
                (start.numerator << bits) // start.denominator,
                -(-(end.numerator << bits) // end.denominator),
            )
            turned |= np.asarray((high > before) & (low < behind), bool)
        return np.where(turned, least - reach, least), np.where(turned, most + reach, most)

    return of_interval


def rational(number: Fraction, bits: int) -> Ends:
    """The interval of a rational number."""
    low = (number.numerator << bits) // number.denominator
    return np.array(low, object), np.array(low + (1 if (number.numerator << bits) % number.denominator else 0), object)


def between(low: str, high: str) -> Callable[[Parameters], Sequence[tuple[Fraction, Fraction]]]:
    """One turning point, between two decimal numbers."""
    return lambda _: [(Fraction(low), Fraction(high))]


def anywhere(_: Parameters) -> Sequence[tuple[Fraction, Fraction]]:
    """Turning points without an end, as sin and cos have."""
    return [(Fraction(-(1 << 5000)), Fraction(1 << 5000))]


def at_most(number: str) -> Callable[[Parameters], Fraction]:
    """The largest slope, whatever the parameters are."""
    return lambda _: Fraction(number)
