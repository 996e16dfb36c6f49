"""A table of inputs: which of its columns the networks take, and what lies in them.

Columns count from 0. The columns of the networks are those next to each other that hold numbers only and are not
called like a label; where more than one choice is left, nothing is guessed. Rows with missing cells are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.tables import MISSING, ArrayTable, CellError, CsvTable, Table, header_names, load_table
from eqspec.errors import InputError
from eqspec.spec.ast import NOWHERE
from eqspec.spec.findings import Fault
from eqspec.spec.spaces import Names

Floats = NDArray[np.float64]
LABELS = frozenset(
    ("label", "labels", "class", "classes", "class_id", "class_name", "category", "species", "target", "targets", "y",
     "output", "outputs", "truth", "prediction")
)  # fmt: skip
"""What a column is called that holds what a network is to answer."""
_ROW_KEYS = frozenset(("", "id", "index", "row", "split", "fold", "weight"))
"""What a column is called that tells rows apart."""
_LOOKED_AT = 50
"""Rows that say whether a column holds numbers."""


@dataclass(frozen=True)
class Data:
    """The columns `first` to `last` of a table: values (R, I) in float64 of the rows that are complete.

    `names` are those of the header, with units; None without one. `labels` are the texts of the one column beside
    them, if there is just one. `skipped` counts incomplete rows.
    """

    path: str
    table: Table
    first: int
    last: int
    names: Names | None
    values: Floats
    rows: tuple[int, ...]
    labels: tuple[str, ...] | None
    skipped: int

    @cached_property
    def lowest(self) -> tuple[Fraction, ...]:
        """The smallest number of each column, exact."""
        return self._at(np.argmin(self.values, axis=0))

    @cached_property
    def highest(self) -> tuple[Fraction, ...]:
        """The largest number of each column, exact."""
        return self._at(np.argmax(self.values, axis=0))

    @cached_property
    def mean(self) -> Floats:
        """(I,)."""
        mean: Floats = self.values.mean(axis=0)
        return mean

    @cached_property
    def std(self) -> Floats:
        """(I,), of the population, as scikit-learn's StandardScaler has it."""
        std: Floats = self.values.std(axis=0)
        return std

    @property
    def constant(self) -> tuple[int, ...]:
        """Columns with one value only."""
        return tuple(int(i) for i in np.flatnonzero(self.values.min(axis=0) == self.values.max(axis=0)))

    def _at(self, places: NDArray[np.intp]) -> tuple[Fraction, ...]:
        return tuple(
            self.table.row(self.rows[int(place)], self.first + i, self.first + i)[0] for i, place in enumerate(places)
        )


def read_data(path: str, inputs: int, columns: tuple[int, int] | None = None) -> Data:
    """Read a csv, npy or npz table for networks with so many inputs. InputError where that is not possible."""
    if not Path(path).is_file():
        raise InputError(f"cannot read {path}: no such file")
    try:
        table = load_table(Path(path), path, NOWHERE)
        if table.rows == 0:
            raise InputError(f"{path} has no rows of numbers")
        first, last = _columns(table, path, inputs) if columns is None else _chosen(table, path, inputs, columns)
        names = None if table.header is None else _distinct(header_names(table, path, (first, last), NOWHERE))
    except Fault as fault:
        if fault.diagnostic is None:
            raise
        hint = f"; {fault.diagnostic.help}" if fault.diagnostic.help else ""
        raise InputError(f"{fault.diagnostic.message}{hint}") from None
    values, rows = _values(table, path, first, last)
    return Data(
        path, table, first, last, names, values, rows, _labels(table, first, last, rows), table.rows - len(rows)
    )


def _columns(table: Table, path: str, inputs: int) -> tuple[int, int]:
    """The columns the networks take, where there is just one choice."""
    usable = [_is_input(table, column) for column in range(table.columns)]
    choices = [start for start in range(table.columns - inputs + 1) if all(usable[start : start + inputs])]
    if len(choices) == 1 or table.columns == inputs:
        start = choices[0] if choices else 0
        return start, start + inputs - 1
    listed = "" if table.header is None else f" ({', '.join(f'{i} {n}' for i, n in enumerate(table.header[:40]))})"
    if choices:
        reason = f"{len(choices)} choices of {inputs} columns next to each other"
    else:
        reason = f"no {inputs} columns of numbers next to each other"
    raise InputError(
        f"{path} has {table.columns} columns{listed}, the networks take {inputs}, and there are {reason}; "
        f"say which with --columns FIRST..LAST, counted from 0"
    )


def _chosen(table: Table, path: str, inputs: int, columns: tuple[int, int]) -> tuple[int, int]:
    first, last = columns
    if last - first + 1 != inputs:
        raise InputError(f"--columns {first}..{last} are {last - first + 1} columns, the networks take {inputs}")
    if last >= table.columns:
        raise InputError(f"--columns {first}..{last}: {path} has {table.columns} columns, counted from 0")
    return first, last


def _is_input(table: Table, column: int) -> bool:
    if table.header is not None and table.header[column].strip().casefold() in LABELS | _ROW_KEYS:
        return False
    return all(_number(table, row, column) is not None for row in range(min(table.rows, _LOOKED_AT)))


def _number(table: Table, row: int, column: int) -> float | None:
    """The number of a cell; NaN where it is missing, None where something else stands there."""
    try:
        return float(table.row(row, column, column)[0])
    except CellError as cell:
        return math.nan if cell.text.casefold() in MISSING else None
    except OverflowError:
        return None


def _values(table: Table, path: str, first: int, last: int) -> tuple[Floats, tuple[int, ...]]:
    """All complete rows as floats, and which they are."""
    if isinstance(table, ArrayTable):
        every = table.array.reshape(table.rows, -1)[:, first : last + 1].astype(np.float64)
    else:
        every = np.array([_row(table, path, row, first, last) for row in range(table.rows)], np.float64)
    complete = np.isfinite(every).all(axis=1)
    if not complete.any():
        raise InputError(f"every row of {path} has missing numbers in columns {first}..{last}")
    return np.ascontiguousarray(every[complete]), tuple(int(i) for i in np.flatnonzero(complete))


def _row(table: Table, path: str, row: int, first: int, last: int) -> list[float]:
    assert isinstance(table, CsvTable)
    cells = table.split(row)[first : last + 1]
    cells += [""] * (last - first + 1 - len(cells))
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        pass
    found = [_number(table, row, first + i) for i in range(len(cells))]
    for offset, number in enumerate(found):
        if number is None:
            name = first + offset if table.header is None else repr(table.header[first + offset])
            raise InputError(
                f"{path}, row {row}, column {name}: {cells[offset]!r} is no number; mend or remove the row"
            )
    return [math.nan if number is None else number for number in found]


def _labels(table: Table, first: int, last: int, rows: tuple[int, ...]) -> tuple[str, ...] | None:
    """The texts of the column beside the inputs: the one that is left, or the one that is called like a label."""
    if not isinstance(table, CsvTable):
        return None
    beside = [c for c in range(table.columns) if not first <= c <= last]
    if len(beside) > 1 and table.header is not None:
        beside = [c for c in beside if table.header[c].strip().casefold() in LABELS]
    if len(beside) != 1:
        return None
    column = beside[0]
    cells = (table.split(row) for row in rows)
    return tuple(line[column] if column < len(line) else "" for line in cells)


def _distinct(names: Names) -> Names:
    """Names as features: `all` has a meaning of its own in a box."""
    return tuple(("all_" if name == "all" else name, unit) for name, unit in names)
