"""Inputs where integer networks may differ, or leave a type: tried before any search, and replayed exactly.

For a type that may be left: of a first layer the corners where its sum is largest, which are exact; further on, corners
that the gradient of a sum points to. For claims: these, and random points of the box and its lattices. Floats only say
which points to try first; what counts is the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import evaluation
from eqspec.networks.enclosure import Array
from eqspec.networks.grids import Analysis, Region
from eqspec.networks.grids.casts import Leaving, corners, leaving
from eqspec.networks.network import Network
from eqspec.property import Containment, NeverWraps
from eqspec.replay.equations import Point
from eqspec.replay.excess import Excess
from eqspec.replay.replay import Replay
from eqspec.run.by_grids import region_of
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

_RANDOM, _ROWS, _REPLAYED, _TURNS = 256, 8, 8, 6
"""Points that are drawn, rows that corners are looked for, points that are replayed, and steps of an ascent."""


def witness(task: Task, replay: Replay, known: Sequence[Analysis], check: Callable[[], None]) -> Witness | None:
    """An input where the claim breaks, if one is found soon. `check` is called now and then, and may raise."""
    for point in _candidates(task, known):
        check()
        if (found := replay.replay(point)) is not None:
            return found
    return None


def _candidates(task: Task, known: Sequence[Analysis]) -> Iterator[Point]:
    region = region_of(task)
    if isinstance(task.property, Containment):
        rows = leaving(task.candidate.steps, known[1], wraps=isinstance(task.property, NeverWraps))
        rows.sort(key=lambda one: (one.step, -one.beyond))
        for one in rows[:_ROWS]:
            yield from corners(one, known[1])
        for one in [*rows[:_ROWS], *rows[-_ROWS:]]:
            yield from _climbed(task.candidate, one, region)
        return
    drawn = _drawn(region)
    scores = Excess(task).at(drawn)
    for place in np.argsort(-scores, kind="stable")[:_REPLAYED].tolist():
        yield _on(region, drawn[place])
    for network, analysis in zip((task.reference, task.candidate), known, strict=True):
        for wraps in (True, False):
            for one in leaving(network.steps, analysis, wraps=wraps)[:_ROWS]:
                yield from corners(one, analysis)


def _drawn(region: Region) -> Array:
    """Points of the region (N, I), the same every time: some near its middle, some anywhere, some corners."""
    random = np.random.default_rng(0)
    low, high = (np.array([float(x) for x in ends]) for ends in (region.lower, region.upper))
    shares = random.uniform(size=(_RANDOM, len(low)))
    shares[: _RANDOM // 4] = np.rint(shares[: _RANDOM // 4])
    points = low * (1.0 - shares) + high * shares
    return np.array([[float(x) for x in _on(region, point)] for point in points])


def _on(region: Region, point: NDArray[np.float64]) -> Point:
    """The point of the region next to this one."""
    found = []
    for place, x in enumerate(point.tolist()):
        ends, lattice = region.steps[place], region.lattice(place)
        if ends is None or lattice is None:
            found.append(min(max(Fraction(x), region.lower[place]), region.upper[place]))
            continue
        k = round((Fraction(x) - lattice[0]) / lattice[1])
        found.append(lattice[0] + min(max(k, ends[0]), ends[1]) * lattice[1])
    return tuple(found)


def _climbed(network: Network, one: Leaving, region: Region) -> Iterator[Point]:
    """Corners that the gradient of a sum points to, from random points, the furthest outside of the type first."""
    cut_off = [*network.steps[: one.step], replace(network.steps[one.step], function="identity")]
    low, high = (np.array([float(x) for x in ends])[:, None] for ends in (region.lower, region.upper))
    points = _drawn(region)[:64].T
    outward = 1.0 if one.most - one.quantiser.high >= one.quantiser.low - one.least else -1.0
    change = np.zeros((cut_off[-1].rows, points.shape[1]))
    change[one.row] = outward
    best, score = points, np.full(points.shape[1], -np.inf)
    with np.errstate(all="ignore"):
        for _ in range(_TURNS):
            before = evaluation.values(cut_off, points)
            now = outward * before[-1][one.row]
            better = now > score
            best, score = np.where(better, points, best), np.where(better, now, score)
            uphill = evaluation.gradient(cut_off, before, change, len(low))
            points = np.where(uphill > 0.0, high, np.where(uphill < 0.0, low, points))
    for place in np.argsort(-score, kind="stable")[:2].tolist():
        yield _on(region, best[:, place])
