"""Convex polytopes of few dimensions by their vertices, in exact integer arithmetic.

A point of d coordinates is homogeneous: integers (n_1, ..., n_d, q) with q > 0 stand for (n_1, ..., n_d) / q. A row of
integers (a_1, ..., a_d, b) is the functional x -> a.x + b times some positive number, so a row and a point multiply to
a number with the right sign. A vertex carries the set of half spaces that are tight there, as bits.

Cutting is one step of the double description method (Motzkin, Raiffa, Thompson, Thrall 1953): the vertices of
P and {row >= 0} are those of P on the right side and one on each edge of P that crosses; two vertices span an edge iff
no third vertex is tight wherever both are. Nothing is rounded, so a polytope may be flat, even a single point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd, lcm

Point = tuple[int, ...]
Row = tuple[int, ...]


def multiply(row: Row, point: Point) -> int:
    """The functional at the point, times the point's (positive) denominator."""
    return sum(a * n for a, n in zip(row, point, strict=True) if a)


def coordinates(point: Point) -> tuple[Fraction, ...]:
    """The point in ordinary coordinates."""
    return tuple(Fraction(n, point[-1]) for n in point[:-1])


def whole(numbers: Sequence[Fraction]) -> tuple[Row, int]:
    """Integers that are the numbers times a common positive denominator, and the denominator."""
    denominator = lcm(*(number.denominator for number in numbers))
    return tuple(int(number * denominator) for number in numbers), denominator


@dataclass(frozen=True)
class Polytope:
    """The convex hull of `vertices` (point, tight half spaces); `cuts` counts the half spaces so far."""

    vertices: tuple[tuple[Point, int], ...]
    cuts: int

    @classmethod
    def box(cls, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Polytope:
        """lower <= x <= upper; an input of no width lies on both of its bounds."""
        choices: list[list[tuple[Fraction, int]]] = []
        for index, (low, high) in enumerate(zip(lower, upper, strict=True)):
            one, other = 1 << 2 * index, 2 << 2 * index
            choices.append([(low, one | other)] if low == high else [(low, one), (high, other)])
        vertices = tuple(
            (whole([*(x for x, _ in corner), Fraction(1)])[0], sum(bits for _, bits in corner))
            for corner in product(*choices)
        )
        return cls(vertices, 2 * len(choices))

    def __bool__(self) -> bool:
        return bool(self.vertices)

    @property
    def points(self) -> list[Point]:
        """The vertices without their tight half spaces."""
        return [point for point, _ in self.vertices]

    def cut(self, row: Row) -> Polytope:
        """The part where the functional is not negative, which may be empty."""
        heights = [multiply(row, point) for point, _ in self.vertices]
        if all(height >= 0 for height in heights):
            return self
        bit = 1 << self.cuts
        kept = [
            (point, tight | (0 if height else bit))
            for (point, tight), height in zip(self.vertices, heights, strict=True)
            if height >= 0
        ]
        above = [(index, height) for index, height in enumerate(heights) if height > 0]
        below = [(index, height) for index, height in enumerate(heights) if height < 0]
        for i, up in above:
            for j, down in below:
                common = self.vertices[i][1] & self.vertices[j][1]
                if self._is_edge(common, i, j):
                    kept.append((_between(self.vertices[i][0], up, self.vertices[j][0], -down), common | bit))
        return Polytope(tuple(kept), self.cuts + 1)

    def _is_edge(self, common: int, i: int, j: int) -> bool:
        return all(tight & common != common or k in (i, j) for k, (_, tight) in enumerate(self.vertices))


def _between(first: Point, height: int, second: Point, depth: int) -> Point:
    """The point between two where a functional is 0 that is height > 0 at the first and -depth < 0 at the second."""
    point = [height * m + depth * n for m, n in zip(second, first, strict=True)]
    divisor = gcd(*point)
    return tuple(n // divisor for n in point)
