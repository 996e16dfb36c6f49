"""The coordinator with workers of this process that lie, fall silent, fail and come and go: no verdict is wrong."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.cache import Store
from eqspec.cluster import coordinator as coordinating
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.leg import Order, Report
from eqspec.cluster.policy import Limits
from eqspec.cluster.transport import LostError
from eqspec.errors import ResourceError
from eqspec.property import Epsilon
from eqspec.run.batch import run_all
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from small_clusters import Fault, LocalTransport, Silence
from small_tasks import hard, undecided_task

PLAIN = Options(domain="paper", weaken=False)
QUICK = Limits(longest=1.0, each=0.0, recall=0.01, grace=0.5, boxes=9)
TASK = undecided_task()


@contextmanager
def coordinated(transport: LocalTransport, limits: Limits = QUICK) -> Iterator[tuple[ClusterEngine, list[str]]]:
    told: list[str] = []
    with Coordinator(transport, told.append, limits) as coordinator:
        coordinator.wait_for_workers(5)
        yield ClusterEngine(coordinator), told


@pytest.fixture(scope="module")
def alone() -> int:
    """Boxes that one machine takes; the proof is known to exist."""
    result = Runner(replace(PLAIN, threads=1)).run(TASK)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.boxes > 50
    return result.boxes


def test_a_proof_in_many_legs(alone: int) -> None:
    transport = LocalTransport(3)
    with coordinated(transport) as (engine, told):
        result = Runner(PLAIN, engine=engine).run(TASK)
    assert (result.verdict, result.certified_fraction, result.open_boxes) == (Verdict.EQUIVALENT, 1.0, 0)
    assert len(transport.sent) > alone / 20
    assert alone / 4 < result.boxes < 4 * alone
    assert not told


def test_a_witness_is_replayed_here_and_ends_the_search() -> None:
    task = replace(TASK, property=Epsilon("0.01"))
    with coordinated(LocalTransport(2)) as (engine, _):
        result = Runner(PLAIN, engine=engine).run(task)
    assert result.verdict is Verdict.DIFFERENT
    assert result.witness is not None
    assert result.boxes >= 1


def flipped(data: bytes, random_: random.Random) -> bytes:
    place = random_.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random_.randrange(8)]) + data[place + 1 :]


class Liars:
    """Every few answers: changed, cut off, that of another leg, the share itself, none, or a witness that is none."""

    def __init__(self, seed: int) -> None:
        self._random, self._earlier = random.Random(seed), list[bytes]()
        self._lock = threading.Lock()
        self.lies = 0

    def __call__(self, worker: str, order: Order, honestly: object) -> Report:
        report: Report = honestly()  # type: ignore[operator]
        with self._lock:
            self._earlier.append(report.answer or b"")
            if self._random.random() < 0.75:
                return report
            self.lies += 1
            answer = self._random.choice(
                [
                    flipped(report.answer or b"?", self._random),
                    (report.answer or b"?")[:-1],
                    self._random.choice(self._earlier[:-1] or [b"nothing"]),
                    order.share,
                    b"",
                    None,
                ]
            )
            if answer is None and self._random.random() < 0.5:
                return replace(report, answer=None, witness=np.full(4, 0.25))
            return replace(report, answer=answer)


@pytest.mark.parametrize("seed", range(4))
def test_answers_that_are_none_prove_nothing(alone: int, seed: int) -> None:
    liars = Liars(seed)
    transport = LocalTransport(3, liars)
    with coordinated(transport, replace(QUICK, deaths=1000)) as (engine, _):
        result = Runner(PLAIN, engine=engine).run(TASK)
    assert liars.lies
    assert result.verdict is Verdict.EQUIVALENT
    assert result.certified_fraction == 1.0


GARBAGE: dict[str, Any] = {
    "answer": "text",
    "record": 3,
    "trail": [b"Z"],
    "boxes": -1,
    "witness": np.zeros(7),
    "beside": np.zeros((2, 2)),
}


@pytest.mark.parametrize("is_report", [True, False])
def test_reports_of_the_wrong_kinds_are_refused(alone: int, is_report: bool) -> None:
    """With one wrong field or another, in turns: nothing that came is looked at but by the ledger and the replay."""
    kinds: list[dict[str, Any]] = [{name: value} for name, value in GARBAGE.items()]
    kinds += [{"witness": value} for value in ("text", [0.25] * 4, np.array([None] * 4), np.full(4, np.nan))]
    kinds += [{"boxes": "9"}, {"answer": None}]
    told = list[dict[str, Any]]()

    def fault(worker: str, order: Order, honestly: object) -> object:
        report: Report = honestly()  # type: ignore[operator]
        if worker == "worker-2" or len(told) == len(kinds):
            return report
        told.append(kinds[len(told)])
        return replace(report, **told[-1]) if is_report else told[-1]

    with coordinated(LocalTransport(3, fault), replace(QUICK, deaths=1000)) as (engine, _):
        result = Runner(PLAIN, engine=engine).run(TASK)
    assert len(told) == len(kinds)
    assert (result.verdict, result.certified_fraction) == (Verdict.EQUIVALENT, 1.0)


def always(problem: Exception) -> Fault:
    def fault(*_: object) -> Report:
        raise problem

    return fault


def test_a_leg_that_fails_everywhere_ends_its_task_alone() -> None:
    def fault(worker: str, order: Order, honestly: object) -> Report:
        if order.boxes == 7:
            raise MemoryError("too large for any worker")
        return honestly()  # type: ignore[operator, no-any-return]

    other = replace(TASK, id="other", property=Epsilon("0.01"))
    transport = LocalTransport(2, fault)
    with coordinated(transport) as (engine, _):
        failing = Runner(replace(PLAIN, boxes=14), engine=engine)  # 7 for each of two workers
        outcome = run_all(failing, [TASK, other], jobs=1)
    first, second = outcome.results
    assert (first.verdict, first.reason) == (Verdict.UNKNOWN, Reason.ERROR)
    assert "failed on every worker" in (first.message or "")
    assert "too large for any worker" in (first.message or "")
    assert len([order for order in transport.sent if order.boxes == 7]) >= 3
    assert second.id == "other"


def test_workers_that_fall_silent_are_given_nothing_more(alone: int) -> None:
    silent = set[str]()

    def fault(worker: str, order: Order, honestly: object) -> Report:
        if worker == "worker-0" or worker in silent:
            silent.add(worker)
            raise Silence
        return honestly()  # type: ignore[operator, no-any-return]

    with coordinated(LocalTransport(3, fault)) as (engine, told):
        result = Runner(PLAIN, engine=engine).run(TASK)
    assert result.verdict is Verdict.EQUIVALENT
    assert silent == {"worker-0"}
    assert any("worker-0" in message and "does not answer" in message for message in told)


def test_workers_that_go_and_come_lose_nothing(alone: int) -> None:
    transport = LocalTransport(3)
    legs = 0

    def fault(worker: str, order: Order, honestly: object) -> Report:
        nonlocal legs
        legs += 1
        if legs % 5 == 0 and len(transport.there) > 1:
            transport.there.pop(worker, None)
            transport.there[f"worker-{100 + legs}"] = 1
            raise Silence
        return honestly()  # type: ignore[operator, no-any-return]

    transport.fault = fault
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(coordinating, "_LOOK", 0.05)
        with coordinated(transport, replace(QUICK, grace=30.0, deaths=50)) as (engine, _):
            result = Runner(PLAIN, engine=engine).run(TASK)
    assert result.verdict is Verdict.EQUIVALENT
    assert len(transport.there) == 3
    assert max(int(name.split("-")[1]) for name in transport.there) > 100


def test_another_build_is_refused_by_name() -> None:
    transport = LocalTransport(2)
    transport.builds["worker-1"] = "0.0.9 python-3.11.2 numpy-1 onnx-1 abcdef"
    with coordinated(transport) as (engine, told):
        assert engine.coordinator.workers == 1
        result = Runner(PLAIN, engine=engine).run(TASK)
    assert result.verdict is Verdict.EQUIVALENT
    assert len(told) == 1
    assert "worker-1" in told[0]
    assert "another build" in told[0]
    assert "0.0.9 there" in told[0]
    assert "install the same" in told[0]


def test_a_cluster_of_another_build_is_no_cluster() -> None:
    transport = LocalTransport(1)
    transport.builds["worker-0"] = "0.0.9"
    with pytest.raises(ResourceError, match="no worker that can be used"), coordinated(transport):
        pass


def test_workers_of_another_build_that_come_late_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinating, "_LOOK", 0.05)
    transport = LocalTransport(0)
    transport.builds["late"] = "0.0.9"
    told: list[str] = []
    with Coordinator(transport, told.append, QUICK) as coordinator:
        coordinator.wait_for_workers(0.1)
        transport.there["late"] = 1
        with pytest.raises(ResourceError, match="none of its workers can be used"):
            Runner(replace(PLAIN, timeout=60), engine=ClusterEngine(coordinator)).run(TASK)
    assert ["no workers yet" in told[0], "late" in told[1]] == [True, True]


def test_the_time_of_a_search_begins_with_the_first_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of a batch system may wait for longer than a task may take."""
    monkeypatch.setattr(coordinating, "_LOOK", 0.05)
    transport, results = LocalTransport(0), list[Result]()
    with Coordinator(transport, limits=QUICK) as coordinator:
        runner = Runner(replace(PLAIN, timeout=0), engine=ClusterEngine(coordinator))
        thread = threading.Thread(target=lambda: results.append(runner.run(TASK)))
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        transport.there["late"] = 1
        thread.join(20)
    assert [result.reason for result in results] == [Reason.TIMEOUT]


def test_a_search_that_waits_for_a_worker_can_be_stopped() -> None:
    with Coordinator(LocalTransport(0), limits=QUICK) as coordinator:
        result = Runner(PLAIN, engine=ClusterEngine(coordinator)).run(TASK, stop=lambda: True)
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)


def test_a_cluster_that_is_lost_leaves_what_was_proved(tmp_path: Path, alone: int) -> None:
    transport = LocalTransport(2)
    legs = 0

    def fault(worker: str, order: Order, honestly: object) -> Report:
        nonlocal legs
        legs += 1
        if legs > 3:
            transport.reached = LostError("its scheduler is gone")
            raise Silence
        return honestly()  # type: ignore[operator, no-any-return]

    transport.fault = fault
    cache = ResultCache(Store(tmp_path), resume=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(coordinating, "_PATIENCE", 0.1)
        patched.setattr(coordinating, "_LOOK", 0.05)
        with (
            coordinated(transport) as (engine, _),
            pytest.raises(ResourceError, match="out of reach") as raised,
        ):
            Runner(PLAIN, cache, engine).run(TASK)
    assert "--resume" in str(raised.value)
    resumed = Runner(PLAIN, cache).run(TASK)
    assert resumed.resumed
    assert resumed.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("again", [0, 1, 4])
def test_a_search_goes_on_with_another_number_of_workers(tmp_path: Path, alone: int, again: int) -> None:
    cache = ResultCache(Store(tmp_path), resume=True)
    with coordinated(LocalTransport(2)) as (engine, _):
        first = Runner(replace(PLAIN, boxes=alone // 2), cache, engine).run(TASK)
    assert (first.verdict, first.reason) == (Verdict.UNKNOWN, Reason.BOXES)
    assert 0 < first.certified_fraction < 1 or first.open_boxes > 1
    if not again:
        result = Runner(PLAIN, cache).run(TASK)
    else:
        with coordinated(LocalTransport(again)) as (engine, _):
            result = Runner(PLAIN, cache, engine).run(TASK)
    assert result.resumed
    assert result.verdict is Verdict.EQUIVALENT
    assert result.boxes > first.boxes


def test_stopping_keeps_what_was_proved(tmp_path: Path) -> None:
    cache = ResultCache(Store(tmp_path), resume=True)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with coordinated(LocalTransport(2), Limits()) as (engine, _):
        result = Runner(PLAIN, cache, engine).run(hard(), stop=stop)
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)
    assert result.boxes > 0
    assert list(tmp_path.rglob("*.search"))


def test_time_and_boxes_are_limits() -> None:
    with coordinated(LocalTransport(2)) as (engine, _):
        late = Runner(replace(PLAIN, timeout=0.3), engine=engine).run(hard())
        few = Runner(replace(PLAIN, boxes=20), engine=engine).run(hard(1))
        none = Runner(replace(PLAIN, timeout=0), engine=engine).run(hard(2))
    assert (late.verdict, late.reason) == (Verdict.UNKNOWN, Reason.TIMEOUT)
    assert (few.verdict, few.reason) == (Verdict.UNKNOWN, Reason.BOXES)
    assert few.boxes <= 40
    assert (none.verdict, none.reason) == (Verdict.UNKNOWN, Reason.TIMEOUT)
