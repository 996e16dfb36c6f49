"""exp, ln, sqrt, erf, sin, cos and atan of intervals, with proven errors, made of + - * / and sqrt of IEEE 754.

u = 2^-53. The floats of constants are the nearest ones. Of plain arrays every function here is numpy's or a near one:
such values choose points and slopes, and nothing rests on them.

exp: x = k ln 2 + r with |r| <= 0.36. k times the upper part of ln 2 (32 bits) is exact, so r is off by less than u, and
e^r relatively by u. The Taylor polynomial of degree 13 leaves out r^14 e^r / 14! < 2^-57. By Horner's scheme its last
sum rounds by u, the product before it by 0.36 u / 0.69, what is inside of it by less than u: less than 5 u together,
taken as 16 u. Times 2^k is exact but for underflow, which the next float covers.

ln: x = m 2^e with m in [1/sqrt 2, sqrt 2], ln m = 2 atanh z, z = (m - 1) / (m + 1), |z| < 0.172: m - 1 is exact, so z
is off by 2 u; twelve odd terms leave out less than z 2^-61; Horner rounds by less than 3 u. e ln 2 is off by 2 u, the
sum by u. All together less than 16 u (|e ln 2| + |ln m|). log1p(t) of t in [0, 1] is 2 atanh(t / (2 + t)), z <= 1/3, in
24 terms, which leave out less than z 2^-75.

erf: 2 / sqrt(pi) e^(-x^2) sum over n of t_n, t_0 = x, t_n = t_(n-1) 2 x^2 / (2 n + 1), all of one sign. Each step
rounds by at most 4 u, the sum by u a term. From n > 2 x^2 on terms are halved at least, so what is left out is less
than the last one, which is below 2^-60 of the sum, for x <= 6 after 160 of them at the latest: 1100 u cover all of it.
Beyond 6, 1 - erf is below 2^-55.

sin, cos: x = k pi/2 + r with |k| < 2^20, pi/2 in three parts, the products of the first two with k exact: r is off by
less than 2 u; Taylor to degree 21 leaves out less than 2^-70, and Horner rounds by less than 3 u: 16 u absolutely.
Beyond 2^20 they are only known to lie in [-1, 1].

atan: beyond 1 it is pi/2 - atan(1 / x). With c = 0, 1/4, 1/2, 3/4 or 1 near to t in [0, 1], atan t = atan c + atan z,
z = (t - c) / (1 + t c), |z| <= 1/8; atan c is rounded from a rational. t - c is exact, 1 / x is off by u, which moves
atan t by less than 2 u of itself; z is off by 3 u more, ten odd terms leave out less than 2^-64 |z|, Horner rounds by
less than 2 u: 16 u of atan c + |z| cover these, and 4 u of pi/2 what it lacks and its subtraction.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np

from ..rounding import Array, U
from .interval import LARGEST, Interval, below

LN2 = Fraction(235865763225513294137944142764154484399, 2**128)
"""ln 2 to 127 bits: used where it is rounded anyway."""
LN2_HIGH = float(np.round(float(LN2) * 2.0**32) / 2.0**32)
LN2_LOW = float(LN2 - Fraction(LN2_HIGH))
PI = Fraction(267257146016241686964920093290467695825, 2**126)
"""pi, off by less than 2^-126."""
TERMS = 160


def _parts(x: Fraction, bits: int) -> tuple[float, float, float]:
    """x as the sum of two floats of so many bits and a third one."""
    first = Fraction(round(x * 2**bits), 2**bits)
    second = Fraction(round((x - first) * 2 ** (2 * bits)), 2 ** (2 * bits))
    return float(first), float(second), float(x - first - second)


HALF_PI = _parts(PI / 2, 30)


def _arctangent(x: Fraction) -> Fraction:
    """Of a rational of [0, 1/2], and of 1 by pi: within 2^-60."""
    if x == 1:
        return PI / 4
    if x > Fraction(1, 2):
        return PI / 4 - _arctangent((1 - x) / (1 + x))
    return sum((Fraction((-1) ** n, 2 * n + 1) * x ** (2 * n + 1) for n in range(30)), Fraction(0))


QUARTERS = np.array([float(_arctangent(Fraction(n, 4))) for n in range(5)])
"""Arctangents of 0, 1/4, 1/2, 3/4 and 1."""
QUARTERS_END = float(np.nextafter(float(PI / 2), np.inf))


def exp(x: Any) -> Any:
    """e to the x."""
    if not isinstance(x, Interval):
        return np.exp(x)
    return x.at_ends(_exp)


def _exp(x: Array) -> tuple[Array, Array]:
    t = np.clip(x, -800.0, 720.0)
    k = np.rint(t / LN2_HIGH)
    r = (t - k * LN2_HIGH) - k * LN2_LOW
    total = np.zeros_like(r)
    for n in range(13, -1, -1):
        total = total * r + 1.0 / factorial(n)
    k = np.where(np.isnan(k), 0.0, k).astype(int)
    whole = np.ldexp(np.ldexp(total, k // 2), k - k // 2)
    low, high = below(whole * (1.0 - 16.0 * U)), -below(-whole * (1.0 + 16.0 * U))
    low = np.where(x >= 0.0, np.clip(low, 1.0, LARGEST), np.maximum(low, 0.0))  # on its side of 1
    high = np.where(x <= 0.0, np.minimum(high, 1.0), np.where(x > 719.0, np.inf, high))
    return np.where(np.isnan(x), np.nan, low), high


def ln(x: Any) -> Any:
    """The logarithm of what is positive; else not a number."""
    if not isinstance(x, Interval):
        return np.log(x)
    return x.at_ends(_ln)


def _ln(x: Array) -> tuple[Array, Array]:
    m, e = np.frexp(x)
    small = m < 0.7071067811865476
    m, e = np.where(small, 2.0 * m, m), e - small
    z = (m - 1.0) / (m + 1.0)
    near, whole = _atanh2(z, 12), e * float(LN2)
    value, off = near + whole, 16.0 * U * (np.abs(near) + np.abs(whole))
    bad = ~((x > 0.0) & (x < np.inf))
    return tuple(np.where(bad, np.nan, np.where(x == 1.0, 0.0, end)) for end in _outward(value, off))  # type: ignore[return-value]


def log1p(x: Any) -> Any:
    """ln(1 + x) of x in [0, 1]."""
    if not isinstance(x, Interval):
        return np.log1p(x)
    ends = []
    for t in (x.low, x.high):
        near = _atanh2(t / (2.0 + t), 24)
        ends.append(_outward(near, 16.0 * U * near))
    good = (x.low >= 0.0) & (x.high <= 1.0)
    return Interval(np.where(good, np.maximum(ends[0][0], 0.0), np.nan), np.where(good, ends[1][1], np.nan))


def _atanh2(z: Array, terms: int) -> Array:
    total, square = np.zeros_like(z), z * z
    for n in range(2 * terms - 1, 0, -2):
        total = total * square + 1.0 / n
    return 2.0 * z * total


def _outward(value: Array, off: Array) -> tuple[Array, Array]:
    """`off` is rounded itself, by less than it has room for; so is the sum."""
    return below(below(value - off)), -below(below(-value - off))


def sqrt(x: Any) -> Any:
    """The square root of what is not negative."""
    if not isinstance(x, Interval):
        return np.sqrt(x)
    low, high = np.sqrt(x.low), np.sqrt(x.high)
    return Interval(np.where(low == 0.0, 0.0, below(low)), np.where(high == 0.0, 0.0, -below(-high)))


def erf(x: Any) -> Any:
    """The error function."""
    if not isinstance(x, Interval):
        return _erf(np.asarray(x))[0]
    return x.at_ends(_erf)


def _erf(x: Array) -> tuple[Array, Array]:
    t = np.minimum(np.abs(x), 6.0)
    term = total = t
    square = 2.0 * t * t
    for n in range(1, TERMS):
        term = term * (square / (2.0 * n + 1.0))
        total = total + term
        if n > square.max(initial=0.0) and not (term > 2.0**-60 * total).any():
            break
    value = _exp(-t * t)[1]  # x^2 is rounded by less than 36 u, and so e^(-x^2) relatively
    near = value * total * (2.0 / np.sqrt(float(PI)))
    off = 1100.0 * U * near
    low, high = (np.clip(end, 0.0, 1.0) for end in _outward(near, off))
    far = np.abs(x) >= 6.0
    low, high = np.where(far, 1.0 - 2.0**-53, low), np.where(far, 1.0, high)
    low, high = (np.where(x == 0.0, 0.0, np.where(np.isnan(x), np.nan, end)) for end in (low, high))
    return np.where(x < 0.0, -high, low), np.where(x < 0.0, -low, high)


def sin(x: Any) -> Any:
    """Of points."""
    return _wave(x, 0) if isinstance(x, Interval) else np.sin(x)


def cos(x: Any) -> Any:
    """Of points."""
    return _wave(x, 1) if isinstance(x, Interval) else np.cos(x)


def atan(x: Any) -> Any:
    """The arctangent."""
    if not isinstance(x, Interval):
        return np.arctan(x)
    return x.at_ends(_atan)


def _atan(x: Array) -> tuple[Array, Array]:
    size = np.abs(x)
    beyond = size > 1.0
    t = np.where(beyond, 1.0 / np.where(beyond, size, 1.0), size)
    nearest = np.where(np.isnan(t), 0.0, np.rint(4.0 * t)).astype(int)
    c = nearest / 4.0
    z = (t - c) / (1.0 + t * c)
    square, total = z * z, np.zeros_like(z)
    for n in range(9, -1, -1):
        total = total * -square + 1.0 / (2 * n + 1)
    angle = QUARTERS[nearest] + z * total
    value = np.where(beyond, float(PI / 2) - angle, angle)
    off = 16.0 * U * (QUARTERS[nearest] + np.abs(z)) + np.where(beyond, 4.0 * U * float(PI / 2), 0.0)
    low, high = (np.clip(end, 0.0, QUARTERS_END) for end in _outward(value, off))
    low, high = (np.where(x == 0.0, 0.0, np.where(np.isnan(x), np.nan, end)) for end in (low, high))
    return np.where(x < 0.0, -high, low), np.where(x < 0.0, -low, high)


def _wave(x: Interval, quarter: int) -> Interval:
    k = np.rint(x.low / float(PI / 2))
    known = (np.abs(k) < 2.0**20) & (x.low == x.high)
    k, t = np.where(known, k, 0.0), np.where(known, x.low, 0.0)
    r = ((t - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2]
    odd, even, square = np.zeros_like(r), np.zeros_like(r), r * r
    for n in range(10, -1, -1):
        odd = odd * -square + 1.0 / factorial(2 * n + 1)
        even = even * -square + 1.0 / factorial(2 * n)
    turn = (k + quarter) % 4
    value = np.where(turn % 2 == 0, odd * r, even) * np.where(turn >= 2, -1.0, 1.0)
    low, high = (np.clip(end, -1.0, 1.0) for end in _outward(value, np.full_like(value, 16.0 * U)))
    return Interval(np.where(known, low, -1.0), np.where(known, high, 1.0))
