"""Ascents of the core from a witness: inputs that break the claim more clearly, by scores of numpy."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from eqspec.networks import Network
from eqspec.property import Epsilon
from eqspec.replay.ascent import climb
from eqspec.replay.excess import Excess
from eqspec.run import core
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from programs import program
from small_tasks import network, task
from unit.replay.test_improving import CLAIMS, random_task

Array = np.ndarray


def clearer(asked: Task, start: Array, seconds: float = 0.0) -> list[Array] | None:
    """What the core finds from an input."""
    claim = lower_property(asked.property, asked.reference.output_size)
    question = Pairs().of(asked), asked.lower, asked.upper, claim, core.Settings(threads=1)
    found = core.clearer(*question, start, seconds, constraints=lower_constraints(asked))
    return None if found is None else list(found)


def weakest(asked: Task) -> Array | None:
    """The point, among many at random, whose score is the least that is above 0."""
    points = np.random.default_rng(0).uniform(asked.lower, asked.upper, size=(2000, len(asked.lower)))
    rows = [([float(a) for a in c.coefficients], float(c.bound)) for c in asked.constraints]
    points = points[[all(np.dot(a, x) <= b for a, b in rows) for x in points]]
    scores = Excess(asked).at(points)
    positive = np.flatnonzero(scores > 0.0)
    return points[positive[scores[positive].argmin()]] if len(positive) else None


def checked(asked: Task, start: Array) -> float | None:
    """The best score that the core reaches over that of numpy's ascent, when the points are as they have to be."""
    found = clearer(asked, start)
    assert found is not None
    excess = Excess(asked)
    scores = [float(score) for score in excess.at(np.array(found).reshape(-1, len(start)))]
    first = float(excess.at(start[None])[0])
    assert all(score >= first - 1e-9 for score in scores)
    assert all(a >= b - 1e-9 for a, b in pairwise(scores))
    for x in found:
        assert (asked.lower <= x).all()
        assert (x <= asked.upper).all()
        for constraint in asked.constraints:
            value = sum(float(a) * v for a, v in zip(constraint.coefficients, x.tolist(), strict=True))
            assert value <= float(constraint.bound) + 1e-9
    others = climb(asked, Excess(asked), start, lambda: True)
    if not others:
        return None
    return (max(scores, default=0.0) + 1e-9) / (float(excess.at(others[0][None])[0]) + 1e-9)


@pytest.mark.parametrize("kind", [kind for kind in CLAIMS if kind != "l2 of one"])
def test_chains(kind: str) -> None:
    reached = []
    for seed in range(12):
        asked = random_task(seed, CLAIMS[kind])
        start = weakest(asked)
        if start is not None and (ratio := checked(asked, start)) is not None:
            reached.append(ratio)
    assert len(reached) >= 4
    assert np.exp(np.mean(np.log(reached))) > 0.9


def test_graphs() -> None:
    reached = []
    for seed in range(8):
        first, second = (program(np.random.default_rng(seed + k), steps=6) for k in (0, 100))
        asked = task(first, second, Epsilon("0.01"))
        start = weakest(asked)
        if start is not None and (ratio := checked(asked, start)) is not None:
            reached.append(ratio)
    assert len(reached) >= 4
    assert np.exp(np.mean(np.log(reached))) > 0.9


def identity(size: int, factor: float) -> Network:
    return network((factor * np.eye(size), np.zeros(size)))


def many_classes(size: int) -> Task:
    """More claims than are looked at; two scores of the candidate change places where the inputs are close."""
    turned = np.eye(size)
    turned[[0, 1]] = turned[[1, 0]]
    return task(identity(size, 1.0), network((turned, np.zeros(size))), CLAIMS["top1"](size))


def test_of_very_many_claims_those_that_are_violated_are_looked_at() -> None:
    asked = many_classes(40)
    start = np.full(40, -0.5)
    start[0], start[1] = 0.01, 0.0
    found = clearer(asked, start)
    assert found is not None
    assert Excess(asked).at(found[0][None])[0] > 0.5


def test_what_it_does_not_look_at() -> None:
    for claim, fixed in [(Epsilon("0.1", "l2"), False), (Epsilon("0.1"), True)]:
        ends = ([Fraction(1)] * 2, [Fraction(1)] * 2) if fixed else ([Fraction(-1)] * 2, [Fraction(1)] * 2)
        asked = task(identity(2, 1.0), identity(2, 2.0), claim, *ends)
        assert clearer(asked, np.ones(2)) is None
        result = Runner(Options(timeout=20, threads=1)).run(asked)
        assert result.verdict == "different"


def test_numbers_that_overflow_are_no_gain() -> None:
    asked = task(
        identity(1, 1e200), network((np.array([[1e200]]), np.zeros(1)), (np.array([[1e200]]), np.zeros(1))), Epsilon(1)
    )
    found = clearer(asked, np.array([1e-300]))
    assert found is not None
    assert np.isfinite(Excess(asked).at(np.array(found).reshape(-1, 1))).all()
