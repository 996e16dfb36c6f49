"""Networks on all cells of a region, kept from one claim to the next.

What a network gives in the cells is the same whatever is claimed of it, and checks mostly ask several claims of one
pair on one region. So the values of the last region are kept with the candidate, where they are few, and go with it.

Programs of sums, ReLUs, quantisers, lines and tables are run by the core, in parallel, some fifty times as fast as by
`CertainProgram`, which takes all others.

Shapes: cells (N,) by number, or (I, N), for each input which of its cells; outputs (O, N). Sound because equal regions
and the very same networks have the same cells and values, and because the slack that the core is given covers all that
is rounded in any of the cells (`networks.cells.everywhere`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.cells import Cells, CertainProgram, Everywhere, InputSteps, Values, cut, everywhere, find
from eqspec.networks.cells.certain_values import Given, Watch
from eqspec.networks.cells.cutting import MOST_CUTS
from eqspec.networks.cells.input_steps import Line, within_limits
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.grain import grain
from eqspec.networks.grids import Region
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS
from eqspec.replay.violation import Enclosure
from eqspec.run import core
from eqspec.run.core_pairs import steps as steps_for_core

Known = tuple[Values, NDArray[np.bool_]]
"""Outputs (O, N) at some cells, and for which of them they are not known."""
_TOGETHER = 1 << 22
"""The most numbers of one layer, or outputs, that are held in memory at once."""
_PRODUCTS_TOGETHER, _LEAST_TOGETHER = 1 << 26, 1 << 7
"""So many products, but at least so many cells, are the core's work between two looks at the clock."""
_MOST_KEPT = 1 << 18
"""The most outputs that are kept for the next claim; a sixteenth of them of cells that were evaluated exactly."""


class CellRuns:
    """Networks on the cells of one region."""

    def __init__(self, networks: Sequence[Network], prepared: Sequence[Prepared], cells: Cells) -> None:
        self.cells = cells
        self.runs = [
            Run(network, program, steps, cells) for network, (steps, program) in zip(networks, prepared, strict=True)
        ]
        self.quick = all(run.quick for run in self.runs)
        """Whether the core runs all networks."""
        self.products = sum(network.products for network in networks)
        widest = max([len(cells.numbers), *(step.rows for network in networks for step in network.steps)])
        self.outputs = sum(network.output_size for network in networks)
        self.together = max(1, _TOGETHER // widest)
        """How many cells are evaluated together."""
        if self.quick:
            few = _PRODUCTS_TOGETHER // max(1, self.products)
            self.together = min(max(few, _LEAST_TOGETHER), max(1, _TOGETHER // max(1, self.outputs)))
        self._values: tuple[Known, ...] | None = None
        self._exact: dict[tuple[int, ...], tuple[list[Enclosure], ...]] = {}

    def values(self, cells: range, threads: int = 1) -> tuple[Known, ...]:
        """Of each network at some cells, which are all of them where `together` says so."""
        whole = len(cells) == self.cells.count
        if whole and self._values is not None:
            return self._values
        found = tuple(run(cells, threads=threads) for run in self.runs)
        if whole and self.cells.count * self.outputs <= _MOST_KEPT:
            self._values = found
        return found

    def exactly(self, networks: Sequence[Network], chosen: Sequence[int]) -> tuple[list[Enclosure], ...]:
        """The outputs of each network at the number that stands for one cell; ArithmeticError where there are none."""
        known = self._exact.get(tuple(chosen))
        if known is None:
            point = self.cells.point(chosen)
            known = tuple(network.evaluate_exact(point) for network in networks)
            if (len(self._exact) + 1) * self.outputs <= _MOST_KEPT >> 4:
                self._exact[tuple(chosen)] = known
        return known


_Question = tuple[Region, bool, tuple[int, ...]]
_latest: WeakKeyDictionary[Network, tuple[list[ref[Network]], _Question, CellRuns]] = WeakKeyDictionary()


def runs_on(
    region: Region,
    networks: Sequence[Network],
    most: int,
    *,
    outside: bool = False,
    apart: Sequence[int] = (),
    cuts: int = MOST_CUTS,
) -> CellRuns | int | None:
    """The networks, the candidate last, on the cells of a region if there are at most so many; else as `cut`."""
    if (kept := _latest.get(networks[-1])) is not None:
        same = len(kept[0]) == len(networks) and all(a() is b for a, b in zip(kept[0], networks, strict=True))
        if same and kept[1] == (region, outside, tuple(apart)) and kept[2].cells.count <= most:
            return kept[2]
    if not all(within_limits(network.steps) for network in networks):
        return None
    prepared = [_prepared(network) for network in networks]
    cells = cut(region, [steps for steps, _ in prepared], most, outside=outside, apart=apart, cuts=cuts)
    if not isinstance(cells, Cells):
        return cells
    made = CellRuns(networks, prepared, cells)
    if cells.count * made.outputs <= _MOST_KEPT:
        _latest[networks[-1]] = [ref(network) for network in networks], (region, outside, tuple(apart)), made
    return made


Prepared = tuple[InputSteps, CertainProgram]
_known: WeakKeyDictionary[Network, Prepared] = WeakKeyDictionary()


def _prepared(network: Network) -> Prepared:
    """What depends on the network alone, and not on the region."""
    if (known := _known.get(network)) is None:
        known = _known[network] = find(network.steps, network.input_size), CertainProgram(network.steps)
    return known


class Run:
    """A network on the cells of a region: what its input steps give for each cell is known from the start."""

    def __init__(self, network: Network, program: CertainProgram, steps: InputSteps, cells: Cells) -> None:
        self._program = program
        self._inputs = np.zeros((len(cells.numbers), max(map(len, cells.numbers))))
        self._off = np.zeros_like(self._inputs)
        nearest: dict[int, tuple[list[float], list[float]]] = {}
        for place, numbers in enumerate(cells.numbers):
            if id(numbers) not in nearest:
                nearest[id(numbers)] = _in_floats(numbers)
            self._inputs[place, : len(numbers)], self._off[place, : len(numbers)] = nearest[id(numbers)]
        self._given, self._steps, self.cells = _tables(steps, cells), steps, cells
        self._whole = [n for n, (rows, *_) in self._given.items() if len(rows) == program.steps[n].rows]
        reading = (number for number, step in enumerate(program.steps) if INPUTS in step.sources)
        self._needed = any(number not in self._whole for number in reading)
        self._core = self._by_core(network)

    @property
    def quick(self) -> bool:
        """Whether the core runs it."""
        return self._core is not None

    def _by_core(self, network: Network) -> tuple[core.CellProgram, Everywhere] | None:
        """The network for the core, with what is known of all cells; None where it is not of its kind."""
        known, tables = {}, list[tuple[list[int], Array] | None]([None] * len(network.steps))
        for number in self._whole:
            rows, places, table, fine = self._given[number]
            order = np.argsort(rows)
            known[number] = Values(np.abs(table[order]).max(axis=1, keepdims=True), None, fine)
            tables[number] = places[order].tolist(), np.ascontiguousarray(table[order])
        off = self._off.max(axis=1, keepdims=True) if self._off.any() else None
        exact = self._inputs[self._off == 0.0]
        inputs = Values(np.abs(self._inputs).max(axis=1, keepdims=True), off, grain(exact))
        found = everywhere(self._program, inputs, known, self.cells.count)
        if found is None:
            return None
        numbers = [row[: len(n)].tolist() for row, n in zip(self._inputs, self.cells.numbers, strict=True)]
        program = steps_for_core(network.steps, network.input_size, [step.function for step in network.steps])
        return core.CellProgram(program, found.rules, found.slack, tables, numbers), found

    def inputs(self, chosen: NDArray[np.intp]) -> Array:
        """The points (I, N) that stand for cells, rounded."""
        found: Array = self._inputs[np.arange(len(chosen))[:, None], chosen]
        return found

    def __call__(self, cells: range, watch: Watch | None = None, threads: int = 1) -> tuple[Values, NDArray[np.bool_]]:
        """Outputs (O, N) at cells, and for which of them they are not known."""
        chosen = None if self._core is not None else self.cells.choices(cells)
        if watch is not None:
            for wraps, place, outside in self._types:
                if watch.wraps == wraps:
                    chosen = self.cells.choices(cells) if chosen is None else chosen
                    watch.outside[outside[chosen[place]]] = True
        if self._core is None:
            assert chosen is not None
            return self._in_numpy(chosen, watch)
        program, everywhere = self._core
        outputs, (unsure, saturated, wrapped) = program.run(cells.start, len(cells), threads=threads)
        if watch is not None:
            watch.outside[wrapped if watch.wraps else saturated] = True
        value, radius = outputs.T, everywhere.radius
        radius = None if radius is None else np.broadcast_to(radius[:, None], value.shape)
        return Values(value, radius, everywhere.grain), unsure

    def _in_numpy(self, chosen: NDArray[np.intp], watch: Watch | None) -> tuple[Values, NDArray[np.bool_]]:
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
        value, off = self.inputs(chosen), self._off[np.arange(len(chosen))[:, None], chosen]
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
    try:
        floats = [float(x) for x in exact]
    except OverflowError:
        return None
    return floats if all(Fraction(x) == y for x, y in zip(floats, exact, strict=True)) else None
