"""Searches over whole numbers, against a stand-in for the runner that answers by a table without any order in it."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.property import Epsilon
from eqspec.report.table import bracket_in_words
from eqspec.run import value_search
from eqspec.run.best_value import run_search
from eqspec.run.options import Options
from eqspec.tasks.bracket import Bracket, Direction, Probe
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Budget, Task
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness
from small_tasks import identity, task

LOW = 4
EVERY = st.lists(st.sampled_from(["holds", "breaks", "slow", "never"]), min_size=2, max_size=12)


def wanting(direction: Direction, high: Fraction) -> Search:
    """A search as the compiler makes them, from `LOW` on."""

    def task_at(value: Fraction) -> Task:
        assert value.denominator == 1
        assert LOW <= value <= high
        return task(identity(1), identity(1), Epsilon(value), id=f"best[W={value}]")

    low, budget = Fraction(LOW), Budget(timeout=100.0)
    return Search("best", "best", "W", direction, low, high, None, task_at, budget=budget, whole=True)


def witness(value: Fraction) -> Witness:
    return Witness((value,), (value,), ("x",), (None,), ("y",), (0.0,), (0.0,), None, "")


class Oracle:
    """What happens at each value is what the table says; an input also breaks the claim `reach` values away."""

    def __init__(self, table: list[str], reach: int) -> None:
        self.table, self.reach, self.now, self.asked = table, reach, 0.0, list[Fraction]()
        self.options = Options()

    def at(self, value: Fraction) -> str:
        return self.table[int(value) - LOW]

    def run(self, made: Task, monitor: object, *, stop: object, options: Options) -> Result:
        value = made.property.eps  # type: ignore[union-attr]
        assert isinstance(value, Fraction)
        self.asked.append(value)
        kind, limit = self.at(value), options.timeout
        assert limit is not None
        if kind == "never":
            self.now += 0.1
            return Result("p", "p", {}, Verdict.UNKNOWN, Reason.UNDECIDED, seconds=0.1)
        if kind == "slow":
            self.now += limit
            return Result("p", "p", {}, Verdict.UNKNOWN, Reason.TIMEOUT, seconds=limit)
        self.now += 0.1
        if kind == "holds":
            return Result("p", "p", {}, Verdict.EQUIVALENT, seconds=0.1, boxes=3)
        return Result("p", "p", {}, Verdict.DIFFERENT, seconds=0.1, boxes=1, witness=witness(value))

    def replay(self, made: Task) -> Any:
        value = made.property.eps  # type: ignore[union-attr]
        assert isinstance(value, Fraction)

        def replay(point: tuple[Fraction, ...]) -> Witness | None:
            breaks = self.at(value) == "breaks" and abs(point[0] - value) <= self.reach
            return witness(point[0]) if breaks else None

        return SimpleNamespace(replay=replay, asked=lambda witness: witness)


def answered(oracle: Oracle, wanted: Search) -> tuple[Result, Bracket]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_search, "perf_counter", lambda: oracle.now)
        patch.setattr(value_search, "improve", lambda task, replay, witness, seconds: witness)
        result, _ = run_search(oracle, wanted)  # type: ignore[arg-type]
    assert result.find is not None
    return result, result.find


@given(EVERY, st.sampled_from(["smallest", "largest"]), st.integers(0, 3))
def test_only_what_was_found_at_a_value_is_said_of_it(table: list[str], direction: Direction, reach: int) -> None:
    oracle, wanted = Oracle(table, reach), wanting(direction, Fraction(LOW + len(table) - 1))
    result, bracket = answered(oracle, wanted)
    values = [Fraction(LOW + i) for i in range(len(table))]
    best_first = values if direction == "smallest" else values[::-1]
    kinds = [oracle.at(value) for value in best_first]
    for probe in bracket.probes:
        said = {"equivalent": "holds", "different": "breaks"}.get(probe.verdict)
        assert said is None or said == oracle.at(probe.value)
    if "slow" not in kinds and "never" not in kinds:
        assert bracket.gap == "closed"
    if bracket.gap == "closed":
        first = next((value for value, kind in zip(best_first, kinds, strict=True) if kind != "breaks"), None)
        assert bracket.proved == first
        assert first is None or oracle.at(first) == "holds"
        assert result.verdict is (Verdict.DIFFERENT if first is None else Verdict.EQUIVALENT)
        assert bracket.open_values == ([], [])
    else:
        assert (result.verdict, result.as_expected) == (Verdict.UNKNOWN, None)
        undecided, untried = bracket.open_values
        assert all(oracle.at(value) in ("slow", "never") for value in undecided)
        assert undecided or untried
    if bracket.refuted is not None:
        assert oracle.at(bracket.refuted) == "breaks"
        assert bracket.witness is not None
    assert oracle.now <= 100.0 + len(table)
    assert len(set(oracle.asked)) == len(oracle.asked) or "slow" in table
    assert Bracket.from_json(bracket.to_json()) == bracket
    assert bracket_in_words(bracket)


def test_a_value_beyond_a_refuted_one_is_found() -> None:
    oracle = Oracle(["breaks", "holds", "breaks", "holds", "holds"], 0)
    result, bracket = answered(oracle, wanting("smallest", Fraction(8)))
    assert (bracket.proved, bracket.refuted, result.verdict) == (5, 4, Verdict.EQUIVALENT)


def probes(**verdicts: str) -> tuple[Probe, ...]:
    """What became of values; one of `rounding` is undecided for that reason."""
    reasons = {name: "rounding" if verdict == "rounding" else None for name, verdict in verdicts.items()}
    found = {name: "unknown" if verdict == "rounding" else verdict for name, verdict in verdicts.items()}
    return tuple(Probe(Fraction(name[1:]), found[name], reasons[name], 0.0, 0) for name in verdicts)


@pytest.mark.parametrize(
    ("proved", "refuted", "gap", "tried", "said"),
    [
        (12, 11, "closed", {}, "W = 12 is proved, 11 and every smaller one are refuted"),
        (5, 4, "closed", {}, "W = 5 is proved, 4 is refuted"),
        (4, None, "closed", {}, "W = 4 is proved, the smallest there is"),
        (None, 18, "closed", {}, "refuted at every W from 4 to 18"),
        (
            12, 11, "budget", {"v12": "equivalent", "v11": "different", "v9": "unknown"},
            "W = 12 is proved, 11 is refuted, 9 undecided, 4 to 8, 10 not tried (time ran out)",
        ),
        (
            5, None, "budget", {"v5": "equivalent", "v4": "unknown"},
            "W = 5 is proved, 4 undecided",
        ),
        (
            5, None, "budget", {"v5": "equivalent", "v4": "rounding"},
            "W = 5 is proved, 4 undecided (allows less than rounding may change)",
        ),
        (
            6, None, "budget", {"v6": "equivalent", "v5": "unknown", "v4": "rounding"},
            "W = 6 is proved, 4 to 5 undecided (4: allows less than rounding may change)",
        ),
    ],
)  # fmt: skip
def test_the_answer_in_words(proved: int | None, refuted: int | None, gap: Any, tried: Any, said: str) -> None:
    ends = [None if value is None else Fraction(value) for value in (proved, refuted)]
    found = Bracket(
        "W", "smallest", Fraction(4), Fraction(18), None, ends[0], ends[1], gap, probes(**tried), whole=True
    )
    assert bracket_in_words(found) == said
