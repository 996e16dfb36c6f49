"""What would help an undecided task: only what the results say, and nothing about what is decided."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_results import results
from breadth import examples
from eqspec.property import Epsilon
from eqspec.report.advice import advice
from eqspec.report.numbers import bound_value
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.search_statistics import Moment, Sampled
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import network, task


def slow(**fields: object) -> Result:
    made = Result("near[s=0.5]", "near", {"s": Fraction("0.5")}, Verdict.UNKNOWN, Reason.TIMEOUT)
    return replace(made, **fields)  # type: ignore[arg-type]


def moments(*points: tuple[float, float]) -> tuple[Moment, ...]:
    return tuple(Moment(seconds, certified, 1, 1) for seconds, certified in points)


@settings(max_examples=examples(15))
@given(st.lists(results(), min_size=1, max_size=2))
def test_only_what_is_undecided_is_given_advice(made: list[Result]) -> None:
    for one in made:
        said = advice(one, made)
        assert bool(said) == (one.verdict is Verdict.UNKNOWN and one.reason is not Reason.ERROR)


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason is not Reason.ERROR])
def test_every_reason_has_words(reason: Reason) -> None:
    assert advice(slow(reason=reason))


def test_the_rate_is_that_of_the_second_half() -> None:
    # a quarter in the first ten seconds, another quarter in the next ten: the other half takes twenty more
    made = slow(history=moments((0.0, 0.0), (10.0, 0.25), (20.0, 0.5)), certified_fraction=0.5)
    assert advice(made) == (
        "50.0 % is proved; at this rate the rest takes at least 20.0 s more, with --resume from here.",
    )
    stuck = slow(history=moments((0.0, 0.0), (9.0, 0.5), (20.0, 0.5)), certified_fraction=0.5)
    assert "Nothing was proved in the second half" in advice(stuck)[0]
    assert "Nothing is proved yet" in advice(slow())[0]


def test_what_lacked_the_memory_for_zonotopes_is_told_to_take_more() -> None:
    spent = {"propagation": 0.01, "rows": 0.0, "dual": 0.0, "programs": 0.0, "contraction": 3.5, "candidates": 9.0}
    assert "--memory" in advice(slow(boxes=1, effort={"seconds": spent}))[0]
    made = spent | {"propagation": 4.0, "rows": 0.1}
    assert "--memory" not in advice(slow(boxes=1, effort={"seconds": made}))[0]


def test_the_nearest_proved_value_of_the_same_sweep_is_named() -> None:
    def at(s: str, verdict: Verdict = Verdict.EQUIVALENT, **fields: object) -> Result:
        return replace(slow(parameters={"s": Fraction(s)}, verdict=verdict, reason=None), **fields)  # type: ignore[arg-type]

    others = [
        at("0.1"),
        at("0.17"),
        at("0.4", check="another"),
        at("0.3", vacuous=True),
        at("0.45", Verdict.DIFFERENT),
        at("0.48", source="elsewhere.eqspec:1:1"),
    ]
    assert advice(slow(), others)[1:] == ("s = 0.17 was proved.",)
    rows = slow(parameters={"row": Fraction(1)})
    assert len(advice(rows, [replace(rows, parameters={"row": Fraction(2)}, verdict=Verdict.EQUIVALENT)])) == 1


def test_what_is_proved_instead_is_named() -> None:
    claim = Nearly("g keeps top1 of f when margin >= 1e-06", "margin", Fraction(1, 10**6))
    assert "margin >= 1e-06 is proved." in advice(slow(nearly=claim))
    seen = Sampled(10, {"y": 0.1}, (10,), 0.25)
    assert "no compared output differs by more than 0.5 in" in advice(slow(initial_bound=0.5, sampled=seen))[1]
    assert "differs by more than 0.500001 in" in advice(slow(initial_bound=0.5000001, sampled=seen))[1]
    assert len(advice(slow(initial_bound=float("inf"), sampled=seen))) == 1


def test_what_is_proved_of_some_outputs_is_not_said_of_the_others() -> None:
    """They differ by 100, and are not compared."""
    rng = np.random.default_rng(0)
    first, last = rng.normal(size=(8, 3)), rng.normal(size=(2, 8))
    reference = network((first, np.zeros(8)), (last, np.zeros(2)))
    candidate = network((first + 0.3 * rng.normal(size=first.shape), np.zeros(8)), (last, [0.0, 100.0]))
    asked = task(reference, candidate, Epsilon(2, outputs=(0,)))
    result = Runner(Options(threads=1, boxes=1)).run(asked)
    assert result.initial_bound is not None
    assert 2 < result.initial_bound < 100
    assert "no compared output differs by more than" in advice(result)[1]
    assert result.sampled is not None
    assert list(result.sampled.largest) == ["y0"]  # or the page would show differences beyond what is proved of all
    assert max(result.sampled.largest.values()) < result.initial_bound


@pytest.mark.parametrize(
    ("bound", "shown"),
    [(0.25, "0.25"), (0.25000001, "0.250001"), (2.0000001e-9, "2.00001e-09"), (-0.25000001, "-0.25"), (inf, "inf")],
)
def test_a_bound_is_rounded_up(bound: float, shown: str) -> None:
    assert bound_value(bound) == shown
