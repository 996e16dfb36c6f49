"""Numbers as people read them: short, and every digit that is shown is right."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction

from eqspec.tasks.phrasing import approximately, number_in_words

_LONGEST = 24
"""Characters of a number that is shown exactly."""


def duration(seconds: float) -> str:
    """0.02 s, 3.4 s, 2:05, 1:02:05."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def count(number: int) -> str:
    """Thousands apart: 12 345."""
    return f"{number:,}".replace(",", " ")


def share(fraction: float) -> str:
    """A percentage that says 0 or 100 only if it is."""
    if fraction <= 0.0 or fraction >= 1.0:
        return "100 %" if fraction >= 1.0 else "0 %"
    percent = 100.0 * fraction
    if percent < 0.1:
        return "<0.1 %"
    return ">99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def value(number: float) -> str:
    """A number to six significant digits."""
    return f"{number:.6g}"


def bound_value(bound: float) -> str:
    """A bound from above to six significant digits, rounded up, so that what is shown is one."""
    if not math.isfinite(bound):
        return value(bound)
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).create_decimal_from_float(bound)):.6g}"


def exact_value(number: Fraction) -> str:
    """A value of a claim as it is, since rounded it would be another claim: 0.9999999 and not 1.

    Of a number with very many digits the nearest float, with a sign that says so.
    """
    words = number_in_words(number)
    return words if len(words) <= _LONGEST else f"≈{approximately(number)!r}"


def plural(number: int, word: str, many: str | None = None) -> str:
    """1 task, 2 tasks; `many` where an s does not do."""
    return f"{count(number)} {word if number == 1 else many or f'{word}s'}"
