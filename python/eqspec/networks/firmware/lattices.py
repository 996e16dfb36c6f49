"""Which numbers each entry of a value may be, whatever the inputs are: (least + step Z) up to most, times 2^-bits.

A firmware's inputs have a type, so every value of it is one of finitely many numbers. Sums and products by constants,
ReLU and assignments carry such sets on; each result contains every number that can occur. An assignment to a type that
contains the whole set changes nothing, and one whose range contains it only rounds (statements 8 and 9 of the theory of
quantised networks: exactness by grids and intervals). All numbers are Python integers, and no bound is rounded.

Shapes: least, most and step are object arrays of the entries; step is 0 where there is one number alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.fixed_point_types import FixedPoint

Marks = NDArray[np.bool_]


def integers(values: object) -> Integers:
    """Whole numbers as an object array of Python integers."""
    array = np.asarray(values, dtype=object)
    return np.array([int(x) for x in array.reshape(-1)] + [None], dtype=object)[:-1].reshape(array.shape)


@dataclass(frozen=True, eq=False)
class Lattice:
    """See the head of this file."""

    least: Integers
    most: Integers
    step: Integers
    bits: int

    @classmethod
    def of_type(cls, of: FixedPoint, size: int) -> Lattice:
        """Everything that a type holds."""
        return cls(integers([of.low] * size), integers([of.high] * size), integers([1] * size), of.bits)

    @property
    def size(self) -> int:
        """The number of entries."""
        return len(self.least)

    def at(self, bits: int) -> Lattice:
        """The same numbers with at least so many bits behind the point."""
        shift = max(0, bits - self.bits)
        return Lattice(self.least << shift, self.most << shift, self.step << shift, self.bits + shift)

    def taken(self, entries: NDArray[np.intp]) -> Lattice:
        """Some entries, in any shape."""
        return Lattice(self.least[entries], self.most[entries], self.step[entries], self.bits)

    def times(self, factors: Integers, bits: int) -> Lattice:
        """Each entry times a constant integer times 2^-bits."""
        low, high = self.least * factors, self.most * factors
        return Lattice(np.minimum(low, high), np.maximum(low, high), np.abs(self.step * factors), self.bits + bits)

    def plus(self, constants: Integers, bits: int) -> Lattice:
        """Each entry and a constant integer times 2^-bits."""
        wide = self.at(bits)
        moved = constants << (wide.bits - bits)
        return Lattice(wide.least + moved, wide.most + moved, wide.step, wide.bits)

    def summed(self) -> Lattice:
        """The sums over the last axis."""
        if self.least.shape[-1] == 0:
            zero = integers(np.zeros(self.least.shape[:-1]))
            return Lattice(zero, zero, zero, self.bits)
        step = np.gcd.reduce(self.step, axis=-1)
        return Lattice(self.least.sum(axis=-1), self.most.sum(axis=-1), integers(step), self.bits)

    def positive(self) -> Lattice:
        """max(0, x): where it may be negative, 0 is met as well."""
        negative = self.least < 0
        step = np.where(negative, np.gcd(self.step, self.least), self.step)
        least, most = np.maximum(self.least, 0), np.maximum(self.most, 0)
        return Lattice(least, most, integers(np.where(least == most, 0, step)), self.bits)

    def sum_with(self, other: Lattice, sign: int) -> Lattice:
        """x + sign y of entries of both."""
        x, y = self.at(other.bits), other.at(self.bits)
        if sign < 0:
            y = y.negative()
        return Lattice(x.least + y.least, x.most + y.most, integers(np.gcd(x.step, y.step)), x.bits)

    def product_with(self, other: Lattice) -> Lattice:
        """x y of entries of both."""
        ends = [x * y for x in (self.least, self.most) for y in (other.least, other.most)]
        least, most = np.minimum.reduce(ends), np.maximum.reduce(ends)
        # (a + i p) (b + k q) = a b + i p b + k q a + i k p q
        steps = np.abs(self.step * other.least), np.abs(other.step * self.least), self.step * other.step
        step = np.gcd(np.gcd(steps[0], steps[1]), steps[2])
        apart = (least - self.least * other.least) % np.maximum(step, 1)
        return Lattice(integers(least - apart), integers(most), integers(step), self.bits + other.bits)

    def followed_by(self, other: Lattice) -> Lattice:
        """The entries of both, one behind the other."""
        x, y = self.at(other.bits), other.at(self.bits)
        parts = [np.concatenate(pair) for pair in ((x.least, y.least), (x.most, y.most), (x.step, y.step))]
        return Lattice(parts[0], parts[1], parts[2], x.bits)

    def negative(self) -> Lattice:
        """-x."""
        return Lattice(-self.most, -self.least, self.step, self.bits)

    def larger(self, other: Lattice) -> Lattice:
        """max(x, y) of entries of both, of one number of bits."""
        least, most = np.maximum(self.least, other.least), np.maximum(self.most, other.most)
        step = np.gcd(np.gcd(self.step, other.step), np.abs(self.least - other.least))
        # The least number is one of both lattices, so all of them are as many steps above it.
        return Lattice(least, most, integers(np.where(least == most, 0, step)), self.bits)

    def on_grid(self, of: FixedPoint) -> Marks:
        """Whether an assignment to a type rounds nothing."""
        unit = 1 << max(0, self.bits - of.bits)
        return np.asarray((self.least % unit == 0) & (self.step % unit == 0), bool)

    def levels(self, of: FixedPoint) -> Lattice:
        """The rounded numbers as integers of the type's grid, before they are brought inside."""
        least, most = (of.levels(ends, self.bits) for ends in (self.least, self.most))
        shift = self.bits - of.bits
        step = self.step << -shift if shift < 0 else np.where(self.on_grid(of), self.step >> shift, 1)
        return Lattice(least, most, integers(np.where(least == most, 0, step)), of.bits)

    def inside(self, of: FixedPoint) -> Marks:
        """Whether a type holds all of these numbers, which lie on its grid."""
        return np.asarray((self.least >= of.low) & (self.most <= of.high), bool)

    def assigned(self, of: FixedPoint) -> Lattice:
        """What is stored of numbers that are assigned to a type."""
        rounded = self.levels(of)
        inside = rounded.inside(of)
        if not of.wraps:
            least, most = of.brought(rounded.least), of.brought(rounded.most)
            # A number that is cut off need not lie on the lattice of the others.
            step = np.where(inside, rounded.step, 1)
            return Lattice(least, most, integers(np.where(least == most, 0, step)), of.bits)
        span = 1 << of.width
        turns = (rounded.least - of.low) // span
        together = turns == (rounded.most - of.low) // span
        step = np.gcd(rounded.step, span)
        offset = (rounded.least - of.low) % np.maximum(step, 1)
        anywhere_least = of.low + offset
        anywhere_most = of.high - (of.high - anywhere_least) % np.maximum(step, 1)
        least = np.where(together, rounded.least - turns * span, anywhere_least)
        most = np.where(together, rounded.most - turns * span, anywhere_most)
        return Lattice(integers(least), integers(most), integers(np.where(together, rounded.step, step)), of.bits)
