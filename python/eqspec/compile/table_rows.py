"""The rows of tables that regions go over, read once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from eqspec.compile.boxes import Row
from eqspec.compile.csv_table import CellError
from eqspec.compile.tables import Table, column_name, load_table
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.region_terms import RowsOf
from eqspec.spec.source_files import locate


class Tables:
    """Every table a spec names, kept by path."""

    def __init__(self, findings: Findings) -> None:
        self._known: dict[Path, Table] = {}
        self._findings = findings

    def rows(self, wanted: RowsOf, features: Sequence[str]) -> list[Row]:
        """The wanted rows, a number for each feature; Fault E140 to E142 where the table does not have them."""
        clause = wanted.clause
        path = locate(wanted.path, wanted.module.directory, wanted.module.source.name, clause.path.span)
        key = path.resolve()
        if key not in self._known:
            self._known[key] = load_table(path, wanted.path, clause.path.span, self._findings)
        table = self._known[key]
        if max(wanted.rows) >= table.rows:
            listed = ", ".join(" ".join(r.span.text.split()) for r in clause.rows)
            message = f"rows {listed} of '{wanted.path}': the file has {table.rows} rows"
            hint = f"rows count from 0: 0..{table.rows - 1}" if table.rows else None
            raise Fault(error("E140", message, clause.span, help=hint))
        first, last = wanted.columns or (0, table.columns - 1)
        _refuse_columns(wanted, table, first, last, len(features))
        _refuse_order(wanted, table, first, features)
        return [(index, _row(table, wanted, index, first, last)) for index in wanted.rows]


def _refuse_columns(wanted: RowsOf, table: Table, first: int, last: int, needed: int) -> None:
    found = last - first + 1
    place = (wanted.clause.columns or wanted.clause.path).span
    if last >= table.columns:
        message = f"columns {first}..{last} of '{wanted.path}': the file has {table.columns} columns"
        raise Fault(error("E142", message, place, help=f"columns count from 0: 0..{table.columns - 1}"))
    if found != needed:
        hint = f"'columns a..b' picks {needed} of them"
        if found == needed + 1:
            hint = f"did you mean 'columns {first + 1}..{last}' (column {first} looks like a label)?"
        raise Fault(error("E142", f"{needed} columns needed, {found} found", place, help=hint))


def _refuse_order(wanted: RowsOf, table: Table, first: int, features: Sequence[str]) -> None:
    """A column that is called like a feature is not taken for another one; columns called otherwise go by place."""
    if table.header is None:
        return
    place_of = {name: i for i, name in enumerate(features)}
    for i in range(len(features)):
        name, _ = column_name(table.header[first + i], first + i)
        if place_of.get(name, i) != i:
            message = f"column {first + i} of '{wanted.path}' is '{name}', but feature {i} here is '{features[i]}'"
            hint = "put the columns into the order of the features, or name the features in theirs"
            place = (wanted.clause.columns or wanted.clause.path).span
            raise Fault(error("E142", message, place, help=hint))


def _row(table: Table, wanted: RowsOf, index: int, first: int, last: int) -> tuple[Fraction, ...]:
    try:
        return table.row(index, first, last)
    except CellError as cell:
        named = f" ('{table.header[cell.column]}')" if table.header and cell.column < len(table.header) else ""
        message = f"row {index}, column {cell.column}{named} is not a number: '{cell.text[:40]}'"
        if cell.reason is not None:
            message = f"row {index}: {cell.reason}"
        hint = f"repair '{wanted.path}', or leave the row out"
        raise Fault(error("E141", message, wanted.clause.span, help=hint)) from None
