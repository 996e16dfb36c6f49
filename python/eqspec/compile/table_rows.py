"""The rows of tables that regions go over, or that networks are calibrated on, read once."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from eqspec.compile.boxes import Row
from eqspec.compile.csv_table import CellError
from eqspec.compile.drawn_rows import drawn_rows
from eqspec.compile.seen_region import MOST_ROWS, SeenRegion, seen_region
from eqspec.compile.tables import Table, column_name, load_table
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast
from eqspec.spec.derivations import CalibrationTable
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.program import Module
from eqspec.spec.region_terms import DataOf, RowsOf
from eqspec.spec.source_files import locate
from eqspec.spec.spaces import Names, require_unit
from eqspec.tasks.row_source import RowSource

_MOST_BYTES_LOOKED_AT = 32 * 2**20


class Tables:
    """Every table a spec names, kept by path."""

    def __init__(self, findings: Findings) -> None:
        self._known: dict[Path, Table] = {}
        self._rows: dict[tuple[object, ...], tuple[list[Row], RowSource]] = {}
        self._seen: dict[tuple[object, ...], SeenRegion] = {}
        self._findings = findings

    def rows(self, wanted: RowsOf, features: Names) -> tuple[list[Row], RowSource]:
        """The wanted rows, a number for each feature, and where they come from.

        Fault E140 to E142 where the table does not have them.
        """
        chosen = (wanted.rows, wanted.columns, wanted.sample, wanted.seed)
        key = (wanted.module.directory, wanted.path, *chosen, features)
        if key not in self._rows:
            self._rows[key] = self._read(wanted, features)
        return self._rows[key]

    def _read(self, wanted: RowsOf, features: Names) -> tuple[list[Row], RowSource]:
        clause = wanted.clause
        table = self._table(wanted.path, wanted.module, clause.path.span)
        if isinstance(clause, ast.Rows) and wanted.rows is not None and max(wanted.rows) >= table.rows:
            listed = ", ".join(" ".join(r.span.text.split()) for r in clause.rows)
            message = f"rows {listed} of '{wanted.path}': the file has {table.rows} rows"
            hint = f"rows count from 0: 0..{table.rows - 1}" if table.rows else None
            raise Fault(error("E140", message, clause.span, help=hint))
        place = (clause.columns or clause.path).span
        if wanted.rows is None and not table.rows:
            raise Fault(error("E140", f"'{wanted.path}' has no rows", clause.span, help="give a table with rows"))
        part = _part(table, wanted.path, wanted.columns, place, features)
        if wanted.rows is not None and wanted.sample is None:
            source = RowSource(wanted.path, table.rows, len(wanted.rows), "listed")
            return [(index, part.row(index, clause.span)) for index in wanted.rows], source
        available = range(table.rows) if wanted.rows is None else wanted.rows
        return drawn_rows(wanted, available, table.rows, part.read, self._findings)

    def seen(self, wanted: DataOf, share: Fraction, features: Names) -> SeenRegion:
        """The region of a table's rows; Fault E138 to E148 where there is none. Of very large tables rows are drawn."""
        key = (wanted.module.directory, wanted.path, wanted.columns, wanted.components, share, features)
        if key not in self._seen:
            table = self._table(wanted.path, wanted.module, wanted.clause.path.span)
            sample = MOST_ROWS if table.rows > MOST_ROWS else None
            of = RowsOf(None, wanted.path, wanted.columns, wanted.module, wanted.clause, sample)
            rows, _ = self.rows(of, features)
            self._seen[key] = seen_region(wanted, share, rows, [name for name, _ in features], self._findings)
        return self._seen[key]

    def all_rows(self, wanted: CalibrationTable, features: Names, most: int) -> list[tuple[Fraction, ...]]:
        """Every row, a number for each feature; Fault E140 where there is none or more than `most`, E141, E142."""
        table = self._table(wanted.path, wanted.module, wanted.span)
        if not 0 < table.rows <= most:
            message = f"'{wanted.path}' has {table.rows} rows to calibrate on"
            hint = f"give a table with 1 to {most} rows; a few hundred typical ones do"
            raise Fault(error("E140", message, wanted.span, help=hint))
        part = _part(table, wanted.path, wanted.columns, wanted.place, features)
        return [part.row(index, wanted.span) for index in range(table.rows)]

    def some_rows(self, wanted: RowsOf | DataOf, features: Names, most: int) -> list[Row]:
        """At most so many rows of a table that hold numbers, at even distances; Fault where it cannot be read.

        None of a large file that nothing else has read: they are only looked at.
        """
        place = (wanted.clause.columns or wanted.clause.path).span
        path = locate(wanted.path, wanted.module.directory, wanted.module.source.name, place)
        if path.resolve() not in self._known and path.stat().st_size > _MOST_BYTES_LOOKED_AT:
            return []
        table = self._table(wanted.path, wanted.module, wanted.clause.path.span)
        part = _part(table, wanted.path, wanted.columns, place, features)
        found: list[Row] = []
        for index in range(0, table.rows, max(1, -(-table.rows // most))):
            with suppress(CellError):
                found.append((index, part.read(index)))
        return found

    def _table(self, written: str, module: Module, span: Span) -> Table:
        path = locate(written, module.directory, module.source.name, span)
        key = path.resolve()
        if key not in self._known:
            self._known[key] = load_table(path, written, span, self._findings)
        return self._known[key]


def _part(table: Table, written: str, columns: tuple[int, int] | None, place: Span, features: Names) -> _Part:
    """Some columns of a table, all without a choice; Fault E142 or E130 where they are not those of the features."""
    first, last = columns or (0, table.columns - 1)
    part = _Part(table, written, first, last, place)
    part.refuse_columns(len(features))
    part.refuse_order(features)
    return part


@dataclass(frozen=True)
class _Part:
    """Columns first to last of a table; `place` is where they are chosen."""

    table: Table
    written: str
    first: int
    last: int
    place: Span

    def refuse_columns(self, needed: int) -> None:
        """Fault E142 unless there are as many columns as are needed."""
        first, last, found = self.first, self.last, self.last - self.first + 1
        if last >= self.table.columns:
            message = f"columns {first}..{last} of '{self.written}': the file has {self.table.columns} columns"
            raise Fault(error("E142", message, self.place, help=f"columns count from 0: 0..{self.table.columns - 1}"))
        if found != needed:
            hint = f"'columns a..b' picks {needed} of them"
            if found == needed + 1:
                hint = f"did you mean 'columns {first + 1}..{last}' (column {first} looks like a label)?"
            raise Fault(error("E142", f"{needed} columns needed, {found} found", self.place, help=hint))

    def refuse_order(self, features: Names) -> None:
        """A column called like a feature is not taken for another one, nor another one for the feature.

        Names that differ in small and capital letters alone are one name, unless features are told apart by them.
        Columns and features of different names go by place. Fault E130 where a column has another unit.
        """
        if self.table.header is None:
            return
        names = [name for name, _ in features]
        one_case = len({name.casefold() for name in names}) == len(names)
        alike = str.casefold if one_case else str
        place_of = {alike(name): i for i, name in enumerate(names)}
        columns = [column_name(cell, i) for i, cell in enumerate(self.table.header)]
        called = {alike(name): i for i, (name, _) in enumerate(columns)}
        chosen = columns[self.first : self.last + 1]
        for i, (name, _) in enumerate(chosen):
            if place_of.get(alike(name), i) != i:
                message = (
                    f"column {self.first + i} of '{self.written}' is '{name}', but feature {i} here is '{names[i]}'"
                )
                hint = "put the columns into the order of the features, or name the features in theirs"
                raise Fault(error("E142", message, self.place, help=hint))
        for i, ((name, unit), (feature, declared)) in enumerate(zip(chosen, features, strict=True)):
            if alike(name) == alike(feature):
                if declared is not None:
                    thing = f"column {self.first + i} of '{self.written}'"
                    require_unit(f"feature '{feature}'", declared, unit, thing, self.place)
            elif alike(feature) in called:
                message = (
                    f"column {self.first + i} of '{self.written}' is '{name}', but feature {i} here is '{feature}', "
                    f"which is column {called[alike(feature)]}"
                )
                hint = "put the columns of the features next to each other, in their order"
                raise Fault(error("E142", message, self.place, help=hint))

    def read(self, index: int) -> tuple[Fraction, ...]:
        """The numbers of a row; CellError where one is none."""
        return self.table.row(index, self.first, self.last)

    def row(self, index: int, span: Span) -> tuple[Fraction, ...]:
        """The numbers of a row; Fault E141 where one is none."""
        try:
            return self.read(index)
        except CellError as cell:
            header = self.table.header
            named = f" ('{header[cell.column]}')" if header and cell.column < len(header) else ""
            message = f"row {index}, column {cell.column}{named} is not a number: '{cell.text[:40]}'"
            if cell.reason is not None:
                message = f"row {index}: {cell.reason}"
            hint = f"repair '{self.written}', or leave the row out"
            raise Fault(error("E141", message, span, help=hint)) from None
