"""What may come at a place: the words that the language has there, and no others of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.language_server.completion import completions
from eqspec.language_server.hover import hover
from eqspec.language_server.meaning import meaning
from eqspec.language_server.understanding import ReadNetworks, Understanding, understand
from eqspec.spec.grammar import parser
from eqspec.spec.parse import parse_text

SPECS = sorted((Path(__file__).resolve().parents[3] / "specs").rglob("*.eqspec"))
SPEC = """eqspec 1
let many = [1, 2]
space jet { features mass [GeV], tau normalise zscore mean 0 std 1 outputs quark, gluon }
network full = "full.onnx" in jet
network half = "half.onnx" in jet
region core(s) in jet = box { all within s sigma }
"""


def known(text: str = SPEC) -> Understanding:
    return understand(text, Path("/nowhere/a.eqspec"), {})


def words(written: str, *, behind: str = SPEC, directory: Path = Path("/nowhere")) -> dict[str, str]:
    """The kinds of the words that may come where | stands, by the words."""
    text = behind + written
    offset = text.index("|", len(behind))
    found = completions(text.replace("|", ""), offset, [known()], directory)
    return {item.word: item.kind for item in found.items}


@pytest.mark.parametrize(
    ("written", "kind", "names"),
    [
        ("check c { prove |", "network", {"full", "half"}),
        ("check c { prove half keeps top1 of |", "network", {"full", "half"}),
        ("check c { prove half stays within 0.1 of | }", "network", {"full", "half"}),
        ("check c { prove half equals f|", "network", {"full", "half"}),
        ("check c { prove half satisfies |", "network", {"full", "half"}),
        ("check c { prove half satisfies half[|", "output", {"quark", "gluon"}),
        ("check c { prove half stays within 1 of full comparing [|", "output", {"quark", "gluon"}),
        ("check c { prove half equals full on |", "region", {"core"}),
        ("check c { prove half equals full on core(|", "value", {"many"}),
        ("check c { for eps in many prove half stays within |", "variable", {"eps"}),
        ("network n = \"x\" in |", "space", {"jet"}),
        ("region r(a, b) in |", "space", {"jet"}),
        ("region r in jet = |", "region", {"core"}),
        ("region r in jet = core(1) and |", "region", {"core"}),
        ("region r in jet = box { |", "feature", {"mass", "tau"}),
        ("region r in jet = box { mass: 0 .. 1, t|", "feature", {"mass", "tau"}),
        ("region r in jet = grid { |", "feature", {"mass", "tau"}),
        ("region r in jet = where { |", "feature", {"mass", "tau"}),
        ("region r(a, b) in jet = box { mass: 0 .. |", "parameter", {"a", "b"}),
        ("region r in jet = where { mass <= 3 [|", "unit", {"GeV"}),
        ("let x = |", "function", {"linspace", "logspace"}),
        ("let x = |", "value", {"many"}),
        ("check c { expect |", "word", {"equivalent", "different", "unknown", "vacuous"}),
        ("check c { prove half stays within 1 of full in |", "word", {"linf", "l1", "l2"}),
        ("check c { prove half keeps top1 of full when |", "word", {"confidence", "margin"}),
        ("check c { prove half never |", "word", {"wraps", "saturates"}),
        ("check c { find |", "word", {"smallest", "largest"}),
        ("check c { budget { timeout 3s |", "word", {"timeout", "memory", "threads", "jobs"}),
        ("space s { normalise |", "word", {"none", "zscore", "minmax"}),
        ("space s { normalise minmax |", "word", {"low", "high"}),
        ("space s { decide |", "word", {"max", "min"}),
    ],
)  # fmt: skip
def test_names_and_closed_words_by_place(written: str, kind: str, names: set[str]) -> None:
    found = words(written)
    assert {word for word, what in found.items() if what == kind} == names


@pytest.mark.parametrize(
    "written",
    ["check |", "let |", "space s { features |", "# prove |", "check c { for |", "let x = 1 # on |"],
)
def test_nothing_is_proposed_where_something_new_or_anything_stands(written: str) -> None:
    assert not set(words(written).values()) & {"network", "region", "space", "value", "feature", "word"}


@pytest.mark.parametrize("written", ["check c { |", "space s { |", "check c { prove half |", "region r in jet = |"])
def test_keywords_are_those_that_the_parser_takes_there(written: str) -> None:
    taken = {t.name: t.pattern.value for t in parser().terminals if t.pattern.type == "str"}
    state: Any = parser().parse_interactive(written.replace("|", ""), start="declarations")
    state.exhaust_lexer()
    expected = {t.lower() if t in ("GRID", "DATA") else taken.get(t, "") for t in state.accepts()}
    found = {word for word, kind in words(written).items() if kind in ("keyword", "declaration")}
    assert found == {word for word in expected if word.isalpha() or word == "top1"}
    assert found


def test_an_error_in_another_declaration_does_no_harm() -> None:
    broken = SPEC + "check first { prove half kepes\n"
    assert words("region r in jet = box { |", behind=broken).keys() >= {"mass", "tau"}


def test_names_of_an_included_file_come_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "s.eqspec").write_text(SPEC)
    text = 'eqspec 1\ninclude "s.eqspec" as s\ncheck c { prove s.'
    found = completions(text, len(text), [understand(text, tmp_path / "a.eqspec", {})], tmp_path)
    assert {item.word for item in found.items if item.kind == "network"} == {"s.full", "s.half"}
    assert text[found.start :] == "s."


def test_files_go_on_with_a_path(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a.onnx").touch()
    assert words('network n = "|', directory=tmp_path) == {"nets": "folder"}
    assert words('network n = "nets/|', directory=tmp_path) == {"a.onnx": "file"}
    assert words('network n = "nothing/|', directory=tmp_path) == {}


@given(st.data())
def test_every_place_of_a_spec_can_be_asked_about_whatever_is_wrong_with_it(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(SPECS))
    text = path.read_text(encoding="utf-8")
    place = data.draw(st.integers(0, len(text)))
    broken = text[:place] + data.draw(st.sampled_from(["", *'{}[]()"#@.=,;']))
    broken += data.draw(st.sampled_from(["", text[place:]]))
    found = understand(broken, path, {})
    completions(broken, min(place, len(broken)), [found, understand(text, path, {})], path.parent)
    if (meant := meaning(found, place)) is not None:
        assert hover(found, meant, ReadNetworks())


def test_the_beginning_of_an_empty_file_may_be_a_spec() -> None:
    assert words("|", behind="") == {"eqspec": "keyword"}
    parse_text("eqspec 1\n")
