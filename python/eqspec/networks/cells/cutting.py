"""A region cut into cells on which networks that begin with steps are constant, in rationals.

A cut is a place x and whether x itself belongs to what is above it: the rounding says to which side a tie belongs. The
cells of an input are the parts of its interval between cuts, where two cuts at one place leave that point alone; with a
lattice those that hold a point of it. An input that is read as it is has a cell for each point of its lattice, and
infinitely many without one. Cells of the region are the products of those of its inputs.

Each cell of an input is stood for by one of its numbers, one that float32 or float64 holds if there is one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, repeat
from math import ceil, floor, prod

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.cells.input_steps import InputSteps, Line
from eqspec.networks.grids.atoms import Lattice, Region
from eqspec.networks.quantiser import Quantiser, Rounding, rounded

MOST_CUTS = 1 << 18
"""So many numbers that stand for cells of an input take some seconds to find."""
Cut = tuple[Fraction, bool]
"""A place, and whether it lies in front of the cut (so the place belongs to what is below)."""


@dataclass(frozen=True)
class Cells:
    """For each input the numbers that stand for its cells."""

    numbers: tuple[tuple[Fraction, ...], ...]

    @cached_property
    def count(self) -> int:
        """How many cells the region has."""
        return prod(map(len, self.numbers))

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The inputs with more than one cell."""
        return tuple(place for place, numbers in enumerate(self.numbers) if len(numbers) > 1)

    def choices(self, cells: Sequence[int] | range | NDArray[np.intp]) -> NDArray[np.intp]:
        """Of cells by their numbers: for each input (I, N) which of its cells. The last input counts fastest."""
        sizes = [len(self.numbers[place]) for place in self.free]
        chosen = np.zeros((len(self.numbers), len(cells)), np.intp)
        if sizes:
            chosen[list(self.free)] = np.unravel_index(np.asarray(cells, np.intp), sizes)
        return chosen

    def point(self, chosen: Sequence[int]) -> tuple[Fraction, ...]:
        """A point of a cell."""
        return tuple(numbers[k] for numbers, k in zip(self.numbers, chosen, strict=True))


def cut(
    region: Region,
    found: Sequence[InputSteps],
    most: int,
    *,
    outside: bool = False,
    apart: Sequence[int] = (),
    cuts: int = MOST_CUTS,
) -> Cells | int | None:
    """The cells of a region for these programs; how many there are if more than `most`; None if infinitely many.

    Where inputs have more cells than `cuts`, added up, the number counts cuts at one place twice. With `outside` what
    saturates is a cell by itself, although its value is that of the level next to it: for claims about what leaves its
    type. Of the inputs `apart`, which have lattices, every point is a cell.
    """
    none: frozenset[Line] = frozenset()
    by_input = [none.union(*(steps.lines(place) for steps in found)) for place in range(len(region.lower))]
    read = np.any([steps.read for steps in found], axis=0)
    read[list(apart)] = True
    inputs = list(
        zip(
            region.lower,
            region.upper,
            region.lattices or repeat(None),
            by_input,
            read.tolist(),
            repeat(outside),
            strict=False,
        )
    )
    # Many inputs are alike, as pixels are, and integers are compared in less time than fractions.
    alike: dict[Hashable, int] = {}
    kinds = [
        alike.setdefault((*low.as_integer_ratio(), *high.as_integer_ratio(), *rest), len(alike))
        for low, high, *rest in inputs
    ]
    distinct = dict(zip(kinds, inputs, strict=True))
    sizes = {kind: _most_cells(*one) for kind, one in distinct.items()}
    most_cells = [sizes[kind] for kind in kinds]
    if 0 in most_cells:
        return None
    if sum(most_cells) > len(most_cells) + cuts:
        return prod(most_cells)
    numbers = {kind: _numbers(*one) for kind, one in distinct.items()}
    cells = Cells(tuple(numbers[kind] for kind in kinds))
    return cells if cells.count <= most else cells.count


def _most_cells(
    low: Fraction, high: Fraction, lattice: Lattice | None, lines: Iterable[Line], read: bool, outside: bool
) -> int:
    """At least as many cells as an input has; 0 for infinitely many."""
    points = 1 if low == high else 0
    if lattice is not None and low < high:
        on = _on(lattice, low, high)
        points = max(0, on.stop - on.start)  # `len` knows no more than 2^63
    if read or points == 1:
        return points
    cuts = 1
    for line in lines:
        least, most = _levels(line, low, high, outside)
        cuts += most - least
    return min(cuts, points) if points else cuts


def _on(lattice: Lattice, low: Fraction, high: Fraction) -> range:
    """Which points of a lattice lie between two numbers."""
    origin, step = lattice
    return range(ceil((low - origin) / step), floor((high - origin) / step) + 1)


def _numbers(
    low: Fraction, high: Fraction, lattice: Lattice | None, lines: Iterable[Line], read: bool, outside: bool
) -> tuple[Fraction, ...]:
    """The numbers that stand for the cells of an input."""
    if low == high:
        return (low,)
    if read:
        assert lattice is not None
        return tuple(lattice[0] + k * lattice[1] for k in _on(lattice, low, high))
    cuts: set[Cut] = set()
    for line in lines:
        cuts.update(cut for cut in _cuts(line, low, high, outside) if (low, False) < cut < (high, True))
    ordered = [(low, False), *sorted(cuts), (high, True)]
    cells = (_number(start, end, lattice) for start, end in pairwise(ordered))
    return tuple(number for number in cells if number is not None)


def _number(start: Cut, end: Cut, lattice: Lattice | None) -> Fraction | None:
    """A number between two cuts."""
    (low, above), (high, below) = start, end
    if lattice is not None:
        origin, step = lattice
        first, last = (low - origin) / step, (high - origin) / step
        least = floor(first) + 1 if above else ceil(first)
        most = floor(last) if below else ceil(last) - 1
        return None if least > most else origin + ((least + most) // 2) * step
    if low == high:
        return low
    middle = (low + high) / 2
    for short in (float(np.float32(float(middle))), float(middle)):
        if np.isfinite(short) and low < Fraction(short) < high:
            return Fraction(short)
    return middle


_FLOOR = Quantiser(1.0, -(1 << 53), 1 << 53, Rounding.FLOOR)
"""How `floor` rounds; it is not brought into a type."""


def _quantiser(line: Line) -> Quantiser | None:
    """How a step rounds; None for sign."""
    return _FLOOR if line.curve.name == "floor" else line.quantiser


def _levels(line: Line, low: Fraction, high: Fraction, outside: bool) -> tuple[int, int]:
    """The least and the largest level between two numbers, where it saturates as it is saturated.

    With `outside`, as one level beyond the type.
    """
    q = _quantiser(line)
    if q is None:
        return -1, 1
    factor, offset = line.in_levels if line.quantiser is not None else (line.factor, line.offset)
    least, most = sorted(rounded(factor * x + offset, q.rounding) for x in (low, high))
    if q.wraps or line.curve.name == "floor":
        return least, most
    first, last = q.low - outside, q.high + outside
    return min(max(least, first), last), min(max(most, first), last)


def _cuts(line: Line, low: Fraction, high: Fraction, outside: bool) -> Iterator[Cut]:
    """Where the level of a step changes between two numbers."""
    q, factor, offset = _quantiser(line), line.factor, line.offset
    if q is None:
        yield -offset / factor, False
        yield -offset / factor, True
        return
    least, most = _levels(line, low, high, outside)
    for level in range(least, most):
        t, above = threshold(level, q.rounding)
        x = ((t - Fraction(q.zero)) * Fraction(q.scale) - offset) / factor
        yield x, above if factor > 0 else not above


def threshold(level: int, rounding: Rounding) -> Cut:
    """Where `level` ends and the next begins, and whether it still belongs to `level`."""
    half = Fraction(2 * level + 1, 2)
    match rounding:
        case Rounding.FLOOR:
            return Fraction(level + 1), False
        case Rounding.CEIL:
            return Fraction(level), True
        case Rounding.ZERO:
            return (Fraction(level + 1), False) if level >= 0 else (Fraction(level), True)
        case Rounding.AWAY:
            return (Fraction(level), True) if level >= 0 else (Fraction(level + 1), False)
        case Rounding.HALF_UP:
            return half, False
        case Rounding.HALF_DOWN:
            return half, True
        case Rounding.HALF_EVEN:
            return half, level % 2 == 0
        case Rounding.HALF_AWAY:
            return half, level < 0
        case Rounding.HALF_ZERO:
            return half, level >= 0
