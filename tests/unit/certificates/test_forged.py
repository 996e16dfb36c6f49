"""Trees that no search made: of a claim that is false none is accepted, in whatever batches leaves are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit import Refused, audit
from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND, Proof
from eqspec.property import Epsilon, Linear, Norm, Property, Top1
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from unit.certificates.proofs import Parts, close, pack

Array = NDArray[Any]
SIZES = [3, 7, 6, 7, 2]
ODD = (0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e308, -1e308, np.finfo(float).max)
"""Places of cuts where something might be lost."""


def certificate(task: Task, tree: Array, rounds: list[list[Array]] | None = None) -> Parts:
    """Of a proof that a task holds."""
    head = {"format": "eqspec-certificate/5", "verdict": "equivalent", "task": serialisation.to_json(task)}
    return Parts(head, tree, rounds or [])


def drawn(rng: np.random.Generator, proof: Proof, leaves: int) -> tuple[Array, list[list[Array]]]:
    """A tree of about so many leaves, of different depths, with cuts of anything anywhere, assumptions and rounds."""
    quantities, left = len(proof.root().low), leaves
    tree, rounds = list[tuple[float, float, float]](), list[list[Array]]()
    todo = [(tuple(range(len(proof.obligations))), False)]
    while todo:
        open_, assumed = todo.pop()
        kind = rng.choice([LEAF, CUT, ROUND, ASSUME], p=[0.2, 0.6, 0.1, 0.1]) if left > 0 else LEAF
        if kind == ROUND and assumed:
            wanted = rng.integers(-quantities, quantities + 1, 4).astype(np.int32)
            rounds.append([wanted, np.arange(5, dtype=np.int32), rng.exponential(1.0, (4, 5))])
            tree.append((ROUND, len(rounds) % 2, 0))
            todo.append((open_, assumed))
        elif kind == ASSUME and open_:
            o = int(rng.choice(open_))
            tree.append((ASSUME, o, 0))
            todo += [(tuple(p for p in open_ if p != o), assumed), ((o,), True)]
        elif kind == CUT:
            which = rng.integers(3) if rng.random() < 0.5 else rng.integers(quantities)
            place = rng.choice(ODD) if rng.random() < 0.1 else rng.normal() * rng.choice([0.0, 0.1, 1.0])
            tree.append((CUT, float(which), float(place)))
            todo += [(open_, assumed)] * 2
            left -= 1
        else:
            tree.append((LEAF, float(len(tree) % 50 == 7), 0))  # now and then one in exact rationals
    return np.array(tree, float), rounds


def answers(parts: Parts, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What the auditor says when it bounds one leaf at a time, three, as many as it likes, and all."""
    init = Proof.__init__
    for batch in (1, 3, None, 10**6):

        def limited(self: Proof, *given: Any, batch: int | None = batch) -> None:
            init(self, *given)
            self.batch = batch or self.batch

        with monkeypatch.context() as patch:
            patch.setattr(Proof, "__init__", limited)
            try:
                found = audit(pack(path, parts))
                yield f"{found.leaves} leaves, {found.rounds} rounds"
            except Refused as reason:
                yield str(reason)


def evaluate(network: Any, point: list[Fraction]) -> list[Fraction]:
    """A chain, in rationals."""
    values = point
    for number, layer in enumerate(network.layers):
        before = [max(v, Fraction(0)) for v in values] if number else values
        rows = zip(layer.weight, layer.bias, strict=True)
        values = [sum((Fraction(w) * v for w, v in zip(row, before, strict=True)), Fraction(b)) for row, b in rows]
    return values


def false_claims(task: Task, rng: np.random.Generator) -> list[Property]:
    """Claims that break by a hair at one of some points, which is known exactly."""
    points = [[Fraction(x) for x in rng.uniform(-0.5, 0.5, 3)] for _ in range(20)]
    values = [[evaluate(network, point) for network in (task.reference, task.candidate)] for point in points]
    differences = [[a - b for a, b in zip(*pair, strict=True)] for pair in values]
    less = 1 - Fraction(1, 10**9)
    claims: list[Property] = [Epsilon(less * max(abs(d) for one in differences for d in one))]
    norms: dict[Norm, Any] = {"l1": lambda one: sum(map(abs, one)), "l2": lambda one: max(map(abs, one))}
    claims += [Epsilon(less * max(map(size, differences)), norm=norm) for norm, size in norms.items()]
    ones = (Fraction(1), Fraction(-2))
    highest = max(sum(c * v for c, v in zip(ones, pair[0], strict=True)) for pair in values)
    return [*claims, Linear((Fraction(0),) * 2, ones, highest, strict=True)]


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", range(8))
def test_no_tree_proves_what_is_false(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    task = close(seed, tmp_path, Epsilon(Fraction(1)), SIZES, Fraction(1, 2), 0.05)
    for claim in false_claims(task, rng):
        wrong = close(seed, tmp_path, claim, SIZES, Fraction(1, 2), 0.05)
        proof = Proof(serialisation.to_json(wrong), tmp_path)
        tree, rounds = drawn(rng, proof, int(rng.choice([0, 1, 2, 40])))
        said = list(answers(certificate(wrong, tree, rounds), tmp_path / "forged", monkeypatch))
        assert all("is not proved on leaf" in one for one in said), (claim, said)
        assert len(set(said)) == 1, "which leaf is the first to show too little depends on no other"


@pytest.mark.parametrize("seed", range(4))
def test_what_is_true_is_proved_in_batches_of_any_size(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes of all kinds on the way, leaves that hold nothing among the others."""
    rng = np.random.default_rng(50 + seed)
    claim = Top1() if seed == 3 else Epsilon(Fraction(1000), norm=("linf", "l1", "l2")[seed])
    task = close(seed, tmp_path, claim, SIZES, Fraction(1, 2), 0.0 if seed == 3 else 0.05)
    tree, rounds = drawn(rng, Proof(serialisation.to_json(task), tmp_path), 60)
    said = set(answers(certificate(task, tree, rounds), tmp_path / "true", monkeypatch))
    if seed == 3:
        assert len(said) == 1
        return
    assert said == {f"{(tree[:, 0] == LEAF).sum()} leaves, {len(rounds)} rounds"}


@pytest.mark.parametrize(
    "tree",
    [
        np.zeros((0, 3)),
        np.zeros((2, 3)),
        np.array([[CUT, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, 0, 0], [LEAF, 0, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, 0, np.nan], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, 0, np.inf], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, -1, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, 1e300, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[CUT, np.nan, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[ASSUME, -1, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[ASSUME, 4, 0], [LEAF, 0, 0], [LEAF, 0, 0]]),
        np.array([[ASSUME, 0, 0], [LEAF, 0, 0]]),
        np.array([[ROUND, 0, 0], [LEAF, 0, 0]]),
        np.array([[np.nan, 0, 0]]),
        np.array([[0.5, 0, 0]]),
        np.array([[4, 0, 0]]),
        np.zeros((1, 2)),
        np.zeros((1, 3), np.complex128),
        np.zeros(3),
    ],
)
def test_what_is_no_tree_is_refused(tree: Array, tmp_path: Path) -> None:
    """Though the claim is so weak that any tree would do."""
    task = close(0, tmp_path, Epsilon(Fraction(1000)), SIZES, Fraction(1, 2), 0.05)
    assert audit(pack(tmp_path / "whole", certificate(task, np.zeros((1, 3))))).leaves == 1
    with pytest.raises(Refused):
        audit(pack(tmp_path / "broken", certificate(task, tree)))
