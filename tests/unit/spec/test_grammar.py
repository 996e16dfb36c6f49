"""The grammar: one text, no ambiguity, and words that stay words."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from eqspec.spec.grammar import DECLARATIONS, built, grammar_text, parser


def test_the_package_carries_the_grammar_of_the_repository(root: Path) -> None:
    inside = files("eqspec.spec").joinpath("eqspec.lark").read_bytes()
    assert inside == (root / "grammar" / "eqspec.lark").read_bytes()
    assert inside.decode() == grammar_text()


def test_the_package_has_a_link_to_a_file_so_that_wheels_carry_it(root: Path) -> None:
    link = root / "python" / "eqspec" / "spec" / "eqspec.lark"
    assert link.is_symlink()
    assert not link.parent.is_symlink()


def test_nothing_is_ambiguous() -> None:
    built(strict=True)


def test_every_declaration_is_a_keyword() -> None:
    literals = {t.pattern.value for t in parser().terminals if t.pattern.type == "str"}
    assert set(DECLARATIONS) <= literals


@pytest.mark.parametrize("folder", ["acceptance", "acceptance/acas", "design/language"])
def test_the_specs_of_the_language_description_are_read(folder: str, shared: Path) -> None:
    found = sorted((shared / folder).glob("*.eqspec"))
    assert found
    for file in found:
        assert parser().parse(file.read_text(encoding="utf-8"), start="start").children
