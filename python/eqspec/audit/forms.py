"""Affine forms: centre + sum of generators, each in [-1, 1], +- an error that covers all rounding.

z (m, B, 1 + generators), the centre first, and err (m, B), for m quantities on B boxes. The same generator is the same
number in all forms, so that for every input there is one choice of generators at which every form holds. A form that
has fewer of them has the first ones. Three operations make forms from forms, `product`, `through` and `combine`, and
add to err what they round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from .opening import limits
from .reading import Both
from .rounding import MORE, TINY, Array, Refused, U, gamma, up


class Form:
    """m quantities on B boxes."""

    def __init__(self, z: Array, err: Array) -> None:
        self.z, self.err = z, err

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
        found = Form(self.z[key], self.err[key])
        if "spread" in vars(self):  # it takes as long as everything else here
            found.spread = self.spread[key]
        return found


@dataclass(frozen=True)
class Known:
    """Forms of some of the quantities of a step: which row each of all of them is, -1 where it is 0."""

    form: Form
    place: Array

    def rows(self, which: Array) -> Form:
        """Of these quantities."""
        at, found = self.place[which], np.flatnonzero(self.place[which] >= 0)
        z, err = np.zeros((len(which), *self.form.z.shape[1:])), np.zeros((len(which), self.form.err.shape[1]))
        z[found], err[found] = self.form.z[at[found]], self.form.err[at[found]]
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


def through(step: Both, known: Mapping[int, Known], boxes: int, wide: int) -> Form:
    """x, y and d of a step, from those of its sources, with so many generators."""
    rows = 3 * step.width
    if rows * boxes * wide > limits.FORM:
        raise Refused("an enclosure is larger than the auditor computes with")
    z, off = np.zeros((rows, boxes, wide)), np.zeros((rows, boxes))
    for link in step.links:
        form, place = known[link.source].form, known[link.source].place
        each = len(place) // (3 if link.source >= 0 else 1)
        passed = np.where(form.size == 0.0, 0.0, form.err + (gamma(step.terms + 2) * form.size + LEAST))
        for start, to in link.pairs:
            for tile in link.tiles:
                index = np.where(tile.index < 0, -1, place[start * each + tile.index])
                used = (index >= 0).any(axis=(0, 1))
                index, target = index[..., used], tile.rows + to * step.width
                add(z, target, tile.near[..., used], index, form.z)
                add(off, target, tile.size[..., used], index, passed)
                if tile.off.any():
                    add(off, target, tile.off[..., used], index, form.size)
    rounded = np.where(step.bias == 0.0, 0.0, 2.0 * U * (np.abs(z[..., 0]) + np.abs(step.bias)))
    z[..., 0] += step.bias
    some = (off != 0.0) | (step.bias != 0.0) | (step.lost != 0.0)  # nothing is rounded where nothing is added
    return Form(z, np.where(some, (off + rounded + step.lost) * MORE + TINY, 0.0))


def add(total: Array, rows: Array, weight: Array, index: Array, values: Array) -> None:
    """Add weights (g, o, k) times values[index (g, p, k)] to rows (g, o, p) of a total; an index of -1 is none."""
    _, places, taps = index.shape
    flat, none = values.reshape(len(values), prod(values.shape[1:])), bool((index < 0).any())
    most = max(1, GATHERED // max(1, taps * flat.shape[1]))  # columns of the gathered matrices
    for g in range(0, len(index) if taps else 0, max(1, most // places)):
        group = slice(g, g + max(1, most // places))
        for p in range(0, places, most):
            some = index[group, p : p + most].transpose(0, 2, 1)
            gathered = flat[some]
            if none:
                gathered[some < 0] = 0.0
            found = weight[group] @ gathered.reshape(len(some), taps, -1)
            target, first = rows[group, :, p : p + most].ravel(), int(rows[g, 0, p])
            in_order = np.array_equal(target, np.arange(first, first + len(target)))  # then it is added up in place
            total[slice(first, first + len(target)) if in_order else target, ..., : values.shape[-1]] += found.reshape(
                -1, *values.shape[1:]
            )


LEAST = 2.0**-900
"""Added to what is passed on, so that it is not 0 where anything is: see `Tile.size`."""
GATHERED = 1 << 22
"""Numbers that are gathered at once."""


def combine(factors: Array, form: Form, constant: Array, more: int = 0) -> Form:
    """For k groups of m quantities, r groups: r (m, B) sums of factors (r, k, m, B) times them + constant (r, m, B).

    Factors may be off by a unit, constants too; 0, 1 and -1 are meant. What is only moved is not rounded. The result
    has so many generators more, all of them 0.
    """
    (r, k), (total, boxes, wide) = factors.shape[:2], form.z.shape
    err, size = (part.reshape(k, total // k, boxes) for part in (form.err, form.size))
    z = np.zeros((r, total // k, boxes, wide + more))
    for row, some, used in zip(z[..., :wide], factors, np.any(factors != 0.0, (2, 3)), strict=True):
        part = slice(used.argmax(), k - used[::-1].argmax())  # factors that are 0 everywhere take as long as others
        np.einsum("kmb,kmbg->mbg", some[part], form.z.reshape(*err.shape, wide)[part], out=row)
    z[..., 0] += constant
    each, there = np.abs(factors), (factors != 0.0) & (size != 0.0)
    terms = there.sum(1) + (constant != 0.0)
    moved = (terms <= 1) & (~there | (each == 1.0)).all(1)
    rounded = np.where(moved, 0.0, 8.0 * U * (terms + 1) * ((each * size).sum(1) + np.abs(constant)) + TINY)
    missing = np.where(terms == 0, 0.0, ((each * err).sum(1) + rounded) * MORE)
    return Form(z.reshape(r * total // k, boxes, wide + more), missing.reshape(r * total // k, boxes))


def with_generators(factors: Array, form: Form, constant: Array, wide: int, new: Sequence[tuple[Array, Array]]) -> Form:
    """What `combine` makes, and behind `wide` columns new generators, one block behind the other.

    Of sizes (r, m, B) and where (m, B) they are: one for each quantity there, the i-th of a box in column i.
    """
    counts = [int(where.sum(axis=0).max(initial=0)) for _, where in new]
    found = combine(factors, form, constant, wide - form.z.shape[2] + sum(counts))
    for (sizes, where), first in zip(new, wide + np.cumsum([0, *counts[:-1]]), strict=True):
        i, b = np.nonzero(where)
        column = first + (where.cumsum(axis=0) - 1)[i, b]
        found.z.reshape(len(sizes), *where.shape, found.z.shape[2])[:, i, b, column] = sizes[:, i, b]
    return found
