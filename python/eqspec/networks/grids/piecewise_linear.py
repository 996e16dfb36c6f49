"""Continuous piecewise linear functions with rational knots: restricted to an interval, one behind the other.

    f(x) has slope slopes[0] in front of the first knot, slopes[i] behind knot i, and the value `value` at the first.

Without a knot it is slopes[0] x + value.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Pieces


@dataclass(frozen=True)
class Bent:
    """See the head of this file."""

    knots: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    value: Fraction

    @classmethod
    def of(cls, curve: Curve) -> Bent:
        """A curve of the name `pieces`."""
        parts = Pieces.of(curve.parameters)
        return cls(tuple(map(Fraction, parts.knots)), tuple(map(Fraction, parts.slopes)), parts.values[0])

    @classmethod
    def clip(cls, low: Fraction, high: Fraction, slope: Fraction) -> Bent:
        """slope x between low < high, constant outside of them."""
        return cls((low, high), (Fraction(0), slope, Fraction(0)), slope * low)

    def segments(self) -> Iterator[tuple[Fraction | None, Fraction | None, Fraction, Fraction]]:
        """(from, to, slope a, offset b) of every straight part a x + b; None where it does not end."""
        if not self.knots:
            yield None, None, self.slopes[0], self.value
            return
        value, at = self.value, self.knots[0]
        yield None, at, self.slopes[0], value - self.slopes[0] * at
        for place, slope in enumerate(self.slopes[1:]):
            left = self.knots[place]
            value += self.slopes[place] * (left - at)
            at = left
            yield left, self.knots[place + 1] if place + 1 < len(self.knots) else None, slope, value - slope * left

    def __call__(self, x: Fraction) -> Fraction:
        """The function at a number."""
        for _, end, slope, offset in self.segments():
            if end is None or x <= end:
                return slope * x + offset
        raise AssertionError("the last part does not end")

    def within(self, low: Fraction, high: Fraction) -> Bent:
        """The function between low and high without knots outside or that do not bend it: as few as can be."""
        parts = [
            part
            for part in self.segments()
            if (part[1] is None or part[1] > low) and (part[0] is None or part[0] < high)
        ]
        return _of_parts(parts)

    def behind(self, inner: Bent) -> Bent:
        """x -> self(inner(x))."""
        parts = []
        for start, end, slope, offset in inner.segments():
            turns = [] if slope == 0 else sorted((knot - offset) / slope for knot in self.knots)
            turns = [t for t in turns if (start is None or t > start) and (end is None or t < end)]
            for left, right in pairwise([start, *turns, end]):
                a, b = self._line(slope * _between(left, right) + offset)
                parts.append((left, right, a * slope, a * offset + b))
        return _of_parts(parts)

    def _line(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """Slope and offset of a straight part that x lies in."""
        for _, end, slope, offset in self.segments():
            if end is None or x <= end:
                return slope, offset
        raise AssertionError("the last part does not end")

    def scaled(self, factor: Fraction, offset: Fraction) -> Bent:
        """x -> self(factor x + offset), factor > 0."""
        return Bent(
            tuple((knot - offset) / factor for knot in self.knots),
            tuple(slope * factor for slope in self.slopes),
            self.value if self.knots else self.value + self.slopes[0] * offset,
        )

    @property
    def clips(self) -> bool:
        """Whether it is a x + b, a > 0, cut off below or above or both."""
        inner = [slope for slope in self.slopes if slope]
        flat_ends = all(slope == 0 for slope in (*self.slopes[:1], *self.slopes[-1:])) or len(self.slopes) == 2
        return len(inner) == 1 and inner[0] > 0 and len(self.slopes) <= 3 and flat_ends


def _between(left: Fraction | None, right: Fraction | None) -> Fraction:
    if left is None:
        return Fraction(0) if right is None else right - 1
    return left + 1 if right is None else (left + right) / 2


def _of_parts(parts: list[tuple[Fraction | None, Fraction | None, Fraction, Fraction]]) -> Bent:
    """Straight parts in order, those that go on alike taken together."""
    kept = [parts[0]]
    for part in parts[1:]:
        if part[2] != kept[-1][2]:
            kept.append(part)
    if len(kept) == 1:
        return Bent((), (kept[0][2],), kept[0][3])
    knots = [start for start, *_ in kept[1:] if start is not None]
    return Bent(tuple(knots), tuple(slope for _, _, slope, _ in kept), kept[0][2] * knots[0] + kept[0][3])
