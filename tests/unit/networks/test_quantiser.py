"""Quantisers against their definition in rationals, ties included."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.networks import exact_curves, quantiser
from eqspec.networks.curve_definitions import DEFINITIONS, problem
from eqspec.networks.quantiser import Quantiser, Rounding
from quantiser_definition import defined, rounded

quantisers = st.builds(
    Quantiser,
    scale=st.sampled_from([1.0, 0.25, 2.0**-6, 4.0, float(np.float32(0.1)), float(np.float32(1 / 3))]),
    low=st.integers(-9, 0),
    high=st.integers(0, 9),
    rounding=st.sampled_from(Rounding),
    zero=st.sampled_from([0.0, 1.0, -3.0, 0.5, float(np.float32(0.3))]),
    wraps=st.booleans(),
    unit=st.sampled_from([None, 1.0, 0.375]),
    base=st.sampled_from([None, 0.0, 0.5, -2.0]),
)
# Ties and thresholds of half integers are among these.
points = st.one_of(
    st.integers(-60, 60).map(lambda k: Fraction(k, 8)),
    st.fractions(-20, 20, max_denominator=60),
    st.integers(-40, 40).map(lambda k: Fraction(k, 2) * Fraction(float(np.float32(0.1)))),
)


@given(quantisers, points)
def test_a_point(q: Quantiser, x: Fraction) -> None:
    assert problem(q.curve) is None
    assert Quantiser.of(q.curve).curve == q.curve
    assert exact_curves.on_interval(q.curve, (x, x)) == (defined(q, x), defined(q, x))


@given(points, st.sampled_from(Rounding))
def test_one_number_rounded(x: Fraction, rounding: Rounding) -> None:
    assert quantiser.rounded(x, rounding) == rounded(x, rounding)


@given(quantisers, points, points, st.fractions(0, 1, max_denominator=20))
def test_an_interval_contains_what_lies_in_it(q: Quantiser, a: Fraction, b: Fraction, share: Fraction) -> None:
    a, b = min(a, b), max(a, b)
    low, high = exact_curves.on_interval(q.curve, (a, b))
    assert low <= defined(q, a + share * (b - a)) <= high
    if not q.wraps:
        assert (low, high) == (defined(q, a), defined(q, b))


@given(quantisers, points)
def test_floats_are_right_away_from_thresholds(q: Quantiser, x: Fraction) -> None:
    x = Fraction(float(x))
    near = [defined(q, x + sign * Fraction(1, 10**9)) for sign in (-1, 1)]
    found = float(DEFINITIONS["quantiser"].value(np.array([float(x)]), q.curve.parameters)[0])
    assert min(abs(found - float(v)) for v in (*near, defined(q, x))) < 1e-12 * (1 + abs(found))


def test_bipolar() -> None:
    q = Quantiser.bipolar(0.75).curve
    for x, expected in ((Fraction(-1, 10**30), -0.75), (Fraction(0), 0.75), (Fraction(5), 0.75), (Fraction(-5), -0.75)):
        assert exact_curves.on_interval(q, (x, x))[0] == Fraction(expected)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"scale": 0.0}, "positive"),
        ({"unit": -1.0}, "positive"),
        ({"low": 3, "high": 2}, "lowest first"),
        ({"high": 2**51}, "up to 2\\^50"),
    ],
)
def test_parameters_that_make_no_sense(change: dict[str, float], word: str) -> None:
    q = Quantiser(**{"scale": 1.0, "low": -1, "high": 1, **change})  # type: ignore[arg-type]
    found = problem(q.curve)
    assert found is not None
    assert re.search(word, found)
