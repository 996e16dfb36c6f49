"""Numbers rounded to the safe side.

Floats are binary64 to nearest. A result is off by at most U relatively, or by less than TINY where it underflows; a
sum of n products, in any order and fused or not, by at most gamma(n) times the sum of their absolute values.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
U, EPS, TINY = 2.0**-53, 2.0**-52, 2.0**-1022


def gamma(n: int) -> float:
    """At least n U / (1 - n U), for n below 2^25."""
    return (n + 2) * U


def up(x: Any) -> Any:
    """At least the next float: one unit in the last place is at most |x| EPS."""
    return x + (np.abs(x) * EPS + TINY)


def down(x: Any) -> Any:
    """At most the previous float."""
    return x - (np.abs(x) * EPS + TINY)


def inflate(x: Any, n: int) -> Any:
    """At least the exact value of a sum of non-negative terms that was computed with n roundings."""
    return x * (1.0 + 2.0 * gamma(n)) + TINY


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


def log_odds_below(delta: Fraction) -> float:
    """A float below ln(delta / (1 - delta)), by a unit or two: `decimal` rounds division and ln correctly."""
    odds, context = delta / (1 - delta), Context(prec=60)
    ratio = context.divide(Decimal(odds.numerator), Decimal(odds.denominator))  # relative error 1e-59
    near = Fraction(context.ln(ratio))
    return float_below(near - Fraction(1, 10**50) * (1 + abs(near)))


def exp_below(x: Array) -> Array:
    """At most e^x: (1 + x / n)^n <= e^x for x >= -n, here n = 2^20, rounded down at every step."""
    power = down(1.0 + down(np.clip(x, -1000.0, 700.0) / 2.0**20))
    for _ in range(20):
        power = down(power * power)
    return np.where(x > -1000.0, np.maximum(power, 0.0), 0.0)


def ln(x: Array) -> tuple[Array, Array]:
    """ln of normal x > 0 and a bound on its error: x = m 2^e, ln m = 2 atanh((m - 1) / (m + 1)).

    |z| <= 1/3: thirty odd terms leave out less than 1e-29; two roundings in z, two a term, and those of the sum.
    """
    m, e = np.frexp(x)  # m in [1/2, 1)
    z = (m - 1.0) / (m + 1.0)
    total = np.zeros_like(z)
    for k in range(59, 0, -2):
        total = total * (z * z) + 1.0 / k
    return e * math.log(2.0) + 2.0 * z * total, 128.0 * U * (np.abs(e) + 1.0)
