"""From an input that breaks a claim to one that differs from the base of the region in few features.

All features go back to the base (the centre of the region, or the row of the table), as long as the score (`excess`)
keeps a share of what it was. The features are tried in the order of what they contribute, first as many as suffice,
then group after group of those that are left, each time all groups at once, halved until they are single features.
Where the base is a row of a table, there is the other way, too: from the row forward, one feature after the other to an
end of its range, or as far as the constraints of the region let it, the one first that brings the claim nearest to
breaking, until it breaks; then each of them back again as far as bisection goes. Where a class changes that is mostly
two features of sixteen.

Only floats: the replay decides what counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Array
from eqspec.replay.ascent import Region
from eqspec.replay.excess import Excess
from eqspec.tasks.task import Task

KEPT = 0.5
"""The share of the score that must remain."""
_ROUNDING = 1e-6
"""The relative tolerance of a score, so that no feature is kept because of rounding alone."""
LITTLE = 0.02
"""The share of the score that must remain where features are moved forward: few features rarely reach more."""
_MOST_FORWARD = 12
_MOST_TRIED = 256
"""The most features that are tried at once: those along which the score changes most."""
_HALVINGS = 10
_ROUNDS = 64
_AT_ONCE = 128

Chosen = NDArray[np.bool_]


def shrink(task: Task, excess: Excess, x: Array, base: Array, least: float, late: Callable[[], bool]) -> Chosen:
    """Which features (I,) to leave as x (I,) has them, so that the score is still at least this and KEPT of what it is.

    The others may go back to the base (I,).
    """
    region = Region(task)
    moved = np.asarray(x != base)
    reached = float(excess.at(x[None])[0])
    least = max(KEPT * reached, (1.0 - _ROUNDING) * min(least, reached))
    if not (least > 0.0 and moved.any()):
        return moved

    def breaks(kept: Chosen) -> Chosen:
        """Which of these choices (N, I) still break the claim clearly, inside the region."""
        points = np.where(kept, x, base)
        clear: Chosen = excess.at(points) >= least
        return clear & region.holds(points)

    kept = _enough(_by_contribution(excess, x, base, moved), moved, breaks)
    rounds, groups = 0, 2
    while rounds < _ROUNDS and not late() and (count := int(kept.sum())) > 1:
        groups = min(groups, count)
        parts = np.array_split(np.flatnonzero(kept), groups)[:_AT_ONCE]
        without = np.repeat(kept[None], len(parts), axis=0)
        for row, part in zip(without, parts, strict=True):
            row[part] = False
        fine = breaks(without)
        rounds += 1
        if fine.any():
            kept = without[int(np.argmax(fine))]
            groups = max(2, groups - 1)
        elif groups < count:
            groups = 2 * groups
        else:
            break
    return kept


def _by_contribution(excess: Excess, x: Array, base: Array, moved: Chosen) -> NDArray[np.intp]:
    """The moved features, ordered by their contribution to the score, half-way and at the end."""
    slopes = excess.directions(np.stack([x, 0.5 * x + 0.5 * base]))[-1].sum(axis=0)
    order = np.argsort(-(slopes * (x - base)), kind="stable")
    return np.asarray(order[moved[order]])


def _enough(order: NDArray[np.intp], moved: Chosen, breaks: Callable[[Chosen], Chosen]) -> Chosen:
    """The fewest of the first features in this order that suffice, as bisection finds them."""
    low, high, best = 0, len(order), moved
    while low + 1 < high:
        sizes = np.array(sorted(set(np.linspace(low, high, 18).astype(int)[1:-1].tolist())))
        sizes = sizes[(sizes > low) & (sizes < high)]
        tried = np.zeros((len(sizes), len(moved)), bool)
        for row, size in zip(tried, sizes, strict=True):
            row[order[:size]] = True
        fine = breaks(tried)
        if fine.any():
            first = int(np.argmax(fine))
            best, high = tried[first], int(sizes[first])
            low = int(sizes[first - 1]) if first else low
        else:
            low = int(sizes[-1])
    return best


def forward(task: Task, excess: Excess, base: Array, reached: float, late: Callable[[], bool]) -> Array | None:
    """A point (I,) with few features away from the base (I,), whose score is at least a share of the one `reached`.

    None if a dozen features do not suffice, or time runs out first.
    """
    region, least = Region(task), LITTLE * reached
    if not least > 0.0:
        return None
    x, moved = base.copy(), list[int]()
    while len(moved) < _MOST_FORWARD and not late():
        features = _steepest(task, excess, x, moved)
        if not len(features):
            return None
        tried = np.repeat(x[None], 2 * len(features), axis=0)
        rows = np.arange(len(features))
        tried[rows, features], tried[len(features) + rows, features] = region.ends(x, features)
        scores = np.where(region.holds(tried), excess.at(tried), -np.inf)
        best = int(np.argmax(scores))
        moved.append(int(features[best % len(features)]))
        x = tried[best]
        if scores[best] >= least:
            return _brought_back(region, excess, x, base, moved, least)
    return None


def _steepest(task: Task, excess: Excess, x: Array, moved: list[int]) -> NDArray[np.intp]:
    """Features that may still be moved, those along which the score changes most if there are very many."""
    free = task.upper > task.lower
    free[moved] = False
    features = np.flatnonzero(free)
    if len(features) <= _MOST_TRIED:
        return features
    slopes = np.abs(excess.directions(x[None])[-1][0]) * (task.upper - task.lower)
    return np.sort(features[np.argsort(-slopes[features], kind="stable")[:_MOST_TRIED]])


def _brought_back(region: Region, excess: Excess, x: Array, base: Array, moved: list[int], least: float) -> Array:
    """The moved features as near to the base as the score stays at least this, one after the other."""

    def fine(point: Array) -> bool:
        return bool(region.holds(point[None])[0] and excess.at(point[None])[0] >= least)

    for i in moved:
        near, far = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (near + far)
            tried = x.copy()
            tried[i] = base[i] + middle * (x[i] - base[i])
            near, far = (near, middle) if fine(tried) else (middle, far)
        x = x.copy()
        x[i] = base[i] + far * (x[i] - base[i])
    return x
