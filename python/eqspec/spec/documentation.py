"""Which comments document a declaration: the ## lines directly above it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from eqspec.span import Source
from eqspec.spec import ast


def doc_above(start: int, source: Source, comments: Sequence[ast.Comment], starts: Sequence[int]) -> list[ast.Comment]:
    """The ## comments on the lines directly above an offset, in order; `starts` are the places of all comments."""
    line, _ = source.line_column(start)
    found: list[ast.Comment] = []
    i = bisect_left(starts, start) - 1
    while i >= 0 and comments[i].doc and source.line_column(starts[i])[0] == line - 1:
        column = source.line_column(starts[i])[1]
        if source.line(line - 1)[: column - 1].strip():
            break
        found.append(comments[i])
        line, i = line - 1, i - 1
    return found[::-1]


def doc_text(comments: Sequence[ast.Comment]) -> str | None:
    """Their text without the marks; None if there is none."""
    return "\n".join(c.text.removeprefix("##").strip() for c in comments) or None
