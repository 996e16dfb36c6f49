"""Highlighting by Pygments, which finds this lexer by its entry point wherever both are installed."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

from eqspec.spec import highlighting

_TOKENS = {
    "declaration": Keyword.Declaration,
    "clause": Keyword,
    "connective": Keyword.Pseudo,
    "term": Keyword.Type,
    "vocabulary": Keyword.Constant,
    "function": Name.Builtin,
}


class EqspecLexer(RegexLexer):  # type: ignore[misc]
    """Lexer for eqspec files."""

    name = "eqspec"
    aliases: ClassVar[list[str]] = ["eqspec"]
    filenames: ClassVar[list[str]] = ["*.eqspec"]
    mimetypes: ClassVar[list[str]] = ["text/x-eqspec"]
    url = ""
    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"##[^\n]*", String.Doc),
            (r"#[^\n]*", Comment.Single),
            (highlighting.STRING, String),
            (highlighting.UNIT, Name.Attribute),
            (highlighting.DECLARED, bygroups(Keyword.Declaration, Text.Whitespace, Name.Class)),
            *((highlighting.words(*listed), _TOKENS[group]) for group, _, listed in highlighting.GROUPS),
            (highlighting.QUANTITY, Number),
            (rf"(?<!\w){highlighting.NUMBER}", Number),
            (highlighting.OPERATOR, Operator),
            (r"[{}()\[\],.]", Punctuation),
            (r"[^\W\d]\w*", Name),
            (r"\s+", Text.Whitespace),
        ]
    }
