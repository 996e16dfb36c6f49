"""How much reading a file may take: a small file can ask for more arithmetic and memory than there is.

Counted are Numbers that are made, and steps: one for each product of coefficients, more where these have many digits.
Numbers that are stored are bounded by the file. A network with a million weights is within the limits.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..rounding import Array, Refused
from .surd import Surd

MOST_NUMBERS, MOST_STEPS, MOST_BITS = 1 << 19, 1 << 24, 1 << 17


class Effort:
    """What was made so far. A value costs as many steps as its longest sum has terms."""

    def __init__(self) -> None:
        self._numbers = self._steps = 0
        self._sizes: dict[int, tuple[int, int, Array]] = {}

    def size(self, *values: Array) -> tuple[int, int]:
        """The most terms and the most digits of any Number in values that were noted."""
        found = [self._sizes.get(id(value), (1, 1 << 12, value)) for value in values]
        return max(terms for terms, _, _ in found), max(bits for _, bits, _ in found)

    def note(self, value: Array, terms: int, bits: int) -> Array:
        """Remember a value with what is known of its Numbers."""
        self._sizes[id(value)] = terms, bits, value
        return value

    def inspected(self, value: Array) -> Array:
        """A value that was computed, looked through."""
        terms, bits = 1, 1
        for number in value.ravel():
            terms = max(terms, len(number.terms))
            for c, _ in number.terms.values():
                for part in (*c.parts, *c.parts.values()) if isinstance(c, Surd) else (c,):
                    bits = max(bits, part.numerator.bit_length(), part.denominator.bit_length())
        if bits > MOST_BITS:
            raise Refused("its numbers have more digits than the auditor allows for")
        return self.note(value, terms, bits)

    def spend(self, shape: tuple[int, ...], inner: int, *operands: Array) -> None:
        """Before a value of this shape is made, each entry a sum of so many products."""
        terms, bits = self.size(*operands)
        self._numbers += prod(shape)
        self._steps += prod(shape) * inner * terms * (1 + bits // (1 << 12))
        if self._numbers > MOST_NUMBERS or self._steps > MOST_STEPS:
            raise Refused("reading it takes more arithmetic than the auditor allows for")


def digits(values: Array) -> int:
    """The most digits of any of some floats."""
    _, exponents = np.frexp(values.astype(np.float64))
    return 53 + int(np.abs(exponents).max(initial=0))
