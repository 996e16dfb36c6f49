"""Parts of two steps in floats, as tiles: rows that share kernels and units, so that matrices multiply them.

A tile adds sum_k near[g, o, k] times quantity index[g, p, k] to row rows[g, o, p]; an index of -1 is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..rounding import Array, Refused, up
from ..rounding import rational as rationals
from .number import Number
from .surd import Surd
from .value import INPUTS, Part, distinct

FIRST, SECOND, DIFFERENCE = range(3)
ZERO = Number.exactly(Fraction(0))


@dataclass(frozen=True)
class Tile:
    """Weights (g, o, k), by how much they are off, and where they act."""

    index: Array  # (g, p, k)
    rows: Array  # (g, o, p)
    near: Array
    off: Array

    @cached_property
    def size(self) -> Array:
        """At least that of a weight, and not so small that what it multiplies vanishes; 0 if the weight surely is."""
        return np.where((self.near == 0.0) & (self.off == 0.0), 0.0, np.maximum(np.abs(self.near), 2.0**-100))


@dataclass(frozen=True)
class Link:
    """From quantities of a source to those of a step: for each of `pairs`, of which kind and to which kind."""

    source: int
    pairs: tuple[tuple[int, int], ...]
    tiles: tuple[Tile, ...]
    terms: int

    @property
    def entries(self) -> int:
        """Weights, were they written out."""
        return sum(len(self.pairs) * int(tile.index.size) * int(tile.rows.shape[1]) for tile in self.tiles)


Kernels = tuple[Array, Array | None]
"""Exact numbers: floats, or rationals and sums of roots. And what may be missing of them, if anything."""


def links(a: Part | None, b: Part | None, source: int) -> Iterator[Link]:
    """What two parts of the same source and units add to x, y and d; either may be missing."""
    part = a or b
    assert part is not None
    x, y, d = (FIRST, FIRST, FIRST) if source == INPUTS else (FIRST, SECOND, DIFFERENCE)
    if a is not None and b is not None:
        first, kind = distinct(np.stack([a.kind, b.kind], axis=1))
        one, other = exactly(a.kernels[a.kind[first]]), exactly(b.kernels[b.kind[first]])
        wanted = [(one, [(x, FIRST), (d, DIFFERENCE)][: 1 if source == INPUTS else 2]), (other, [(y, SECOND)])]
        wanted.append((difference(one, other), [(y, DIFFERENCE)]))
    else:
        kind, one = part.kind, exactly(part.kernels)
        wanted = [(one, [(x, FIRST), (x, DIFFERENCE)])] if b is None else [(one, [(y, SECOND)])]
        wanted += [] if b is None else [((-one[0], one[1]), [(y, DIFFERENCE)])]
    laid = laid_out(part, kind)
    for kernels, pairs in wanted:
        near, off = floats(*kernels)
        if near.any() or off.any():
            tiles = [Tile(index, rows, near[which], off[which]) for index, rows, which in laid]
            yield Link(source, tuple(pairs), tuple(tiles), part.index.shape[1])


def constants(width: int, a: Part | None, b: Part | None) -> tuple[Array, Array]:
    """Of x, y and d (3 m, 1), and by how much they are off."""
    kinds, every = np.full((width, 2), -1), []
    for column, part in enumerate((a, b)):
        none = np.zeros((1, 1))
        if part is not None:
            kinds[part.rows, column] = part.kind
            none = np.concatenate([part.kernels, none.astype(part.kernels.dtype)])
            none[-1, 0] = ZERO if none.dtype == object else 0.0
        every.append(none)
    first, kind = distinct(kinds)
    one, other = (exactly(kernels[which]) for kernels, which in zip(every, kinds[first].T, strict=True))
    found = [floats(*kernels) for kernels in (one, other, difference(one, other))]
    near, off = (np.concatenate([ends[side][kind] for ends in found]) for side in (0, 1))
    return near, off


def alike(a: Part, b: Part) -> bool:
    """Whether they are of the same units, row by row."""
    return np.array_equal(a.rows, b.rows) and np.array_equal(a.index, b.index)


def is_dense(part: Part) -> bool:
    """Whether every row reads the first units in order, as behind a matrix."""
    return bool((part.index == np.arange(part.index.shape[1])).all())


def padded(a: Part, b: Part) -> tuple[Part, Part]:
    """Two parts as they are if they are alike, or else two matrices with zeros where one has more rows or columns."""
    if alike(a, b):
        return a, b
    rows, wide, made = np.union1d(a.rows, b.rows), max(a.index.shape[1], b.index.shape[1]), []
    index = np.tile(np.arange(wide, dtype=np.int32), (len(rows), 1))
    for part in (a, b):
        zero = ZERO if part.kernels.dtype == object else 0.0
        kernels = np.full((len(part.kernels) + 1, wide), zero, part.kernels.dtype)
        kernels[:-1, : part.kernels.shape[1]] = part.kernels
        kind = np.full(len(rows), len(part.kernels))
        kind[np.searchsorted(rows, part.rows)] = part.kind
        made.append(Part(part.source, rows, index, kind, kernels))
    return made[0], made[1]


def laid_out(part: Part, kind: Array) -> list[tuple[Array, Array, Array]]:
    """Index (g, p, k), rows (g, o, p) and kernels (g, o) of few tiles."""
    _, units = distinct(part.index)
    order = np.argsort(kind, kind="stable")
    groups: dict[bytes, tuple[Array, list[Array], list[int]]] = {}
    for rows in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1) if len(order) else []:
        _, several, which = groups.setdefault(units[rows].tobytes(), (part.index[rows], [], []))
        several.append(part.rows[rows])
        which.append(int(kind[rows[0]]))
    shapes: dict[tuple[int, int], list[tuple[Array, list[Array], list[int]]]] = {}
    for group in groups.values():
        shapes.setdefault((len(group[2]), len(group[0])), []).append(group)
    return [
        (np.stack([g[0] for g in some]), np.array([g[1] for g in some]), np.array([g[2] for g in some]))
        for some in shapes.values()
    ]


def exactly(kernels: Array) -> Kernels:
    """What they are, and what may be missing."""
    if kernels.dtype != object:
        return kernels, None
    made, gaps = (np.frompyfunc(part, 1, 1)(kernels) for part in (lambda n: n.c, lambda n: n.missing))
    return np.asarray(made, object), np.asarray(gaps, object) if any(gaps.ravel()) else None


def difference(a: Kernels, b: Kernels) -> Kernels:
    """a - b, exactly, and what may be missing of either."""
    if a[0].dtype != object and b[0].dtype != object and a[1] is b[1] is None:
        total = a[0] - b[0]  # and what that rounds, which is a float: Knuth's sum
        one = total + b[0]
        rest = np.abs((a[0] - one) - (b[0] - (one - total)))
        if np.isfinite(total).all():
            return total, rationals(rest) if rest.any() else None
    first, second = (rationals(c) if c.dtype != object else c for c in (a[0], b[0]))
    gaps = [gap for gap in (a[1], b[1]) if gap is not None]
    return first - second, sum(gaps[1:], gaps[0]) if gaps else None


def floats(exact: Array, missing: Array | None) -> tuple[Array, Array]:
    """The nearest floats, and by how much each of them is off."""
    if exact.dtype != object:
        if not np.isfinite(exact).all():
            raise Refused("weights leave the range of floats")
        near, gap = exact.astype(np.float64), np.zeros(exact.shape, object) if missing is None else missing.copy()
    else:
        exact, gap = rational(exact, missing)
        try:
            near = exact.astype(np.float64)
        except OverflowError:
            raise Refused("weights leave the range of floats") from None
        ratio = np.frompyfunc(lambda x: x.as_integer_ratio(), 1, 1)
        inexact = np.asarray(ratio(exact) != ratio(near), bool)
        gap[inexact] += np.abs(exact[inexact] - rationals(near[inexact]))
    off = np.where(gap != 0, up(gap.astype(np.float64)), 0.0)
    if not (np.isfinite(near).all() and np.isfinite(off).all()):
        raise Refused("weights leave the range of floats")
    return near, off


def rational(exact: Array, missing: Array | None) -> tuple[Array, Array]:
    """Rationals for surds, and what is missing then."""
    found, gap = exact.copy(), np.zeros(exact.shape, object) if missing is None else missing.copy()
    for place in zip(*np.nonzero(np.frompyfunc(lambda x: isinstance(x, Surd), 1, 1)(exact)), strict=True):
        found[place], off = exact[place].near()
        gap[place] += off
    return found, gap
