"""The auditor's own mathematics against exact evaluation: nothing that happens lies outside of what it says."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit.ball import Ball, rational
from eqspec.audit.bounds import Reached, _entropy
from eqspec.audit.claim import Guard, Obligation, Region
from eqspec.audit.forms import Pair
from eqspec.audit.rounding import float_above, float_below, ln, log_odds_below

Exact = list[tuple[NDArray[Any], NDArray[Any]]]
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


def balls(layers: Exact) -> list[Ball]:
    """The layers as the auditor holds them."""
    return [Ball.of(np.concatenate([weight, bias[:, None]], axis=1), exact=False) for weight, bias in layers]


def quantities(first: Exact, second: Exact, point: list[Fraction], pair: Pair) -> list[Fraction]:
    """All of them at a point: the inputs, then x, y and d, layer by layer."""
    found = list(point)
    for xs, ys in zip(_padded(trace(first, point), pair), _padded(trace(second, point), pair), strict=True):
        found += [*xs, *ys, *(v - w for v, w in zip(xs, ys, strict=True))]
    return found


def boxes(pair: Pair, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Reached:
    """The boxes (n, B), of which nothing else is known."""
    rest = np.full((3 * sum(pair.widths), lower.shape[1]), np.inf)
    return Reached(pair, np.concatenate([lower, -rest]), np.concatenate([upper, rest]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
def test_enclosures_contain_what_happens(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = pair_of(rng, size)
    pair = Pair(balls(first), balls(second))
    lower = rng.normal(size=(3, 4))
    upper = lower + np.abs(rng.normal(size=(3, 4))) * rng.choice([0.0, 1e-9, 0.3, 2.0], size=(3, 4))
    reached, rows, constants = boxes(pair, lower, upper), rng.normal(size=(3, 6)), rng.normal(size=3)
    above = reached.most(rows, constants)
    assert not reached.empty.any()
    for b in range(4):
        for point in points(rng, lower[:, b], upper[:, b]):
            values = quantities(first, second, point, pair)
            for low, value, high in zip(reached.low[:, b], values, reached.high[:, b], strict=True):
                assert Fraction(low) <= value <= Fraction(high)
            for row, constant, bound in zip(rows, constants, above[:, b], strict=True):
                assert _dot(row, values[-6:]) + Fraction(constant) <= Fraction(bound)


@pytest.mark.parametrize("seed", SEEDS)
def test_facts_hold_and_so_does_what_follows_from_them(seed: int) -> None:
    """Every fact by itself and random quantities with random multipliers, where guard, violation and region hold."""
    rng = np.random.default_rng(100 + seed)
    first, second = pair_of(rng)
    pair = Pair(balls(first), balls(second))
    lower = rng.normal(size=3)
    upper = lower + np.abs(rng.normal(size=3))
    reached = boxes(pair, lower[:, None], upper[:, None])
    guard = Guard(rng.normal(size=(2, 2)), rng.normal(size=2) + 3.0, slice(0, 0))
    failing = Obligation(0, rng.normal(size=(1, 6)), 4.0)
    region = _region(lower, upper, rng.normal(size=3))
    hidden, count = sum(pair.widths[:-1]), 120
    total = 12 * hidden + 2 + 2 + 1 + 1
    wanted = rng.integers(-len(reached.low), len(reached.low) + 1, size=count)
    chosen = np.sort(rng.choice(total, size=20, replace=False))
    multipliers = np.where(reached_equal(pair, total)[chosen], rng.normal(size=(count, 20)), 0.0)
    multipliers += rng.exponential(0.05, size=(count, 20))
    multipliers = np.where(reached_equal(pair, total)[chosen], multipliers, np.abs(multipliers))
    bounds = reached.least(wanted, chosen, multipliers, failing, guard, region)
    alone = reached.least(np.zeros(total, int), np.arange(total), np.eye(total), failing, guard, region)
    met = 0
    for point in [p for _ in range(20) for p in points(rng, lower, upper)]:
        values = quantities(first, second, point, pair)
        slack = [_dot(row, values[-6:-4]) + Fraction(c) for row, c in zip(guard.rows, guard.constants, strict=True)]
        slack += [_dot(failing.writings[0], values[-6:]) + 4, Fraction(region.bounds[0]) - _dot(region.rows[0], point)]
        if min(slack) < 0:
            continue
        met += 1
        assert (alone <= 0.0).all(), "no fact that holds contradicts anything"
        for number, bound in zip(wanted, bounds, strict=True):
            value = Fraction(0) if number == 0 else values[abs(number) - 1] * (1 if number > 0 else -1)
            assert Fraction(bound) <= value, number
    assert met > 10 or seed % 4


def reached_equal(pair: Pair, total: int) -> NDArray[np.bool_]:
    """Which facts are equations."""
    parts = [[*[False] * (11 * m), *[True] * m] for m in pair.widths[:-1]]
    flat = [*(e for part in parts for e in part), True, True]
    return np.array([*flat, *[False] * (total - len(flat))])


def _region(lower: NDArray[np.float64], upper: NDArray[np.float64], row: NDArray[np.float64]) -> Region:
    """A box and one constraint through its middle."""
    data = {
        "lo_exact": [str(Fraction(v)) for v in lower],
        "hi_exact": [str(Fraction(v)) for v in upper],
        "A": [[str(Fraction(v)) for v in row]],
        "b": [str(Fraction(float(row @ (lower + upper) / 2 + 0.5)))],
        "strict": [False],
    }
    return Region({"region": data}, 3)


def test_what_is_known_contradicts_what_is_not_so() -> None:
    """Bounds that no input satisfies are noticed; bounds that one satisfies never are."""
    rng = np.random.default_rng(3)
    first, second = pair_of(rng)
    pair = Pair(balls(first), balls(second))
    lower, upper = -np.ones(3), np.ones(3)
    for point in points(rng, lower, upper):
        values = np.array([float(v) for v in quantities(first, second, point, pair)])
        low, high = (np.concatenate([end, values[3:] + off]) for end, off in ((lower, -1e-9), (upper, 1e-9)))
        assert not Reached(pair, low[:, None], high[:, None]).empty[0]
        impossible = high.copy()
        impossible[3 : 3 + pair.widths[0]] = -1e6
        assert Reached(pair, np.minimum(low, impossible)[:, None], impossible[:, None]).empty[0]


def _dot(row: NDArray[np.float64], values: list[Fraction]) -> Fraction:
    return sum((Fraction(a) * v for a, v in zip(row, values, strict=True)), Fraction(0))


def _padded(values: list[list[Fraction]], pair: Pair) -> list[list[Fraction]]:
    return [[*v, *[Fraction(0)] * (m - len(v))] for v, m in zip(values, pair.widths, strict=True)]


def test_functions_are_on_the_safe_side() -> None:
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


def test_entropy_is_never_too_much() -> None:
    rng = np.random.default_rng(8)
    lam = rng.exponential(size=(50, 4)) * rng.choice([0.0, 1e-300, 1e-9, 1.0, 1e9], size=(50, 4))
    for row, found in zip(lam, _entropy(lam), strict=True):
        with localcontext(Context(prec=60)):
            exact = [Decimal(float(v)) for v in row if v > 0.0]
            true = -sum((v * (v / sum(exact)).ln() for v in exact), Decimal(0))
            assert Decimal(float(found)) <= true
            assert Decimal(float(found)) >= true - Decimal("1e-11") * (1 + sum(exact))
