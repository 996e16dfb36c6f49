"""The greatest confidence on a polytope: maximise z_k - LSE(z_l, l != k), a concave function of x, by cutting planes.

By the variational formula LSE(z) = max over weights w of w.z + H(w), H the entropy, every w gives the valid cut
s <= z_k - w.z - H(w) on the set of (x, s) with s <= z_k - LSE(z). Kelley's method (1960): cut the prism over the
polytope, take its highest vertex, add the cut that is tight there (w = softmax of the other outputs), repeat until the
vertex is no higher than what an actual point reaches. Cuts are rational and the entropy in them is rounded down, so the
answer encloses the maximum but for the rounding of a few floating point functions, which `ROUNDING` covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, fsum, log

from oracle.polytope import Point, Polytope, Row, coordinates, multiply

ROUNDING = 1e-11
"""More than the floating point error of log, exp and their sums over a few outputs of moderate size."""
_CLOSE = Fraction(1, 10**9)
_GRID = 1 << 40
_MOST_CUTS = 500


class Summit:
    """The greatest value of z_k - LSE(z_l, l != k) over several polytopes, enclosed by `low` and `high`.

    Both are None while no polytope had a point. `point` is where `low` is reached.
    """

    def __init__(self) -> None:
        self.low: Fraction | None = None
        self.high: Fraction | None = None
        self.point: tuple[Fraction, ...] | None = None

    def climb(self, polytope: Polytope, scores: Sequence[Row], denominator: int, k: int) -> None:
        """Take a polytope in, on which the outputs z are these functionals over the denominator."""
        if not polytope:
            return
        others = [row for index, row in enumerate(scores) if index != k]
        leads = [tuple(a - b for a, b in zip(scores[k], row, strict=True)) for row in others]
        for point in polytope.points:
            self._visit(leads, denominator, point)
        assert self.low is not None
        ceiling = max(Fraction(multiply(leads[0], point), denominator * point[-1]) for point in polytope.points)
        if ceiling <= self.low:
            self._bound(self.low)
            return
        prism = _prism(polytope, self.low, ceiling)
        for index in range(1, len(leads)):
            weights = [int(index == at) for at in range(len(leads))]
            prism = prism.cut(_cut(leads, weights, 1, denominator, Fraction(0)))
        for _ in range(_MOST_CUTS):
            if not prism:
                self._bound(self.low)
                return
            top = max(prism.points, key=lambda point: Fraction(point[-2], point[-1]))
            height = Fraction(top[-2], top[-1])
            weights = self._visit(leads, denominator, (*top[:-2], top[-1]))
            if height - self.low <= _CLOSE:
                self._bound(height)
                return
            entropy = fsum(-w / _GRID * log(w / _GRID) for w in weights if w)
            prism = prism.cut(_cut(leads, weights, _GRID, denominator, Fraction(entropy - ROUNDING)))
        raise ArithmeticError("the cutting planes did not converge")

    def _bound(self, height: Fraction) -> None:
        """No polytope so far, this one included, reaches higher than `high` or the height."""
        self.high = height if self.high is None else max(self.high, height)

    def _visit(self, leads: Sequence[Row], denominator: int, point: Point) -> list[int]:
        """Raise `low` to the value at a point; the softmax of the other outputs there, in units of the grid."""
        gaps = [multiply(row, point) / (denominator * point[-1]) for row in leads]
        least = min(gaps)
        powers = [exp(least - gap) for gap in gaps]
        total = fsum(powers)
        value = Fraction(least - log(total) - ROUNDING)
        if self.low is None or value > self.low:
            self.low, self.point = value, coordinates(point)
        weights = [int(power / total * _GRID) for power in powers]
        weights[gaps.index(least)] += _GRID - sum(weights)
        return weights


def _prism(polytope: Polytope, low: Fraction, high: Fraction) -> Polytope:
    """Polytope x [low, high], the new coordinate last."""
    floor, roof = 1 << polytope.cuts, 2 << polytope.cuts
    made = []
    for point, tight in polytope.vertices:
        for level, bit in ((low, floor), (high, roof)):
            scaled = [n * level.denominator for n in point]
            made.append(((*scaled[:-1], level.numerator * point[-1], scaled[-1]), tight | bit))
    return Polytope(tuple(made), polytope.cuts + 2)


def _cut(leads: Sequence[Row], weights: Sequence[int], unit: int, denominator: int, entropy: Fraction) -> Row:
    """sum_l w_l (z_k - z_l) - H - s >= 0 as a row over (x, s, 1), w_l = weights_l / unit."""
    mixed = [sum(w * a for w, a in zip(weights, column, strict=True)) for column in zip(*leads, strict=True)]
    scale = unit * denominator
    row = [a * entropy.denominator for a in mixed]
    return (*row[:-1], -scale * entropy.denominator, row[-1] - scale * entropy.numerator)
