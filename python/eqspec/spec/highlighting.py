"""Highlighting, from the one table of words: a TextMate grammar for editors and rules for Pygments.

Both look at a word at a time. The language's keywords are contextual, so a name may look like one; that costs a colour.
"""

from __future__ import annotations

import json
from re import escape
from typing import Any

from eqspec.spec.grammar import DECLARATIONS
from eqspec.spec.keywords import CLAUSES, CONNECTIVES, FUNCTIONS, HEADER, TERMS
from eqspec.spec.numbers import SUFFIXES
from eqspec.spec.vocabulary import WORDS

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
STRING = r'"[^"\n]*"'
UNIT = r"(?<=[\w\]]) \[[^\]\s\",#0-9][^\]\n\",#]*\]"
OPERATOR = r"\.\.|<=|>=|==|[<>=+*/^:-]"
QUANTITY = rf"(?<!\w){NUMBER}(?:{'|'.join(sorted(SUFFIXES, key=len, reverse=True))})\b"
VOCABULARY = tuple(sorted({word for words in WORDS.values() for word in words}))
"""The words of all closed vocabularies."""
DECLARED = r"\b(space|network|region|check|let|param)(\s+)([^\W\d]\w*)"
"""A declaration and the name it gives."""


def words(*listed: str) -> str:
    """A pattern for any of some words, whole."""
    return rf"\b(?:{'|'.join(map(escape, listed))})\b"


GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("declaration", "keyword.declaration.eqspec", (*HEADER, *DECLARATIONS)),
    ("clause", "keyword.control.eqspec", CLAUSES),
    ("connective", "keyword.other.eqspec", CONNECTIVES),
    ("term", "support.type.eqspec", TERMS),
    ("vocabulary", "constant.language.eqspec", VOCABULARY),
    ("function", "support.function.eqspec", FUNCTIONS),
)
"""The name of each group of words here and in TextMate; a word belongs to the first group that has it."""


def textmate() -> dict[str, Any]:
    """The TextMate grammar."""
    named = {
        "match": DECLARED,
        "captures": {
            "1": {"name": "keyword.declaration.eqspec"},
            "3": {"name": "entity.name.eqspec"},
        },
    }
    patterns: list[dict[str, Any]] = [
        {"name": "comment.line.documentation.eqspec", "match": "##.*$"},
        {"name": "comment.line.number-sign.eqspec", "match": "#.*$"},
        {"name": "string.quoted.double.eqspec", "match": STRING},
        {"name": "storage.type.unit.eqspec", "match": UNIT},
        named,
        *({"name": scope, "match": words(*listed)} for _, scope, listed in GROUPS),
        {"name": "constant.numeric.eqspec", "match": QUANTITY},
        {"name": "constant.numeric.eqspec", "match": rf"(?<!\w){NUMBER}"},
        {"name": "keyword.operator.eqspec", "match": OPERATOR},
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "eqspec",
        "scopeName": "source.eqspec",
        "fileTypes": ["eqspec"],
        "patterns": patterns,
    }


def textmate_text() -> str:
    """The file `grammar/eqspec.tmLanguage.json`."""
    return json.dumps(textmate(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(textmate_text(), end="")
