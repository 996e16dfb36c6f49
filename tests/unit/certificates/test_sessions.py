"""Questions of a writer to the auditor's process: every round is computed once, and what is written is the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from eqspec.audit import Refused, audit
from eqspec.audit.drafts import Draft
from eqspec.audit.proof import Node, Proof
from eqspec.audit.sessions import Sessions, decoded, encoded
from eqspec.certificates import Auditor, Certificate
from eqspec.certificates.session import Session
from eqspec.errors import EqspecError
from eqspec.property import Confidence
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from unit.certificates.proofs import certify, close, pack, unpack

Given: TypeAlias = tuple[Task, Certificate, Path]


class InPlace:
    """An auditor in this process."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    def told(self, request: dict[str, Any]) -> dict[str, Any]:
        """As the process answers."""
        return self.sessions.answer(request)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    """A proof that contracts, written with answers of the auditor's process, all of which are counted."""
    folder, answers, told = tmp_path_factory.mktemp("given"), list[dict[str, Any]](), Auditor.told
    task = close(5, folder, Confidence(Fraction(4, 5)), [10, 16, 16, 4], Fraction(2, 5), 0.08)

    def counted(self: Auditor, request: dict[str, Any]) -> dict[str, Any]:
        answers.append(told(self, request))
        return answers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Auditor, "told", counted)
        made = _made(task, folder)
    assert len(answers) > made.rounds > 2
    assert all(answers)
    return task, made, folder


def _made(task: Task, folder: Path) -> Certificate:
    _, made = certify(task, folder, timeout=30, lp=False)
    assert made is not None
    assert made.reason is None
    return made


def _ended(self: Auditor, request: dict[str, Any]) -> dict[str, Any]:
    raise EqspecError("it ended")


@pytest.mark.parametrize("told", [lambda self, request: {}, _ended], ids=["deaf", "ended"])
def test_what_is_written_is_the_same_where_the_auditor_does_not_answer(
    told: Any, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, made, _ = given
    monkeypatch.setattr(Auditor, "told", told)
    written, other = unpack(made.path), unpack(_made(task, tmp_path).path)
    assert np.array_equal(written.tree, other.tree)
    for one, two in zip(written.rounds, other.rounds, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_a_round_that_was_asked_for_is_not_computed_again_in_the_draft(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, made, _ = given
    enclosed, reach = list[Node](), Proof.reach

    def counted(self: Proof, *nodes: Node, bounds_alone: bool = False) -> Any:
        if not bounds_alone:
            enclosed.extend(nodes)
        return reach(self, *nodes, bounds_alone=bounds_alone)

    monkeypatch.setattr(Proof, "reach", counted)
    counts = []
    for draft in (True, True, False):
        enclosed.clear()
        assert audit(made.path, draft=draft).rounds == made.rounds
        counts.append(len(enclosed))
    assert counts[0] == counts[2] > counts[1] == 0  # a proof that is audited by itself knows nothing


def test_other_numbers_are_another_round(given: Given, tmp_path: Path) -> None:
    """A multiplier, the node, what is open, or a constraint of the region that differs: nothing is taken for known."""
    task, made, _ = given
    parts = unpack(made.path)
    assert audit(made.path, draft=True).rounds
    changed = parts.copy()
    changed.rounds[0][2] = changed.rounds[0][2].astype(np.float64) * 0.0
    with pytest.raises(Refused):
        audit(pack(tmp_path / "changed", changed), draft=True)
    proof = Draft(serialisation.to_json(task), tmp_path)
    node, found = proof.under(proof.root(), 0), [a.copy() for a in parts.rounds[0]]
    after = proof.round(node, *found)
    assert proof.round(node, *found) is after
    assert proof.round(proof.under(proof.root(), 1), *found) is not after
    assert proof.round(node, found[0], found[1], found[2] * 0.5) is not after
    proof.region.bounds = np.append(proof.region.bounds, 1.0)
    proof.region.rows = np.append(proof.region.rows, np.ones((1, 10)), axis=0)
    assert proof.round(node, *found) is not after


def test_a_session_is_of_one_proof_and_over_when_another_begins(given: Given) -> None:
    task, _, folder = given
    auditor, data = InPlace(), serialisation.to_json(task)
    proof = Proof(data, folder)
    node = proof.under(proof.root(), 0)
    one, other = (Session(auditor, data, folder, ((), ())) for _ in range(2))  # type: ignore[arg-type]
    reached = proof.reach(node)
    for _ in range(2):
        told = one.enclosed(node)
        assert told is not None
        assert np.array_equal(told[0], reached.low[:, 0])
        assert np.array_equal(told[1], reached.high[:, 0])
    assert other.enclosed(node) is not None
    assert one.enclosed(node) is None
    assert one.enclosed(node) is None


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<i4"])
def test_arrays_travel_as_they_are(kind: str) -> None:
    for array in (np.arange(6).reshape(2, 3).astype(kind), np.zeros((0, 4), kind), np.zeros(0, kind)):
        back = decoded(encoded(array))
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)
