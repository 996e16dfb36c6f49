"""Networks bounded each by itself, against exact evaluation; boxes that are bounded together know nothing of others."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit.alone import Alone, Chains, chains
from eqspec.audit.bounds import Reached
from eqspec.audit.reading import Pair
from eqspec.audit.rounding import float_above, float_below
from unit.certificates.dense import steps
from unit.certificates.test_bounds import OUTPUTS, Exact, held, points, quantities, rational, trace

Array = NDArray[Any]
SEEDS = range(6)
HIDDEN = [7, 6, 5, 6]


def deep(rng: np.random.Generator, size: float = 1.0, hidden: list[int] = HIDDEN) -> Exact:
    """Weights that floats do not hold, and constants of any size beside them, so that sums cancel."""
    return [
        (rational(size * rng.normal(size=(m, n))) / 3, rational(rng.normal(size=m) * rng.choice([0, 1e-3, 1, 1e6])) / 7)
        for n, m in pairwise([3, *hidden, 2])
    ]


def of(first: Exact, second: Exact, off: Fraction = Fraction(0)) -> tuple[Pair, Chains]:
    pair = Pair(steps(held(first, off)), steps(held(second, off)), 3, (OUTPUTS, OUTPUTS))
    return pair, chains(pair)


def unknown(pair: Pair, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Boxes (n, B), of which nothing else is known."""
    rest = np.full((3 * sum(pair.widths), lower.shape[1]), np.inf)
    return np.concatenate([lower, -rest]), np.concatenate([upper, rest])


def moved(rng: np.random.Generator, layers: Exact, off: Fraction) -> Exact:
    shift = np.frompyfunc(lambda v: v + off * int(rng.integers(-1, 2)), 1, 1)
    return [(shift(weight), shift(bias)) for weight, bias in layers]


def drawn(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    lower = rng.normal(size=(3, count))
    return lower, lower + np.abs(rng.normal(size=(3, count))) * rng.choice([0.0, 1e-9, 0.03, 0.5], size=(3, count))


@pytest.mark.part(10)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6, 1e-120])
def test_what_one_network_computes_lies_in_its_bounds(seed: int, size: float) -> None:
    """Given the true ranges of a few points on every step below, rounded outward, and nothing of the step itself."""
    rng = np.random.default_rng(seed)
    network, off = deep(rng, size), Fraction(float(rng.choice([0.0, 1e-9, 1e-3]))) * Fraction(size)
    chain = of(network, network, off)[1][0]
    boxes = list(zip(*(ends.T for ends in drawn(rng, 3)), strict=True))
    traces = [[trace(moved(rng, network, off), point) for point in points(rng, *box)] for box in boxes]
    lower, upper = (np.array(ends).T for ends in zip(*boxes, strict=True))
    alone = Alone(chain, lower, upper)
    for step in range(len(HIDDEN)):
        values = [[one[step] for one in some] for some in traces]
        low = np.array([[float_below(min(v)) for v in zip(*some, strict=True)] for some in values]).T
        high = np.array([[float_above(max(v)) for v in zip(*some, strict=True)] for some in values]).T
        if step:
            wide = np.full(low.shape, 1e300)
            least, most = alone.tightened(-wide, 2.0 * wide)[0], alone.tightened(-2.0 * wide, wide)[1]
            assert (least > -wide).all()
            assert (most < wide).all()
            for ends, side in ((least, 1), (most, -1)):
                for b, some in enumerate(values):
                    for one in some:
                        assert all(side * Fraction(end) <= side * v for end, v in zip(ends[:, b], one, strict=True))
        alone.take(low, high)


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_lie_in_their_bounds(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    first, off = deep(rng), Fraction(float(rng.choice([0.0, 1e-6])))
    second = moved(rng, first, Fraction(1, 50))
    pair, networks = of(first, second, off)
    assert [len(chain) for chain in networks] == [len(HIDDEN)] * 2
    lower, upper = drawn(rng, 5)
    better = Reached(pair, *unknown(pair, lower, upper), chains=networks)
    assert not better.empty.any()
    for b in range(5):
        for point in points(rng, lower[:, b], upper[:, b]):
            values = quantities(moved(rng, first, off), moved(rng, second, off), point, pair)
            for low, value, high in zip(better.low[:, b], values, better.high[:, b], strict=True):
                assert Fraction(low) <= value <= Fraction(high)


def test_deep_networks_have_tighter_bounds_by_themselves() -> None:
    narrower = 0
    for seed in range(10):
        rng = np.random.default_rng(400 + seed)
        first = [(weight, bias / 1000) for weight, bias in deep(rng, 3.0, [12, 12, 12, 12])]
        pair, networks = of(first, moved(rng, first, Fraction(1, 100)))
        box = unknown(pair, -np.ones((3, 1)) / 2, np.ones((3, 1)) / 2)
        plain, better = Reached(pair, *box), Reached(pair, *box, chains=networks)
        outputs = slice(-3 * pair.widths[-1], None)
        wide, narrow = ((one.high - one.low)[outputs].sum() for one in (plain, better))
        assert narrow < 1.5 * wide
        narrower += narrow < 0.9 * wide
    assert narrower > 0


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_box_is_bounded_the_same_whatever_stands_beside_it(seed: int) -> None:
    """But for rounding; so also beside one that holds nothing, one without ends, and one that is not a number."""
    rng = np.random.default_rng(200 + seed)
    first = deep(rng)
    pair, networks = of(first, moved(rng, first, Fraction(1, 50)))
    low, high = unknown(pair, *drawn(rng, 6))
    low[:3, 3], high[:3, 3] = high[:3, 3] + 1.0, low[:3, 3].copy()
    low[:3, 4], high[:3, 4] = -np.inf, np.inf
    low[0, 5] = high[0, 5] = np.nan
    low[5, 5] = np.nan
    with np.errstate(all="ignore"):
        together = Reached(pair, low, high, bool(seed % 2), networks)
        for b in range(6):
            by_itself = Reached(pair, low[:, [b]], high[:, [b]], bool(seed % 2), networks)
            assert together.empty[b] == by_itself.empty[0]
            if by_itself.empty[0]:
                continue
            for all_, one in ((together.low, by_itself.low), (together.high, by_itself.high)):
                np.testing.assert_allclose(all_[:, b], one[:, 0], rtol=1e-9, atol=1e-9)
    assert together.empty.tolist() == [False, False, False, True, False, False]
    assert np.isfinite(together.low[:, :3]).all()
    assert np.isfinite(together.high[:, :3]).all()
    outputs = slice(-3 * pair.widths[-1], None)
    for ends in (together.low[outputs], together.high[outputs]):
        assert not np.isfinite(ends[:, 4:]).any(), "of what has no ends, or is no number, nothing is known"


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_overflows_bounds_nothing(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    first, second = deep(rng, 1e100), deep(rng, 1e100)
    pair, networks = of(first, second)
    lower, upper = drawn(rng, 4)
    with np.errstate(all="ignore"):
        reached = Reached(pair, *unknown(pair, lower, upper), chains=networks)
    assert not np.isfinite(reached.high).all()
    assert not reached.empty.any()
    for b in range(4):
        for point in points(rng, lower[:, b], upper[:, b]):
            for low, value, high in zip(
                reached.low[:, b], quantities(first, second, point, pair), reached.high[:, b], strict=True
            ):
                assert low < np.inf or np.isnan(low)
                assert high > -np.inf or np.isnan(high)
                assert not np.isfinite(low) or Fraction(low) <= value
                assert not np.isfinite(high) or value <= Fraction(high)


def test_only_matrices_with_relu_behind_them_are_followed() -> None:
    rng = np.random.default_rng(5)
    first = deep(rng)
    pair, networks = of(first, first)
    for number, (layer, (weight, bias)) in enumerate(zip(networks[0], first, strict=False)):
        assert np.array_equal(layer.weights, weight.astype(float)), number
        assert np.array_equal(layer.bias, bias.astype(float))
        assert (layer.off >= np.abs((weight - rational(layer.weights)).astype(float))).all()
    other = pair.steps[1]
    pair.steps[1] = type(other)(other.width, (), (), other.links, other.bias, other.lost, other.terms)
    assert [len(chain) for chain in chains(pair)] == [1, 1]
    pair.steps[1] = type(other)(
        other.width, other.curves, other.others, (*other.links, other.links[0]), other.bias, other.lost, other.terms
    )
    assert [len(chain) for chain in chains(pair)] == [1, 1], "an entry that is a sum of two is not rounded"
