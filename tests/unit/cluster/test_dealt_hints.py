"""Earlier proofs on a cluster: what its searches leave for the next one, and what they take up, whatever goes wrong.

Every pair of engines is tried: what a cluster leaves serves one machine, and the other way round.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from eqspec.cache import Store
from eqspec.cluster import coordinator as coordinating
from eqspec.cluster import leg
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.leg import Order, Report, Shipped
from eqspec.cluster.policy import Limits
from eqspec.run import core
from eqspec.run.earlier_proofs import EarlierProofs, kin
from eqspec.run.engine import Engine, Question
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from moved_pairs import claimed, wide
from small_clusters import Fault, LocalTransport

Made = Callable[[float], Task]
SMALL = Limits(longest=1.0, each=0.0, recall=0.01, grace=0.5, boxes=9, deaths=1000)
"""Legs of a few boxes, so that even small searches take many."""


@contextmanager
def engine(where: str, fault: Fault | None = None) -> Iterator[Engine | None]:
    """A cluster of three workers, or this machine."""
    if where == "alone":
        yield None
        return
    with Coordinator(LocalTransport(3, fault), limits=SMALL) as coordinator:
        coordinator.wait_for_workers(5)
        yield ClusterEngine(coordinator)


def run(what: Task, folder: Path | None, where: str = "cluster", fault: Fault | None = None) -> Result:
    results = None if folder is None else ResultCache(Store(folder))
    with engine(where, fault) as there:
        return Runner(Options(threads=1, weaken=False), results, there).run(what)


@pytest.mark.part(4)
@pytest.mark.parametrize("made", [claimed, wide])
@pytest.mark.parametrize(("first", "then"), [("cluster", "cluster"), ("alone", "cluster"), ("cluster", "alone")])
def test_the_next_proof_takes_up_the_last_one(tmp_path: Path, made: Made, first: str, then: str) -> None:
    last = run(made(0.0), tmp_path, first)
    cold, warm = run(made(1e-4), None, then), run(made(1e-4), tmp_path, then)
    assert {result.verdict for result in (last, cold, warm)} == {Verdict.EQUIVALENT}
    assert last.reused is cold.reused is None
    assert warm.reused is not None
    assert warm.reused.source == "cache"
    assert 0.5 * warm.reused.steps < warm.reused.taken_up <= warm.reused.steps
    # Contraction spares a box nothing but time: there boxes are the same.
    assert warm.boxes < 0.9 * cold.boxes or made is wide
    assert (warm.certified_fraction, warm.open_boxes) == (1.0, 0)


def test_a_difference_is_found_whatever_was_proved_before(tmp_path: Path) -> None:
    assert run(claimed(0.0), tmp_path).verdict is Verdict.EQUIVALENT
    result = run(claimed(0.5), tmp_path)
    assert result.verdict is Verdict.DIFFERENT
    assert result.reused is not None


class Failing:
    """Loses every few legs, of which some were worked on, and answers some twice over or with the trail of another."""

    def __init__(self, seed: int) -> None:
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._trails: list[bytes | None] = []
        self.failed = 0

    def __call__(self, worker: str, order: Order, honestly: Callable[[], Report]) -> object:
        with self._lock:
            choice = self._random.random()
        if choice < 0.1:
            self.failed += 1
            raise OSError("lost before it began")
        report = honestly()
        if choice < 0.3:
            self.failed += 1
            raise OSError("lost with all that it did")
        if choice < 0.4:
            self.failed += 1
            answer = bytearray(report.answer or b"?")
            answer[len(answer) // 2] ^= 1
            return replace(report, answer=bytes(answer))
        return report


@pytest.mark.parametrize("made", [claimed, wide])
def test_legs_that_are_lost_leave_no_gap_and_nothing_twice(tmp_path: Path, made: Made) -> None:
    """What is left for the next proof is whole: all of it is taken up by a search of the same pair."""
    for seed in range(2):
        folder, failing = tmp_path / str(seed), Failing(seed)
        assert run(made(0.0), folder, fault=failing).verdict is Verdict.EQUIVALENT
        assert failing.failed
        warm, again = run(made(1e-6), folder, "alone"), run(made(1e-5), folder, fault=failing)
        assert warm.verdict is again.verdict is Verdict.EQUIVALENT
        assert warm.reused is not None
        assert warm.reused.taken_up > 0.8 * warm.reused.steps > 0


@pytest.mark.parametrize("made", [claimed, wide])
def test_hints_that_are_worth_nothing_cost_time_alone(tmp_path: Path, made: Made) -> None:
    """Damaged hints, those of another claim and kind, and none: every verdict is the one without them."""
    chance, known = random.Random(1), []
    for one in (claimed(0.0), wide(0.0)):
        run(one, tmp_path, "alone")
        found = EarlierProofs(None, Store(tmp_path)).hints(one)
        assert found is not None
        known.append(found.trail)
    noise = [b"", b"Z", bytes(chance.randrange(256) for _ in range(300))]
    for base in known:
        for _ in range(3):
            data = bytearray(base)
            for _ in range(3):
                data[chance.randrange(len(data))] = chance.randrange(256)
            noise.append(bytes(data))
    for number, (change, expected) in enumerate([(1e-3, Verdict.EQUIVALENT), (2.0, Verdict.DIFFERENT)]):
        # Contraction that begins anew in every leg takes seconds, so of these there are few.
        for hints in [*known, *noise] if made is claimed else [known[number], noise[-1]]:
            for entry in tmp_path.rglob("*.result"):
                entry.unlink()
            one = made(change)
            Store(tmp_path).write("trail", kin(one), hints)
            assert run(one, tmp_path).verdict is expected


@pytest.mark.parametrize("lie", [b"", b"nonsense", None])
def test_what_a_worker_says_of_its_way_decides_nothing(tmp_path: Path, lie: bytes | None) -> None:
    def fault(worker: str, order: Order, honestly: Callable[[], Report]) -> Report:
        return replace(honestly(), trail=lie) if order.trail else honestly()

    assert run(claimed(0.0), tmp_path, fault=fault).verdict is Verdict.EQUIVALENT
    result = run(claimed(1e-4), tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.reused is None or lie == b""


def test_a_trail_that_grows_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinating, "LONGEST_TRAIL", 1000)
    asked = list[bool]()

    def fault(worker: str, order: Order, honestly: Callable[[], Report]) -> Report:
        asked.append(order.trail)
        return honestly()

    assert run(claimed(0.0), tmp_path, fault=fault).verdict is Verdict.EQUIVALENT
    assert asked[0]
    assert not asked[-1]
    assert not list(tmp_path.rglob("*.trail"))


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 0.2])
def test_a_share_that_is_left_as_it_was_has_no_part_of_the_record(seconds: float) -> None:
    """A probe that is cut off leaves the share alone; what it halved must not be joined to what others will do."""
    task, chosen = wide(0.0), Options(threads=1).chosen(wide(0.0))
    pair, claim = Pairs().of(task, matched=True), lower_property(task.property, task.reference.output_size)
    question = Question(task, pair, claim, lower_constraints(task), matched=True)
    ledger = core.Ledger(pair, task.lower, task.upper, claim, core.Settings(**chosen))
    dealt = ledger.deal(1)
    assert dealt is not None
    order = Order("leg", dealt[1], seconds, None, threads=1, record=True, trail=True)
    report = leg.work(Shipped.of(question, chosen), order)
    assert report.answer is not None
    ledger.accept(report.answer)
    state = ledger.progress()
    if (state.open_boxes, state.depth, state.certified) == (1, 0, 0.0):
        # Behind its probes the share itself may have been bounded, which leaves multipliers of it, and no trail.
        assert report.trail is None or report.record == report.trail == b""
    else:
        assert report.record
