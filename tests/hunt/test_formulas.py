"""The hardness reduction as a generator: eqspec, asked as an equivalence question, against a SAT solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Domain
from eqspec.tasks.verdict import Verdict
from hunt.formulas import (
    Formula,
    by_enumeration,
    constant,
    network,
    random_formula,
    satisfiable,
    satisfies,
    scores,
)
from oracle.evaluate import outputs
from oracle.pieces import Layers
from small_tasks import network as made
from small_tasks import task

HALF = Fraction(1, 2)
Question = tuple[Layers, Layers, Property]


def questions(formula: Formula, variables: int) -> dict[str, Question]:
    """Pairs and claims that hold iff no assignment satisfies the formula, that is iff F <= -1 everywhere."""
    f = network(formula, variables)
    first = scores(f, Fraction(1), HALF, [Fraction(0)])  # decides for the first class iff F >= -1/2
    never = constant([Fraction(-1), Fraction(0)], variables)
    surely = scores(f, Fraction(16), Fraction(8), [Fraction(0)] * 2)  # scores of 8 over 0 where F = 0
    three = constant([Fraction(-1), Fraction(0), Fraction(0)], variables)
    return {
        "strict": (constant([Fraction(0)], variables), f, Linear((1,), (0,), 0, strict=True)),
        "at most": (constant([Fraction(0)], variables), f, Linear((1,), (0,), -HALF)),
        "distance": (*_lifted(f, variables), Epsilon(Fraction(3, 8))),
        "top1": (first, never, Top1()),
        "margin": (first, never, Margin(Fraction(1, 4))),
        "confidence": (first, never, Confidence(Fraction(3, 5))),  # sigmoid(1/2) = 0.622...
        "confidence of three": (surely, three, Confidence(Fraction(999, 1000))),  # e^8 / (e^8 + 2) = 0.99933
    }


def _lifted(f: Layers, variables: int) -> tuple[Layers, Layers]:
    """relu(F + 1/2) against 0: a hidden layer more."""
    *hidden, (out, bias) = f
    return [*hidden, (out, bias + 0.5), (np.ones((1, 1)), np.zeros(1))], constant([Fraction(0)], variables)


def ask(question: Question, variables: int, options: Options) -> Result:
    reference, candidate, claim = question
    ends: Sequence[int] = [0] * variables
    asked = task(made(*reference), made(*candidate), claim, ends, [1] * variables)
    return Runner(options).run(asked)


def assignment(result: Result) -> list[bool]:
    assert result.witness is not None
    return [x > HALF for x in result.witness.normalised]


@pytest.mark.parametrize("seed", range(20))
def test_the_network_counts_unsatisfied_clauses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    variables = int(rng.integers(1, 6))
    formula = random_formula(rng, variables, int(rng.integers(1, 12)))
    f = network(formula, variables)
    most = max(outputs(f, [Fraction(int(b)) for b in np.binary_repr(n, variables)])[0] for n in range(2**variables))
    assert most.denominator == 1
    assert (most == 0) == by_enumeration(formula, variables) == satisfiable(formula)
    for _ in range(50):
        point = [Fraction(int(n), 8) for n in rng.integers(0, 9, variables)]
        assert outputs(f, point)[0] <= most


CLASSES = ["strict", "at most", "distance", "top1", "margin", "confidence", "confidence of three"]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_formula_is_satisfiable_iff_the_pair_is_different(kind: str) -> None:
    """Few variables: no verdict is wrong, nearly all are found, and both happen often."""
    verdicts: Counter[tuple[bool, Verdict]] = Counter()
    domains: list[Domain] = ["shared", "paper", "naive"]
    for seed in range(24):
        rng = np.random.default_rng(seed)
        variables = int(rng.integers(2, 5))
        formula = random_formula(rng, variables, int(variables * rng.choice([2, 5, 7])))
        truth = satisfiable(formula)
        options = Options(threads=1 + seed % 2, domain=domains[seed % 3] if seed % 4 == 0 else "shared", boxes=400)
        result = ask(questions(formula, variables)[kind], variables, options)
        assert result.verdict is not (Verdict.EQUIVALENT if truth else Verdict.DIFFERENT), formula
        if result.verdict is Verdict.DIFFERENT:
            assert kind == "strict" or satisfies(assignment(result), formula), formula
        verdicts[truth, result.verdict] += 1
    assert verdicts[False, Verdict.EQUIVALENT] >= 5, verdicts
    assert verdicts[False, Verdict.UNKNOWN] <= 3, verdicts
    assert verdicts[True, Verdict.DIFFERENT] >= 5, verdicts
    assert verdicts[True, Verdict.UNKNOWN] <= 3, verdicts


def test_a_strict_claim_that_is_met_exactly_at_a_corner_is_refuted() -> None:
    formula = [(1, 2), (-1, 2)]
    assert ask(questions(formula, 2)["strict"], 2, Options(threads=1, boxes=400)).verdict is Verdict.DIFFERENT


@pytest.mark.part(3)
@pytest.mark.parametrize("kind", ["at most", "top1", "confidence of three"])
@pytest.mark.parametrize("variables", [10, 20])
def test_nothing_is_claimed_about_large_formulas_that_a_solver_denies(variables: int, kind: str) -> None:
    """Near the threshold of satisfiability, 4.26 clauses for a variable; beyond eight inputs bounds are contracted."""
    answers: set[bool] = set()
    for seed in range(2):
        rng = np.random.default_rng([seed, variables])
        formula = random_formula(rng, variables, round(variables * (3.5 if seed % 2 else 5.5)))
        truth = satisfiable(formula)
        answers.add(truth)
        result = ask(questions(formula, variables)[kind], variables, Options(threads=1, boxes=12))
        assert result.verdict is not (Verdict.EQUIVALENT if truth else Verdict.DIFFERENT), formula
        if result.verdict is Verdict.DIFFERENT:
            assert satisfies(assignment(result), formula), formula
    assert answers == {True, False}
