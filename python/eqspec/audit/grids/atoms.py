"""Atoms: numbers that all others on a region are affine functions of, and what is known of each, in rationals.

An atom is an input, or what a function of one variable gives for an affine form of earlier atoms. It is known by what
it is: two atoms with the same key are the same function of the inputs, in whichever network they stand. Of each an
interval is known, and where it can be a grid,

    low <= atom <= high,    atom in origin + step Z,

with step 0 for a constant and None where it may be any real number of its interval.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

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
    """(constant + sum of coefficients times atoms) / denominator: integers in lowest terms, no coefficient 0."""

    constant: int
    terms: dict[int, int] = field(default_factory=dict)
    denominator: int = 1

    @classmethod
    def of(cls, constant: int, terms: dict[int, int], denominator: int) -> Form:
        """In lowest terms."""
        common = gcd(denominator, constant, *terms.values())
        kept = {atom: c // common for atom, c in terms.items() if c}
        return cls(constant // common, kept, denominator // common)

    @classmethod
    def number(cls, x: Fraction) -> Form:
        """A constant."""
        return cls(x.numerator, {}, x.denominator)

    @property
    def at_0(self) -> Fraction:
        """What it is where all atoms are 0."""
        return Fraction(self.constant, self.denominator)

    def times(self, factor: Fraction, offset: Fraction = ZERO) -> Form:
        """factor * form + offset."""
        below = factor.denominator * self.denominator
        whole = lcm(below, offset.denominator)
        multiple = factor.numerator * (whole // below)
        constant = self.constant * multiple + offset.numerator * (whole // offset.denominator)
        return Form.of(constant, {atom: c * multiple for atom, c in self.terms.items()}, whole)

    @property
    def key(self) -> Hashable:
        """What it is: forms with one key are one function of the inputs."""
        return self.constant, self.denominator, tuple(sorted(self.terms.items()))


def combined(factors: Sequence[Fraction], forms: Sequence[Form]) -> Form:
    """The sum of forms times factors, in which what is alike cancels."""
    whole = lcm(*(factor.denominator * form.denominator for factor, form in zip(factors, forms, strict=True)))
    constant, terms = 0, dict[int, int]()
    for factor, form in zip(factors, forms, strict=True):
        multiple = factor.numerator * (whole // (factor.denominator * form.denominator))
        constant += multiple * form.constant
        for atom, c in form.terms.items():
            terms[atom] = terms.get(atom, 0) + multiple * c
    return Form.of(constant, terms, whole)


class Atoms:
    """All atoms of a region. `inner` is the form in front of those that are a ReLU of one."""

    def __init__(self) -> None:
        self.inner: dict[int, Form] = {}
        self._known: dict[Hashable, int] = {}
        self._ends: list[tuple[int, int, int | None, int]] = []
        self._units: list[int] = []

    def of(self, key: Hashable, grid: Grid, inner: Form | None = None) -> Form:
        """The atom with this key, new or known, as a form."""
        if (number := self._known.get(key)) is None:
            number = self._known[key] = len(self._ends)
            low, high, step, origin = grid.low, grid.high, grid.step, grid.origin
            unit = lcm(*(x.denominator for x in (low, high, step or ZERO, origin)))
            self._units.append(unit)
            self._ends.append((int(low * unit), int(high * unit), None if step is None else int(step * unit),
                               int(origin * unit)))  # fmt: skip
            if inner is not None:
                self.inner[number] = inner
        return Form(0, {number: 1})

    def grid(self, form: Form) -> Grid:
        """What is known of a form; each end is attained if the atoms do not depend on one another."""
        unit = lcm(*{self._units[atom] for atom in form.terms})
        low = high = origin = form.constant * unit
        step: int | None = 0
        for atom, c in form.terms.items():
            c *= unit // self._units[atom]
            first, last, apart, start = self._ends[atom]
            low, high = (low + c * first, high + c * last) if c > 0 else (low + c * last, high + c * first)
            step, origin = None if step is None or apart is None else gcd(step, c * apart), origin + c * start
        whole = unit * form.denominator
        return Grid(
            Fraction(low, whole), Fraction(high, whole), None if step is None else Fraction(step, whole),
            Fraction(origin, whole),
        )  # fmt: skip


def common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number that both are multiples of; 0 if both are 0."""
    return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)
