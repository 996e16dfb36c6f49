"""Transformed questions: a slice of the hunt is never wrong, rests on what is exact, and finds what is planted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.networks.operators import qonnx
from eqspec.networks.quantiser import Rounding
from eqspec.property import Epsilon, Property
from eqspec.run import lowering, runner
from hunt import transformed, transformed_questions
from hunt.onnx_values import given, is_smooth
from hunt.transformed import case_of, generator, judge
from hunt.transformed_files import KINDS, kind_of, pair_of
from hunt.transformed_questions import Question
from hunt.transformed_rewritings import REWRITINGS, Edited, Model
from hunt.transformed_ways import Desk
from oracle.pairs import Random

FIRST = 17 * 10**9
_NAME = attrgetter("__name__")
_QUICK = {"dense", "inputs", "residual", "softmax"}
_LEVELS = {"int8", "int8 convolution", "qonnx"}


@pytest.mark.part(6)
@pytest.mark.parametrize("seed", range(FIRST + 1, FIRST + 31))
def test_no_two_answers_to_one_question(seed: int, tmp_path: Path) -> None:
    assert judge(case_of(seed), seed, Desk(tmp_path)).wrong == []


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_onnxruntime(seed: int) -> None:
    pair = pair_of(np.random.default_rng([seed, 1]))
    points = np.random.default_rng([seed, 2]).integers(-8, 9, (3, pair.inputs)) / 8
    exact = [[Fraction(float(x)) for x in row] for row in points]
    for model in (pair.f, pair.g):
        found = given(model, points, exact=False).rows
        if not is_smooth(model):
            rational = given(model, exact[:1], exact=True).rows
            np.testing.assert_allclose(rational.astype(float), found[:1], rtol=0, atol=1e-10)
        if pair.kind not in _LEVELS:  # onnxruntime does not run a Quant, and takes another level where it rounds
            theirs = [transformed.run(model, row) for row in exact]
            np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-4 * (1 + np.abs(found).max()))


@pytest.mark.parametrize("rewriting", sorted(set(REWRITINGS), key=_NAME), ids=_NAME)
def test_a_rewriting_is_another_file_of_the_same_function(rewriting: Callable[[Model, Random], Model | None]) -> None:
    """In rationals, at a point."""
    done = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        pair = pair_of(rng)
        if is_smooth(pair.g) or (made := rewriting(pair.g, rng)) is None:
            continue
        point = [[Fraction(int(n), 8) for n in rng.integers(-8, 9, pair.inputs)]]
        assert made.SerializeToString() != pair.g.SerializeToString()
        assert (given(pair.g, point, exact=True).rows == given(made, point, exact=True).rows).all(), seed
        if (done := done + 1) == 4:
            return
    raise AssertionError("it did nothing to most files")


def test_cases_are_of_all_kinds_and_near_to_where_claims_turn() -> None:
    kinds = Counter(kind_of(generator(seed)) for seed in range(200))
    assert all(kinds[kind] >= 8 for kind in KINDS), kinds
    cases = [case_of(seed) for seed in range(120) if kind_of(generator(seed)) in _QUICK]
    claims = Counter(case.question.claim.kind for case in cases)
    assert all(claims[kind] for kind in ("distance", "linear", "top1", "margin", "confidence", "equal")), claims
    broken = [case.truth.excess(case.question.asked, case.points.rows, exact=False).max() > 0 for case in cases]
    assert len(broken) < 5 * sum(broken) < 4 * len(broken)


def _found(kind: str, factors: tuple[float, ...], folder: Path, word: str) -> bool:
    """Whether the hunt complains, with a word, of one of its next distances between files of a kind."""
    chosen, near = 0, {f"factor {factor}" for factor in factors}
    for seed in range(FIRST, FIRST + 600):
        if kind_of(generator(seed)) != kind:
            continue
        case = case_of(seed)
        if case.question.claim.kind != "distance" or case.near not in near or case.pair.change.startswith("same"):
            continue
        if any(word in complaint for complaint in judge(case, seed, Desk(folder)).wrong):
            return True
        if (chosen := chosen + 1) == 4:
            return False
    raise AssertionError("too few cases of this kind")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One transform of a case, and no other ways to ask."""
    monkeypatch.setattr(transformed, "TRANSFORMS", 1)
    monkeypatch.setattr(transformed, "WAYS", 0)


def _turned(model: Model) -> Model:
    """A rewriting that is none: the signs of the first bias are lost."""
    edited = Edited(model)
    (node, *_) = edited.nodes("Gemm")
    bias = edited.stored(node.input[2])
    assert bias is not None
    node.input[2] = edited.store(-bias)
    return edited.model


@pytest.mark.usefixtures("few")
def test_a_transform_that_is_none_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the values of its files; and where nobody looks at these, by its answers."""

    def other_files(question: Question, _: Random) -> Question:
        return replace(question, g=_turned(question.g), how=("turned",))

    monkeypatch.setattr(transformed_questions, "SAME", (other_files,))
    assert _found("dense", (1.2, 3.0), tmp_path, "another function")
    monkeypatch.setattr(transformed, "misread", lambda *_: None)
    assert _found("dense", (1.2, 3.0), tmp_path, "breaks nothing")


@pytest.mark.usefixtures("few")
def test_a_box_that_does_not_follow_its_inputs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files take inputs in another order, and the box stays."""

    def permuted(question: Question, rng: Random) -> Question:
        made = transformed_questions.permuted_inputs(question, rng)
        return replace(made, box=question.box, how=("permuted",))

    monkeypatch.setattr(transformed_questions, "SAME", (permuted,))
    assert _found("dense", (0.9, 0.99), tmp_path, "not where it is asked")


@pytest.mark.usefixtures("few")
def test_a_claim_with_more_room_than_was_asked_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def roomy(claim: Property, outputs: int) -> Any:
        if isinstance(claim, Epsilon):
            claim = replace(claim, eps=Fraction(claim.eps) * Fraction(21, 20))
        return lower(claim, outputs)

    lower = lowering.lower_property
    monkeypatch.setattr(runner, "lower_property", roomy)
    assert _found("dense", (0.99,), tmp_path, "and broken at")


@pytest.mark.usefixtures("few")
def test_a_quantiser_that_is_read_with_another_rounding_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No runtime is there to compare these files with."""
    monkeypatch.setattr(qonnx, "_rounding", lambda *_: Rounding.FLOOR)
    assert _found("qonnx", (0.9, 0.99, 1.01, 1.2), tmp_path, "breaks nothing")
