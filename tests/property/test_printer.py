"""What is printed reads as the same tree, prints as the same text, and no comment is lost."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.spec import ast, parse_text, printer
from eqspec.spec.grammar import parser
from syntax_trees import files

ROOT = Path(__file__).resolve().parents[2]
CORPUS = [
    *sorted((ROOT / "specs").rglob("*.eqspec")),
    *sorted((ROOT / "tests" / "golden" / "fmt").glob("*.eqspec")),
]


@given(files())
def test_a_tree_reads_as_itself(file: ast.File) -> None:
    text = printer.text(file)
    assert parse_text(text) == file
    assert printer.text(parse_text(text)) == text


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_file_reads_as_itself(path: Path) -> None:
    reads_as_itself(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", ["acceptance", "acceptance/acas", "design/language"])
def test_the_specs_of_the_language_read_as_themselves(folder: str, shared: Path) -> None:
    found = sorted((shared / folder).glob("*.eqspec"))
    assert found
    for path in found:
        reads_as_itself(path.read_text(encoding="utf-8"))


@given(st.sampled_from(CORPUS), st.integers(0, 2**32 - 1))
def test_comments_and_line_ends_anywhere_stay(path: Path, seed: int) -> None:
    """The words of a file with random white space and comments between them."""
    rng = random.Random(seed)
    often = rng.choice([0.02, 0.1, 0.5])
    pieces = []
    for number, token in enumerate(words_of(path.read_text(encoding="utf-8"))):
        between = rng.choices([" ", "\n", "\n\n", f" # c{number}\n", f"\n# c{number}\n", f"\n\n## d{number}\n\n"], k=1)
        pieces.append((between[0] if number and rng.random() < often else " ") + token)
    reads_as_itself("".join(pieces) + rng.choice(["", "\n", " # last", "\n# last\n\n"]))


def words_of(text: str) -> list[str]:
    """All tokens of a file as written, without comments."""
    tree = parser().parse(text, start="start")
    places: set[tuple[int, int]] = set()
    state = parser().parse_interactive(text, start="start")
    for token in state.iter_parse():
        places.add((token.start_pos or 0, token.end_pos or 0))
    assert tree.children
    return [text[start:end] for start, end in sorted(places)]


def reads_as_itself(text: str) -> None:
    file = parse_text(text)
    printed = printer.text(file)
    again = parse_text(printed)
    assert again == file
    assert printer.text(again) == printed
    assert comments(again) == comments(file)
    assert not any(line != line.rstrip() for line in printed.splitlines())
    assert "\n\n\n" not in printed


def comments(file: ast.File) -> Counter[str]:
    """The comments that are not documentation, which is printed line by line."""
    return Counter(" ".join(c.text.split()) for c in file.comments if not c.doc or c.text.strip("# "))
