"""Rounds that begin with the bounds of a leaf's enclosure, whose differences may be thinner than those of facts."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eqspec.audit.proof import ROUND, Node, Proof
from eqspec.certificates import Auditor
from eqspec.certificates.proof_construction import NOTHING, ProofConstruction
from eqspec.property import Epsilon
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from unit.certificates.proofs import Parts, certify, close, holds, unpack
from unit.certificates.test_forged import evaluate

SIZES = [3, 7, 6, 7, 2]


def _task(folder: Path, seed: int = 7) -> Task:
    """One whose recorded multipliers do not suffice where the auditor knows the bounds of facts alone."""
    claim, sizes = Epsilon(Fraction(15, 8)), [40, 20, 20, 20, 2]
    return close(seed, folder, claim, sizes, Fraction(1, 10), 0.1)


def _written(folder: Path) -> Parts:
    result, made = certify(_task(folder), folder, timeout=30)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    return unpack(made.path)


def test_the_proof_rests_on_these_bounds(tmp_path: Path) -> None:
    parts = _written(tmp_path)
    rounds = parts.tree[:, 0] == ROUND
    assert (parts.tree[rounds, 1] == 1).sum() > 3
    assert holds(parts, tmp_path)
    for other in (0, 2, np.nan):  # any other number is none
        parts.tree[rounds, 1] = other
        assert not holds(parts, tmp_path)


def test_it_is_the_same_where_the_auditor_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _written(tmp_path)
    monkeypatch.setattr(Auditor, "told", lambda self, request: {})
    other = _written(tmp_path)
    assert np.array_equal(one.tree, other.tree)
    for first, second in zip(one.rounds, other.rounds, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_they_hold_at_every_input_of_the_node(seed: int, tmp_path: Path) -> None:
    task = close(seed, tmp_path, Epsilon(Fraction(1)), SIZES, Fraction(1, 2), 0.05)
    rng = np.random.default_rng(seed)
    proof = Proof(serialisation.to_json(task), tmp_path)
    node = proof.root()
    thin, usual = proof.thinned(node), proof.reach(node)
    assert (thin.high - thin.low).sum() < (usual.high - usual.low).sum()
    for _ in range(seed):
        which = int(rng.integers(3))
        place = float(rng.uniform(node.low[which], node.high[which]))
        node = proof.halves(node, which, place)[int(rng.integers(2))]
    after = proof.thinned(node)
    for _ in range(50):
        point = [Fraction(x) for x in rng.uniform(node.low[:3], node.high[:3])]
        first, second = evaluate(task.reference, point), evaluate(task.candidate, point)
        rows = [*first, *second, *(a - b for a, b in zip(first, second, strict=True))]
        least, most = (ends[-6:] for ends in (after.low, after.high))
        assert all(Fraction(a) <= v <= Fraction(b) for a, v, b in zip(least, rows, most, strict=True))


class _Enclosures:
    """A proof in which nodes are excluded by the enclosure that facts have, or by that of leaves, or by both."""

    def __init__(self, facts: bool, leaves: bool) -> None:
        self._known = {False: facts, True: leaves}

    def reach(self, node: Node, bounds_alone: bool = False) -> bool:
        """Which of both it is."""
        return bounds_alone

    def surely_excluded(self, which: bool, o: int) -> list[bool]:
        """As it is known."""
        return [self._known[which]]


@pytest.mark.parametrize(("facts", "leaves"), [(True, True), (True, False), (False, True), (False, False)])
def test_what_facts_exclude_and_leaves_do_not_is_told_by_a_round_that_bounds_nothing(facts: bool, leaves: bool) -> None:
    construction: Any = ProofConstruction.__new__(ProofConstruction)
    vars(construction).update(proof=_Enclosures(facts, leaves), tree=[], rounds=io.BytesIO(), thinner=False)
    node: Any = SimpleNamespace(infeasible=False, open=(0,))
    assert construction._excluded(node) == facts
    assert construction.tree == ([(ROUND, 0, 0)] if facts and not leaves else [])


def test_a_round_that_bounds_nothing_has_the_node_know_the_enclosure_of_facts(tmp_path: Path) -> None:
    proof = Proof(
        serialisation.to_json(close(1, tmp_path, Epsilon(Fraction(1)), SIZES, Fraction(1, 2), 0.05)), tmp_path
    )
    node = proof.under(proof.root(), 0)
    after, reached = proof.round(node, *NOTHING), proof.reach(node)
    assert np.array_equal(after.low, reached.low[:, 0])
    assert np.array_equal(after.high, reached.high[:, 0])
