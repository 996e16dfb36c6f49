"""Softmax and LogSoftmax whose result a network goes on computing with, by softplus and sigmoid (`softmax_tree`).

Exact over the real numbers; n scores take less than 3 n functions, and bounds are those of each function by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.operators import functions
from eqspec.networks.runtime_functions import ROUNDINGS, missing
from eqspec.networks.softmax_tree import Plan, Sum, plan

_HIDDEN = 1000.0
"""What is that far below the largest constant of its run is no bias but a mask; e^-1000 is no float."""


def softmax(x: Affine, covered: int, *, logarithm: bool) -> Affine:
    """The softmax over each run of so many entries in C order, or its logarithm."""
    shape = x.shape
    if covered == 1:
        constant = np.zeros(shape) if logarithm else np.ones(shape)
        return af.constant(x.parts[0].units, en.exactly(constant))
    check_value((x.size, 3))
    order = _hidden_first(x, covered)
    x = af.rearrange(x, lambda _: order)
    tree = _Tree(x, covered, plan(covered))
    own = [Sum(i) for i in range(covered)]
    apart = tree.apart(tree.plan.rest, own)
    made = af.negate(_of("softplus", apart)) if logarithm else _of("sigmoid", af.negate(apart))
    back = np.argsort(order).reshape(shape)
    return af.rearrange(missing(made, ROUNDINGS + covered), lambda _: back)


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
