"""The manual says what is so: its examples read, have the style and compile; its tables are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from eqspec.compile import loads
from eqspec.networks.network import AffineLayer, Network
from eqspec.spec import ast, parse_text
from eqspec.spec.codes import CODES
from eqspec.spec.formatting import formatted
from eqspec.spec.keywords import CLAUSES, TERMS
from eqspec.spec.numbers import SUFFIXES
from eqspec.spec.vocabulary import WORDS
from eqspec.tasks.verdict import Reason

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "language.md"
TEXT = MANUAL.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


EXAMPLES = blocks("eqspec")


def whole(example: str) -> str:
    return example if example.startswith("eqspec 1") else f"eqspec 1\n{example}"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_reads_and_has_the_style(number: int) -> None:
    text = whole(EXAMPLES[number])
    assert formatted(text) == text


def test_every_kind_of_sentence_is_shown() -> None:
    shown = {type(node) for example in EXAMPLES for node in nodes(parse_text(whole(example)))}
    every = {kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.Node)}
    assert every - shown <= {ast.Node, ast.Comment, ast.Group, ast.Power, ast.Budget}
    for word in (*CLAUSES, *TERMS):
        assert re.search(rf"\b{word}\b", "".join(EXAMPLES)), word


def nodes(node: object) -> list[object]:
    if isinstance(node, tuple):
        return [n for item in node for n in nodes(item)]
    if not isinstance(node, ast.Node):
        return []
    return [node, *(n for name in node.__dataclass_fields__ if name != "span" for n in nodes(getattr(node, name)))]


def test_the_first_example_runs_as_it_stands(tmp_path: Path) -> None:
    names = re.findall(r'"([^"]+\.onnx)"', EXAMPLES[0])
    for name in names:
        (tmp_path / name).write_text("")
    np.savez(tmp_path / "scaler.npz", mean=np.zeros(7), std=np.ones(7))

    def read(path: Path) -> Network:
        weight = np.ones((2, 7)) if path.name == names[0] else np.zeros((2, 7))
        return Network.of_layers((AffineLayer(weight, np.zeros(2)),), str(path), path.name)

    compiled = loads(EXAMPLES[0], directory=tmp_path, read=read)
    assert [task.id for task in compiled.tasks] == ["confident"]
    assert [find.id for find in compiled.finds] == ["threshold"]
    assert compiled.diagnostics == ()


def test_the_python_shown_is_true() -> None:
    shown = blocks("python")
    assert shown
    for code in shown:
        assert "assert" in code
        exec(code, {})


def test_the_table_of_findings_is_the_programs() -> None:
    listed = dict(re.findall(r"^\| ([EW]\d{3}) \| (.+) \|$", TEXT, flags=re.MULTILINE))
    assert listed == CODES
    assert set(re.findall(r"\b[EW]\d{3}\b", TEXT)) == set(CODES)


def test_the_table_of_words_is_the_programs() -> None:
    section = TEXT.partition("\n## Words\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| (`.+`) \|$", section, flags=re.MULTILINE)
    assert {kind: tuple(re.findall(r"`(\w+)`", words)) for kind, words in rows} == WORDS


def test_suffixes_and_reasons_are_all_named() -> None:
    for suffix in SUFFIXES:
        assert re.search(rf"\b{suffix}\b", TEXT)
    for reason in Reason:
        assert f"`{reason.value}`" in TEXT
