"""Every code is given somewhere, is in the manual's table, and can be asked for."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from eqspec.cli import main
from eqspec.spec.codes import CODES as SPEC_CODES
from eqspec.vnnlib.codes import CODES
from eqspec.vnnlib.explanations import explanation
from small_specs import write_onnx


def test_the_manual_lists_them(root: Path) -> None:
    text = (root / "docs" / "vnnlib.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| ([EW]6\d\d) \| (.*) \|$", text, flags=re.MULTILINE)) == CODES
    assert set(re.findall(r"\b[EW]\d{3}\b", text)) <= set(CODES) | set(SPEC_CODES)


def test_all_are_given_and_no_others(root: Path) -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (root / "python" / "eqspec" / "vnnlib").glob("*.py"))
    given = set(re.findall(r'(?:error|add)\(\s*"([EW]\d{3})"', source)) | set(re.findall(r'"([EW]\d{3})" if', source))
    assert {code for code in given if code[1] == "6"} == set(CODES)
    assert given <= set(CODES) | set(SPEC_CODES)


@pytest.mark.parametrize("code", CODES)
def test_they_can_be_asked_for(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code]) == 0
    shown = capsys.readouterr().out
    assert CODES[code] in shown
    assert "wrong" in shown
    assert "right" in shown


def found_in(example: str, around: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The codes that the import of a file gives; the example is what the file says, or how it is imported."""
    command = "eqspec import query.vnnlib"
    if example.startswith("eqspec "):
        command, example = example, "(assert (<= Y[0] 1))"
    (folder / "query.vnnlib").write_text(around + example)
    main(command.split()[1:])
    return re.findall(r"\b[EW]\d{3}\b", capsys.readouterr().err)


@pytest.mark.parametrize("code", CODES)
def test_the_examples_are_as_they_say(
    code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_onnx(tmp_path / "full.onnx", np.eye(2), [0.0, 0.0])
    found = explanation(code)
    assert found is not None
    assert len(found.text) > 60
    assert code in found_in(found.wrong, found.around, tmp_path, capsys)
    others = found_in(found.right, found.around, tmp_path, capsys)
    assert [other for other in others if other == code or other[0] == "E"] == []


def test_no_other_code_is_explained() -> None:
    text = files("eqspec.vnnlib").joinpath("explanations.toml").read_text(encoding="utf-8")
    assert set(tomllib.loads(text)) == {*CODES, "around"}
    assert explanation("around") is None
