"""The parser of the grammar that ships with the package."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token

from eqspec.spec import parse_tables

DECLARATIONS = ("include", "let", "param", "space", "network", "region", "check", "budget")
"""The words a declaration starts with, in the order a file usually has them."""

STARTS = ("start", "declarations", "expression", "subject", "number_type")
"""The start rules: a file, the rest of a file after a syntax error, and pieces that are parsed by themselves."""


def grammar_text() -> str:
    """The grammar, as lark reads it."""
    return files("eqspec.spec").joinpath("eqspec.lark").read_text(encoding="utf-8")


class WholeWords:
    """Lets the lexer see a NAME everywhere, so that `proves` is one wrong word and not `prove` followed by `s`."""

    always_accept = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens, unchanged."""
        return stream


@cache
def parser() -> Lark:
    """The parser, with the start rules of `STARTS`; `parse_tables` has them made."""
    grammar = grammar_text()
    return parse_tables.stored(grammar, postlex=WholeWords()) or built(grammar)


def built(grammar: str | None = None, *, strict: bool = False) -> Lark:
    """The same parser built from the grammar, for which lark computes its tables; `strict` refuses ambiguity."""
    options: dict[str, Any] = {"postlex": WholeWords(), "strict": strict}
    return Lark(
        grammar_text() if grammar is None else grammar,
        parser="lalr",
        lexer="contextual",
        start=list(STARTS),
        propagate_positions=True,
        maybe_placeholders=True,
        **options,
    )
