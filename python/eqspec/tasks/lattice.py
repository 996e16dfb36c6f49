"""The grid of one input: the points origin + k step for whole k, exactly, in the units of whoever uses it.

A region with a grid is a set of points that lie on it. Boxes are rounded *inward*, so that no point comes in that is
not of the region; two grids of one input meet in a grid again, or nowhere (the Chinese remainder theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Lattice:
    """origin + k step for whole k; step > 0 and 0 <= origin < step, so that equal grids are equal."""

    origin: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise ValueError(f"the step of a grid is above 0, not {self.step}")
        object.__setattr__(self, "origin", self.origin % self.step)

    def __contains__(self, x: Fraction) -> bool:
        return (x - self.origin) % self.step == 0

    def at_least(self, x: Fraction) -> Fraction:
        """The first point from x on."""
        return self.origin + ceil((x - self.origin) / self.step) * self.step

    def at_most(self, x: Fraction) -> Fraction:
        """The last point up to x."""
        return self.origin + floor((x - self.origin) / self.step) * self.step

    def nearest(self, x: Fraction) -> Fraction:
        """A point at most half a step from x."""
        return self.at_most(x + self.step / 2)

    def points(self, low: Fraction, high: Fraction) -> int:
        """How many points lie in [low, high]."""
        return max(0, 1 + floor((high - self.origin) / self.step) - ceil((low - self.origin) / self.step))

    def scaled(self, centre: Fraction, scale: Fraction) -> Lattice:
        """The grid of (x - centre) / scale, for a scale other than 0."""
        return Lattice((self.origin - centre) / scale, self.step / abs(scale))

    def meet(self, other: Lattice) -> Lattice | None:
        """The points of both, None if there is none."""
        whole = lcm(*(x.denominator for x in (self.origin, self.step, other.origin, other.step)))
        a, m, b, n = (int(x * whole) for x in (self.origin, self.step, other.origin, other.step))
        common = gcd(m, n)
        if (b - a) % common:
            return None
        turns = (b - a) // common * pow(m // common, -1, n // common) % (n // common)
        return Lattice(Fraction(a + m * turns, whole), Fraction(m // common * n, whole))


Lattices = tuple[Lattice | None, ...]
"""The grid of each input, None where any real number is allowed; empty if no input has a grid."""


def on(lattices: Lattices, point: Sequence[Fraction]) -> bool:
    """Whether a point lies on all of them."""
    return not lattices or all(a is None or x in a for a, x in zip(lattices, point, strict=True))
