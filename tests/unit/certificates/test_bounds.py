"""The auditor's own mathematics against exact evaluation: nothing that happens lies outside of what it says."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit.backward import DIFFERENCE, FIRST, INPUT, SECOND, TARGET, Functionals, lower_bounds
from eqspec.audit.claim import Guard, Obligation
from eqspec.audit.enclosure import Known, exchange, reach
from eqspec.audit.networks import Exact, Pair, rational
from eqspec.audit.rounding import exp_below, float_above, float_below, ln, log_odds_below

SEEDS = range(12)


def pair_of(rng: np.random.Generator, size: float = 1.0) -> tuple[Exact, Exact]:
    """Two networks of different widths, some neurons pruned, and weights that floats do not hold."""

    def network(hidden: list[int]) -> Exact:
        sizes, made = [3, *hidden, 2], []
        for n, m in pairwise(sizes):
            weight = rational(size * rng.normal(size=(m, n))) / 3
            if rng.random() < 0.5:
                weight[rng.integers(m)] = Fraction(0)
            made.append((weight, rational(rng.normal(size=m)) / 7))
        return made

    return network([6, 5]), network([4, 6])


def trace(layers: Exact, point: list[Fraction]) -> list[list[Fraction]]:
    """Values before ReLU, layer by layer."""
    found, now = [], point
    for weight, bias in layers:
        found.append(
            [sum((w * v for w, v in zip(row, now, strict=True)), b) for row, b in zip(weight, bias, strict=True)]
        )
        now = [max(v, Fraction(0)) for v in found[-1]]
    return found


def points(rng: np.random.Generator, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> list[list[Fraction]]:
    corners = [np.where(rng.random(len(lower)) < 0.5, lower, upper) for _ in range(3)]
    inside = [np.clip(lower + rng.random(len(lower)) * (upper - lower), lower, upper) for _ in range(5)]
    return [[Fraction(v) for v in point] for point in (*corners, *inside)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
def test_enclosures_contain_what_happens(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = pair_of(rng, size)
    pair = Pair(first, second)
    boxes = 4
    lower = rng.normal(size=(3, boxes))
    upper = lower + np.abs(rng.normal(size=(3, boxes))) * rng.choice([0.0, 1e-9, 0.3, 2.0], size=(3, boxes))
    reached = reach(pair, lower, upper)
    rows = rng.normal(size=(3, 6))
    constants = rng.normal(size=3)
    above = reached.upper(rows, constants)
    for b in range(boxes):
        for point in points(rng, lower[:, b], upper[:, b]):
            xs, ys = trace(first, point), trace(second, point)
            for layer, (x, y) in enumerate(zip(xs, ys, strict=True)):
                for i, (v, w) in enumerate(zip(x, y, strict=False)):
                    for row, value in ((0, v), (2, w), (4, v - w)):
                        low, high = reached.layers[layer][row : row + 2, i, b]
                        assert Fraction(low) <= value <= Fraction(high)
            outputs = [*xs[-1], *ys[-1], *(v - w for v, w in zip(xs[-1], ys[-1], strict=True))]
            for row, constant, bound in zip(rows, constants, above[:, b], strict=True):
                exact = sum((Fraction(c) * v for c, v in zip(row, outputs, strict=True)), Fraction(constant))
                assert exact <= Fraction(bound)


@pytest.mark.parametrize("seed", SEEDS)
def test_backward_bounds_hold_wherever_the_violation_does(seed: int) -> None:
    """Random functionals with random multipliers, at inputs where guard and violation are met."""
    rng = np.random.default_rng(100 + seed)
    first, second = pair_of(rng)
    pair = Pair(first, second)
    lower = rng.normal(size=3)
    upper = lower + np.abs(rng.normal(size=3))
    layers = [exchange(b[:, :, 0]) for b in reach(pair, lower[:, None], upper[:, None]).layers]
    known = Known(lower, upper, layers)
    guard = Guard(rng.normal(size=(2, 2)), rng.normal(size=2) + 3.0, slice(0, 0))
    obligation = Obligation(0, (rng.normal(size=(3, 2)),), 4.0)
    count, hidden = 120, [layer.bias.size for layer in pair.first[:-1]]
    kind = rng.choice([TARGET, FIRST, SECOND, DIFFERENCE, INPUT], size=count)
    layer = rng.integers(2, size=count)
    index = np.array([rng.integers(3 if k == INPUT else hidden[n]) for k, n in zip(kind, layer, strict=True)])
    functionals = Functionals(
        kind, rng.choice([-1.0, 1.0], size=count), layer, index,
        rng.exponential(0.2, size=(count, 2)), rng.exponential(0.2, size=count), rng.normal(size=(count, 2)),
        np.zeros((count, 0)), [rng.normal(size=(count, m)) for m in hidden],
        [(rng.random((count, m)), rng.random((count, m))) for m in hidden],
    )  # fmt: skip
    bounds = lower_bounds(pair, known, obligation, guard, functionals)
    met = 0
    for point in [p for _ in range(20) for p in points(rng, lower, upper)]:
        xs, ys = _padded(trace(first, point), pair), _padded(trace(second, point), pair)
        outputs = [xs[-1], ys[-1], [v - w for v, w in zip(xs[-1], ys[-1], strict=True)]]
        rows = zip(obligation.writings[0], outputs, strict=True)
        violation = sum((_dot(row, values) for row, values in rows), Fraction(4))
        slack = [_dot(row, xs[-1]) + Fraction(c) for row, c in zip(guard.rows, guard.constants, strict=True)]
        if violation < 0 or min(slack) < 0:
            continue
        met += 1
        for f in range(count):
            n, i, sign = layer[f], index[f], Fraction(functionals.sign[f])
            if kind[f] == TARGET:
                value = -violation
            elif kind[f] == INPUT:
                value = sign * point[i]
            else:
                value = sign * {FIRST: xs[n][i], SECOND: ys[n][i], DIFFERENCE: xs[n][i] - ys[n][i]}[kind[f]]
            assert Fraction(bounds[f]) <= value, (kind[f], n, i)
    assert met > 10 or seed % 4


def _dot(row: NDArray[np.float64], values: list[Fraction]) -> Fraction:
    return sum((Fraction(a) * v for a, v in zip(row, values, strict=True)), Fraction(0))


def _padded(values: list[list[Fraction]], pair: Pair) -> list[list[Fraction]]:
    widths = [layer.bias.size for layer in pair.first]
    return [[*v, *[Fraction(0)] * (m - len(v))] for v, m in zip(values, widths, strict=True)]


def test_functions_are_on_the_safe_side() -> None:
    x = np.array([-900.0, -30.0, -1e-9, 0.0, 1e-9, 0.5, 3.0, 300.0])
    with np.errstate(all="ignore"):
        assert (exp_below(x) <= np.exp(x)).all()
    near = np.abs(x) <= 3.0
    assert (exp_below(x)[near] >= np.exp(x[near]) * (1.0 - 1e-5)).all()
    assert exp_below(np.array([np.nan, -np.inf])).max() == 0.0
    values = np.array([1e-300, 0.1, 0.5, 0.999, 1.0, 1.001, 7.0, 1e300])
    found, error = ln(values)
    assert (np.abs(found - np.log(values)) <= error + 1e-15 * np.abs(found)).all()
    assert (error < 1e-10).all()
    third = Fraction(1, 3)
    assert Fraction(float_below(third)) < third < Fraction(float_above(third))
    assert float_below(Fraction(10) ** 400) < np.inf
    for delta in (Fraction(1, 10**9), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**12)):
        below = log_odds_below(delta)
        true = np.log(float(delta / (1 - delta)))
        assert true - 1e-12 * (1 + abs(true)) <= below <= true + 1e-12 * (1 + abs(true))
