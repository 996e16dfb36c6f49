"""What an exact confidence is made of: log odds from below, and the entropy of weights from above.

A softmax gives a class at least a share delta where ln sum exp(z_k - z_l) leaves at least ln(delta / (1 - delta)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..rounding import MORE, Array, U, decimal, float_below, up

FAR = 20_000
"""e to this is more than there are classes, and to minus this next to nothing."""


@lru_cache(maxsize=64)  # every row of a guard asks for the same one
def log_odds_below(delta: Fraction) -> float:
    """A float below ln(delta / (1 - delta)), by a unit or two: `decimal` rounds division and ln correctly. ln 1 = 0."""
    odds, context = delta / (1 - delta), Context(prec=60)
    if odds == 1:
        return 0.0
    near = Fraction(context.ln(decimal(odds, context)))
    return float_below(near - Fraction(1, 10**50) * (1 + abs(near)))


def unreachable(delta: Fraction, margins: Sequence[Fraction]) -> bool:
    """Whether no margins at most these over all other classes give a class a share of delta.

    They would if the others' e^-margin came to at most (1 - delta) / delta, which is less than there are classes where
    a guard is exact; a power that is left out would only add to that.
    """
    limit, total, context = (1 - delta) / delta, Fraction(0), Context(prec=60)
    for margin in margins:
        if margin < -FAR:
            return True
        if margin < FAR:  # `decimal` rounds division and exp correctly, each by at most 1e-59 of it
            total += Fraction(context.exp(-decimal(margin, context))) * (1 - (1 + abs(margin)) / Fraction(10**50))
    return total > limit


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


def entropy(lam: Array) -> Array:
    """At most - sum lam ln (lam / |lam|), (F,); terms that are left out are not negative."""
    total, used = lam.sum(1, keepdims=True), lam > 1e-290
    value, off = ln(np.where(used, lam / np.where(total > 0.0, total, 1.0), 1.0))
    lam = np.where(used, lam, 0.0)
    gain, lost = (lam * -value).sum(1), (lam * (off + 8.0 * U * (lam.shape[1] + 8) * (1.0 + np.abs(value)))).sum(1)
    return np.asarray(-up(-(gain - up(lost * MORE))))
