"""The levels of a quantiser on ranges of real numbers, in floats with every rounding.

With t = x / scale + zero the level is within a `DEFECT` of t where nothing is cut off: rounding to the nearest integer
moves a number by 1/2 at most, any other way by less than 1. As the ends are integers, cutting off moves both alike, so

    k - lam x  in  (clip(x, L, H) - lam scale x) / scale + zero + defect,    L = scale (low - zero), H alike.

A rounding never decreases: the levels of a range also lie between those of its ends, and where these are one it is
constant. Between two levels it jumps, so that nothing bounds its slopes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import frexp

import numpy as np

from ..rounding import Array, Refused
from .interval import Interval, below
from .levels import AWAY, CEIL, FLOOR, HALF_AWAY, HALF_EVEN, HALF_ZERO, ZERO
from .shape import Shape

DEFECT = {FLOOR: (-1.0, 0.0), CEIL: (0.0, 1.0), ZERO: (-1.0, 1.0), AWAY: (-1.0, 1.0)}
DEFECT |= dict.fromkeys((HALF_EVEN, HALF_AWAY, HALF_ZERO), (-0.5, 0.5))


def _outward(of_size: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding that does the same to both sides of 0."""
    return lambda x: np.copysign(of_size(np.abs(x)), x)


INTEGERS: dict[int, Callable[[Array], Array]] = {
    HALF_EVEN: np.rint, FLOOR: np.floor, CEIL: np.ceil, ZERO: np.trunc, AWAY: _outward(np.ceil),
    HALF_AWAY: _outward(lambda x: np.floor(x) + (x - np.floor(x) >= 0.5)),
    HALF_ZERO: _outward(lambda x: np.floor(x) + (x - np.floor(x) > 0.5)),
}  # fmt: skip
"""Of floats, without an error: what is behind the point of a float is one."""


@dataclass(frozen=True)
class Levels(Shape):
    """Of scale, zero, low, high and the number of a rounding; `clip` is between L and H."""

    clip: Shape = field(default_factory=partial(Shape, ()))
    given: tuple[float, ...] = ()

    @classmethod
    def of(cls, given: tuple[float, ...], low: float, high: float, clip: Shape) -> Levels:
        """Given L and H, which must be what they should be."""
        scale, zero, *ends, _ = map(Fraction, given)
        if [Fraction(low), Fraction(high)] != [scale * (end - zero) for end in ends]:
            raise Refused("a quantiser whose ends no float holds, which the auditor does not bound")
        return cls((), clip=clip, given=given)

    @property
    def knots(self) -> tuple[float, ...]:
        """L and H."""
        return self.clip.knots

    def near(self, x: Array, slope: bool = False) -> Array:
        """The clip, in units of levels."""
        value = self.clip.near(x, slope) / self.given[0]
        return value if slope else value + self.given[1]

    def offset(self, lam: Array, a: Array, b: Array) -> Interval:
        """By the clip, and by the levels of both ends."""
        by_clip, by_ends = self._by_clip(lam, a, b), self._at_ends(a, b) - Interval.of(lam) * Interval(a, b)
        low, high = np.maximum(by_clip.low, by_ends.low), np.minimum(by_clip.high, by_ends.high)
        good = self.defined(a, b)
        return Interval(np.where(good, low, np.nan), np.where(good, high, np.nan))

    def _by_clip(self, lam: Array, a: Array, b: Array) -> Interval:
        scale, zero, *_, number = self.given
        steep = lam * scale
        rest = (Interval.of(steep) - Interval.of(lam) * scale) * Interval(a, b)  # what the product has lost
        return (self.clip.offset(steep, a, b) + rest) / scale + zero + Interval(*DEFECT[int(number)])

    def _at_ends(self, a: Array, b: Array) -> Interval:
        return self._ends(a, b)

    def slopes(self, a: Array, b: Array) -> Interval:
        """0 on one level."""
        ends = self._ends(a, b)
        flat = (ends.low == ends.high) & self.defined(a, b)
        return Interval(np.where(flat, 0.0, -np.inf), np.where(flat, 0.0, np.inf))

    def _ends(self, a: Array, b: Array) -> Interval:
        """Levels that no level on the range is below, and above."""
        scale, zero, lowest, highest, number = self.given
        near = a / scale, b / scale
        if frexp(scale)[0] == 0.5:  # exactly, unless it underflows
            same = [end * scale == x for end, x in zip(near, (a, b), strict=True)]
        else:
            same = [x == 0.0 for x in (a, b)]
        t = Interval(np.where(same[0], near[0], below(near[0])), np.where(same[1], near[1], -below(-near[1]))) + zero
        return Interval(*(np.clip(INTEGERS[int(number)](end), lowest, highest) for end in (t.low, t.high)))


@dataclass(frozen=True)
class Multiples(Levels):
    """What follows its argument: scale k, within a `DEFECT` of the scale of clip(x, L, H) + scale zero."""

    def near(self, x: Array, slope: bool = False) -> Array:
        """The clip."""
        return self.clip.near(x, slope) + (0.0 if slope else self.given[0] * self.given[1])

    def _by_clip(self, lam: Array, a: Array, b: Array) -> Interval:
        scale, zero, *_, number = self.given
        return self.clip.offset(lam, a, b) + (Interval(*DEFECT[int(number)]) + zero) * scale

    def _at_ends(self, a: Array, b: Array) -> Interval:
        return self._ends(a, b) * self.given[0]
