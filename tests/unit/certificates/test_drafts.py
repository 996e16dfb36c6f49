"""Drafts of a proof: all leaves that show too little are told, and what one draft showed is not bounded in the next."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit import Refused, audit
from eqspec.audit.drafts import ROOM, Draft
from eqspec.audit.proof import CUT, LEAF, Node, Proof
from eqspec.certificates import Auditor
from eqspec.property import Epsilon
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import write
from unit.certificates.proofs import close, pack
from unit.certificates.test_forged import certificate, drawn

Array = NDArray[Any]
SIZES = [3, 7, 6, 7, 2]


def _task(folder: Path, seed: int, eps: Fraction) -> Task:
    return close(seed, folder, Epsilon(eps), SIZES, Fraction(1, 2), 0.05)


def _reach(folder: Path, seed: int) -> Fraction:
    """The distance that the enclosure of the whole region shows."""
    proof = Proof(serialisation.to_json(_task(folder, seed, Fraction(1))), folder)
    low, high = (ends[2, :, 0] for ends in proof.reach(proof.root()).last())
    return Fraction(float(np.maximum(-low, high).max()))


def _said(path: Path, draft: bool) -> str:
    try:
        audit(path, draft=draft)
    except Refused as reason:
        return str(reason)
    return "holds"


def _leaves(proof: Proof, tree: Array) -> list[Node]:
    todo, found = [proof.root()], list[Node]()
    for kind, quantity, place in tree:
        node = todo.pop()
        if kind == CUT:
            todo += reversed(proof.halves(node, int(quantity), place))
        else:
            found.append(node)
    return found


def _halved(depth: int) -> Array:
    """A tree that halves inputs in turn."""

    def below(low: list[float], high: list[float], left: int) -> list[tuple[float, float, float]]:
        if not left:
            return [(LEAF, 0, 0)]
        which = left % 3
        place = 0.5 * low[which] + 0.5 * high[which]
        first, second = [*high], [*low]
        first[which] = second[which] = place
        return [(CUT, which, place), *below(low, first, left - 1), *below(second, high, left - 1)]

    return np.array(below([-0.5] * 3, [0.5] * 3, depth), float)


@pytest.mark.part(2)
@pytest.mark.parametrize("seed", range(4))
def test_a_draft_is_accepted_where_the_proof_is(seed: int, tmp_path: Path) -> None:
    """Trees that no search made, of one pair in one process, claims strong and weak in turn: nothing is carried over
    from a weaker claim to a stronger one, nor from a leaf to another."""
    rng, far = np.random.default_rng(seed), _reach(tmp_path, seed)
    said = set()
    for number in range(60):
        task = _task(tmp_path, seed, far * Fraction(int(rng.choice([20, 70, 85, 99, 101])), 100))
        tree, rounds = drawn(rng, Proof(serialisation.to_json(task), tmp_path), int(rng.choice([0, 3, 40])))
        path = pack(tmp_path / f"{number}.eqcert", certificate(task, tree, rounds))
        alone, draft = _said(path, False), _said(path, True)
        assert draft == alone
        said.add(draft == "holds")
    assert said == {True, False}


@pytest.mark.parametrize("share", [Fraction(1, 5), Fraction(2, 5)])
def test_all_leaves_that_show_too_little_are_told(share: Fraction, tmp_path: Path) -> None:
    """Each leaf is asked by itself, and the second time the auditor's process is asked it says the same."""
    task, tree = _task(tmp_path, 1, _reach(tmp_path, 1) * share), _halved(5)
    proof = Proof(serialisation.to_json(task), tmp_path)
    expected = [
        (leaf, o)
        for leaf, node in enumerate(_leaves(proof, tree))
        for o in node.open
        if not proof.excluded(proof.reach(node), o)[0]
    ]
    assert expected
    path = pack(tmp_path / "draft.eqcert", certificate(task, tree))
    with Auditor() as auditor:
        for _ in range(2):
            answer = auditor.ask(path, draft=True)
            assert (list(answer.unproved), answer.leaf) == (expected, expected[0][0])
        assert auditor.ask(path).unproved == ()
        assert auditor.ask(path).refused == answer.refused


def test_what_one_draft_showed_is_not_bounded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, tree = _task(tmp_path, 2, _reach(tmp_path, 2)), _halved(6)
    path, bounded, reach = pack(tmp_path / "draft.eqcert", certificate(task, tree)), list[int](), Proof.reach

    def counted(self: Proof, *nodes: Node, bounds_alone: bool = False) -> Any:
        bounded.append(len(nodes))
        return reach(self, *nodes, bounds_alone=bounds_alone)

    monkeypatch.setattr(Proof, "reach", counted)
    counts = []
    for draft in (True, True, False):
        bounded.clear()
        assert audit(path, draft=draft).leaves == 64
        counts.append(sum(bounded))
    assert counts[0] == counts[2] >= 64  # what is no draft is checked as if there had been none
    assert counts[1] == counts[0] - 64


def test_what_holds_without_room_is_bounded_again(tmp_path: Path) -> None:
    """Networks that differ by one half everywhere, and the claim that they differ by hardly more."""
    weights = np.array([[1.0, 2.0], [0.5, -1.0]])
    one, other = (write(tmp_path / f"{b}.onnx", [(weights, np.array([b, 0.0]))]) for b in (0.0, 0.5))
    claim = Epsilon(Fraction(1, 2) + Fraction(1, 2**45))
    task = task_of(one, other, claim, space=space(2, 2), lower=[-1, -1], upper=[1, 1])
    proof = Draft(serialisation.to_json(task), tmp_path)
    path = pack(tmp_path / "narrow.eqcert", certificate(task, np.zeros((1, 3))))
    reached = proof.reach(proof.root(), bounds_alone=True)
    every = range(len(proof.obligations))
    assert all(proof.excluded(reached, o)[0] for o in every)
    low, high = reached.last()
    room = ROOM * np.maximum(np.abs(low), np.abs(high))
    assert not all(proof.contradicted(o, low - room, high + room)[0] for o in every)
    assert _said(path, True) == "holds"
    assert proof.shown == set()
