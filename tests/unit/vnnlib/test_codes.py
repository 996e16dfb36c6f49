"""Every code is given somewhere, is in the manual's table, and can be asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.spec.codes import CODES as SPEC_CODES
from eqspec.vnnlib.codes import CODES


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
    assert CODES[code] in capsys.readouterr().out
