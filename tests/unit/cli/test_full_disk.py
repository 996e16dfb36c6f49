"""A disk that takes no more is the machine's doing: exit code 75, and no half file is left."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.errors import InputError, ResourceError, unwritten
from small_specs import write_spec


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be put in the place of a file."""

    def refuse(target: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr("eqspec.report.atomic_file.replace_file", refuse)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("options", [["--report", "r.html"], ["--format", "json", "-o", "r.json"]])
def test_results_on_a_full_disk(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = write_spec(tmp_path)
    assert main(["check", str(spec), "--no-cache", *options]) == 75
    assert "No space left on device" in capsys.readouterr().err
    assert not list(tmp_path.glob("r.*"))


def test_whose_doing_it_is() -> None:
    assert isinstance(unwritten("x", OSError(errno.ENOSPC, "full")), ResourceError)
    found = unwritten("x", OSError(errno.EACCES, "Permission denied"), "; ask")
    assert isinstance(found, InputError)
    assert str(found) == "cannot write to x: Permission denied; ask"
