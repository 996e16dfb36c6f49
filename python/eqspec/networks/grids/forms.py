"""Affine forms over atoms, row by row, exactly; sums of the terms of a step; intervals and grids of every row.

Row r of `Forms` is

    (constant[r] + sum over e in starts[r] .. starts[r + 1] of coefficient[e] atom[at[e]]) / denominator[r]

with ascending atoms, none twice, no coefficient 0, integers without a common divisor, denominator > 0: so two rows are
the same form only if they are the same numbers. All numbers are Python integers in object arrays; nothing overflows
and nothing is rounded.

The grid of a row is step = gcd(coefficient step of its atom), origin = the row at the atoms' origins; the interval is
attained at the atoms' ends. Tiles are not written out as matrices, but every product becomes an entry; `TooManyError`
where that takes too much.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers, to_integers
from eqspec.networks.grids.atoms import Atoms, Grid
from eqspec.networks.program import NONE, Tile

Places = NDArray[np.intp]
MOST_ENTRIES = 1 << 22
"""Products of a step, about four seconds."""


class TooManyError(Exception):
    """Exact forms of this many products would take too long."""


@dataclass(frozen=True, eq=False)
class Forms:
    """See the head of this file."""

    starts: Places
    at: Places
    coefficients: Integers
    constants: Integers
    denominators: Integers

    def __len__(self) -> int:
        return len(self.constants)

    @classmethod
    def of(cls, rows: Sequence[tuple[int | None, Fraction, Fraction]]) -> Forms:
        """Rows a atom + b by (atom, a, b); of (None, 0, b) the constant b."""
        there = [atom is not None and bool(a) for atom, a, _ in rows]
        denominators = [lcm(a.denominator, b.denominator) for _, a, b in rows]
        return cls(
            np.concatenate([[0], np.cumsum(there, dtype=np.intp)]).astype(np.intp),
            np.array([atom for (atom, _, _), kept in zip(rows, there, strict=True) if kept], np.intp),
            _integers(int(a * d) for (_, a, _), d, kept in zip(rows, denominators, there, strict=True) if kept),
            _integers(int(b * d) for (_, _, b), d in zip(rows, denominators, strict=True)),
            _integers(denominators),
        )

    def entries(self, row: int) -> slice:
        """Where the entries of a row are."""
        return slice(self.starts[row], self.starts[row + 1])

    def key(self, row: int) -> Hashable:
        """What a row is."""
        part = self.entries(row)
        linear = (self.at[part].tobytes(), tuple(self.coefficients[part].tolist()))
        return linear, self.constants[row], self.denominators[row]

    def single(self, row: int) -> int | None:
        """The atom of a row that has just one."""
        part = self.entries(row)
        return int(self.at[part.start]) if part.stop - part.start == 1 else None

    def scaled(self, row: int, factor: Fraction, offset: Fraction) -> Forms:
        """The one row factor x + offset."""
        part = self.entries(row)
        multiple = Fraction(factor.numerator, factor.denominator * self.denominators[row])
        constant = multiple * self.constants[row] + offset
        if factor == 0:
            return Forms.of([(None, Fraction(0), constant)])
        denominator = lcm(multiple.denominator, constant.denominator)
        made = Forms(
            np.array([0, part.stop - part.start], np.intp),
            self.at[part],
            self.coefficients[part] * int(multiple * denominator),
            _integers([int(constant * denominator)]),
            _integers([denominator]),
        )
        return made.reduced()

    def reduced(self) -> Forms:
        """Every row in lowest terms."""
        common = np.gcd(np.gcd(self.constants, self.denominators), _by_row(np.gcd, self.coefficients, self.starts, 0))
        if not len(common) or (common == 1).all():
            return self
        counts = np.diff(self.starts)
        return Forms(
            self.starts,
            self.at,
            self.coefficients // np.repeat(common, counts),
            self.constants // common,
            self.denominators // common,
        )

    def grids(self, atoms: Atoms) -> list[Grid]:
        """What is known of every row."""
        low, high, step, origin = (column[self.at] for column in atoms.columns)
        positive = self.coefficients > 0
        bottom = self._total(self.coefficients * np.where(positive, low, high))
        top = self._total(self.coefficients * np.where(positive, high, low))
        start = self._total(self.coefficients * origin)
        apart = np.abs(_by_row(np.gcd, self.coefficients * step, self.starts, 0))
        loose = _by_row(np.logical_or, atoms.loose[self.at], self.starts, False)
        found = (array.tolist() for array in (bottom, top, apart, start, loose, self.denominators))
        return [
            Grid(Fraction(b, d), Fraction(t, d), None if any_real else Fraction(g, d), Fraction(o, d))
            for b, t, g, o, any_real, d in zip(*found, strict=True)
        ]

    def _total(self, products: Integers) -> Integers:
        return np.asarray(self.constants + _by_row(np.add, products, self.starts, 0))

    def taken(self, rows: Places) -> Forms:
        """Some rows, in this order."""
        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        at = _ranges(self.starts[rows], counts)
        return Forms(starts, self.at[at], self.coefficients[at], self.constants[rows], self.denominators[rows])


def joined(parts: Sequence[Forms]) -> Forms:
    """The rows of all, one behind the other."""
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return Forms(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        np.concatenate([part.at for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
        np.concatenate([part.constants for part in parts]),
        np.concatenate([part.denominators for part in parts]),
    )


def sums(given: Sequence[tuple[Tile, Forms]], bias: NDArray[np.float64]) -> Forms:
    """The rows of a step without errors: its tiles, of the forms that they read, and the bias (rows,).

    Raises TooManyError where the forms would have more than MOST_ENTRIES entries.
    """
    denominator = lcm(1, *(int(d) for _, forms in given for d in forms.denominators.tolist()))
    (offsets,), of_bias = to_integers(bias)
    whole = [to_integers(tile.weight) for tile, _ in given]
    exponent = min([0, of_bias, *(e for _, e in whole)])
    constants = (offsets << (of_bias - exponent)) * denominator
    parts = []
    for (tile, forms), ((weight,), own) in zip(given, whole, strict=True):
        row, source, factor = _products(tile, weight << (own - exponent))
        factor = factor * (denominator // forms.denominators[source])
        np.add.at(constants, row, factor * forms.constants[source])
        counts = np.diff(forms.starts)[source]
        if counts.sum() > MOST_ENTRIES:
            raise TooManyError
        at = _ranges(forms.starts[source], counts)
        parts.append((np.repeat(row, counts), forms.at[at], np.repeat(factor, counts) * forms.coefficients[at]))
    whole_denominator = np.full(len(bias), denominator << -exponent, object)
    return _collected(parts, constants, whole_denominator)


def combined(rows: Sequence[tuple[Forms, int, Fraction]]) -> Forms:
    """The one row that is the sum of factor times row, over (forms, row, factor)."""
    denominator = lcm(1, *(forms.denominators[row] * factor.denominator for forms, row, factor in rows))
    constant, parts = 0, []
    for forms, row, factor in rows:
        multiple = factor.numerator * (denominator // (forms.denominators[row] * factor.denominator))
        constant += multiple * forms.constants[row]
        entries = forms.entries(row)
        at = forms.at[entries]
        parts.append((np.zeros(len(at), np.intp), at, forms.coefficients[entries] * multiple))
    return _collected(parts, _integers([constant]), _integers([denominator]))


def _products(tile: Tile, weight: Integers) -> tuple[Places, Places, Integers]:
    """Row, source and integer weight of every product that is not 0."""
    if tile.products > 8 * MOST_ENTRIES:
        raise TooManyError
    shape = (tile.groups, tile.outputs, tile.positions, tile.taps)
    source = np.broadcast_to(tile.index[:, None], shape)
    factors = np.broadcast_to(weight[:, :, None], shape)
    there = (source != NONE) & (np.broadcast_to(tile.weight[:, :, None], shape) != 0.0)
    if np.count_nonzero(there) > MOST_ENTRIES:
        raise TooManyError
    row = np.nonzero(there.reshape(tile.rows, tile.taps))[0]
    return row, source[there].astype(np.intp), factors[there]


def _collected(parts: Sequence[tuple[Places, Places, Integers]], constants: Integers, denominators: Integers) -> Forms:
    """Forms of entries (row, atom, coefficient) in any order; those of one row and atom are added."""
    rows = len(constants)
    none = np.zeros(0, np.intp)
    row = np.concatenate([none, *(part[0] for part in parts)])
    at = np.concatenate([none, *(part[1] for part in parts)])
    coefficients = np.concatenate([np.zeros(0, object), *(part[2] for part in parts)])
    order = np.lexsort((at, row))
    row, at, coefficients = row[order], at[order], coefficients[order]
    if len(row):
        first = np.concatenate([[True], (row[1:] != row[:-1]) | (at[1:] != at[:-1])])
        if not first.all():
            coefficients = np.add.reduceat(coefficients, np.flatnonzero(first))
            row, at = row[first], at[first]
        kept = np.asarray(coefficients != 0, bool)
        if not kept.all():
            row, at, coefficients = row[kept], at[kept], coefficients[kept]
    starts = np.searchsorted(row, np.arange(rows + 1)).astype(np.intp)
    return Forms(starts, at, coefficients, constants, denominators).reduced()


def _by_row(operation: np.ufunc, values: NDArray[Any], starts: Places, empty: object) -> NDArray[Any]:
    """The operation over the entries of each row; `empty` of none."""
    rows = len(starts) - 1
    found = np.full(rows, empty, values.dtype)
    filled = np.flatnonzero(starts[1:] > starts[:-1])
    if len(filled):
        found[filled] = operation.reduceat(values, starts[:-1][filled])
    return found


def _ranges(starts: Places, counts: Places) -> Places:
    """starts[i], starts[i] + 1, ... counts[i] of them, for each i."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) - np.repeat(ends - counts, counts) + np.repeat(starts, counts), np.intp)


def _integers(numbers: Any) -> Integers:
    """An array of Python integers."""
    listed = list(numbers)
    made = np.empty(len(listed), object)
    made[:] = listed
    return made
