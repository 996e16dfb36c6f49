"""Where a network computes a number that its type cannot hold: exactly, at one rational input.

A quantiser makes a level of its argument, a whole number k = R(x / scale + zero), and brings it into low .. high, by
wrapping or by saturating. The number leaves its type where k does not lie in low .. high before that. What is stored
elsewhere, as a sum that wraps on its way and comes back, is another function of the same value and no quantiser here.

Where values are known up to errors only (`arithmetic float32`), levels are intervals, and a number counts only if its
whole interval lies outside of the type. So what is found is so in truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curves
from eqspec.networks.exact import BITS
from eqspec.networks.exact_vectors import Integers, Vector
from eqspec.networks.network import Cast, Network
from eqspec.networks.quantiser import Quantiser


@dataclass(frozen=True)
class Outside:
    """A number that leaves its type: row `row` of step `step`, with the level that it should have.

    Where it is known up to an error only, it is the level nearest to the type.
    """

    step: int
    row: int
    quantiser: Quantiser
    level: int

    @property
    def meant(self) -> Fraction:
        """The value that it should have."""
        return self._value(self.level)

    @property
    def stored(self) -> Fraction:
        """The value that it has instead."""
        return self._value(int(self.quantiser.brought(np.array([self.level], object))[0]))

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        """The least and the largest value of the type."""
        return self._value(self.quantiser.low), self._value(self.quantiser.high)

    @property
    def beyond(self) -> int:
        """By how many levels it leaves its type."""
        return max(self.level - self.quantiser.high, self.quantiser.low - self.level)

    def _value(self, level: int) -> Fraction:
        quantiser = self.quantiser
        unit = quantiser.scale if quantiser.unit is None else quantiser.unit
        base = quantiser.zero if quantiser.base is None else quantiser.base
        return Fraction(unit) * (level - Fraction(base))

    def cast(self, network: Network) -> Cast | None:
        """The assignment of the file that the row stands for, where the network knows it."""
        for cast in network.casts:
            if cast.step == self.step and self.row in range(*cast.rows.indices(network.steps[self.step].rows)):
                return cast
        return None

    def name(self, network: Network) -> str:
        """What the number is called: the accumulator, or the step and row of the network."""
        cast = self.cast(network)
        if cast is None:
            return f"row {self.row} of step {self.step}"
        return f"{cast.name}[{self.row - cast.rows.indices(network.steps[self.step].rows)[0]}]"


def can_overflow(network: Network, *, wraps: bool) -> bool:
    """Whether anything in a network wraps, or saturates, for some argument."""
    return any(quantiser.wraps == wraps for step in network.steps for quantiser, _ in quantisers(step.function))


def quantised(network: Network) -> bool:
    """Whether a network has a quantiser."""
    return any(True for step in network.steps for _ in quantisers(step.function))


def quantisers(function: object, rows: int = 0) -> Iterator[tuple[Quantiser, Integers | slice]]:
    """The quantisers among the functions of a step, each with its rows."""
    if isinstance(function, Curves):
        for curve, where in function.groups(rows):
            if curve.name == "quantiser":
                yield Quantiser.of(curve), where


def first_outside(network: Network, point: Sequence[Fraction], *, wraps: bool, bits: int = BITS) -> Outside | None:
    """The first number that leaves a type which wraps (or saturates) at an input: in the order of the steps, and in
    one step the one that leaves it by most levels. None if there is none, or where that is not known.

    UndefinedError and OverflowError as in `Network.evaluate_exact`.
    """
    for number, sums in enumerate(network.exact_sums(point, bits)):
        found = _outside(number, network, sums, wraps)
        if found:
            return max(found, key=lambda one: one.beyond)
    return None


def _outside(number: int, network: Network, sums: Vector, wraps: bool) -> list[Outside]:
    """The rows of a step that leave their type."""
    found = []
    step = network.steps[number]
    shift, divisor = max(0, sums.exponent), sums.denominator << max(0, -sums.exponent)
    for quantiser, where in quantisers(step.function, step.rows):
        if quantiser.wraps != wraps:
            continue
        least = quantiser.levels(sums.lower[where] << shift, divisor)
        most = least if sums.certain else quantiser.levels(sums.upper[where] << shift, divisor)
        rows = np.arange(step.rows)[where]
        above, below = np.asarray(least > quantiser.high, bool), np.asarray(most < quantiser.low, bool)
        found += [Outside(number, int(rows[i]), quantiser, int(least[i])) for i in np.flatnonzero(above)]
        found += [Outside(number, int(rows[i]), quantiser, int(most[i])) for i in np.flatnonzero(below)]
    return found
