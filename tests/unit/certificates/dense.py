"""The auditor's steps and dense matrices, one from the other: (2, m, n + 1), what is exact and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit.functions import BENT
from eqspec.audit.reading import INPUTS, File, Number, Pair
from eqspec.audit.reading.pair import is_chain
from eqspec.audit.reading.program import Step
from eqspec.audit.reading.tiles import exactly
from eqspec.audit.reading.value import CONSTANT, Part, Value

Array = NDArray[Any]


def layers(file: File) -> list[Array]:
    """The affine maps between the ReLUs of a chain, the constants in the last column."""
    steps, made, width = file.steps(), [], len(file.scale)
    assert is_chain(steps)
    for step in steps:
        found = np.full((2, step.value.size, width + 1), Fraction(0), object)
        for part in step.value.parts:
            exact, missing = exactly(part.kernels)
            for row, index, kind in zip(part.rows, part.index, part.kind, strict=True):
                for place, weight, gap in zip(
                    index, exact[kind], np.zeros(index.shape) if missing is None else missing[kind], strict=True
                ):
                    column = width if part.source == CONSTANT else place
                    if place >= 0:
                        found[0, row, column] += Fraction(weight) if isinstance(weight, float) else weight
                        found[1, row, column] += Fraction(gap) if isinstance(gap, float) else gap
        made.append(found)
        width = step.value.size
    return made


def steps(chain: Sequence[Array]) -> list[Step]:
    """A chain of such layers."""
    made = []
    for number, (exact, missing) in enumerate(chain):
        m, n = len(exact), exact.shape[1] - 1
        rows = np.arange(m)
        kernels = np.array(
            [[_Held(c, off) for c, off in zip(*both, strict=True)] for both in zip(exact, missing, strict=True)], object
        ).reshape(m, n + 1)
        weights = Part(
            number - 1 if number else INPUTS, rows, np.tile(np.arange(n, dtype=np.int32), (m, 1)), rows, kernels[:, :-1]
        )
        shift = Part(CONSTANT, rows, np.zeros((m, 1), np.int32), rows, kernels[:, -1:])
        made.append(Step(Value((m,), (weights, shift)), BENT if number + 1 < len(chain) else ()))
    return made


class _Held(Number):
    """A number that is off by so much."""

    __slots__ = ("gap",)

    def __init__(self, c: Any, gap: Fraction) -> None:
        super().__init__(c, abs(c), 0, 0.0)
        self.gap = gap

    @property
    def missing(self) -> Fraction:
        """As it was given."""
        return self.gap

    def __neg__(self) -> Any:
        return _Held(-self.c, self.gap)

    def __truediv__(self, other: Any) -> Any:
        return _Held(self.c / other.c, self.gap / abs(other.c))


def matrices(pair: Pair) -> list[tuple[Array, Array, Array, Array]]:
    """Of a chain, weights (3 m, 3 n) (of the inputs (3 m, n)) and constants, and how far they are off."""
    made, width = [], pair.inputs
    for number, step in enumerate(pair.steps):
        m, columns = step.width, 3 * width if number else width
        near, off = np.zeros((3 * m, columns)), np.zeros((3 * m, columns))
        for link in step.links:
            for start, to in link.pairs:
                for tile in link.tiles:
                    for (g, p, k), unit in np.ndenumerate(tile.index):
                        for o in range(tile.rows.shape[1]):
                            if unit >= 0:
                                place = tile.rows[g, o, p] + to * m, start * width + unit
                                near[place] += tile.near[g, o, k]
                                off[place] += tile.off[g, o, k]
        made.append((near, step.bias, off, step.lost))
        width = m
    return made
