"""The page: what came out, the sweeps as grids, every task in a table, and each task in detail.

Of very many tasks only some are shown in detail, those that need looking at first; the table has all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from eqspec.report.html import plots
from eqspec.report.html.detail import Detail, detail
from eqspec.report.html.grid import Grid, grids
from eqspec.report.numbers import count, duration, plural
from eqspec.report.outcome import Outcome, outcome, place
from eqspec.report.printable import shown
from eqspec.report.table import remark
from eqspec.run.core import __version__
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

_NOT_HTML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef]|[\ufffe\uffff]")
_MOST_DETAILS = 400
_MOST_UNFOLDED = 12
_FEWEST_OVER_TIME = 8
_URGENCY = [Outcome.BROKEN, Outcome.FAILED, Outcome.UNDECIDED, Outcome.PASSED]
_VERDICTS = [Verdict.DIFFERENT, Verdict.UNKNOWN, Verdict.EQUIVALENT]


@dataclass(frozen=True)
class Setup:
    """What some of the tasks were run with."""

    name: str
    tasks: str
    networks: tuple[tuple[str, str, str, str], ...]
    settings: tuple[tuple[str, str], ...]
    version: str


@dataclass(frozen=True)
class Line:
    """A line of the table of all tasks."""

    number: int
    id: str
    file: str
    kind: str
    outcome: Outcome
    time: str
    boxes: str
    remark: str
    linked: bool


@dataclass(frozen=True)
class View:
    """What the template shows."""

    title: str
    made: str
    version: str
    tiles: tuple[tuple[str, str, str], ...]
    summary: str
    grids: tuple[Grid, ...]
    several_files: bool
    over_time: Markup | None
    lines: tuple[Line, ...]
    details: tuple[Detail, ...]
    linked: frozenset[int]
    left_out: int
    setups: tuple[Setup, ...]


def page(results: Sequence[Result], title: str | None = None, made: datetime | None = None) -> str:
    """The page as text. Without a title it is named after the spec files; `made` is the time that it shows."""
    view = _view(results, title, made or datetime.now(UTC))
    return shown(_environment().get_template("page.html.jinja").render(view=view))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("eqspec.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(given: object) -> object:
    """Text without characters that a page cannot hold; they may stand in names of files."""
    return _NOT_HTML.sub("\ufffd", shown(given)) if isinstance(given, str) and not isinstance(given, Markup) else given


def _view(results: Sequence[Result], title: str | None, made: datetime) -> View:
    urgent = sorted(range(len(results)), key=lambda n: _urgency(results[n]))
    chosen = set(urgent[:_MOST_DETAILS])
    unfolded = {n for n in urgent[:_MOST_UNFOLDED] if results[n].verdict is not Verdict.EQUIVALENT or results[n].find}
    if len(results) == 1:
        unfolded = {0}
    setups, setup_of = _setups(results)
    decided = [result for result in results if result.verdict is not Verdict.UNKNOWN]
    return View(
        title=title or _title(results),
        made=made.strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        tiles=_tiles(results),
        summary=_summary(results),
        grids=tuple(grids(results)),
        several_files=len({where[0] for result in results if (where := place(result))}) > 1,
        over_time=plots.decided_over_time(results) if decided and len(results) >= _FEWEST_OVER_TIME else None,
        lines=tuple(_line(n, result, linked=n in chosen) for n, result in enumerate(results)),
        details=tuple(
            detail(n, results[n], setup_of[n], unfolded=n in unfolded) for n in range(len(results)) if n in chosen
        ),
        linked=frozenset(chosen),
        left_out=len(results) - len(chosen),
        setups=setups,
    )


def _urgency(result: Result) -> tuple[int, int]:
    return _URGENCY.index(outcome(result)), _VERDICTS.index(result.verdict)


def _title(results: Sequence[Result]) -> str:
    files = list(dict.fromkeys(where[0] for result in results if (where := place(result))))
    return ", ".join(files) if 0 < len(files) <= 3 else "eqspec" if not files else f"{len(files)} specs"


def _tiles(results: Sequence[Result]) -> tuple[tuple[str, str, str], ...]:
    """Kind, number, label."""
    tiles = [(v.value, sum(r.verdict is v for r in results), v.value) for v in Verdict]
    tiles += [("vacuous", n, "vacuous") for n in [sum(r.vacuous for r in results)] if n]
    tiles += [("wrong", n, "not as expected") for n in [sum(outcome(r) is Outcome.FAILED for r in results)]]
    tiles += [("wrong", n, "failed") for n in [sum(outcome(r) is Outcome.BROKEN for r in results)] if n]
    return tuple((kind, count(number), label) for kind, number, label in tiles)


def _summary(results: Sequence[Result]) -> str:
    if not results:
        return "No results: the file holds none, so nothing was checked."
    found = [outcome(result) for result in results]
    parts = [f"{plural(len(results), 'task')}, {duration(sum(r.seconds for r in results))} of search in all."]
    for kind, words in (
        (Outcome.FAILED, "not as expected"),
        (Outcome.UNDECIDED, "undecided"),
        (Outcome.BROKEN, "failed"),
    ):
        if number := found.count(kind):
            parts.append(f"{count(number)} {words}.")
    if all(kind is Outcome.PASSED for kind in found):
        parts.append("All as expected." if any(r.expected for r in results) else "All hold.")
    return " ".join(parts)


def _line(number: int, result: Result, *, linked: bool) -> Line:
    where = place(result)
    return Line(
        number=number,
        id=result.id,
        file=where[0] if where else "",
        kind="vacuous" if result.vacuous else result.verdict.value,
        outcome=outcome(result),
        time=duration(result.seconds),
        boxes=count(result.boxes),
        remark=remark(result).plain,
        linked=linked,
    )


def _setups(results: Sequence[Result]) -> tuple[tuple[Setup, ...], list[int]]:
    """What tasks were run with, each once, and which of them every result has."""
    found: dict[str, list[int]] = {}
    for number, result in enumerate(results):
        key = json.dumps([result.networks, result.settings, result.engine_version], sort_keys=True, default=str)
        found.setdefault(key, []).append(number)
    setups = tuple(_setup(i, results[members[0]], len(members)) for i, members in enumerate(found.values()))
    setup_of = [0] * len(results)
    for i, members in enumerate(found.values()):
        for number in members:
            setup_of[number] = i
    return setups, setup_of


def _setup(position: int, result: Result, tasks: int) -> Setup:
    networks = tuple(
        (role, network.get("name") or "", network.get("path") or "", network.get("sha256") or "")
        for role, network in result.networks.items()
    )
    settings = tuple((name, _setting(name, given)) for name, given in result.settings.items())
    return Setup(f"setup {position + 1}", plural(tasks, "task"), networks, settings, result.engine_version)


def _setting(name: str, given: object) -> str:
    match name, given:
        case "threads", None:
            return "one per core"
        case "timeout" | "memory" | "boxes", None:
            return "no limit set"
        case "timeout", int() | float():
            return f"{given:g} s"
        case "memory", int():
            return f"{given / 2**20:g} MiB"
        case _, bool():
            return "on" if given else "off"
        case _:
            return str(given)
