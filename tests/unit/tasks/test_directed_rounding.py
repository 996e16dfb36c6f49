"""Directed rounding against exact comparison and an independent library of intervals (mpmath)."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.errors import InputError
from eqspec.tasks.directed_rounding import decimal_enclosure, float_above, float_below, log_odds_below

rationals = st.one_of(
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.builds(lambda a, b: Fraction(a) / b, st.integers(), st.integers(1, 10**40)),
    st.builds(
        lambda x, k: Fraction(x) + Fraction(1, 2) ** k,
        st.floats(-1e300, 1e300, allow_nan=False),
        st.integers(0, 1200),
    ),
)


@given(rationals)
def test_floats_on_either_side_are_the_nearest_ones(number: Fraction) -> None:
    low, high = float_below(number), float_above(number)
    if math.isfinite(low):
        assert Fraction(low) <= number
    if math.isfinite(high):
        assert Fraction(high) >= number
    following = math.nextafter(low, math.inf)
    assert math.isinf(following) or Fraction(following) > number
    preceding = math.nextafter(high, -math.inf)
    assert math.isinf(preceding) or Fraction(preceding) < number
    assert (low == high) == (math.isfinite(low) and Fraction(low) == number)


def test_beyond_the_floats() -> None:
    huge = Fraction(10) ** 400
    assert float_below(huge) == 1.7976931348623157e308
    assert float_above(huge) == math.inf
    assert float_below(-huge) == -math.inf
    assert float_below(1 / huge) == 0.0
    assert float_above(1 / huge) == 5e-324


@given(st.fractions(), st.integers(1, 50))
def test_decimals_enclose(number: Fraction, digits: int) -> None:
    low, high = decimal_enclosure(number, digits)
    assert Fraction(low) <= number <= Fraction(high)
    assert (low == high) == (Fraction(low) == number)


deltas = st.one_of(
    st.fractions(0, 1).filter(lambda d: 0 < d < 1),
    st.integers(1, 300).map(lambda k: 1 - Fraction(1, 10**k)),
    st.integers(1, 300).map(lambda k: Fraction(1, 2) + Fraction(1, 10**k)),
    st.integers(1, 300).map(lambda k: Fraction(1, 10**k)),
)


@given(deltas)
def test_log_odds_round_down_by_less_than_one_step(delta: Fraction) -> None:
    """The oracle goes the other way: exp of the float, at very high precision, must be at most the odds."""
    threshold = log_odds_below(delta)
    odds = delta / (1 - delta)
    with localcontext() as context:
        context.prec = 700
        assert Fraction(Decimal(threshold).exp()) <= odds * (1 + Fraction(1, 10**690))
        above = math.nextafter(threshold, math.inf)
        assert Fraction(Decimal(above).exp()) > odds * (1 - Fraction(1, 10**690))


def test_log_odds_of_round_numbers() -> None:
    assert log_odds_below(Fraction(1, 2)) == 0.0
    assert log_odds_below(Fraction(999, 1000)) == pytest.approx(6.906754778648554, rel=1e-15)
    assert log_odds_below(Fraction(1, 5)) < 0
    assert getcontext().prec == 28  # the caller's arithmetic is left alone


@pytest.mark.parametrize("delta", [0, 1, -1, 2])
def test_log_odds_of_no_probability_are_refused(delta: int) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        log_odds_below(Fraction(delta))
