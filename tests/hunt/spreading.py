"""The same function over more inputs: each input as a sum of several, and inputs that nothing depends on.

An input x in [c - r, c + r] becomes x = sum s_j y_j with signed powers of two s_j and boxes of the y_j whose radii add
up to r, so the sums of the new box are exactly the old one, whatever else is exact. Weights only change by powers of
two. So an oracle for few inputs tells the truth about many, which the search treats in other ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.tasks.task import LinearConstraint
from oracle.pairs import Pair, Random
from oracle.pieces import Layers


@dataclass(frozen=True)
class Spreading:
    """Input `sources[j]` is the sum of `factors[j]` y_j over its j, and y lies between `lower` and `upper`."""

    sources: list[int]
    factors: list[Fraction]
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

    def fold(self, point: Sequence[Fraction], size: int) -> list[Fraction]:
        """The point (size,) of the smaller box that a point of the larger one stands for."""
        folded = [Fraction(0)] * size
        for source, factor, y in zip(self.sources, self.factors, point, strict=True):
            folded[source] += factor * y
        return folded


def spread(pair: Pair, inputs: int, rng: Random) -> Pair:
    """The pair over at least so many free inputs; as it is if it has them, has none at all, or weights would round."""
    found = draw(pair, inputs, rng)
    if found is None:
        return pair
    reference, candidate = (_over(layers, found) for layers in (pair.reference, pair.candidate))
    if reference is None or candidate is None:
        return pair
    constraints = tuple(
        LinearConstraint(
            tuple(f * constraint.coefficients[i] for i, f in zip(found.sources, found.factors, strict=True)),
            constraint.bound,
            constraint.strict,
        )
        for constraint in pair.constraints
    )
    return replace(
        pair,
        reference=reference,
        candidate=candidate,
        lower=found.lower,
        upper=found.upper,
        constraints=constraints,
    )


def draw(pair: Pair, inputs: int, rng: Random) -> Spreading | None:
    """Into how many parts each free input goes, of which sizes and signs; up to a quarter of the inputs are idle."""
    free = [i for i, (low, high) in enumerate(zip(pair.lower, pair.upper, strict=True)) if low < high]
    if not free or len(free) >= inputs:
        return None
    idle = int(rng.integers(0, 1 + inputs // 4))
    parts = [1] * len(pair.lower)
    for n in range(max(inputs - idle, len(free)) - len(free)):
        parts[free[n % len(free)]] += 1
    made: list[tuple[int, Fraction, Fraction, Fraction]] = []
    for i, count in enumerate(parts):
        centre, radius = (pair.upper[i] + pair.lower[i]) / 2, (pair.upper[i] - pair.lower[i]) / 2
        for part, share in enumerate(_shares(radius, count)):
            factor = Fraction(int(rng.choice([-1, 1]))) * Fraction(2) ** int(rng.integers(-3, 4))
            middle = centre if part == 0 else Fraction(0)
            low, high = sorted(((middle - share) / factor, (middle + share) / factor))
            made.append((i, factor, low, high))
    made += [(0, Fraction(0), Fraction(-1), Fraction(int(rng.integers(0, 3)))) for _ in range(idle)]
    sources, factors, lower, upper = zip(*(made[int(i)] for i in rng.permutation(len(made))), strict=True)
    return Spreading(list(sources), list(factors), tuple(lower), tuple(upper))


def _shares(radius: Fraction, count: int) -> list[Fraction]:
    """So many parts, made by halving the first of the largest again and again."""
    shares = [radius]
    while len(shares) < count:
        largest = shares.index(max(shares))
        shares[largest : largest + 1] = [shares[largest] / 2] * 2
    return shares


def _over(layers: Layers, found: Spreading) -> Layers | None:
    """None if a weight over- or underflows."""
    (weight, bias), *rest = layers
    sources, scale = found.sources, np.array([float(f) for f in found.factors])
    with np.errstate(over="ignore", under="ignore"):
        columns: NDArray[np.float64] = np.ascontiguousarray(weight[:, sources] * scale)
        back = columns / np.where(scale == 0.0, 1.0, scale)
    if not np.array_equal(back, np.where(scale == 0.0, 0.0, weight[:, sources])):
        return None
    return [(columns, bias), *rest]
