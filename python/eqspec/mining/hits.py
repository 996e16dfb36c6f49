"""Many inputs at which a claim breaks in floats: drawn from the region, attacked, and reached by walks from these.

Shapes: points (N, I) in network units. Three ways, one after the other: points drawn uniformly from the box; gradient
ascents of the score (`Excess`) from the best of these and from fresh ones; and from what both found walks of random
steps that go on as long as the claim breaks clearly. Walks spread over what the others only touch.

The seed is fixed, and the work is limited by multiplications, so a question has the same answer every time. All of it
is in floats: the replay decides what counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array
from eqspec.replay.ascent import TRIED_PER_START, Region, ascend
from eqspec.replay.excess import Excess
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task

_DRAWN, _ATTACKED, _WALKED = 2e8, 1e9, 4e8
"""Multiplications that each of the three may take."""
_MOST_DRAWN, _MOST_STARTS, _MOST_WALKERS = 100_000, 1000, 2000
_STEPS = 100
_LONGEST_STEP = 0.6
"""The longest step of a walk, in half widths of the box."""
_CLEARLY = 0.01
"""Of the median score of what attacks found: what breaks the claim by less may not break it in float32."""
_MOST_NUMBERS = 40_000_000
"""The most numbers that are kept of walks: 320 MB."""
_AT_ONCE = 8192


@dataclass(frozen=True)
class Hits:
    """Points (N, I) that break the claim in floats, their scores (N,), and how many inputs were looked at."""

    points: Array
    scores: Array
    tried: int


class Places:
    """The inputs that are looked at in a region: in its box, on its grids, and within its constraints."""

    def __init__(self, task: Task) -> None:
        self.region = Region(task)
        self.half = 0.5 * task.upper - 0.5 * task.lower
        spaced = [(i, lattice) for i, lattice in enumerate(task.lattices) if lattice is not None]
        self._spaced = np.array([i for i, _ in spaced], int)
        self._origins = np.array([approximately(lattice.origin) for _, lattice in spaced])
        self._steps = np.array([approximately(lattice.step) for _, lattice in spaced])

    def drawn(self, random: np.random.Generator, count: int) -> Array:
        """Points (count, I) of the box, brought into the region."""
        draw = random.uniform(size=(count, len(self.half)))
        return self.into(self.region.lower * (1.0 - draw) + self.region.upper * draw)  # nothing overflows so

    def into(self, x: Array) -> Array:
        """Points moved into the region, or near it."""
        x = self.region.within(x)
        if len(self._spaced):
            x[:, self._spaced] = self._origins + self._steps * np.rint(
                (x[:, self._spaced] - self._origins) / self._steps
            )
            x = np.clip(x, self.region.lower, self.region.upper)
        return x


def hits(task: Task, wanted: int, seed: int, stop: Callable[[], bool], tell: Callable[[str], None]) -> Hits:
    """What is found of one task, enough to choose so many from; `stop` ends it early, `tell` hears what is going on."""
    random, places, excess = np.random.default_rng(seed), Places(task), Excess(task)
    products = max(1, task.reference.products + task.candidate.products)
    tell("drawing inputs")
    drawn = places.drawn(random, int(np.clip(_DRAWN / products, 1000, min(_MOST_DRAWN, 1000 + 100 * wanted))))
    scores = _scores(places, excess, drawn)
    tell("attacking")
    starts = int(np.clip(_ATTACKED / (products * TRIED_PER_START), 16, min(_MOST_STARTS, 32 + wanted)))
    best = drawn[np.argsort(-scores, kind="stable")[: starts // 2]]
    climbed, tops = ascend(places.region, excess, np.vstack([best, drawn[: starts - len(best)]]), stop)
    climbed = places.into(climbed)
    tops = _scores(places, excess, climbed)
    tried = len(drawn) + starts * TRIED_PER_START
    points, reached = np.vstack([drawn, climbed]), np.concatenate([scores, tops])
    if not (reached > 0.0).any():
        return Hits(points[:0], reached[:0], tried)
    least = _CLEARLY * float(np.median(reached[reached > 0.0]))
    clear = reached >= least
    points, reached = points[clear], reached[clear]
    tell("walking")
    walkers = int(np.clip(_WALKED / (products * _STEPS), 20, min(_MOST_WALKERS, 20 + 2 * wanted)))
    walkers = max(1, min(walkers, _MOST_NUMBERS // (_STEPS * points.shape[1])))
    walked = _walks(places, excess, points[random.choice(len(points), walkers)], least, random, stop)
    points = np.unique(np.vstack([points, *walked]), axis=0)
    return Hits(points, _scores(places, excess, points), tried + walkers * _STEPS)


def _walks(
    places: Places, excess: Excess, x: Array, least: float, random: np.random.Generator, stop: Callable[[], bool]
) -> list[Array]:
    """Where walks from points (N, I) came to, step by step."""
    found: list[Array] = []
    for _ in range(_STEPS):
        direction = random.normal(size=x.shape)
        direction /= np.maximum(np.abs(direction).max(axis=1, keepdims=True), 1e-300)
        length = random.uniform(0.0, _LONGEST_STEP, (len(x), 1))
        tried = places.into(x + length * places.half * direction)
        goes: NDArray[np.bool_] = _scores(places, excess, tried) >= least
        x = np.where(goes[:, None], tried, x)
        found.append(tried[goes])
        if stop():
            break
    return found


def _scores(places: Places, excess: Excess, x: Array) -> Array:
    """Scores (N,), -inf outside of the constraints."""
    parts = [excess.at(x[start : start + _AT_ONCE]) for start in range(0, len(x), _AT_ONCE)]
    return np.where(places.region.holds(x), np.concatenate([np.zeros(0), *parts]), -np.inf)
