"""Values and slopes of smooth functions, each written once: of intervals with every rounding, of plain arrays without.

x is an interval of single points, or an array; `sign` says on which side of 0 a point lies. e^-|x| never overflows, and
its powers are what sigmoid, tanh, softplus and mish are made of:

    sigmoid(x) = 1 / (1 + e),  tanh(x) = (1 - e^2) / (1 + e^2)  of x >= 0, e = e^-x,
    tanh(softplus(x)) = (e^2 + 2 e) / (e^2 + 2 e + 2),  e = e^x.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..rounding import Array
from .elementary import PI, atan, cos, erf, exp, ln, log1p, sin, sqrt
from .interval import Interval, choose, increasing

OFF = Fraction(1, 2**120)
TWO_OVER_PI = Interval.around(2 / (PI + OFF), 2 / (PI - OFF))


def points(x: Any) -> Array:
    """Of an interval of points, these."""
    return x.low if isinstance(x, Interval) else x


def constant(x: Any, value: Interval) -> Any:
    """As an interval, or as one float for plain arrays."""
    return value if isinstance(x, Interval) else float(value.low)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x)."""
    if isinstance(x, Interval) and (x.low != x.high).any():
        return increasing(sigmoid, x)
    e = exp(-abs(x))
    least = 1.0 / (1.0 + e)
    return choose(points(x) >= 0.0, least, e * least)


def sigmoid_slope(x: Any) -> Any:
    """sigmoid(x) sigmoid(-x)."""
    return sigmoid(x) * sigmoid(-x)


def tanh(x: Any) -> Any:
    """(1 - e^-2x) / (1 + e^-2x)."""
    e = exp(-(abs(x) + abs(x)))
    size = (1.0 - e) / (1.0 + e)
    return choose(points(x) >= 0.0, size, -size)


def tanh_slope(x: Any) -> Any:
    """4 e^-2|x| / (1 + e^-2|x|)^2."""
    e = exp(-(abs(x) + abs(x)))
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def softplus(x: Any) -> Any:
    """max(x, 0) + ln(1 + e^-|x|)."""
    return np.maximum(points(x), 0.0) + log1p(exp(-abs(x)))


def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    return x / (1.0 + abs(x))


def softsign_slope(x: Any) -> Any:
    """1 / (1 + |x|)^2."""
    return 1.0 / ((1.0 + abs(x)) * (1.0 + abs(x)))


def atan_slope(x: Any) -> Any:
    """1 / (1 + x^2)."""
    return 1.0 / (1.0 + x * x)


def reciprocal(x: Any) -> Any:
    """1 / x."""
    return 1.0 / x


def reciprocal_slope(x: Any) -> Any:
    """-1 / x^2."""
    return -1.0 / (x * x)


def power(x: Any, p: float) -> Any:
    """x^p, of any x for whole numbers p, else of x > 0."""
    if not float(p).is_integer() or abs(p) > 64:
        return exp(p * ln(x))
    found, square, n = 1.0 + 0.0 * abs(x), x, int(abs(p))
    while n:
        found, square, n = found * square if n % 2 else found, square * square, n // 2
    return 1.0 / found if p < 0 else found


def power_slope(x: Any, p: float) -> Any:
    """p x^(p - 1)."""
    return p * power(x, p - 1.0)


def erf_slope(x: Any) -> Any:
    """2 / sqrt(pi) e^(-x^2)."""
    return constant(x, sqrt(2.0 * TWO_OVER_PI)) * exp(-(x * x))


def gelu(x: Any) -> Any:
    """x / 2 (1 + erf(x / sqrt 2))."""
    return x * _normal(x)


def _normal(x: Any) -> Any:
    t = x / constant(x, sqrt(Interval(2.0, 2.0)))
    return 0.5 * (1.0 + (increasing(erf, t) if isinstance(t, Interval) else erf(t)))


def gelu_slope(x: Any) -> Any:
    """Phi(x) + x phi(x)."""
    return _normal(x) + 0.5 * (constant(x, sqrt(TWO_OVER_PI)) * (x * exp(-0.5 * (x * x))))


CUBE = Interval.around(Fraction(44715, 1_000_000))


def gelu_tanh(x: Any) -> Any:
    """x / 2 (1 + tanh u) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)."""
    return x * sigmoid(_twice(x))


def _twice(x: Any) -> Any:
    return 2.0 * constant(x, sqrt(TWO_OVER_PI)) * (x * (1.0 + constant(x, CUBE) * (x * x)))


def gelu_tanh_slope(x: Any) -> Any:
    """s + x s (1 - s) 2 u'."""
    v = _twice(x)
    rise = 2.0 * constant(x, sqrt(TWO_OVER_PI)) * (1.0 + 3.0 * constant(x, CUBE) * (x * x))
    return sigmoid(v) + x * (sigmoid(v) * sigmoid(-v)) * rise


def silu(x: Any) -> Any:
    """x sigmoid(x)."""
    return x * sigmoid(x)


def silu_slope(x: Any) -> Any:
    """s (1 + x (1 - s))."""
    return sigmoid(x) * (1.0 + x * sigmoid(-x))


def _gate(x: Any) -> Any:
    e = exp(-abs(x))
    left = e * (e + 2.0)
    right = 1.0 + 2.0 * e
    return choose(points(x) < 0.0, left / (left + 2.0), right / (right + 2.0 * (e * e)))


def mish(x: Any) -> Any:
    """x tanh(softplus(x))."""
    return x * _gate(x)


def mish_slope(x: Any) -> Any:
    """t + x (1 - t^2) sigmoid(x)."""
    t = _gate(x)
    return t + x * ((1.0 - t) * (1.0 + t)) * sigmoid(x)


SMOOTH = {
    "sigmoid": (sigmoid, sigmoid_slope), "tanh": (tanh, tanh_slope), "softplus": (softplus, sigmoid),
    "softsign": (softsign, softsign_slope), "exp": (exp, exp), "log": (ln, reciprocal),
    "sqrt": (sqrt, lambda x: 0.5 / sqrt(x)), "reciprocal": (reciprocal, reciprocal_slope),
    "square": (lambda x: x * x, lambda x: 2.0 * x), "erf": (erf, erf_slope), "sin": (sin, cos),
    "cos": (cos, lambda x: -sin(x)), "atan": (atan, atan_slope), "gelu": (gelu, gelu_slope),
    "gelu_tanh": (gelu_tanh, gelu_tanh_slope), "silu": (silu, silu_slope), "mish": (mish, mish_slope),
}  # fmt: skip
"""Value and slope."""
