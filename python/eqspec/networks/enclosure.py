"""Real arrays enclosed by a float64 value and an elementwise error radius; every operation rounds the radius up.

An `Enclosure` (value v, error e) stands for any real array r with |r - v| <= e. An operation on enclosures encloses
the operation on all the reals they stand for. Where float64 arithmetic happens to be exact (sums and products of
float32 weights often are) the radius stays zero and `error` stays None, so ordinary networks carry no error at all.

Why it is sound. The rounding error of one sum or product is itself a float64 and is computed, not estimated: Knuth's
TwoSum and Dekker's TwoProduct, on mantissas, so that exponents cannot spoil it. A matrix product of inner length k
has |fl(AB) - AB| <= k u/(1 - k u) |A||B| in any order of summation, u = 2^-53 (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.5), plus k smallest subnormals where a product can underflow; it is exact where all
terms are multiples of a common power of two and their absolute sum stays below 2^53 of it. Overflow raises
OverflowError: an infinity never stands for a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.names import Names

Array = NDArray[np.float64]

UNIT = 2.0**-53
TINY = 2.0**-1074
SMALLEST_NORMAL = 2.0**-1022
_BLOCK = 1 << 15
"""How many entries of a large array are worked on at a time."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The reals within `error` of `value`, elementwise; None: exactly `value`.

    `names` say which numbers they are, where that is known of a constant (see `constants`); operations here lose them.
    """

    value: Array
    error: Array | None = None
    names: Names | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.value.shape

    @property
    def radius(self) -> Array:
        """The error as an array, zeros where exact."""
        return np.zeros_like(self.value) if self.error is None else self.error

    def rearranged(self, f: Callable[[NDArray[Any]], NDArray[Any]]) -> Enclosure:
        """The same numbers elsewhere: `f` moves entries, and changes none."""
        error, names = (None if a is None else np.asarray(f(a)) for a in (self.error, self.names))
        return Enclosure(np.asarray(f(self.value)), error, names)


def enclose(value: Array, error: Array | None) -> Enclosure:
    """An enclosure that drops an all-zero error and refuses anything that is not finite."""
    if not np.isfinite(value).all() or (error is not None and not np.isfinite(error).all()):
        raise OverflowError("a number leaves the range of float64")
    return Enclosure(np.asarray(value), np.asarray(error) if error is not None and error.any() else None)


def exactly(number: float | Array) -> Enclosure:
    """A float64 number or array, exact."""
    return Enclosure(np.asarray(number, dtype=np.float64))


def from_fractions(numbers: Sequence[Fraction]) -> Enclosure:
    """The float64 numbers nearest to rationals, with the distance rounded up."""
    return from_intervals([(x, x) for x in numbers])


def from_intervals(intervals: Sequence[tuple[Fraction, Fraction]]) -> Enclosure:
    """The float64 numbers nearest to the middles of intervals, with the distance to the farther end rounded up."""
    value = np.array([float((low + high) / 2) for low, high in intervals], dtype=np.float64)
    ends = zip(intervals, (Fraction(v) for v in value.tolist()), strict=True)
    return enclose(value, np.array([_float_up(max(high - v, v - low)) for (low, high), v in ends], dtype=np.float64))


def _float_up(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else float(np.nextafter(nearest, inf))


def add_up(a: Array, b: Array) -> Array:
    """An upper bound of a + b for non-negative arrays; exact where either is zero."""
    total: Array = a + b
    return np.where((a == 0) | (b == 0), total, np.nextafter(total, inf))


def multiply_up(a: Array, b: Array) -> Array:
    """An upper bound of a b for non-negative arrays; zero exactly where either is zero."""
    return np.where((a == 0) | (b == 0), 0.0, np.nextafter(a * b, inf))


def _divide_up(a: Array, b: Array) -> Array:
    return np.where(a == 0, 0.0, np.nextafter(a / b, inf))


def _sum_error(a: Array, b: Array, total: Array) -> Array:
    """|a + b - fl(a + b)|, exactly (Knuth's TwoSum; addition does not underflow)."""
    rest = total - a
    return np.abs((a - (total - rest)) + (b - rest))


def _product_error(a: Array, b: Array, product: Array) -> Array:
    """An upper bound of |a b - fl(a b)|, zero only where the product is exact.

    A large array is walked through in blocks that stay in the processor's cache: what is computed between would
    otherwise be twenty arrays of its size.
    """
    if product.size <= _BLOCK:
        return _block_error(a, b, product)
    if len(product) == 1:
        return _product_error(a[0], b[0], product[0])[None]
    rows = max(1, _BLOCK // (product.size // len(product)))
    parts = [slice(at, at + rows) for at in range(0, len(product), rows)]
    return np.concatenate([_product_error(a[part], b[part], product[part]) for part in parts])


def _block_error(a: Array, b: Array, product: Array) -> Array:
    (x, i), (y, j) = np.frexp(a), np.frexp(b)
    x_high, y_high = x * 134217729.0, y * 134217729.0  # Veltkamp's split at 2^27 + 1
    x_high, y_high = x_high - (x_high - x), y_high - (y_high - y)
    x_low, y_low = x - x_high, y - y_high
    rest = x_low * y_low - (((x * y - x_high * y_high) - x_low * y_high) - x_high * y_low)
    error = np.where(rest == 0, 0.0, np.nextafter(np.ldexp(np.abs(rest), i + j), inf))
    kept = (rest == 0) & (np.ldexp(product, -(i + j)) == x * y)  # below the normal range more bits may be lost
    return np.where((np.abs(product) < SMALLEST_NORMAL) & ~kept, TINY, error)


def _are_float32(a: Array) -> bool:
    """Whether all numbers are float32, so that a float64 holds the product of any two: of at most 48 bits, from 2^-298
    to 2^256."""
    return bool((a.astype(np.float32) == a).all())


def _quiet() -> np.errstate:
    return np.errstate(all="ignore")


def joined(parts: Sequence[Enclosure], axis: int) -> Enclosure:
    """The same numbers, part behind part along an axis."""
    value = np.concatenate([part.value for part in parts], axis=axis)
    error = None
    if any(part.error is not None for part in parts):
        error = np.concatenate([part.radius for part in parts], axis=axis)
    names = [part.names for part in parts if part.names is not None]
    return Enclosure(value, error, np.concatenate(names, axis=axis) if len(names) == len(parts) else None)


def inflate(a: Enclosure, factor: float) -> Enclosure:
    """All the reals within a, and what lies within `factor` times their size of them."""
    if factor == 0:
        return a
    size = add_up(np.abs(a.value), a.radius)
    return enclose(a.value, add_up(a.radius, multiply_up(size, np.asarray(factor))))


def negate(a: Enclosure) -> Enclosure:
    """-a, exact."""
    return Enclosure(-a.value, a.error)


def add(a: Enclosure, b: Enclosure) -> Enclosure:
    """a + b, broadcast."""
    with _quiet():
        x, y = np.broadcast_arrays(a.value, b.value)
        total = x + y
        error = add_up(_sum_error(x, y, total), add_up(a.radius, b.radius))
    return enclose(total, error)


def multiply(a: Enclosure, b: Enclosure) -> Enclosure:
    """a b elementwise, broadcast."""
    few, many = (a, b) if a.value.size <= b.value.size else (b, a)
    if few.error is None and few.value.size and (np.abs(few.value) == 1).all():  # rounds nothing, whatever the other is
        product = few.value * many.value
        return enclose(product, None if many.error is None else np.broadcast_to(many.error, product.shape))
    with _quiet():
        x, y = np.broadcast_arrays(a.value, b.value)
        product = x * y
        single = _are_float32(a.value) and _are_float32(b.value)
        error = np.zeros(product.shape) if single else _product_error(x, y, product)
        if a.error is not None or b.error is not None:
            outer = add_up(multiply_up(np.abs(x), b.radius), multiply_up(np.abs(y), a.radius))
            error = add_up(error, add_up(outer, multiply_up(a.radius, b.radius)))
    return enclose(product, error)


def divide(a: Enclosure, b: Enclosure) -> Enclosure:
    """a / b elementwise, broadcast. Raises ZeroDivisionError where b may be zero."""
    smallest = np.abs(b.value) if b.error is None else np.nextafter(np.abs(b.value) - b.error, -inf)
    if not (smallest > 0).all():
        raise ZeroDivisionError("division by zero")
    with _quiet():
        quotient = a.value / b.value
        back = multiply(Enclosure(quotient), b)
        residual = add(a, negate(back))  # encloses a - q b, so |a/b - q| = |a - q b| / |b|
        error = _divide_up(add_up(np.abs(residual.value), residual.radius), smallest)
    return enclose(quotient, error)


def square_root(a: Enclosure) -> Enclosure:
    """The square root, elementwise. Raises ValueError where a may be negative or is zero but inexact."""
    if not (a.value - a.radius >= 0).all() or ((a.value <= 0) & (a.radius > 0)).any():
        raise ValueError("square root of a negative number")
    root = np.sqrt(a.value)
    residual = add(a, negate(multiply(Enclosure(root), Enclosure(root))))  # |sqrt(a) - r| <= |a - r^2| / r
    with _quiet():
        error = _divide_up(add_up(np.abs(residual.value), residual.radius), np.where(root > 0, root, 1.0))
    return enclose(root, error)


def root_of_squares(a: Enclosure) -> Enclosure:
    """The square root, elementwise, of what is a sum of squares, and so not negative wherever its enclosure reaches."""
    near = ~(a.value - a.radius >= 0) | ((a.value <= 0) & (a.radius > 0))
    with _quiet():
        highest = np.maximum(add_up(a.value, a.radius), 0.0)
        largest = np.where(near, np.nextafter(np.sqrt(highest), np.inf), 0.0)
    error = None if a.error is None else np.where(near, 0.0, a.error)
    apart = square_root(Enclosure(np.where(near, 0.0, a.value), error))  # of 0, the root is 0, and within `largest`
    return enclose(apart.value, add_up(apart.radius, largest))


def matmul(a: Enclosure, b: Enclosure) -> Enclosure:
    """a @ b with the shapes of numpy.matmul, both of rank 2 or more."""
    inner = a.shape[-1]
    if inner > 1 << 26:
        raise OverflowError("a matrix product is too long")
    with _quiet():
        x, y = np.abs(a.value), np.abs(b.value)
        size: Array = x @ y
        fits = size < 2.0**52 * (_grain(a.value, -1)[..., :, None] * _grain(b.value, -2)[..., None, :])
        error = np.where(fits & _no_underflow(x, y), 0.0, _product_up(size, x, y, inner + 2, UNIT))
        for left, right in ((x, b.error), (a.error, y), (a.error, b.error)):
            if left is not None and right is not None:
                error = add_up(error, _product_up(left @ right, left, right, 1, 1.0))
        value: Array = a.value @ b.value
    return enclose(value, error)


def _product_up(product: Array, x: Array, y: Array, factor: float, unit: float) -> Array:
    """An upper bound of factor * unit * (x y) for non-negative x, y whose float product is given.

    With k <= 2^26 the inner length, the exact product is at most product / (1 - k u); the slack covers that and the
    multiplications here.
    """
    inner = x.shape[-1]
    bound = product * (factor * unit) * (1 + (2 * inner + 8) * UNIT)
    bound = np.where(bound == 0, 0.0, np.nextafter(bound, inf))
    return bound if _no_underflow(x, y) else bound + 4 * (inner + 1) * TINY


def _no_underflow(x: Array, y: Array) -> bool:
    """Whether no product of an entry of x with one of y (both non-negative) falls below the normal range."""
    small = [float(np.min(z, initial=inf, where=z > 0)) for z in (x, y)]
    return small[0] * small[1] >= SMALLEST_NORMAL


def _grain(a: Array, axis: int) -> Array:
    """Along an axis, the largest power of two of which every entry is a multiple; inf where all are zero."""
    if a.size > _BLOCK and len(a) > 1:  # in blocks, as above
        rows = max(1, _BLOCK // (a.size // len(a)))
        parts = [_grain(a[at : at + rows], axis) for at in range(0, len(a), rows)]
        return np.min(parts, axis=0) if axis % a.ndim == 0 else np.concatenate(parts)
    mantissa, exponent = np.frexp(a)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.ldexp((whole & -whole).astype(np.float64), exponent - 53)
    grain: Array = np.min(np.where(a == 0, inf, lowest), axis=axis, initial=inf)
    return grain
