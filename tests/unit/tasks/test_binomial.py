"""The bound of Clopper and Pearson, against the definition in whole numbers."""

from __future__ import annotations

from decimal import localcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.tasks.binomial import at_least

PARTS = 10**6


def tail(successes: int, draws: int, share: Fraction) -> Fraction:
    """P(X >= successes), exactly."""
    p, whole = share.numerator, share.denominator
    ways = sum(comb(draws, i) * p**i * (whole - p) ** (draws - i) for i in range(successes, draws + 1))
    return Fraction(ways, whole**draws)


@given(st.data(), st.integers(1, 80), st.sampled_from([Fraction(9, 10), Fraction(19, 20), Fraction(999, 1000)]))
def test_it_is_the_largest_share_whose_tail_is_rare(data: st.DataObject, draws: int, confidence: Fraction) -> None:
    successes = data.draw(st.integers(1, draws))
    bound = at_least(successes, draws, confidence)
    assert tail(successes, draws, bound) <= 1 - confidence < tail(successes, draws, bound + Fraction(1, PARTS))


def test_known_bounds() -> None:
    """From the tables of the beta distribution: its quantile at 5 % with k and n - k + 1."""
    for successes, draws, known in ((96, 100, 0.91080), (4950, 5000, 0.98735), (140, 142, 0.95632), (1, 1, 0.05)):
        assert float(at_least(successes, draws)) == pytest.approx(known, abs=1.1e-5)
    assert at_least(0, 7) == 0
    whole = at_least(1_000_000, 1_000_000)
    assert whole == Fraction(999_997, PARTS)  # 0.05 ** 1e-6


def test_it_does_not_depend_on_how_decimals_are_rounded_around_it() -> None:
    """A process may have set a context of few digits, in which shares of six digits would be rounded."""
    cases = [(95, 100), (999, 1000), (37, 50)]
    expected = [at_least(*case) for case in cases]
    with localcontext() as context:
        context.prec = 2
        assert [at_least(*case) for case in cases] == expected


def test_more_successes_say_more() -> None:
    bounds = [at_least(successes, 60) for successes in range(61)]
    assert bounds == sorted(bounds)
    assert len(set(bounds)) == 61


@pytest.mark.parametrize(("successes", "draws", "confidence"), [(-1, 3, 0.5), (4, 3, 0.5), (1, 3, 0), (1, 3, 1)])
def test_what_is_no_count_is_refused(successes: int, draws: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        at_least(successes, draws, Fraction(confidence))
