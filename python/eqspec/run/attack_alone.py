"""Networks too large for bounds: a claim about them is attacked, and stays unknown where no attack breaks it.

The first box of a search bounds every neuron, and cannot be left before that is done: of networks with hundreds of
millions of products it takes minutes, whatever the time limit. Points cost one evaluation. So these are tried, the
centre and corners among them, and ascents from the best; what breaks the claim in floats is replayed exactly, as a
candidate of a search is. Nothing is ever proved here.

So it is where one of very many classes decides: for the search that is a guard with as many rows for each of them, and
a violation for each pair, which fill any memory (a detector's head has tens of thousands of outputs).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter

import numpy as np

from eqspec.property import Decision
from eqspec.replay.ascent import Region, ascend
from eqspec.replay.excess import Excess
from eqspec.replay.replay import Replay
from eqspec.run.description import describe
from eqspec.run.options import Options
from eqspec.run.random_inputs import corners_and_points
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

MOST_BOUNDED = 100_000_000
"""The most products of one evaluation of a network whose bounds are computed."""
MOST_CLASSES = 2048
"""The most classes of a decision that is searched: four million pairs, which take about a gigabyte."""
_POINTS, _SECONDS, _REPLAYED = 16, 60.0, 2
"""How many points are tried, for how long where there is no time limit, and how many candidates are replayed."""


def too_large(task: Task) -> bool:
    """Whether one of both networks, or what is claimed of them, is too large for a search."""
    return _among_too_many(task) or max(task.reference.products, task.candidate.products) > MOST_BOUNDED


def _among_too_many(task: Task) -> bool:
    return isinstance(task.property, Decision) and task.reference.output_size > MOST_CLASSES


def attacked(task: Task, replay: Replay, stop: Callable[[], bool] | None, options: Options) -> Result:
    """The result of a task whose networks are not bounded."""
    began = perf_counter()
    left = options.left(task)
    deadline = began + (left if left < inf else _SECONDS)

    def over() -> bool:
        if stop is not None and stop():
            raise KeyboardInterrupt
        return perf_counter() >= deadline

    try:
        witness = next(filter(None, map(replay.confirm, _candidates(task, over))), None)
    except KeyboardInterrupt:
        return describe(task, options, Verdict.UNKNOWN, perf_counter() - began, reason=Reason.INTERRUPTED)
    seconds = perf_counter() - began
    if witness is not None:
        return describe(task, options, Verdict.DIFFERENT, seconds, witness=witness)
    if _among_too_many(task):
        message = f"one of {task.reference.output_size} outputs decides, which is searched up to {MOST_CLASSES}"
        message += "; a distance ('stays within') can be proved of more"
    else:
        message = f"an evaluation takes {max(task.reference.products, task.candidate.products):.1e} products, bounds"
        message += f" are computed up to {MOST_BOUNDED:.0e}"
    return describe(task, options, Verdict.UNKNOWN, seconds, reason=Reason.SIZE, message=message)


def _candidates(task: Task, over: Callable[[], bool]) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Points that break the claim in floats, by how much; the best of those that were tried and climbed."""
    region, excess = Region(task), Excess(task)
    points = region.within(np.vstack([region.centre[None], corners_and_points(task, _POINTS)]))
    points = points[region.holds(points)]
    scores = np.full(len(points), -inf)
    for number in range(len(points)):
        scores[number : number + 1] = excess.at(points[number : number + 1])
        if over():
            break
    order = np.argsort(-scores, kind="stable")
    points, scores = points[order], scores[order]
    if len(points) and not scores[0] > 0.0 and not over():
        points, scores = ascend(region, excess, points[:1], over)
    return [point for point, score in zip(points, scores, strict=True) if score > 0.0][:_REPLAYED]
