"""Sums of rationals times square roots of rationals, exactly: what a network with normalisations is made of.

So two files that define a number in the same way are seen to define one number, which no precision could show. sqrt(q)
stands for itself, by q; a root that is rational is a Fraction. sqrt(8) and 2 sqrt(2) look different here, and what
looks different may be equal: then a difference is only known to be small, which is sound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

BITS, MOST = 200, 4096
"""Of a root where it is rounded; and of how many parts a product may consist."""
RATIONAL = Fraction(1)


class Surd:
    """The sum of r sqrt(q), `parts` having r by q. Immutable, and not rational."""

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[Fraction, Fraction]) -> None:
        self.parts = parts

    def __add__(self, other: Any) -> Any:
        return total([self, other])

    def __mul__(self, other: Any) -> Any:
        parts: dict[Fraction, Fraction] = {}
        for p, r in self.parts.items():
            for q, s in _parts(other).items():
                product = p if p == q else root(p * q)
                for radicand, factor in _parts(product).items():
                    parts[radicand] = parts.get(radicand, 0) + factor * r * s
        return _made(parts)

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __float__(self) -> float:
        return float(self.near()[0])

    def inverse(self) -> Any:
        """1 / (r sqrt(q)) = sqrt(q) / (r q); None for a sum."""
        if len(self.parts) > 1:
            return None
        ((q, r),) = self.parts.items()
        return Surd({q: 1 / (r * q)})

    def near(self) -> tuple[Fraction, Fraction]:
        """A rational, and at most how far it is off."""
        ends = [(r, *_root_between(q)) for q, r in self.parts.items()]
        off = sum((abs(r) * (high - low) for r, low, high in ends), Fraction(0))
        return sum((r * low for r, low, _ in ends), Fraction(0)), off


def total(numbers: Sequence[Any]) -> Any:
    """The sum of surds and rationals."""
    parts: dict[Fraction, Fraction] = {}
    for number in numbers:
        for q, r in _parts(number).items():
            parts[q] = parts.get(q, 0) + r
    return _made(parts)


def parts(number: Any) -> int:
    """Of how many roots a number is the sum."""
    return len(number.parts) if isinstance(number, Surd) else 0


def root(q: Fraction) -> Any:
    """sqrt(q) of a q >= 0."""
    low, high = _root_between(q)
    return low if low == high else Surd({q: Fraction(1)})


@lru_cache(maxsize=1 << 16)
def _root_between(q: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around a root, apart by less than 2^-200 of it; one and the same where it is rational."""
    top, bottom = isqrt(q.numerator), isqrt(q.denominator)
    if (top * top, bottom * bottom) == (q.numerator, q.denominator):
        return Fraction(top, bottom), Fraction(top, bottom)
    bits = BITS + 2 + q.denominator.bit_length()
    low = isqrt((q.numerator << 2 * bits) // q.denominator)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)


def _parts(number: Any) -> Mapping[Fraction, Fraction]:
    return number.parts if isinstance(number, Surd) else {RATIONAL: Fraction(number)}


def _made(parts: Mapping[Fraction, Fraction]) -> Any:
    parts = {q: r for q, r in parts.items() if r}
    return Surd(parts) if any(q != 1 for q in parts) else parts.get(RATIONAL, Fraction(0))
