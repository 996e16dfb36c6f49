"""The rows of a table that a region was made from, for the distance of an input to the nearest of them.

It is for people who look at a counterexample, and decides nothing: distances are floats. They are the largest
difference of any feature in network units, so in standard deviations where the space is normalised by `zscore`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import JsonObject, as_json, count, number, text

MOST_NUMBERS = 50_000_000
"""The most numbers of a table to which distances are computed."""


@dataclass(frozen=True)
class NearestRow(JsonObject):
    """The row of a table that is nearest to an input, and how far it is: the largest difference of any feature."""

    table: str = field(metadata=as_json(text("The table as the spec names it.")))
    row: int = field(metadata=as_json(count("The row, from 0 below the header.")))
    distance: float = field(
        metadata=as_json(
            number(
                "The largest difference of any feature in network units: in standard deviations where the space is "
                "normalised by zscore.",
                minimum=0,
            )
        )
    )


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows by their number in a table, in raw units, and the normalisation raw = centre + scale * x."""

    table: str
    rows: Sequence[tuple[int, tuple[Fraction, ...]]]
    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        """The rows (N, I) in network units; made when the first distance is asked for."""
        centre, scale = (np.array([_nearest_float(v) for v in part]) for part in (self.centre, self.scale))
        raw = np.array([[_nearest_float(v) for v in numbers] for _, numbers in self.rows])
        made: NDArray[np.float64] = (raw.reshape(len(self.rows), len(centre)) - centre) / scale
        return made

    def nearest(self, x: Sequence[Fraction]) -> NearestRow | None:
        """The nearest row to a point (I,) in network units; None where there is none, or the table is too large."""
        if not self.rows or len(self.rows) * len(self.centre) > MOST_NUMBERS:
            return None
        with np.errstate(all="ignore"):
            apart: Any = np.abs(self._points - np.array([_nearest_float(v) for v in x])).max(axis=1)
        best = int(np.argmin(apart))
        return NearestRow(self.table, self.rows[best][0], float(apart[best])) if np.isfinite(apart[best]) else None


def _nearest_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
