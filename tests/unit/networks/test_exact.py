"""Exact evaluation of programs: rationals, and intervals where weights are only known up to errors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eqspec.networks.exact import IntegerStep, IntegerTile
from eqspec.networks.exact_vectors import Vector, to_integers
from eqspec.networks.network import Network
from eqspec.networks.program import Step, Term, Tile
from programs import floats, naive, point, program, with_error, within_errors


@pytest.mark.parametrize("seed", range(60))
def test_it_is_what_fractions_give(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = program(random, steps=int(random.integers(1, 8)))
    at = point(random, 4)
    expected = naive(network, at)
    assert network.evaluate_exact(at) == [(x, x) for x in expected]
    np.testing.assert_allclose(network.evaluate(floats(at)[None])[0], floats(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_errors_widen_it_by_no_more_than_they_must(seed: int) -> None:
    """A product of intervals is as wide as its corners, for every sign of both."""
    random = np.random.default_rng(seed)
    index = random.integers(-1, 3, size=(2, 3, 4)).astype(np.int32)
    weight, error = random.normal(size=(2, 2, 4)), random.uniform(size=(2, 2, 4)) * random.integers(0, 3, (2, 2, 4))
    low = [Fraction(int(n)) for n in random.integers(-4, 4, 3)]
    high = [x + int(n) for x, n in zip(low, random.integers(0, 6, 3), strict=True)]
    ends = [np.array([int(x) for x in end], object) for end in (low, high)]
    given = Vector(ends[0], ends[1], 0, 1)
    found = IntegerTile(Tile(index, weight, error)).apply(given).fractions()
    for row, (lower, upper) in enumerate(found):
        channel, position = divmod(row, 3)
        group, output = divmod(channel, 2)
        least = most = Fraction(0)
        for tap, at in enumerate(index[group, position].tolist()):
            if at >= 0:
                w, e = (Fraction(float(a[group, output, tap])) for a in (weight, error))
                corners = [v * x for v in (w - e, w + e) for x in (low[at], high[at])]
                least, most = least + min(corners), most + max(corners)
        assert (lower, upper) == (least, most)


@pytest.mark.parametrize("seed", range(40))
def test_errors_enclose_every_network_within_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = program(random, errors=True)
    at = point(random, 4)
    enclosed = network.evaluate_exact(at)
    for _ in range(3):
        other = within_errors(random, network.steps)
        exact = naive(Network(other, 4, "within", "0"), at)
        assert all(low <= x <= high for x, (low, high) in zip(exact, enclosed, strict=True))


def test_a_step_without_terms_is_constant() -> None:
    constant = Step((), np.array([2.5, -1.0]))
    last = Step((Term(0, Tile.rearranged(np.array([1, 0, -1]))),), np.zeros(3), function="identity")
    network = Network((constant, last), 1, "f", "0")
    assert network.evaluate_exact([Fraction(1, 3)]) == [(0, 0), (Fraction(5, 2), Fraction(5, 2)), (0, 0)]


def test_integers_are_small() -> None:
    numbers = np.array([0.0, 0.5, -3.0, 2.0**-1074, 0.1])
    (integers,), exponent = to_integers(numbers)
    assert [Fraction(n) * Fraction(2) ** exponent for n in integers] == [Fraction(x) for x in numbers]
    assert to_integers(np.array([0.75, 6.0]))[0][0].tolist() == [3, 24]
    assert to_integers(np.zeros(2)) == ([pytest.approx([0, 0])], 0)


def test_a_bias_with_an_error_is_an_interval() -> None:
    made = with_error(np.random.default_rng(1), Tile.dense(np.eye(1)))
    step = Step((Term(-1, made),), np.ones(1), np.full(1, 0.5), "identity")
    start = Vector.of([Fraction(0)])
    assert IntegerStep(step).sums([start], start.denominator).fractions() == [(Fraction(1, 2), Fraction(3, 2))]
