"""What changed since an earlier run, ready to be shown: a table by kind of change, with links to the tasks."""

from __future__ import annotations

from collections.abc import Container, Sequence

from eqspec.lazy_dataclass import dataclass
from eqspec.report.comparison import Change, Comparison, Kind
from eqspec.report.numbers import plural
from eqspec.tasks.result import Result

HEADINGS = {
    Kind.WORSE: "worse",
    Kind.OTHER: "another verdict",
    Kind.SLOWER: "slower",
    Kind.BETTER: "better",
    Kind.RENAMED: "renamed",
    Kind.NEW: "new",
    Kind.GONE: "gone",
}

_MOST = 20


@dataclass(frozen=True)
class Changed:
    """A line of the table; `link` is the part of the page that tells about the task, empty for one that is gone."""

    kind: str
    heading: str
    id: str
    words: str
    asked: str
    link: str


@dataclass(frozen=True)
class Against:
    """The comparison as a section of the page."""

    name: str
    standing: str
    summary: str
    lines: tuple[Changed, ...]


def changes(found: Comparison, told: Container[int], results: Sequence[Result]) -> Against:
    """Of a comparison; `told` are the positions of the results that are told in detail."""
    number = {id(result): n for n, result in enumerate(results)}
    lines: list[Changed] = []
    for kind, heading in HEADINGS.items():
        listed, hidden = found.listed(kind, _MOST)
        lines += [_line(change, number, told) for change in listed]
        if hidden:
            lines.append(Changed(str(kind), heading, f"and {plural(hidden, 'more task')}", "", "", ""))
    standing = "failed" if found.worse else "undecided" if lines else "passed"
    return Against(found.against, standing, found.summary, tuple(lines))


def _line(change: Change, number: dict[int, int], told: Container[int]) -> Changed:
    at = None if change.after is None else number.get(id(change.after))
    link = "" if at is None else f"#{'t' if at in told else 'l'}{at}"
    return Changed(str(change.kind), HEADINGS[change.kind], change.result.id, change.words, change.asked, link)
