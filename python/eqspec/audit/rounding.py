"""Rounding, in one place. Floats are binary64 to nearest.

One operation is off by at most U relatively, or by less than 2^-1074 where it underflows; a sum of n products, in any
order and fused or not, by at most gamma(n) times the sum of their sizes. A bound of an error is itself computed from
non-negative floats by at most 2^16 operations: times MORE, plus TINY, it is at least the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
U, TINY, MORE = 2.0**-53, 2.0**-1022, 1.0 + 2.0**-36


class Refused(Exception):  # noqa: N818 - the word for what happens to a certificate
    """Why a certificate is not accepted; if leaves show too little, which, and what: all, or the first of them."""

    def __init__(self, reason: str, unproved: Sequence[tuple[int, int]] = ()) -> None:
        super().__init__(reason)
        self.unproved = unproved


def gamma(n: int) -> float:
    """At least n U / (1 - n U)."""
    if n > 2**16:
        raise Refused("these networks are larger than the rounding of the auditor allows for")
    return (n + 2) * U


def up(x: Any) -> Any:
    """At least what two operations on the way to x may have lost of it."""
    return x + (np.abs(x) * 8.0 * U + TINY)


def sum_up(a: Any, b: Any) -> Any:
    """At least a + b, and just that where one of them is 0."""
    return np.where((a == 0.0) | (b == 0.0), a + b, up(a + b))


def rational(floats: Array) -> Array:
    """Each float as a Fraction."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(floats), object)


def float_below(x: Fraction) -> float:
    """The largest float that is not above x."""
    try:
        near = float(x)
    except OverflowError:
        near = math.inf if x > 0 else -math.inf
    return near if near == -math.inf or (near < math.inf and Fraction(near) <= x) else math.nextafter(near, -math.inf)


def float_above(x: Fraction) -> float:
    """The smallest float that is not below x."""
    return -float_below(-x)


def decimal(x: Fraction, context: Context) -> Decimal:
    """A rational to the digits of the context."""
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))
