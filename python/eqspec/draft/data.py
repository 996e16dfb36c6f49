"""A table of inputs: which of its columns the networks take, and what lies in them.

Columns count from 0. The columns of the networks are those next to each other that hold numbers only and are not
called like a label; where that leaves more than one choice, a single column at the edge that numbers the classes
decides, and it is said; otherwise nothing is guessed. Rows with missing cells are left out, and counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.csv_table import CellError, CsvTable
from eqspec.compile.first_row import LABEL_NAMES, MISSING, ROW_NAMES, decimal_comma
from eqspec.compile.space_tables import MOST_NUMBERS as MOST_COMPARED
from eqspec.compile.space_tables import LaterRows
from eqspec.compile.tables import ArrayTable, Table, header_names, load_table
from eqspec.draft import row_labels
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.spec.ast import NOWHERE
from eqspec.spec.findings import Fault, Findings
from eqspec.spec.spaces import Names
from eqspec.tasks.observed import Observed
from eqspec.tasks.task import Space

Floats = NDArray[np.float64]
MOST_NUMBERS = 64_000_000
"""Rows times inputs that are looked at, in float64 half a gigabyte."""
_WITH_A_POINT = (
    "write numbers with a point, as pandas.read_csv(OLD, sep=';', decimal=',').to_csv(NEW, index=False) does"
)
_LOOKED_AT = 50
"""Rows that say whether a column holds numbers."""
_NAMED = 3
"""The most choices of columns, and columns beside each, that a message names."""
_NUMBERED_ROWS = 2000
"""Rows that say whether a column numbers classes."""


@dataclass(frozen=True)
class Data:
    """The columns `first` to `last` of a table: values (R, I) in float64 of the rows that are complete.

    `names` are those of the header, with units; None without one. `labels` are the texts of the one column beside
    them, if there is just one, with "" where it is missing. `skipped` are the rows that are not complete, and
    `remarks` say what was taken for what where that is not plain.
    """

    path: str
    table: Table
    first: int
    last: int
    names: Names | None
    values: Floats
    rows: tuple[int, ...]
    labels: tuple[str, ...] | None
    skipped: tuple[int, ...]
    remarks: tuple[str, ...] = ()

    @property
    def features(self) -> Names:
        """The names of the columns, or x0, x1, ... as the language counts them."""
        return tuple((f"x{i}", None) for i in range(self.values.shape[1])) if self.names is None else self.names

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
        """The mean of every column (I,)."""
        mean: Floats = self.values.mean(axis=0)
        return mean

    @cached_property
    def std(self) -> Floats:
        """(I,), of the population, as scikit-learn's StandardScaler has it."""
        std: Floats = self.values.std(axis=0)
        return std

    @cached_property
    def constant(self) -> tuple[int, ...]:
        """Columns with one value only."""
        return tuple(int(i) for i in np.flatnonzero(self.values.min(axis=0) == self.values.max(axis=0)))

    def observed(self, space: Space) -> Observed:
        """The rows, for how near a counterexample is to them; of many, some at even distances."""
        some = self.rows[:: max(1, -(-self.values.size // MOST_COMPARED))]

        def read() -> list[tuple[int, tuple[Fraction, ...]]]:
            return [(row, self.table.row(row, self.first, self.last)) for row in some]

        return Observed(Path(self.path).name, LaterRows(read), space.centre, space.scale)

    def left_out(self) -> str | None:
        """What to say of the rows that are not complete; None if there are none."""
        if not self.skipped:
            return None
        listed = ", ".join(map(str, self.skipped[:5])) + (", ..." if len(self.skipped) > 5 else "")
        return (
            f"{len(self.skipped)} of {self.table.rows} rows of {Path(self.path).name} are left out because numbers are "
            f"missing or not finite in columns {self.first}..{self.last} (rows {listed})"
        )

    def _at(self, places: NDArray[np.intp]) -> tuple[Fraction, ...]:
        return tuple(
            self.table.row(self.rows[int(place)], self.first + i, self.first + i)[0] for i, place in enumerate(places)
        )


def read_data(
    path: str,
    inputs: int,
    columns: tuple[int, int] | None = None,
    outputs: int | None = None,
    labels_in: str | None = None,
) -> Data:
    """Read a csv, npy or npz table for networks with so many inputs. InputError where that is not possible.

    With the number of outputs, a column that numbers as many classes is not taken for an input, nor are as many columns
    that have a 1 for the class of a row. `labels_in` is a file with the labels of the rows.
    """
    row_labels.require(path)
    findings = Findings()
    try:
        table = load_table(Path(path), path, NOWHERE, findings)
        if table.rows == 0:
            raise InputError(f"{path} has no rows of numbers")
        said: list[str] = []
        if columns is None:
            first, last = _columns(table, path, inputs, outputs, said)
        else:
            first, last = _chosen(table, path, inputs, columns)
        names = None if table.header is None else _distinct(header_names(table, path, (first, last), NOWHERE))
        if table.rows * inputs > MOST_NUMBERS:
            raise InputError(
                f"{path} has {table.rows} rows of {inputs} inputs, {table.rows * inputs} numbers; at most "
                f"{MOST_NUMBERS} are looked at; give a part of its rows"
            )
        values, rows, labels = _read(table, path, first, last, outputs, labels_in)
    except Fault as fault:
        if fault.diagnostic is None:
            raise
        hint = f"; {fault.diagnostic.help}" if fault.diagnostic.help else ""
        raise InputError(f"{fault.diagnostic.message}{hint}") from None
    taken = set(rows)
    skipped = tuple(i for i in range(table.rows) if i not in taken)
    remarks = (*said, *(found.message for found in findings.warnings))
    return Data(path, table, first, last, names, values, rows, labels, skipped, remarks)


def _columns(table: Table, path: str, inputs: int, outputs: int | None, said: list[str]) -> tuple[int, int]:
    """The columns the networks take, where there is just one choice; `said` gets what that rests on."""
    usable = _usable(table)
    run, choices = 0, []
    for column, is_usable in enumerate(usable):
        run = run + 1 if is_usable else 0
        if run >= inputs:
            choices.append(column - inputs + 1)
    if len(choices) == 1 or table.columns == inputs:
        start = choices[0] if choices else 0
        return start, start + inputs - 1
    if table.columns < inputs:
        words = _words_of(table)
        raise InputError(
            f"{path} has {_of_columns(table)}, and the networks take {inputs} inputs; give their table{words}"
        )
    listed = "" if table.header is None else f" ({', '.join(f'{i} {n[:30]}' for i, n in enumerate(table.header[:40]))})"
    if choices:
        if outputs is not None and (left := _beside_classes(table, inputs, outputs, choices, said)) is not None:
            return left, left + inputs - 1
        reason = f"{len(choices)} choices of {inputs} columns next to each other"
    else:
        reason = f"no {inputs} columns of numbers next to each other"
        if (comma := _with_comma(table)) is not None:
            raise InputError(f"{path}: {comma!r} has a decimal comma; {_WITH_A_POINT}")
        if (other := _no_number(table)) is not None:
            reason += f" ({other} is no number)"
    raise InputError(
        f"{path} has {table.columns} columns{listed}, the networks take {inputs}, and there are {reason}; "
        f"say which with --columns FIRST..LAST, counted from 0{_what_each_leaves(table, inputs, choices)}"
    )


def _of_columns(table: Table) -> str:
    """How many columns there are, and how cells are separated where one column looks like a mistake."""
    if table.columns != 1 or not isinstance(table, CsvTable):
        return f"{table.columns} columns"
    shown = repr(",".join(table.header) if table.header else table.lines[0])
    return f"1 column, {shown[:60]} (cells are separated by tabs, semicolons, commas, bars | or blanks)"


def _words_of(table: Table) -> str:
    """What to do about columns of words, which networks take as numbers; "" where there are none."""
    if not isinstance(table, CsvTable) or table.header is None:
        return ""
    usable = _usable(table)
    words = [i for i, name in enumerate(table.header) if not usable[i] and name.casefold() not in LABEL_NAMES]
    if not words:
        return ""
    named = f"column{'s' if len(words) > 1 else ''} {_called(table, words[:_NAMED])}"
    return f". In {named} stand words: write them as the numbers that the networks take, as pandas.get_dummies does"


def _no_number(table: Table) -> str | None:
    """A cell of the first rows that is no number, though it has digits or its column has one there, with the column."""
    if not isinstance(table, CsvTable):
        return None
    rows = [_cells(table, row) for row in range(min(table.rows, _LOOKED_AT))]
    found = [[_number(table, cell, column) for column, cell in enumerate(cells)] for cells in rows]
    numeric = [any(x is not None and not math.isnan(x) for x in column) for column in zip(*found, strict=True)]
    for cells, numbers in zip(rows, found, strict=True):
        for column, (cell, number) in enumerate(zip(cells, numbers, strict=True)):
            if number is None and (numeric[column] or any(mark.isdigit() for mark in cell)):
                return f"{cell[:40]!r} in column {_called(table, [column])}"
    return None


def _what_each_leaves(table: Table, inputs: int, choices: Sequence[int]) -> str:
    """The columns beside each of a few choices, which tell them apart better than numbers do."""
    if table.header is None or not 0 < len(choices) <= _NAMED:
        return ""
    told = []
    for start in choices:
        beside = [name[:30] for i, name in enumerate(table.header) if not start <= i < start + inputs]
        if len(beside) > _NAMED:
            return ""
        told.append(f"{start}..{start + inputs - 1} leaves out {', '.join(beside)}")
    return f" ({'; '.join(told)})"


def _with_comma(table: Table) -> str | None:
    """A cell of the first rows that has a decimal comma."""
    if not isinstance(table, CsvTable):
        return None
    first = (cell for row in range(min(table.rows, _LOOKED_AT)) for cell in _cells(table, row))
    return next(filter(decimal_comma, first), None)


def _beside_classes(table: Table, inputs: int, outputs: int, choices: list[int], said: list[str]) -> int | None:
    """The one choice that leaves out the one column which numbers the classes, if there is just one of both."""
    for start in choices:
        marks = [c for c in range(table.columns) if not start <= c < start + inputs]
        if isinstance(table, CsvTable) and row_labels.one_for_each(
            table, partial(_cells, table), marks, outputs, _NUMBERED_ROWS
        ):
            said.append(
                f"columns {_called(table, marks)} are taken for the label, not for inputs, since each row has a 1 in "
                "just one of them; --columns says otherwise"
            )
            return start
    edges = [c for c in range(table.columns) if not all(start <= c < start + inputs for start in choices)]
    classes = max(2, outputs)  # a single output decides between two
    numbering = [column for column in edges if _numbers_classes(table, column, classes)]
    if len(numbering) != 1:
        return None
    left = [start for start in choices if not start <= numbering[0] < start + inputs]
    if len(left) != 1:
        return None
    said.append(
        f"column {_called(table, numbering)} is taken for the label, not for an input, since it numbers {classes} "
        "classes; --columns says otherwise"
    )
    return left[0]


def _called(table: Table, columns: list[int]) -> str:
    return ", ".join(str(c) if table.header is None else repr(table.header[c]) for c in columns)


def _numbers_classes(table: Table, column: int, classes: int) -> bool:
    """Whether the column holds just so many whole numbers next to each other, from 0 or 1, each of them repeatedly."""
    found: Counter[float] = Counter()
    for row in range(min(table.rows, _NUMBERED_ROWS)):
        number = _cell(table, row, column)
        if number is None:
            return False
        if not math.isnan(number):
            found[number] += 1
        if len(found) > classes:
            return False
    return sorted(found) in ([*range(classes)], [*range(1, classes + 1)]) and min(found.values()) > 1


def _chosen(table: Table, path: str, inputs: int, columns: tuple[int, int]) -> tuple[int, int]:
    first, last = columns
    if last - first + 1 != inputs:
        raise InputError(f"--columns {first}..{last} are {last - first + 1} columns, the networks take {inputs}")
    if last >= table.columns:
        raise InputError(f"--columns {first}..{last}: {path} has {table.columns} columns, counted from 0")
    return first, last


def _usable(table: Table) -> list[bool]:
    """Which columns hold numbers, as far as the first rows tell, and are not called like something else."""
    usable = [True] * table.columns
    if not isinstance(table, CsvTable):
        return usable
    if table.header is not None:
        usable = [name.strip().casefold() not in LABEL_NAMES | ROW_NAMES for name in table.header]
    for row in range(min(table.rows, max(2, min(_LOOKED_AT, 2_000_000 // table.columns)))):
        for column, cell in enumerate(_cells(table, row)):
            if usable[column] and _number(table, cell, column) is None:
                usable[column] = False
    return usable


def _cells(table: CsvTable, row: int) -> list[str]:
    """The cells of a row, as many as there are columns. InputError where they do not fit."""
    try:
        cells = table.cells(row)
    except CellError as cell:
        raise InputError(f"row {row} of the table: {cell.reason or cell.text}; mend or remove the row") from None
    return cells + [""] * (table.columns - len(cells))


def _cell(table: Table, row: int, column: int) -> float | None:
    if isinstance(table, CsvTable):
        return _number(table, _cells(table, row)[column], column)
    assert isinstance(table, ArrayTable)
    return float(table.array[row].reshape(-1)[column])


def _number(table: CsvTable, cell: str, column: int) -> float | None:
    """The number of a cell; NaN where it is missing, None where something else stands there."""
    if cell.casefold() in MISSING:
        return math.nan
    try:
        return float(table.number(cell, column))
    except (CellError, OverflowError):
        return None


def _read(
    table: Table, path: str, first: int, last: int, outputs: int | None, labels_in: str | None
) -> tuple[Floats, tuple[int, ...], tuple[str, ...] | None]:
    """All complete rows as floats, which they are, and their labels."""
    labels: list[str] | None = None
    if isinstance(table, CsvTable):
        beside = row_labels.label_columns(table, partial(_cells, table), first, last, outputs)
        every = np.empty((table.rows, last - first + 1), np.float64)
        labels = [] if beside else None
        for row in range(table.rows):
            cells = _cells(table, row)
            every[row] = _row(table, path, row, cells[first : last + 1], first)
            if labels is not None:
                labels.append(row_labels.label(cells, beside, table.header))
    else:
        assert isinstance(table, ArrayTable)
        every = table.array.reshape(table.rows, -1)[:, first : last + 1].astype(np.float64)
        labels = row_labels.of_arrays(path, table, first, last) if labels_in is None else None
    if labels_in is not None:
        labels = row_labels.of_file(labels_in, table.rows)
    complete = np.isfinite(every).all(axis=1)
    if not complete.any():
        raise InputError(f"every row of {path} has missing numbers in columns {first}..{last}")
    rows = tuple(int(i) for i in np.flatnonzero(complete))
    return np.ascontiguousarray(every[complete]), rows, None if labels is None else tuple(labels[i] for i in rows)


def _row(table: CsvTable, path: str, row: int, cells: list[str], first: int) -> list[float]:
    found = [_number(table, cell, first + i) for i, cell in enumerate(cells)]
    for offset, number in enumerate(found):
        if number is None:
            name = first + offset if table.header is None else repr(table.header[first + offset])
            what = "is not a number; mend or remove the row"
            if decimal_comma(cells[offset]):
                what = f"has a decimal comma; {_WITH_A_POINT}"
            raise InputError(f"{path}, row {row}, column {name}: {cells[offset][:40]!r} {what}")
    return [math.nan if number is None else number for number in found]


def _distinct(names: Names) -> Names:
    """Names as features: `all` has a meaning of its own in a box."""
    return tuple(("all_" if name == "all" else name, unit) for name, unit in names)
