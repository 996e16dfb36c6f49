"""Where comments go when a tree is printed.

A comment belongs to the item it stands behind on the same line, else to the item below it, else to the end of the
block. One that stands in the middle of an item cannot move: the item is then kept as written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import field

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast
from eqspec.spec.documentation import doc_above
from eqspec.spec.line_layout import Line


@dataclass
class Item:
    """The comments around an item: lines above it, with blank ones between, and one behind it on its last line."""

    above: list[str] = field(default_factory=list)
    behind: str | None = None
    joined: bool = False
    """Whether no blank line separates it from the item before it."""

    def around(self, body: list[Line], indent: int) -> list[Line]:
        """The item's lines with what stands around them."""
        lines = [Line(" " * indent + line if line else "") for line in self.above]
        if self.behind is None:
            return lines + body
        return [*lines, *body[:-1], Line(body[-1].text, self.behind)]


@dataclass
class Placed:
    """The items of a block with what stands around them, what is behind its brace, and what follows the last item."""

    items: list[Item]
    opening: str | None = None
    below: list[str] = field(default_factory=list)

    def ending(self, indent: int) -> list[Line]:
        """The lines below the last item."""
        return [Line(" " * indent + line if line else "") for line in self.below]


class Comments:
    """The comments of one file, by place. A node that was built in memory, or read from another file, has none."""

    def __init__(self, file: ast.File) -> None:
        self._source = file.span.source
        self._all = [c for c in file.comments if c.span.source is self._source]
        self._starts = [c.span.start for c in self._all]
        self._doc_start: dict[int, int] = {}
        documented: set[int] = set()
        for declaration in file.declarations:
            if self._has(declaration):
                lines = doc_above(declaration.span.start, self._source, self._all, self._starts)
                if any(c.text.removeprefix("##").strip() for c in lines) or len(lines) > 1:
                    self._doc_start[declaration.span.start] = lines[0].span.start
                    documented |= {c.span.start for c in lines}
        self._free = [c for c in self._all if c.span.start not in documented]
        self._free_starts = [c.span.start for c in self._free]

    def header(self, file: ast.File) -> ast.Node:
        """The words `eqspec 1` as a node that ends where they end."""
        return ast.Mean(span=file.version.span)

    def inside(self, node: ast.Node) -> Sequence[ast.Comment]:
        """All comments within a node."""
        if not self._has(node):
            return ()
        return self._all[bisect_left(self._starts, node.span.start) : bisect_left(self._starts, node.span.end)]

    def written(self, node: ast.Node) -> str | None:
        """The text of a node in this file, None if it is not from there."""
        return node.span.text if self._has(node) else None

    def as_written(self, node: ast.Node) -> list[Line]:
        """The lines of a node exactly as they are in the file if there is a comment in its middle, else none."""
        return [Line(line.rstrip()) for line in node.span.text.split("\n")] if self.inside(node) else []

    def arrange(self, items: Sequence[ast.Node], block: ast.Node | None) -> Placed:
        """Every comment of a block (None: the file) that is not within one of its items, and blank lines."""
        known = sorted((i for i, item in enumerate(items) if self._has(item)), key=lambda i: items[i].span.start)
        starts = [items[i].span.start for i in known]
        leading: list[list[ast.Comment]] = [[] for _ in items]
        placed = Placed([Item() for _ in items])
        tail: list[ast.Comment] = []
        for comment in self._within(block):
            at = comment.span.start
            before = bisect_right(starts, at) - 1
            if before >= 0 and items[known[before]].span.end > at:
                continue
            end = items[known[before]].span.end if before >= 0 else (block.span.start if block else None)
            if end is not None and "\n" not in self._source.text[end:at]:
                if before >= 0:
                    placed.items[known[before]].behind = comment.text.rstrip()
                else:
                    placed.opening = comment.text.rstrip()
            elif before + 1 < len(known):
                leading[known[before + 1]].append(comment)
            else:
                tail.append(comment)
        end_line = self._lines_above(items, leading, placed)
        placed.below = self._spaced(tail, end_line)[0]
        return placed

    def _lines_above(self, items: Sequence[ast.Node], leading: list[list[ast.Comment]], placed: Placed) -> int | None:
        """Fill in what stands above each item; the line the last one ends on."""
        last: int | None = None
        previous: ast.Node | None = None
        for item, comments, around in zip(items, leading, placed.items, strict=True):
            if not self._has(item):
                if previous is not None and not isinstance(previous, ast.Mean) and _apart(previous, item):
                    around.above.append("")
                around.joined = not around.above
                previous, last = item, None
                continue
            above, line = self._spaced(comments, last)
            start = self._source.line_column(self._doc_start.get(item.span.start, item.span.start))[0]
            if line is not None and start - line > 1:
                above.append("")
            if last is None and previous is not None and not above and _apart(previous, item):
                above.append("")
            around.above = above
            around.joined = not above
            previous, last = item, self._source.line_column(item.span.end)[0]
        return last

    def _spaced(self, comments: Sequence[ast.Comment], last: int | None) -> tuple[list[str], int | None]:
        """Comments line by line, with a blank line where there were some, and the line of the last."""
        lines: list[str] = []
        for comment in comments:
            line = self._source.line_column(comment.span.start)[0]
            if last is not None and line - last > 1:
                lines.append("")
            lines.append(comment.text.rstrip())
            last = line
        return lines, last

    def _within(self, block: ast.Node | None) -> Sequence[ast.Comment]:
        if block is None:
            return self._free
        if not self._has(block):
            return ()
        first = bisect_left(self._free_starts, block.span.start)
        return self._free[first : bisect_left(self._free_starts, block.span.end)]

    def _has(self, node: ast.Node) -> bool:
        return node.span.source is self._source and node.span is not ast.NOWHERE


_CLAUSES = tuple(kind for kind in ast.CheckClause.__args__ if kind is not ast.Budget)


def _apart(previous: ast.Node, item: ast.Node) -> bool:
    """Whether a blank line separates two declarations that were not written in one file."""
    declarations = ast.Declaration.__args__
    if not isinstance(item, declarations) or isinstance(previous, _CLAUSES):  # a budget is a clause, too
        return False
    short = (ast.Include, ast.Let, ast.Param, ast.Network)
    return type(previous) is not type(item) or not isinstance(item, short)
