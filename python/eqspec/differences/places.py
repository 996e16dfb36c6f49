"""Where two networks are compared: the rows of a table that lie in a region, or random points of a box.

Shapes: points (N, I). The points of a `Place` are in network units, those in which its task has the region; what the
files take is the same, or raw units where normalisation belongs to the networks of the task (`takes raw`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from eqspec import compile as compiler
from eqspec.draft.completed import Completed
from eqspec.draft.named_pair import Pair
from eqspec.draft.verified_spec import What, Where, draft
from eqspec.errors import InputError, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array, Network
from eqspec.property import Epsilon
from eqspec.report.numbers import count, plural
from eqspec.spec import printer
from eqspec.tasks.directed_rounding import floats_above, floats_below
from eqspec.tasks.task import Task

CUBE = Where(lower="-1", upper="1")
"""The box to look at where nothing is known of the inputs."""
_MOST, _FEWEST = 5000, 16
_WORK = 3e8
"""The number of multiplications that evaluating both networks may take: half a second or so."""

_ROUNDED = 1e-9
"""By how much a row at the end of a region may leave it in floats."""


@dataclass(frozen=True)
class Place:
    """A task whose region holds the points (N, I), N >= 1, with its claim a distance of 0, and where they are from.

    `rows` are the numbers of the points in the table, None where they were drawn. `words` say both.
    """

    task: Task
    points: Array
    rows: tuple[int, ...] | None
    words: str

    @property
    def read(self) -> Array:
        """The points as the files take them."""
        if not self.task.reference_takes_raw:
            return self.points
        return _raw(self.task, self.points)


def _raw(task: Task, points: Array) -> Array:
    """Points in raw units."""
    centre, scale = (np.array([float(x) for x in numbers]) for numbers in (task.space.centre, task.space.scale))
    return np.ascontiguousarray(centre + scale * points)


def place(pair: Pair, known: Completed, where: Where) -> Place:
    """The rows of the table that lie in the region, or points drawn from it if there is no table.

    Without a region it is what the table spans, or, where nothing is known of the inputs, -1 .. 1 in every one.
    InputError where there is no row in it, or where a normalisation is known and no region.
    """
    data = known.inputs.data
    chosen = where != Where()
    if data is None and not chosen:
        if known.inputs.normalised:
            raise InputError(
                "on which inputs? they are normalised, and there is no table that shows where they lie; give --data "
                "FILE, --sigma K, or --lower and --upper"
            )
        where = CUBE
    task = _task(pair, known, where)
    if data is None:
        return _drawn(task, _box_in_words(where, chosen=chosen))
    centre, scale = (np.array([float(x) for x in numbers]) for numbers in (task.space.centre, task.space.scale))
    points = (data.values - centre) / scale
    slack = _ROUNDED * (1.0 + np.abs(task.lower) + np.abs(task.upper))
    inside = ((points >= task.lower - slack) & (points <= task.upper + slack)).all(axis=1)
    table = Path(data.path).name
    if not inside.any():
        raise InputError(f"none of the {plural(len(points), 'row')} of {table} lies in the region; choose another one")
    found = np.flatnonzero(inside)
    used = found[np.linspace(0, len(found) - 1, min(len(found), _affordable(task))).astype(int)]
    words = f"{plural(len(used), 'row')} of {table}"
    if len(used) < len(found):
        words = f"{count(len(used))} of the {plural(len(found), 'row')} of {table}"
    if chosen:
        words += f" that lie {_region_in_words(where)}"
    within = np.clip(points[used], task.lower, task.upper)
    return Place(task, np.ascontiguousarray(within), tuple(data.rows[int(i)] for i in used), words)


def at_rows(pair: Pair, known: Completed, points: Array) -> Place:
    """The rows of an array (N, I) in network units; the region is the box that they span."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    task = _within(_task(pair, known, CUBE), lower, upper)
    used = np.linspace(0, len(points) - 1, min(len(points), _affordable(task))).astype(int)
    words = plural(len(used), "given row")
    if len(used) < len(points):
        words = f"{count(len(used))} of the {plural(len(points), 'given row')}"
    return Place(task, np.ascontiguousarray(points[used]), tuple(used.tolist()), words)


def _within(task: Task, lower: Array, upper: Array) -> Task:
    ends = (tuple(Fraction(x) for x in end.tolist()) for end in (lower, upper))
    low, high = ends
    return replace(task, lower_exact=low, upper_exact=high, lower=floats_below(low), upper=floats_above(high))


def _task(pair: Pair, known: Completed, where: Where) -> Task:
    """The claim that both are equal on the region. InputError where the spec of that cannot be used."""
    logits = pair.reference.stripped is not None or pair.candidate.stripped is not None
    written = draft(pair, known.inputs, where, What(eps="1", gives="logits" if logits else None), Path())
    networks: Mapping[str, Network] = {
        pair.reference_name: pair.reference,
        pair.candidate_name: pair.candidate,
    }
    try:
        (task,) = compiler.loads(printer.text(written), directory=".", networks=networks).tasks
    except SpecError as problem:
        first = problem.diagnostics[0]
        raise InputError(first.message + (f"; {first.help}" if first.help else "")) from None
    return replace(task, property=Epsilon(Fraction(0)))


def _drawn(task: Task, box: str) -> Place:
    """Points drawn uniformly from the box of a task, the same ones every time."""
    draw = np.random.default_rng(0).uniform(size=(_affordable(task), len(task.lower)))
    points = np.clip(task.lower * (1.0 - draw) + task.upper * draw, task.lower, task.upper)  # nothing overflows so
    return Place(task, np.ascontiguousarray(points), None, f"{plural(len(points), 'random point')} of {box}")


def _affordable(task: Task) -> int:
    products = max(1, task.reference.products + task.candidate.products)
    return int(np.clip(_WORK / products, _FEWEST, _MOST))


def _box_in_words(where: Where, *, chosen: bool) -> str:
    if chosen:
        return f"the region {_region_in_words(where)}"
    return "the cube -1 .. 1, as nothing is known of the inputs; --data, or --lower and --upper, would say"


def _region_in_words(where: Where) -> str:
    if where.sigma is not None:
        return f"within {where.sigma} sigma"
    several = "," in f"{where.lower}{where.upper}"
    return "in the bounds that were given" if several else f"from {where.lower} to {where.upper}"
