"""A comparison of two runs in the forms that reports have: as text, JSON, JUnit XML, annotations, or a page.

Of a run alone these forms say what is not as expected; of two they say what is not as it was. A verdict that got worse
is an error, a task that takes longer a warning, everything else is only told.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqspec.errors import InputError
from eqspec.report import github, html, junit
from eqspec.report.comparison import Change, Comparison, Kind
from eqspec.report.html.changes import HEADINGS
from eqspec.report.numbers import plural
from eqspec.report.outcome import account, headline, place
from eqspec.report.printable import shown, shown_in_json
from eqspec.report.terminal import Terminal
from eqspec.tasks.result import Result

COLUMNS = 120
_MOST = 40


def of_terminal(found: Comparison, width: int = COLUMNS) -> str:
    """Plain text: what changed, by kind, and a line that counts."""
    page = Terminal(file=io.StringIO(), width=width, no_color=True)
    for kind, heading in HEADINGS.items():
        changes, hidden = found.listed(kind, _MOST)
        if not changes:
            continue
        page.print(Text(heading))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        for change in changes:
            table.add_row(Text(change.result.id), Text("; ".join(filter(None, (change.words, change.asked)))))
        if hidden:
            table.add_row(Text(f"... and {plural(hidden, 'more task')}"), Text("--format json lists them all"))
        page.print(Padding(table, (0, 0, 1, 2)))
    page.print(Text(found.summary), soft_wrap=True)
    assert isinstance(page.file, io.StringIO)
    return "\n".join(line.rstrip() for line in page.file.getvalue().splitlines()) + "\n"


def of_github(found: Comparison) -> str:
    """An error for what got worse, a warning for what takes longer, notices of what is gone, and one that counts."""
    lines: list[str] = []
    for kind, level in ((Kind.WORSE, "error"), (Kind.SLOWER, "warning"), (Kind.GONE, "notice")):
        told = [(change.result, _message(change)) for change in found.of(kind)]
        lines += github.annotated(level, told, str(kind))
    return shown("\n".join([*lines, github.notice(found.summary)]))


def of_junit(found: Comparison) -> str:
    """A test case for every task of the later run; those that got worse are failures."""

    def problem(change: Change) -> junit.Problem | None:
        message = _message(change)
        return junit.Problem("failure", "worse", change.words, message) if change.kind is Kind.WORSE else None

    judged = [(change.after, problem(change)) for change in found.tasks if change.after is not None]
    return junit.document(judged, lambda _: found.summary)


def of_json(found: Comparison) -> str:
    """An object with what changed, in words and as verdicts, and how many tasks did not."""
    document = {
        "against": found.against,
        "worse": found.worse,
        "same": len(found.of(Kind.SAME)),
        "pace": found.pace,
        "changes": [_object(change) for change in found.changes],
    }
    return shown_in_json(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def _object(change: Change) -> dict[str, Any]:
    where = place(change.result)
    return {
        "kind": str(change.kind),
        "id": change.result.id,
        "file": where[0] if where else None,
        "words": change.words,
        "asked": change.asked,
        "before": _short(change.before),
        "after": _short(change.after),
    }


def _short(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "verdict": result.verdict.value,
        "vacuous": result.vacuous,
        "as_expected": result.as_expected,
        "seconds": result.seconds,
    }


def _message(change: Change) -> str:
    lines = [f"{change.kind}: {change.words}", change.asked]
    if change.kind is Kind.WORSE:
        lines += [headline(change.result), account(change.result)]
    return "\n".join(filter(None, lines))


FORMS: Mapping[str, Callable[[Comparison], str]] = {
    "json": of_json,
    "junit": of_junit,
    "github": of_github,
}


def render(found: Comparison, form: str, title: str | None = None, width: int = COLUMNS) -> str:
    """The comparison in a form, ended by a line break; on a page together with the later run. InputError for others.

    `width` is that of a terminal, in columns.
    """
    if form == "table":
        return of_terminal(found, width)
    if form == "html":
        return html.page([change.after for change in found.tasks if change.after is not None], title, against=found)
    if form not in FORMS:
        raise InputError(f"--against has no form {form}; give one of html, table, {', '.join(FORMS)}")
    return FORMS[form](found).rstrip("\n") + "\n"
