"""Claims decided on the finitely many cells of a region: every one is run, exactly.

Networks that begin with steps, or whose inputs lie on lattices, are constant on each cell (`networks.cells`). All cells
are evaluated together in floats with proven errors. Where these do not settle the claim, or a level was not certain, a
cell is evaluated in rationals by itself. A cell that breaks the claim is replayed at the point that stands for it, so
the witness is one like any other; the claim is proved if it holds in every cell. Constraints of the region are only
asked about by the replay: what holds on the box holds on its part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.cells import Cells, CertainProgram, InputSteps, Values, cut, find
from eqspec.networks.cells.certain_values import Given, Watch
from eqspec.networks.cells.input_steps import Line, within_limits
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.grain import grain
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS
from eqspec.property import Containment, Guarded, NeverWraps
from eqspec.replay.holding import asks_nothing, holds, likely_met, surely
from eqspec.replay.replay import Replay
from eqspec.replay.violation import Enclosure
from eqspec.run.by_grids import region_of
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

MOST_CELLS, FEW_CELLS = 1 << 16, 1 << 12
_TOGETHER = 1 << 22
"""The most numbers of one layer that are held in memory at once."""
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


def by_cells(task: Task, replay: Replay, check: Callable[[], None], most: int = MOST_CELLS) -> Decided:
    """Decide a task by its cells, if there are at most `most`. `check` is called now and then, and may raise."""
    about_one = isinstance(task.property, Containment)
    networks = (task.candidate,) if about_one else (task.reference, task.candidate)
    if not all(within_limits(network.steps) for network in networks):
        return Decided(None)
    prepared = [_prepared(network) for network in networks]
    cells = cut(region_of(task), [steps for steps, _ in prepared], most, outside=about_one)
    if not isinstance(cells, Cells):
        return Decided(cells)
    run = [_Run(program, steps, cells) for steps, program in prepared]
    widest = max([len(cells.numbers), *(step.rows for network in networks for step in network.steps)])
    some, alone, certain, met = max(1, _TOGETHER // widest), 0, True, False
    for start in range(0, cells.count, some):
        check()
        chosen = cells.choices(start, min(start + some, cells.count))
        if about_one:
            unsettled = _leaving(task, run[0], chosen)
        else:
            known = run[0](chosen)
            unsettled = _unsettled(task, known, run[1](chosen), check)
            met = met or _likely_met(task, known[0], known[1] | _outside(task, run[0], chosen))
        for place in unsettled:
            alone += 1
            check()
            point = cells.point(chosen[:, place].tolist())
            if (witness := replay.replay(point)) is not None:
                return Decided(cells.count, witness=witness)
            certain = certain and alone <= _MOST_ALONE and _holds_at(task, point)
            if not certain and alone > _MOST_ALONE:
                return Decided(cells.count)
    vacuous = certain and not met and _asks_nothing(task, run[0], some, check)
    return Decided(cells.count, proved=certain, vacuous=vacuous)


def _likely_met(task: Task, values: Values, unsure: NDArray[np.bool_]) -> bool:
    """Whether outputs of the reference meet the guard of the claim by more than they round; no proof."""
    claim, turned = task.property, task.space.decide == "min"
    return isinstance(claim, Guarded) and likely_met(claim, values.value[:, ~unsure], lowest_wins=turned)


def _outside(task: Task, run: _Run, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of some cells are single points that miss a constraint of the region by more than is rounded here."""
    found = np.zeros(chosen.shape[1], bool)
    grids = task.lattices or (None,) * len(task.lower_exact)
    ends = zip(grids, task.lower_exact, task.upper_exact, strict=True)
    if not task.constraints or any(grid is None and low < high for grid, low, high in ends):
        return found
    points = run.inputs(chosen)
    for constraint in task.constraints:
        whole, bound = constraint.whole
        unit = max(map(abs, (*whole, bound)), default=0) or 1
        row, limit = np.array([float(Fraction(a, unit)) for a in whole]), float(Fraction(bound, unit))
        size = np.abs(row) @ np.abs(points) + abs(limit)
        found |= row @ points - limit > 1e-9 * size
    return found


def _asks_nothing(task: Task, reference: _Run, some: int, check: Callable[[], None]) -> bool:
    """Whether the guard of the claim is met in no cell, which is not likely to be met in one.

    `some` cells are evaluated together, once more: this is rarely asked, and all of them need not fit into memory.
    """
    claim = task.property
    if not isinstance(claim, Guarded):
        return False
    turned, alone, cells = task.space.decide == "min", 0, reference.cells
    for start in range(0, cells.count, some):
        chosen = cells.choices(start, min(start + some, cells.count))
        chosen = chosen[:, ~_outside(task, reference, chosen)]
        if not chosen.size:
            continue
        values, unsure = reference(chosen)
        outputs = np.concatenate([*values.ends(), unsure[None]])
        for place in np.sort(np.unique(outputs, axis=1, return_index=True)[1]).tolist():
            check()
            alone += 1
            if alone > _MOST_ALONE or not _asks_nothing_at(task, claim, cells.point(chosen[:, place].tolist()), turned):
                return False
    return True


def _asks_nothing_at(task: Task, claim: Guarded, point: Sequence[Fraction], turned: bool) -> bool:
    try:
        return asks_nothing(claim, task.reference.evaluate_exact(point), lowest_wins=turned)
    except (UndefinedError, OverflowError):
        return False


_known: WeakKeyDictionary[Network, tuple[InputSteps, CertainProgram]] = WeakKeyDictionary()


def _prepared(network: Network) -> tuple[InputSteps, CertainProgram]:
    """What depends on the network alone, and not on the region."""
    if (known := _known.get(network)) is None:
        known = _known[network] = find(network.steps, network.input_size), CertainProgram(network.steps)
    return known


def _leaving(task: Task, run: _Run, chosen: NDArray[np.intp]) -> list[int]:
    """The cells, by their place among these, where a type may be left."""
    watch = Watch(isinstance(task.property, NeverWraps), np.zeros(chosen.shape[1], bool))
    _, unsure = run(chosen, watch)
    return list(np.flatnonzero(watch.outside | unsure).tolist())


_Known: TypeAlias = tuple[Values, NDArray[np.bool_]]
"""Outputs (O, N) at some cells, and for which of them they are not known."""


def _unsettled(task: Task, reference: _Known, candidate: _Known, check: Callable[[], None]) -> list[int]:
    """The cells, by their place among these, where a closer look is needed: one for each pair of exact outputs."""
    (f, open_f), (g, open_g) = reference, candidate
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


def _holds_at(task: Task, point: Sequence[Fraction]) -> bool:
    """Whether the claim holds at a point for certain, in rationals, where no replay breaks it."""
    if isinstance(task.property, Containment):  # the replay has seen all levels as they are
        return task.candidate.exact and task.candidate.rational
    ends: list[list[Enclosure]] = []
    for network in (task.reference, task.candidate):
        try:
            ends.append(network.evaluate_exact(point))
        except (UndefinedError, OverflowError):
            return False
    return holds(task.property, ends[0], ends[1], lowest_wins=task.space.decide == "min")


class _Run:
    """A network on the cells of a region: what its input steps give for each cell is known from the start."""

    def __init__(self, program: CertainProgram, steps: InputSteps, cells: Cells) -> None:
        self._program = program
        self._inputs = np.zeros((len(cells.numbers), max(map(len, cells.numbers))))
        self._off = np.zeros_like(self._inputs)
        nearest: dict[int, tuple[list[float], list[float]]] = {}
        for place, numbers in enumerate(cells.numbers):
            if id(numbers) not in nearest:
                nearest[id(numbers)] = _in_floats(numbers)
            self._inputs[place, : len(numbers)], self._off[place, : len(numbers)] = nearest[id(numbers)]
        self._given, self._steps, self.cells = _tables(steps, cells), steps, cells
        whole = {number for number, (rows, *_) in self._given.items() if len(rows) == program.steps[number].rows}
        reading = (number for number, step in enumerate(program.steps) if INPUTS in step.sources)
        self._needed = any(number not in whole for number in reading)

    def inputs(self, chosen: NDArray[np.intp]) -> Array:
        """The points (I, N) that stand for cells, rounded."""
        found: Array = self._inputs[np.arange(len(chosen))[:, None], chosen]
        return found

    def __call__(self, chosen: NDArray[np.intp], watch: Watch | None = None) -> tuple[Values, NDArray[np.bool_]]:
        """Outputs (O, N) at cells (I, N), and for which of them they are not known."""
        if watch is not None:
            for wraps, place, outside in self._types:
                if watch.wraps == wraps:
                    watch.outside[outside[chosen[place]]] = True
        given = {}
        for step, (rows, at, table, fine) in self._given.items():
            given[step] = Given(rows, Values(table[np.arange(len(rows))[:, None], chosen[at]], None, fine))
        return self._program(self._at(chosen), given, watch)

    @cached_property
    def _types(self) -> list[tuple[bool, int, NDArray[np.bool_]]]:
        return _types(self._steps, self.cells)

    def _at(self, chosen: NDArray[np.intp]) -> Values:
        """The inputs, as far as anything reads them that is not given."""
        if not self._needed:
            return Values(np.broadcast_to(0.0, chosen.shape))
        places = np.arange(len(chosen))[:, None]
        value, off = self._inputs[places, chosen], self._off[places, chosen]
        return Values(value, off if off.any() else None, grain(value[off == 0.0]))


def _in_floats(numbers: Sequence[Fraction]) -> tuple[list[float], list[float]]:
    """Numbers as floats, and how far these are off."""
    near = [float(x) for x in numbers]
    apart = [abs(x - Fraction(y)) for x, y in zip(numbers, near, strict=True)]
    return near, [float(np.nextafter(float(off), np.inf)) if off else 0.0 for off in apart]


_Tables = dict[int, tuple[NDArray[np.intp], NDArray[np.intp], Array, int]]


def _tables(steps: InputSteps, cells: Cells) -> _Tables:
    """For each step the rows that are steps of inputs, the inputs they read, their values in each cell and the grain.

    Rows with a value that is no float are left out: they are computed from the number that stands for the cell.
    """
    known: dict[tuple[Line, int], list[float] | None] = {}  # equal numbers are one tuple
    made: dict[int, list[tuple[int, int, list[float]]]] = {}
    for one in steps.found:
        numbers = cells.numbers[one.place]
        if (one.line, id(numbers)) not in known:
            known[one.line, id(numbers)] = _values(one.line, numbers)
        if (values := known[one.line, id(numbers)]) is not None:
            made.setdefault(one.step, []).append((one.row, one.place, values))
    tables: _Tables = {}
    for step, parts in made.items():
        table = np.zeros((len(parts), max(len(values) for *_, values in parts)))
        for k, (_, _, values) in enumerate(parts):
            table[k, : len(values)] = values
        rows_of, places = (np.array([part[k] for part in parts], np.intp) for k in (0, 1))
        tables[step] = rows_of, places, table, grain(table)
    return tables


def _types(steps: InputSteps, cells: Cells) -> list[tuple[bool, int, NDArray[np.bool_]]]:
    """The steps of inputs whose type is left: whether they wrap, the input, and in which of its cells that happens."""
    known: dict[tuple[Line, int], NDArray[np.bool_]] = {}
    found = {}
    for one in steps.found:
        numbers, q = cells.numbers[one.place], one.line.quantiser
        if q is None:
            continue
        if (one.line, id(numbers)) not in known:
            levels = [one.line.level(q, x) for x in numbers]
            known[one.line, id(numbers)] = np.array([not q.low <= level <= q.high for level in levels])
        if (outside := known[one.line, id(numbers)]).any():
            found[one.place, one.line] = q.wraps, one.place, outside
    return list(found.values())


def _values(line: Line, numbers: Sequence[Fraction]) -> list[float] | None:
    """The values of a step, None where one is no float."""
    if (q := line.quantiser) is not None:
        exact = [q.value_of(line.level(q, x)) for x in numbers]
    else:
        vector = Vector.of([line.factor * x + line.offset for x in numbers])
        exact = [value for value, _ in applied(Curves.all(line.curve), vector, 0).fractions()]
    floats = [float(x) for x in exact]
    return floats if all(Fraction(x) == y for x, y in zip(floats, exact, strict=True)) else None
