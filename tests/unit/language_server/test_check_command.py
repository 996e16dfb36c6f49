"""Checks run for an editor, and what is known of them afterwards without running anything."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from eqspec.cache import Store
from eqspec.cli import main
from eqspec.errors import SpecError
from eqspec.language_server.check_command import Outcome, run_checks
from eqspec.language_server.last_verdicts import LastVerdicts, in_words
from eqspec.language_server.open_specs import questions
from eqspec.language_server.understanding import ReadNetworks, understand, with_files
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_specs import CHECKS, write_onnx, write_spec


def runner(folder: Path) -> Runner:
    return Runner(cache=ResultCache(Store(folder)))


def asked(path: Path, text: str | None = None) -> list[Task]:
    known = with_files(understand(path.read_text() if text is None else text, path, {}), ReadNetworks())
    return [item for item in questions(known) if isinstance(item, Task)]


def run(path: Path, runs: Runner, verdicts: LastVerdicts, check: str | None = None) -> Outcome:
    text = path.read_text()
    return run_checks(text, path, {}, check, runs, verdicts, lambda *_: None, threading.Event())


def test_results_of_an_earlier_session_are_known_from_the_cache_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_spec(tmp_path)
    done = run(path, runner(tmp_path / "cache"), LastVerdicts(None))
    monkeypatch.setattr("eqspec.run.core.solve", None)
    again = LastVerdicts(runner(tmp_path / "cache")).of(asked(path))
    assert [result and result.verdict for result in again] == [result.verdict for result in done.results]
    assert again[0] is not None
    assert again[0].verdict is Verdict.DIFFERENT
    assert again[0].witness is not None  # replayed now


@pytest.mark.parametrize(
    "change",
    [
        ("within r sigma", "within r * 1.01 sigma"),
        ("eps in [0.2, 0.3]", "eps in [0.21, 0.31]"),
        ("std [2, 4]", "std [2, 5]"),
    ],
)
def test_another_question_has_no_verdict(tmp_path: Path, change: tuple[str, str]) -> None:
    path = write_spec(tmp_path, CHECKS.replace("check same", "# "))
    runs = runner(tmp_path / "cache")
    verdicts = LastVerdicts(runs)
    run(path, runs, verdicts)
    assert all(verdicts.of(asked(path)))
    assert verdicts.of(asked(path, path.read_text().replace(*change))) == [None, None]


def test_another_network_has_no_verdict(tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    runs = runner(tmp_path / "cache")
    verdicts = LastVerdicts(runs)
    run(path, runs, verdicts, "close")
    write_onnx(tmp_path / "pruned.onnx", [[1, 0], [0, 1]], [0, 0.125])
    assert not any(verdicts.of(asked(path)))


def test_only_the_check_that_was_asked_for_runs(tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    assert [result.check for result in run(path, Runner(), LastVerdicts(None), "same").results] == ["same"]


def test_a_search_for_the_best_value_is_known_after_it_ran(tmp_path: Path) -> None:
    checks = "check best { prove pruned stays within eps of full on near(1) find smallest eps in 0.1 .. 1 to 0.1 }"
    path = write_spec(tmp_path, checks)
    verdicts = LastVerdicts(None)
    outcome = run(path, Runner(), verdicts)
    known = with_files(understand(path.read_text(), path, {}), ReadNetworks())
    assert verdicts.of(questions(known)) == list(outcome.results)
    assert "eps" in (in_words(outcome.results) or "")


def test_a_run_can_be_stopped(root: Path) -> None:
    path = root / "specs" / "lhc.eqspec"
    stopped = threading.Event()

    def progress(_: str, __: int) -> None:
        stopped.set()

    text = path.read_text().replace("[0.2, 0.25, 0.3]", "[1, 1.1, 1.2, 1.3]").replace(">= 0.7", ">= 0.99")
    outcome = run_checks(text, path, {}, "confident", Runner(), LastVerdicts(None), progress, stopped)
    assert outcome.interrupted
    assert len(outcome.results) < 4


def test_a_spec_with_errors_does_not_run(tmp_path: Path) -> None:
    path = write_spec(tmp_path, CHECKS.replace("full", "fool"))
    with pytest.raises(SpecError):
        run(path, Runner(), LastVerdicts(None))


def test_no_verdict_has_no_words() -> None:
    assert in_words([]) is None
    assert in_words([None]) is None


def test_without_pygls_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eqspec.cli.tools.lsp.find_spec", lambda _: None)
    assert main(["lsp"]) == 2
    said = capsys.readouterr().err
    assert "pip install 'pygls" in said
    assert "Traceback" not in said
