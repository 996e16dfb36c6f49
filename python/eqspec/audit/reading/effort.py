"""How much reading a file may take: a small file can ask for more arithmetic and memory than there is.

Counted are Numbers that are made, and more where these have many digits; and units that values name. What is stored is
bounded by the file. A network with a million weights is within the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..opening import limits
from ..rounding import Array, Refused
from .number import Number, numbers
from .surd import Surd

MOST_BITS = 1 << 17
_TOO_MUCH = "reading it takes more arithmetic than the auditor allows for"


class Effort:
    """Arithmetic with constants, arrays of floats that are exact or of Numbers, as far as it may go."""

    def __init__(self, kind: type[Number]) -> None:
        self.kind, self._numbers, self._units = kind, 0, 0

    def spend(self, *sizes: int) -> None:
        """Before so many Numbers are made."""
        self._numbers += prod(sizes)
        if self._numbers > limits.TERMS:
            raise Refused(_TOO_MUCH)

    def name(self, *sizes: int) -> None:
        """Before so many units are named."""
        self._units += prod(sizes)
        if self._units > limits.UNITS:
            raise Refused(_TOO_MUCH)

    def numbers(self, values: Array) -> Array:
        """These constants as Numbers."""
        if values.dtype == object:
            return values
        self.spend(values.size)
        return numbers(self.kind, values)

    def kernels(self, values: Array) -> Array:
        """These constants as they are kept: over the reals floats may stay floats."""
        if not (values.dtype == object or np.isfinite(values).all()):
            raise Refused("a constant is no finite number")
        return self.numbers(values) if self.kind.rounds else values

    def done(self, operation: Callable[..., Any], *operands: Array) -> Array:
        """The results of an operation on constants, entry by entry."""
        self.spend(*np.broadcast_shapes(*(operand.shape for operand in operands)))
        found = np.asarray(operation(*map(self.numbers, operands)), object)
        most = digits = 0
        for number in found.ravel():
            c = number.c
            for part in (*c.parts, *c.parts.values()) if isinstance(c, Surd) else (c,):
                bits = part.numerator.bit_length() + part.denominator.bit_length()
                most, digits = max(most, bits), digits + bits
        if most > MOST_BITS:
            raise Refused("its numbers have more digits than the auditor allows for")
        self.spend(digits >> 12)
        return found

    def times(self, a: Array, b: Array) -> Array:
        """Products; over the reals 1 is not multiplied with."""
        return self._unless(np.multiply, 1.0, a, b)

    def plus(self, a: Array, b: Array) -> Array:
        """Sums; over the reals 0 is not added."""
        return self._unless(np.add, 0.0, a, b)

    def _unless(self, operation: Callable[..., Any], neutral: float, a: Array, b: Array) -> Array:
        for one, other in ((a, b), (b, a)):
            if not self.kind.rounds and one.dtype != object and (one == neutral).all():
                return np.broadcast_to(other, np.broadcast_shapes(a.shape, b.shape))
        return self.done(operation, a, b)

    def summed(self, values: Array, axis: int) -> Array:
        """Sums along an axis."""
        while (size := values.shape[axis]) > 1:
            a, b = (np.take(values, range(start, size - size % 2, 2), axis) for start in (0, 1))
            values = np.concatenate([self.plus(a, b), np.take(values, range(size - size % 2, size), axis)], axis)
        return np.asarray(np.take(values, 0, axis))

    def rounded(self, kernels: Array, count: int, one: bool) -> Array:
        """Kernels of a sum that rounds so many times more."""
        if not (self.kind.rounds and count):
            return kernels
        return np.asarray(np.frompyfunc(lambda number: number.summed(count, one), 1, 1)(kernels), object)
