"""Plain decimals, as VNN-LIB 2.0 has them: without exponent, and with a point, because a number without one is an
integer there, which no real tensor is compared with. What has no short decimal is rounded to the side asked for.
"""

from __future__ import annotations

from fractions import Fraction

MOST_DIGITS = 60
"""The most digits of a number that is written exactly."""
ROUNDED_DIGITS = 24
"""Significant, of one that is not."""


def plain(value: Fraction) -> str | None:
    """The number exactly, None where it does not end, or not soon."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    odd, fives = value.denominator >> twos, 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    places = max(twos, fives)
    if odd != 1 or places > MOST_DIGITS or abs(value) >= 10**MOST_DIGITS:
        return None
    return _placed(value.numerator * 10**places // value.denominator, places)


def below(value: Fraction) -> str:
    """The number, or a decimal just below it."""
    exact = plain(value)
    if exact is not None:
        return exact
    size, places = abs(value), 0
    if size < 1:  # leading zeros are no significant digits; denominator bits bound how many there are
        places = len(str(size.denominator)) - len(str(size.numerator))
    places += ROUNDED_DIGITS
    scaled = value * 10**places
    return _placed(scaled.numerator // scaled.denominator, places)


def above(value: Fraction) -> str:
    """The number, or a decimal just above it."""
    text = below(-value)
    return text[1:] if text.startswith("-") else "0.0" if not text.strip("0.") else f"-{text}"


def _placed(digits: int, places: int) -> str:
    sign, text = "-" if digits < 0 else "", str(abs(digits)).rjust(places + 1, "0")
    whole, fraction = (text[:-places], text[-places:].rstrip("0")) if places else (text, "")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}.0" if whole != "0" else "0.0"
