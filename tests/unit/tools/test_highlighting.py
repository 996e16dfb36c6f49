"""The words that are highlighted are the words of the grammar, in Pygments and in TextMate alike."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from eqspec.spec import highlighting
from eqspec.spec.grammar import parser
from eqspec.spec.keywords import FUNCTIONS, KEYWORDS
from eqspec.spec.lexer import EqspecLexer
from eqspec.spec.vocabulary import WORDS


def words_of_the_grammar() -> set[str]:
    patterns = {t.name: t.pattern.value for t in parser().terminals}
    assert re.match(patterns.pop("GRID"), "grid { all step 1 }")  # a word that is looked at with the brace behind it
    assert re.match(patterns.pop("DATA"), 'data "t.csv"')  # and one with the table that is meant
    fixed = {t.pattern.value for t in parser().terminals if t.pattern.type == "str"}
    return {"grid", "data", *(word for word in fixed if word[0].isalpha())}


def test_the_table_has_the_words_of_the_grammar_and_no_other() -> None:
    assert words_of_the_grammar() == KEYWORDS


def test_every_word_has_one_group_in_both() -> None:
    textmate = [p["match"] for p in highlighting.textmate()["patterns"]]
    known = KEYWORDS | set(FUNCTIONS) | {w for words in WORDS.values() for w in words}
    for word in known:
        assert any(re.fullmatch(pattern, word) for pattern in textmate), word
        ((token, _),) = [t for t in EqspecLexer().get_tokens(word) if t[1].strip()]
        assert token in Keyword or token in Name.Builtin, word
        assert sum(word in listed for _, _, listed in highlighting.GROUPS) <= 2


@pytest.mark.parametrize("word", ["proves", "spaces", "xlet", "linf2", "other"])
def test_other_words_are_names(word: str) -> None:
    ((token, _),) = [t for t in EqspecLexer().get_tokens(word) if t[1].strip()]
    assert token is Name


def test_the_committed_grammar_is_the_generated_one(root: Path) -> None:
    path = root / "grammar" / "eqspec.tmLanguage.json"
    assert path.read_text(encoding="utf-8") == highlighting.textmate_text(), (
        "run python -m eqspec.spec.highlighting > grammar/eqspec.tmLanguage.json"
    )
    for pattern in json.loads(path.read_text(encoding="utf-8"))["patterns"]:
        re.compile(pattern["match"])


def test_the_lexer_is_an_entry_point(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["eqspec"].partition(":")
    assert getattr(import_module(module), name) is EqspecLexer


def test_a_spec_is_coloured_by_what_its_words_are() -> None:
    text = 'space s { features rho [ft] } # c\nnetwork f = "a" in s\n'
    text += "check c { prove g stays within 1e-3 of f budget { timeout 60s } }\n"
    found = [(token, value) for token, value in EqspecLexer().get_tokens(text) if value.strip()]
    for expected in (
        (Keyword.Declaration, "space"),
        (Name.Class, "s"),
        (Name.Attribute, " [ft]"),
        (Comment.Single, "# c"),
        (String, '"a"'),
        (Keyword, "prove"),
        (Keyword.Pseudo, "within"),
        (Number, "1e-3"),
        (Number, "60s"),
        (Operator, "="),
        (Name, "g"),
    ):
        assert expected in found
    assert "".join(value for _, value in EqspecLexer().get_tokens(text)) == text


def test_no_spec_has_an_unknown_character(root: Path) -> None:
    found = sorted((root / "specs").rglob("*.eqspec"))
    assert found
    for path in found:
        assert Error not in {token for token, _ in EqspecLexer().get_tokens(path.read_text(encoding="utf-8"))}
