"""The manual of the engine: its files exist, its chapters are found, its sources are in the bibliography."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "engine"
CHAPTERS = sorted(page.name for page in MANUAL.glob("*.md") if page.name not in ("index.md", "bibliography.md"))
PATH = re.compile(r"`((?:rust|python|tests|benches)/[\w./-]+)`")
SOURCE = re.compile(r"\[([A-Z][A-Za-z]+\d*)\](?!\()|\[([A-Z][A-Za-z]+\d*), ")


def _cited(text: str) -> set[str]:
    return {first or second for first, second in SOURCE.findall(text)}


@pytest.mark.parametrize("page", [*CHAPTERS, "index.md"])
def test_every_file_it_names_exists(page: str) -> None:
    named = PATH.findall((MANUAL / page).read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_states_what_holds_and_where(page: str) -> None:
    text = (MANUAL / page).read_text(encoding="utf-8")
    assert "**Statement" in text
    assert re.search(r"\*Files?\.\*|\| file \|", text)
    assert f"]({page})" in (MANUAL / "index.md").read_text(encoding="utf-8")
    assert f"engine/{page}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_source_is_in_the_bibliography_and_is_cited() -> None:
    listed = re.findall(r"^- \[(\w+)\]", (MANUAL / "bibliography.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(listed) == len(set(listed)) > 20
    pages = [page for page in MANUAL.glob("*.md") if page.name != "bibliography.md"]
    assert {key for page in pages for key in _cited(page.read_text(encoding="utf-8"))} == set(listed)
