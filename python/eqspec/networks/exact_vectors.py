"""Vectors of intervals as integers over one common denominator.

A vector is (lower, upper, exponent, denominator): arrays of Python integers with real value n 2^exponent /
denominator. Sums and products by dyadic numbers need no gcd.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.enclosure import Array

Integers = NDArray[Any]
"""An object array of Python integers, so that nothing overflows."""


def to_integers(*arrays: Array) -> tuple[list[Integers], int]:
    """Finite float64 arrays as integers n and one exponent e, exactly: array = n 2^e."""
    parts = []
    for array in arrays:
        mantissa, exponents = np.frexp(array)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        odd, zeros = np.frexp((whole & -whole).astype(np.float64))  # 2^z = 0.5 2^(z + 1)
        zeros = np.where(odd != 0.0, zeros - 1, 0).astype(np.int64)
        parts.append((whole >> zeros, exponents.astype(np.int64) - 53 + zeros))
    used = [e[n != 0] for n, e in parts]
    exponent = min((int(e.min()) for e in used if e.size), default=0)
    return [n.astype(object) << np.where(n != 0, e - exponent, 0).astype(object) for n, e in parts], exponent


class Vector:
    """An interval vector, [lower, upper] 2^exponent / denominator; `upper is lower` for a point."""

    def __init__(self, lower: Integers, upper: Integers, exponent: int, denominator: int) -> None:
        self.lower, self.upper, self.exponent, self.denominator = lower, upper, exponent, denominator

    @classmethod
    def of(cls, point: Sequence[Fraction]) -> Vector:
        """A rational point."""
        denominator = lcm(*(x.denominator for x in point))
        twos = (denominator & -denominator).bit_length() - 1
        integers = np.array([x.numerator * (denominator // x.denominator) for x in point] + [None], dtype=object)[:-1]
        return cls(integers, integers, -twos, denominator >> twos)

    @property
    def certain(self) -> bool:
        """Whether it is one point."""
        return self.upper is self.lower

    def relu(self) -> Vector:
        """max(0, x) elementwise."""
        lower = np.maximum(self.lower, 0)
        upper = lower if self.certain else np.maximum(self.upper, 0)
        return Vector(lower, upper, self.exponent, self.denominator)

    def plus(self, other: Vector) -> Vector:
        """The sum of two vectors with the same denominator."""
        exponent = min(self.exponent, other.exponent)
        shift, shift_other = self.exponent - exponent, other.exponent - exponent
        lower = (self.lower << shift) + (other.lower << shift_other)
        both = self.certain and other.certain
        upper = lower if both else (self.upper << shift) + (other.upper << shift_other)
        return Vector(lower, upper, exponent, self.denominator)

    def fractions(self) -> list[tuple[Fraction, Fraction]]:
        """The intervals as rationals; both ends of a point are one number."""
        unit = Fraction(2) ** self.exponent / self.denominator
        lower = [low * unit for low in self.lower.tolist()]
        upper = lower if self.certain else [high * unit for high in self.upper.tolist()]
        return list(zip(lower, upper, strict=True))
