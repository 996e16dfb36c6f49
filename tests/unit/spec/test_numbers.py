"""Exact numbers, against Python's own fractions and decimals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.spec import numbers
from eqspec.spec.numbers import NumberError, shown

fractions = st.fractions(max_denominator=10**9)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.1", "0.1"),
        ("8/255", "8/255"),
        ("9/10", "0.9"),
        ("-3", "-3"),
        ("0", "0"),
        ("1/3", "1/3"),
        ("9999999/10000000", "0.9999999"),
        ("1/10000", "0.0001"),
        ("1/100000", "1e-5"),
        ("-3/2000000", "-1.5e-6"),
        ("1000000", "1000000"),
        ("1e17", "1e17"),
        ("0.50", "0.5"),
        ("1/1024", "0.0009765625"),
        (str(Fraction(1, 2**80)), f"1/{2**80}"),
    ],
)
def test_numbers_are_shown_exactly_and_shortly(value: str, text: str) -> None:
    assert shown(Fraction(value)) == text


@given(fractions)
def test_what_is_shown_is_the_number(value: Fraction) -> None:
    assert Fraction(shown(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=0, max_value=10**9))
def test_literals_are_decimals(value: object) -> None:
    assert numbers.literal(str(value)) == Fraction(str(value))


@given(st.fractions(max_denominator=100, min_value=-100, max_value=100), st.integers(-20, 20))
def test_powers(base: Fraction, exponent: int) -> None:
    if base == 0 and exponent < 0:
        with pytest.raises(NumberError, match="zero"):
            numbers.power(base, Fraction(exponent))
    else:
        assert numbers.power(base, Fraction(exponent)) == base**exponent


@pytest.mark.parametrize("base", [0, 1, -1])
@pytest.mark.parametrize("exponent", [10**400, 10**400 + 1])
def test_powers_of_units_are_affordable(base: int, exponent: int) -> None:
    assert numbers.power(Fraction(base), Fraction(exponent)) == (base if exponent % 2 else abs(base))


@given(fractions, fractions, st.integers(2, 30))
def test_linspace_is_exact(low: Fraction, high: Fraction, count: int) -> None:
    found = numbers.linspace(low, high, Fraction(count))
    steps = {b - a for a, b in pairwise(found)}
    assert (len(found), found[0], found[-1], len(steps)) == (count, low, high, 1)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9), st.integers(2, 12))
def test_logspace_grows_evenly(low: Fraction, count: int) -> None:
    found = numbers.logspace(low, low * 1000, Fraction(count))
    assert (len(found), found[0], found[-1]) == (count, low, low * 1000)
    for i, value in enumerate(found):
        assert float(value) == pytest.approx(float(low) * 1000 ** (i / (count - 1)), rel=1e-5)


def test_logspace_hits_powers_of_ten() -> None:
    assert numbers.logspace(Fraction(1, 1000), Fraction(1), Fraction(4)) == tuple(
        Fraction(x) for x in ("0.001", "0.01", "0.1", "1")
    )


@pytest.mark.parametrize(
    ("text", "decimal", "suffix"),
    [("600s", "600", "s"), ("1.5GB", "1.5", "GB"), ("1e3ms", "1e3", "ms"), ("2e", "2", "e"), ("1e3e", "1e3", "e")],
)
def test_quantities_split(text: str, decimal: str, suffix: str) -> None:
    assert numbers.split_quantity(text) == (decimal, suffix)


@pytest.mark.parametrize("text", ["1e401", "1e-401", "1e99999999999999999999", "1" * 2000])
def test_huge_literals_are_refused_before_they_cost_anything(text: str) -> None:
    with pytest.raises(NumberError):
        numbers.literal(text)
