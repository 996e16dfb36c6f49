"""What holds for all outputs within enclosures: against the claims' definitions at points of them."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest

from breadth import examples
from eqspec.property import Confidence, Decision, Margin, Property, Top1
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
