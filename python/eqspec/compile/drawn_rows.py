"""The rows of a table that a region goes over where the spec does not name them: all, or so many drawn by a seed.

A draw of n rows is a uniformly random subset: every row gets a random number of Python's Mersenne Twister, whose
`random` gives the same numbers for a seed in every version, and the rows with the smallest numbers are taken. So a
larger draw by the same seed contains the smaller one, whose results need not be searched for again.

A row that is named must hold numbers. Of all rows, and of drawn ones, those with a cell that is none are passed over
and counted (W313): what is concluded is then about rows that hold numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from random import Random

from eqspec.compile.boxes import Row
from eqspec.compile.csv_table import CellError
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.region_terms import RowsOf
from eqspec.tasks.row_source import RowSource

ReadRow = Callable[[int], tuple[Fraction, ...]]
"""Reads the numbers of a row; raises CellError where a cell is not a number."""


def drawn_rows(
    wanted: RowsOf, available: Sequence[int], in_table: int, read: ReadRow, findings: Findings
) -> tuple[list[Row], RowSource]:
    """Of the available rows all that hold numbers, or as many as are drawn; Fault E140 or E141 where there are too few.

    Rows come in the order of the table.
    """
    taken: list[Row] = []
    unusable: list[CellError] = []
    for index in _order(wanted, available):
        if wanted.sample is not None and len(taken) == wanted.sample:
            break
        try:
            taken.append((index, read(index)))
        except CellError as cell:
            unusable.append(cell)
    _refuse_too_few(wanted, len(taken), in_table, unusable)
    if unusable:
        first = unusable[0]
        plural = "a row holds" if len(unusable) == 1 else f"{len(unusable)} rows hold"
        message = (
            f"'{wanted.path}': {plural} a cell that is not a number, as '{first.text[:40]}' in column {first.column}"
        )
        fix = "they are passed over: what is counted is about rows of numbers; mend the table if that is wrong"
        findings.add(warning("W313", message, wanted.clause.span, help=fix))
    source = RowSource(
        table=wanted.path,
        in_table=in_table,
        taken=len(taken),
        choice="all" if wanted.sample is None else "sampled",
        seed=None if wanted.sample is None else wanted.seed,
        unusable=len(unusable),
    )
    return sorted(taken), source


def _order(wanted: RowsOf, available: Sequence[int]) -> Iterable[int]:
    if wanted.sample is None:
        return available
    random = Random(wanted.seed)  # nothing is kept secret by it
    return [index for _, index in sorted((random.random(), index) for index in available)]


def _refuse_too_few(wanted: RowsOf, taken: int, in_table: int, unusable: Sequence[CellError]) -> None:
    """Fault unless there is a row, or as many as were to be drawn."""
    if taken >= (wanted.sample or 1):
        return
    if unusable and not taken:
        first = unusable[0]
        message = f"no row of '{wanted.path}' holds numbers only: column {first.column} has '{first.text[:40]}'"
        raise Fault(error("E141", message, wanted.clause.span, help="choose the columns of the features: columns a..b"))
    usable = f", {taken} of which hold numbers only" if unusable else ""
    message = f"a sample of {wanted.sample} rows: '{wanted.path}' has {in_table}{usable}"
    raise Fault(error("E140", message, wanted.clause.span, help="draw fewer, or leave 'sample' out for all of them"))
