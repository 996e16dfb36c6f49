"""Results as annotations of GitHub Actions: workflow commands that mark the line of the spec.

GitHub shows ten errors and ten warnings of a step and drops the rest, so the last one of each counts what is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.report.missing import Missing
from eqspec.report.numbers import plural
from eqspec.report.outcome import Outcome, account, headline, outcome, place
from eqspec.report.printable import shown as escaped
from eqspec.tasks.result import Result

_SHOWN = 10
_LEVELS = {Outcome.FAILED: "error", Outcome.BROKEN: "error", Outcome.UNDECIDED: "warning"}


def to_text(results: Sequence[Result], missing: Sequence[Missing] = ()) -> str:
    """One line for each spec with missing results, and each task that is not as expected or undecided."""
    lines = [
        f"::{'warning' if one.interrupted else 'error'} file={_property(one.file)},title=eqspec::{_data(one.why)}"
        for one in missing
    ]
    for level in ("error", "warning"):
        found = [(r, f"{headline(r)}\n{account(r)}") for r in results if _LEVELS.get(outcome(r)) == level]
        lines += annotated(level, found, "not as expected" if level == "error" else "undecided")
    return escaped("\n".join(lines))


def annotated(level: str, found: Sequence[tuple[Result, str]], rest: str) -> list[str]:
    """A line for each task with its message, as many as are shown; `rest` is what those are that are only counted."""
    told = found if len(found) <= _SHOWN else found[: _SHOWN - 1]
    lines = [_annotation(level, result, message) for result, message in told]
    if hidden := len(found) - len(told):
        lines.append(f"::{level} title=eqspec::... and {plural(hidden, 'more task')} {rest}")
    return lines


def notice(message: str) -> str:
    """A line about the whole run."""
    return f"::notice title=eqspec::{_data(message)}"


def _annotation(level: str, result: Result, message: str) -> str:
    where = place(result)
    properties = [f"file={_property(where[0])}", f"line={where[1]}", f"col={where[2]}"] if where else []
    properties.append(f"title={_property(f'eqspec: {result.id}')}")
    return f"::{level} {','.join(properties)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
