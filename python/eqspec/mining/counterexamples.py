"""Counterexamples of some tasks: found in floats, chosen far apart, each replayed exactly and run through onnxruntime.

Sound: an input counts only if `Replay` finds that it lies in the exact region and breaks the claim in exact arithmetic,
and that is done for every one that is kept, at the very numbers that are handed out. What onnxruntime does not confirm
is left out and counted; where it cannot run the files, inputs are kept and marked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import ceil
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.mining.found import Counterexamples, Counts, Ended
from eqspec.mining.hits import Hits, Places, hits
from eqspec.mining.selection import farthest_points, islands
from eqspec.networks.network import Array
from eqspec.property import Containment, validate
from eqspec.replay.excess import Excess
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.replay.replay import Replay, raw_point
from eqspec.tasks.phrasing import claim_in_words
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

SEED = 1
_SPARE = 1.25
"""How many times the wanted points are chosen, to make up for those that onnxruntime does not confirm."""
_CHOOSING = 3e9
"""Numbers that are compared when points are chosen: two or three seconds."""
_MOST_CHOSEN_FROM = 40_000
_SEARCHING = 0.7
"""The share of a task's time after which no more inputs are looked for: what was found has to be replayed, too."""
_JOINING = 1e9
"""The most multiplications for finding out which points belong to one connected part."""


@dataclass(frozen=True)
class _Found:
    """What was kept of one task."""

    witnesses: tuple[Witness, ...]
    islands: NDArray[np.intp]
    counts: Counts


def mine(
    tasks: Sequence[Task],
    wanted: int,
    *,
    seed: int = SEED,
    seconds: float | None = None,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda said: None,  # noqa: ARG005
) -> Counterexamples:
    """So many counterexamples of some tasks, shared evenly, as the time is; fewer where fewer are found by then.

    `stop` ends it early. Ctrl-C ends it, too, and gives what was found by then; while nothing was found, it goes
    through. `tell` hears what is going on. InputError if there are no tasks, if they are about different inputs or
    outputs, or if a claim is about types, which has no score.
    """
    began = perf_counter()
    end = math.inf if seconds is None else began + seconds
    _refuse(tasks, wanted)
    runtime = RuntimeReplay()
    found: list[_Found] = []
    left, ended = wanted, None
    for number, task in enumerate(tasks):
        share = ceil(left / (len(tasks) - number))
        before = f"{task.id}: " if len(tasks) > 1 else ""
        now = perf_counter()
        time = (end - now) / (len(tasks) - number)
        stops = _late(now + _SEARCHING * time, stop), _late(now + time, stop)
        here, why = _of_task(task, share, seed, runtime, stops, _behind(before, tell))
        left -= len(here.witnesses)
        found.append(here)
        ended = why or ended
        if why == "interrupted" or stop() or perf_counter() > end:
            break
    return _together(tasks[0], found, perf_counter() - began, ended)


def _late(until: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: stop() or perf_counter() > until


def _behind(before: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    return lambda said: tell(before + said)


def _refuse(tasks: Sequence[Task], wanted: int) -> None:
    if wanted < 1:
        raise InputError(f"{wanted} counterexamples; ask for at least one")
    if not tasks:
        raise InputError("there is nothing to find counterexamples of")
    first = tasks[0]
    for task in tasks:
        validate(task.property, task.reference.output_size)
        if isinstance(task.property, Containment):
            raise InputError(
                f"{task.id} is about the types of numbers, where nothing tells how near an input is to breaking it; "
                "'eqspec check' looks for one"
            )
        if (task.space.features, task.space.outputs) != (first.space.features, first.space.outputs):
            raise InputError(f"{first.id} and {task.id} are about different inputs or outputs; choose one check")


def _of_task(
    task: Task,
    wanted: int,
    seed: int,
    runtime: RuntimeReplay,
    stops: tuple[Callable[[], bool], Callable[[], bool]],
    tell: Callable[[str], None],
) -> tuple[_Found, Ended | None]:
    """What is found of a task until the first of `stops` says so, and replayed until the second one does."""
    searched, stop = stops
    found = hits(task, wanted, seed, searched, tell)
    replay = Replay(task, runtime)
    kept: dict[tuple[Fraction, ...], Witness] = {}
    denied = unconfirmed = 0
    ended: Ended | None = "timeout" if searched() else None
    tell("choosing")
    try:
        for point in _chosen(task, found, wanted, seed):
            if len(kept) == wanted:
                break
            if stop():
                ended = "timeout"
                break
            witness = _confirmed(replay, point)
            if witness is None:
                denied += 1
            elif witness.onnxruntime_confirms is False:
                unconfirmed += 1
            else:
                kept.setdefault(witness.normalised, witness)
                tell(f"replaying, {len(kept)} of {wanted}")
    except KeyboardInterrupt:
        if not kept:
            raise
        ended = "interrupted"
    witnesses = tuple(kept.values())
    tell("grouping")
    groups = _islands(task, _array([[float(x) for x in w.normalised] for w in witnesses], len(task.lower)))
    counts = Counts(
        task=task.id,
        claim=claim_in_words(task),
        tried=found.tried,
        hits=len(found.points),
        kept=len(witnesses),
        islands=int(groups.max(initial=-1)) + 1,
        denied=denied,
        unconfirmed=unconfirmed,
        unasked=sum(w.onnxruntime_confirms is None for w in witnesses),
        reason=next((w.onnxruntime_reason for w in witnesses if w.onnxruntime_confirms is None), None),
    )
    return _Found(witnesses, groups, counts), ended


def _chosen(task: Task, found: Hits, wanted: int, seed: int) -> Iterator[Array]:
    """Points of the hits, each far from those before it, the clearest first."""
    if not len(found.points):
        return
    count = ceil(_SPARE * wanted) + 8
    width = found.points.shape[1]
    most = int(np.clip(_CHOOSING / (count * width), 2 * count, max(_MOST_CHOSEN_FROM, 2 * count)))
    pool, scores = found.points, found.scores
    if len(pool) > most:
        some = np.random.default_rng(seed).choice(len(pool), most, replace=False)
        pool, scores = pool[some], scores[some]
    scaled = pool / _half(task)
    for i in farthest_points(scaled, int(scores.argmax()), count):
        yield pool[i]


def _half(task: Task) -> Array:
    """Half widths of the box, 1 where it has none."""
    half = Places(task).half
    return np.where(half > 0.0, half, 1.0)


def _confirmed(replay: Replay, point: Array) -> Witness | None:
    """The witness at a point, or beside it, whose numbers are floats as they are handed out; None if there is none."""
    witness = replay.confirm(point)
    if witness is None or _are_floats(witness.normalised) or _are_floats(witness.raw):
        return witness
    nearest = tuple(Fraction(float(x)) for x in witness.normalised)
    return replay.replay(nearest)


def _are_floats(numbers: Sequence[Fraction]) -> bool:
    return all(Fraction(float(x)) == x for x in numbers)


def _islands(task: Task, points: Array) -> NDArray[np.intp]:
    if not len(points):
        return np.zeros(0, np.intp)
    places, excess, half = Places(task), Excess(task), _half(task)
    limit = excess.work + _JOINING

    def breaks(scaled: Array) -> NDArray[np.bool_]:
        if excess.work > limit:
            return np.zeros(len(scaled), bool)
        segment = scaled * half
        if task.lattices:
            segment = places.into(segment)
        clear: NDArray[np.bool_] = excess.at(segment) > 0.0
        return clear & places.region.holds(segment)

    return islands(points / half, breaks)


def _together(first: Task, found: Sequence[_Found], seconds: float, ended: Ended | None) -> Counterexamples:
    witnesses = [witness for part in found for witness in part.witnesses]
    inputs, outputs = len(first.space.features), len(first.space.outputs)
    raw = [raw_point(first, w.normalised) for w in witnesses]
    reference = _array([w.reference for w in witnesses], outputs)
    candidate = _array([w.candidate for w in witnesses], outputs)
    decided = np.argmin if first.space.decide == "min" else np.argmax
    return Counterexamples(
        space=first.space,
        raw=_array([[float(x) for x in point] for point in raw], inputs),
        normalised=_array([[float(x) for x in w.normalised] for w in witnesses], inputs),
        reference=reference,
        candidate=candidate,
        reference_label=decided(reference, axis=1).astype(np.int64),
        candidate_label=decided(candidate, axis=1).astype(np.int64),
        task=np.repeat(np.arange(len(found)), [len(part.witnesses) for part in found]).astype(np.int64),
        island=np.concatenate([np.zeros(0, np.int64), *(part.islands for part in found)]).astype(np.int64),
        confirmed=np.array([w.onnxruntime_confirms is True for w in witnesses], bool),
        table=np.array(["" if w.nearest is None else w.nearest.table for w in witnesses], np.str_),
        nearest_row=np.array([-1 if w.nearest is None else w.nearest.row for w in witnesses], np.int64),
        distance=np.array([np.nan if w.nearest is None else w.nearest.distance for w in witnesses], np.float64),
        counts=tuple(part.counts for part in found),
        seconds=seconds,
        ended=ended,
    )


def _array(rows: Sequence[Sequence[float]], width: int) -> Array:
    return np.array(rows, np.float64).reshape(len(rows), width)
