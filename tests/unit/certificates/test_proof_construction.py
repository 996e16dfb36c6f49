"""What a draft leaves out, what it takes over from the search, and how short it writes it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pytest

from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND
from eqspec.certificates import Certifier
from eqspec.certificates.facts import Behind, FactNumbers
from eqspec.certificates.proof_construction import add_leaf, shortened
from eqspec.property import Confidence, Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks import serialisation
from eqspec.tasks.result import Result
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import write
from unit.certificates.proofs import certify, close, holds, layers, unpack


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [LEAF]),
        ([CUT, LEAF], [CUT, LEAF, LEAF]),
        ([ASSUME], [ASSUME, LEAF]),
        ([ASSUME, LEAF], [LEAF]),
        ([CUT, ASSUME, LEAF, ASSUME, LEAF], [CUT, LEAF]),
        ([ASSUME, ROUND, LEAF, ASSUME, LEAF], [ASSUME, ROUND, LEAF, LEAF]),
        ([ASSUME, CUT, LEAF, LEAF], [ASSUME, CUT, LEAF, LEAF, LEAF]),
    ],
)
def test_an_assumption_without_a_round_needs_no_leaf_of_its_own(before: list[float], after: list[float]) -> None:
    tree = [(kind, 0.0, 0.0) for kind in before]
    add_leaf(tree)
    assert [kind for kind, *_ in tree] == after


def test_constraints_of_the_region_count_in_contraction(tmp_path: Path) -> None:
    """Rounds use them as facts, and do not hold without."""
    task = close(5, tmp_path, Confidence(Fraction(8, 10)), [10, 16, 16, 4], Fraction(3, 4), 0.08)
    half = LinearConstraint((Fraction(1),) * 10, Fraction(-2))
    result, made = certify(replace(task, constraints=(half,)), tmp_path, lp=False)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    parts = unpack(made.path)
    number = FactNumbers(
        (16, 16, 4, 4 + 12), (Behind.RELU, Behind.RELU, Behind.NOTHING, Behind.NOTHING), exact=3, constraints=1
    ).of_region.start
    assert sum(number in facts for _, facts, _ in parts.rounds) > made.rounds / 2
    for one in parts.rounds:
        others = one[1] != number
        one[1], one[2] = one[1][others], one[2][:, others]
    assert not holds(parts, tmp_path)


def test_what_a_leaf_does_not_show_is_proved_where_the_search_did(tmp_path: Path) -> None:
    """And nothing else is, though the search proved obligations on the way down to many leaves."""
    task = close(6, tmp_path, Epsilon(Fraction(16, 100)), [3, 10, 10, 3], Fraction(1), 0.02)
    result, made = certify(task, tmp_path, lp=False)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    parts = unpack(made.path)
    at = np.flatnonzero(parts.tree[:, 0] == ASSUME)
    assert 0 < len(at) < made.leaves / 4
    for one in at:
        without = parts.copy()
        without.tree = np.delete(parts.tree, [one, one + 1], axis=0)
        assert not holds(without, tmp_path)


def test_multipliers_are_stored_short_and_finite() -> None:
    """A multiplier beyond float32 belongs to huge weights; one that is not finite would have the proof refused."""
    given = np.array([[0.1, -1.0 / 3.0, 0.0, 5.0]])
    short = shortened(given, 15)
    assert short.dtype == np.float32
    assert (np.abs(short - given) <= 2.0**-15 * np.abs(given)).all()
    assert np.array_equal(shortened(given, 53), given)
    with np.errstate(all="ignore"):
        huge = shortened(np.array([[1e200, np.inf, np.nan, -1e-300]]), 15)
    assert np.allclose(huge, [[1e200, 0.0, 0.0, -1e-300]], rtol=1e-4, atol=0.0)


@pytest.mark.part(1)
@pytest.mark.parametrize(
    ("seed", "first", "second", "radius", "eps"),
    [
        (1, [12, 20, 10, 4], [12, 16, 4], Fraction(1, 2), Fraction(253, 100)),
        (1, [10, 12, 12, 12, 3], [10, 12, 3], Fraction(1), Fraction(191, 50)),
        (5, [12, 20, 10, 4], [12, 16, 4], Fraction(1, 2), Fraction(237, 100)),
    ],
)
def test_what_the_search_proves_by_a_hair_is_settled(
    seed: int, first: list[int], second: list[int], radius: Fraction, eps: Fraction, tmp_path: Path
) -> None:
    """The recorded multipliers miss by a hair in the enclosures of the auditor."""
    rng = np.random.default_rng(seed)
    reference, candidate = (
        write(tmp_path / "a.onnx", layers(rng, first)),
        write(tmp_path / "b.onnx", layers(rng, second)),
    )
    low, high = [-radius] * first[0], [radius] * first[0]
    given = task_of(reference, candidate, Epsilon(eps), low, high, space=space(first[0], first[-1]))
    result, made = certify(given, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    assert unpack(made.path).rounds


class Hasty:
    """Has certificates written in no time at all."""

    def __init__(self, certifier: Certifier) -> None:
        self.record, self._certifier = certifier.record, certifier

    def certify(self, task: Task, result: Result, seconds: float = inf) -> Result:
        """Whatever the task has."""
        assert seconds == 60.0
        return self._certifier.certify(task, result, 0.0)


def test_a_proof_that_is_not_written_in_time_is_given_up(tmp_path: Path) -> None:
    """The verdict stays, and so does what was written in time."""
    task = close(6, tmp_path, Epsilon(Fraction(16, 100)), [3, 10, 10, 3], Fraction(1), 0.02)
    with Certifier(tmp_path / "certificates") as certifier:
        result = Runner(Options(threads=1, timeout=60.0, certifier=Hasty(certifier))).run(task)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.certificate is None
    assert "writing it was stopped after 0 s" in str(result.uncertified)
    assert not list((tmp_path / "certificates").glob("*.eqcert*"))


@pytest.mark.parametrize("claim", [Epsilon(Fraction(1)), Epsilon(Fraction(1), "l2")])
def test_a_claim_with_a_millionth_of_a_millionth_to_spare_has_a_certificate(claim: Epsilon, tmp_path: Path) -> None:
    """Of 1 and of its share, 1 - 2^-41, it takes the difference: rounding is paid, and no more than that."""
    spare = 1.0 - 2.0**-41
    one = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))]
    other = [(np.eye(2), np.zeros(2)), (np.array([[1.0 - spare, 0.0]]), np.zeros(1))]
    reference, candidate = write(tmp_path / "a.onnx", one), write(tmp_path / "b.onnx", other)
    given = task_of(reference, candidate, claim, [-1, -1], [1, 1], space=space(2, 1))
    result, made = certify(given, tmp_path)
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    wrong = replace(claim, eps=Fraction(spare) - Fraction(1, 2**60))
    forged = unpack(made.path)
    forged.header["task"] = serialisation.to_json(replace(given, property=wrong))
    assert not holds(forged, tmp_path)
