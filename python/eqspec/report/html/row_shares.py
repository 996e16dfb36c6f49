"""Checks over the rows of a table: at how many of them the claim is proved, refuted, or neither, what may be said of
events drawn alike, and how that changes over a variable that is swept, mostly the radius.

A count is of these rows and of no others; what is concluded from it, and when, is in `tasks/row_share`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from markupsafe import Markup

from eqspec.lazy_dataclass import dataclass
from eqspec.report.html import plots
from eqspec.report.numbers import count, exact_value
from eqspec.report.row_counts import concluded, counted, percent_below, table_of
from eqspec.tasks.result import Result
from eqspec.tasks.row_groups import RowGroup, row_groups


@dataclass(frozen=True)
class RowShares:
    """A check at fixed values of its other variables. `picture` is the curve, None where nothing else is swept.

    Each of the `lines` has the value, the counts, and what may be concluded; where there are several, the same stands
    in `cells` under `heads`, a row for each. `table` says which rows of a table they are.
    """

    name: str
    claims: tuple[str, ...]
    table: str
    lines: tuple[tuple[str, str, tuple[str, ...]], ...]
    heads: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    picture: Markup | None
    bounded: bool


def row_shares(results: Sequence[Result]) -> tuple[RowShares, ...]:
    """Of every check over at least two rows, in the order of the results."""
    checks: dict[tuple[str, str], list[RowGroup]] = {}
    for group in row_groups(results):
        checks.setdefault((group.file, group.check), []).append(group)
    return tuple(one for (_, check), groups in checks.items() for one in _of_check(check, groups, results))


def _of_check(check: str, groups: Sequence[RowGroup], results: Sequence[Result]) -> list[RowShares]:
    values: dict[str, set[Fraction]] = {}
    for group in groups:
        for name, at in group.parameters.items():
            values.setdefault(name, set()).add(at)
    along = max(values, key=lambda name: len(values[name]), default="")
    curves: dict[tuple[tuple[str, Fraction], ...], list[RowGroup]] = {}
    for group in groups:
        rest = tuple((name, at) for name, at in group.parameters.items() if name != along)
        curves.setdefault(rest, []).append(group)
    return [_curve(check, rest, along, members, results) for rest, members in curves.items()]


def _curve(
    check: str,
    rest: tuple[tuple[str, Fraction], ...],
    along: str,
    groups: Sequence[RowGroup],
    results: Sequence[Result],
) -> RowShares:
    inside = ", ".join(f"{name} = {exact_value(at)}" for name, at in rest)
    points = sorted(
        plots.RowsAt(
            float(at), s.proved / s.rows, s.refuted / s.rows, None if s.at_least is None else float(s.at_least)
        )
        for group in groups
        if (at := group.parameters.get(along)) is not None and (s := group.share) is not None
    )
    heads, cells = _cells(groups, along)
    return RowShares(
        name=f"{check}, {inside}" if inside else check,
        claims=tuple(dict.fromkeys(results[n].claim for group in groups for n in group.members))[:2],
        table=table_of(groups[0].share.source),
        lines=tuple((_at(group, along), counted(group.share), concluded(group.share)) for group in groups),
        heads=heads,
        cells=cells,
        picture=plots.proved_rows(points, along) if len(points) > 1 else None,
        bounded=all(point.bound is not None for point in points),
    )


_COUNTS = ("proved", "refuted", "vacuous", "undecided", "not_run")


def _cells(groups: Sequence[RowGroup], along: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Heads and a row for each value, without the counts that are zero everywhere and bounds that nobody may state."""
    shares = [group.share for group in groups]
    counts = [name for name in _COUNTS if name == "proved" or any(getattr(share, name) for share in shares)]
    bounds = [
        (name, head)
        for name, head in (("at_least", "such events"), ("at_least_where_met", "those not vacuous"))
        if any(getattr(share, name) for share in shares)
    ]
    sure = f", {float(100 * shares[0].confidence):g} % confidence"
    heads = [along, "rows", *(name.replace("_", " ") for name in counts)]
    heads += [f"at least, of {head}{sure}" for _, head in bounds]
    rows = [
        (
            exact_value(group.parameters[along]) if along in group.parameters else "",
            count(share.rows),
            *(count(getattr(share, name)) for name in counts),
            *(percent_below(bound) if (bound := getattr(share, name)) else "" for name, _ in bounds),
        )
        for group, share in zip(groups, shares, strict=True)
    ]
    return tuple(heads), tuple(rows)


def _at(group: RowGroup, along: str) -> str:
    at = group.parameters.get(along)
    return "" if at is None else f"{along} = {exact_value(at)}"
