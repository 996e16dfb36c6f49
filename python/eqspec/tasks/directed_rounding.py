"""From exact numbers to floats, rounded to the side that keeps a proof a proof.

A float division of two integers is correctly rounded in Python, so the nearest float of a rational is at most one
step from either neighbour and an exact comparison says which. Logarithms come from `decimal`, whose `ln` is
correctly rounded at any precision; the precision grows until both ends of the enclosure round to the same float,
which happens because the logarithm of a rational other than 1 is irrational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError


def float_below(number: Fraction) -> float:
    """The largest float that is not above the number (-inf below them all)."""
    try:
        nearest = float(number)
    except OverflowError:
        return float_info.max if number > 0 else -math.inf
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def float_above(number: Fraction) -> float:
    """The smallest float that is not below the number (+inf above them all)."""
    return -float_below(-number) + 0.0  # not -0.0


def floats_below(numbers: Sequence[Fraction]) -> NDArray[np.float64]:
    """`float_below` of each."""
    return np.array([float_below(n) for n in numbers], np.float64)


def floats_above(numbers: Sequence[Fraction]) -> NDArray[np.float64]:
    """`float_above` of each."""
    return np.array([float_above(n) for n in numbers], np.float64)


def contexts(digits: int) -> tuple[Context, Context]:
    """Two contexts for decimal arithmetic of `digits` digits: one rounds down, the other up.

    Exponents reach far beyond every float, yet not so far that the smallest number has no affordable fraction.
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=-99_999, Emax=99_999)
    up = Context(prec=digits, rounding=ROUND_CEILING, Emin=-99_999, Emax=99_999)
    return down, up


def decimal_enclosure(number: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Decimals of `digits` digits that enclose the number."""
    down, up = contexts(digits)
    numerator, denominator = Decimal(number.numerator), Decimal(number.denominator)
    return down.divide(numerator, denominator), up.divide(numerator, denominator)


def log_odds_below(delta: Fraction) -> float:
    """The largest float not above ln(delta / (1 - delta)), for 0 < delta < 1."""
    if not 0 < delta < 1:
        raise InputError(f"the log odds of {delta} are not finite; give a number between 0 and 1")
    odds = delta / (1 - delta)
    if odds == 1:
        return 0.0
    digits = 40
    while True:
        low, high = decimal_enclosure(odds, digits)
        down, up = contexts(digits)
        # ln is monotone and rounded to nearest whatever the context says, so one unit outward encloses it
        least, most = down.next_minus(down.ln(low)), up.next_plus(up.ln(high))
        if (below := float_below(Fraction(least))) == float_below(Fraction(most)):
            return below
        digits *= 2
