"""Two networks in step, in floats: steps of equal widths, and by how much every float is off.

Where a part of a step reads the same units in both networks, x' = W1 x and y' = W2 y give d' = W1 d + (W1 - W2) y; else
d' = W1 x - W2 y. Levels of a quantiser are taken times its scale where they stand beside anything else. W1 - W2 is
formed of the exact numbers before it is rounded, so what both files define alike (square roots included, as `surd`)
leaves exactly nothing, and the error of such a W1 acts on d alone. What a runtime may be off is of each file by itself,
and is added up.

Which step of one goes with which of the other is chosen here, from the files alone. Any choice that keeps the order is
sound: a step without a partner stands beside zeros, and d is x - y of whatever stands side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..functions import BENT, Curve, Curves
from ..opening import limits
from ..rounding import Array, Refused
from .balance import Balance, balanced
from .file import File
from .merging import merged
from .number import Number
from .program import Step
from .tiles import Link, alike, constants, is_dense, links, padded
from .value import CONSTANT, INPUTS, Part, Value, distinct

Rows = tuple[Sequence[Mapping[int, Fraction]], Sequence[Mapping[int, Fraction]]]
"""Sums of outputs of each, which are the last step instead of the outputs themselves."""
Fixed = tuple[tuple[tuple[tuple[int, Fraction], ...], ...], ...]
"""The same as what can be looked up."""


@dataclass(frozen=True)
class Both:
    """A step of both networks: x, y and d of m rows are sums over `links`, plus constants (3 m, 1), all maybe off.

    `curves` are the functions in the first, `others` those in the second. `terms` is the most products in such a sum.
    """

    width: int
    curves: Curves
    others: Curves
    links: tuple[Link, ...]
    bias: Array
    lost: Array
    terms: int

    @property
    def curved(self) -> bool:
        """Whether other functions than ReLU follow, in either."""
        return bool(self.curves) and not self.curves == self.others == BENT

    @property
    def sources(self) -> set[int]:
        """The steps that it reads."""
        return {link.source for link in self.links}


class Pair:
    """Two networks, given by their steps, over as many inputs; `outputs` are those of each."""

    def __init__(self, first: Sequence[Step], second: Sequence[Step], inputs: int, rows: Rows) -> None:
        self.inputs, self.outputs = inputs, first[-1].value.size
        given = [merged(first), merged(second)]
        if all(map(is_chain, given)) and len(given[0]) != len(given[1]):
            depth = max(map(len, given))
            given = [deepened(one, depth) for one in given]
        given = [with_rows(one, part) for one, part in zip(given, rows, strict=True)]
        partners = in_step(*given)
        if len(partners) > limits.STEPS:
            raise Refused("the two networks in step are deeper than the auditor computes with")
        together = [(i, j) for i, j in partners if i is not None and j is not None]
        differ = [(i, j) for i, j in together if given[0][i].curves != given[1][j].curves]
        given = [in_units_of_inputs(one, {pair[side] for pair in differ}) for side, one in enumerate(given)]
        places = [{INPUTS: INPUTS, CONSTANT: CONSTANT}, {INPUTS: INPUTS, CONSTANT: CONSTANT}]
        self.steps: list[Both] = []
        for number, partner in enumerate(partners):
            both = [None if i is None else one[i] for i, one in zip(partner, given, strict=True)]
            self.steps.append(_both(both, places))
            for place, i in zip(places, partner, strict=True):
                place |= {} if i is None else {i: number}

    @property
    def widths(self) -> list[int]:
        """Rows of every step."""
        return [step.width for step in self.steps]

    @property
    def entries(self) -> int:
        """Weights of all steps, were they written out."""
        return sum(link.entries for step in self.steps for link in step.links)

    @classmethod
    def of(cls, first: File, second: File, rows: Rows, balances: tuple[Balance, Balance] = ((), ())) -> Pair:
        """Of two files, with their products balanced so; kept, for many certificates about one pair."""
        return kept(first, second, tuple(tuple(tuple(row.items()) for row in part) for part in rows), balances)


@lru_cache(maxsize=1)
def kept(first: File, second: File, rows: Fixed, balances: tuple[Balance, Balance]) -> Pair:
    """The last one."""
    one, other = ([dict(row) for row in part] for part in rows)
    if any(balances) and first.kind.rounds:
        raise Refused("it balances products in float32, where runtimes round those that the files have")
    given = [balanced(file.steps(), k) for file, k in zip((first, second), balances, strict=True)]
    return Pair(given[0], given[1], len(first.scale), (one, other))


def with_rows(steps: Sequence[Step], rows: Sequence[Mapping[int, Fraction]]) -> list[Step]:
    """These sums of outputs as the last step, unless they are the outputs."""
    last, size = len(steps) - 1, steps[-1].value.size
    if [dict(row) for row in rows] == [{o: 1} for o in range(size)]:
        return list(steps)
    longest = max(map(len, rows), default=0)
    if len(rows) * longest > limits.TERMS:
        raise Refused("a claim about more sums of outputs than the auditor computes with")
    index = np.full((len(rows), longest), -1, np.int32)
    kernels = np.full((len(rows), longest), Number.exactly(Fraction(0)))
    for number, row in enumerate(rows):
        index[number, : len(row)] = list(row)
        kernels[number, : len(row)] = [Number.exactly(Fraction(c)) for c in row.values()]
    every = np.arange(len(rows))
    return [*steps, Step(Value((len(rows),), (Part(last, every, index, every, kernels),)))]


def in_units_of_inputs(steps: Sequence[Step], which: set[int]) -> list[Step]:
    """The same function, where quantisers of these steps give multiples of their scales, as what they read is.

    So a value and its levels, or levels of different scales, have a difference that is small.
    """
    made, scales = list[Step](), dict[int, Array]()
    for number, step in enumerate(steps):
        parts = tuple(_divided(p, scales[p.source]) if p.source in scales else p for p in step.value.parts)
        rounds, curves = [curve.name == "levels" for curve in step.curves], step.curves
        if number in which and any(rounds):
            both = list(zip(step.curves, rounds, strict=True))
            scales[number] = np.array([Fraction(f.parameters[0]) if one else Fraction(1) for f, one in both], object)
            curves = tuple(Curve("multiples", f.parameters) if one else f for f, one in both)
        made.append(Step(Value(step.value.shape, parts), curves))
    return made


def _divided(part: Part, scales: Array) -> Part:
    """A part of units that are now so many times what they were, for each of them or for all."""
    every: Array = np.append(scales, np.array([Fraction(1)], object))
    known, which = np.unique(every, return_inverse=True)
    places = part.index if len(scales) > 1 else 0 * part.index  # of no unit, -1, it is the last one
    first, kind = distinct(np.concatenate([part.kind[:, None], which[places]], axis=1))
    by = np.frompyfunc(Number.exactly, 1, 1)(known[which[places[first]]])
    return replace(part, kind=kind, kernels=_numbers(part.kernels)[part.kind[first]] / by)


def is_chain(steps: Sequence[Step]) -> bool:
    """Whether every step reads the one before alone, through a ReLU."""
    sources = [{part.source for part in step.value.parts} - {CONSTANT} for step in steps]
    bent = all(step.curves == BENT for step in steps[:-1])
    return bent and all(one <= {number - 1} for number, one in enumerate(sources))


def deepened(steps: Sequence[Step], depth: int) -> list[Step]:
    """A chain with identity steps after its last ReLU, where no value is negative, or else relu(y) - relu(-y) = y."""
    found, last = list(steps[:-1]), steps[-1].value
    if not found and depth > 1:
        found = [Step(Value((2 * last.size,), tuple(_and_negative(part, last.size) for part in last.parts)), BENT)]
        rows = np.arange(last.size)
        index = np.stack([rows, rows + last.size], 1).astype(np.int32)
        last = Value(last.shape, (Part(0, rows, index, 0 * rows, np.array([[1.0, -1.0]])),))
    while found and len(found) < depth - 1:
        rows, before = np.arange(found[-1].value.size), len(found) - 1
        same = Part(before, rows, rows[:, None].astype(np.int32), 0 * rows, np.ones((1, 1)))
        last = Value(last.shape, tuple(_read_from(p, before, before + 1) for p in last.parts))
        found.append(Step(Value((len(rows),), (same,)), BENT))
    return [*found, Step(last)]


def _and_negative(part: Part, size: int) -> Part:
    """A part of a value of this size, and behind it the same with the other sign: one part still, of one source."""
    kinds, kernels = [part.kind, part.kind + len(part.kernels)], [part.kernels, -part.kernels]
    return Part(part.source, *map(np.concatenate, ([part.rows, part.rows + size], [part.index] * 2, kinds, kernels)))


def _read_from(part: Part, old: int, new: int) -> Part:
    return Part(new if part.source == old else part.source, part.rows, part.index, part.kind, part.kernels)


def in_step(first: Sequence[Step], second: Sequence[Step]) -> list[tuple[int | None, int | None]]:
    """Which steps go together, in order: all, if functions follow the same ones; else as many as have like sizes."""
    if [bool(step.curves) for step in first] == [bool(step.curves) for step in second]:
        return [(number, number) for number in range(len(first))]
    a, b = ([(bool(step.curves), step.value.size) for step in one[:-1]] for one in (first, second))
    common = np.zeros((len(a) + 1, len(b) + 1), int)  # the most that go together from here on
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            common[i, j] = common[i + 1, j + 1] + 1 if a[i] == b[j] else max(common[i + 1, j], common[i, j + 1])
    found, i, j = list[tuple[int | None, int | None]](), 0, 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i] == b[j]:
            found, i, j = [*found, (i, j)], i + 1, j + 1
        elif i < len(a) and (j == len(b) or common[i + 1, j] >= common[i, j + 1]):
            found, i = [*found, (i, None)], i + 1
        else:
            found, j = [*found, (None, j)], j + 1
    return [*found, (len(a), len(b))]


def _both(steps: Sequence[Step | None], places: Sequence[Mapping[int, int]]) -> Both:
    """A step of each, or of one beside nothing, whose sources are at these places in step."""
    present = [step for step in steps if step is not None]
    parts = [[] if step is None else list(step.value.parts) for step in steps]
    if any(sum(part.source == CONSTANT for part in some) > 1 for some in parts):
        raise Refused("a step with constants in several parts")  # the others would be lost
    one = [next((part for part in some if part.source == CONSTANT), None) for some in parts]
    rest = [[part for part in some if part.source != CONSTANT] for some in parts]
    width, found = max(step.value.size for step in present), list[Link]()
    for a in rest[0]:
        from_one = [b for b in rest[1] if places[0][a.source] == places[1][b.source]]
        same = [b for b in from_one if alike(a, b)] or [b for b in from_one if is_dense(a) and is_dense(b)]
        rest[1] = [b for b in rest[1] if not same or b is not same[0]]
        ours, other = padded(a, same[0]) if same else (a, None)
        found += links(ours, other, places[0][a.source])
    for b in rest[1]:
        found += links(None, b, places[1][b.source])
    terms = np.zeros(3, int)
    for link in found:
        np.add.at(terms, [to for _, to in link.pairs], link.terms)
    curves = [_longer((step or present[0]).curves, width) for step in steps]
    sizes = [0 if step is None else step.value.size for step in steps]
    one = [_rested(part, np.arange(size, width), f) for part, size, f in zip(one, sizes, curves, strict=True)]
    return Both(width, curves[0], curves[1], tuple(found), *constants(width, *one), int(terms.max()))


def _longer(curves: Curves, width: int) -> Curves:
    """Of so many rows: those that were not there have the function of the first."""
    return curves if len(curves) < 2 else (*curves, *[curves[0]] * (width - len(curves)))


def _rested(part: Part | None, rows: Array, curves: Curves) -> Part | None:
    """The constants of a step, and for rows that it does not have a point where their functions are defined."""
    if not len(rows) or not any(curve.resting for curve in curves):
        return part
    places = np.array([curves[row if len(curves) > 1 else 0].resting for row in rows])
    values = _numbers(places)
    more = Part(CONSTANT, rows, np.zeros((len(rows), 1), np.int32), np.arange(len(rows)), values[:, None])
    if part is None:
        return more
    kernels = np.concatenate([_numbers(part.kernels), more.kernels])
    kind = np.concatenate([part.kind, more.kind + len(part.kernels)])
    return Part(CONSTANT, np.concatenate([part.rows, rows]), np.zeros((len(kind), 1), np.int32), kind, kernels)


def _numbers(kernels: Array) -> Array:
    made = np.frompyfunc(lambda x: Number.exactly(Fraction(x)), 1, 1)
    return kernels if kernels.dtype == object else np.asarray(made(kernels.astype(object)), object)
