"""Steps at the inputs: which rows of a program are a function with finitely many values of one input alone.

Rows are told apart by what they still know of the inputs themselves: a row is *direct* if it is a x_i + b of one input,
*mixed* if it is any other function of what is not quantised yet, and neither if everything that it reads has gone
through steps. Inputs that reach a mixed row, or an output, are `read` as they are.

Sound because a row is called a step only if its sum is exactly a x_i + b, with no error and no other entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.program import NONE, Step, Tile
from eqspec.networks.quantiser import Quantiser, rounded

_Mask: TypeAlias = NDArray[np.bool_]
_Lines: TypeAlias = dict[tuple[Fraction, Fraction, Curve], "Line"]
_STEPS = ("quantiser", "floor", "sign")
_MOST_PRODUCTS = 1 << 26


@dataclass(frozen=True, eq=False)
class Line:
    """The curve at factor x + offset; each is made once for a program."""

    factor: Fraction
    offset: Fraction
    curve: Curve

    @cached_property
    def quantiser(self) -> Quantiser | None:
        """The quantiser that the curve is; None for the others."""
        return Quantiser.of(self.curve) if self.curve.name == "quantiser" else None

    @cached_property
    def in_levels(self) -> tuple[Fraction, Fraction]:
        """Factor and offset of what the quantiser rounds, in levels."""
        assert self.quantiser is not None
        scale, zero = Fraction(self.quantiser.scale), Fraction(self.quantiser.zero)
        return self.factor / scale, self.offset / scale + zero

    def level(self, quantiser: Quantiser, x: Fraction) -> int:
        """The level in front of what brings it into its type, of the curve's quantiser."""
        factor, offset = self.in_levels
        return rounded(factor * x + offset, quantiser.rounding)


@dataclass(frozen=True)
class InputStep:
    """Row `row` of step `step` is this function of the input `place`."""

    step: int
    row: int
    place: int
    line: Line


@dataclass(frozen=True, eq=False)
class InputSteps:
    """The steps at the inputs of a program, and the inputs (I,) that are read as they are."""

    found: tuple[InputStep, ...]
    read: _Mask

    def lines(self, place: int) -> frozenset[Line]:
        """The different steps at an input."""
        return self._lines[place]

    @cached_property
    def _lines(self) -> list[frozenset[Line]]:
        known: dict[frozenset[Line], frozenset[Line]] = {}
        found: list[set[Line]] = [set() for _ in self.read]
        for one in self.found:
            found[one.place].add(one.line)
        return [known.setdefault(frozenset(lines), frozenset(lines)) for lines in found]


@dataclass(frozen=True)
class _Rows:
    """What is known of each row of a step: whether it is mixed, and if it is direct, what it is."""

    mixed: _Mask
    direct: dict[int, tuple[int, Fraction, Fraction]]

    @property
    def unstepped(self) -> _Mask:
        """Rows that know something of the inputs themselves."""
        found = self.mixed.copy()
        found[list(self.direct)] = True
        return found


def find(steps: Sequence[Step], inputs: int) -> InputSteps:
    """The steps at the inputs of a program."""
    read = np.zeros(inputs, bool)
    first = _Rows(np.zeros(inputs, bool), {i: (i, Fraction(1), Fraction(0)) for i in range(inputs)})
    known = [first]
    found: list[InputStep] = []
    lines: _Lines = {}
    for number, step in enumerate(steps):
        rows = _sums(step, [known[source + 1] for source in step.sources], read)
        if step.function != "identity":
            rows = _behind(step, number, rows, found, read, lines)
        known.append(rows)
    for place, _, _ in known[-1].direct.values():
        read[place] = True
    return InputSteps(tuple(found), read)


def _sums(step: Step, given: Sequence[_Rows], read: _Mask) -> _Rows:
    """What the sums of a step are; inputs of direct rows that get mixed count as read."""
    unstepped, entries = np.zeros(step.rows, int), np.zeros(step.rows, int)
    for term, rows in zip(step.terms, given, strict=True):
        unstepped += _entries(term.tile, rows.unstepped)
        entries += _entries(term.tile, np.ones(len(rows.mixed), bool))
    direct: dict[int, tuple[int, Fraction, Fraction]] = {}
    there = [_there(term.tile) for term in step.terms]
    for row in np.flatnonzero((unstepped == 1) & (entries == 1)).tolist():
        if (line := _line(step, row, given, there)) is not None:
            direct[row] = line
    mixed = unstepped > 0
    mixed[list(direct)] = False
    for term, rows in zip(step.terms, given, strict=True):
        if mixed.any() and rows.direct:
            for row in _read_by(term.tile, mixed, rows.unstepped):
                if row in rows.direct:
                    read[rows.direct[row][0]] = True
    return _Rows(mixed, direct)


def _entries(tile: Tile, of: _Mask) -> NDArray[np.int_]:
    """How many weights of each row are not 0 and read one of these."""
    there = np.append(of, False)[tile.index] & (tile.index != NONE)
    weights = _there(tile)
    counted = np.matmul(weights.astype(np.float32), there.transpose(0, 2, 1).astype(np.float32))
    return np.asarray(counted.reshape(-1).astype(int))


def _there(tile: Tile) -> _Mask:
    """Which weights are not known to be 0."""
    there = tile.weight != 0.0
    return np.asarray(there if tile.weight_error is None else there | (tile.weight_error > 0.0))


def _read_by(tile: Tile, rows: _Mask, of: _Mask) -> list[int]:
    """Which of these are read by some of these rows."""
    readers = rows.reshape(tile.groups, tile.outputs, tile.positions).transpose(0, 2, 1)
    used = np.matmul(readers.astype(np.float32), _there(tile).astype(np.float32)) > 0.0
    used &= np.append(of, False)[tile.index] & (tile.index != NONE)
    return [int(row) for row in np.unique(tile.index[used])]


def _line(
    step: Step, row: int, given: Sequence[_Rows], weights: Sequence[_Mask]
) -> tuple[int, Fraction, Fraction] | None:
    """The one entry of a row times the direct row that it reads; None where an error stands beside it."""
    if step.bias_error is not None and step.bias_error[row] > 0.0:
        return None
    for term, rows, not_zero in zip(step.terms, given, weights, strict=True):
        tile = term.tile
        channel, position = divmod(row, tile.positions)
        group, output = divmod(channel, tile.outputs)
        index = tile.index[group, position]
        there = not_zero[group, output] & (index != NONE)
        if not there.any():
            continue
        (tap,) = np.flatnonzero(there).tolist()
        if tile.weight_error is not None and tile.weight_error[group, output, tap] > 0.0:
            return None
        if (line := rows.direct.get(int(index[tap]))) is None:
            return None  # it reads a mixed row
        place, factor, offset = line
        weight = Fraction(float(tile.weight[group, output, tap]))
        return place, weight * factor, weight * offset + Fraction(float(step.bias[row]))
    return None


def _behind(step: Step, number: int, rows: _Rows, found: list[InputStep], read: _Mask, lines: _Lines) -> _Rows:
    """Rows behind the function: steps are found, all other functions of direct rows are mixed."""
    mixed = rows.mixed.copy()
    for row, (place, factor, offset) in rows.direct.items():
        curve = step.function.at(row) if isinstance(step.function, Curves) else None
        if curve is not None and curve.name in _STEPS:
            line = lines.setdefault((factor, offset, curve), Line(factor, offset, curve))
            found.append(InputStep(number, row, place, line))
        else:
            mixed[row] = read[place] = True
    return _Rows(mixed, {})


def within_limits(steps: Sequence[Step]) -> bool:
    """Whether looking through the weights takes little time."""
    return sum(term.tile.weight.size + term.tile.index.size for step in steps for term in step.terms) <= _MOST_PRODUCTS
