"""Products of one value that are rounded one by one: what is proved of all is what they can come to.

An input is cut to a grid, multiplied by many weights, and each product is rounded. The most that it moves the sum
is a sum over inputs of the largest of finitely many values, which the oracle computes in rationals.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

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

INPUTS, EACH, GRID = 3, 12, 64
_ROUNDED = {
    Rounding.FLOOR: lambda t: Fraction(floor(t)),
    Rounding.HALF_EVEN: lambda t: Fraction(round(t)),
    Rounding.HALF_UP: lambda t: Fraction(floor(t + Fraction(1, 2))),
    Rounding.ZERO: lambda t: Fraction(int(t)),
}


def pair(rounding: Rounding, step: Fraction, seed: int) -> tuple[Network, Network, Fraction, Fraction]:
    """A linear function, the same with products rounded, how far they part on [-1, 1]^I, and what each alone adds."""
    random = np.random.default_rng(seed)
    weights, signs = random.integers(-511, 512, (INPUTS, EACH)) / 256, random.choice([-1.0, 1.0], (INPUTS, EACH))
    products = np.concatenate([np.outer(w, row) for w, row in zip(weights, np.eye(INPUTS), strict=True)])
    total = Tile.dense(signs.reshape(1, -1))
    cut = Curves.all(Quantiser(1 / GRID, -(1 << 20), 1 << 20, Rounding.FLOOR).curve)
    rounds = Curves.all(Quantiser(float(step), -(1 << 20), 1 << 20, rounding).curve)
    linear = Step((Term(-1, Tile.dense(signs.reshape(1, -1) @ products)),), np.zeros(1), None, "identity")
    steps = (
        Step((Term(-1, Tile.dense(np.eye(INPUTS))),), np.zeros(INPUTS), None, cut),
        Step((Term(0, Tile.dense(products)),), np.zeros(INPUTS * EACH), None, rounds),
        Step((Term(1, total),), np.zeros(1), None, "identity"),
    )
    exact = [
        [(Fraction(s), Fraction(w)) for s, w in zip(*one, strict=True)] for one in zip(signs, weights, strict=True)
    ]
    ends = [_most(terms, _ROUNDED[rounding], step) for terms in exact]
    most = max(sum((one[k] for one in ends), Fraction(0)) for k in (0, 1))
    return Network((linear,), INPUTS, "m", "f"), Network(steps, INPUTS, "m", "g"), most, INPUTS * EACH * step / 2


def _most(
    terms: list[tuple[Fraction, Fraction]], rounded: Callable[[Fraction], Fraction], step: Fraction
) -> tuple[Fraction, Fraction]:
    """How far one input moves the sum up and down at most, over all cells of the grid and the ends of each."""
    slope = sum((sign * weight for sign, weight in terms), Fraction(0))
    found = []
    for k in range(-GRID, GRID + 1):
        z = Fraction(k, GRID)
        moved = sum((sign * (rounded(weight * z / step) * step - weight * z) for sign, weight in terms), Fraction(0))
        found += [moved] + ([moved - slope / GRID] if k < GRID else [])
    return max(found), -min(found)


@pytest.mark.parametrize("rounding", list(_ROUNDED))
@pytest.mark.parametrize("step", [Fraction(1, 16), Fraction(1, 2)])
def test_roundings_of_one_value_are_bounded_together(rounding: Rounding, step: Fraction) -> None:
    f, g, most, alone = pair(rounding, step, 1)
    claims = [Epsilon(most * share) for share in (Fraction(999, 1000), Fraction(11, 10))]
    false, true = (task(f, g, claim, [-1] * INPUTS, [1] * INPUTS, space=space(INPUTS, 1)) for claim in claims)
    verdict = Runner(Options(threads=1, boxes=1)).run(true).verdict
    assert most * Fraction(11, 10) < alone
    assert Runner(Options(threads=1, boxes=40)).run(false).verdict is not Verdict.EQUIVALENT
    assert verdict is Verdict.EQUIVALENT


def bending(rounding: Rounding, step: float, seed: int) -> tuple[Network, Network, Fraction]:
    """As `pair`, with ReLUs of several sums of all products, and how far both part at ends of cells, at least."""
    random, inputs, each, hidden, grid = np.random.default_rng(seed), 2, 10, 5, 16
    weights = random.integers(-255, 256, (inputs, each)) / 128
    products = np.concatenate([np.outer(w, row) for w, row in zip(weights, np.eye(inputs), strict=True)])
    sums, bias = random.integers(-8, 9, (hidden, inputs * each)) / 8, random.integers(-16, 17, hidden) / 8
    last = random.integers(-8, 9, (1, hidden)) / 8
    cut = Curves.all(Quantiser(1 / grid, -(1 << 20), 1 << 20, Rounding.FLOOR).curve)
    rounds = Curves.all(Quantiser(step, -(1 << 20), 1 << 20, rounding).curve)
    ends = [Step((Term(at, Tile.dense(last)),), np.zeros(1), None, "identity") for at in (0, 2)]
    first = (Step((Term(-1, Tile.dense(sums @ products)),), bias, None, "relu"), ends[0])
    second = (
        Step((Term(-1, Tile.dense(np.eye(inputs))),), np.zeros(inputs), None, cut),
        Step((Term(0, Tile.dense(products)),), np.zeros(inputs * each), None, rounds),
        Step((Term(1, Tile.dense(sums)),), bias, None, "relu"),
        ends[1],
    )
    z = np.stack(np.meshgrid(*[np.arange(-grid, grid + 1) / grid] * inputs), -1).reshape(-1, inputs)
    made = np.array([[float(_ROUNDED[rounding](Fraction(v) / Fraction(step))) for v in row] for row in z @ products.T])
    other = np.maximum(made * step @ sums.T + bias, 0.0) @ last.T
    corners = [np.minimum(z + np.array(c) / grid, 1.0) for c in np.ndindex(*[2] * inputs)]
    least = max(np.abs(np.maximum(x @ products.T @ sums.T + bias, 0.0) @ last.T - other).max() for x in corners)
    return Network(first, inputs, "m", "f"), Network(second, inputs, "m", "g"), Fraction(float(least))


@pytest.mark.parametrize(
    ("rounding", "seed", "share"),
    [(Rounding.FLOOR, 0, 2.6), (Rounding.FLOOR, 5, 1.8), (Rounding.HALF_EVEN, 2, 3.6), (Rounding.HALF_EVEN, 3, 3.5)],
)
def test_differences_in_front_of_relus_are_bounded_so_too(rounding: Rounding, seed: int, share: float) -> None:
    """By bounds of the outputs alone these shares of the least difference are 3.2, 2.1, 4 and 3.9."""
    f, g, least = bending(rounding, 0.5, seed)
    claims = [Epsilon(least * Fraction(one)) for one in (0.999, share)]
    false, true = (task(f, g, claim, [-1] * 2, [1] * 2, space=space(2, 1)) for claim in claims)
    assert Runner(Options(threads=1, boxes=4)).run(false).verdict is not Verdict.EQUIVALENT
    assert Runner(Options(threads=1, boxes=1)).run(true).verdict is Verdict.EQUIVALENT
