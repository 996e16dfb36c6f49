"""Many tasks: their order, failures that stay alone, Ctrl-C that keeps what is known."""

from __future__ import annotations

import concurrent.futures
import threading
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import pytest

from eqspec.cache.store import Store
from eqspec.errors import InputError
from eqspec.property import Epsilon
from eqspec.replay.replay import Replay
from eqspec.run.batch import run_all
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness
from small_tasks import hard, identity, network, task

ONE_THREAD = Options(threads=1, timeout=10)


class Diary(Monitor):
    """Writes down what it hears; raises what it is told to at the first progress."""

    def __init__(self, raising: type[BaseException] | None = None) -> None:
        self.entries: list[tuple[str, str]] = []
        self._raising = raising
        self._lock = threading.Lock()

    def _note(self, event: str, task: Task) -> None:
        with self._lock:
            self.entries.append((event, task.id))

    def started(self, task: Task) -> None:
        self._note("started", task)

    def progress(self, task: Task, progress: Progress) -> None:
        assert 0 <= progress.certified <= 1
        self._note("progress", task)
        if self._raising is not None:
            raise self._raising

    def finished(self, task: Task, result: Result) -> None:
        assert result.id == task.id
        self._note("finished", task)


def easy(name: str) -> Task:
    return task(identity(2), network((np.eye(2), [0.0, 0.25])), Epsilon("0.3"), id=name)


def broken(name: str) -> Task:
    """Its claim names an output that is not there."""
    return task(identity(2), identity(2), Epsilon(1, outputs=(7,)), id=name)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_all_tasks_run_in_order_and_a_failure_stays_alone(jobs: int) -> None:
    diary = Diary()
    tasks = [easy("a"), broken("b"), easy("c")]
    outcome = run_all(Runner(ONE_THREAD), tasks, diary, jobs)
    assert [r.id for r in outcome.results] == ["a", "b", "c"]
    assert [r.verdict.value for r in outcome.results] == ["equivalent", "unknown", "equivalent"]
    assert outcome.results[1].reason is Reason.ERROR
    assert "there is no output 7" in (outcome.results[1].message or "")
    assert [(name, type(error)) for name, error in outcome.failures] == [("b", InputError)]
    assert not outcome.interrupted
    for name in "abc":
        events = [event for event, about in diary.entries if about == name and event != "progress"]
        assert events == ["started", "finished"]


def test_an_interrupt_keeps_what_is_known_and_leaves_out_the_rest() -> None:
    diary = Diary(raising=KeyboardInterrupt)
    outcome = run_all(Runner(Options(threads=1)), [hard(), easy("never")], diary)
    assert outcome.interrupted
    assert [(r.id, r.reason) for r in outcome.results] == [("hard[seed=0]", Reason.INTERRUPTED)]
    assert ("started", "never") not in diary.entries


def test_an_exception_of_a_monitor_is_a_failure_and_no_verdict() -> None:
    outcome = run_all(Runner(Options(threads=1)), [hard()], Diary(raising=RuntimeError))
    assert [(r.verdict, r.reason) for r in outcome.results] == [(Verdict.UNKNOWN, Reason.ERROR)]
    assert [type(error) for _, error in outcome.failures] == [RuntimeError]


def test_several_at_once_stop_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches only the main thread, here in its third wait."""
    from eqspec.run import batch as module

    waits = iter(range(1000))
    true_wait = concurrent.futures.wait

    def interrupted_wait(*arguments: object, **named: object) -> object:
        if next(waits) == 2:
            raise KeyboardInterrupt
        return true_wait(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "wait", interrupted_wait)
    outcome = run_all(Runner(Options(threads=1)), [hard(0), hard(1), easy("never")], jobs=2)
    assert outcome.interrupted
    assert [r.reason for r in outcome.results] == [Reason.INTERRUPTED] * 2


def differing(name: str) -> Task:
    return task(identity(2), network((np.eye(2), [0.0, 0.25])), Epsilon("0.1"), id=name)


class Finishing:
    """Makes witnesses clearer only once the monitor has heard of `awaited`, and notes in which threads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, diary: Diary, awaited: tuple[str, str] | None) -> None:
        self.threads: list[str] = []
        self._diary, self._awaited = diary, awaited
        monkeypatch.setattr("eqspec.run.runner.improved", self)

    def __call__(self, question: object, options: object, replay: Replay, first: Witness, seconds: float) -> Witness:
        self.threads.append(threading.current_thread().name)
        ends = perf_counter() + 20
        while self._awaited is not None and self._awaited not in self._diary.entries:
            assert perf_counter() < ends, "the next search does not begin"
            sleep(0.01)
        return replay.asked(first)


def test_the_next_search_runs_while_a_witness_is_made_clearer(monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary()
    Finishing(monkeypatch, diary, ("started", "b"))
    outcome = run_all(Runner(Options(threads=2)), [differing("a"), easy("b"), differing("c")], diary)
    assert [r.verdict.value for r in outcome.results] == ["different", "equivalent", "different"]
    assert [name for event, name in diary.entries if event == "finished"] == ["a", "b", "c"]
    assert diary.entries.index(("started", "b")) < diary.entries.index(("finished", "a"))


def test_with_one_thread_nothing_runs_beside_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary()
    finishing = Finishing(monkeypatch, diary, None)
    outcome = run_all(Runner(ONE_THREAD), [differing("a"), differing("b")], diary)
    assert [r.verdict.value for r in outcome.results] == ["different"] * 2
    assert finishing.threads == [threading.current_thread().name] * 2


def test_what_fails_beside_the_next_search_is_a_failure_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Witness:
        raise RuntimeError("no witness")

    monkeypatch.setattr("eqspec.run.runner.improved", fails)
    outcome = run_all(Runner(Options(threads=2)), [differing("a"), easy("b")])
    assert [(r.id, r.verdict.value) for r in outcome.results] == [("a", "unknown"), ("b", "equivalent")]
    assert [(name, type(error)) for name, error in outcome.failures] == [("a", RuntimeError)]


def test_an_interrupt_keeps_the_result_that_is_made_ready_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary(raising=KeyboardInterrupt)
    Finishing(monkeypatch, diary, ("progress", "hard[seed=0]"))
    outcome = run_all(Runner(Options(threads=2)), [differing("a"), hard(), easy("never")], diary)
    assert outcome.interrupted
    assert [(r.id, r.verdict.value) for r in outcome.results] == [("a", "different"), ("hard[seed=0]", "unknown")]
    assert ("started", "never") not in diary.entries


def test_an_equal_task_waits_for_a_result_that_is_made_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    diary = Diary()
    Finishing(monkeypatch, diary, ("started", "b"))
    runner = Runner(Options(threads=2), ResultCache(Store(tmp_path)))
    outcome = run_all(runner, [differing("a"), differing("b")], diary)
    assert [(r.verdict.value, r.cached) for r in outcome.results] == [("different", False), ("different", True)]
    assert not list(tmp_path.rglob("*.lock")), "the search is given up by another thread than began it"


def test_jobs_share_the_cores_unless_threads_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    from eqspec.run import options as module

    monkeypatch.setattr(module, "cores", lambda: 8)
    outcome = run_all(Runner(Options(timeout=10)), [easy("a"), easy("b")], jobs=2)
    assert [r.settings["threads"] for r in outcome.results] == [4, 4]
    outcome = run_all(Runner(ONE_THREAD), [easy("a"), easy("b")], jobs=2)
    assert [r.settings["threads"] for r in outcome.results] == [1, 1]
    assert run_all(Runner(Options(timeout=10)), [easy("a")], jobs=2).results[0].settings["threads"] is None


@pytest.mark.parametrize(("asked", "started"), [(3, 3), (8, 8), (9, 8), (1000, 8)])
def test_no_more_threads_are_started_than_are_of_use(asked: int, started: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from eqspec.run import options as module

    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr("eqspec.run.core.Settings", dict)
    given = easy("a")
    assert Options(threads=asked).settings(given)["threads"] == started  # type: ignore[index]
    assert Options(threads=asked).chosen(given)["threads"] == asked, "workers of a cluster may have more cores"
    assert "threads" not in Options().settings(given)  # type: ignore[operator]


def test_nothing_to_do_and_nonsense() -> None:
    assert run_all(Runner(), []).results == []
    with pytest.raises(InputError, match="jobs = 0"):
        run_all(Runner(), [easy("a")], jobs=0)
