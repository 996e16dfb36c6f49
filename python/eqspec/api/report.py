"""A report: the results of a run, in the order of the spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from eqspec.lazy_dataclass import dataclass
from eqspec.report import row_counts, table
from eqspec.tasks.result import Result
from eqspec.tasks.row_groups import RowGroup, row_groups


@dataclass(frozen=True, repr=False)
class Report(Sequence[Result]):
    """Results in the order of the spec, without tasks that never ran. `failures` are the exceptions behind errors."""

    results: tuple[Result, ...]
    seconds: float = 0.0
    interrupted: bool = False
    left_out: int = 0
    failures: tuple[tuple[str, Exception], ...] = ()

    @overload
    def __getitem__(self, key: int | str) -> Result: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Result]: ...
    def __getitem__(self, key: int | str | slice) -> Result | Sequence[Result]:
        """A result by position, or by the id of its task, as `report["near[delta=0.9]"]`; KeyError if there is none."""
        if isinstance(key, str):
            for result in self.results:
                if result.id == key:
                    return result
            raise KeyError(f"no task {key!r}{hint(key, [r.id for r in self.results])}")
        return self.results[key]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def ok(self) -> bool:
        """Whether there is a task, and every task ran and came out as expected."""
        whole = bool(self.results) and not (self.interrupted or self.left_out)
        return whole and all(r.as_expected is True for r in self.results)

    @property
    def over_rows(self) -> tuple[RowGroup, ...]:
        """Checks over the rows of a table, summed up at each value of what else is swept; `print` shows them, too.

        The `share` of each has the counts of rows, and `at_least`: a lower bound (95 % confidence) of the share of
        events around which the claim is proved, if events are drawn like these rows.
        """
        return row_groups(self.results)

    def __repr__(self) -> str:
        said = table.scores(self.results)
        over = "".join(f"\n{' ' * indent}{line}" for indent, line in row_counts.lines(self.results))
        return f"<Report: {self._summary()}{f'. {said}' if said else ''}{over}>"

    def _repr_html_(self) -> str:
        from eqspec.report import notebook

        return notebook.of_results(self.results, self._summary())

    def _summary(self) -> str:
        """4 tasks in 5.44 s: 3 equivalent, 1 different. All as expected."""
        return table.summary(
            list(self.results), self.seconds, interrupted=self.interrupted, left_out=self.left_out
        ).plain

    def to_frame(self) -> Any:
        """A pandas frame with a row for each task and a column for each variable; see `eqspec.api.frame`."""
        from eqspec.api import frame

        return frame.of_results(self.results)

    def to_html(self, title: str | None = None) -> str:
        """The page that `eqspec check --report FILE.html` writes, as text; without a title it is named after the specs.

        It needs no network, script or installation.
        """
        from eqspec.report.html import page  # templates take long to import, and only a page needs them
        from eqspec.report.missing import interrupted

        return page(self.results, title, missing=[interrupted("this run", self.left_out)] if self.left_out else ())

    def to_json(self) -> list[dict[str, Any]]:
        """One object per task, in the form of the result schema."""
        return [result.to_json() for result in row_counts.with_shares(self.results)]


def hint(wanted: str, known: Sequence[str], kind: str = "task") -> str:
    """For an error message: a name close to the one that was asked for, or the names there are."""
    from difflib import get_close_matches

    if near := get_close_matches(wanted, known, n=1):
        return f"; did you mean {near[0]!r}?"
    more = f", ... {len(known) - 8} more" if len(known) > 8 else ""
    return f"; {kind}s: {', '.join(known[:8])}{more}" if known else f"; there are no {kind}s"
