"""Checks over the rows of a table in words: how many rows are proved, and what may be said of events drawn alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor

from eqspec.report.numbers import count, exact_value, plural
from eqspec.tasks.result import Result
from eqspec.tasks.row_groups import row_groups
from eqspec.tasks.row_share import RowShare
from eqspec.tasks.row_source import RowSource


def counted(share: RowShare) -> str:
    """96 of 100 sampled rows proved, 1 refuted, 3 undecided."""
    choice = "" if share.source is None else share.source.choice
    rest = (
        (share.refuted, "refuted"),
        (share.vacuous, "vacuous"),
        (share.undecided, "undecided"),
        (share.not_run, "not run"),
    )
    more = "".join(f", {count(number)} {word}" for number, word in rest if number)
    rows = f"all {count(share.rows)}" if choice == "all" else f"{count(share.rows)} {choice}".rstrip()
    return f"{count(share.proved)} of {rows} rows proved{more}"


def concluded(share: RowShare) -> tuple[str, ...]:
    """At least 91 % of such events, 95 % confidence, if drawn alike; nothing where nothing may be said.

    Rows that a spec names may have been chosen, of which nothing follows for others, so their line says so.
    """
    if not share.at_least:
        return ()
    sure = f"{float(100 * share.confidence):g} % confidence"
    listed = share.source is not None and share.source.choice == "listed"
    alike = "if the rows were drawn alike and not chosen" if listed else "if drawn alike"
    said = f"at least {percent_below(share.at_least)} of such events, {sure}, {alike}"
    if not share.at_least_where_met:
        return (said,)
    return said, f"at least {percent_below(share.at_least_where_met)} of those that are not vacuous"


def table_of(source: RowSource | None) -> str:
    """Which rows of which table they are; empty where that is not known."""
    if source is None:
        return ""
    said = f"{source.table}, {plural(source.in_table, 'row')}"
    if source.choice == "sampled":
        said += f", {count(source.taken)} drawn by seed {source.seed}"
    if source.unusable:
        said += f", {count(source.unusable)} passed over that hold no numbers"
    return said


def percent_below(share: Fraction) -> str:
    """A percentage rounded down, to a tenth of a percent; of less than that to two digits."""
    percent = 100 * share
    if percent >= Fraction(1, 10):
        return f"{floor(10 * percent) / 10:g} %"
    return f"{floor(1000 * percent) / 1000:g} %"


def lines(results: Sequence[Result]) -> list[tuple[int, str]]:
    """The lines that a terminal shows about checks over rows, each with the number of blanks that indent it."""
    said: list[tuple[int, str]] = []
    for group in row_groups(results):
        head = (0, f"{group.check} over the rows of {table_of(group.share.source) or 'its table'}")
        if head not in said:
            said.append(head)
        at = ", ".join(f"{name} = {exact_value(x)}" for name, x in group.parameters.items())
        said.append((2, f"{at}: {counted(group.share)}" if at else counted(group.share)))
        said += [(4, line) for line in concluded(group.share)]
    return said


def with_shares(results: Sequence[Result]) -> list[Result]:
    """The same results; each of a check over rows says what became of all rows at its values."""
    found = list(results)
    for group in row_groups(results):
        for number in group.members:
            found[number] = replace(found[number], over_rows=group.share)
    return found
