"""Exact evaluation of a program of steps at a rational point, as integers over one common denominator.

A vector is (lower, upper, exponent, denominator): arrays of Python integers with real value n 2^exponent /
denominator. A tile's float64 numbers are integers over one power of two, so a term costs one integer product through
its index and no gcd; terms of a step are shifted to one exponent. Weights with errors give intervals: for an interval
of weights [V, W] and of values [x, y], with x = x+ - x- and y = y+ - y- split into positive and negative parts,
    0 <= V:      V x+ - W x-        to  W y+ - V y-
    W <= 0:      V y+ - W y-        to  W x+ - V x-
    V < 0 < W:   min(V y+, -W x-)   to  max(W y+, -V x-),
the tightest interval of each product, and of a sum of them, since no number occurs twice in a row of a term.

Functions that take rationals to rationals are exact as well; all others are enclosed with so many bits behind the point
(`exact_curves`), and what reads them then gets intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curves import Curves
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Integers, Vector, to_integers
from eqspec.networks.program import INPUTS, Function, Step, Tile, last_readers

BITS = 256
"""Behind the point of what is not rational, unless more are asked for."""
_DENSE = 0.9
"""Columns of weights are left out where no more than this share of the values is other than 0."""


class IntegerTile:
    """A tile prepared for exact evaluation: the ends of its weights (G, O, K) as integers."""

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._copies = tile.exact and bool((tile.weight == 1.0).all()) and tile.taps == 1
        self._ends: tuple[Integers, Integers] | None = None
        self._exponent = 0
        if self._copies:
            return
        if tile.weight_error is None or tile.exact:
            (low,), self._exponent = to_integers(tile.weight)
            high = low
        else:
            (weight, radius), self._exponent = to_integers(tile.weight, tile.weight_error)
            low, high = weight - radius, weight + radius
        self._ends = low, high
        self._parts: tuple[tuple[Integers, Integers], tuple[Integers, Integers]] | None = None
        self._across: tuple[NDArray[np.intp], ...] | None = None

    def apply(self, values: Vector) -> Vector:
        """The rows of the term."""
        if self._ends is None:
            low = high = self._copied(values.lower)
            if not values.certain:
                high = self._copied(values.upper)
        elif self._ends[0] is self._ends[1] and values.certain:
            low = high = self._product(self._ends[0], values.lower)
        else:
            low, high = self._intervals(values)
        return Vector(low, high, self._exponent + values.exponent, values.denominator)

    def _copied(self, values: Integers) -> Integers:
        taken = self._tile.gathered(values)[:, None]
        return np.repeat(taken, self._tile.outputs, axis=1).reshape(-1)

    def _product(self, weight: Integers, values: Integers) -> Integers:
        """weight (G, O, K) through the index, at one vector of integers; behind ReLU many of them are 0."""
        if self._tile.is_dense(len(values)):
            kept = values.nonzero()[0]
            whole: Integers
            if 0 < len(kept) <= _DENSE * len(values):
                whole = weight[0].take(kept, axis=1).dot(values[kept])
            else:
                whole = weight[0].dot(values)
            return whole
        taken = self._tile.gathered(values)
        if self._tile.outputs == 1:
            products: Integers = weight[:, 0, 0, None] * taken[:, 0]
            for tap in range(1, self._tile.taps):
                products = products + weight[:, 0, tap, None] * taken[:, tap]
            return products.reshape(-1)
        return np.concatenate([w.dot(x).reshape(-1) for w, x in zip(weight, taken, strict=True)])

    def _intervals(self, values: Vector) -> tuple[Integers, Integers]:
        """The lowest and highest rows, by the table at the head of this file."""
        assert self._ends is not None
        low, high = self._ends
        if self._parts is None:
            across = (low < 0) & (high > 0)
            plain_low, plain_high = np.where(across, 0, low), np.where(across, 0, high)
            self._parts = (
                (np.maximum(plain_low, 0), np.maximum(-plain_low, 0)),
                (np.maximum(plain_high, 0), np.maximum(-plain_high, 0)),
            )
            self._across = np.nonzero(across)
        (v_plus, v_minus), (w_plus, w_minus) = self._parts
        x_plus, x_minus = np.maximum(values.lower, 0), np.maximum(-values.lower, 0)
        y_plus, y_minus = (
            (x_plus, x_minus) if values.certain else (np.maximum(values.upper, 0), np.maximum(-values.upper, 0))
        )

        def total(*terms: tuple[Integers, Integers]) -> Integers:
            """The sum of weight times values over what is not zero throughout."""
            parts = [self._product(w, x) for w, x in terms if w.any() and x.any()]
            return sum(parts, np.zeros(self._tile.rows, object))

        lower = total((v_plus, x_plus), (w_minus, y_minus)) - total((w_plus, x_minus), (v_minus, y_plus))
        upper = total((w_plus, y_plus), (v_minus, x_minus)) - total((v_plus, y_minus), (w_minus, x_plus))
        assert self._across is not None
        if len(self._across[0]):
            group, output, tap = self._across
            v, w = low[self._across][:, None], high[self._across][:, None]
            least_x, most_y = (self._tile.gathered(x)[group, tap] for x in (x_minus, y_plus))
            place = np.arange(self._tile.positions)
            rows = (group * self._tile.outputs + output)[:, None] * self._tile.positions + place
            np.add.at(lower, rows, np.minimum(v * most_y, -w * least_x))
            np.add.at(upper, rows, np.maximum(w * most_y, -v * least_x))
        return lower, upper


class IntegerStep:
    """A step prepared for exact evaluation."""

    def __init__(self, step: Step) -> None:
        self.function, self.sources = step.function, step.sources
        self._tiles = [IntegerTile(term.tile) for term in step.terms]
        if step.bias_error is None:
            (self._low_bias,), self._exponent = to_integers(step.bias)
            self._high_bias = self._low_bias
        else:
            (bias, radius), self._exponent = to_integers(step.bias, step.bias_error)
            self._low_bias, self._high_bias = bias - radius, bias + radius

    def sums(self, given: Sequence[Vector], denominator: int) -> Vector:
        """The rows before the function, of what each term reads."""
        low = high = self._low_bias * denominator
        if self._high_bias is not self._low_bias:
            high = self._high_bias * denominator
        total = Vector(low, high, self._exponent, denominator)
        for tile, values in zip(self._tiles, given, strict=True):
            total = total.plus(tile.apply(values))
        return total


def evaluate(
    steps: Sequence[IntegerStep], point: Sequence[Fraction], bits: int = BITS
) -> list[tuple[Fraction, Fraction]]:
    """Intervals (lo, hi) of each output at one rational input. Every value is dropped after its last reader.

    UndefinedError where an argument is not known to lie in the domain of a function with so many bits, OverflowError
    where it is absurdly large.
    """
    total = Vector.of(point)
    for sums in each_sum(steps, total, bits):
        total = sums
    return total.fractions()


def each_sum(steps: Sequence[IntegerStep], inputs: Vector, bits: int = BITS) -> Iterator[Vector]:
    """The rows of each step before its function, in order."""
    values: list[Vector | None] = []
    last = last_readers(steps)
    for number, step in enumerate(steps):
        given = [inputs if source == INPUTS else values[source] for source in step.sources]
        total = step.sums([vector for vector in given if vector is not None], inputs.denominator)
        yield total
        values.append(_after(step.function, total, bits))
        for source in step.sources:
            if source >= 0 and last[source] == number:
                values[source] = None


def _after(function: Function, values: Vector, bits: int) -> Vector:
    if isinstance(function, Curves):
        return applied(function, values, bits)
    return values.relu() if function == "relu" else values
