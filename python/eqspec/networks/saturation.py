"""Which rows of quantisers may be cut off at an end of their type, whatever the inputs are: for people, in floats.

Bounds go forward through the program as intervals, from what quantisers give, which is bounded. So something is known
behind the first of them alone, unless the inputs themselves are quantised; rows in front of it read inputs of any size.
That a row may be cut off is no more than that: it ignores how the rows that it reads depend on each other. What is cut
off at 0 is not counted: a ReLU in front of a quantiser is part of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.program import INPUTS, Step, Tile
from eqspec.networks.quantiser import Quantiser

_Bounds = tuple[Array, Array]


def cut_off(steps: Sequence[Step]) -> list[int | None]:
    """How many rows of each step may be cut off; None where that is not known, or nothing there quantises."""
    bounds: list[_Bounds | None] = []
    found: list[int | None] = []
    for step in steps:
        before = _before(step, bounds)
        bounds.append(_behind(step, before))
        found.append(None if before is None else _rows_beyond(step, before))
    return found


def _before(step: Step, bounds: Sequence[_Bounds | None]) -> _Bounds | None:
    low = high = step.bias[:, None]
    for term in step.terms:
        given = None if term.source == INPUTS else bounds[term.source]
        if given is None:
            return None
        tile = term.tile
        middle, reach = (given[0] + given[1]) / 2, (given[1] - given[0]) / 2
        size = np.abs(tile.weight) if tile.weight_error is None else np.abs(tile.weight) + tile.weight_error
        centre, radius = tile.apply(middle), Tile(tile.index, size).apply(reach)
        low, high = low + centre - radius, high + centre + radius
    return low, high


def _behind(step: Step, before: _Bounds | None) -> _Bounds | None:
    if isinstance(step.function, Curves):
        made = np.zeros((step.rows, 1)), np.zeros((step.rows, 1))
        for curve, rows in step.function.groups(step.rows):
            if curve.name != "quantiser":
                return None
            quantiser = Quantiser.of(curve)
            for side, level in zip(made, (quantiser.low, quantiser.high), strict=True):
                side[rows] = (quantiser.unit or 0.0) * (level - (quantiser.base or 0.0))
        return made
    if before is None or step.function == "identity":
        return before
    return np.maximum(before[0], 0.0), np.maximum(before[1], 0.0)


def _rows_beyond(step: Step, before: _Bounds) -> int | None:
    if not isinstance(step.function, Curves):
        return None
    total = 0
    for curve, rows in step.function.groups(step.rows):
        if curve.name != "quantiser":
            return None
        quantiser = Quantiser.of(curve)
        least, most = (side[rows] / quantiser.scale + quantiser.zero for side in before)
        below = quantiser.low != quantiser.base  # an end that stands for 0 is a ReLU's
        total += int((((least <= quantiser.low - 1) & below) | (most >= quantiser.high + 1)).sum())
    return total
