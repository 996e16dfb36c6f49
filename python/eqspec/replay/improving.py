"""A witness made clearer and simpler: it breaks the claim clearly, and differs from the base in few features.

The first input that a search finds may break the claim by 1e-9, where onnxruntime's float32 says otherwise, although
others break it by 1. So it climbs (in the core, or by `ascent`), then features go back to the base (`bases`,
`shrinking`): the row that the region lies around, the nearest row of a table, or the centre. Where a row in the region
breaks the claim itself, it is the witness. What comes out is replayed exactly like any candidate; where the replay, or
onnxruntime, denies it, the next best is tried, and in the end the first witness stays. So `different` rests on what it
rested on before.

It takes at most a tenth of the time that the search took, but always the work of some milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Array
from eqspec.property import Containment
from eqspec.replay.ascent import WORK, climb
from eqspec.replay.bases import Base, breaking_row, nearest_bases
from eqspec.replay.equations import Point
from eqspec.replay.excess import Excess
from eqspec.replay.replay import Replay, base_of, contains, nearest_floats
from eqspec.replay.shrinking import LITTLE, forward, shrink
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

SHARE, LONGEST = 0.1, 2.0
"""The share of the time that the search took, and at most so many seconds."""
_TRIED = 3
"""The most points that are replayed exactly, which may take longer than everything else here."""


Climb = Callable[[Array, float], Sequence[Array] | None]
"""From an input that breaks a claim to those that break it more clearly, the clearest first, within some seconds; None
where it does not look."""


def improve(
    task: Task, replay: Replay, first: Witness, seconds: float, *, ascent: Climb | None = None, simplify: bool = True
) -> Witness:
    """The best witness that is found beside the first one, or that one itself, after a search of so many seconds.

    Without `simplify` it breaks the claim as clearly as can be found, and features are not put back.
    """
    if isinstance(task.property, Containment):  # there is no score that could be higher
        return replay.asked(first)
    seconds = min(LONGEST, SHARE * seconds)
    deadline = perf_counter() + seconds

    def late() -> bool:
        return perf_counter() > deadline

    excess = Excess(task)
    start = np.array([approximately(x) for x in first.normalised])
    with np.errstate(all="ignore"):
        clearer = None if ascent is None else ascent(start, seconds)
        if clearer is None:
            clearer = climb(task, excess, start, late)
        ends = [*clearer[:2], start]
        least = float(excess.at(start[None])[0])
        points = (point for x in ends for point in _points(task, excess, x, least, late, simplify=simplify))
        doubtful: Witness | None = None
        for point in islice(points, _TRIED):
            found = replay.replay(point)
            if found is not None and found.onnxruntime_confirms is not False:
                return found
            doubtful = doubtful or found
    first = replay.asked(first)
    # If onnxruntime denies every point, the one that breaks the claim most clearly is shown.
    return first if doubtful is None or first.onnxruntime_confirms else doubtful


def _points(
    task: Task, excess: Excess, x: Array, least: float, late: Callable[[], bool], *, simplify: bool
) -> Iterator[Point]:
    """Points to replay: a row itself, one with few features away from the base, then with all features as they are.

    From a row of a table fewer features often do if they are moved one by one from there.
    """
    near = nearest_floats(task, [Fraction(v) for v in x.tolist()])
    if not simplify:
        yield near
        return
    rounded = np.array([approximately(v) for v in near])
    limit = excess.work + WORK

    def over() -> bool:
        return excess.work > limit and late()

    reached = float(excess.at(rounded[None])[0])
    rows = [] if task.around is not None else nearest_bases(task, near, partial(contains, task))
    if rows and (itself := breaking_row(task, excess, near, LITTLE * reached)) is not None:
        yield itself
    bases = rows or [Base(base_of(task))]
    kept = shrink(task, excess, rounded, bases[0].floats, least, over)
    if (rows or task.around is not None) and not task.lattices:
        few = _fewest(task, excess, bases, reached, over)
        if few is not None and few[1].sum() < kept.sum() and contains(task, few[0]):
            yield few[0]
    point = tuple(v if keep else b for v, b, keep in zip(near, bases[0].point, kept, strict=True))
    if contains(task, point):
        yield point
    yield near


def _fewest(
    task: Task, excess: Excess, bases: Sequence[Base], reached: float, over: Callable[[], bool]
) -> tuple[Point, NDArray[np.bool_]] | None:
    """The point that is away from one of the bases in the fewest features, and in which; None where there is none."""
    best: tuple[Point, NDArray[np.bool_]] | None = None
    for base in bases:
        few = forward(task, excess, base.floats, reached, over)
        if few is None:
            continue
        away = few != base.floats
        if best is None or away.sum() < best[1].sum():
            held = nearest_floats(task, [Fraction(v) for v in few.tolist()])
            best = tuple(v if moved else b for v, b, moved in zip(held, base.point, away, strict=True)), away
    return best
