"""Brackets around a border that is known: with a stand-in for the runner that answers by a rule, and with the core."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from eqspec.api import Report
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.property import Epsilon, Margin
from eqspec.report import formats, table
from eqspec.report.live import LiveMonitor
from eqspec.run import value_search
from eqspec.run.batch import run_all
from eqspec.run.best_value import run_search
from eqspec.run.bisection import between
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.bracket import Direction
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Budget, Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness
from small_tasks import identity, network, task


def task_at(value: Fraction) -> Task:
    return task(identity(1), identity(1), Epsilon(value), id=f"best[v={value}]")


def wanting(
    direction: Direction,
    low: Fraction,
    high: Fraction,
    width: Fraction | None,
    task_at: Callable[[Fraction], Task] = task_at,
    seconds: float = 100.0,
) -> Search:
    """A search as the compiler makes them."""
    return Search(
        "best", "best", "v", direction, low, high, width, task_at, budget=Budget(timeout=seconds), tags=("t",)
    )


def witness(value: Fraction) -> Witness:
    return Witness((value,), (value,), ("x",), (None,), ("y",), (0.0,), (0.0,), None, "")


class Clock:
    """Time that passes only when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Oracle:
    """Holds up to `border`; needs for ever within `slow` of it; a witness still breaks `reach` further on."""

    def __init__(self, clock: Clock, wanted: Search, border: Fraction, slow: Fraction, reach: Fraction) -> None:
        self.clock, self.border, self.slow, self._reach = clock, border, slow, reach
        self.smallest = wanted.direction == "smallest"
        self.options = Options()
        self.asked: list[Fraction] = []
        self.claims: list[tuple[str, Fraction]] = []

    def holds(self, value: Fraction) -> bool:
        return value >= self.border if self.smallest else value <= self.border

    def run(self, made: Task, monitor: object, *, stop: object, options: Options) -> Result:
        value = made.property.eps  # type: ignore[union-attr]
        assert isinstance(value, Fraction)
        self.asked.append(value)
        limit = options.timeout
        assert limit is not None
        needed = 0.1 if self.slow == 0 or abs(value - self.border) > self.slow else 1e9
        self.clock.now += min(needed, limit)
        if needed > limit:
            return Result("p", "p", {}, Verdict.UNKNOWN, Reason.TIMEOUT, seconds=limit, boxes=5)
        if self.holds(value):
            return Result("p", "p", {}, Verdict.EQUIVALENT, seconds=0.1, boxes=7)
        return Result("p", "p", {}, Verdict.DIFFERENT, seconds=0.1, boxes=1, witness=witness(value))

    def replay(self, made: Task) -> Any:
        value = made.property.eps  # type: ignore[union-attr]
        assert isinstance(value, Fraction)

        def replay(point: tuple[Fraction, ...]) -> Witness | None:
            bent = point[0] + (self._reach if self.smallest else -self._reach)
            breaks = not self.holds(value) and (value <= bent if self.smallest else value >= bent)
            return witness(point[0]) if breaks else None

        return SimpleNamespace(replay=replay, asked=lambda witness: witness)


@given(
    st.sampled_from(["smallest", "largest"]),
    st.tuples(st.fractions(0, 100), st.fractions(0, 100)).filter(lambda ends: abs(ends[0] - ends[1]) > 1),
    st.fractions(-1, 2),
    st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1)]),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1000)]),
    st.none() | st.sampled_from([Fraction(1, 10), Fraction(1, 1000)]),
)
def test_the_bracket_holds_the_border_and_closes_where_it_can(
    direction: Direction,
    ends: tuple[Fraction, Fraction],
    share: Fraction,
    slow: Fraction,
    reach: Fraction,
    width: Fraction | None,
) -> None:
    low, high = min(ends), max(ends)
    border = low + (high - low) * share
    wanted = wanting(direction, low, high, width, task_at)
    clock = Clock()
    oracle = Oracle(clock, wanted, border, slow, reach)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_search, "perf_counter", clock)
        result, interrupted = run_search(oracle, wanted)  # type: ignore[arg-type]
    bracket = result.find
    assert bracket is not None
    assert not interrupted
    assert clock.now <= 100.0 + 1e-6
    if bracket.proved is not None:
        assert oracle.holds(bracket.proved)
        assert result.verdict is (Verdict.EQUIVALENT if bracket.gap == "closed" else Verdict.UNKNOWN)
    if bracket.refuted is not None:
        assert not oracle.holds(bracket.refuted)
        assert bracket.witness is not None
    if slow == 0:
        assert bracket.gap == "closed"
        assert result.as_expected is (bracket.proved is not None)
    if bracket.gap == "closed" and None not in (bracket.proved, bracket.refuted):
        apart = abs(bracket.proved - bracket.refuted)  # type: ignore[operator]
        assert apart <= (width or max(max(abs(bracket.proved), abs(bracket.refuted)) / 100, (high - low) / 10_000))  # type: ignore[arg-type]
    if bracket.gap == "budget":
        assert (result.as_expected, result.verdict, result.reason) == (None, Verdict.UNKNOWN, Reason.TIMEOUT)
    tried = [probe.value for probe in bracket.probes]
    assert low <= min(tried)
    assert max(tried) <= high
    assert result.boxes == sum(probe.boxes for probe in bracket.probes)


def test_an_input_that_breaks_is_replayed_before_anything_is_searched() -> None:
    """A witness that breaks the claim up to the border leaves nothing to refute: the core is asked only for proofs."""
    wanted = wanting("smallest", Fraction(0), Fraction(1024), Fraction(1), task_at)
    clock = Clock()
    asked = {}
    for reach in (0, 10_000):
        oracle = Oracle(clock, wanted, Fraction(500), Fraction(0), Fraction(reach))
        result, _ = run_search(oracle, wanted)  # type: ignore[arg-type]
        assert result.find is not None
        assert result.find.gap == "closed"
        asked[reach] = sum(not oracle.holds(value) for value in oracle.asked)
    assert asked[0] > 1
    assert asked[10_000] == 1


def test_a_value_that_stays_undecided_is_tried_again_only_with_much_more_time() -> None:
    wanted = wanting("smallest", Fraction(1), Fraction(2), Fraction(1, 10), task_at, 64.0)
    clock = Clock()
    oracle = Oracle(clock, wanted, Fraction(3, 2), Fraction(1, 5), Fraction(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_search, "perf_counter", clock)
        result, _ = run_search(oracle, wanted)  # type: ignore[arg-type]
    assert result.find is not None
    assert result.find.gap == "budget"
    assert len(oracle.asked) < 40
    assert clock.now <= 64.0


def test_an_impossible_claim_and_a_trivial_one() -> None:
    for border, verdict, proved in ((Fraction(9), "different", None), (Fraction(0), "equivalent", Fraction(1))):
        wanted = wanting("smallest", Fraction(1), Fraction(2), None, task_at)
        oracle = Oracle(Clock(), wanted, border, Fraction(0), Fraction(0))
        result, _ = run_search(oracle, wanted)  # type: ignore[arg-type]
        assert result.find is not None
        assert (result.verdict.value, result.find.proved, result.find.gap) == (verdict, proved, "closed")
        assert (result.witness is not None) == (verdict == "different")


def test_an_interrupted_search_says_so() -> None:
    class Interrupted(Oracle):
        def run(self, *arguments: Any, **named: Any) -> Result:
            return replace(super().run(*arguments, **named), verdict=Verdict.UNKNOWN, reason=Reason.INTERRUPTED)

    wanted = wanting("largest", Fraction(1), Fraction(2), None, task_at)
    result, interrupted = run_search(Interrupted(Clock(), wanted, Fraction(2), Fraction(0), Fraction(0)), wanted)  # type: ignore[arg-type]
    assert interrupted
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)
    assert result.find is not None
    assert result.find.proved is None


@given(
    st.fractions(0, 10**6),
    st.fractions(0, 10**6),
)
def test_values_between_are_short_and_well_inside(a: Fraction, b: Fraction) -> None:
    if a == b:
        return
    middle = between(a, b)
    low, high = min(a, b), max(a, b)
    assert low < middle < high
    if low > 0 and high > 4 * low:
        centre = math.sqrt(low * high)
        assert float(low) + (centre - float(low)) / 3 < middle < float(high) - (float(high) - centre) / 3
    else:
        assert low + (high - low) / 5 < middle < high - (high - low) / 5
    assert 10**400 % middle.denominator == 0  # a finite decimal


def test_the_smallest_distance_of_a_real_pair() -> None:
    """g = f + 1/4: the border is 0.25, and the core closes the bracket around it."""
    pair = identity(2), network((np.eye(2), [0.0, 0.25]))
    ends = Fraction(1, 100), Fraction(1)
    wanted = wanting("smallest", *ends, Fraction(1, 1000), lambda v: task(*pair, Epsilon(v), id=f"best[v={v}]"))
    outcome = run_all(Runner(Options(threads=1)), [wanted])
    (result,) = outcome.results
    assert result.find is not None
    assert result.find.gap == "closed"
    assert result.find.refuted is not None
    assert result.find.proved is not None
    assert result.find.refuted < Fraction(1, 4) <= result.find.proved
    assert result.find.witness is not None
    assert result.tags == ("t",)


@pytest.mark.parametrize(("low", "high", "vacuous"), [(5, 9, True), (Fraction(1, 2), 9, False), (3, 4, True)])
def test_a_best_value_at_which_nothing_meets_the_condition_is_vacuous(
    low: Fraction, high: Fraction, vacuous: bool
) -> None:
    """The reference leads by at most 2, so margins above that are met nowhere: a proof at one says nothing."""
    reference = network(([[1.0], [-1.0]], [0.0, 0.0]))

    def margin_at(value: Fraction) -> Task:
        return task(reference, reference, Margin(value), [Fraction(1, 4)], [1], id=f"best[v={value}]")

    wanted = wanting("smallest", Fraction(low), Fraction(high), None, margin_at)
    (result,) = run_all(Runner(Options(threads=1)), [wanted]).results
    assert (result.verdict, result.vacuous) == (Verdict.EQUIVALENT, vacuous)
    assert result.as_expected is not vacuous
    code = ExitCode.NOT_AS_EXPECTED if vacuous else ExitCode.AS_EXPECTED
    assert exit_code([Report((result,))], bad_input=False) is code


def test_a_search_that_fails_is_a_result() -> None:
    def broken(value: Fraction) -> Task:
        raise ValueError(f"no task at {value}")

    wanted = wanting("smallest", Fraction(1), Fraction(2), None, broken)
    outcome = run_all(Runner(Options(threads=1)), [wanted])
    assert [(r.id, r.reason, r.message) for r in outcome.results] == [
        ("best", Reason.ERROR, "ValueError: no task at 1")
    ]


def out_of_time(monkeypatch: pytest.MonkeyPatch, monitor: Any = None) -> tuple[Result, Oracle]:
    """A search that proved the easy end, refuted the hard one, and had no time for what lies between."""
    wanted = wanting("smallest", Fraction(1), Fraction(2), Fraction(1, 10), task_at, 64.0)
    clock = Clock()
    monkeypatch.setattr(value_search, "perf_counter", clock)
    oracle = Oracle(clock, wanted, Fraction(3, 2), Fraction(2, 5), Fraction(0))
    (result,) = run_all(oracle, [wanted], monitor).results  # type: ignore[arg-type]
    assert result.find is not None
    assert (result.find.gap, result.find.proved, result.find.refuted) == ("budget", 2, 1)
    return result, oracle


def test_a_search_out_of_time_counts_once_and_as_undecided_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = out_of_time(monkeypatch)
    assert result.as_expected is None
    assert exit_code([Report((result,))], bad_input=False) is ExitCode.UNDECIDED
    summary = table.summary([result], 1.0).plain
    assert "1 unknown. 1 undecided" in summary
    assert "equivalent" not in summary
    assert table.remark(result).plain == "holds at v = 2, not at 1 (time ran out)"
    (object_,) = json.loads(formats.render([result], "json"))
    assert (object_["verdict"], object_["reason"], object_["as_expected"]) == ("unknown", "timeout", None)
    assert object_["find"]["proved_exact"] == "2"
    suites = ElementTree.fromstring(formats.render([result], "junit"))
    assert {k: suites.get(k) for k in ("tests", "failures", "errors")} == {"tests": "1", "failures": "0", "errors": "1"}
    (run,) = json.loads(formats.render([result], "sarif"))["runs"]
    assert [(r["ruleId"], r["properties"]["verdict"]) for r in run["results"]] == [("undecided", "unknown")]
    page = formats.render([result], "html")
    assert '<p class="sentence undecided">UNDECIDED: 1 of 1</p>' in page
    assert Result.from_json(object_).verdict is Verdict.UNKNOWN


def test_a_search_that_stops_for_another_reason_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(Oracle):
        def run(self, *arguments: Any, **named: Any) -> Result:
            found = super().run(*arguments, **named)
            return replace(found, reason=Reason.INCOMPLETE) if found.reason is Reason.TIMEOUT else found

    wanted = wanting("smallest", Fraction(1), Fraction(2), Fraction(1, 10), task_at, 1e6)
    clock = Clock()
    monkeypatch.setattr(value_search, "perf_counter", clock)
    result, _ = run_search(Stuck(clock, wanted, Fraction(3, 2), Fraction(2, 5), Fraction(0)), wanted)  # type: ignore[arg-type]
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.INCOMPLETE)
    assert table.remark(result).plain == "holds at v = 2, not at 1, boxes too small to split"


def test_progress_counts_a_search_once_however_many_values_it_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=100)
    with LiveMonitor(console, 1) as monitor:
        _, oracle = out_of_time(monkeypatch, monitor)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert len(oracle.asked) > 3
    assert len([line for line in lines if line.startswith("tried best[v=")]) == len(oracle.asked)
    (last,) = [line for line in lines if not line.startswith("tried ")]
    assert last.startswith("1/1 best unknown in ")
