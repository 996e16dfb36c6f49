"""Rows of csv files, read exactly: a decimal is that rational, and no cell is taken for what it does not say.

Cells are separated by tabs, semicolons, commas, bars or blanks, whichever gives all rows as many cells, or by what a
line `sep=;` in front says, as spreadsheets write it. What the first row is `first_row` finds out. Rows count from 0
below the header, without blank lines. A row with more cells than the first, a cell that goes over a line end and a
decimal comma are refused where they are met.
"""

from __future__ import annotations

import csv
from dataclasses import field, replace
from fractions import Fraction
from re import compile as regex

from eqspec.compile.first_row import DECIMAL, FirstRow, Kind, decimal_comma, judge, kind_of
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import numbers
from eqspec.spec.numbers import NumberError

_LOOKED_AT = 50
"""How many rows are looked at to find out whether the first one is a header."""
_CELLS_LOOKED_AT = 2_000_000
"""The most cells that are looked at for that; in a wide table they are fewer rows."""
_DELIMITERS = "\t;,|"
"""The first that gives all rows as many cells: a comma may be that of a decimal."""
_SAID = regex(r'"?sep=([\t;,|])"?')
"""The first line of a file that says what separates its cells."""


class CellError(Exception):
    """A cell that is not a number: where, what stands there, and `reason` if it is more than that."""

    def __init__(self, column: int, text: str, reason: str | None = None) -> None:
        self.column, self.text, self.reason = column, text, reason
        super().__init__(text)


@dataclass
class CsvTable:
    """A csv file, kept as lines; a row is split when it is asked for, and equal texts share one number.

    `note` says what the first row was taken for where that is not plain; `doubt` why the file cannot be used.
    """

    lines: list[str]
    delimiter: str | None
    header: tuple[str, ...] | None
    width: int = 0
    note: str | None = None
    doubt: str | None = None
    _cells: dict[str, Fraction] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, keys: frozenset[str] = frozenset()) -> CsvTable:
        """A table from the text of a file; `keys` are words that tell what the numbers behind them are."""
        lines = [line for line in text.removeprefix("\ufeff").split("\n") if line.strip()]
        if not lines:
            return cls([], ",", None)
        said = _SAID.fullmatch(lines[0].strip())
        if said is not None:
            lines = lines[1:]
        if not lines:
            return cls([], ",", None)
        if lines[0].startswith("#"):
            lines[0] = lines[0].lstrip("# \t") or "#"
        table = cls(lines, said[1] if said is not None else _delimiter(lines[:_LOOKED_AT]), None)
        if any(line.count('"') % 2 for line in lines):
            return replace(table, doubt="a line has an odd number of quotes, so that a cell may go over its end")
        try:
            first = table.split(0)
            below = [table.split(i) for i in range(1, min(len(lines), 1 + _rows_to_look_at(len(first))))]
        except CellError as cell:
            return replace(table, doubt=cell.reason)
        found = FirstRow(header=False) if _keys_in_front(first, below, keys) else judge(first, below)
        shown = _shown(first)
        table.width, table.doubt = len(first), _doubt(lines, first, below, header=found.header)
        if found.doubt is not None:
            table.doubt = f"its first row, {shown}, may be names or numbers: {found.doubt}"
        if found.why is not None:
            kind = "names" if found.header else "numbers"
            table.note = f"its first row, {shown}, is read as {kind}: {found.why}"
        if found.header:
            table.lines, table.header = lines[1:], tuple(first)
        return table

    @property
    def rows(self) -> int:
        """How many rows there are below the header."""
        return len(self.lines)

    @property
    def columns(self) -> int:
        """How many cells the first row has."""
        return self.width

    def split(self, index: int) -> list[str]:
        """The cells of a row; CellError where quotes are not closed."""
        line = self.lines[index]
        if self.delimiter is None:
            return line.split()
        try:
            cells = next(csv.reader([line], delimiter=self.delimiter, skipinitialspace=True, strict=True))
        except (csv.Error, StopIteration) as problem:
            raise CellError(0, line[:40], f"the row '{line[:40]}' cannot be split into cells: {problem}") from None
        return [cell.strip() for cell in cells]

    def cells(self, index: int) -> list[str]:
        """The cells of a row, none beyond the last column; CellError where something stands there."""
        cells = self.split(index)
        if any(cells[self.width :]):
            reason = f"the row has {len(cells)} cells, the first row has {self.width}"
            raise CellError(self.width, cells[self.width], reason)
        return cells[: self.width]

    def row(self, index: int, first: int, last: int) -> tuple[Fraction, ...]:
        """The numbers of a row in columns first to last."""
        cells = self.cells(index)
        return tuple(self.number(cells[i] if i < len(cells) else "", i) for i in range(first, last + 1))

    def number(self, text: str, column: int) -> Fraction:
        """The number of a cell; CellError where it is none."""
        number = self._cells.get(text)
        if number is None:
            if not DECIMAL.fullmatch(text):
                comma = "decimals are written with a point" if decimal_comma(text) else None
                raise CellError(column, text, comma and f"'{text[:40]}' has a comma; {comma}")
            try:
                number = self._cells[text] = numbers.literal(text)
            except NumberError:
                raise CellError(column, text) from None
        return number


def _keys_in_front(first: list[str], below: list[list[str]], keys: frozenset[str]) -> bool:
    """Whether the first row is a key with its numbers, and another one stands below: then no names stand above."""
    others = {row[0] for row in below if row} & keys - {first[0]}
    return first[0] in keys and bool(others) and all(kind_of(cell) is Kind.NUMBER for cell in first[1:])


def _rows_to_look_at(columns: int) -> int:
    return max(2, min(_LOOKED_AT, _CELLS_LOOKED_AT // max(columns, 1)))


def _delimiter(lines: list[str]) -> str | None:
    """What separates cells; None for blanks."""
    there = [mark for mark in _DELIMITERS if mark in lines[0]]
    for mark in there:
        counts = {line.rstrip(mark).count(mark) for line in lines} if '"' not in "".join(lines) else _cells(lines, mark)
        if len(counts) == 1:
            return mark
    return max(there, key=lines[0].count) if there else None


def _cells(lines: list[str], mark: str) -> set[int]:
    """Into how many cells lines with quotes fall."""
    try:
        return {len(cells) for cells in csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True)}
    except csv.Error:
        return set()


def _doubt(lines: list[str], first: list[str], below: list[list[str]], *, header: bool) -> str | None:
    """A reason to refuse the table where numbers or names could be read from the wrong cells; else None."""
    if any(line.startswith("#") for line in lines[1:]):
        return "a line below its first starts with '#'; comments are not read"
    longer = next((row for row in below if any(row[len(first) :])), None)
    if longer is not None:
        return f"its first row has {len(first)} cells, a row below it has {len(longer)}"
    if header and len(below) > 1 and any(_no_number_above_numbers(below, i) for i in range(len(below[0]))):
        return f"the row below its header, {_shown(below[0])}, holds words where numbers follow, as a row of units does"
    return None


def _no_number_above_numbers(below: list[list[str]], column: int) -> bool:
    """Whether the first row has a word where the others have numbers, some of which may be missing.

    One such cell is enough, whatever stands beside it: a row of units may hold numbers (`m/s, 1, kg`), and counted as
    row 0 it would move all rows by one.
    """
    if kind_of(below[0][column]) is not Kind.WORD:
        return False
    kinds = {kind_of(row[column]) if column < len(row) else Kind.MISSING for row in below[1:]}
    return Kind.NUMBER in kinds and Kind.WORD not in kinds


def _shown(cells: list[str]) -> str:
    listed = ", ".join(f"'{cell[:20]}'" for cell in cells[:5])
    return listed + (", ..." if len(cells) > 5 else "")
