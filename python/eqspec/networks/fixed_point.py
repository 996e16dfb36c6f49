"""Elementary functions of fixed-point numbers with proven errors, for object arrays of Python integers.

Shapes: any. At so many `bits` an integer n stands for the real number n / 2^bits, exactly. Every function takes such
points and gives integers (lower, upper) with lower <= 2^bits f <= upper, mostly one or two apart; `ulp` below is a unit
in the last place of the working precision. Arguments that are absurdly large raise OverflowError, those outside of a
function's domain `UndefinedError`. Everything is integer arithmetic, in which floors are the only rounding.

exp: x = k ln 2 + r with 0 <= r <= ln 2 but for the error of k ln 2; e^(r / 2^s) by N terms of its series, squared s
times. With terms rounded down, the series is off by at most 3 N + 3 ulp, each squaring doubles that and adds one, r is
off by 2^s ulp from its division and by |k| <= 2^16 from ln 2: relatively by (3 N + 7) 2^s + 2^17 ulp in all, s <= 16
and N < 2^12, which is below 2^33 ulp; 48 more bits than asked for are computed.

ln: y from floats, made better by y += 2 (z - 1) / (z + 1), z = x e^-y, which triples the digits; whatever y is, with
z = 1 + d the result lies within y + d - d^2 and y + d, for |d| <= 1/2.

erf: (2 / sqrt pi) e^(-x^2) times the sum of t_n, t_0 = |x|, t_(n+1) = t_n 2 x^2 / (2 n + 3), all positive (Abramowitz
and Stegun 7.1.6). An error made in one term grows into later ones by x^(2 m) / m! at most, so all errors of the sum are
within 2 N e^(x^2) ulp; as many bits more are computed. Where x^2 >= (bits + 2) ln 2, erfc x <= e^(-x^2) says enough.

sin, cos: r = x - k pi / 2, alternating series.

atan: t = |x|, or 1 / |x| beyond 1, off by 1 ulp. tan(a / 2) = t / (1 + sqrt(1 + t^2)) halves an error and adds less
than two ulp, so that s, after eight halvings, is off by less than four. Of its alternating series each of N terms is
off by at most 5 ulp, and what is left out is below one: ((5 N + 8) 2^8) ulp in all, and one more of pi / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt, log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[Any]
Ends: TypeAlias = tuple[Integers, Integers]

_LARGEST_EXPONENT = 1 << 14
_GUARD = 48
_HALVINGS = 8
"""How often an angle is halved before its tangent goes into a series."""
_bit_length = np.frompyfunc(lambda n: int(n).bit_length(), 1, 1)
_root = np.frompyfunc(lambda n: isqrt(int(n)), 1, 1)


class UndefinedError(ArithmeticError):
    """An argument is not known to lie in the domain of a function."""


def outward(ends: Ends, bits: int) -> Ends:
    """Ends with so many bits fewer."""
    low, high = ends
    return low >> bits, -((-high) >> bits)


@cache
def ln2(bits: int) -> int:
    """2^bits ln 2 within two units: ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749)."""
    guard = bits + 20
    return (18 * _artanh(26, guard) - 2 * _artanh(4801, guard) + 8 * _artanh(8749, guard)) >> 20


def _artanh(n: int, bits: int) -> int:
    """2^bits artanh(1/n), within as many units as the series has terms."""
    term, total, odd = (1 << bits) // n, 0, 1
    while term:
        total += term // odd
        term //= n * n
        odd += 2
    return total


@cache
def pi(bits: int) -> int:
    """2^bits pi within one unit: Machin's formula."""
    guard = bits + 20
    total = 0
    for factor, n in ((16, 5), (-4, 239)):
        term, odd, sign = (1 << guard) // n, 1, 1
        while term:
            total += factor * sign * (term // odd)
            term //= n * n
            odd, sign = odd + 2, -sign
    return total >> 20


def exp(n: Integers, bits: int) -> Ends:
    """e^x."""
    if not n.size:
        return n, n
    if n.max() > _LARGEST_EXPONENT << bits:
        raise OverflowError("an exponential of a number that is too large")
    n = np.maximum(n, -((bits + 8) << bits))  # below, 0 <= 2^bits e^x < 1 holds of the result as well
    most = max(0, int(n.max()) >> bits) * 3 // 2 + 1
    working = bits + most + _GUARD
    squarings = min(16, 4 + isqrt(working) // 2)
    x = n << (working - bits)
    k = x // ln2(working)
    r = (x - k * ln2(working)) >> squarings
    one = 1 << working
    term = total = np.full(n.shape, one, object)
    for j in range(1, working // (squarings - 1) + 2):
        term = (term * r >> working) // j
        total = total + term
    for _ in range(squarings):
        total = total * total >> working
    shift = working - bits - k
    return np.maximum(0, (total - (1 << 34)) >> shift), ((total + (1 << 34)) >> shift) + 1


def ln(n: Integers, bits: int) -> Ends:
    """The natural logarithm."""
    if not n.size:
        return n, n
    if n.min() <= 0:
        raise UndefinedError("a logarithm of a number that may be 0 or less")
    size = _bit_length(n) - 1  # x = m 2^(size - bits), 1 <= m < 2
    working = max(bits, int(size.max())) + _GUARD
    m = n << (working - size)
    y = np.frompyfunc(lambda a: int(log(a / (1 << 53)) * (1 << 53)), 1, 1)(m >> (working - 53)) << (working - 53)
    one, good = 1 << working, 45
    while True:
        low, high = exp(-y, working)
        z_low, z_high = m * low >> working, (m * high >> working) + 1
        if good >= working:
            break
        y = y + (2 * (z_low - one) << working) // (z_low + one)
        good *= 3
    d_low, d_high = z_low - one, z_high - one
    if max(int(np.abs(d_low).max()), int(np.abs(d_high).max())) > one >> 1:
        raise ArithmeticError("a logarithm did not converge")
    square = (np.maximum(np.abs(d_low), np.abs(d_high)) ** 2 >> working) + 1
    twos = size - bits
    least, most = ln2(working) - 2, ln2(working) + 2
    low_twos = np.where(twos >= 0, twos * least, twos * most)
    high_twos = np.where(twos >= 0, twos * most, twos * least)
    return outward((y + d_low - square + low_twos, y + d_high + high_twos), working - bits)


def sqrt(n: Integers, bits: int) -> Ends:
    """The square root."""
    if n.size and n.min() < 0:
        raise UndefinedError("a square root of a number that may be negative")
    root = _root(n << bits) if n.size else n
    return root, root + 1


def reciprocal(n: Integers, bits: int) -> Ends:
    """1 / x."""
    if n.size and (n == 0).any():
        raise UndefinedError("a reciprocal of a number that may be 0")
    low = (1 << 2 * bits) // n
    return low, low + 1


def erf(n: Integers, bits: int) -> Ends:
    """The error function."""
    if not n.size:
        return n, n
    size = np.abs(n)
    far = isqrt(int((bits + 2) * 7 // 10 + 1) << 2 * bits) + 1
    x = np.minimum(size, far)
    largest = int(x.max())
    square_most = (largest * largest >> 2 * bits) + 1
    working = bits + 4 * square_most + _GUARD
    x = x << (working - bits)
    twice = 2 * x * x >> working
    term, total, number = x, x, 0
    while number <= 2 * square_most or term.any():
        term = (term * twice >> working) // (2 * number + 3)
        total = total + term
        number += 1
    error = 8 * (number + 2) << (2 * square_most)  # e^(x^2) < 2^(1.5 x^2)
    low, high = exp(-(x * x >> working) - 1, working)
    _, above = exp(-(x * x >> working), working)
    high = np.maximum(high, above)
    root = isqrt(pi(working) << working)  # of pi, within 2
    least = np.maximum(0, ((total - error) * low * 2) // (root + 4))
    most = ((total + error) * high * 2) // (root - 4) + 1
    low, high = outward((least, most), working - bits)
    low, high = np.maximum(low, 0), np.minimum(high, 1 << bits)
    low = np.where(size > far, np.maximum(low, (1 << bits) - 1), low)
    return np.where(n < 0, -high, low), np.where(n < 0, -low, high)


def sin(n: Integers, bits: int) -> Ends:
    """The sine."""
    return _turned(n, bits, 0)


def cos(n: Integers, bits: int) -> Ends:
    """The cosine."""
    return _turned(n, bits, 1)


def _turned(n: Integers, bits: int, quarters: int) -> Ends:
    """sin(x + quarters pi / 2)."""
    if not n.size:
        return n, n
    largest = int(np.abs(n).max()) >> bits
    if largest.bit_length() > 4096:
        raise OverflowError("a sine of a number that is too large")
    working = bits + largest.bit_length() + _GUARD
    half = pi(working) >> 1
    x = n << (working - bits)
    k = (x + (half >> 1)) // half
    r = x - k * half  # off by |k| ulp, |r| < 0.8
    square = r * r >> working
    sine, cosine = r, np.full(n.shape, 1 << working, object)
    of_sine, of_cosine = sine, cosine
    for j in range(1, working):
        of_cosine = -(of_cosine * square >> working) // ((2 * j - 1) * 2 * j)
        of_sine = -(of_sine * square >> working) // (2 * j * (2 * j + 1))
        sine, cosine = sine + of_sine, cosine + of_cosine
        if not ((np.abs(of_cosine) > 1).any() or (np.abs(of_sine) > 1).any()):
            break
    turn = (k + quarters) % 4
    found = np.where(turn == 0, sine, np.where(turn == 1, cosine, np.where(turn == 2, -sine, -cosine)))
    error = (largest + 2) * 4 + 8 * working
    one = 1 << bits
    low, high = outward((found - error, found + error), working - bits)
    return np.maximum(low, -one), np.minimum(high, one)


def atan(n: Integers, bits: int) -> Ends:
    """The arctangent."""
    if not n.size:
        return n, n
    working, size = bits + _GUARD, np.abs(n)
    one, beyond = 1 << working, size > 1 << bits
    x = size << _GUARD
    s = np.where(beyond, (one << working) // np.maximum(x, 1), x)
    for _ in range(_HALVINGS):
        s = (s << working) // (one + _root(one * one + s * s))
    square = s * s >> working
    power = total = s
    terms = 1
    while power.any():
        power = power * square >> working
        total = total + (power if terms % 2 == 0 else -power) // (2 * terms + 1)
        terms += 1
    error = ((5 * terms + 8) << _HALVINGS) + 2
    found = np.where(beyond, (pi(working) >> 1) - (total << _HALVINGS), total << _HALVINGS)
    found = np.where(n < 0, -found, found)
    return outward((found - error, found + error), _GUARD)


def increasing(f: Callable[[Integers, int], Ends]) -> Callable[[Ends, int], Ends]:
    """An increasing function of points as one of intervals."""

    def of_interval(ends: Ends, bits: int) -> Ends:
        low, high = ends
        if low is high:
            return f(low, bits)
        return f(low, bits)[0], f(high, bits)[1]

    return of_interval


def times(a: Ends, b: Ends, bits: int) -> Ends:
    """The product of two intervals."""
    (a_low, a_high), (b_low, b_high) = a, b
    ends = [x * y for x in (a_low, a_high) for y in (b_low, b_high)]
    low, high = ends[0], ends[0]
    for other in ends[1:]:
        low, high = np.minimum(low, other), np.maximum(high, other)
    return outward((low, high), bits)


def plus(a: Ends, b: Ends) -> Ends:
    """The sum of two intervals."""
    return a[0] + b[0], a[1] + b[1]
