"""Parse tree to syntax tree.

Expressions are built by recursion, so a declaration that nests deeper than `DEEPEST` is refused first, with a loop.
Sums and products are flat in the grammar and do not count, however long they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Token, Tree

from eqspec.span import Source, Span
from eqspec.spec import ast
from eqspec.spec.findings import Fault, error

DEEPEST = 100


def check_depth(tree: Tree[Token], source: Source, offset: int) -> None:
    """Fault E010 if the tree nests too deep for anything that walks it by recursion."""
    stack: list[tuple[Tree[Token], int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            start = offset + (node.meta.start_pos if not node.meta.empty else tree.meta.start_pos)
            raise Fault(
                error(
                    "E010",
                    f"this expression nests deeper than {DEEPEST} levels",
                    Span(source, start, start + 1),
                    help="give parts of it a name with 'let'",
                )
            )
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))


class Builder:
    """Builds the nodes of one source; `offset` is where the parsed piece starts in it."""

    def __init__(self, source: Source, offset: int = 0) -> None:
        self.source, self.offset = source, offset

    def build(self, tree: Tree[Token]) -> Any:
        """The node for a tree whose depth has been checked."""
        return _BUILDERS[tree.data](self, tree.children, self.span(tree))

    def span(self, tree: Tree[Token]) -> Span:
        """The span of text that a tree covers."""
        if tree.meta.empty:
            return Span(self.source, self.offset, self.offset)
        return Span(self.source, self.offset + tree.meta.start_pos, self.offset + tree.meta.end_pos)

    def place(self, token: Token) -> Span:
        """The span of text that a token covers."""
        start = self.offset + (token.start_pos or 0)
        return Span(self.source, start, start + len(token))

    def name(self, token: Token) -> ast.Name:
        """A token as a name."""
        return ast.Name(str(token), span=self.place(token))

    def optional_name(self, token: Token | None) -> ast.Name | None:
        """A token as a name, or None."""
        return None if token is None else self.name(token)

    def optional(self, child: Any) -> Any:
        """The node of a child that may be absent."""
        return None if child is None else self.build(child)

    def every(self, children: list[Any]) -> tuple[Any, ...]:
        """The nodes of all children that are there."""
        return tuple(self.build(child) for child in children if child is not None)

    def number(self, token: Token) -> ast.Number:
        """A bare number token."""
        return ast.Number(str(token), span=self.place(token))


def _chain(kind: type[ast.Sum] | type[ast.Product]) -> Callable[[Builder, list[Any], Span], Any]:
    def build(b: Builder, c: list[Any], s: Span) -> Any:
        rest = tuple((str(c[i]), b.build(c[i + 1])) for i in range(1, len(c), 2))
        return kind(b.build(c[0]), rest, span=s)

    return build


def _reference(b: Builder, c: list[Any], s: Span) -> ast.Reference:
    index = c[1]
    picked = None if index is None else b.number(index) if index.type == "NUMBER" else b.name(index)
    return ast.Reference(b.build(c[0]), picked, span=s)


def _unit(token: Token | None) -> str | None:
    return None if token is None else str(token).strip()


def _subject(b: Builder, token: Token) -> ast.Name | None:
    return None if token.type == "ALL" else b.name(token)


def _outputs(b: Builder, c: list[Any], s: Span) -> ast.Outputs:
    if isinstance(c[0], Token):
        return ast.Outputs((), b.number(c[0]), span=s)
    return ast.Outputs(b.every(c), span=s)


def _formals(b: Builder, tree: Any) -> tuple[ast.Name, ...]:
    return tuple(b.name(t) for t in tree.children if t is not None)


def _network(b: Builder, c: list[Any], s: Span) -> ast.Network:
    """Fault E112 for formal parameters of a file, which has no number to choose."""
    if formals := _formals(b, c[1]):
        span = Span(s.source, formals[0].span.start, formals[-1].span.end)
        message = f"network '{c[0]}' is a file, which takes no values"
        hint = "values are for types: network q(B) = float quantised to int<B>"
        raise Fault(error("E112", message, span, help=hint))
    return ast.Network(
        b.name(c[0]),
        b.build(c[2]),
        b.build(c[3]),
        b.optional_name(c[5]),
        b.optional_name(c[6]),
        b.optional(c[4]),
        b.optional(c[7]),
        span=s,
    )


def _integer_end(b: Builder, c: list[Any], s: Span) -> ast.IntegerEnd:
    called = None if c[1] is None else _text(b, c[1])
    return ast.IntegerEnd(b.name(c[0]), b.build(c[2]), b.optional(c[3]), called, span=s)


def _region(b: Builder, c: list[Any], s: Span) -> ast.Region:
    return ast.Region(b.name(c[0]), _formals(b, c[1]), b.build(c[2]), b.every(c[3:]), span=s)


_BUILDERS: dict[str, Callable[[Builder, list[Any], Span], Any]] = {
    "include": lambda b, c, s: ast.Include(_text(b, c[0]), b.optional_name(c[1]), span=s),
    "let": lambda b, c, s: ast.Let(b.name(c[0]), b.build(c[1]), span=s),
    "param": lambda b, c, s: ast.Param(b.name(c[0]), b.build(c[1]), span=s),
    "space": lambda b, c, s: ast.Space(b.name(c[0]), b.every(c[1:]), span=s),
    "features": lambda b, c, s: ast.Features(b.every(c), span=s),
    "features_from": lambda b, c, s: ast.FeaturesFrom(b.build(c[0]), b.optional(c[1]), span=s),
    "feature": lambda b, c, s: ast.Feature(b.name(c[0]), _unit(c[1]), span=s),
    "shape": lambda b, c, s: ast.Shape(b.build(c[0]), span=s),
    "normalise": lambda b, c, s: ast.Normalise(b.name(c[0]), b.every(c[1:]), span=s),
    "normalise_from": lambda b, c, s: ast.NormaliseFrom(b.name(c[0]), b.build(c[1]), span=s),
    "domain": lambda b, c, s: ast.Domain(b.build(c[0]), span=s),
    "outputs": _outputs,
    "decide": lambda b, c, s: ast.Decide(b.name(c[0]), span=s),
    "setting": lambda b, c, s: ast.Setting(b.name(c[0]), b.build(c[1]), span=s),
    "network": _network,
    "dequantised": lambda b, c, s: ast.Dequantised(b.every(c), span=s),
    "integer_end": _integer_end,
    "derived": lambda b, c, s: ast.DerivedNetwork(
        b.name(c[0]), _formals(b, c[1]), b.build(c[2]), b.build(c[3]), b.optional(c[4]), span=s
    ),
    "quantised_to": lambda b, c, s: ast.QuantisedTo(
        b.build(c[0]), b.optional_name(c[1]), b.optional(c[2]), b.optional(c[3]), span=s
    ),
    "held_as": lambda b, c, s: ast.HeldAs(b.build(c[0]), b.every(c[1:]), span=s),
    "type_of": lambda b, c, s: ast.TypeOf(b.name(c[0]), b.build(c[1]), span=s),
    "type": lambda b, c, s: ast.NumberType(b.name(c[0]), b.every(c[1:]), span=s),
    "applied": lambda b, c, s: ast.Applied(b.build(c[0]), b.every(c[1:]), span=s),
    "region": _region,
    "box": lambda b, c, s: ast.Box(b.every(c), span=s),
    "within": lambda b, c, s: ast.Within(_subject(b, c[0]), b.build(c[1]), c[2] is not None, b.optional(c[3]), span=s),
    "ranged": lambda b, c, s: ast.Ranged(_subject(b, c[0]), b.build(c[1]), span=s),
    "fixed": lambda b, c, s: ast.Fixed(_subject(b, c[0]), b.build(c[1]), span=s),
    "ball": lambda b, c, s: ast.Ball(b.name(c[0]), b.build(c[1]), c[2] is not None, b.build(c[3]), span=s),
    "mean": lambda _b, _c, s: ast.Mean(span=s),
    "point": lambda b, c, s: ast.Point(b.build(c[0]), span=s),
    "rows": lambda b, c, s: ast.Rows(
        b.every(c[:-4]), b.build(c[-4]), b.optional(c[-3]), b.optional(c[-2]), b.optional(c[-1]), span=s
    ),
    "where": lambda b, c, s: ast.Where(b.every(c), span=s),
    "grid": lambda b, c, s: ast.Grid(b.every(c[1:]), span=s),
    "data": lambda b, c, s: ast.Data(b.build(c[1]), b.build(c[3]), b.optional(c[2]), b.optional(c[4]), span=s),
    "spacing": lambda b, c, s: ast.Spacing(
        _subject(b, c[0]), b.build(c[1]), c[2] is not None, b.optional(c[3]), span=s
    ),
    "use": lambda b, c, s: ast.Use(b.build(c[0]), b.every(c[1:]), span=s),
    "check": lambda b, c, s: ast.Check(b.name(c[0]), b.every(c[1:]), span=s),
    "stays_within": lambda b, c, s: ast.StaysWithin(
        b.build(c[0]), b.build(c[1]), b.build(c[2]), b.optional_name(c[3]), b.optional(c[4]), b.optional(c[5]), span=s
    ),
    "equals": lambda b, c, s: ast.Equals(b.build(c[0]), b.build(c[1]), b.optional(c[2]), span=s),
    "keeps_top1": lambda b, c, s: ast.KeepsTop1(b.build(c[0]), b.build(c[1]), b.optional(c[2]), span=s),
    "guard": lambda b, c, s: ast.Guard(b.name(c[0]), str(c[1]), b.build(c[2]), span=s),
    "satisfies": lambda b, c, s: ast.Satisfies(b.build(c[0]), b.build(c[1]), b.optional(c[2]), span=s),
    "never": lambda b, c, s: ast.Never(b.build(c[0]), b.name(c[1]), b.optional(c[2]), span=s),
    "on": lambda b, c, s: ast.On(b.build(c[0]), span=s),
    "for": lambda b, c, s: ast.For(b.name(c[0]), b.build(c[1]), span=s),
    "find": lambda b, c, s: ast.Find(b.name(c[0]), b.name(c[1]), b.build(c[2]), b.optional(c[3]), span=s),
    "expect": lambda b, c, s: ast.Expect(b.name(c[0]), b.optional(c[1]), span=s),
    "arithmetic": lambda b, c, s: ast.Arithmetic(b.name(c[0]), span=s),
    "tags": lambda b, c, s: ast.Tags(tuple(b.name(t) for t in c), span=s),
    "budget": lambda b, c, s: ast.Budget(b.every(c), span=s),
    "comparison": lambda b, c, s: ast.Comparison(b.build(c[0]), str(c[1]), b.build(c[2]), span=s),
    "range": lambda b, c, s: ast.Range(b.build(c[0]), b.optional(c[1]), span=s),
    "list": lambda b, c, s: ast.ListOf(b.every(c), span=s),
    "sum": _chain(ast.Sum),
    "product": _chain(ast.Product),
    "negation": lambda b, c, s: ast.Negation(b.build(c[1]), span=s),
    "power": lambda b, c, s: ast.Power(b.build(c[0]), b.build(c[1]), span=s),
    "number": lambda _b, c, s: ast.Number(str(c[0]), _unit(c[1]), span=s),
    "quantity": lambda _b, c, s: ast.Quantity(str(c[0]), span=s),
    "text": lambda b, c, _s: _text(b, c[0]),
    "group": lambda b, c, s: ast.Group(b.build(c[0]), span=s),
    "call": lambda b, c, s: ast.Call(b.name(c[0]), b.every(c[1:]), span=s),
    "reference": _reference,
    "qname": lambda _b, c, s: ast.QualifiedName(tuple(str(t) for t in c), span=s),
}


def _text(b: Builder, token: Token) -> ast.Text:
    return ast.Text(str(token)[1:-1], span=b.place(token))
