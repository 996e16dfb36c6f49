"""Specs from files: what is read, and what is said when it cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from eqspec.compile import load, loads
from eqspec.errors import SpecError
from eqspec.networks.network import AffineLayer, Network

SPEC = """eqspec 1
include "common.eqspec" as c
network f = "nets/f.onnx" in c.s
check one { prove f stays within eps of f on c.r for eps in [c.eps] }
"""
COMMON = """eqspec 1
param eps = 1
space s { features u outputs y }
region r in s = box { u: 0 .. 1 }
network g = "nets/f.onnx" in s
check two { prove g stays within 1 of g on r }
"""


def read(path: Path) -> Network:
    return Network.of_layers((AffineLayer(np.ones((1, 1)), np.zeros(1)),), str(path), "0" * 64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "f.onnx").write_text("")
    (tmp_path / "main.eqspec").write_text(SPEC)
    (tmp_path / "common.eqspec").write_text(COMMON)
    return tmp_path


def test_paths_are_relative_to_the_file_wherever_it_is_read_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    (task,) = load(Path(folder.name) / "main.eqspec", {"c.eps": 0.5}, read=read).tasks
    assert task.id == "one[eps=0.5]"
    assert Path(task.reference.source).samefile(folder / "nets" / "f.onnx")
    assert str(task.source) == f"{folder.name}/main.eqspec:4:7"


def test_checks_of_included_files_are_missed_unless_they_run_too(folder: Path) -> None:
    codes = [d.code for d in load(folder / "main.eqspec", read=read).diagnostics]
    assert codes == ["W306", "W304"]
    given = [folder / "main.eqspec", folder / "common.eqspec"]
    codes = [d.code for d in load(folder / "main.eqspec", given=given, read=read).diagnostics]
    assert codes == ["W304"]


def test_a_spec_that_is_not_there(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(folder / "mian.eqspec")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span) == ("E110", None)
    assert found.help == f"did you mean '{folder / 'main.eqspec'}'?"


@pytest.mark.skipif(os.name == "nt", reason="there such a path is read")
def test_a_path_of_windows_is_told_as_every_system_reads_it(folder: Path) -> None:
    spec = folder / "common.eqspec"
    spec.write_text(spec.read_text().replace("nets/f.onnx", "nets\\f.onnx"))
    with pytest.raises(SpecError) as caught:
        load(folder / "main.eqspec")
    found = next(d for d in caught.value.diagnostics if d.code == "E110")
    assert found.help == "paths are relative to common.eqspec; did you mean 'nets/f.onnx'?"
    assert [fix.text for fix in found.fixes] == ['"nets/f.onnx"']


@pytest.mark.parametrize("path", [".", "nets", "x" * 5000, "a\0b"])
def test_a_spec_that_cannot_be_a_file(path: str, folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(f"{folder}/{path}")
    assert caught.value.diagnostics[0].code in ("E110", "E111")


def test_syntax_errors_come_alone(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        loads(SPEC.replace("check one", "chekc one").replace("c.s", "c.t"), directory=folder, read=read)
    assert [d.code for d in caught.value.diagnostics if d.severity == "error"] == ["E002"]


def test_everything_else_comes_together(folder: Path) -> None:
    text = SPEC.replace("nets/f", "nets/g").replace("c.r", "c.q") + "let a = b\n"
    with pytest.raises(SpecError) as caught:
        loads(text, directory=folder, read=read)
    found = [(d.code, d.span.line) for d in caught.value.diagnostics if d.span and d.severity == "error"]
    assert found == [("E110", 3), ("E101", 4), ("E101", 5)]


def test_only_real_files_are_read_by_default(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(folder / "main.eqspec")
    assert {d.code for d in caught.value.diagnostics if d.severity == "error"} == {"E210"}


def test_an_absolute_path_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    text = 'eqspec 1\nspace s { features a outputs y }\nnetwork f = "/nowhere/at/all/f.onnx" in s\n'
    with pytest.raises(SpecError, match="no such file"):
        loads(
            text + "region r in s = box { all: 0 .. 1 }\ncheck c { prove f stays within 1 of f on r }", directory=Path()
        )
