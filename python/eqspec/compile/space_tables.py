"""The tables that a spec names for a space: of a region that was made from none, the rows that people know.

They say how far a counterexample is from anything that was seen, and it is set apart from the nearest of their rows;
no verdict depends on them. So they are read when the first counterexample asks for one, and what is wrong with a table
is told where the spec uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast, overload

from eqspec.compile.boxes import Row
from eqspec.compile.scalers import Scaler
from eqspec.compile.table_rows import Tables
from eqspec.spec import ast
from eqspec.spec.check import CheckedSpec
from eqspec.spec.findings import Fault
from eqspec.spec.program import Binding
from eqspec.spec.region_terms import DataOf, RowsOf
from eqspec.spec.spaces import Names
from eqspec.spec.values import UNKNOWN
from eqspec.tasks.observed import Observed

MOST_NUMBERS = 500_000
"""The most numbers of a table that are looked at; of larger ones rows at even distances are taken."""


class LaterRows(Sequence[Row]):
    """Rows that are read when they are first looked at."""

    def __init__(self, read: Callable[[], list[Row]]) -> None:
        self._read = read
        self._rows: list[Row] | None = None

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    @property
    def _all(self) -> list[Row]:
        if self._rows is None:
            try:
                self._rows = self._read()
            except (Fault, OSError):
                self._rows = []
        return self._rows


def observed_in(
    spec: CheckedSpec, space: Binding, tables: Tables, features: Names, scaler: Scaler
) -> tuple[Observed, ...]:
    """The rows of the tables that regions of this space name."""
    most = max(1, MOST_NUMBERS // max(len(features), 1))

    def rows_of(wanted: RowsOf | DataOf) -> LaterRows:
        return LaterRows(lambda: tables.some_rows(wanted, features, most))

    return tuple(Observed(one.path, rows_of(one), scaler.centre, scaler.scale) for one in _named(spec, space))


def _named(spec: CheckedSpec, space: Binding) -> list[RowsOf | DataOf]:
    """Each table with its columns once, in the order of the spec."""
    found: dict[tuple[object, ...], RowsOf | DataOf] = {}
    for module in spec.program.modules:
        for region in module.own("region"):
            for one in _of_region(spec, region, space):
                found.setdefault((one.module.directory, one.path, one.columns), one)
    return list(found.values())


def _of_region(spec: CheckedSpec, region: Binding, space: Binding) -> Iterator[RowsOf | DataOf]:
    try:
        if spec.regions.space_of(region).binding is not space:
            return
        formals = cast(ast.Region, region.declaration).formals
        terms = spec.regions.terms(region, (UNKNOWN,) * len(formals), spec.scope(region.module))
    except Fault:
        return
    yield from terms.data
    yield from (ball.centre for ball in terms.balls if isinstance(ball.centre, RowsOf))
