"""What each row of a table is labelled with: by a column, by one column for each class, or by a file of its own.

A column for each class, as `get_dummies` writes them, has a 1 in the column of the row's class and 0 elsewhere; the
label is then the name of that column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.array_files import open_arrays
from eqspec.compile.first_row import LABEL_NAMES, MISSING, ROW_NAMES
from eqspec.compile.tables import ArrayTable, Table, load_csv
from eqspec.errors import InputError
from eqspec.spec.ast import NOWHERE
from eqspec.spec.findings import Findings
from eqspec.spec.source_files import near

Cells = Callable[[int], Sequence[str]]
"""The cells of a row as texts."""
_ON = frozenset(("1", "1.0", "true"))
_OFF = frozenset(("0", "0.0", "false"))


def label_columns(table: Table, cells: Cells, first: int, last: int, outputs: int | None) -> tuple[int, ...]:
    """The columns beside the inputs that hold the labels: one, one for each of the outputs, or none that is plain."""
    beside = [c for c in range(table.columns) if not first <= c <= last]
    if table.header is not None:
        named = [(c, table.header[c].strip().casefold()) for c in beside]
        beside = [c for c, name in named if name not in ROW_NAMES]
        if len(beside) > 1 and len(called := [c for c, name in named if name in LABEL_NAMES]) == 1:
            return (called[0],)
    if len(beside) == 1:
        return (beside[0],)
    return tuple(beside) if one_for_each(table, cells, beside, outputs) else ()


def one_for_each(table: Table, cells: Cells, columns: Sequence[int], outputs: int | None, most: int = 2000) -> bool:
    """Whether there are as many columns as outputs, and every row has a 1 in just one of them and 0 elsewhere."""
    if outputs is None or len(columns) != outputs or outputs < 2:
        return False
    seen = set()
    for row in range(min(table.rows, most)):
        texts = cells(row)
        marks = [c for c in columns if texts[c].casefold() in _ON]
        if len(marks) != 1 or any(texts[c].casefold() not in _OFF for c in columns if c != marks[0]):
            return False
        seen.add(marks[0])
    return len(seen) > 1


def label(texts: Sequence[str], columns: Sequence[int], header: Sequence[str] | None) -> str:
    """The label of a row in these columns; "" where it is missing."""
    if len(columns) == 1:
        text = texts[columns[0]]
        return "" if text.casefold() in MISSING else text
    marks = [c for c in columns if texts[c].casefold() in _ON]
    if len(marks) != 1:
        return ""
    return str(columns.index(marks[0])) if header is None else header[marks[0]]


def of_arrays(path: str, table: ArrayTable, first: int, last: int) -> list[str] | None:
    """The labels in the array of an npz file that is called like a label, or in the one column beside the inputs."""
    if Path(path).suffix.lower() == ".npz":
        arrays = open_arrays(Path(path), path, NOWHERE)
        named = [
            name
            for name, heading in arrays.headings.items()
            if name.casefold() in LABEL_NAMES and heading.shape[:1] == (table.rows,) and heading.dtype.kind in "biufU"
        ]
        if len(named) == 1:
            return _texts(arrays.read(named[0]))
    beside = [c for c in range(table.columns) if not first <= c <= last]
    return _texts(table.array.reshape(table.rows, -1)[:, beside[0]]) if len(beside) == 1 else None


def require(path: str) -> None:
    """InputError where no file of that name is there, with one that may have been meant."""
    file = Path(path)
    if not file.is_file():
        similar = None if file.is_dir() else near(file, file.parent)
        meant = "" if similar is None else f"; did you mean {file.parent / similar}?"
        raise InputError(f"cannot read {path}: {'it is a folder' if file.is_dir() else 'no such file'}{meant}")


def of_file(path: str, rows: int) -> list[str]:
    """The labels in a file of their own, one for each row of the table. InputError where they do not fit."""
    require(path)
    file = Path(path)
    if file.suffix.lower() in (".npy", ".npz"):
        found = _of_array_file(path)
    else:
        table = load_csv(file, path, NOWHERE, Findings())
        columns = label_columns(table, table.cells, table.columns, table.columns, table.columns)
        if not columns:
            raise InputError(f"{path} has {table.columns} columns; keep the one with the labels")
        found = [label(table.cells(row), columns, table.header) for row in range(table.rows)]
    if len(found) != rows:
        raise InputError(f"{path} has {len(found)} labels for the {rows} rows of the table; it needs one for each")
    return found


def _of_array_file(path: str) -> list[str]:
    arrays = open_arrays(Path(path), path, NOWHERE)
    names = [name for name in arrays.headings if name.casefold() in LABEL_NAMES or len(arrays.headings) == 1]
    if len(names) != 1:
        listed = ", ".join(sorted(arrays.headings)[:8])
        raise InputError(f"{path} has the arrays {listed}; call the one with labels 'y', or save it alone")
    kind = arrays.headings[names[0]].dtype
    if kind.kind not in "biufU":
        raise InputError(f"{path} holds labels of type {kind}; save them by numpy.save(FILE, labels.astype(str))")
    return _texts(arrays.read(names[0]), path)


def _texts(array: NDArray[Any], path: str = "the array of labels") -> list[str]:
    """A text for each row; a row with one 1 and zeros elsewhere is labelled with the place of the 1."""
    flat = array.reshape(array.shape[0] if array.ndim else 0, -1)
    if flat.shape[1:] == (1,):
        return ["" if text.casefold() in MISSING else text for text in map(str, flat[:, 0].tolist())]
    is_one_hot = flat.dtype.kind in "biuf" and bool(np.isin(flat, (0, 1)).all() and (flat.sum(axis=1) == 1).all())
    if not is_one_hot:
        raise InputError(f"{path} has the shape {list(array.shape)}; it needs one label for each row")
    return [str(place) for place in flat.argmax(axis=1).tolist()]
