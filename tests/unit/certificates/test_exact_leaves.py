"""Leaves in exact rationals: they show what floats do not because they round, and nothing that is false by a hair."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.audit import Refused, audit
from eqspec.audit.functions.confidence import unreachable
from eqspec.audit.proof import LEAF
from eqspec.certificates import exact_leaves
from eqspec.property import Confidence, Epsilon, Linear, Property
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import Layers, write
from unit.certificates.proofs import Parts, certify, pack

HAIR = Fraction(1, 10**60)
FLOATS, RATIONALS = np.array([[LEAF, 0.0, 0.0]]), np.array([[LEAF, 1.0, 0.0]])
F = Fraction


def one(*weights: list[list[float]], shift: float = 0.1) -> Layers:
    """A chain of these matrices, each with the same bias."""
    return [(np.array(w, float), np.full(len(w), shift)) for w in weights]


def at(layers: Layers, x: tuple[Fraction, ...]) -> list[Fraction]:
    """The first network of a test at a point, in rationals."""
    values = list(x)
    for number, (weight, bias) in enumerate(layers):
        sums = [
            sum((F(w) * v for w, v in zip(r, values, strict=True)), F(b)) for r, b in zip(weight, bias, strict=True)
        ]
        values = sums if number + 1 == len(layers) else [max(s, F(0)) for s in sums]
    return values


def pair(folder: Path, claim: Property, ends: list[tuple[Fraction, Fraction]], first: Layers, second: Layers) -> Task:
    """A claim about two chains on a box."""
    given: dict[str, Any] = {"lower": [a for a, _ in ends], "upper": [b for _, b in ends]}
    files = write(folder / "a.onnx", first), write(folder / "b.onnx", second)
    return task_of(*files, claim, space=space(len(ends), len(first[-1][1])), **given)


def accepted(task: Task, tree: np.ndarray[Any, Any], folder: Path) -> bool:
    """Whether the auditor takes a tree for a proof of a task."""
    head = {"format": "eqspec-certificate/5", "verdict": "equivalent", "task": serialisation.to_json(task)}
    try:
        return audit(pack(folder / "made", Parts(head, tree))).verdict == "equivalent"
    except Refused:
        return False


FIRST, SECOND = [[[1.1, -0.7], [0.3, 0.9]], [[1.3, 0.7]]], [[[1.1, 0.7], [0.3, 0.9]], [[1.3, 0.6]]]
CASES = {
    "point": ([(F(1, 3), F(1, 3))] * 2, FIRST, SECOND),
    "corner": ([(F(1, 3), F(2, 3))] * 2, FIRST, SECOND),
    "bend": ([(F(-1), F(2, 3))], [[[1.0], [-1.0]], [[-0.3, -0.7]]], [[[0.0], [0.0]], [[-0.3, -0.7]]]),
}


def worst(case: str) -> Fraction:
    """The largest distance: at a corner, or where something bends."""
    ends, first, second = CASES[case]
    points = list(product(*ends)) + ([(F(0.1),), (F(-0.1),)] if case == "bend" else [])
    return max(abs(at(one(*first), x)[0] - at(one(*second), x)[0]) for x in points)


@pytest.mark.parametrize("case", CASES)
def test_what_holds_by_a_hair_is_shown_and_what_breaks_by_a_hair_is_not(case: str, tmp_path: Path) -> None:
    ends, first, second = CASES[case]
    tasks = [pair(tmp_path, Epsilon(worst(case) - off), ends, one(*first), one(*second)) for off in (F(0), HAIR)]
    assert [accepted(task, RATIONALS, tmp_path) for task in tasks] == [True, False]
    assert not accepted(tasks[0], FLOATS, tmp_path)  # or there is nothing to be seen here


def test_a_claim_that_reaches_its_limit_in_a_point_is_not_shown_where_it_is_strict(tmp_path: Path) -> None:
    ends, first, second = CASES["corner"]
    differences = [at(one(*first), x)[0] - at(one(*second), x)[0] for x in product(*ends)]
    for strict in (False, True):
        claim = Linear((F(-1),), (F(1),), max(differences), strict)
        task = pair(tmp_path, claim, ends, one(*first), one(*second))
        assert accepted(task, RATIONALS, tmp_path) is not strict


def test_a_proof_of_numbers_that_floats_hardly_hold_has_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (
        [(np.array([[1e127], [-2e127]]), np.array([0.1, 0.2])), (np.array([[w, 3e-127]]), np.array([0.1]))]
        for w in (1e-127, 1.1e-127)
    )
    task = pair(tmp_path, Epsilon(F(1, 2)), [(F(1, 3), F(1, 3))], first, second)
    _, made = certify(task, tmp_path / "rationals")
    assert made is not None
    assert made.reason is None
    monkeypatch.setattr(exact_leaves, "TRIES", 0)
    _, made = certify(task, tmp_path / "floats")
    assert made is not None
    assert made.reason is not None


def test_a_guard_that_is_missed_by_a_hair_excludes_a_leaf(tmp_path: Path) -> None:
    first = [(np.array([[0.0], [0.0]]), np.array([1.0, 0.0]))]
    second = [(np.array([[0.0], [0.0]]), np.array([0.0, 1.0]))]
    delta = Fraction(73105857863000487925115924182183627436514464016505, 10**50)  # of 1 / (1 + 1 / e), cut off
    for off, held in ((F(2, 10**45), True), (F(0), False)):
        task = pair(tmp_path, Confidence(delta + off), [(F(0), F(1))], first, second)
        assert accepted(task, RATIONALS, tmp_path) is held


def test_margins_that_reach_a_confidence_are_never_called_too_small() -> None:
    rng = np.random.default_rng(3)
    for margins in rng.exponential(2.0, (200, 3)) - 1.0:
        total = 1.0 + np.exp(-margins).sum()
        some = [F(m) for m in margins]
        assert not unreachable(F(1.0 / total) - F(1, 10**14), some)
        assert unreachable(F(1.0 / total) + F(1, 10**14), some)
    assert unreachable(F(9, 10), [F(-30_000), F(1)])
    assert not unreachable(F(9, 10), [F(30_000), F(10**400)])
