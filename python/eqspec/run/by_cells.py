"""Claims decided on the finitely many cells of a region: every one is run, exactly.

Networks that begin with steps, or whose inputs lie on lattices, are constant on each cell (`networks.cells`). All cells
are evaluated together in floats with proven errors. Where these do not settle the claim, or a level was not certain, a
cell is evaluated in rationals by itself. A cell that breaks the claim is replayed at the point that stands for it, so
the witness is one like any other; the claim is proved if it holds in every cell. Constraints of the region are only
asked about by the replay: what holds on the box holds on its part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.cells import Cells, CertainProgram, InputSteps, Values, cut, find
from eqspec.networks.cells.certain_values import Given, grain
from eqspec.networks.cells.input_steps import within_limits
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.network import Network
from eqspec.property import Containment
from eqspec.replay.holding import holds, surely
from eqspec.replay.replay import Replay
from eqspec.replay.violation import Enclosure
from eqspec.run.by_grids import region_of
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

MOST_CELLS = 1 << 16
_TOGETHER = 1 << 22
"""Numbers of a layer that are held at once."""
_MOST_ALONE = 1 << 12
"""Cells that are evaluated in rationals, each by itself."""


@dataclass(frozen=True)
class Decided:
    """What running all cells says: proved, or a witness, or neither; and how many cells there are."""

    cells: int | None
    proved: bool = False
    witness: Witness | None = None


def by_cells(task: Task, replay: Replay, stop: Callable[[], bool] | None = None, most: int = MOST_CELLS) -> Decided:
    """Decide a task by its cells, if there are at most so many. KeyboardInterrupt where `stop` says so."""
    networks = (task.reference, task.candidate)
    if isinstance(task.property, Containment) or not all(within_limits(network.steps) for network in networks):
        return Decided(None)
    found = [find(network.steps, network.input_size) for network in networks]
    cells = cut(region_of(task), found, most)
    if not isinstance(cells, Cells):
        return Decided(cells)
    run = [_Run(network, steps, cells) for network, steps in zip(networks, found, strict=True)]
    widest = max([len(cells.numbers), *(step.rows for network in networks for step in network.steps)])
    some, alone, certain = max(1, _TOGETHER // widest), 0, True
    for start in range(0, cells.count, some):
        if stop is not None and stop():
            raise KeyboardInterrupt
        chosen = cells.choices(start, min(start + some, cells.count))
        for place in _unsettled(task, run, chosen):
            alone += 1
            if stop is not None and stop():
                raise KeyboardInterrupt
            point = cells.point(chosen[:, place].tolist())
            if (witness := replay.replay(point)) is not None:
                return Decided(cells.count, witness=witness)
            certain = certain and alone <= _MOST_ALONE and _holds_at(task, point)
            if not certain and alone > _MOST_ALONE:
                return Decided(cells.count)
    return Decided(cells.count, proved=certain)


def _unsettled(task: Task, run: Sequence[_Run], chosen: NDArray[np.intp]) -> list[int]:
    """The cells, by their place among these, where a closer look is needed: one for each pair of exact outputs."""
    (f, open_f), (g, open_g) = (one(chosen) for one in run)
    turned = task.space.decide == "min"
    unsure = open_f | open_g
    left = np.flatnonzero(unsure | ~surely(task.property, f.ends(), g.ends(), lowest_wins=turned))
    exact = ~unsure
    for values in (f, g):
        if values.radius is not None:
            exact &= (values.radius == 0.0).all(axis=0)
    sharp, rest = left[exact[left]], left[~exact[left]]
    outputs = np.concatenate([f.value[:, sharp], g.value[:, sharp]])
    if not len(sharp):
        return list(rest.tolist())
    _, first = np.unique(outputs, axis=1, return_index=True)
    closer = [place for place in sharp[np.sort(first)].tolist() if not _holds(task, f.value, g.value, place, turned)]
    return [*closer, *rest.tolist()]


def _holds(task: Task, f: Array, g: Array, place: int, turned: bool) -> bool:
    """Whether the claim holds for exact outputs."""
    ends = [[(Fraction(x), Fraction(x)) for x in outputs[:, place].tolist()] for outputs in (f, g)]
    return holds(task.property, ends[0], ends[1], lowest_wins=turned)


def _holds_at(task: Task, point: Sequence[Fraction]) -> bool:
    """Whether the claim holds at a point for certain, in rationals."""
    ends: list[list[Enclosure]] = []
    for network in (task.reference, task.candidate):
        try:
            ends.append(network.evaluate_exact(point))
        except (UndefinedError, OverflowError):
            return False
    return holds(task.property, ends[0], ends[1], lowest_wins=task.space.decide == "min")


class _Run:
    """A network on the cells of a region: what its input steps give for each cell is known from the start."""

    def __init__(self, network: Network, steps: InputSteps, cells: Cells) -> None:
        self._program = CertainProgram(network.steps)
        wide = max(map(len, cells.numbers))
        self._inputs = np.zeros((len(cells.numbers), wide))
        for place, numbers in enumerate(cells.numbers):
            self._inputs[place, : len(numbers)] = [float(x) for x in numbers]
        self._off = np.zeros_like(self._inputs)
        for place, numbers in enumerate(cells.numbers):
            for k, x in enumerate(numbers):
                if (apart := abs(x - Fraction(self._inputs[place, k]))) > 0:
                    self._off[place, k] = np.nextafter(float(apart), np.inf)
        self._given = _tables(steps, cells)

    def __call__(self, chosen: NDArray[np.intp]) -> tuple[Values, NDArray[np.bool_]]:
        """Outputs (O, N) at cells (I, N), and for which of them they are not known."""
        places = np.arange(len(chosen))[:, None]
        off = self._off[places, chosen]
        value = self._inputs[places, chosen]
        inputs = Values(value, off if off.any() else None, grain(value[off == 0.0]))
        given = {}
        for step, (rows, at, table) in self._given.items():
            values = table[np.arange(len(rows))[:, None], chosen[at]]
            given[step] = Given(rows, Values(values, None, grain(values)))
        return self._program(inputs, given)


_Tables = dict[int, tuple[NDArray[np.intp], NDArray[np.intp], Array]]


def _tables(steps: InputSteps, cells: Cells) -> _Tables:
    """For each step the rows that are steps of inputs, the inputs they read, and their values in each cell.

    Rows with a value that is no float are left out: they are computed from the number that stands for the cell.
    """
    by_curve: dict[Curve, list[tuple[int, int, int, list[Fraction]]]] = {}
    for one in steps.found:
        sums = [one.factor * x + one.offset for x in cells.numbers[one.place]]
        by_curve.setdefault(one.curve, []).append((one.step, one.row, one.place, sums))
    made: dict[int, list[tuple[int, int, list[float]]]] = {}
    for curve, rows in by_curve.items():
        vector = Vector.of([x for *_, sums in rows for x in sums])
        values = iter(applied(Curves.all(curve), vector, 0).fractions())
        for step, row, place, sums in rows:
            exact = [next(values)[0] for _ in sums]
            floats = [float(x) for x in exact]
            if all(Fraction(x) == y for x, y in zip(floats, exact, strict=True)):
                made.setdefault(step, []).append((row, place, floats))
    tables: _Tables = {}
    for step, parts in made.items():
        table = np.zeros((len(parts), max(len(values) for *_, values in parts)))
        for k, (_, _, values) in enumerate(parts):
            table[k, : len(values)] = values
        rows_of, places = (np.array([part[k] for part in parts], np.intp) for k in (0, 1))
        tables[step] = rows_of, places, table
    return tables
