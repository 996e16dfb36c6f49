"""Checks over the rows of a table: at how many of them the claim is proved, refuted, or neither, and how that changes
over a variable that is swept, mostly the radius.

A count is of these rows and of no others: nothing is said of events that were not in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from eqspec.report.html import plots
from eqspec.report.numbers import count, value
from eqspec.report.outcome import Outcome, outcome, place
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

_ROW = "row"
_FEWEST_ROWS = 2


@dataclass(frozen=True)
class Share:
    """What became of all rows at one value: numbers of rows. Vacuous ones are proved of nothing, so they are apart."""

    at: Fraction | None
    proved: int
    refuted: int
    vacuous: int
    rows: int

    @property
    def words(self) -> str:
        """30 of 40 rows proved, 2 refuted, 1 vacuous, 7 undecided."""
        undecided = self.rows - self.proved - self.refuted - self.vacuous
        rest = ((self.refuted, "refuted"), (self.vacuous, "vacuous"), (undecided, "undecided"))
        more = "".join(f", {count(number)} {word}" for number, word in rest if number)
        return f"{count(self.proved)} of {count(self.rows)} rows proved{more}"


@dataclass(frozen=True)
class RowShares:
    """A check at fixed values of its other variables. `picture` is the curve, None where nothing else is swept."""

    name: str
    claims: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    picture: Markup | None


def row_shares(results: Sequence[Result]) -> tuple[RowShares, ...]:
    """Of every check over at least two rows, in the order of the results. What failed to run is no row."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if _ROW in result.parameters and result.find is None and outcome(result) is not Outcome.BROKEN:
            where = place(result)
            groups.setdefault((where[0] if where else "", result.check), []).append(result)
    return tuple(one for (_, check), members in groups.items() for one in _of_check(check, members))


def _of_check(check: str, members: Sequence[Result]) -> list[RowShares]:
    if len({result.parameters[_ROW] for result in members}) < _FEWEST_ROWS:
        return []
    values: dict[str, set[Fraction]] = {}
    for result in members:
        for name, at in result.parameters.items():
            values.setdefault(name, set()).add(at)
    others = [name for name in values if name != _ROW]
    along = max(others, key=lambda name: len(values[name]), default="")
    groups: dict[tuple[tuple[str, Fraction], ...], list[Result]] = {}
    for result in members:
        rest = tuple((n, at) for n, at in result.parameters.items() if n not in (_ROW, along))
        groups.setdefault(rest, []).append(result)
    return [_of_group(check, rest, along, group) for rest, group in groups.items()]


def _of_group(check: str, rest: tuple[tuple[str, Fraction], ...], along: str, group: Sequence[Result]) -> RowShares:
    inside = ", ".join(f"{name} = {value(float(at))}" for name, at in rest)
    by_value: dict[Fraction | None, list[Result]] = {}
    for result in group:
        by_value.setdefault(result.parameters.get(along), []).append(result)
    shares = [_share(at, members) for at, members in by_value.items()]
    points = sorted((float(s.at), s.proved / s.rows, s.refuted / s.rows) for s in shares if s.at is not None)
    return RowShares(
        name=f"{check}, {inside}" if inside else check,
        claims=tuple(dict.fromkeys(result.claim for result in group))[:2],
        lines=tuple((f"{along} = {value(float(s.at))}" if s.at is not None else "", s.words) for s in shares),
        picture=plots.proved_rows(points, along) if len(points) > 1 else None,
    )


def _share(at: Fraction | None, members: Sequence[Result]) -> Share:
    return Share(
        at=at,
        proved=sum(r.verdict is Verdict.EQUIVALENT and not r.vacuous for r in members),
        refuted=sum(r.verdict is Verdict.DIFFERENT for r in members),
        vacuous=sum(r.vacuous for r in members),
        rows=len(members),
    )
