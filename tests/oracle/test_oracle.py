"""The oracle itself, against other ways to the same numbers: brute force, mixed-integer programs, samples and grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.property import Norm
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from oracle.decide import Oracle
from oracle.evaluate import outputs
from oracle.pairs import Pair, make
from oracle.pieces import Layers
from oracle.polytope import Polytope, Row, coordinates, multiply
from oracle.program import TwinProgram
from oracle.queries import CLAIMS, Claim, known, oracle_of, query
from oracle.record import read, write
from oracle.search import contradiction, is_witness
from oracle.softmax import Summit

ZERO, ONE = Fraction(0), Fraction(1)
SEEDS = range(40)


def solve(rows: Sequence[Row]) -> tuple[Fraction, ...] | None:
    """The one point where the functionals vanish, by Gauss and Jordan; None if there is none or more than one."""
    table = [[Fraction(a) for a in row] for row in rows]
    size = len(table)
    for column in range(size):
        pivot = next((r for r in range(column, size) if table[r][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [a / table[column][column] for a in table[column]]
        for other in range(size):
            if other != column:
                factor = table[other][column]
                table[other] = [a - factor * b for a, b in zip(table[other], table[column], strict=True)]
    return tuple(-row[-1] for row in table)


@pytest.mark.part(20)
@pytest.mark.parametrize("seed", range(60))
def test_cutting_leaves_the_vertices_that_brute_force_finds(seed: int) -> None:
    """Small coefficients, so that cuts run through vertices and along faces; some leave a flat polytope or nothing."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    lower = [Fraction(int(a)) for a in rng.integers(-2, 1, size)]
    upper = [low + int(w) for low, w in zip(lower, rng.integers(0, 4, size), strict=True)]
    cuts: list[Row] = [tuple(int(a) for a in rng.integers(-2, 3, size + 1)) for _ in range(int(rng.integers(0, 6)))]
    polytope = Polytope.box(lower, upper)
    for cut in cuts:
        polytope = polytope.cut(cut)
    walls: list[Row] = [*cuts]
    for index in range(size):
        unit = [int(index == at) for at in range(size)]
        walls += [(*unit, -int(lower[index])), (*(-a for a in unit), int(upper[index]))]
    found = {point for rows in combinations(walls, size) if (point := solve(rows)) is not None}
    inside = {x for x in found if all(sum(a * c for a, c in zip(w, (*x, ONE), strict=True)) >= 0 for w in walls)}
    assert {coordinates(point) for point in polytope.points} == inside
    assert len(polytope.points) == len(inside)


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_evaluate_as_the_networks_do(seed: int) -> None:
    """At every vertex and in the middle of every piece."""
    pair, oracle = known(seed)
    for piece in oracle.pieces:
        points = piece.polytope.points
        middle = [sum(x) / len(points) for x in zip(*map(coordinates, points), strict=True)]
        for network, rows in ((pair.reference, piece.reference), (pair.candidate, piece.candidate)):
            for point in points:
                values = [Fraction(multiply(row, point), piece.denominator * point[-1]) for row in rows]
                assert values == outputs(network, coordinates(point))
            affine = [sum((Fraction(a) * x for a, x in zip(row, (*middle, ONE), strict=True)), ZERO) for row in rows]
            assert [value / piece.denominator for value in affine] == outputs(network, middle)


def known_with_program(seed: int) -> tuple[Pair, Oracle, TwinProgram]:
    """Without the strict constraints, of which the program knows nothing."""
    pair = make(seed)
    pair = replace(pair, constraints=tuple(replace(c, strict=False) for c in pair.constraints))
    return pair, oracle_of(pair), TwinProgram(pair)


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_greatest_values_are_those_of_a_mixed_integer_program(seed: int) -> None:
    pair, oracle, program = known_with_program(seed)
    rng, size = np.random.default_rng(seed), pair.outputs
    for _ in range(3):
        direction = tuple(Fraction(int(c), 8) for c in rng.integers(-8, 9, 2 * size))
        exact, found = oracle.greatest_value(direction[:size], direction[size:]), program.maximum(direction)
        assert (exact is None) == (found is None)
        if exact is not None:
            values = (*outputs(pair.candidate, exact.point), *outputs(pair.reference, exact.point))
            assert exact.value == sum(c * y for c, y in zip(direction, values, strict=True))
            assert float(exact.value) == pytest.approx(found, abs=1e-5)


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_greatest_distances_are_those_of_a_mixed_integer_program(seed: int) -> None:
    """By duality |d| is the greatest u.d over unit vectors u (linf), sign patterns (l1), vectors of length 1 (l2).

    For l2 no direction may exceed the claimed maximum, and that of its point must reach it.
    """
    pair, oracle, program = known_with_program(seed)
    if not oracle.pieces:
        return
    rng, size = np.random.default_rng(seed), pair.outputs
    units = [s * unit for unit in np.eye(size) for s in (1.0, -1.0)]
    signs = [np.array(pattern) for pattern in product((1.0, -1.0), repeat=size)]
    by_norm: dict[Norm, list[NDArray[np.float64]]] = {"linf": units, "l1": signs, "l2": [*rng.normal(size=(4, size))]}
    for norm, directions in by_norm.items():
        greatest = oracle.greatest_distance(norm)
        assert greatest is not None
        f, g = outputs(pair.reference, greatest.point), outputs(pair.candidate, greatest.point)
        gap = np.array([float(b - a) for a, b in zip(f, g, strict=True)])
        length = float(greatest.value)
        if norm == "l2":
            directions = [u / np.linalg.norm(u) for u in [*directions, *([gap] if gap.any() else [])]]
            length = sqrt(length)
        assert np.linalg.norm(gap, {"linf": np.inf, "l1": 1, "l2": 2}[norm]) == pytest.approx(length)
        maxima = [found for u in directions if (found := program.maximum((*u, *-u))) is not None]
        assert max(maxima) <= length + 1e-5
        if norm != "l2" or gap.any():
            assert max(maxima) >= length - 1e-5


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_greatest_leads_are_those_of_a_mixed_integer_program(seed: int) -> None:
    """max g_j - g_k subject to f_k - f_l >= t, between the oracle's answers for a little more and a little less."""
    pair, oracle, program = known_with_program(seed)
    size, sign = pair.outputs, -1 if pair.decide == "min" else 1
    for margin in (ZERO, Fraction(1, 4)):
        leads = [-inf]
        for k, j in permutations(range(size), 2):
            ahead = [tuple(sign * ((o == k) - (o == other)) for o in range(size)) for other in range(size)]
            guards = [(row, margin) for other, row in enumerate(ahead) if other != k]
            lead = program.maximum((*(-a for a in ahead[j]), *[0] * size), guards)
            leads.append(-inf if lead is None else lead)
        least, most = (oracle.greatest_lead(margin + slack) for slack in (Fraction(1, 10**4), Fraction(-1, 10**4)))
        assert max(leads) >= (least.value - Fraction(1, 10**4) if least else -inf)
        assert max(leads) <= (most.value + Fraction(1, 10**4) if most else -inf)


def affine_values(layers: Layers, points: NDArray[np.float64]) -> NDArray[np.float64]:
    for weight, bias in layers[:-1]:
        points = np.maximum(points @ weight.T + bias, 0.0)
    values: NDArray[np.float64] = points @ layers[-1][0].T + layers[-1][1]
    return values


@pytest.mark.parametrize("seed", SEEDS)
def test_no_sample_disagrees_more_confidently_than_the_oracle_says(seed: int) -> None:
    """And the points it names really disagree, with the margin and the confidence it says (in the closure)."""
    pair, oracle = known(seed)
    sign = -1.0 if pair.decide == "min" else 1.0
    low, high = (np.array([float(x) for x in bounds]) for bounds in (pair.lower, pair.upper))
    points = low + (high - low) * np.random.default_rng(seed).random((4000, len(low)))
    for constraint in pair.constraints:
        points = points[points @ [float(c) for c in constraint.coefficients] < float(constraint.bound) - 1e-9]
    f, g = (sign * affine_values(layers, points) for layers in (pair.reference, pair.candidate))
    at = np.arange(len(points))
    turned = g.max(axis=1, initial=-inf) > g[at, f.argmax(axis=1)] + 1e-9 if len(points) else np.zeros(0, bool)
    f = np.sort(f[turned], axis=1)
    greatest, summit = oracle.greatest_margin, oracle.summit
    assert (greatest is None) == (summit.low is None)
    if len(f):
        assert greatest is not None
        assert summit.high is not None
        assert (f[:, -1] - f[:, -2]).max() <= float(greatest.value) + 1e-9
        assert (f[:, -1] - np.log(np.exp(f[:, :-1]).sum(axis=1))).max() <= float(summit.high) + 1e-9
    if greatest is not None and summit.low is not None and summit.high is not None and summit.point is not None:
        assert summit.high - summit.low <= 2e-9
        for point, of_margin in ((greatest.point, True), (summit.point, False)):
            f_there, g_there = ([int(sign) * y for y in outputs(n, point)] for n in (pair.reference, pair.candidate))
            *others, best = sorted(f_there)
            assert any(y == best and max(g_there[:k] + g_there[k + 1 :]) >= g_there[k] for k, y in enumerate(f_there))
            if of_margin:
                assert best - others[-1] == greatest.value
            else:
                odds = -log(sum(exp(y - best) for y in others))
                assert odds == pytest.approx(float(summit.low), abs=1e-9)


@pytest.mark.part(10)
@pytest.mark.parametrize("seed", range(30))
def test_the_summit_of_a_square_is_that_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-12, 13, (int(rng.integers(2, 5)), 3))
    cut = rng.integers(-3, 4, 3)
    square = Polytope.box([-ONE, -ONE], [ONE, ONE]).cut(tuple(cut.tolist()))
    highest = Summit()
    highest.climb(square, [tuple(row.tolist()) for row in rows], 8, 0)
    axis = np.linspace(-1.0, 1.0, 401)
    grid = np.stack([*np.meshgrid(axis, axis), np.ones((401, 401))], axis=-1).reshape(-1, 3)
    z = grid[grid @ cut >= 1e-12] @ rows.T / 8
    value = (z[:, 0] - np.log(np.exp(z[:, 1:]).sum(axis=1))).max(initial=-inf)
    if highest.low is None or highest.high is None:
        assert value == -inf
        return
    assert value <= highest.high + Fraction(1, 10**9)
    if len(z) > 1000:  # a point of the grid lies within 1/200 in each coordinate of nearly every point
        assert value >= highest.low - Fraction(1, 10)


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_recorded_query_is_the_same_query(seed: int, claim: Claim) -> None:
    asked = query(seed, claim, 0)
    again = read(write(asked))
    assert write(again) == write(asked)
    assert again.claim == asked.claim
    assert again.task().lower.tolist() == asked.task().lower.tolist()


@pytest.mark.parametrize("claim", CLAIMS)
def test_truths_agree_with_samples(claim: Claim) -> None:
    """No sampled input breaks a claim that is said to hold; some break nearly every one that is said to be broken."""
    found = broken = 0
    for seed in range(40):
        asked = query(seed, claim, 1)
        pair = asked.pair
        rng = np.random.default_rng(seed)
        hits = 0
        for _ in range(30):
            shares = [Fraction(int(s), 16) for s in rng.integers(0, 17, len(pair.lower))]
            point = [low + s * (high - low) for low, s, high in zip(pair.lower, shares, pair.upper, strict=True)]
            hits += is_witness(asked, point)
        broken += bool(asked.breaks)
        found += bool(asked.breaks) and hits > 0
        assert not hits or asked.breaks is not False, write(asked)
    assert broken >= 5
    assert found >= 0.1 * broken


def test_every_lie_is_noticed() -> None:
    def lie(verdict: Verdict, **fields: Any) -> Result:
        return Result(id="", check="", parameters={}, verdict=verdict, **fields)

    assert contradiction(lie(Verdict.EQUIVALENT), True, vacuous=None, confirmed=False)
    assert contradiction(lie(Verdict.DIFFERENT), False, vacuous=None, confirmed=True)
    assert contradiction(lie(Verdict.DIFFERENT), True, vacuous=None, confirmed=False)
    assert contradiction(lie(Verdict.EQUIVALENT, vacuous=True), False, vacuous=False, confirmed=False)
    assert contradiction(lie(Verdict.UNKNOWN, certified_fraction=1.5), None, vacuous=None, confirmed=False)
    assert contradiction(lie(Verdict.EQUIVALENT), False, vacuous=None, confirmed=False) is None
    assert contradiction(lie(Verdict.DIFFERENT), True, vacuous=None, confirmed=True) is None
    assert contradiction(lie(Verdict.UNKNOWN), True, vacuous=None, confirmed=False) is None
