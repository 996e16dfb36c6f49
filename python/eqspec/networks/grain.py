"""Multiples of powers of two: where floats are added and multiplied without rounding.

If numbers are multiples of 2^e, and their absolute values add up to less than 2^(53 + e), then every partial sum of
them is 2^e times an integer below 2^53, which is a float: whatever the order, nothing is rounded. Products of multiples
of 2^d and 2^e are multiples of 2^(d + e).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.enclosure import Array

OF_ZERO = 1 << 20
"""The exponent of zeros, which are multiples of everything."""
LEAST = -1074
"""Of floats."""
_SLACK = 1.0 - 2.0**-20
"""More than what is lost where sizes are added up in floats themselves, of up to 2^30 numbers."""


def grains(values: Array) -> NDArray[np.int64]:
    """For each row (n, N) the largest e such that all of it are multiples of 2^e."""
    mantissa, exponents = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    found = np.where(whole != 0, exponents.astype(np.int64) - 53 + lowest, OF_ZERO)
    return np.asarray(found.min(axis=1, initial=OF_ZERO), np.int64)


def grain(values: Array) -> int:
    """The largest e such that all are multiples of 2^e."""
    return int(grains(values.reshape(1, -1))[0])


def powers_of_two(values: Array) -> bool:
    """Whether all are positive powers of two."""
    return bool((np.frexp(values)[0] == 0.5).all())


def sums_are_exact(sizes: Array, exponent: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Where float64 sums of multiples of 2^exponent are exact; their absolute values, in floats, add up to `sizes`."""
    exponents = np.asarray(exponent, np.int64)
    limit = np.ldexp(_SLACK, np.minimum(53 + exponents, 1023))
    return np.asarray((exponents >= LEAST) & (sizes <= limit))
