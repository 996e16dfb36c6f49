"""Tables of numbers: rows of csv, npy and npz files, read exactly.

A decimal in a csv file is that rational; a number in an array is the binary fraction it is. Rows and columns count from
0; a header row does not count. Loading never runs code: pickled arrays are refused.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from re import compile as regex
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eqspec.span import Span
from eqspec.spec import numbers
from eqspec.spec.files import read_text
from eqspec.spec.findings import Fault, error
from eqspec.spec.numbers import NumberError
from eqspec.spec.spaces import Names

_DECIMAL = regex(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""No text can be read in two ways, or a long cell would take its length squared."""
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "inf", "+inf", "-inf", "infinity"})
_PREFERRED = ("x", "data", "features", "inputs", "images", "samples")


class CellError(Exception):
    """A cell that is not a number: where, and what stands there."""

    def __init__(self, column: int, text: str) -> None:
        self.column, self.text = column, text
        super().__init__(text)


class Table(Protocol):
    """Rows of exact numbers."""

    header: tuple[str, ...] | None

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def columns(self) -> int:
        """How many columns there are."""

    def row(self, index: int, first: int, last: int) -> tuple[Fraction, ...]:
        """The numbers of a row in columns first to last; CellError where one is none."""


@dataclass
class CsvTable:
    """A csv file, kept as lines; a row is split when it is asked for, and equal texts share one number."""

    lines: list[str]
    delimiter: str | None
    header: tuple[str, ...] | None
    _cells: dict[str, Fraction] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> CsvTable:
        """A table from the text of a file; a first row with a word that does not mark a missing value is a header."""
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            return cls([], ",", None)
        delimiter = max(",;\t", key=lines[0].count)
        table = cls(lines, delimiter if delimiter in lines[0] else None, None)
        first = table.split(0)
        if any(cell.casefold() not in MISSING and not _DECIMAL.fullmatch(cell) for cell in first):
            return cls(lines[1:], table.delimiter, tuple(first))
        return table

    @property
    def rows(self) -> int:
        """How many rows there are below the header."""
        return len(self.lines)

    @property
    def columns(self) -> int:
        """How many cells the first row has."""
        return len(self.header) if self.header is not None else len(self.split(0)) if self.lines else 0

    def split(self, index: int) -> list[str]:
        """The cells of a row."""
        line = self.lines[index]
        if self.delimiter is None:
            return line.split()
        try:
            cells = next(csv.reader([line], delimiter=self.delimiter, skipinitialspace=True))
        except (csv.Error, StopIteration):
            cells = line.split(self.delimiter)
        return [cell.strip() for cell in cells]

    def row(self, index: int, first: int, last: int) -> tuple[Fraction, ...]:
        """The numbers of a row in columns first to last."""
        cells = self.split(index)
        found: list[Fraction] = []
        for column in range(first, last + 1):
            text = cells[column] if column < len(cells) else ""
            number = self._cells.get(text)
            if number is None:
                number = self._cells[text] = self._number(text, column)
            found.append(number)
        return tuple(found)

    def _number(self, text: str, column: int) -> Fraction:
        if not _DECIMAL.fullmatch(text):
            raise CellError(column, text)
        try:
            return numbers.literal(text)
        except NumberError:
            raise CellError(column, text) from None


@dataclass
class ArrayTable:
    """An array (rows, ...), each row flattened in row-major order."""

    array: NDArray[Any]
    header: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.array.shape[0])

    @property
    def columns(self) -> int:
        """How many numbers a row has."""
        return int(np.prod(self.array.shape[1:], dtype=np.int64))

    def row(self, index: int, first: int, last: int) -> tuple[Fraction, ...]:
        """The numbers of a row in columns first to last."""
        cells = self.array[index].reshape(-1)[first : last + 1]
        for offset in np.flatnonzero(~np.isfinite(cells)):
            raise CellError(first + int(offset), str(cells[offset]))
        kinds: dict[Any, Fraction] = {}
        return tuple(kinds.setdefault(cell, Fraction(cell)) for cell in cells.tolist())


def load_arrays(path: Path, written: str, span: Span) -> dict[str, NDArray[Any]]:
    """The arrays of an npy (under the name '') or npz file; Fault E144 if it holds anything else."""
    try:
        with path.open("rb") as file:  # numpy leaves one open that it cannot read
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                return {name: loaded[name] for name in loaded.files}
    except Exception as problem:  # numpy raises whatever its readers meet in a broken file
        message = f"cannot read '{written}': {' '.join(str(problem).split())[:120]}"
        raise Fault(error("E144", message, span, help="save plain arrays with numpy.save or numpy.savez")) from None


def number_kind(array: NDArray[Any]) -> bool:
    """Whether an array holds real numbers that floats or integers stand for exactly."""
    return array.dtype.kind in "biu" or array.dtype in (np.float16, np.float32, np.float64)


def load_table(path: Path, written: str, span: Span) -> Table:
    """The table in a file, by its suffix; Fault E111 or E144 if there is none."""
    suffix = path.suffix.lower()
    if suffix in (".pkl", ".pickle", ".joblib", ".pt", ".pth"):
        message = f"'{written}' is not read: loading it would run code"
        raise Fault(error("E144", message, span, help="save the numbers as csv, npy or npz"))
    if suffix not in (".npy", ".npz"):
        return CsvTable.parse(read_text(path, written, span))
    arrays = load_arrays(path, written, span)
    name = next(iter(arrays), None) if len(arrays) == 1 else None
    if name is None:
        name = next((n for p in _PREFERRED for n in arrays if n.casefold() == p), None)
    if name is None:
        message = f"'{written}' holds {len(arrays)} arrays: {', '.join(sorted(arrays)[:8])}"
        raise Fault(error("E144", message, span, help="call the one with the rows 'x', or save it alone"))
    array = arrays[name]
    if array.ndim == 0 or not number_kind(array):
        message = f"'{written}' holds no rows of numbers, but {array.dtype} of shape {list(array.shape)}"
        raise Fault(error("E144", message, span, help="save an array of shape [rows, columns]"))
    return ArrayTable(array)


def header_names(table: Table, written: str, columns: tuple[int, int] | None, span: Span) -> Names:
    """The names and units in the header of a table: `speed [ft/s]` is a name and a unit; odd characters become _."""
    if table.header is None:
        message = f"'{written}' has no header row to take names from"
        raise Fault(error("E145", message, span, help="add one, or list the names: features a, b, ..."))
    first, last = columns or (0, len(table.header) - 1)
    if last >= len(table.header):
        message = f"columns {first}..{last} of '{written}': the file has {len(table.header)} columns"
        raise Fault(error("E142", message, span, help=f"columns count from 0: 0..{len(table.header) - 1}"))
    names: list[tuple[str, str | None]] = []
    for column in range(first, last + 1):
        cell = table.header[column]
        name, unit = _name_and_unit(cell)
        name = regex(r"\W+").sub("_", name).strip("_") or f"column_{column}"
        names.append((name if not name[0].isdigit() else f"_{name}", unit))
    repeated, times = Counter(name for name, _ in names).most_common(1)[0]
    if times > 1:
        raise Fault(error("E104", f"'{written}' names two columns '{repeated}'", span, help="rename one"))
    return tuple(names)


def _name_and_unit(cell: str) -> tuple[str, str | None]:
    """What stands in brackets at the end is the unit."""
    inside = cell[:-1]
    opening = inside.find("[", inside.rfind("]") + 1)
    if not cell.endswith("]") or opening < 0 or not inside[opening + 1 :]:
        return cell, None
    return inside[:opening].rstrip(), inside[opening + 1 :].strip()
