"""Tasks on tiny pairs whose answers are plain to see, run by the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from eqspec.errors import InputError
from eqspec.networks import Network
from eqspec.networks.curves import Curve, Curves
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.report.table import remark
from eqspec.run.description import describe
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Budget, LinearConstraint, Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import hard, identity, network, space, task

ONE_THREAD = Options(threads=1, timeout=10)


def run(made: Task) -> Result:
    return Runner(ONE_THREAD).run(made)


def shifted(by: float) -> Network:
    """(x0, x1) -> (x0, x1 + by)."""
    return network((np.eye(2), [0.0, by]))


def test_the_border_between_equivalent_and_different_is_eps() -> None:
    """Up to rounding: at exactly 0.25 the claim holds, but a proof in floats needs a hair more."""
    pair = identity(2), shifted(0.25)
    assert run(task(*pair, Epsilon("0.2500001"))).verdict is Verdict.EQUIVALENT
    found = run(task(*pair, Epsilon("0.2499999")))
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert found.witness.candidate[1] - found.witness.reference[1] == 0.25
    assert found.initial_bound == pytest.approx(0.25)
    assert (found.seconds, found.boxes) > (0, 0)
    assert "more than 0.2499999" in found.witness.statement


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Epsilon("0.51", "l1"), "equivalent"),
        (Epsilon("0.49", "l1"), "different"),
        (Epsilon("0.36", "l2"), "equivalent"),
        (Epsilon("0.35", "l2"), "different"),
        (Epsilon("1e-9", outputs=(0,)), "equivalent"),
        (Linear((0, 1, 0), (0, -1, 0), "0.2500001"), "equivalent"),
        (Linear((0, 1, 0), (0, -1, 0), "0.2499999", strict=True), "different"),
        (Linear((0, "0.1", 0), (0, "-0.1", 0), "0.0251", strict=True), "equivalent"),
        (Top1(), "different"),
        (Margin("0.51"), "equivalent"),
        (Margin("0.4"), "different"),
    ],
)
def test_claims_of_every_kind(claim: object, verdict: str) -> None:
    """g = f + (0, 1/4, -1/4), f the identity on three inputs, around (1, 0, 0)."""
    candidate = network((np.eye(3), [0.0, 0.25, -0.25]))
    found = run(task(identity(3), candidate, claim, [0, -1, -1], [2, 1, 1]))  # type: ignore[arg-type]
    assert found.verdict.value == verdict


@pytest.mark.parametrize("claim", [Epsilon("1"), Epsilon("0"), Top1(), Margin("0.1"), Linear((1, 0), (-1, 0), "0")])
@pytest.mark.parametrize("name", ["log", "sqrt", "reciprocal", "power"])
def test_a_network_is_not_equivalent_to_itself_where_it_has_no_value(name: str, claim: Property) -> None:
    """f(x) = f(x) says nothing of an input at which a logarithm or a quotient has no value."""
    made = network((np.eye(2), [0.0, 0.0]), (np.eye(2), [0.0, 0.0]))
    curve = Curve(name, (-0.5,)) if name == "power" else Curve(name)
    first = replace(made, steps=(replace(made.steps[0], function=Curves.all(curve)), *made.steps[1:]))
    pair = first, replace(first, source="other")
    few = Runner(Options(threads=1, boxes=20))
    assert few.run(task(*pair, claim, [1, 1], [2, 3])).verdict is Verdict.EQUIVALENT
    for low, high in (([-1, 1], [1, 3]), ([-2, -2], [-1, -1]), ([-1, 1], [-1, 1])):
        if name != "reciprocal" or low[0] * high[0] < 0:
            assert few.run(task(*pair, claim, low, high)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("name", ["log", "sqrt", "reciprocal"])
def test_a_violation_is_found_where_no_bounds_are_finite(name: str) -> None:
    """The region is attacked although no box of it has finite bounds, as where a quotient may divide by 0."""
    first, second = (network((np.eye(2), [0.0, 0.0]), (np.eye(2), [0.0, b])) for b in (0.0, 1.0))
    reference, candidate = (
        replace(n, steps=(replace(n.steps[0], function=Curves.all(Curve(name))), n.steps[1])) for n in (first, second)
    )
    found = Runner(Options(threads=1, boxes=200)).run(task(reference, candidate, Epsilon("0.5"), [-1, -1], [2, 2]))
    assert found.verdict is Verdict.DIFFERENT


def test_confidence_is_that_of_the_reference() -> None:
    """Two classes: a lead of d is a confidence of sigmoid(d), and g breaks it up to a lead of 1."""
    pair = identity(2), shifted(1.0)
    assert run(task(*pair, Confidence("0.74"))).verdict is Verdict.EQUIVALENT  # sigmoid(1) = 0.731
    found = run(task(*pair, Confidence("0.72")))
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert found.witness.confidence is not None
    assert found.witness.confidence >= 0.72


def test_a_guard_that_nothing_meets_is_vacuous() -> None:
    found = run(task(identity(2), shifted(1.0), Confidence("0.99")))  # the largest lead is 2: 0.88
    assert (found.verdict, found.vacuous) == (Verdict.EQUIVALENT, True)
    assert found.as_expected is False


def test_the_smallest_score_decides_where_the_space_says_so() -> None:
    """x0 < x1 < x2: raising x1 above x2 changes the largest only, raising x0 just above x1 the smallest only."""
    low, high = ([Fraction(x) for x in side.split()] for side in ("-1 0 0.2", "-0.9 0.1 0.3"))
    lowest = space(3, 3, decide="min")
    top, bottom = network((np.eye(3), [0.0, 0.5, 0.0])), network((np.eye(3), [1.05, 0.0, 0.0]))
    assert run(task(identity(3), top, Top1(), low, high)).verdict is Verdict.DIFFERENT
    assert run(task(identity(3), top, Top1(), low, high, space=lowest)).verdict is Verdict.EQUIVALENT
    assert run(task(identity(3), bottom, Top1(), low, high)).verdict is Verdict.EQUIVALENT
    found = run(task(identity(3), bottom, Top1(), low, high, space=lowest))
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert (int(np.argmin(found.witness.reference)), int(np.argmin(found.witness.candidate))) == (0, 1)
    assert "full decides y0" in found.witness.statement
    assert "y1 lower" in found.witness.statement


def test_constraints_belong_to_the_region() -> None:
    """g - f = relu(x0 + x1 - 1): zero where x0 + x1 <= 1."""
    parts = ([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1]], [0, 0, 0, 0, -1])
    bent = network(parts, ([[1, 0, -1, 0, 0], [0, 1, 0, -1, 1]], [0, 0]))
    half = (LinearConstraint((Fraction(1), Fraction(1)), Fraction(1)),)
    assert run(task(identity(2), bent, Epsilon("0.01"))).verdict is Verdict.DIFFERENT
    assert run(task(identity(2), bent, Epsilon("0.01"), constraints=half)).verdict is Verdict.EQUIVALENT
    more = (LinearConstraint((Fraction(1), Fraction(1)), Fraction("1.1")),)
    found = run(task(identity(2), bent, Epsilon("0.01"), constraints=more))
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert Fraction("1.01") < sum(found.witness.normalised) <= Fraction("1.1")


def test_a_witness_lies_in_the_exact_region() -> None:
    """[1/3, 1/3] holds no float at all; what is reported is the rational itself."""
    third = Fraction(1, 3)
    found = run(task(identity(1), network(([[1.0]], [1.0])), Epsilon("0.5"), [third], [third]))
    assert found.witness is not None
    assert found.witness.normalised == (third,)


def test_budgets_come_from_the_task_unless_replaced() -> None:
    made = hard()
    limited = task(made.reference, made.candidate, made.property, budget=Budget(timeout=0.2, threads=1))
    assert run(task(identity(1), identity(1))).settings["timeout"] == 10
    found = Runner().run(limited)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.TIMEOUT)
    assert (found.settings["timeout"], found.settings["threads"]) == (0.2, 1)
    replaced = Runner(Options(timeout=0.0)).run(limited)
    assert (replaced.reason, replaced.settings["timeout"]) == (Reason.TIMEOUT, 0.0)
    assert replaced.as_expected is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Options(timeout=-1),
        lambda: Options(boxes=0),
        lambda: Options(timeout=float("nan")),
        lambda: Options(threads=0),
        lambda: Options(domain="exact"),  # type: ignore[arg-type]
        lambda: Runner().run(task(identity(2), identity(2), Epsilon(-1))),
        lambda: Runner().run(task(identity(2), identity(2), Epsilon(1, outputs=(2,)))),
    ],
)
def test_nonsense_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


def test_a_running_task_can_be_stopped() -> None:
    found = Runner(Options(threads=1)).run(hard(), stop=lambda: True)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)


def test_a_share_that_rounds_to_everything_is_not_all_of_an_undecided_task() -> None:
    """x0 - x1 >= 1/5 and x1 > 4/5 meet in one corner of the region, where candidate and reference tie exactly."""
    found = run(task(identity(2), network((np.diag([1.0, 1.25]), [0.0, 0.0])), Margin("0.2")))
    assert found.verdict is Verdict.UNKNOWN
    assert 0.999999 < found.certified_fraction < 1.0
    assert ">99.9 % proved" in remark(found).plain
    undecided = describe(hard(), ONE_THREAD, Verdict.UNKNOWN, 1.0, certified_fraction=1.0)
    assert undecided.certified_fraction < 1.0
    assert describe(hard(), ONE_THREAD, Verdict.EQUIVALENT, 1.0, certified_fraction=1.0).certified_fraction == 1.0
