"""The style that specs are written in: `messy.eqspec` becomes `messy.expected`, and what has the style stays."""

from __future__ import annotations

from pathlib import Path

from eqspec.spec.formatting import formatted

HERE = Path(__file__).parent


def test_a_messy_file_gets_the_style() -> None:
    messy = (HERE / "messy.eqspec").read_text(encoding="utf-8")
    assert formatted(messy) == (HERE / "messy.expected").read_text(encoding="utf-8")


def test_the_examples_of_the_language_have_the_style() -> None:
    text = (HERE / "style.eqspec").read_text(encoding="utf-8")
    assert formatted(text) == text


def test_the_example_specs_have_the_style(root: Path) -> None:
    found = sorted((root / "specs").rglob("*.eqspec"))
    assert found
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert formatted(text) == text, f"run eqspec fmt {path.relative_to(root)}"
