"""Atoms: the integers that everything on a region is an affine function of, with what is known of each exactly.

An atom is an input, as a number that counts steps of its lattice or the way through its interval, or what a function of
one variable gives, in units that make it an integer where it can be one. Known of it are an interval of integers and a
grid,

    atom in low .. high,        atom in origin + step Z,

step 0 where it is a constant. A `loose` one may be any real number of its interval. Two atoms of one key are one
function of the inputs, in whatever networks they occur: that is how two networks are found equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers

Lattice: TypeAlias = tuple[Fraction, Fraction]
"""Where the points of a lattice start, and how far they are apart: origin + step Z, step > 0."""


class EmptyRegionError(Exception):
    """No point of the lattice lies in the box."""


@dataclass(frozen=True)
class Region:
    """A box of exact rationals, with a lattice for those inputs that have one."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    lattices: tuple[Lattice | None, ...] = ()

    def lattice(self, place: int) -> Lattice | None:
        """The lattice of an input."""
        return self.lattices[place] if self.lattices else None

    @cached_property
    def steps(self) -> tuple[tuple[int, int] | None, ...]:
        """The first and the last point of the lattice of each input, counted in steps from its origin."""
        found: list[tuple[int, int] | None] = []
        for place, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            lattice = self.lattice(place)
            if lattice is None:
                found.append(None)
                continue
            origin, step = lattice
            first, last = ceil((low - origin) / step), floor((high - origin) / step)
            if first > last:
                raise EmptyRegionError(f"input {place}: no point of its lattice lies in the box")
            found.append((first, last))
        return tuple(found)


@dataclass(frozen=True)
class Grid:
    """What is known of a number: an interval and origin + step Z. step None: any real number of the interval."""

    low: Fraction
    high: Fraction
    step: Fraction | None
    origin: Fraction = Fraction(0)

    def times(self, factor: Fraction, offset: Fraction) -> Grid:
        """What is known of factor x + offset."""
        ends = sorted((factor * self.low + offset, factor * self.high + offset))
        step = Fraction(0) if factor == 0 else None if self.step is None else abs(factor) * self.step
        return Grid(ends[0], ends[1], step, factor * self.origin + offset)

    @property
    def integral(self) -> bool:
        """Whether it is known to be an integer."""
        return self.step is not None and self.step.denominator == 1 and self.origin.denominator == 1


def union(grids: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """The finest (step, origin) that all of these grids lie on."""
    step, origin = grids[0]
    for other, start in grids[1:]:
        step = common_step(common_step(step, other), abs(start - origin))
    return step, origin


def common_step(a: Fraction, b: Fraction) -> Fraction:
    """The largest number that both are multiples of; 0 if both are 0."""
    return Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


@dataclass(frozen=True)
class Atom:
    """What is known of an atom; `inner` is for whoever made it."""

    low: int
    high: int
    step: int
    origin: int
    loose: bool = False
    inner: object = None


class Atoms:
    """All atoms of a region, each once: those of the inputs first."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self._known: dict[Hashable, int] = {}
        self._atoms: list[Atom] = []
        self._table: Integers = np.zeros((4, 64), object)
        self._loose = np.zeros(64, bool)
        self.inputs: list[tuple[int | None, Fraction, Fraction]] = []
        """For each input the atom and the numbers (a, b) for which it is a atom + b; no atom where it is constant."""
        for place, ends in enumerate(region.steps):
            self.inputs.append(self._input(place, ends))

    def _input(self, place: int, ends: tuple[int, int] | None) -> tuple[int | None, Fraction, Fraction]:
        if ends is None:
            low, high = self.region.lower[place], self.region.upper[place]
            if low == high:
                return None, Fraction(0), low
            return self.add(("input", place), Atom(0, 1, 0, 0, loose=True)), high - low, low
        lattice = self.region.lattice(place)
        assert lattice is not None
        origin, step = lattice
        if ends[0] == ends[1]:
            return None, Fraction(0), origin + ends[0] * step
        return self.add(("input", place), Atom(*ends, 1, 0)), step, origin

    def number(self, key: Hashable) -> int | None:
        """The atom of a key, if there is one."""
        return self._known.get(key)

    def add(self, key: Hashable, atom: Atom) -> int:
        """The number of a new atom."""
        place = self._known[key] = len(self._atoms)
        self._atoms.append(atom)
        if place == len(self._loose):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
            self._loose = np.concatenate([self._loose, np.zeros_like(self._loose)])
        self._table[:, place] = atom.low, atom.high, atom.step, atom.origin
        self._loose[place] = atom.loose
        return place

    def __getitem__(self, number: int) -> Atom:
        return self._atoms[number]

    def __len__(self) -> int:
        return len(self._atoms)

    @property
    def columns(self) -> tuple[Integers, ...]:
        """low, high, step and origin of all atoms, as arrays of Python integers; what is behind the last is 0."""
        return tuple(self._table)

    @property
    def loose(self) -> NDArray[np.bool_]:
        """Which atoms may be any real number of their interval."""
        return self._loose
