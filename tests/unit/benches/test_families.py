"""The runner of families runs queries as a check does, and its log loses nothing and takes nothing twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acceptance import families
from acceptance.families import Family, read_log, run
from acceptance.published import Published, Query
from eqspec.property import Epsilon
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from small_tasks import network, task

OPTIONS = Options(threads=1, timeout=60)
NAMES = [f"query {number}" for number in range(6)]


def family(names: list[str] = NAMES) -> Family:
    """Of x and 2 x on -1 .. 1, within 2 and within 1/2: the claims of even queries hold, the others break."""
    queries = [
        Query(
            name,
            task(network(([[1]], [0])), network(([[2]], [0])), Epsilon(2 if int(name[-1]) % 2 == 0 else 0.5)),
            None,
        )
        for name in names
    ]
    return Family("small", lambda: queries, None)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def begun(monkeypatch: pytest.MonkeyPatch, instead: Callable[[int, Callable[[], Any]], Any]) -> None:
    """Have the search of the so manieth query made by `instead`, which is given what it would do."""
    real, count, lock = Runner.begin, iter(range(99)), threading.Lock()

    def begin(self: Runner, task: Task, monitor: Monitor | None = None, **given: Any) -> Any:
        with lock:
            number = next(count)
        return instead(number, lambda: real(self, task, monitor, **given))

    monkeypatch.setattr(Runner, "begin", begin)


@pytest.mark.parametrize("jobs", [1, 3])
def test_outcomes_are_in_the_order_of_the_queries_and_each_is_one_line(tmp_path: Path, jobs: int) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("w", encoding="utf-8") as log:
        outcomes = run(family(), OPTIONS, {}, log, jobs)
    assert [outcome["name"] for outcome in outcomes] == NAMES
    assert [outcome["verdict"] for outcome in outcomes] == ["equivalent", "different"] * 3
    kept = lines(path)
    assert sorted(line["name"] for line in kept) == NAMES
    assert {line["settings"]["jobs"] for line in kept} == {jobs}
    assert all(line in outcomes for line in kept)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_log_has_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("w", encoding="utf-8") as log:
        first = run(family(NAMES[1::2]), OPTIONS, {}, log, jobs)
    with path.open("a", encoding="utf-8") as log:
        log.write('{"family": "small", "name": "query 0", "ver')  # what a killed run leaves
        log.write("\n")
        asked: list[int] = []

        def counted(number: int, search: Callable[[], Any]) -> Any:
            asked.append(number)
            return search()

        begun(monkeypatch, counted)
        again = run(family(), OPTIONS, read_log(path, OPTIONS, jobs)["small"], log, jobs)
    assert [outcome["name"] for outcome in again] == NAMES
    assert again[1::2] == first
    assert len(asked) == 3
    assert read_log(path, OPTIONS, jobs + 1) == {}, "times of another number of jobs are no times of this run"
    found, before = list(read_log(path, OPTIONS, jobs)["small"]), len(first)
    assert sorted(found[:before]) == NAMES[1::2]  # with two at once in whichever order they end
    assert sorted(found[before:]) == NAMES[::2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_query_is_no_line_and_those_before_it_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    def interrupt(number: int, search: Callable[[], Any]) -> Any:
        if number == 3:
            raise KeyboardInterrupt
        return search()

    path = tmp_path / "log.jsonl"
    begun(monkeypatch, interrupt)
    with path.open("w", encoding="utf-8") as log, pytest.raises(KeyboardInterrupt):
        run(family(), OPTIONS, {}, log, jobs)
    found = [line["name"] for line in lines(path)]
    assert set(NAMES[:3]) <= set(found) <= set(NAMES) - {NAMES[3]}
    monkeypatch.undo()
    with path.open("a", encoding="utf-8") as log:
        run(family(), OPTIONS, read_log(path, OPTIONS, jobs)["small"], log, jobs)
    assert sorted(line["name"] for line in lines(path)) == NAMES


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_query_that_ends_in_an_error_is_raised_when_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    def fail(number: int, search: Callable[[], Any]) -> Any:
        if number == 1:
            raise RuntimeError("a worker broke")
        return search()

    path = tmp_path / "log.jsonl"
    begun(monkeypatch, fail)
    with path.open("w", encoding="utf-8") as log, pytest.raises(RuntimeError, match="a worker broke"):
        run(family(), OPTIONS, {}, log, jobs)
    assert len(lines(path)) == 5
    assert all(line["reason"] != "error" for line in lines(path))


def test_a_contradiction_is_counted_and_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    queries = family().queries()
    wrong = [replace(query, published=Published("different", 1.0, 1, 1.0)) for query in queries]
    monkeypatch.setitem(families.FAMILIES, "small", Family("small", lambda: wrong, 1.0))
    log = tmp_path / "log.jsonl"
    assert families.main(["small", "--threads", "1", "--jobs", "2", "--log", str(log)]) == 1
    assert len(lines(log)) == len(NAMES)


def test_a_line_that_cannot_be_written_is_no_outcome(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "log.jsonl").open("w", encoding="utf-8") as log:
        real, count = families._Record.finished, iter(range(99))

        def full(self: families._Record, task: Task, result: Result) -> None:
            if next(count) == 2:
                raise OSError("no space left")
            real(self, task, result)

        monkeypatch.setattr(families._Record, "finished", full)
        with pytest.raises(OSError, match="no space left"):
            run(family(), OPTIONS, {}, log)
