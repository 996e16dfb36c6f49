"""Numbers with what may be missing: c +- r elementwise. Floats, whose rounding goes into r, or Fractions, without any.

Each operation bounds what the radii make of it, |ab - c_a c_b| <= |c_a| r_b + r_a (|c_b| + r_b), and adds U |c| + TINY
for its own rounding, but not where adding 0 or multiplying by 0 or 1 rounds nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from .rounding import MORE, TINY, Array, Refused, U, gamma


def rational(numbers: Any) -> Array:
    """Each number as a Fraction."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers), object)


class Ball:
    """Arrays c and r of one shape; r is 0 if not given."""

    __array_ufunc__ = None

    def __init__(self, c: Array, r: Array | None = None) -> None:
        self.c = np.asarray(c)
        self.r = np.zeros_like(self.c) if r is None else np.asarray(r)

    @staticmethod
    def of(numbers: Any, exact: bool) -> Ball:
        """Rationals as they are, or as the nearest floats with what is missing."""
        fractions = rational(numbers)
        floats = fractions.astype(np.float64)
        missing = np.where(rational(floats) == fractions, 0.0, 2.0 * U * np.abs(floats) + TINY)
        return Ball(fractions) if exact else Ball(floats, missing)

    def _rounded(self, c: Array, r: Array, free: Array | bool = False, units: float = U) -> Ball:
        if np.asarray(c).dtype == object:
            return Ball(c, r)
        return Ball(c, np.where(free & (r == 0.0), 0.0, (r + units * np.abs(c)) * MORE + TINY))

    def __getitem__(self, key: Any) -> Ball:
        return Ball(self.c[key], self.r[key])

    def __neg__(self) -> Ball:
        return Ball(-self.c, self.r)

    def __add__(self, o: Ball) -> Ball:
        return self._rounded(self.c + o.c, self.r + o.r, (self.c == 0) | (o.c == 0))

    def __mul__(self, o: Ball) -> Ball:
        r = np.abs(self.c) * o.r + self.r * (np.abs(o.c) + o.r)
        return self._rounded(self.c * o.c, r, (self.c == 0) | (self.c == 1) | (o.c == 0) | (o.c == 1))

    def __matmul__(self, o: Ball) -> Ball:
        """The last two axes of `o`, each column times this matrix."""
        c, size, n = self.c @ o.c, np.abs(o.c), self.c.shape[-1]
        r = np.abs(self.c) @ o.r + self.r @ (size + o.r)
        if c.dtype == object:
            return Ball(c, r)
        if not self.r.any() and not o.r.any() and np.isin(o.c, (0.0, 1.0)).all() and (o.c.sum(-2) <= 1.0).all():
            return Ball(c)  # columns are picked, nothing is rounded
        return Ball(c, (r + gamma(n) * (np.abs(self.c) @ size)) * MORE + TINY)

    def inverse(self) -> Ball:
        """1 / x."""
        size = np.abs(self.c)
        if not (size * (1 if self.c.dtype == object else 1.0 - 2.0**-20) > self.r).all():
            raise Refused("a divisor may be zero")
        return self._rounded(1 / self.c, self.r / (size * (size - self.r)) * (1 if self.c.dtype == object else MORE))

    def sqrt(self) -> Ball:
        """|sqrt(x) - sqrt(c)| <= r / sqrt(c); Fractions to 200 bits."""
        if not (self.c > self.r).all():
            raise Refused("a square root of what may be negative")
        if self.c.dtype == object:
            if self.r.any():
                raise Refused("a square root of what is not exact")
            root = np.frompyfunc(lambda x: Fraction(isqrt((x.numerator << 400) // x.denominator), 1 << 200), 1, 1)
            return Ball(root(self.c), self.r + Fraction(2, 1 << 200))
        return self._rounded(np.sqrt(self.c), self.r / np.sqrt(self.c) * MORE)

    def move(self, function: Any) -> Ball:
        """Entries in other places."""
        return Ball(function(self.c), function(self.r))
