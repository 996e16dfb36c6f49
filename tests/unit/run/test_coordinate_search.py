"""Counterexamples that are made of roundings: products that are rounded one by one, as firmware has them.

What a network of such products rounds is a sum with one part for each input, so its largest value is known exactly: the
parts are piecewise linear, and walked from threshold to threshold.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eqspec.networks.curves import Curves
from eqspec.networks.network import Network
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict
from small_tasks import space, task

INPUTS, EACH, STEP = 8, 8, 2.0**-6


def rounded_products(random: np.random.Generator) -> tuple[Network, Network, float]:
    """A linear function of [-1, 1]^I, the same with products that are rounded down, and the most they are apart."""
    weights, signs = random.integers(-512, 513, (INPUTS, EACH)) / 256, random.choice([-1.0, 1.0], (INPUTS, EACH))
    products = np.concatenate([np.outer(w, row) for w, row in zip(weights, np.eye(INPUTS), strict=True)])
    total, none = Tile.dense(signs.reshape(1, -1)), np.zeros(INPUTS * EACH)
    down = Curves.all(Quantiser(STEP, -(1 << 20), 1 << 20, Rounding.FLOOR).curve)
    linear = Step((Term(-1, Tile.dense(signs.reshape(1, -1) @ products)),), np.zeros(1), None, "identity")
    first = Step((Term(-1, Tile.dense(products)),), none, None, down)
    last = Step((Term(0, total),), np.zeros(1), None, "identity")
    most = np.array([_range(*row) for row in zip(weights, signs, strict=True)]).sum(axis=0)
    return Network((linear,), INPUTS, "m", "f"), Network((first, last), INPUTS, "m", "g"), float(most.max())


def _range(weights: np.ndarray, signs: np.ndarray) -> tuple[float, float]:
    """The most that one input brings about, upward and downward."""
    jumps = np.concatenate([np.arange(-128, 129) * STEP / w for w in weights if w])
    places = np.unique(np.concatenate([jumps, np.nextafter(jumps, -2), np.nextafter(jumps, 2), [-1.0, 1.0]]))
    products = weights[:, None] * places[np.abs(places) <= 1.0]
    apart = (signs[:, None] * (np.floor(products / STEP) * STEP - products)).sum(axis=0)
    return float(apart.max()), float(-apart.min())


@pytest.mark.parametrize("seed", range(2))
def test_what_is_rounded_is_climbed(seed: int) -> None:
    """More than four fifths of what is possible; 2 000 random points reach about half of it."""
    random = np.random.default_rng(seed)
    f, g, most = rounded_products(random)
    points = random.uniform(-1.0, 1.0, (2000, INPUTS))
    assert np.abs(f.evaluate(points) - g.evaluate(points)).max() < 0.7 * most
    claims = [Epsilon(Fraction(share * most).limit_denominator(1000)) for share in (0.85, 1.001)]
    broken, true = (task(f, g, claim, [-1] * INPUTS, [1] * INPUTS, space=space(INPUTS, 1)) for claim in claims)
    result = Runner(Options(threads=1, boxes=2000, simplify=False)).run(broken)
    assert result.verdict is Verdict.DIFFERENT
    assert Runner(Options(threads=1, boxes=700)).run(true).verdict is not Verdict.DIFFERENT


def test_inputs_go_to_thresholds() -> None:
    """Of forty inputs of which each is rounded, all have to lie within two thousandths of a step of a threshold."""
    inputs, random = 40, np.random.default_rng(3)
    weights = random.integers(64, 257, (1, inputs)) / 128 * random.choice([-1.0, 1.0], (1, inputs))
    nearest = Curves.all(Quantiser(STEP, -(1 << 20), 1 << 20).curve)
    linear = Step((Term(-1, Tile.dense(weights)),), np.zeros(1), None, "identity")
    rounded = Step((Term(-1, Tile.dense(np.eye(inputs))),), np.zeros(inputs), None, nearest)
    last = Step((Term(0, Tile.dense(weights)),), np.zeros(1), None, "identity")
    f, g = Network((linear,), inputs, "m", "f"), Network((rounded, last), inputs, "m", "g")
    most = np.abs(weights).sum() * STEP / 2
    claim = Epsilon(Fraction(0.998 * most).limit_denominator(10**6))
    ends = [Fraction(-1, 8)] * inputs, [Fraction(1, 8)] * inputs
    result = Runner(Options(threads=1, boxes=20, simplify=False)).run(task(f, g, claim, *ends, space=space(inputs, 1)))
    assert result.verdict is Verdict.DIFFERENT
