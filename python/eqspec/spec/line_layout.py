"""Lines of text under construction: where they may break, how wide they get, and comments behind them in columns.

Soft text holds a newline wherever it may break; nothing that can be written in a file contains one.
"""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.lazy_dataclass import dataclass

WIDTH = 150
"""Columns of a line. It is wide, because specs often have a whole block on one line."""
_GAP = 2
_FARTHEST = 100
"""Comments behind lines longer than this are not set in columns."""


@dataclass(frozen=True)
class Line:
    """A line and the comment behind it."""

    text: str
    comment: str | None = None


def flat(soft: str) -> str:
    """Soft text on one line."""
    return soft.replace("\n", " ")


def fill(first: str, soft: str, hang: int) -> list[Line]:
    """Soft text behind `first`, broken only if it is too long; further lines start at column `hang`."""
    if len(first) + len(soft) <= WIDTH:
        return [Line(first + flat(soft))]
    lines: list[str] = []
    current, fresh = first, True
    for word in soft.split("\n"):
        if not fresh and len(current) + 1 + len(word) > WIDTH:
            lines.append(current)
            current, fresh = " " * hang, True
        current += word if fresh else f" {word}"
        fresh = False
    return [Line(line) for line in [*lines, current]]


def join(before: Sequence[Line], between: str, after: Sequence[Line]) -> list[Line]:
    """The lines, with the last of `before` and the first of `after` made one."""
    seam = Line(before[-1].text + between + after[0].text, after[0].comment)
    return [*before[:-1], seam, *after[1:]]


def rendered(lines: Sequence[Line]) -> str:
    """The text, every line ended; comments behind lines that follow each other stand in one column."""
    out: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and lines[end].comment is not None:
            end += 1
        run = lines[start:end]
        widest = max((len(line.text) for line in run), default=0)
        column = widest if widest <= _FARTHEST else 0
        out += [line.text.ljust(column) + " " * _GAP + (line.comment or "") for line in run]
        if end == start:
            out.append(lines[start].text.rstrip())
            end += 1
        start = end
    return "\n".join(out) + "\n"
