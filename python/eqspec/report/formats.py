"""The forms in which results can be written, by name and by a file's ending; all from the same result objects."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eqspec.errors import InputError
from eqspec.report import github, json, table
from eqspec.report.atomic_file import write_file
from eqspec.report.terminal import Terminal
from eqspec.tasks.result import Result

_COLUMNS = 120


def _table(results: Sequence[Result]) -> str:
    page = Terminal(file=io.StringIO(), width=_COLUMNS, no_color=True)
    page.print(table.results_table(results))
    page.print()
    page.print(table.witnesses(results))
    if said := table.scores(results):
        page.print(said, soft_wrap=True)
    page.print(table.summary(results, sum(result.seconds for result in results)), soft_wrap=True)
    assert isinstance(page.file, io.StringIO)
    return page.file.getvalue().rstrip("\n")


def _page(results: Sequence[Result]) -> str:
    from eqspec.report import html  # with jinja2 and what draws: for who wants a page

    return html.page(results)


def _junit(results: Sequence[Result]) -> str:
    from eqspec.report import junit

    return junit.to_text(results)


def _sarif(results: Sequence[Result]) -> str:
    from eqspec.report import sarif

    return sarif.to_text(results)


FORMATS: Mapping[str, Callable[[Sequence[Result]], str]] = {
    "html": _page,
    "json": json.to_text,
    "jsonl": json.to_lines,
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


def render(results: Sequence[Result], form: str) -> str:
    """The results in one of the `FORMATS`, ended by a line break if there is anything."""
    text = FORMATS[form](results).rstrip("\n")
    return f"{text}\n" if text else ""


def write(results: Sequence[Result], path: Path, form: str | None = None) -> None:
    """Write them to a file, in the form that its name asks for unless one is given."""
    write_file(path, render(results, form or format_of(path)))
