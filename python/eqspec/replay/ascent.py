"""Gradient ascent from an input that breaks a claim to one that breaks it as clearly as can be found in the region.

The first input that a search meets often breaks the claim by less than float32 rounds. Here the score
(`excess`) climbs: at every step each point looks along its derivatives, towards the corner that they point to and along
themselves, by steps of several lengths, and takes the best one. First from the input itself, then also from the centre
and from points scattered over the region, always the same ones.

Bounded by steps and by multiplications, so that a small question has the same answer every time; beyond that by time.
Only floats: the replay decides what counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Array
from eqspec.replay.excess import Excess
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task

WORK = 20_000_000
"""The number of multiplications that an improvement may always take: ten or twenty milliseconds."""
_STEPS = 24
_LENGTHS = np.array([1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5])
_STARTS = 7
TRIED_PER_START = 4 * len(_LENGTHS) * _STEPS
"""The number of inputs that are looked at, at most, for every point where an ascent starts."""
_LITTLE = 1e-3
"""An ascent ends when a step gains less than this share of the score."""


class Region:
    """The box and the constraints of a task in floats; points are brought into it as far as a few projections do."""

    def __init__(self, task: Task) -> None:
        self.lower, self.upper = task.lower, task.upper
        self.centre = np.clip(0.5 * task.lower + 0.5 * task.upper, task.lower, task.upper)
        self._rows = np.array([[approximately(a) for a in c.coefficients] for c in task.constraints])
        self._bounds = np.array([approximately(c.bound) for c in task.constraints])
        largest = np.maximum(np.abs(task.lower), np.abs(task.upper))
        self._slack = [
            1e-12 * (abs(b) + float(np.abs(a) @ largest)) for a, b in zip(self._rows, self._bounds, strict=True)
        ]
        """How far points stay from where a constraint ends, so that it holds in whatever order floats are added."""

    def within(self, x: Array) -> Array:
        """Points (N, I) moved into the region, or near it."""
        x = np.clip(x, self.lower, self.upper)
        for _ in range(4 if len(self._bounds) else 0):
            for row, bound, slack in zip(self._rows, self._bounds, self._slack, strict=True):
                free = row * (self.upper > self.lower)
                size = float(free @ free)
                beyond = x @ row - bound + slack
                out = np.flatnonzero(beyond > 0.0)
                if size > 0.0 and len(out):
                    x[out] = np.clip(x[out] - beyond[out, None] / size * free, self.lower, self.upper)
        return np.asarray(x)

    def holds(self, x: Array) -> NDArray[np.bool_]:
        """Which points (N,) satisfy the constraints."""
        if not len(self._bounds):
            return np.ones(len(x), bool)
        return np.asarray((x @ self._rows.T <= self._bounds).all(axis=1))

    def ends(self, x: Array, features: NDArray[np.intp]) -> tuple[Array, Array]:
        """How far down and up each of some features (F,) can go from a point (I,) of the region, the others staying."""
        low, high = self.lower[features].copy(), self.upper[features].copy()
        for row, bound, slack in zip(self._rows, self._bounds, self._slack, strict=True):
            slopes = row[features]
            room = bound - float(row @ x) - slack
            with np.errstate(all="ignore"):
                limit = x[features] + max(room, 0.0) / slopes
            high = np.where(slopes > 0.0, np.minimum(high, limit), high)
            low = np.where(slopes < 0.0, np.maximum(low, limit), low)
        return low, high


def climb(task: Task, excess: Excess, start: Array, late: Callable[[], bool]) -> list[Array]:
    """Inputs (I,) that break the claim in floats, the clearest first, each with a higher score than the start (I,).

    `late` says when to stop; it is not asked before the work that is always allowed is done.
    """
    region = Region(task)

    def stop() -> bool:
        return excess.work > WORK and late()

    least = float(excess.at(start[None])[0])
    found = [ascend(region, excess, start[None], stop)]
    if not stop():
        draw = np.random.default_rng(0).uniform(size=(_STARTS - 1, len(start)))
        scattered = region.lower * (1.0 - draw) + region.upper * draw
        found.append(ascend(region, excess, np.vstack([region.centre, scattered]), stop))
    points, scores = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(-scores, kind="stable")
    return [points[i] for i in order if scores[i] > max(least, 0.0)]


def ascend(region: Region, excess: Excess, x: Array, stop: Callable[[], bool]) -> tuple[Array, Array]:
    """Points (N, I) as far up as they come, and their scores (N,), -inf where one is not brought into the region."""
    x = region.within(x)
    scores = np.where(region.holds(x), excess.at(x), -np.inf)
    for _ in range(_STEPS):
        tried = np.concatenate([_along(region, x, slope) for slope in excess.directions(x)], axis=1)
        count, sizes = tried.shape[1], x.shape
        flat = region.within(tried.reshape(-1, sizes[1]))
        reached = np.where(region.holds(flat), excess.at(flat), -np.inf).reshape(sizes[0], count)
        best = reached.argmax(axis=1)
        gained = reached[np.arange(len(x)), best]
        better = gained > scores
        x = np.where(better[:, None], flat.reshape(sizes[0], count, -1)[np.arange(len(x)), best], x)
        enough = gained > scores + _LITTLE * np.abs(np.where(np.isfinite(scores), scores, 0.0))
        scores = np.where(better, gained, scores)
        if not enough.any() or stop():
            break
    return x, scores


def _along(region: Region, x: Array, slope: Array) -> Array:
    """Points (N, 2 L, I) towards the corner that a slope (N, I) points to, and along the slope."""
    corner = np.where(slope > 0.0, region.upper, np.where(slope < 0.0, region.lower, x))
    half = 0.5 * region.upper - 0.5 * region.lower
    scaled = slope * half
    largest = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), 1e-300)
    lengths = _LENGTHS[None, :, None]
    towards = x[:, None] + lengths * (corner - x)[:, None]
    return np.concatenate([towards, x[:, None] + lengths * (half * scaled / largest)[:, None]], axis=1)
