"""Tables of numbers: rows of csv, npy and npz files, read exactly and within file_limits.

A decimal in a csv file is that rational; a number in an array is the binary fraction it is. Rows and columns count from
0; a header row does not count. Loading never runs code: pickled arrays are refused.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from re import compile as regex
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eqspec.compile import file_limits
from eqspec.compile.array_files import Arrays, number_kind, open_arrays
from eqspec.compile.csv_table import CellError, CsvTable
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.spaces import Names

_ODD = regex(r"\W+")
_PREFERRED = ("x", "data", "features", "inputs", "images", "samples")
_CODE = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
_OTHER_TABLES = (
    ".xlsx",
    ".xls",
    ".ods",
    ".parquet",
    ".feather",
    ".arrow",
    ".h5",
    ".hdf5",
    ".root",
    ".mat",
    ".json",
    ".jsonl",
)
_PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z")


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


def refuse_kind(path: Path, written: str, span: Span, fix: str) -> None:
    """Fault E144 for files that would run code when they are loaded, and for packed ones."""
    suffix = path.suffix.lower()
    if suffix in _CODE:
        message = f"'{written}' is not read: loading it would run code"
        raise Fault(error("E144", message, span, help=fix))
    if suffix in _PACKED:
        raise Fault(error("E144", f"'{written}' is not read: it is packed", span, help="unpack it"))


def load_table(path: Path, written: str, span: Span, findings: Findings | None = None) -> Table:
    """The table in a file, by its suffix; Fault E111, E144 or E146 if there is none that can be used.

    `findings` are told where the first row of a csv file was taken for what it is not plainly.
    """
    refuse_kind(path, written, span, "save the numbers as csv, npy or npz")
    if path.suffix.lower() in _OTHER_TABLES:
        message = f"'{written}' is not read: tables are csv, npy or npz files"
        raise Fault(error("E144", message, span, help="save the numbers as one of these"))
    if path.suffix.lower() not in (".npy", ".npz"):
        return load_csv(path, written, span, findings)
    arrays = open_arrays(path, written, span)
    array = arrays.read(_array_of_rows(arrays))
    return ArrayTable(array)


def load_csv(
    path: Path, written: str, span: Span, findings: Findings | None = None, keys: frozenset[str] = frozenset()
) -> CsvTable:
    """A csv file as a table; Fault E111, E144 or E146 if it cannot be used. `keys` may stand in front of its rows."""
    fewer = "keep the rows and columns that are needed, or save them with numpy.save"
    text = file_limits.bounded_text(path, written, file_limits.MOST_TEXT_BYTES, span, fewer)
    _refuse_shape(text, written, span, fewer)
    table = CsvTable.parse(text, keys)
    if table.doubt is not None:
        fix = (
            "put a row with a name for each column at the top, above the numbers; leave out comments, rows of units "
            "and cells without a column"
        )
        raise Fault(error("E146", f"it is not clear how to read '{written}': {table.doubt}", span, help=fix))
    if table.note is not None and findings is not None:
        fix = "if that is wrong, put a row of names at the top that are not numbers"
        findings.add(warning("W308", f"'{written}': {table.note}", span, help=fix))
    return table


def _refuse_shape(text: str, written: str, span: Span, fix: str) -> None:
    """Fault E144 for more lines, longer lines or more columns than are read; nothing is split before that is known."""
    lines = text.count("\n")
    if lines > file_limits.MOST_LINES:
        raise file_limits.too_large(written, f"it has {lines} lines", f"{file_limits.MOST_LINES} lines", span, fix)
    start = 0 if len(text) > file_limits.MOST_COLUMNS else len(text)
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start > file_limits.MOST_LINE_CHARACTERS:
            what = f"a line has {end - start} characters"
            raise file_limits.too_large(written, what, f"{file_limits.MOST_LINE_CHARACTERS} characters", span, fix)
        if end - start > file_limits.MOST_COLUMNS:
            cells = 1 + max(text.count(mark, start, end) for mark in ",;\t| ")
            if cells > file_limits.MOST_COLUMNS:
                raise file_limits.too_large(
                    written, f"a line has {cells} cells", f"{file_limits.MOST_COLUMNS} cells", span, fix
                )
        start = end + 1


def _array_of_rows(arrays: Arrays) -> str:
    """The name of the array that holds the rows; Fault E144 where two may be meant, or none does."""
    headings = arrays.headings
    name = next(iter(headings), None) if len(headings) == 1 else None
    if name is None:
        called = [n for p in _PREFERRED for n in headings if n.casefold() == p]
        name = next(iter(called), None)
        other = next((n for n in called[1:] if headings[n].shape[1:] == headings[called[0]].shape[1:]), None)
        if other is not None:
            message = f"'{arrays.written}' has rows of {headings[other].shape[1:]} numbers under '{name}' and '{other}'"
            raise Fault(error("E144", message, arrays.span, help="keep the one that is meant, or save it alone"))
    if name is None:
        message = f"'{arrays.written}' holds {len(headings)} arrays: {', '.join(sorted(headings)[:8])}"
        fix = "call the one with the rows 'x', or save it alone"
        raise Fault(error("E144", message, arrays.span, help=fix))
    heading = headings[name]
    if not heading.shape or not number_kind(heading.dtype):
        shape = list(heading.shape)
        message = f"'{arrays.written}' holds no rows of numbers, but {heading.dtype} of shape {shape}"
        raise Fault(error("E144", message, arrays.span, help="save an array of shape [rows, columns]"))
    return name


def header_names(table: Table, written: str, columns: tuple[int, int] | None, span: Span) -> Names:
    """The names and units in the header of a table: `speed [ft/s]` is a name and a unit; odd characters become _."""
    if table.header is None:
        message = f"'{written}' has no header row to take names from"
        raise Fault(error("E145", message, span, help="add one, or list the names: features a, b, ..."))
    first, last = columns or (0, len(table.header) - 1)
    if last >= len(table.header):
        message = f"columns {first}..{last} of '{written}': the file has {len(table.header)} columns"
        raise Fault(error("E142", message, span, help=f"columns count from 0: 0..{len(table.header) - 1}"))
    names = [column_name(table.header[column], column) for column in range(first, last + 1)]
    repeated, times = Counter(name for name, _ in names).most_common(1)[0]
    if times > 1:
        raise Fault(error("E104", f"'{written}' names two columns '{repeated}'", span, help="rename one"))
    return tuple(names)


def column_name(cell: str, column: int) -> tuple[str, str | None]:
    """The name of a column as the language can write it, and its unit."""
    name, unit = _name_and_unit(cell)
    name = _ODD.sub("_", name).strip("_") or f"column_{column}"
    return (name if not name[0].isdigit() else f"_{name}", unit)


def _name_and_unit(cell: str) -> tuple[str, str | None]:
    """What stands in brackets at the end is the unit."""
    inside = cell[:-1]
    opening = inside.find("[", inside.rfind("]") + 1)
    if not cell.endswith("]") or opening < 0 or not inside[opening + 1 :]:
        return cell, None
    return inside[:opening].rstrip(), inside[opening + 1 :].strip()
