"""Results of checks over the rows of a table, put together: one group for each check and value of what else is swept.

A row that failed, or was never run, is counted as not run wherever it is known which rows there were to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.result import Result
from eqspec.tasks.row_share import RowShare
from eqspec.tasks.verdict import Reason, Verdict

ROW = "row"
"""The parameter that says which row a task is about."""
_FEWEST_ROWS = 2


@dataclass(frozen=True)
class RowGroup:
    """The results of a check at one value of everything but the row, by their places among all results."""

    file: str
    check: str
    parameters: Mapping[str, Fraction]
    members: tuple[int, ...]
    share: RowShare


def row_groups(results: Sequence[Result]) -> tuple[RowGroup, ...]:
    """The groups of every check over at least two rows, in the order of the results; searches are left out."""
    found: dict[tuple[str, str, tuple[tuple[str, Fraction], ...]], list[int]] = {}
    for number, result in enumerate(results):
        if ROW in result.parameters and result.find is None:
            others = tuple((name, at) for name, at in result.parameters.items() if name != ROW)
            file = (result.source or "").rsplit(":", 2)[0]
            found.setdefault((file, result.check, others), []).append(number)
    groups = (
        RowGroup(file, check, dict(others), tuple(members), _share([results[n] for n in members]))
        for (file, check, others), members in found.items()
    )
    return tuple(group for group in groups if group.share.rows >= _FEWEST_ROWS)


def _share(members: Sequence[Result]) -> RowShare:
    sources = {result.question.rows for result in members if result.question is not None}
    source = sources.pop() if len(sources) == 1 else None
    by_row = {result.parameters[ROW]: result for result in members}
    ran = [result for result in by_row.values() if result.reason is not Reason.ERROR]
    rows = len(by_row) if source is None else max(source.taken, len(by_row))
    proved = sum(r.verdict is Verdict.EQUIVALENT and not r.vacuous for r in ran)
    refuted = sum(r.verdict is Verdict.DIFFERENT for r in ran)
    vacuous = sum(r.vacuous for r in ran)
    return RowShare(
        source=source,
        rows=rows,
        proved=proved,
        refuted=refuted,
        vacuous=vacuous,
        undecided=len(ran) - proved - refuted - vacuous,
        not_run=rows - len(ran),
    )
