"""Softmax and LogSoftmax whose result a network goes on computing with, by softplus and sigmoid (`softmax_tree`).

Exact over the real numbers; n scores take less than 3 n functions, and bounds are those of each function by itself.

Masks of large numbers that depend on the input, such as -1e9 (1 - shown), would leave no digits of the sums there. With
x = s + t, where t are the terms of large weights and the large constants,

    softmax(x)_i = e^(t_i) e^(s_i - m - L),   L = log(sum over j of e^(t_j) e^(s_j - m)),   m the mean of s

also exactly: e^t is 1 or 0 up to less than any float where the mask is decided, and no product is one of a large and a
small number where scores are not far apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import matrices as mx
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Dense, Indices, Matrix, Selection, Tiled, check_value
from eqspec.networks.operators import functions, pooling, variable_products
from eqspec.networks.quantiser import Quantiser
from eqspec.networks.runtime_functions import ROUNDINGS, missing
from eqspec.networks.softmax_tree import Plan, Sum, plan
from eqspec.networks.units import Units

_MASKING = 2.0**26
"""A weight of a score that is as large as that is one of a mask."""
_NOTHING = 1e-300
"""More than e^-1000."""
_HIDDEN = 1000.0
"""What is that far below the largest constant of its run is no bias but a mask; e^-1000 is no float."""


def softmax(x: Affine, covered: int, *, logarithm: bool) -> Affine:
    """The softmax over each run of so many entries in C order, or its logarithm."""
    shape = x.shape
    if covered == 1:
        constant = np.zeros(shape) if logarithm else np.ones(shape)
        return af.constant(x.parts[0].units, en.exactly(constant))
    check_value((x.size, 3))
    if not logarithm and not x.unit and (halves := _masks_apart(x)) is not None:
        rows = (x.size // covered, covered)
        scores, masks = (af.rearrange(v, lambda p: p.reshape(rows)) for v in halves)
        made = shares(scores, _factors(masks))
        return af.rearrange(made, lambda p: p.reshape(shape))
    order = _hidden_first(x, covered)
    x = af.rearrange(x, lambda _: order)
    tree = _Tree(x, covered, plan(covered))
    own = [Sum(i) for i in range(covered)]
    apart = tree.apart(tree.plan.rest, own)
    made = af.negate(_of("softplus", apart)) if logarithm else _of("sigmoid", af.negate(apart))
    back = np.argsort(order).reshape(shape)
    return af.rearrange(missing(made, ROUNDINGS + covered), lambda _: back)


def _masks_apart(x: Affine) -> tuple[Affine, Affine] | None:
    """A value as what is left of it and its terms of large weights; None where it has none but constants."""
    if not any((np.abs(mx.numbers(part.matrix).value) >= _MASKING).any() for part in x.parts):
        return None
    halves = []
    for large in (False, True):

        def kept(a: Enclosure, large: bool = large) -> Enclosure:
            here = (np.abs(a.value) >= _MASKING) == large
            error = None if a.error is None else np.where(here, a.error, 0.0)
            return en.enclose(np.where(here, a.value, 0.0), error)

        parts = [af.Part(part.units, _with(part.matrix, kept)) for part in x.parts]
        some = [part for part in parts if mx.numbers(part.matrix).value.any()] or parts[:1]
        halves.append(Affine(tuple(some), kept(x.bias), roundings=x.roundings))
    return halves[0], halves[1]


def _factors(masks: Affine) -> Affine:
    """e^t. Of t = b + w c, where c is 0 or 1, that is affine: e^b + c (e^(b + w) - e^b).

    It is written so where both exponents are 0 or so low that nothing is left, because no sum of large numbers is 0 to
    all digits in bounds.
    """
    matrix, units = masks.matrix, masks.parts[0].units
    if not isinstance(matrix, Selection) or not masks.exact or not _are_truth_values(units):
        return _of("exp", masks)
    ends = masks.bias.value, masks.bias.value + matrix.scale.value
    if not all(((end == 0.0) | (end <= -_HIDDEN)).all() for end in ends):
        return _of("exp", masks)
    first, second = (Enclosure(np.where(end == 0.0, 1.0, 0.0), np.where(end == 0.0, 0.0, _NOTHING)) for end in ends)
    flags = af.select(units, matrix.index)
    return af.shift(af.scale(flags, en.add(second, en.negate(first))), first)


def _are_truth_values(units: Units) -> bool:
    """Whether units are 0 or 1: what is positive of signs, or levels of one bit."""
    if isinstance(units.function, Curves):
        found = [Quantiser.of(kind) for kind in units.function.kinds if kind.name == "quantiser"]
        bits = all((q.low, q.high, q.unit, q.base) == (0, 1, 1.0, 0.0) for q in found)
        return bits and len(found) == len(units.function.kinds)
    signs = [block.parts[0].units.function for block in units.blocks if block.matrix is not None and block.exact]
    one_by_one = all(
        isinstance(b.matrix, Selection) and (b.matrix.scale.value == 1.0).all() and not b.bias.value.any()
        for b in units.blocks
    )
    are_signs = all(isinstance(f, Curves) and all(kind.name == "sign" for kind in f.kinds) for f in signs)
    return units.function == "relu" and 0 < len(signs) == len(units.blocks) and one_by_one and are_signs


def _with(matrix: Matrix, f: Callable[[Enclosure], Enclosure]) -> Matrix:
    """A matrix with a function of its numbers, which keeps their shape."""
    match matrix:
        case Selection():
            return Selection(matrix.index, f(matrix.scale))
        case Dense():
            return Dense(f(matrix.rows))
        case _:
            return Tiled(matrix.index, f(matrix.weight), matrix.order)


def shares(scores: Affine, factors: Affine) -> Affine:
    """factors e^scores over their sum, by rows (m, n): the softmax over entries whose factor is 1, if others' are 0.

    Where all factors are 0 it has no value.
    """
    scores, size = af.as_units(scores), scores.shape[1]
    apart = af.add(scores, af.negate(_repeated(_sums(scores, size), size)))
    total = _sums(variable_products.product(factors, _of("exp", apart)), 1)
    below = af.add(apart, af.negate(_repeated(_of("log", total), size)))
    return variable_products.product(factors, _of("exp", below))


def _sums(rows: Affine, count: int) -> Affine:
    """The sum of each row over a count, (m, 1)."""
    groups = np.arange(rows.size).reshape(rows.shape)
    made = pooling.mean(rows, groups, np.full(len(groups), count), (rows.shape[0], 1))
    assert isinstance(made, Affine)
    return made


def _repeated(column: Affine, size: int) -> Affine:
    return af.rearrange(column, lambda p: np.repeat(p, size, axis=1))


def _hidden_first(x: Affine, covered: int) -> Indices:
    """The entries of a value, in each run those first that a mask hides by a large negative number."""
    added = x.bias.value.reshape(-1, covered)
    seen = added > added.max(axis=1, keepdims=True) - _HIDDEN
    within = np.argsort(seen, axis=1, kind="stable")
    return (within + covered * np.arange(len(added))[:, None]).reshape(-1)


class _Tree:
    """The sums of a plan in each run of scores, as vectors with one entry for each run and sum, run by run."""

    def __init__(self, x: Affine, covered: int, found: Plan) -> None:
        self.plan = found
        self._runs = x.size // covered
        self._values = [_beside_its_bias(af.rearrange(x, lambda p: p.reshape(-1)))]
        """The scores, and each round of softplus."""
        self._widths = [covered]
        for pairs in found.rounds:
            self._values.append(_of("softplus", self.apart(*zip(*pairs, strict=True))))
            self._widths.append(len(pairs))

    def apart(self, first: Sequence[Sum], second: Sequence[Sum]) -> Affine:
        """first - second, of each pair."""
        return af.add(self._sums(first), af.negate(self._sums(second)))

    def _sums(self, wanted: Sequence[Sum]) -> Affine:
        places = np.full((len(self._values), len(wanted)), NONE)
        for column, value in enumerate(wanted):
            places[0, column] = value.score
            for number, place in value.added:
                places[1 + number, column] = place
        made, *more = (
            self._gathered(value, width, read)
            for value, width, read in zip(self._values, self._widths, places, strict=True)
            if (read != NONE).any()
        )
        return reduce(af.add, more, made)

    def _gathered(self, value: Affine, width: int, places: en.Array) -> Affine:
        first = width * np.arange(self._runs)[:, None]
        taken = np.where(places == NONE, NONE, first + places).reshape(-1)
        return af.rearrange(value, lambda _: taken)


def _beside_its_bias(x: Affine) -> Affine:
    """Scores that can be read several times, the constants that are added to them apart.

    So the large numbers of a mask, which may be the largest of float32, cancel exactly where two hidden scores meet.
    """
    free = functions.argument(replace(x, bias=en.exactly(np.zeros(x.shape)), names=None))
    return af.shift(free, x.bias, started=False)


def _of(name: str, x: Affine) -> Affine:
    return af.curve(x, Curves.all(Curve(name)))
