"""The page: what came out in a sentence, what failed, the sweeps as grids, every task in a table, and each in detail.

Of very many tasks only some are shown in detail, those that need looking at first; the table has all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from eqspec.lazy_dataclass import dataclass
from eqspec.report.comparison import Comparison
from eqspec.report.html import plots
from eqspec.report.html.changes import Against, changes
from eqspec.report.html.detail import Detail, detail
from eqspec.report.html.grid import Grid, Mark, grids, legend
from eqspec.report.html.row_shares import RowShares, row_shares
from eqspec.report.missing import Missing
from eqspec.report.numbers import count, duration, plural
from eqspec.report.outcome import Outcome, outcome, place, sentence, standing
from eqspec.report.printable import shown
from eqspec.report.table import remark
from eqspec.run.core import __version__
from eqspec.run.options import MEMORY
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

_NOT_HTML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef]|[\ufffe\uffff]")
_MOST_DETAILS = 400
_MOST_UNFOLDED = 6
_FEW = 3
"""So many failures are all unfolded; of more, the first of each check."""
_MOST_LISTED = 12
"""More tasks of one outcome are folded together; of those that are as expected, all are then."""
_SLACK = 3
"""So few more are not worth a fold of their own."""
_MOST_UNDECIDED = 3
"""Unfolded where nothing failed."""
_FEWEST_OVER_TIME = 8
_URGENCY = [Outcome.BROKEN, Outcome.FAILED, Outcome.UNDECIDED, Outcome.PASSED]
_WORDS = ("equivalent", "different", "unknown", "vacuous")
_PARTS = (
    ("failed", "Not as expected", (Outcome.FAILED, Outcome.BROKEN)),
    ("undecided", "Undecided", (Outcome.UNDECIDED,)),
    ("passed", "As expected", (Outcome.PASSED,)),
)
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
class Part:
    """Details of the tasks of an outcome, under a heading; those of `folded` are folded together."""

    name: str
    heading: str
    details: tuple[Detail, ...]
    folded: tuple[Detail, ...]


@dataclass(frozen=True)
class View:
    """What the template shows."""

    title: str
    made: str
    version: str
    standing: str
    sentence: str
    summary: str
    missing: tuple[Missing, ...]
    against: Against | None
    grids: tuple[Grid, ...]
    legend: tuple[Mark, ...]
    several_files: bool
    row_shares: tuple[RowShares, ...]
    over_time: Markup | None
    lines: tuple[Line, ...]
    parts: tuple[Part, ...]
    linked: frozenset[int]
    left_out: int
    setups: tuple[Setup, ...]


def page(
    results: Sequence[Result],
    title: str | None = None,
    made: datetime | None = None,
    against: Comparison | None = None,
    missing: Sequence[Missing] = (),
) -> str:
    """The page as text. Without a title it is named after the spec files; `made` is the time that it shows.

    With a comparison it says first what changed since the earlier run, and what is `missing` before that.
    """
    view = _view(results, title, made or datetime.now(UTC), against, missing)
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


def _view(
    results: Sequence[Result],
    title: str | None,
    made: datetime,
    against: Comparison | None,
    missing: Sequence[Missing],
) -> View:
    urgent = sorted(range(len(results)), key=lambda n: _urgency(results[n]))
    chosen = set(urgent[:_MOST_DETAILS])
    failed = _unfolded(results, [n for n in urgent if outcome(results[n]) in (Outcome.FAILED, Outcome.BROKEN)])
    undecided = [n for n in urgent if outcome(results[n]) is Outcome.UNDECIDED][:_MOST_UNDECIDED]
    unfolded = {0} if len(results) == 1 else set(failed or undecided)
    setups, setup_of = _setups(results)
    decided = [result for result in results if result.verdict is not Verdict.UNKNOWN]
    told = {n: detail(n, results[n], setup_of[n], results, unfolded=n in unfolded) for n in sorted(chosen)}
    shown_grids = tuple(grids(results))
    return View(
        title=title or _title(results, missing),
        made=made.strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        standing=standing(results, missing),
        sentence=sentence(results, missing),
        summary=_summary(results, missing),
        missing=tuple(missing),
        against=None if against is None else changes(against, chosen, results),
        grids=shown_grids,
        legend=legend(shown_grids),
        several_files=len({where[0] for result in results if (where := place(result))}) > 1,
        row_shares=row_shares(results),
        over_time=plots.decided_over_time(results) if decided and len(results) >= _FEWEST_OVER_TIME else None,
        lines=tuple(_line(n, result, linked=n in chosen) for n, result in enumerate(results)),
        parts=tuple(
            _part(name, heading, found)
            for name, heading, outcomes in _PARTS
            if (found := tuple(told[n] for n in told if outcome(results[n]) in outcomes))
        ),
        linked=frozenset(chosen),
        left_out=len(results) - len(chosen),
        setups=setups,
    )


def _part(name: str, heading: str, found: tuple[Detail, ...]) -> Part:
    """What is unfolded comes first and is always listed."""
    if len(found) <= _MOST_LISTED + (0 if name == "passed" else _SLACK):
        return Part(name, heading, found, ())
    listed = 0 if name == "passed" else _MOST_LISTED
    order = sorted(found, key=lambda one: not one.unfolded)
    return Part(name, heading, tuple(order[:listed]), tuple(order[listed:]))


def _unfolded(results: Sequence[Result], failed: Sequence[int]) -> list[int]:
    """Which failures are unfolded: all if they are few, else the first of each check, as far as a reader looks."""
    if len(failed) <= _FEW:
        return list(failed)
    first: dict[tuple[str, str], int] = {}
    for n in failed:
        where = place(results[n])
        first.setdefault((where[0] if where else "", results[n].check), n)
    return list(first.values())[:_MOST_UNFOLDED]


def _urgency(result: Result) -> tuple[int, int]:
    return _URGENCY.index(outcome(result)), _VERDICTS.index(result.verdict)


def _title(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    files = [where[0] for result in results if (where := place(result))]
    files = list(dict.fromkeys([*files, *(one.file for one in missing if one.tasks is None)]))
    return ", ".join(files) if 0 < len(files) <= 3 else "eqspec" if not files else f"{len(files)} specs"


def _summary(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    """What the sentence does not say: of what was as expected how much was proved, and the time."""
    if not results and missing:
        return "Nothing was checked."
    if not results:
        return "No results: the file holds none, so nothing was checked."
    words = Counter("vacuous" if r.vacuous else r.verdict.value for r in results if outcome(r) is Outcome.PASSED)
    fine = ", ".join(f"{count(words[word])} {word}" for word in _WORDS if words[word])
    spent = f"{duration(sum(r.seconds for r in results))} of search in all."
    return f"As expected: {fine}. {spent}" if fine else spent


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
        case "memory", None:
            return f"{MEMORY / 2**20:g} MiB, the default"
        case "timeout" | "boxes", None:
            return "no limit set"
        case "timeout", int() | float():
            return f"{given:g} s"
        case "memory", int():
            return f"{given / 2**20:g} MiB"
        case _, bool():
            return "on" if given else "off"
        case _:
            return str(given)
