"""A sample of the boxes that were open when a search ended undecided, for people to look at.

Each box stands for a share of the claim; together they make up what is not proved. Edges are written as parts of the
region's range, from 0 at its lower end to 1 at its upper, and only for the features that a box does not span; of many
such features only those that were narrowed most are kept, so that the boxes shown hold the real ones. No verdict
depends on any of this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.replay.replay import raw_point
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.search_statistics import OpenBox, Undecided
from eqspec.tasks.task import Task

_DIGITS = 5
_MOST_EDGES = 24
"""The largest number of features of one box whose edges are kept: those that were narrowed most."""
_MOST_NUMBERS = 6000
"""The largest number of edges in one result. With wide networks only the boxes of the largest shares are kept."""

_Array = NDArray[np.float64]


def undecided(task: Task, sample: tuple[_Array, _Array, _Array]) -> Undecided | None:
    """The core's sample, lower and upper (n, I) in network units and shares (n,), as parts of the task's region."""
    lower, upper, shares = sample
    ends = [[approximately(x) for x in raw_point(task, corner)] for corner in (task.lower_exact, task.upper_exact)]
    if not len(shares) or not np.isfinite(ends).all():
        return None
    edges = _parts(task, lower, upper)
    boxes = [OpenBox(float(s), _narrowed(box)) for s, box in zip(shares, edges, strict=True)]
    return Undecided(
        share=min(float(shares.sum()), 1.0),
        features=task.space.features,
        units=task.space.units,
        lower=tuple(map(min, *ends)),
        upper=tuple(map(max, *ends)),
        sample=_fitting(boxes),
    )


def _parts(task: Task, lower: _Array, upper: _Array) -> _Array:
    """(n, I, 2): the ends of every box as parts of the region's range in raw units, rounded outward."""
    with np.errstate(over="ignore"):  # a range may be wider than a float tells
        width = task.upper - task.lower
        usable = np.isfinite(width) & (width > 0)
        safe = np.where(usable, width, 1.0)
        low, high = (lower - task.lower) / safe, (upper - task.lower) / safe
    turned = np.array([scale < 0 for scale in task.space.scale])
    low, high = np.where(turned, 1.0 - high, low), np.where(turned, 1.0 - low, high)
    step = 10.0**_DIGITS
    # An edge that halving made, such as 0.5, stays what it is.
    low, high = np.floor(low * step + 1e-6) / step, np.ceil(high * step - 1e-6) / step
    ends = np.stack([np.where(usable, low, 0.0), np.where(usable, high, 1.0)], axis=-1)
    rounded: _Array = np.round(np.clip(ends, 0.0, 1.0), _DIGITS)
    return rounded


def _narrowed(ends: _Array) -> dict[int, tuple[float, float]]:
    """The edges of a box, out of `ends` (I, 2), along its at most `_MOST_EDGES` narrowest features, by feature."""
    width = ends[:, 1] - ends[:, 0]
    order = np.argsort(width, kind="stable")[:_MOST_EDGES]
    kept = sorted(int(i) for i in order if width[i] < 1.0)
    return {i: (float(ends[i, 0]), float(ends[i, 1])) for i in kept}


def _fitting(boxes: list[OpenBox]) -> tuple[OpenBox, ...]:
    """As many boxes as a result has room for, their shares raised so that they still make up the whole."""
    kept: list[OpenBox] = []
    room = _MOST_NUMBERS
    for box in boxes:
        room -= len(box.edges)
        if room < 0 and kept:
            break
        kept.append(box)
    total, left = sum(box.share for box in boxes), sum(box.share for box in kept)
    scale = total / left if left > 0 and len(kept) < len(boxes) else 1.0
    return tuple(OpenBox(box.share * scale, box.edges) for box in kept)
