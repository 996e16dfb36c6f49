"""What two networks answer at the points of a place, and at points that a short attack finds from there.

Shapes: N points, O outputs. Everything is computed in floats; the largest difference that is found is a lower end of
what there is, up to rounding, and says nothing about inputs that were not tried.
"""

from __future__ import annotations

from math import isfinite
from time import perf_counter

import numpy as np

from eqspec.differences.places import Place
from eqspec.draft.observed_pair import Observed, observed
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array
from eqspec.replay.ascent import climb
from eqspec.replay.excess import Excess

_SECONDS = 0.7
"""The time for the attack, which ends earlier where it gains nothing."""


@dataclass(frozen=True)
class Found:
    """A difference of one output: its size, the name of the output, the input (I,) in network units, and its row.

    `row` is the number in the table; None where the input stands in no table.
    """

    difference: float
    output: str
    point: Array
    row: int | None = None


@dataclass(frozen=True)
class Outputs:
    """Differences (N, O) of the outputs, the largest of them, and the largest that an attack reached, if it is larger.

    `seen` has the distance, the confidence of the reference and whether both decide the same, at every point.
    """

    apart: Array
    largest: Found
    attacked: Found | None
    seen: Observed

    @property
    def worst(self) -> Found:
        """The largest difference that is known."""
        return self.attacked or self.largest


def compare_outputs(place: Place) -> Outputs:
    """Compare what both networks answer."""
    task = place.task
    with np.errstate(all="ignore"):
        apart = np.abs(task.candidate.evaluate(place.points) - task.reference.evaluate(place.points))
        seen = observed(task, place.points)
    apart = np.nan_to_num(apart, copy=False, nan=np.inf, posinf=np.inf)
    at, output = np.unravel_index(np.argmax(apart), apart.shape)
    row = None if place.rows is None else place.rows[int(at)]
    largest = Found(float(apart[at, output]), task.space.outputs[int(output)], place.points[at], row)
    return Outputs(apart, largest, _attack(place, largest), seen)


def _attack(place: Place, start: Found) -> Found | None:
    """A larger difference in the region, by gradient ascent from the largest one, the centre and scattered points."""
    if not isfinite(start.difference):
        return None
    task, ends = place.task, perf_counter() + _SECONDS
    reached = climb(task, Excess(task), start.point, lambda: perf_counter() > ends)
    if not reached:
        return None
    apart = np.abs(task.candidate.evaluate(reached[0][None]) - task.reference.evaluate(reached[0][None]))[0]
    output = int(np.argmax(apart))
    found = Found(float(apart[output]), task.space.outputs[output], reached[0])
    return found if found.difference > start.difference else None
