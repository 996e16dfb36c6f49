"""Plans of a softmax: what their sums are, that nothing reads ahead, and how many functions they take."""

from __future__ import annotations

from fractions import Fraction
from math import log2
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eqspec
from eqspec import Epsilon
from eqspec.networks import read_network, softened
from eqspec.networks.softmax_tree import Plan, Sum, plan
from unit.networks.function_cases import weights
from unit.networks.models import model, node, run_onnxruntime, save


def sums(found: Plan, scores: list[mpmath.mpf]) -> list[mpmath.mpf]:
    """What a plan computes: r_i for every score."""
    made: list[list[mpmath.mpf]] = []

    def value(one: Sum) -> mpmath.mpf:
        return scores[one.score] + sum(made[number][place] for number, place in one.added)

    for pairs in found.rounds:
        made += [[mpmath.log1p(mpmath.exp(value(a) - value(b))) for a, b in pairs]]
    return [value(one) for one in found.rest]


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=33))
def test_sums_are_those_of_all_other_scores(scores: list[float]) -> None:
    with mpmath.workdps(60):
        given_scores = [mpmath.mpf(x) for x in scores]
        found = sums(plan(len(scores)), given_scores)
        for i, r in enumerate(found):
            others = mpmath.log(mpmath.fsum(mpmath.exp(x) for j, x in enumerate(given_scores) if j != i))
            assert abs(r - others) < mpmath.mpf(10) ** -25


@pytest.mark.parametrize("scores", [2, 3, 4, 5, 7, 8, 9, 10, 31, 64, 1000])
def test_it_is_small_and_shallow(scores: int) -> None:
    found = plan(scores)
    assert sum(map(len, found.rounds)) < 3 * scores
    assert len(found.rounds) <= 2 * log2(scores) + 2
    for number, pairs in enumerate(found.rounds):
        assert all(one.ready <= number for pair in pairs for one in pair)


@pytest.mark.part(3)
@pytest.mark.parametrize("outputs", [3, 5, 10])
@pytest.mark.parametrize("tail", ["Softmax", "LogSoftmax"])
def test_scores_far_apart(outputs: int, tail: str, tmp_path: Path) -> None:
    """Shares of 1 and of almost nothing, at the end and inside of a network."""
    scaled = node("Mul", ["x", "k"], "s")
    constants = {"k": np.array([40.0], np.float32), "one": np.array([1.0], np.float32)}
    end = [scaled, node(tail, ["s"], "y", axis=1)]
    inner = [scaled, node(tail, ["s"], "p", axis=1), node("Mul", ["p", "one"], "y")]
    at_the_end = save(tmp_path, model(end, constants, (1, outputs)), "end.onnx")
    inside = save(tmp_path, model(inner, constants, (1, outputs)), "inside.onnx")
    for path in (at_the_end, inside):
        network = softened(read_network(path))
        for x in np.random.default_rng(0).uniform(-2, 2, (20, outputs)).astype(np.float32):
            found = run_onnxruntime(path, x[None])[0]
            np.testing.assert_allclose(network.evaluate(x[None].astype(float))[0], found, rtol=2e-5, atol=2e-6)
            exact = network.evaluate_exact([Fraction(v) for v in x.tolist()])
            np.testing.assert_allclose([float(low) for low, _ in exact], found, rtol=2e-5, atol=2e-6)


def test_logits_that_differ_little_are_proved_at_once(tmp_path: Path) -> None:
    """Scores are up to 20 apart and differ by at most .02: shares differ by less than .01, whatever the scores are."""
    rng = np.random.default_rng(1)
    paths = []
    for moved in (0.0, 0.01):
        wide = 10 * weights(4, 6) + moved * rng.uniform(-1, 1, (4, 6)).astype(np.float32) / 4
        nodes = [node("Gemm", ["x", "w"], "z"), node("Softmax", ["z"], "y", axis=1)]
        paths.append(save(tmp_path, model(nodes, {"w": wide}, (1, 4)), f"{moved}.onnx"))
    found = eqspec.verify(paths[0], paths[1], [-1] * 4, [1] * 4, Epsilon("0.01"), scores="probabilities")
    assert found.verdict == "equivalent"
    assert found.boxes == 1
