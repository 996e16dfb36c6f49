"""A machine that gives no more is no defect of eqspec: exit code 75, no half file is left, and all else is done.

The same for files that the user may not look at, and standard streams that are closed.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eqspec.cache import replace_file
from eqspec.cli import main
from eqspec.cli.exit import of_error
from eqspec.errors import InputError, ResourceError, explained, unwritten
from small_specs import write_spec


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be put in the place of a file, but of one that is called `good`."""

    def refuse(target: Path, content: bytes) -> None:
        if target.stem == "good":
            return replace_file(target, content)
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr("eqspec.report.atomic_file.replace_file", refuse)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize(
    "options",
    [
        ["--report", "r.html", "--report", "good.xml", "-o", "good.txt"],
        ["--format", "json", "-o", "r.json", "--report", "good.html"],
        ["--save-witness", "witnesses", "--format", "json", "-o", "good.json"],
    ],
)
def test_results_on_a_full_disk(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What still fits is written."""
    monkeypatch.chdir(tmp_path)
    spec = write_spec(tmp_path)
    assert main(["check", str(spec), "--no-cache", *options]) == 75
    out, err = capsys.readouterr()
    assert "No space left on device" in err
    assert "3 tasks" in out
    assert not [*tmp_path.glob("r.*"), *tmp_path.glob("witnesses/*")]
    assert {path.name for path in tmp_path.glob("good.*")} == {word for word in options if word.startswith("good")}


def test_an_export_on_a_full_disk_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = write_spec(tmp_path), tmp_path / "exported"
    words = ["export", str(spec), "--to", "vnnlib1", "-o", str(folder)]
    assert main(words) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    spec.write_text(spec.read_text().replace("eps in [0.2, 0.3]", "eps in [0.3, 0.4]"))
    write, count = Path.write_text, 0

    def third_fails(path: Path, text: str, **how: str) -> int:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, text, **how)

    monkeypatch.setattr(Path, "write_text", third_fails)
    assert main(words) == 75
    assert capsys.readouterr().err.endswith(f"cannot write to {folder}: No space left on device\n")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize(
    ("streams", "code"),
    [("task 2>/dev/full", 0), ("task >/dev/full", 75), ("task <&- >&- 2>&-", 0), ("nothing 2>/dev/full", 2)],
)
def test_streams_that_take_nothing(streams: str, code: int, tmp_path: Path) -> None:
    """Progress that is lost stops nothing; results that are lost are no failed claim, and no defect."""
    words = f"{sys.executable} -m eqspec schema {streams}"
    run = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == code
    assert "defect" not in run.stderr
    assert "Traceback" not in run.stderr


def test_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, gone = write_spec(tmp_path), tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["check"]) == 2
    assert "is gone; go to one that is there" in capsys.readouterr().err
    assert main(["check", str(spec), "--no-cache", "-c", "same"]) == 0


def test_a_spec_that_may_not_be_looked_at_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As below a folder that cannot be entered; the user may be root, so it is played."""
    spec, stat = write_spec(tmp_path), Path.stat

    def refuse(path: Path, **how: bool) -> os.stat_result:
        if "closed" in path.parts:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", refuse)
    assert main(["check", "closed/x.eqspec", str(spec), "--no-cache"]) == 2
    out, err = capsys.readouterr()
    assert "cannot read 'closed/x.eqspec': Permission denied" in err
    assert "3 tasks" in out


def test_whose_doing_it_is() -> None:
    assert isinstance(unwritten("x", OSError(errno.ENOSPC, "full")), ResourceError)
    found = unwritten("x", OSError(errno.EACCES, "Permission denied"), "; ask")
    assert isinstance(found, InputError)
    assert str(found) == "cannot write to x: Permission denied; ask"
    too_many = OSError(errno.EMFILE, "Too many open files")
    assert (of_error(too_many), "Too many open files" in str(explained(too_many))) == (75, True)
    assert (of_error(OSError(errno.EIO, "broken")), explained(OSError(errno.EIO, "broken"))) == (4, None)
