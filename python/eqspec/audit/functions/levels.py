"""Levels of a quantiser, exactly: the integer R(x / scale + zero), cut off at low and high.

`levels(scale, zero, low, high, r)` is a function of one variable like the others, R being number r of `ROUNDINGS`. It
never decreases. What a level stands for, unit (k - base), is affine and belongs to whatever reads it. As no rounding
passes an integer, it does not matter whether what lies outside is cut off before or behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

HALF_EVEN, HALF_AWAY, HALF_ZERO, FLOOR, CEIL, ZERO, AWAY = range(7)
HALF = Fraction(1, 2)


def _outward(of_size: Callable[[Fraction], int]) -> Callable[[Fraction], int]:
    """A rounding that does the same to both sides of 0."""
    return lambda x: of_size(x) if x >= 0 else -of_size(-x)


ROUNDINGS: tuple[Callable[[Fraction], int], ...] = (
    round, _outward(lambda x: floor(x + HALF)), _outward(lambda x: ceil(x - HALF)), floor, ceil, _outward(floor),
    _outward(ceil),
)  # fmt: skip
"""To the nearest integer, with ties to even, away from 0 and towards it; down, up, towards 0 and away from it."""


def cut_off(level: int, low: int, high: int) -> int:
    """The nearest one of low .. high."""
    return min(max(level, low), high)


def level(parameters: tuple[float, ...], x: Fraction) -> int:
    """The level of a number."""
    scale, zero, low, high, rounding = parameters
    return cut_off(ROUNDINGS[int(rounding)](x / Fraction(scale) + Fraction(zero)), int(low), int(high))


def beyond(parameters: tuple[float, ...], low: Fraction, high: Fraction) -> bool:
    """Whether every number between these has a level that is cut off at one end."""
    scale, zero, lowest, highest, rounding = parameters
    ends = [ROUNDINGS[int(rounding)](x / Fraction(scale) + Fraction(zero)) for x in (low, high)]
    return ends[0] > highest or ends[1] < lowest
