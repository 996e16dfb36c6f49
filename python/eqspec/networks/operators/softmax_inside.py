"""Softmax and LogSoftmax whose result a network goes on computing with, by softplus and sigmoid (`softmax_tree`).

Exact over the real numbers; n scores take less than 3 n functions, and bounds are those of each function by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.matrices import NONE, check_value
from eqspec.networks.operators import functions
from eqspec.networks.softmax_tree import Plan, Sum, plan


def softmax(x: Affine, covered: int, *, logarithm: bool) -> Affine:
    """The softmax over each run of so many entries in C order, or its logarithm."""
    shape = x.shape
    if covered == 1:
        constant = np.zeros(shape) if logarithm else np.ones(shape)
        return af.constant(x.parts[0].units, en.exactly(constant))
    check_value((x.size, 3))
    tree = _Tree(x, covered, plan(covered))
    own = [Sum(i) for i in range(covered)]
    apart = tree.apart(tree.plan.rest, own)
    made = af.negate(_of("softplus", apart)) if logarithm else _of("sigmoid", af.negate(apart))
    return af.rearrange(made, lambda p: p.reshape(shape))


class _Tree:
    """The sums of a plan in each run of scores, as vectors with one entry for each run and sum, run by run."""

    def __init__(self, x: Affine, covered: int, found: Plan) -> None:
        self.plan = found
        self._runs = x.size // covered
        self._values = [functions.argument(af.rearrange(x, lambda p: p.reshape(-1)))]
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


def _of(name: str, x: Affine) -> Affine:
    return af.curve(x, Curves.all(Curve(name)))
