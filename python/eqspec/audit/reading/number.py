"""Constants that know what they are: an exact number, and how far a runtime may be off it.

A value of a network is a sum of c u over units u, which are the inputs, or what an earlier step gave, and the constant
1. Every c is a Number. Beside it stands a >= |c|, the sum of its absolute monomials, and k counts roundings. What is
computed, v, obeys
    |v - sum c u| <= sum gamma(k) a |u|,    gamma(k) = k unit / (1 - k unit).                          (*)
Over the reals nothing is rounded: c may be a sum of square roots (`surd`), and only a root or a quotient of sums of
them is rounded, to 200 bits. In float32 (`Float32`) every operation rounds and may
underflow, gradually or to zero. (*) is kept by addition, (1 + gamma(k)) (1 + unit) <= 1 + gamma(k + 1), and by
multiplication, (1 + gamma(j)) (1 + gamma(k)) <= 1 + gamma(j + k), since |c| <= a; underflow adds 2^-126 = unit 2^-102.
No sum is reordered here, but (*) holds in any order: a sum of n terms counts n roundings on every one of them, which no
order exceeds, and whether a constant is multiplied before or after a sum, fused or not, its monomials are the same.
`size` bounds what any partial product on the way may be where all units are at most 1, so that float32 can be seen not
to overflow.

To compare a Number, or to ask whether it is true, is an error, so that no code decides anything on it by accident.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any, NoReturn

import numpy as np

from ..rounding import Array, Refused
from .surd import MOST, Surd, parts, root

ZERO, ONE = Fraction(0), Fraction(1)


class Number:
    """Over the reals. Immutable."""

    unit, rounds, largest = Fraction(1, 2**200), 0, float("inf")

    __slots__ = ("a", "c", "k", "size")

    def __init__(self, c: Any, a: Fraction, k: int, size: float) -> None:
        if size > self.largest:
            raise Refused("float32 might overflow on the way")
        self.c, self.a, self.k, self.size = c, a, k, size

    @classmethod
    def of(cls, value: Any) -> Any:
        """A constant, which may be converted once; or the Number that it is."""
        if isinstance(value, Number):
            return value
        c = Fraction(*value.as_integer_ratio())
        return cls(c, cls.lost(abs(c)) if c else ZERO, cls.rounds, abs(float(value)))

    @classmethod
    def exactly(cls, c: Fraction) -> Any:
        """A number that no runtime computes with: it is part of how a function is written here."""
        return cls(c, abs(c), 0, 1.001 * abs(float(c)))

    @classmethod
    def between(cls, low: Fraction, high: Fraction) -> Any:
        """A number of which no more is known, over the reals: gamma(k) a is at least half of what lies between."""
        c, off = (low + high) / 2, (high - low) / 2
        a = abs(c) + off
        return cls(c, a, ceil(off / (a * cls.unit)) if off else 0, 0.0)

    @staticmethod
    def lost(a: Fraction) -> Fraction:
        """a, and what an underflow may add to it."""
        return a

    @property
    def missing(self) -> Fraction:
        """How far it may be off, relative to its unit."""
        if 2**11 * self.k * self.unit > 1:
            raise Refused("sums are too long for float32")
        return self.k * self.unit / (1 - self.k * self.unit) * self.a

    def summed(self, count: int, one: bool) -> Any:
        """As a term of a sum that rounds so many times more, the constant one or another."""
        more = self.lost(ZERO) * count if one else ZERO
        return type(self)(self.c, self.a + more, self.k + count, self.size)

    def __neg__(self) -> Any:
        return type(self)(-self.c, self.a, self.k, self.size)

    def __add__(self, other: Any) -> Any:
        other = self.of(other)
        k = max(self.k, other.k) + self.rounds
        return type(self)(self.c + other.c, self.lost(self.a + other.a), k, self.size + other.size)

    def __sub__(self, other: Any) -> Any:
        return self + -self.of(other)

    def __rsub__(self, other: Any) -> Any:
        return self.of(other) + -self

    def __mul__(self, other: Any) -> Any:
        one, other = self, self.of(other)
        if not (one.a and other.a):
            return type(self)(ZERO, ZERO, 0, 0.0)
        if parts(one.c) * parts(other.c) > MOST:
            one, other = one.rounded(), other.rounded()
        size = max(1.0, one.size) * max(1.0, other.size) if one.size and other.size else 0.0
        bound, count = self.lost(_times(one.a, other.a)), one.k + other.k + self.rounds
        return type(self)(_times(one.c, other.c), bound, count, size)

    def rounded(self) -> Any:
        """The same with a rational for a surd, which a unit of its size covers."""
        if not isinstance(self.c, Surd):
            return self
        near = self.c.near()[0]
        return type(self)(near, max(self.a, abs(near)), self.k + 1, self.size)

    def __truediv__(self, other: Any) -> Any:
        """|1/v - 1/c| <= gamma a / (|c| (|c| - gamma a)) <= 2 gamma a / c^2 <= gamma(2 k) a / c^2."""
        other = self.of(other)
        if isinstance(other.c, Surd) and not other.k and (exact := other.c.inverse()) is not None:
            return self * type(self)(exact, _size(exact), 0, float(_size(exact)) * 1.001)
        other = other.rounded()
        if abs(other.c) <= 2 * other.missing:
            raise Refused("a divisor may be zero")
        a = self.lost(other.a / other.c**2)
        return self * type(self)(1 / other.c, a, 2 * other.k + self.rounds, 1.0 / abs(float(other.c)))

    def __rtruediv__(self, other: Any) -> Any:
        return self.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self) -> Any:
        """|sqrt(v) - sqrt(c)| <= gamma a / sqrt(c); where v is off, the root is rounded by less than a unit."""
        one = self.rounded()
        if one.c <= 2 * one.missing:
            raise Refused("a square root of what may not be positive")
        found = root(one.c)
        if not (one.k or one.rounds):
            return type(self)(found, _size(found), 0, max(1.0, self.size))
        near = found.near()[0] if isinstance(found, Surd) else found
        return type(self)(near, self.lost(one.a / near), one.k + 1 + self.rounds, max(1.0, self.size))

    def _no(self, *_: Any) -> NoReturn:
        raise Refused("the auditor does not read operators that compare numbers")

    __bool__ = __float__ = __int__ = __index__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = _no
    __hash__ = None  # type: ignore[assignment]


class Float32(Number):
    """As any float32 runtime computes, in any order of summation, with fused operations or without."""

    __slots__ = ()
    unit, rounds, largest = Fraction(1, 2**24), 1, 2.0**125

    @staticmethod
    def lost(a: Fraction) -> Fraction:
        """unit 2^-102 = 2^-126."""
        return a + Fraction(1, 2**102)


def _times(one: Any, other: Any) -> Any:
    """Many are the 1 of a unit."""
    return other if one is ONE else one if other is ONE else one * other


def _size(c: Any) -> Fraction:
    """At least |c|."""
    return sum((abs(end) for end in c.near()), ZERO) if isinstance(c, Surd) else Fraction(abs(c))


def exact(number: Any) -> Fraction | None:
    """A constant, if it is known to be this rational number."""
    if not isinstance(number, Number):
        return Fraction(float(number))
    return number.c if isinstance(number.c, Fraction) and not number.k else None


def numbers(kind: type[Number], values: Any) -> Array:
    """Constants, elementwise."""
    return np.asarray(np.frompyfunc(kind.of, 1, 1)(np.asarray(values).astype(object)), object)
