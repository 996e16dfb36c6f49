"""Atoms: numbers that all others on a region are affine functions of, and what is known of each, in rationals.

An atom is an input, or what a function of one variable gives for an affine form of earlier atoms. It is known by what
it is: two atoms with the same key are the same function of the inputs, in whichever network they stand. Of each an
interval is known, and where it can be a grid,

    low <= atom <= high,    atom in origin + step Z,

with step 0 for a constant and None where it may be any real number of its interval.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Grid:
    """What is known of a number."""

    low: Fraction
    high: Fraction
    step: Fraction | None = None
    origin: Fraction = ZERO

    @property
    def integral(self) -> bool:
        """Whether it is an integer for certain."""
        return self.step is not None and self.step.denominator == self.origin.denominator == 1

    @property
    def ties(self) -> bool:
        """Whether it may lie in the middle between two integers."""
        return self.step is None or (self.origin - Fraction(1, 2)) % common(self.step, ONE) == 0


@dataclass(frozen=True)
class Form:
    """constant + sum of coefficients times atoms, none of which is 0."""

    constant: Fraction
    terms: dict[int, Fraction] = field(default_factory=dict)

    def times(self, factor: Fraction, offset: Fraction = ZERO) -> Form:
        """factor * form + offset."""
        terms = {atom: factor * c for atom, c in self.terms.items()} if factor else {}
        return Form(factor * self.constant + offset, terms)

    @property
    def key(self) -> Hashable:
        """What it is: forms with one key are one function of the inputs."""
        return self.constant, tuple(sorted(self.terms.items()))


class Atoms:
    """All atoms of a region. `inner` is the form in front of those that are a ReLU of one."""

    def __init__(self) -> None:
        self.grids: list[Grid] = []
        self.inner: dict[int, Form] = {}
        self._known: dict[Hashable, int] = {}

    def of(self, key: Hashable, grid: Grid, inner: Form | None = None) -> Form:
        """The atom with this key, new or known, as a form."""
        if (number := self._known.get(key)) is None:
            number = self._known[key] = len(self.grids)
            self.grids.append(grid)
            if inner is not None:
                self.inner[number] = inner
        return Form(ZERO, {number: ONE})

    def grid(self, form: Form) -> Grid:
        """What is known of a form; each end is attained if the atoms do not depend on one another."""
        low = high = origin = form.constant
        step: Fraction | None = ZERO
        for atom, c in form.terms.items():
            one = self.grids[atom]
            ends = c * one.low, c * one.high
            low, high, origin = low + min(ends), high + max(ends), origin + c * one.origin
            step = None if step is None or one.step is None else common(step, c * one.step)
        return Grid(low, high, step, origin)


def common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number that both are multiples of; 0 if both are 0."""
    return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)
