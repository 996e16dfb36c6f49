"""Smooth functions in random graphs: their values to fifty digits, by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath

DIGITS = 60
BITS = 180
TOLERANCE = Fraction(1, 10**45)
"""How far a value may be off, and with room to spare what is made of values."""

_OF = mpmath.MPContext()
_OF.dps = DIGITS


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + _OF.exp(-x)) if x > -200 else _OF.exp(x) / (1 + _OF.exp(x))


def _softplus(x: Any) -> Any:
    return _OF.log(1 + _OF.exp(x)) if x < 200 else x + _OF.exp(-x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sigmoid": _sigmoid,
    "tanh": lambda x: _OF.tanh(x),
    "softplus": _softplus,
    "softsign": lambda x: x / (1 + abs(x)),
    "atan": lambda x: _OF.atan(x),
    "elu": lambda x: x if x > 0 else _OF.exp(x) - 1,
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x / 2 * (1 + _OF.erf(x / _OF.sqrt(2))),
    "square": lambda x: x * x,
}
"""Of numbers of mpmath. All of them have a derivative that is bounded where hunts look."""


def value(kind: str, x: Fraction) -> Fraction:
    """f(x), off by less than 1e-50 where |f(x)| <= 1e9."""
    return Fraction(fixed(kind, x.numerator, x.denominator), 1 << BITS)


@lru_cache(1 << 14)  # partners share their first blocks
def fixed(kind: str, over: int, under: int) -> int:
    """f(over / under) as a multiple of 2^-BITS, the nearest one to it or a neighbour."""
    return int(_OF.nint(_OF.ldexp(FUNCTIONS[kind](_OF.mpf(over) / under), BITS)))
