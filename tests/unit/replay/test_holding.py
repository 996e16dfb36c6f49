"""What holds for all outputs within enclosures: against the claims' definitions at points of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from breadth import examples
from eqspec.property import Confidence, Decision, Epsilon, Linear, Margin, Property, Top1
from eqspec.replay.holding import Ends, asks_nothing, holds, surely
from eqspec.replay.violation import Enclosure, sure_of_less, violation

F = Fraction
Point = tuple[F, ...]
DECISIONS: tuple[Decision, ...] = (
    Top1(),
    *(Margin(margin) for margin in (0, 1, 2)),
    *(Confidence(share) for share in (F(1, 5), F(1, 3), F(2, 5), F(3, 5), F(9, 10))),
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


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.parametrize("lowest_wins", [False, True])
def test_a_claim_holds_or_is_broken_as_at_all_points(claim: Property, lowest_wins: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(examples(150)):
        f, g = enclosures(rng), enclosures(rng)
        sign = -1 if lowest_wins and isinstance(claim, Top1 | Margin | Confidence) else 1
        pairs = product(points(f), points(g))
        truths = {true(claim, tuple(sign * x for x in a), tuple(sign * x for x in b)) for a, b in pairs}
        held = holds(claim, f, g, lowest_wins=lowest_wins)
        broken = violation(claim, f, g, lowest_wins=lowest_wins) is not None
        assert not (held and False in truths), (f, g)
        assert not (broken and True in truths), (f, g)
        if all(low == high for low, high in (*f, *g)):
            assert held is not broken
        ends: list[Ends] = [
            (np.array([[float(low)] for low, _ in part]), np.array([[float(high)] for _, high in part]))
            for part in (f, g)
        ]
        assert not (surely(claim, *ends, lowest_wins=lowest_wins)[0] and False in truths), (f, g)


@pytest.mark.parametrize("claim", DECISIONS, ids=str)
def test_a_guard_is_said_to_be_met_nowhere_only_where_it_is(claim: Decision) -> None:
    rng = np.random.default_rng(5)
    for _ in range(examples(300)):
        f = enclosures(rng)
        met = any(asked(claim, point, k) for point in points(f) for k in range(3))
        assert not (asks_nothing(claim, f) and met), f
        if all(low == high for low, high in f):
            assert asks_nothing(claim, f) is not met


@pytest.mark.parametrize("share", [F(1, 5), F(1, 3), F(2, 5), F(1, 2), F(3, 5)])
def test_any_class_may_be_asked_whether_its_share_is_smaller(share: F) -> None:
    """Also one that is not the largest, whose share may be large all the same."""
    rng = np.random.default_rng(6)
    for _ in range(examples(300)):
        scores, k = enclosures(rng), int(rng.integers(3))
        with mpmath.workdps(50):
            shares = [1 / sum(mpmath.exp(mpmath.mpf(int(2 * (x - f[k]))) / 2) for x in f) for f in points(scores)]
            limit = mpmath.mpf(share.numerator) / share.denominator
            some_equal = any(len(set(f)) == 1 and share == F(1, 3) for f in points(scores))
            assert not (sure_of_less(scores, k, share) and (max(shares) >= limit or some_equal))
