"""Where a witness is moved to as far as it stays one: the row that a region lies around, one of a table, or the centre.

Shapes: a point is (I,) in network units, exact. A ball lies around its row. In other regions people know what rows of
a table mean, and nobody has ever seen the centre; so where there is a table, the rows in the region that are nearest to
the witness come first, and the centre is taken where none lies in it. What a witness was made from is seen from its
numbers alone (`base_at`), so that it is the same whenever it is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array
from eqspec.replay.ascent import WORK, Region
from eqspec.replay.equations import Point
from eqspec.replay.excess import Excess
from eqspec.tasks.observed import BaseRow, Observed
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task

_ROWS = 4
"""The most rows that features are moved from."""
_LOOKED_AT = 64
"""The most rows of which it is found out exactly whether they lie in the region."""


@dataclass(frozen=True)
class Base:
    """A point (I,), and the row of a table that it is; None: the centre, or the row that a region lies around."""

    point: Point
    row: BaseRow | None = None

    @property
    def floats(self) -> Array:
        """The point in floats."""
        return np.array([approximately(x) for x in self.point])


def base_at(point: Point, plain: Point, observed: Sequence[Observed]) -> Base:
    """The base of a witness: the row that shares most features with it, or the `plain` base if that shares more."""
    best, most = Base(plain), sum(x == b for x, b in zip(point, plain, strict=True))
    for rows in observed:
        place = rows.most_alike(point)
        if place is None:
            continue
        row = rows.exactly(place)
        shared = sum(x == b for x, b in zip(point, row, strict=True))
        if shared > most or (shared == most and shared and best.row is None):
            best, most = Base(row, rows.base(place)), shared
    return best


def nearest_bases(task: Task, x: Point, contains: Callable[[Point], bool]) -> list[Base]:
    """Rows in the region, the nearest to x (I,) first; none where there is no table, or no row near x lies in it."""
    found: list[tuple[float, Base]] = []
    for rows in task.observed:
        if not rows.comparable:
            continue
        inside = ((rows.points >= task.lower) & (rows.points <= task.upper)).all(axis=1)
        apart = np.where(inside, rows.apart(x), np.inf)
        held = 0
        for place in np.argsort(apart, kind="stable")[:_LOOKED_AT].tolist():
            if not np.isfinite(apart[place]) or held == _ROWS:
                break
            if contains(row := rows.exactly(place)):
                found.append((float(apart[place]), Base(row, rows.base(place))))
                held += 1
    return [base for _, base in sorted(found, key=lambda entry: entry[0])[:_ROWS]]


def breaking_row(task: Task, excess: Excess, x: Point, least: float) -> Point | None:
    """Of the rows near x (I,) that lie in the region and reach a score of at least this, the one that reaches most."""
    region, best = Region(task), None
    some = max(_LOOKED_AT, WORK // max(excess.products, 1))
    for rows in task.observed:
        if not rows.comparable:
            continue
        near = np.argsort(rows.apart(x), kind="stable")[:some]
        points = rows.points[near]
        inside = (points >= task.lower).all(axis=1) & (points <= task.upper).all(axis=1) & region.holds(points)
        scores = excess.at(points[inside])
        if inside.any() and scores.max() >= max(least, np.nextafter(0.0, 1.0)):
            least = float(scores.max())
            best = rows.exactly(int(near[inside][scores.argmax()]))
    return best
