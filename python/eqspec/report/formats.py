"""The forms in which results can be written, by name and by a file's ending; all from the same result objects."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eqspec.errors import InputError
from eqspec.report import github, json, table
from eqspec.report.atomic_file import write_file
from eqspec.report.missing import Missing
from eqspec.report.terminal import Terminal
from eqspec.tasks.result import Result

_COLUMNS = 120


def _table(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    page = Terminal(file=io.StringIO(), width=_COLUMNS, no_color=True)
    page.print(table.results_table(results))
    page.print()
    page.print(table.witnesses(results))
    if said := table.scores(results):
        page.print(said, soft_wrap=True)
    page.print(table.summary(results, sum(result.seconds for result in results)), soft_wrap=True)
    for one in missing:
        page.print(f"{one.file}: {one.why}", markup=False, highlight=False, soft_wrap=True)
    assert isinstance(page.file, io.StringIO)
    return page.file.getvalue().rstrip("\n")


def _page(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    from eqspec.report import html  # with jinja2 and what draws: where a page is wanted

    return html.page(results, missing=missing)


def _junit(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    from eqspec.report import junit

    return junit.to_text(results, missing)


def _sarif(results: Sequence[Result], missing: Sequence[Missing]) -> str:
    from eqspec.report import sarif

    return sarif.to_text(results, missing)


FORMATS: Mapping[str, Callable[[Sequence[Result], Sequence[Missing]], str]] = {
    "html": _page,
    "json": lambda results, _: json.to_text(results),
    "jsonl": lambda results, _: json.to_lines(results),
    "junit": _junit,
    "sarif": _sarif,
    "github": github.to_text,
    "table": _table,
}

_ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xml": "junit",
    ".sarif": "sarif",
    ".sarif.json": "sarif",
    ".txt": "table",
}


def format_of(path: Path) -> str:
    """The format that a file's name asks for; InputError if none."""
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return _ENDINGS[ending]
    known = ", ".join(f"{ending} ({name})" for ending, name in _ENDINGS.items())
    raise InputError(f"{path} does not say in which form results are to be written; end its name in one of {known}")


def render(results: Sequence[Result], form: str, missing: Sequence[Missing] = ()) -> str:
    """The results in one of the `FORMATS`, ended by a line break if there is anything.

    What is missing is said in all forms but JSON, which is a list of the results that there are.
    """
    text = FORMATS[form](results, missing).rstrip("\n")
    return f"{text}\n" if text else ""


def write(results: Sequence[Result], path: Path, form: str | None = None, missing: Sequence[Missing] = ()) -> None:
    """Write them to a file, in the form that its name asks for unless one is given."""
    write_file(path, render(results, form or format_of(path), missing))
