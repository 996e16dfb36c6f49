"""The rows of a table that a region was made from, or that the spec names: which is near to an input, and how far.

It is for people who look at a counterexample, and decides nothing: distances are floats. They are the largest
difference of any feature in network units, so in standard deviations where the space is normalised by `zscore`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import JsonObject, as_json, count, listed, number, text

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


@dataclass(frozen=True)
class BaseRow(JsonObject):
    """The row of a table that an input was made from: all features that did not move are exactly as there."""

    table: str = field(metadata=as_json(text("The table as the spec names it.")))
    row: int = field(metadata=as_json(count("The row, from 0 below the header.")))
    normalised: tuple[float, ...] = field(metadata=as_json(listed({"type": "number"}, "The row in network units.")))


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows by their number in a table, in raw units, and the normalisation raw = centre + scale * x.

    The rows may be such that are read when they are first looked at.
    """

    table: str
    rows: Sequence[tuple[int, tuple[Fraction, ...]]]
    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]

    @property
    def comparable(self) -> bool:
        """Whether there are rows, and not too many to compute with."""
        return 0 < len(self.rows) * len(self.centre) <= MOST_NUMBERS

    @cached_property
    def _raw(self) -> NDArray[np.float64]:
        """The rows (N, I) in raw units; made when the first distance is asked for."""
        raw = np.array([[_nearest_float(v) for v in numbers] for _, numbers in self.rows], np.float64)
        return raw.reshape(len(self.rows), len(self.centre))

    @cached_property
    def _normalisation(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        centre, scale = (np.array([_nearest_float(v) for v in part]) for part in (self.centre, self.scale))
        return centre, scale

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """The rows (N, I) in network units, in floats."""
        centre, scale = self._normalisation
        with np.errstate(all="ignore"):
            made: NDArray[np.float64] = (self._raw - centre) / scale
        return made

    def exactly(self, place: int) -> tuple[Fraction, ...]:
        """The row at a place in network units."""
        axes = zip(self.rows[place][1], self.centre, self.scale, strict=True)
        return tuple((raw - c) / s for raw, c, s in axes)

    def base(self, place: int) -> BaseRow:
        """The row at a place as what an input was made from."""
        return BaseRow(self.table, self.rows[place][0], tuple(map(_nearest_float, self.exactly(place))))

    def apart(self, x: Sequence[Fraction]) -> NDArray[np.float64]:
        """The distances (N,) of all rows to a point (I,) in network units; 0 to a row itself, whatever floats round."""
        with np.errstate(all="ignore"):
            apart: NDArray[np.float64] = np.abs((self._raw - self._raw_point(x)) / self._normalisation[1]).max(axis=1)
        return np.where(np.isnan(apart), np.inf, apart)

    def _raw_point(self, x: Sequence[Fraction]) -> NDArray[np.float64]:
        axes = zip(x, self.centre, self.scale, strict=True)
        return np.array([_nearest_float(v if s == 1 and not c else c + s * v) for v, c, s in axes])

    def nearest(self, x: Sequence[Fraction]) -> NearestRow | None:
        """The nearest row to a point (I,) in network units; None where there is none, or the table is too large."""
        if not self.comparable:
            return None
        apart = self.apart(x)
        best = int(np.argmin(apart))
        return NearestRow(self.table, self.rows[best][0], float(apart[best])) if np.isfinite(apart[best]) else None

    def most_alike(self, x: Sequence[Fraction]) -> int | None:
        """The place of the row that has the most features in common with a point (I,) in network units, of several the
        nearest; None where none has any.
        """
        if not self.comparable:
            return None
        shared = (self._raw == self._raw_point(x)).sum(axis=1)
        most = int(shared.max())
        if not most:
            return None
        apart = np.where(shared == most, self.apart(x), np.inf)
        return int(np.argmin(apart)) if np.isfinite(apart.min()) else None


def _nearest_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
