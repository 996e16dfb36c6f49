"""Claims decided on the finitely many cells of a region: every one is run, exactly.

Networks that begin with steps, or whose inputs lie on lattices, are constant on each cell (`networks.cells`). Cells
are evaluated together, many at once, in floats with proven errors. Where these do not settle the claim, or a level was
not certain, a cell is evaluated in rationals by itself. A cell that breaks the claim is replayed at the point that
stands for it, so the witness is one like any other; the claim is proved if it holds in every cell. Constraints of the
region are only asked about by the replay: what holds on the box holds on its part. Where the point of a cell breaks
the claim and misses a constraint, other points of the cell may meet it, so the cell is settled only if none does
(`_misses`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from operator import mul

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.cells import Cells
from eqspec.networks.cells.certain_values import Watch
from eqspec.networks.cells.cutting import MOST_CUTS
from eqspec.networks.enclosure import Array
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.network import Network
from eqspec.property import Containment, Guarded, NeverWraps
from eqspec.replay.holding import asks_nothing, holds, likely_met, surely
from eqspec.replay.replay import Replay, contains
from eqspec.run.by_grids import region_of
from eqspec.run.cell_runs import CellRuns, Known, Run, runs_on
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

MOST_CELLS, FEW_CELLS = 1 << 16, 1 << 12
_MOST_APART = 1 << 20
"""The most cells of regions whose points constraints tell apart; with more, points of one value are one cell again."""
_MOST_ALONE = 1 << 12
"""The most cells that are evaluated one by one in rational arithmetic."""


@dataclass(frozen=True)
class Decided:
    """The outcome of evaluating every cell: proved, or a witness, or neither; and how many cells there are.

    `vacuous` says of a proof that no cell meets the guard of the claim.
    """

    cells: int | None
    proved: bool = False
    witness: Witness | None = None
    vacuous: bool = False

    @property
    def settled(self) -> bool:
        """Whether the task is decided by this."""
        return self.proved or self.witness is not None


def by_cells(
    task: Task, replay: Replay, check: Callable[[], None], most: int = MOST_CELLS, *, threads: int = 1
) -> Decided:
    """Decide a task by its cells, if there are at most `most`. `check` is called now and then, and may raise."""
    cells = cells_of(task, most)
    return on_cells(task, replay, check, cells, threads=threads) if isinstance(cells, CellRuns) else Decided(cells)


def cells_of(task: Task, most: int, *, cuts: int = MOST_CUTS) -> CellRuns | int | None:
    """The networks of a claim on the cells of its region; how many if more than `most`, None if infinitely many.

    `cuts` limits the cells of all inputs, added up. Of inputs on a lattice that constraints are about, every point is a
    cell if there are so few, so that a cell lies in the region or beside it.
    """
    outside = isinstance(task.property, Containment)
    run_on = partial(runs_on, region_of(task), asked(task), outside=outside, cuts=cuts)
    bound = {i for constraint in task.constraints for i, a in enumerate(constraint.coefficients) if a}
    apart = sorted(bound & {i for i, lattice in enumerate(task.lattices) if lattice is not None})
    if apart and isinstance(cells := run_on(min(most, _MOST_APART), apart=apart), CellRuns):
        return cells
    return run_on(most)


def asked(task: Task) -> tuple[Network, ...]:
    """The networks that the claim is about, the candidate last."""
    return (task.candidate,) if isinstance(task.property, Containment) else (task.reference, task.candidate)


def on_cells(
    task: Task,
    replay: Replay,
    check: Callable[[], None],
    cells: CellRuns,
    *,
    threads: int = 1,
    proved: Callable[[int], None] | None = None,
) -> Decided:
    """Decide a task by these cells; `proved` is told how many of them the claim is known to hold in."""
    about_one = isinstance(task.property, Containment)
    count, alone, certain, met = cells.cells.count, 0, True, False
    seen = about_one and task.candidate.exact and task.candidate.rational  # the replay sees all levels as they are
    for start in range(0, count, cells.together):
        check()
        part = range(start, min(start + cells.together, count))
        beside = _beside(task, cells.runs[0], part)
        if about_one:
            unsettled = _leaving(task, cells.runs[0], part, beside, threads)
        else:
            reference, candidate = cells.values(part, threads)
            unsettled = _unsettled(task, reference, candidate, beside, check)
            met = met or _likely_met(task, reference, beside)
        for place in unsettled:
            alone += 1
            check()
            here = cells.cells.choices([start + place])
            one = here[:, 0].tolist()
            if alone <= _MOST_ALONE and _holds_at(task, cells, one):
                continue
            if (witness := replay.replay(point := cells.cells.point(one))) is not None:
                return Decided(count, witness=witness)
            whole = contains(task, point) or _misses(task, cells.runs[0], here)
            if not whole and (witness := replay.replay(_moved_inside(task, point))) is not None:
                return Decided(count, witness=witness)
            certain = certain and seen and whole and alone <= _MOST_ALONE
            if not certain and alone > _MOST_ALONE:
                return Decided(count)
        if certain and proved is not None:
            proved(part.stop)
    vacuous = certain and not met and _asks_nothing(task, cells, check)
    return Decided(count, proved=certain, vacuous=vacuous)


def says_nothing(task: Task, check: Callable[[], None], cells: CellRuns, *, threads: int = 1) -> bool:
    """Whether the guard of a claim that holds is met in none of these cells."""
    if not isinstance(task.property, Guarded):
        return False
    count = cells.cells.count
    for start in range(0, count, cells.together):
        check()
        part = range(start, min(start + cells.together, count))
        if _likely_met(task, cells.runs[0](part, threads=threads), _beside(task, cells.runs[0], part)):
            return False
    return _asks_nothing(task, cells, check)


def _likely_met(task: Task, reference: Known, beside: NDArray[np.bool_]) -> bool:
    """Whether outputs of the reference meet the guard of the claim by more than they round; no proof."""
    claim, turned = task.property, task.space.decide == "min"
    values, unsure = reference
    return isinstance(claim, Guarded) and likely_met(claim, values.value[:, ~(unsure | beside)], lowest_wins=turned)


def _beside(task: Task, run: Run, part: range) -> NDArray[np.bool_]:
    """Which of these cells are not in the region, for certain."""
    return _outside(task, run, run.cells.choices(part)) if task.constraints else np.zeros(len(part), bool)


def _outside(task: Task, run: Run, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of some cells miss a constraint of the region at all of their points, by more than is rounded here.

    Where the cells of an input are no single points, it may be any number of the region.
    """
    found = np.zeros(chosen.shape[1], bool)
    if not task.constraints:
        return found
    points, single = run.inputs(chosen), _single(task, run.cells)
    farthest = np.maximum(np.abs(task.lower), np.abs(task.upper))
    for constraint in task.constraints:
        whole, bound = constraint.whole
        unit = max(map(abs, (*whole, bound)), default=0) or 1
        row, limit = np.array([float(Fraction(a, unit)) for a in whole]), float(Fraction(bound, unit))
        least = np.where(single, row, 0.0) @ points + np.minimum(row * task.lower, row * task.upper)[~single].sum()
        found |= least - limit > 1e-9 * (np.abs(row) @ farthest + abs(limit))
    return found


def _misses(task: Task, run: Run, chosen: NDArray[np.intp]) -> bool:
    """Whether no point of a cell, whose own point is not in the region, is in it: other points of it may well be."""
    return bool(_single(task, run.cells).all() or _outside(task, run, chosen)[0])


def _moved_inside(task: Task, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The point moved, for each constraint that it misses, to the corner of the box that misses it least, until it is
    met. It may end in another cell, or miss another constraint: a candidate and no more.
    """
    found = list(point)
    for constraint in task.constraints:
        ends = zip(constraint.coefficients, task.lower_exact, task.upper_exact, found, strict=True)
        to = [x if not a else low if a > 0 else high for a, low, high, x in ends]
        value, least = (sum(map(mul, constraint.coefficients, x), Fraction(0)) for x in (found, to))
        if value > constraint.bound > least:
            share = (value - constraint.bound) / (value - least)
            share = (1 + share) / 2 if constraint.strict else share
            found = [x + share * (end - x) for x, end in zip(found, to, strict=True)]
    return tuple(found)


def _single(task: Task, cells: Cells) -> NDArray[np.bool_]:
    """The inputs each of whose cells is one number; several points of a lattice may lie in one."""
    grids = task.lattices or (None,) * len(task.lower_exact)
    inputs = zip(grids, task.lower_exact, task.upper_exact, map(len, cells.numbers), strict=True)
    return np.array([a == b or (grid is not None and grid.points(a, b) == count) for grid, a, b, count in inputs])


def _asks_nothing(task: Task, cells: CellRuns, check: Callable[[], None]) -> bool:
    """Whether the guard of the claim is met in no cell, which is not likely to be met in one.

    Many cells are evaluated once more: this is rarely asked, and all of them need not fit into memory.
    """
    claim = task.property
    if not isinstance(claim, Guarded):
        return False
    turned, alone, count = task.space.decide == "min", 0, cells.cells.count
    for start in range(0, count, cells.together):
        part = range(start, min(start + cells.together, count))
        chosen = cells.cells.choices(part)
        inside = ~_outside(task, cells.runs[0], chosen)
        if not inside.any():
            continue
        values, unsure = cells.values(part)[0]
        outputs = np.concatenate([*values.ends(), unsure[None]])
        _, first = np.unique(outputs[:, inside], axis=1, return_index=True)
        for place in np.flatnonzero(inside)[np.sort(first)].tolist():
            check()
            alone += 1
            if alone > _MOST_ALONE or not _asks_nothing_at(task, claim, cells, chosen[:, place].tolist(), turned):
                return False
    return True


def _asks_nothing_at(task: Task, claim: Guarded, cells: CellRuns, chosen: Sequence[int], turned: bool) -> bool:
    try:
        return asks_nothing(claim, task.reference.evaluate_exact(cells.cells.point(chosen)), lowest_wins=turned)
    except (UndefinedError, OverflowError):
        return False


def _leaving(task: Task, run: Run, part: range, beside: NDArray[np.bool_], threads: int) -> list[int]:
    """The cells, by their place among these, where a type may be left."""
    watch = Watch(isinstance(task.property, NeverWraps), np.zeros(len(part), bool))
    _, unsure = run(part, watch, threads)
    return list(np.flatnonzero((watch.outside | unsure) & ~beside).tolist())


def _unsettled(
    task: Task, reference: Known, candidate: Known, beside: NDArray[np.bool_], check: Callable[[], None]
) -> list[int]:
    """The cells, by their place among these, where a closer look is needed: one for each pair of exact outputs.

    What is true of the one is true of the others, so none of them may lie `beside` the region.
    """
    (f, open_f), (g, open_g) = reference, candidate
    turned = task.space.decide == "min"
    unsure = open_f | open_g
    left = np.flatnonzero((unsure | ~surely(task.property, f.ends(), g.ends(), lowest_wins=turned)) & ~beside)
    exact = ~unsure
    for values in (f, g):
        if values.radius is not None:
            exact &= (values.radius == 0.0).all(axis=0)
    sharp, rest = left[exact[left]], left[~exact[left]]
    outputs = np.concatenate([f.value[:, sharp], g.value[:, sharp]])
    if not len(sharp):
        return list(rest.tolist())
    _, first = np.unique(outputs, axis=1, return_index=True)
    closer = []
    for place in sharp[np.sort(first)].tolist():
        check()
        if not _holds(task, f.value, g.value, place, turned):
            closer.append(place)
    return [*closer, *rest.tolist()]


def _holds(task: Task, f: Array, g: Array, place: int, turned: bool) -> bool:
    """Whether the claim holds for exact outputs."""
    ends = [[(Fraction(x), Fraction(x)) for x in outputs[:, place].tolist()] for outputs in (f, g)]
    return holds(task.property, ends[0], ends[1], lowest_wins=turned)


def _holds_at(task: Task, cells: CellRuns, chosen: Sequence[int]) -> bool:
    """Whether the claim holds in a cell for certain, in rationals."""
    if isinstance(task.property, Containment):
        return False
    try:
        reference, candidate = cells.exactly((task.reference, task.candidate), chosen)
    except (UndefinedError, OverflowError):
        return False
    return holds(task.property, reference, candidate, lowest_wins=task.space.decide == "min")
