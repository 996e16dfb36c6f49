"""Where a certificate cannot be made the run says so, everywhere, and leaves nothing half-written."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from time import time
from typing import Any

import pytest

from eqspec.api import Report
from eqspec.certificates import Auditor, Certifier
from eqspec.certificates.auditor import Answer
from eqspec.certificates.proof_construction import ProofConstruction
from eqspec.cli import ExitCode, main
from eqspec.cli.exit import exit_code
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from unit.certificates.proofs import certify, close

FULL = Path("/dev/full")
SPECS = Path(__file__).parents[3] / "specs"
NAME = "close.eqcert"
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def made_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".onnx")


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return close(3, tmp_path, Epsilon(Fraction(3, 10)), [3, 6, 3], Fraction(1, 2), 0.01)


@needs_full
def test_a_full_disk_leaves_no_certificate_and_no_part(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / NAME).write_text("of an earlier run")
    monkeypatch.setattr("eqspec.certificates.writer.token_hex", lambda _: "token")
    (tmp_path / (NAME + ".token.part")).symlink_to(FULL)
    result, made = certify(task, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is not None
    assert "No space left" in made.reason
    assert made.no_room
    assert (result.certificate, result.uncertified) == (None, made.reason)
    assert made_in(tmp_path) == []


def test_what_killed_runs_left_is_swept_up_after_a_day(tmp_path: Path) -> None:
    """Records of a search that still grows stay, and so does whatever a run did not make."""
    day_old, now = time() - 1.5 * 86400, time()
    kept = {".record-live", "half.eqcert.0f.part", "half.eqcert", "other.part", ".record-link"}
    for name, then, grown in ((".record-dead", day_old, day_old), (".record-live", day_old, now)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1").write_bytes(b"record")
        os.utime(tmp_path / name / "1", (grown, grown))
        os.utime(tmp_path / name, (then, then))
    for name, then in (("old.eqcert.0e.part", day_old), ("half.eqcert.0f.part", now), ("half.eqcert", day_old)):
        (tmp_path / name).write_bytes(b"part")
        os.utime(tmp_path / name, (then, then))
    (tmp_path / "other.part").touch()
    os.utime(tmp_path / "other.part", (day_old, day_old))
    (tmp_path / ".record-link").symlink_to(tmp_path / ".record-live")
    with Certifier(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_two_runs_at_once_do_not_write_into_each_other(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run begins and ends a certificate of the same name while this one is audited."""
    ask, asked = Auditor.ask, []

    def meanwhile(auditor: Auditor, part: Path, *more: Any, **how: Any) -> Answer:
        asked.append(part)
        if len(asked) == 1:
            with monkeypatch.context() as context:
                context.setattr(Auditor, "ask", ask)
                assert certify(task, tmp_path)[0].certificate is not None
        return ask(auditor, part, *more, **how)

    monkeypatch.setattr(Auditor, "ask", meanwhile)
    result, made = certify(task, tmp_path)
    assert made is not None
    assert (made.reason, result.certificate) == (None, str(tmp_path / NAME))
    assert made_in(tmp_path) == [NAME]


@needs_full
def test_a_record_that_is_cut_off_is_no_proof(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Certifier.record

    def on_a_full_disk(self: Certifier, task: Task) -> Path | None:
        path = record(self, task)
        assert path is not None
        path.unlink()
        path.symlink_to(FULL)
        return path

    monkeypatch.setattr(Certifier, "record", on_a_full_disk)
    result, made = certify(task, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert "empty or damaged" in str(made.reason)
    assert made.no_room
    assert made_in(tmp_path) == []


def test_a_record_that_cannot_be_begun_costs_no_verdict(task: Task, tmp_path: Path) -> None:
    with Certifier(tmp_path / "certificates") as certifier:
        certifier._temporary.cleanup()  # as if somebody had removed it
        result = Runner(Options(threads=1, certifier=certifier)).run(task)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.uncertified is not None
    assert "No such file" in result.uncertified


@pytest.mark.parametrize("error", [MemoryError("no more"), IndexError("beyond"), OSError(28, "No space left")])
def test_whatever_happens_in_writing_costs_no_verdict(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def stumble(_: ProofConstruction) -> None:
        raise error

    monkeypatch.setattr(ProofConstruction, "build", stumble)
    result, made = certify(task, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert str(error.args[-1]) in str(made.reason)
    assert made_in(tmp_path) == []


def test_an_interrupted_write_leaves_nothing(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: ProofConstruction) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ProofConstruction, "build", interrupted)
    with Certifier(tmp_path) as certifier, pytest.raises(KeyboardInterrupt):
        Runner(Options(threads=1, certifier=certifier)).run(task)
    assert "stopped" in certifier.missing[task.id]
    assert made_in(tmp_path) == []


def test_an_answer_that_nobody_waited_for_is_not_taken_for_another(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, made = certify(task, tmp_path)
    assert made is not None
    assert made.reason is None
    nothing = tmp_path / "nothing.eqcert"
    nothing.write_bytes(b"")
    with Auditor() as auditor:
        assert auditor.ask(made.path).refused is None
        dumps = json.dumps

        def stopped(value: object) -> str:
            auditor._process.stdin.write(dumps(value) + "\n")  # type: ignore[union-attr]
            auditor._process.stdin.flush()  # type: ignore[union-attr]
            raise KeyboardInterrupt

        monkeypatch.setattr(json, "dumps", stopped)
        with pytest.raises(KeyboardInterrupt):
            auditor.ask(made.path)
        monkeypatch.setattr(json, "dumps", dumps)
        assert auditor.ask(nothing).refused is not None


@needs_full
def test_the_command_says_so_and_that_another_try_may_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = str(SPECS / "tiny" / "tiny.eqspec")
    ask = ["check", spec, "--certify", str(tmp_path), "--format", "json", "--select", "raised_right"]
    monkeypatch.setattr("eqspec.certificates.writer.token_hex", lambda _: "token")
    assert main(ask) == ExitCode.AS_EXPECTED
    (result,) = json.loads(capsys.readouterr().out)
    assert result["certificate"] == str(tmp_path / "raised_right.eqcert")
    assert result["uncertified"] is None
    (tmp_path / "raised_right.eqcert.token.part").symlink_to(FULL)
    assert main(ask) == ExitCode.RESOURCES, "trying again later may help"
    said = capsys.readouterr()
    (result,) = json.loads(said.out)
    assert result["verdict"] == "equivalent"
    assert result["certificate"] is None
    assert "No space left" in result["uncertified"]
    assert "no certificate of raised_right: cannot write" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    ask = ["check", str(SPECS / "tiny" / "tiny.eqspec"), "--certify", str(file)]
    assert main(ask) == ExitCode.BAD_INPUT
    said = capsys.readouterr()
    assert f"cannot write to {file}" in said.err
    assert not said.out


def test_what_is_wrong_besides_counts_first() -> None:
    def of(verdict: Verdict, expected: str | None = None) -> Report:
        found = Result("a", "a", {}, verdict, expected=expected)
        return Report((found,))

    def code(report: Report, *, bad_input: bool = False) -> ExitCode:
        return exit_code([report], bad_input=bad_input, certified=False)

    assert code(of(Verdict.EQUIVALENT)) == ExitCode.NOT_CERTIFIED
    assert code(of(Verdict.UNKNOWN)) == ExitCode.NOT_CERTIFIED
    assert code(of(Verdict.DIFFERENT)) == ExitCode.NOT_AS_EXPECTED
    assert code(of(Verdict.EQUIVALENT), bad_input=True) == ExitCode.BAD_INPUT
    full = exit_code([of(Verdict.DIFFERENT)], bad_input=False, certified=False, room=False)
    assert full == ExitCode.RESOURCES
