"""What holds for all outputs within enclosures: against the claims' definitions at points of them."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest

from breadth import examples
from eqspec.property import Confidence, Decision, Epsilon, Linear, Margin, Property, Top1
from eqspec.replay.holding import Ends, asks_nothing, holds, surely
from eqspec.replay.violation import sure_of_less, violation
from unit.replay.claims_at_points import CLAIMS, DECISIONS, F, asked, enclosures, points, true


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


INEXACT = (
    Epsilon("0.1", "l1"),
    Epsilon("0.1", "l2"),
    Margin("0.3"),
    Linear((F(1, 3), F(2, 7), -1), (F(1, 5), 0, F(-3, 11)), 1),
)
"""Claims whose numbers are no floats."""


def beside_limits(rng: np.random.Generator, claim: Property) -> tuple[Ends, Ends]:
    """Outputs (3, N) of two networks that reach what is allowed, or the guard, but for some units in the last place."""
    count = 400
    f = rng.choice([1.0, 1e-3, 1e5]) * rng.normal(size=(3, count))
    size = {"l1": 1 / 3, "l2": 3**-0.5}.get(getattr(claim, "norm", ""), 1.0)
    limit = float(getattr(claim, "eps", getattr(claim, "margin", getattr(claim, "bound", 1.0)))) * size
    moved = rng.choice([limit, -limit, limit / 2, 0.0], size=(3, count))
    g = (f + moved) * (1.0 + rng.integers(-3, 4, size=(3, count)) * 2.0**-52)
    if isinstance(claim, Top1 | Margin | Confidence):
        lead = limit if isinstance(claim, Margin) else 1.0
        f[1] = (f[0] - lead) * (1.0 + rng.integers(-3, 4, size=count) * 2.0**-52)
        f[2] = f[1] - rng.choice([0.0, 1.0], size=count)
    if isinstance(claim, Linear):
        row = [float(c) for c in (*claim.candidate, *claim.reference)]
        both = np.concatenate([g, f])
        moved_one = next(k for k, c in enumerate(row) if c)
        rest = sum(c * x for k, (c, x) in enumerate(zip(row, both, strict=True)) if k != moved_one)
        away = rng.choice([0.0, 1.0], size=count)
        both[moved_one] = (limit - rest - away) / row[moved_one] * (1.0 + rng.integers(-3, 4, size=count) * 2.0**-52)
        g, f = both[:3], both[3:]
    wide = rng.choice([0.0, 0.0, 2.0**-52], size=count)
    ends = [(x - wide * np.abs(x), x + wide * np.abs(x)) for x in (f, g)]
    return ends[0], ends[1]


@pytest.mark.parametrize("claim", [*CLAIMS, *INEXACT], ids=str)
@pytest.mark.parametrize("lowest_wins", [False, True])
def test_what_holds_for_certain_does_so_in_exact_numbers(claim: Property, lowest_wins: bool) -> None:
    rng = np.random.default_rng(7)
    certain = 0
    for _ in range(4):
        f, g = beside_limits(rng, claim)
        if lowest_wins and isinstance(claim, Top1 | Margin | Confidence):
            f, g = ((-high, -low) for low, high in (f, g))
        found = surely(claim, f, g, lowest_wins=lowest_wins)
        for place in np.flatnonzero(found).tolist():
            exact = [
                [(F(low), F(high)) for low, high in zip(*(end[:, place].tolist() for end in e), strict=True)]
                for e in (f, g)
            ]
            assert holds(claim, *exact, lowest_wins=lowest_wins)
        certain += int(found.sum())
    assert certain > 0


def test_nothing_is_certain_beyond_the_floats() -> None:
    huge = np.array([[1e200]]), np.array([[1e200]])
    zero = np.zeros((1, 1)), np.zeros((1, 1))
    assert not surely(Epsilon(10**155, "l2"), huge, zero)[0]
    assert surely(Epsilon(10**201, "l2"), huge, zero)[0] in (True, False)
    large = np.full((1, 1), 1e308), np.full((1, 1), 1e308)
    assert not surely(Linear((10,), (0,), 1), zero, large)[0]
    few_digits = Linear((F(1, 10**323),), (0,), F(99, 10**17))  # as a float it is 1.2 % less
    assert not surely(few_digits, zero, large)[0]
    assert surely(Linear((F(1, 2),), (0,), 1), zero, zero)[0]


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
