"""Syntax tree to text, in one style; what `eqspec fmt` writes.

Numbers keep their text, lists and sums are spaced one way, clause keywords of a block stand in columns. A block written
on one line stays there while it fits; a blank line between two things stays, several become one. Comments stay where
they are: above what they were above, or behind it. A clause with a comment in its middle is left exactly as written.
Reading what was printed gives the same tree again, and printing that gives the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import groupby
from typing import TypeAlias, cast

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, clause_text
from eqspec.spec.comments import Comments, Placed
from eqspec.spec.line_layout import WIDTH, Line, fill, flat, join, rendered

AnyNetwork: TypeAlias = ast.Network | ast.DerivedNetwork
TermBlock: TypeAlias = ast.Box | ast.Where | ast.Grid
Block: TypeAlias = ast.Space | ast.Check | ast.Budget | TermBlock
_INDENT = 2


def text(node: ast.Node) -> str:
    """A node as it is written in a file: a whole file ends with a newline, anything else does not."""
    match node:
        case ast.File():
            return _Printer(Comments(node)).file(node)
        case (
            ast.Include()
            | ast.Let()
            | ast.Param()
            | ast.Space()
            | ast.Network()
            | ast.DerivedNetwork()
            | ast.Region()
            | ast.Check()
            | ast.Budget()
        ):
            alone = ast.File(ast.Number("1"), (node,))
            return rendered(_Printer(Comments(alone)).declaration(node)).rstrip("\n")
        case _:
            return flat(clause_text.clause(node))


@dataclass
class _Run:
    """Adjacent declarations of one kind that are set in columns."""

    network_name: int = 0
    network_path: int = 0
    lines: dict[int, str] = field(default_factory=dict)
    """Checks on one line, by their place in the file."""


class _Printer:
    """Prints the declarations of one file with its comments."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    def file(self, file: ast.File) -> str:
        """The whole text."""
        header = self._comments.header(file)
        placed = self._comments.arrange([header, *file.declarations], None)
        runs = self._runs(file, placed)
        lines: list[Line] = []
        for index, item in enumerate(placed.items):
            if index == 0:
                body = [Line(f"eqspec {file.version.text}")]
            else:
                declaration = file.declarations[index - 1]
                body = self._doc(declaration) + self._in_run(declaration, index - 1, runs.get(index - 1))
            lines += item.around(body, 0)
        return rendered(lines + placed.ending(0))

    def _runs(self, file: ast.File, placed: Placed) -> dict[int, _Run]:
        """The run of each network and check, by place in the file."""
        found: dict[int, _Run] = {}
        numbers: list[list[int]] = []
        for i, declaration in enumerate(file.declarations):
            if not isinstance(declaration, AnyNetwork | ast.Check):
                continue
            joined = placed.items[i + 1].joined and i > 0 and declaration.doc is None
            kind = AnyNetwork if isinstance(declaration, AnyNetwork) else ast.Check
            if joined and isinstance(file.declarations[i - 1], kind):
                numbers[-1].append(i)
            else:
                numbers.append([i])
        for group in numbers:
            run = _Run()
            if isinstance(file.declarations[group[0]], AnyNetwork):
                self._align_networks([cast(AnyNetwork, file.declarations[i]) for i in group], run)
            else:
                self._align_checks({i: cast(ast.Check, file.declarations[i]) for i in group}, run)
            found |= dict.fromkeys(group, run)
        return found

    def _align_networks(self, networks: Sequence[AnyNetwork], run: _Run) -> None:
        """Networks that stand together: names in a column, and the paths of files in another."""
        plain = [n for n in networks if not self._comments.inside(n)]
        files = [n for n in plain if isinstance(n, ast.Network)]
        run.network_name = max((len(clause_text.network_head(n)) for n in plain), default=0)
        run.network_path = max((len(flat(clause_text.expression(n.path))) for n in files), default=0)
        if any(len(flat(clause_text.network(n, run.network_name, run.network_path))) > WIDTH for n in files):
            run.network_path = 0

    def _align_checks(self, checks: dict[int, ast.Check], run: _Run) -> None:
        """Checks that stay on one line: braces in a column, and clauses too where they are the same."""
        one_line = {i: c for i, c in checks.items() if self._stays_on_line(c) and len(_on_line(c)) <= WIDTH}
        for _, subrun in groupby(enumerate(one_line), lambda pair: pair[1] - pair[0]):
            group = [number for _, number in subrun]
            width = max(len(one_line[i].name.text) for i in group)
            if any(len(_on_line(one_line[i], width)) > WIDTH for i in group):
                width = 0
            for _, same in groupby(group, lambda i: [clause_text.keyword(c) for c in one_line[i].clauses]):
                alike = list(same)
                pieces = [[flat(clause_text.clause(c)) for c in one_line[i].clauses] for i in alike]
                columns = [max(map(len, column)) for column in zip(*pieces, strict=True)]
                aligned = {i: _on_line(one_line[i], width, columns) for i in alike}
                if any(len(line) > WIDTH for line in aligned.values()):
                    aligned = {i: _on_line(one_line[i], width) for i in alike}
                run.lines |= aligned

    def _in_run(self, declaration: ast.Declaration, index: int, run: _Run | None) -> list[Line]:
        if run is not None and index in run.lines:
            return [Line(run.lines[index])]
        if isinstance(declaration, AnyNetwork) and run is not None:
            return self._plain(declaration, clause_text.network(declaration, run.network_name, run.network_path))
        return self.declaration(declaration, doc=False)

    def _doc(self, declaration: ast.Declaration) -> list[Line]:
        lines = declaration.doc.split("\n") if declaration.doc is not None else []
        return [Line(f"## {line}".rstrip()) for line in lines]

    def declaration(self, declaration: ast.Declaration, *, doc: bool = True) -> list[Line]:
        """The lines of a declaration on its own."""
        above = self._doc(declaration) if doc else []
        match declaration:
            case ast.Space():
                return above + self._block(f"space {declaration.name}", declaration, declaration.clauses, 0)
            case ast.Check():
                return above + self._block(f"check {declaration.name}", declaration, declaration.clauses, 0)
            case ast.Budget():
                return above + self._block("budget", declaration, declaration.settings, 0)
            case ast.Region():
                return above + self._region(declaration)
            case ast.Network() | ast.DerivedNetwork():
                return above + self._plain(declaration, clause_text.network(declaration))
            case _:
                return above + self._plain(declaration, clause_text.declaration(declaration))

    def _plain(self, node: ast.Node, soft: str) -> list[Line]:
        """The lines of a declaration without a block."""
        return self._comments.as_written(node) or fill("", soft, 2 * _INDENT)

    def _region(self, region: ast.Region) -> list[Line]:
        blocks = [t for t in region.terms if isinstance(t, TermBlock)]
        held = sum(len(self._comments.inside(term)) for term in blocks)
        if held != len(self._comments.inside(region)):
            return self._comments.as_written(region)
        head = clause_text.region_head(region)
        if all(self._stays_on_line(b) for b in blocks):
            whole = head + "\nand ".join(clause_text.term(t) for t in region.terms)
            if len(flat(whole)) <= WIDTH or not blocks:
                return fill("", whole, 2 * _INDENT)
        lines = self._terms(region, (ast.Box,))
        fits = max(len(line.text) for line in lines) <= WIDTH
        return lines if fits else self._terms(region, (ast.Box, ast.Where, ast.Grid))

    def _terms(self, region: ast.Region, opened: tuple[type[ast.Node], ...]) -> list[Line]:
        """A region with its blocks of the given kinds opened, others only if they must be."""
        lines = [Line(clause_text.region_head(region))]
        for number, term in enumerate(region.terms):
            if number:
                lines = join(lines, " and ", [Line("")])
            if isinstance(term, TermBlock) and not (
                self._stays_on_line(term) and (not isinstance(term, opened) or not _items(term))
            ):
                lines = join(lines, "", self._opened(clause_text.block_word(term), term, _items(term), 0))
            else:
                lines = join(lines, "", [Line(flat(clause_text.term(term)))])
        return lines

    def _block(self, head: str, node: Block, items: Sequence[ast.Node], indent: int) -> list[Line]:
        """A block on one line if it stays there, else one line for each of its items."""
        between = " " if isinstance(node, ast.Budget) else "  "
        if self._stays_on_line(node):
            inner = between.join(flat(clause_text.clause(i)) for i in items)
            line = " " * indent + (f"{head} {{ {inner} }}" if inner else f"{head} {{ }}")
            if len(line) <= WIDTH or not items:
                return [Line(line)]
        return self._opened(" " * indent + head, node, items, indent)

    def _opened(self, head: str, node: Block, items: Sequence[ast.Node], indent: int) -> list[Line]:
        placed = self._comments.arrange(items, node)
        lines = [Line(f"{head} {{", placed.opening)]
        keyed = isinstance(node, ast.Space | ast.Check)
        width = max((len(clause_text.keyword(i)) for i in items), default=0) if keyed else 0
        verdicts = _verdict_widths(items)
        for number, item in enumerate(items):
            inside = self._item(item, indent + _INDENT, width, verdicts.get(number, 0))
            if isinstance(node, ast.Where) and number + 1 < len(items):
                inside[-1] = Line(inside[-1].text + ",")
            lines += placed.items[number].around(inside, indent + _INDENT)
        return [*lines, *placed.ending(indent + _INDENT), Line(" " * indent + "}")]

    def _item(self, item: ast.Node, indent: int, width: int, verdict: int) -> list[Line]:
        if isinstance(item, ast.Budget):
            return self._block("budget".ljust(width), item, item.settings, indent)
        if left := self._comments.as_written(item):
            return [Line(" " * indent + left[0].text), *left[1:]]
        if not width:
            return fill(" " * indent, clause_text.clause(item), indent + 2 * _INDENT)
        keyword = clause_text.keyword(item)
        rest = (
            clause_text.expect(item, verdict)
            if isinstance(item, ast.Expect)
            else clause_text.clause(item)[len(keyword) + 1 :]
        )
        return fill(" " * indent + keyword.ljust(width) + " ", rest, indent + width + 1)

    def _stays_on_line(self, node: Block) -> bool:
        """Whether a block was written on one line; one built in memory is a short block or it is not."""
        if self._comments.inside(node):
            return False
        written = self._comments.written(node)
        return "\n" not in written if written is not None else not isinstance(node, ast.Space | ast.Check)


def _items(term: TermBlock) -> tuple[ast.Node, ...]:
    match term:
        case ast.Box(bounds):
            return bounds
        case ast.Where(constraints):
            return constraints
        case ast.Grid(spacings):
            return spacings


def _on_line(check: ast.Check, name: int = 0, columns: Sequence[int] = ()) -> str:
    """A check on one line: its name and its clauses padded to columns."""
    pieces = [flat(clause_text.clause(c)) for c in check.clauses]
    if columns:
        pieces = [*(p.ljust(w) for p, w in zip(pieces[:-1], columns, strict=False)), pieces[-1]]
    inner = "  ".join(pieces)
    return (
        f"check {check.name.text.ljust(name)} {{ {inner} }}" if inner else f"check {check.name.text.ljust(name)} {{ }}"
    )


def _verdict_widths(items: Sequence[ast.Node]) -> dict[int, int]:
    """For `expect` clauses that follow each other, how wide their verdicts are set."""
    widths: dict[int, int] = {}

    def conditional(pair: tuple[int, ast.Node]) -> bool:
        return isinstance(pair[1], ast.Expect) and pair[1].condition is not None

    for together, group in groupby(enumerate(items), conditional):
        if together:
            members = [(i, cast(ast.Expect, item)) for i, item in group]
            width = max(len(e.verdict.text) for _, e in members)
            widths |= {i: width for i, _ in members}
    return widths
