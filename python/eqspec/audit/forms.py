"""Affine forms: centre + sum of generators, each in [-1, 1], +- an error that covers all rounding.

z (m, B, 1 + generators), the centre first, and err (m, B), for m quantities on B boxes. For every input there is one
choice of generators at which every form holds. What is x or y of two networks has no generators of the other one, and
no columns for them: `within` says where the columns of a form are among all. Three operations make forms from forms,
`product`, `through` and `combine`, and add to err what they round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from .opening import limits
from .reading import DIFFERENCE, Both
from .rounding import MORE, TINY, Array, Refused, U, gamma, up

Runs: TypeAlias = Sequence[tuple[slice, slice]]
"""Columns in a row: which of all they are, and which of a form."""


class Form:
    """m quantities on B boxes; without `within`, their columns are the first of all."""

    def __init__(self, z: Array, err: Array, within: Runs = ()) -> None:
        self.z, self.err, self.within = z, err, within or runs(z.shape[2])

    @cached_property
    def spread(self) -> Array:
        """Of the generators, (m, B)."""
        wide = self.z.shape[-1]
        return np.asarray(np.abs(self.z).reshape(-1, wide) @ (np.arange(wide) > 0.0)).reshape(self.err.shape)

    @cached_property
    def size(self) -> Array:
        """At least |centre| + spread + err, (m, B)."""
        return np.asarray((np.abs(self.z[..., 0]) + self.spread + self.err) * MORE)

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds (m, B), exact where nothing was rounded."""
        centre, radius = self.z[..., 0], self.spread + self.err
        more = 1.0 + gamma(self.z.shape[-1] + 8)  # a sum of so many sizes, and what follows it
        radius = np.where(radius == 0.0, 0.0, (radius + 4.0 * U * np.abs(centre)) * more + TINY)
        return centre - radius, centre + radius

    def __getitem__(self, key: Array | slice) -> Form:
        found = Form(self.z[key], self.err[key], self.within)
        if "spread" in vars(self):  # it takes as long as everything else here
            found.spread = self.spread[key]
        return found


def runs(wide: int) -> Runs:
    """The first columns."""
    return ((slice(0, wide), slice(0, wide)),)


@dataclass(frozen=True)
class Known:
    """Forms of x, y and d of a step, or thrice of the inputs: which row of each a quantity is, -1 where it is 0."""

    forms: Sequence[Form]
    place: Array

    @cached_property
    def form(self) -> Form:
        """All of them, one behind the other, with all columns."""
        z = np.zeros((3, *self.forms[DIFFERENCE].z.shape))
        for part, form in zip(z, self.forms, strict=True):
            for to, of in form.within:
                part[..., to] = form.z[..., of]
        return Form(z.reshape(-1, *z.shape[2:]), np.concatenate([form.err for form in self.forms]))

    def rows(self, which: Array) -> Form:
        """Of these quantities, with all columns."""
        (kind, row), form = np.divmod(which, len(self.place)), self.form
        at, found = self.place[row] + kind * (len(form.err) // 3), np.flatnonzero(self.place[row] >= 0)
        z, err = np.zeros((len(which), *form.z.shape[1:])), np.zeros((len(which), form.err.shape[1]))
        z[found], err[found] = form.z[at[found]], form.err[at[found]]
        return Form(z, err)


def box(low: Array, high: Array) -> Form:
    """Boxes (m, B): one generator for every side that is not a point anywhere."""
    centre, free = low + 0.5 * (high - low), np.flatnonzero((high > low).any(axis=1))
    z = np.zeros((*centre.shape, 1 + len(free)))
    z[:, :, 0] = centre
    z[free, :, 1 + np.arange(len(free))] = up(np.maximum(up(high - centre), up(centre - low)))[free]
    return Form(z, np.zeros(centre.shape))


def join(forms: Sequence[Form]) -> Form:
    """All forms as one; generators that some of them lack are the last ones."""
    wide = max(form.z.shape[2] for form in forms)
    gamma(wide)  # or there are too many to sum up
    z = [np.concatenate([form.z, np.zeros((*form.err.shape, wide - form.z.shape[2]))], 2) for form in forms]
    return Form(np.concatenate(z), np.concatenate([form.err for form in forms]))


def product(
    matrix: Array, form: Form, constant: Array | float = 0.0, off: Array | float = 0.0, lost: Array | float = 0.0
) -> Form:
    """matrix (r, m) times the forms + constant (r, 1), which may be off elementwise by `off` and `lost`."""
    z = np.tensordot(matrix, form.z, 1)
    size = np.abs(matrix)
    reach = (gamma(matrix.shape[1] + 2) * size + off) @ form.size
    rounded = np.where(constant == 0.0, 0.0, 2.0 * U * (np.abs(z[..., 0]) + np.abs(constant)))
    z[..., 0] += constant
    touched = ((size + off != 0.0).astype(float) @ (form.size != 0.0)) + (np.asarray(constant) != 0.0) + lost != 0.0
    return Form(z, np.where(touched, (size @ form.err + reach + rounded + lost) * MORE + TINY, 0.0))


def through(step: Both, known: Mapping[int, Known], boxes: int) -> list[Form]:
    """x, y and d of a step, from those of its sources."""
    m, sources = step.width, [known[source].forms for source in step.sources]
    none = Form(np.zeros((0, boxes, 1)), np.zeros((0, boxes)))
    widest = max(sources, key=lambda forms: forms[DIFFERENCE].z.shape[2], default=[none] * 3)
    if 3 * m * boxes * widest[DIFFERENCE].z.shape[2] > limits.FORM:
        raise Refused("an enclosure is larger than the auditor computes with")
    z, off = [np.zeros((m, boxes, form.z.shape[2])) for form in widest], np.zeros((3, m, boxes))
    for link in step.links:
        for tile in link.tiles:
            index = np.where(tile.index < 0, -1, known[link.source].place[tile.index])
            used = (index >= 0).any(axis=(0, 1))
            index, near, size = index[..., used], tile.near[..., used], tile.size[..., used]
            for start, to in link.pairs:
                form = known[link.source].forms[start]
                passed = np.where(form.size == 0.0, 0.0, form.err + (gamma(step.terms + 2) * form.size + LEAST))
                within = form.within if to == DIFFERENCE else ()  # x and y are read by x and y with the same columns
                add(z[to], tile.rows, near, index, form.z, within)
                add(off[to], tile.rows, size, index, passed)
                if tile.off.any():
                    add(off[to], tile.rows, tile.off[..., used], index, form.size)
    bias, lost = step.bias.reshape(3, m, 1), step.lost.reshape(3, m, 1)
    rounded = np.where(bias == 0.0, 0.0, 2.0 * U * (np.abs([part[..., 0] for part in z]) + np.abs(bias)))
    some = (off != 0.0) | (bias != 0.0) | (lost != 0.0)  # nothing is rounded where nothing is added
    for part, constant in zip(z, bias, strict=True):
        part[..., 0] += constant
    errors = np.where(some, (off + rounded + lost) * MORE + TINY, 0.0)
    return [Form(part, err, form.within) for part, err, form in zip(z, errors, widest, strict=True)]


def add(total: Array, rows: Array, weight: Array, index: Array, values: Array, within: Runs = ()) -> None:
    """Add weights (g, o, k) times values[index (g, p, k)] to rows (g, o, p) of a total; an index of -1 is none."""
    _, places, taps = index.shape
    flat, none = values.reshape(len(values), prod(values.shape[1:])), bool((index < 0).any())
    most = max(1, GATHERED // max(1, taps * flat.shape[1]))  # columns of the gathered matrices
    for g in range(0, len(index) if taps else 0, max(1, most // places)):
        group = slice(g, g + max(1, most // places))
        for p in range(0, places, most):
            some = index[group, p : p + most].transpose(0, 2, 1)
            same = flat.size > CACHED and np.array_equal(some.ravel(), np.arange(len(flat)))
            gathered = flat if same else flat[some]
            if none and not same:
                gathered[some < 0] = 0.0
            found = (weight[group] @ gathered.reshape(len(some), taps, -1)).reshape(-1, *values.shape[1:])
            target, first = rows[group, :, p : p + most].ravel(), int(rows[g, 0, p])
            in_order = np.array_equal(target, np.arange(first, first + len(target)))  # then it is added up in place
            for to, of in within or runs(values.shape[-1]):
                total[slice(first, first + len(target)) if in_order else target, ..., to] += found[..., of]


LEAST = 2.0**-900
"""Added to what is passed on, so that it is not 0 where anything is: see `Tile.size`."""
GATHERED, CACHED = 1 << 22, 1 << 15
"""Numbers that are gathered at once, and more of them than are gathered where they may stay where they are."""


def combine(factors: Array, forms: Sequence[Form], constant: Array, wide: int = 0) -> Form:
    """The sum of factors (k, m, B) times k forms of m quantities + constant (m, B), with so many columns at least.

    Factors may be off by a unit, constants too; 0, 1 and -1 are meant. What is only moved is not rounded. The last form
    has all columns of the others, and the sum has those of the last, which may be all or not.
    """
    err, size = np.array([form.err for form in forms]), np.array([form.size for form in forms])
    z = np.zeros((*constant.shape, max(wide, forms[-1].z.shape[2])))
    np.multiply(factors[-1][..., None], forms[-1].z, out=z[..., : forms[-1].z.shape[2]])
    for factor, form in zip(factors[:-1], forms[:-1], strict=True):
        for to, of in form.within if factor.any() else ():
            z[..., to] += factor[..., None] * form.z[..., of]
    z[..., 0] += constant
    each, there = np.abs(factors), (factors != 0.0) & (size != 0.0)
    terms, total = there.sum(0) + (constant != 0.0), (each * size).sum(0) + np.abs(constant)
    moved = (terms <= 1) & (~there | (each == 1.0)).all(0)
    rounded = np.where(moved, 0.0, 8.0 * U * (terms + 1) * total + TINY)
    found = Form(z, np.where(terms == 0, 0.0, ((each * err).sum(0) + rounded) * MORE))
    found.size = (total + found.err) * MORE  # perhaps more than it is, but no pass over z
    return found


def with_generators(
    factors: Array, known: Known, constants: Array, within: Sequence[Runs], new: Sequence[tuple[Array, Array]]
) -> Known:
    """X, Y and D, which factors (3, 3, m, B) make of x, y and d, X of x alone and Y of y, with constants (3, m, B).

    Behind all columns that are `within` x, y and d come new generators, of sizes (3, m, B) and where (m, B) they are:
    one for each quantity there, the i-th of a box in column i; those of X first, then those of Y, then those of D.
    """
    counts, forms = [int(where.sum(axis=0).max(initial=0)) for _, where in new], list[Form]()
    starts = within[DIFFERENCE][-1][0].stop + np.cumsum([0, *counts])
    for k, own in enumerate((slice(0, 1), slice(1, 2), slice(0, 3))):
        first, end, at = starts[own.start], starts[own.stop], within[k][-1][1].stop - starts[own.start]
        form = combine(factors[k, own], known.forms[own], constants[k], end + at)
        for (sizes, where), start in zip(new[own], starts[own], strict=True):
            i, b = np.nonzero(where)
            form.z[i, b, start + at + (where.cumsum(axis=0) - 1)[i, b]] = sizes[k][i, b]
            form.size = (form.size + np.abs(sizes[k])) * MORE
        form.within = form.within if k == DIFFERENCE else [*within[k], (slice(first, end), slice(first + at, end + at))]
        forms.append(form)
    return Known(forms, known.place)
