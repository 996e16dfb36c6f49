"""The tables that the package carries are those of its grammar, and are used for nothing else."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.exceptions import UnexpectedInput

from eqspec.spec import parse_tables
from eqspec.spec.__main__ import to_text
from eqspec.spec.grammar import WholeWords, built, grammar_text

GRAMMAR = grammar_text()
CARRIED = files("eqspec.spec").joinpath(parse_tables.FILE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made() -> lark.Lark:
    return built()


@pytest.fixture(scope="module")
def read() -> lark.Lark:
    found = parse_tables.from_text(CARRIED, GRAMMAR, postlex=WholeWords())
    assert found is not None, "the grammar or lark has changed; run  python -m eqspec.spec"
    return found


def test_the_package_carries_the_tables_of_its_grammar(made: lark.Lark) -> None:
    assert to_text(made, GRAMMAR) == CARRIED, "run  python -m eqspec.spec"


def test_tables_of_another_grammar_are_not_used() -> None:
    assert parse_tables.from_text(CARRIED, GRAMMAR + "\n") is None


def test_tables_of_another_lark_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lark, "__version__", lark.__version__ + ".post1")
    assert parse_tables.stored(GRAMMAR) is None


def test_without_tables_the_parser_is_made_from_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_tables, "FILE", "no such file")
    assert parse_tables.stored(GRAMMAR) is None


def texts(root: Path) -> list[str]:
    """The specs of the repository, whole, and cut off in many places, where each stops reading in another state."""
    whole = [path.read_text(encoding="utf-8") for path in sorted(root.glob("specs/**/*.eqspec"))]
    cut = [text[:end] for text in whole for end in range(7, len(text), max(1, len(text) // 40))]
    return [*whole, *cut, *(text + " in [" for text in cut[::3])]


def outcome(parser: lark.Lark, text: str) -> tuple[object, ...]:
    """The tree with the places of its tokens; or where reading stops, and what could stand there."""
    try:
        tree = parser.parse(text, start="start")
    except UnexpectedInput as stopped:
        state: Any = stopped.interactive_parser
        return type(stopped), stopped.pos_in_stream, state.accepts()
    tokens = tree.scan_values(lambda child: isinstance(child, lark.Token))
    return tree, [(token.type, token.start_pos, token.end_pos) for token in tokens]


def test_a_text_says_the_same_by_either_parser(root: Path, made: lark.Lark, read: lark.Lark) -> None:
    found = texts(root)
    for text in found:
        assert outcome(read, text) == outcome(made, text)


def test_the_terminals_are_the_same(made: lark.Lark, read: lark.Lark) -> None:
    def patterns(parser: lark.Lark) -> dict[str, tuple[str, str, int]]:
        return {t.name: (t.pattern.type, t.pattern.value, t.priority) for t in parser.terminals}

    assert patterns(read) == patterns(made)
