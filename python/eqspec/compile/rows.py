"""The rows of tables that regions go over, read once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from eqspec.compile.boxes import Row
from eqspec.compile.tables import CellError, Table, load_table
from eqspec.spec.files import locate
from eqspec.spec.findings import Fault, error
from eqspec.spec.regions import RowsOf


class Tables:
    """Every table a spec names, kept by path."""

    def __init__(self) -> None:
        self._known: dict[Path, Table] = {}

    def rows(self, wanted: RowsOf, needed: int) -> list[Row]:
        """The wanted rows, `needed` numbers each; Fault E140 to E142 where the table does not have them."""
        clause = wanted.clause
        path = locate(wanted.path, wanted.module.directory, wanted.module.source.name, clause.path.span)
        key = path.resolve()
        if key not in self._known:
            self._known[key] = load_table(path, wanted.path, clause.path.span)
        table = self._known[key]
        if max(wanted.rows) >= table.rows:
            listed = ", ".join(" ".join(r.span.text.split()) for r in clause.rows)
            message = f"rows {listed} of '{wanted.path}': the file has {table.rows} rows"
            hint = f"rows count from 0: 0..{table.rows - 1}" if table.rows else None
            raise Fault(error("E140", message, clause.span, help=hint))
        first, last = wanted.columns or (0, table.columns - 1)
        _refuse_columns(wanted, table, first, last, needed)
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


def _row(table: Table, wanted: RowsOf, index: int, first: int, last: int) -> tuple[Fraction, ...]:
    try:
        return table.row(index, first, last)
    except CellError as cell:
        named = f" ('{table.header[cell.column]}')" if table.header and cell.column < len(table.header) else ""
        message = f"row {index}, column {cell.column}{named} is not a number: '{cell.text[:40]}'"
        hint = f"repair '{wanted.path}', or leave the row out"
        raise Fault(error("E141", message, wanted.clause.span, help=hint)) from None
