"""First bounds of quantised networks beside those of an encoding that knows nothing of quantisers.

What a quantiser rounds is at most half of a step. So a network with clips in place of its quantisers, to whose values
inputs of their own from -s/2 to s/2 are added, gives at some of these inputs what the quantised one gives: its bounds
hold for the quantised one too. Bounds that know what a quantiser is should not be looser, beyond what the ascent of
multipliers leaves open.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.networks.curves import Curves, clip
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Function, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from small_tasks import task

Array = NDArray[np.float64]
CAP = 3.0
LEFT_OPEN = 1.05
"""Measured with 60 pairs: a median of 0.93, and at most 1.022."""


def _network(steps: list[Step], inputs: int, name: str) -> Network:
    return Network(tuple(steps), inputs, name, name, "x", (inputs,), "y", (steps[-1].rows,))


def _chain(weights: list[Array], biases: list[Array], function: Function, name: str) -> Network:
    last = len(weights) - 1
    steps = [
        Step((Term(k - 1, Tile.dense(w)),), b, None, function if k < last else "identity")
        for k, (w, b) in enumerate(zip(weights, biases, strict=True))
    ]
    return _network(steps, weights[0].shape[1], name)


def _with_roundings(weights: list[Array], biases: list[Array], function: Function, name: str, *, add: bool) -> Network:
    """The same with an input for every hidden neuron behind the others, which is added to its value or not read."""
    inputs = weights[0].shape[1]
    hidden = sum(w.shape[0] for w in weights[:-1])
    first = np.hstack([weights[0], np.zeros((len(weights[0]), hidden))])
    steps = [Step((Term(INPUTS, Tile.dense(first)),), biases[0], None, function)]
    at = inputs
    for k, (weight, bias) in enumerate(zip(weights[1:], biases[1:], strict=True), 1):
        roundings = np.zeros((len(weight), inputs + hidden))
        roundings[:, at : at + weight.shape[1]] = weight
        at += weight.shape[1]
        terms = [Term(k - 1, Tile.dense(weight)), Term(INPUTS, Tile.dense(roundings))]
        last = k + 1 == len(weights)
        steps.append(Step(tuple(terms if add else terms[:1]), bias, None, "identity" if last else function))
    return _network(steps, inputs + hidden, name)


@pytest.mark.part(5)
@pytest.mark.parametrize("seed", range(12))
def test_no_bound_is_looser_than_with_roundings_as_inputs(seed: int) -> None:
    random = np.random.default_rng(seed)
    bits, radius = int(random.choice([3, 4, 6, 8, 12])), float(random.choice([0.01, 0.1, 0.5, 1.0]))
    widths = [int(random.integers(2, 5)), *[int(random.integers(4, 12))] * int(random.integers(1, 4)), 2]
    pairs = list(zip(widths[1:], widths, strict=False))
    weights = [random.normal(size=pair) / np.sqrt(pair[1]) for pair in pairs]
    others = [weight + random.normal(size=weight.shape) * 0.02 for weight in weights]
    biases = [random.normal(size=rows) * 0.3 for rows, _ in pairs]
    step, hidden = CAP / (2**bits - 1), sum(widths[1:-1])
    quantised = Curves.all(Quantiser(step, 0, 2**bits - 1).curve)
    clipped = Curves.all(clip(0.0, step * (2**bits - 1)))
    point = random.normal(size=widths[0])
    half = np.full(hidden, step / 2)
    low, high = point - radius, point + radius
    questions = [
        (_chain(weights, biases, "relu", "f"), _chain(others, biases, quantised, "g"), low, high),
        (
            _with_roundings(weights, biases, "relu", "f", add=False),
            _with_roundings(others, biases, clipped, "g", add=True),
            np.concatenate([low, -half]),
            np.concatenate([high, half]),
        ),
    ]
    runner = Runner(Options(threads=1, boxes=1, weaken=False))
    native, encoded = (
        runner.run(task(f, g, Epsilon("1e-6"), *([Fraction(x) for x in end] for end in ends))).initial_bound
        for f, g, *ends in questions
    )
    assert native is not None
    assert encoded is not None
    assert native <= LEFT_OPEN * encoded
