"""Claims at points, as the language defines them: what `replay` and the auditor are compared with."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np

from eqspec.property import Confidence, Decision, Epsilon, Linear, Margin, Property, Top1
from eqspec.replay.violation import Enclosure

F = Fraction
Point = tuple[F, ...]
DECISIONS: tuple[Decision, ...] = (
    Top1(),
    *(Margin(margin) for margin in (0, 1, 2)),
    *(Confidence(share) for share in (F(1, 5), F(1, 3), F(2, 5), F(3, 5), F(4, 5))),
)
CLAIMS: tuple[Property, ...] = (
    *DECISIONS,
    *(
        Epsilon(eps, norm, chosen)
        for eps in (0, F(1, 2), 2)
        for norm in ("linf", "l1", "l2")
        for chosen in (None, (0, 2))
    ),
    *(Linear((1, 0, -1), (0, 2, 0), bound, strict) for bound in (0, 1) for strict in (False, True)),
)


def asked(claim: Decision, f: Point, k: int) -> bool:
    """Whether f decides for class k as the claim asks; no share lies so near a limit that 50 digits do not tell."""
    others = [x for j, x in enumerate(f) if j != k]
    if max(others) > f[k]:
        return False
    if isinstance(claim, Margin):
        return all(f[k] - x >= F(claim.margin) for x in others)
    if isinstance(claim, Confidence):
        if len(set(f)) == 1:
            return F(1, len(f)) >= F(claim.delta)
        with mpmath.workdps(50):
            total = sum(mpmath.exp(mpmath.mpf(int(2 * (x - f[k]))) / 2) for x in f)
            return bool(1 / total >= mpmath.mpf(F(claim.delta).numerator) / F(claim.delta).denominator)
    return True


def true(claim: Property, f: Point, g: Point) -> bool:
    """The claim at one pair of outputs, as the language defines it."""
    match claim:
        case Epsilon(eps, norm, chosen):
            gaps = [abs(f[i] - g[i]) for i in (chosen or range(len(f)))]
            if norm == "l2":
                return sum(gap * gap for gap in gaps) <= F(eps) ** 2
            return (max(gaps) if norm == "linf" else sum(gaps)) <= F(eps)
        case Linear(candidate, reference, bound, strict):
            value = sum(F(c) * x for c, x in zip((*candidate, *reference), (*g, *f), strict=True))
            return value < F(bound) or (value == F(bound) and not strict)
        case Top1() | Margin() | Confidence():
            return all(g[k] == max(g) for k in range(len(f)) if asked(claim, f, k))
        case _:
            raise AssertionError(claim)


def enclosures(rng: np.random.Generator) -> list[Enclosure]:
    low = rng.integers(-3, 4, 3)
    return [(F(int(a), 2), F(int(a + w), 2)) for a, w in zip(low, rng.choice([0, 0, 1], 3), strict=True)]


def points(within: list[Enclosure]) -> list[Point]:
    """The corners."""
    return list(product(*({low, high} for low, high in within)))
