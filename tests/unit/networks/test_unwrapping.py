"""Quantised programs as a search bounds them: the same numbers in the box, in fewer functions that saturate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

import quantised_programs as random_programs
from eqspec.networks.curves import Curves, leaky
from eqspec.networks.network import Network
from eqspec.networks.program import Function, Step, Term, Tile, problems
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.networks.unwrapping import saturating, within_types
from eqspec.property import Epsilon
from eqspec.run import core
from eqspec.run.lowering import lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from small_tasks import task

Point = tuple[Fraction, ...]


def network(*steps: Step, inputs: int = 2) -> Network:
    """The steps, and the outputs of the last of them."""
    if steps[-1].function != "identity":
        steps = (*steps, behind(len(steps) - 1, steps[-1].rows, "identity"))
    return Network(steps, inputs, "memory", "0")


def dense(source: int, weight: ArrayLike, function: Function) -> Step:
    matrix = np.array(weight, np.float64)
    return Step((Term(source, Tile.dense(matrix)),), np.zeros(len(matrix)), None, function)


def behind(source: int, rows: int, function: Function) -> Step:
    return Step((Term(source, Tile.rearranged(np.arange(rows))),), np.zeros(rows), None, function)


def fixed(bits: int, whole: int, *, wraps: bool = True) -> Quantiser:
    """ap_fixed<bits, whole>, rounded down."""
    return Quantiser(2.0 ** (whole - bits), -(1 << bits - 1), (1 << bits - 1) - 1, Rounding.FLOOR, wraps=wraps)


def in_box(given: Network, low: Point, high: Point) -> Network:
    return saturating(given, within_types(given.steps, (low, high)))


def some_points(random: np.random.Generator, low: Point, high: Point, count: int) -> list[Point]:
    """Points of a box, some of its corners among them, of few digits so that they meet thresholds."""
    shares = random.integers(0, 9, (count, len(low)))
    return [tuple(a + (b - a) * Fraction(int(s), 8) for a, b, s in zip(low, high, row, strict=True)) for row in shares]


@pytest.mark.part(35)
@pytest.mark.parametrize("seed", range(100))
def test_programs_are_the_same_in_the_box(seed: int) -> None:
    """Random programs of all quantisers, half of them with a chain of functions of the same rows at the end."""
    random = np.random.default_rng(seed)
    steps = list(random_programs.program(random))
    if seed % 2:
        scale = random.choice([0.25, 0.5, 1.0])
        steps[-1] = Step(steps[-1].terms, steps[-1].bias, None, Curves.all(_on_a_grid(random, scale).curve))
        for _ in range(int(random.integers(1, 4))):
            rows = steps[-1].rows
            curve = leaky(0.0) if random.integers(2) else _on_a_grid(random, scale).curve
            steps.append(behind(len(steps) - 1, rows, Curves.all(curve) if random.integers(3) else "relu"))
    given = network(*steps)
    low = tuple(Fraction(int(random.integers(-8, 5)), 4) for _ in range(2))
    high = tuple(a + Fraction(int(random.integers(0, 12)), 4) for a in low)
    made = in_box(given, low, high)
    assert not list(problems(made.steps, 2))
    assert len(made.steps) <= len(given.steps)
    for point in some_points(random, low, high, 25):
        assert random_programs.outputs(made.steps, point) == random_programs.outputs(given.steps, point)


def _on_a_grid(random: np.random.Generator, scale: float) -> Quantiser:
    low = int(random.integers(-8, 3))
    zero, unit = float(random.integers(-2, 3)), float(random.choice([scale, scale, 0.5]))
    high, wraps = low + int(random.integers(0, 12)), bool(random.integers(2))
    return Quantiser(
        scale, low, high, Rounding(int(random.integers(9))), zero, wraps, unit, float(random.integers(-1, 2))
    )


def test_a_layer_of_fixed_point_has_one_function_where_nothing_wraps() -> None:
    """Its sum and what its ReLU gives are assigned to types: one quantiser from 0 on, in a box that is small enough."""
    steps = (
        dense(-1, [[1.0, -2.0], [0.5, 0.25]], Curves.all(fixed(6, 3).curve)),
        behind(0, 2, "relu"),
        behind(1, 2, Curves.all(fixed(5, 3).curve)),
        dense(2, [[1.0, 1.0]], "identity"),
    )
    given = network(*steps)
    wide, narrow = (tuple(Fraction(k * side, 2) for _ in range(2)) for k, side in ((4, 1), (2, 1)))
    small = in_box(given, tuple(-x for x in narrow), narrow)
    # The last assignment has another step, so it rounds.
    assert [step.rows for step in small.steps] == [2, 2, 1]
    first = small.steps[0].function
    assert isinstance(first, Curves)
    assert first == Curves.all(Quantiser(0.125, 0, 31, Rounding.FLOOR).curve)
    # x - 2 y reaches 6 in the wider box, of which the type has 3.875; the other row never leaves it.
    large = in_box(given, tuple(-x for x in wide), wide)
    function = large.steps[0].function
    assert isinstance(function, Curves)
    assert [Quantiser.of(function.at(row)).wraps for row in (0, 1)] == [True, False]
    assert len(large.steps) == 4


def test_an_end_of_the_type_decides() -> None:
    """2^-3 below 4 is the largest level; 4 itself wraps."""
    given = network(dense(-1, [[1.0]], Curves.all(fixed(6, 3).curve)), inputs=1)
    fits = in_box(given, (Fraction(-4),), (Fraction(399, 100),))
    assert fits.steps[0].function == Curves.all(fixed(6, 3, wraps=False).curve)
    for low, high in ((Fraction(-4), Fraction(4)), (Fraction(-401, 100), Fraction(0))):
        assert in_box(given, (low,), (high,)) is given


def test_networks_without_quantisers_stay_what_they_are() -> None:
    given = network(dense(-1, [[1.0, 2.0]], "relu"), behind(0, 1, "relu"))
    assert in_box(given, (Fraction(-1),) * 2, (Fraction(1),) * 2) is given


def test_what_several_steps_read_is_left_alone() -> None:
    q = Curves.all(fixed(6, 3, wraps=False).curve)
    both = Step(tuple(Term(source, Tile.dense(np.eye(2))) for source in (0, 1)), np.zeros(2), None, "identity")
    given = network(dense(-1, [[1.0, -2.0], [0.5, 0.25]], q), behind(0, 2, "relu"), both)
    assert in_box(given, (Fraction(-1),) * 2, (Fraction(1),) * 2) is given


def test_each_box_has_its_own_pair() -> None:
    """A pair that holds in a small box is not used for a larger one, in which the type is left."""
    pairs = Pairs()
    q = network(dense(-1, [[1.0, 1.0]], Curves.all(fixed(6, 3).curve)), behind(0, 1, "relu"))
    float_one = network(dense(-1, [[1.0, 1.0]], "relu"))
    small, same, large = (
        task(float_one, q, Epsilon(1), [-k] * 2, [k] * 2, id=f"{k}") for k in (Fraction(1), Fraction(1, 2), Fraction(8))
    )
    made = pairs.of(small, matched=True)
    assert pairs.of(same, matched=True) is made
    assert pairs.of(large, matched=True) is not made
    assert pairs.of(small) is not made


def test_a_float_layer_beside_its_fixed_point_is_close_at_once() -> None:
    """Types that wrap: the first bound is what rounding may do to every layer, not what the outputs range over."""
    random = np.random.default_rng(0)
    first, second, third = (random.integers(-32, 33, shape) / 64 for shape in ((12, 6), (12, 12), (2, 12)))
    q = Curves.all(fixed(12, 4).curve)
    floats = network(dense(-1, first, "relu"), dense(0, second, "relu"), dense(1, third, "identity"), inputs=6)
    rounds = (
        dense(-1, first, q), behind(0, 12, "relu"), dense(1, second, q), behind(2, 12, "relu"), dense(3, third, q),
    )  # fmt: skip
    given = task(floats, network(*rounds, inputs=6), Epsilon("0.0001"), [Fraction(-1, 2)] * 6, [Fraction(1, 2)] * 6)
    bounds = []
    for matched in (True, False):
        pair, settings = Pairs().of(given, matched=matched), Options(boxes=1).settings(given)
        solution = core.solve(pair, given.lower, given.upper, lower_property(given.property, 2), settings)
        bounds.append(solution.initial_bound)
    step = 2.0**-8
    most = step * (1 + np.abs(third).sum(axis=1) + (np.abs(third) @ np.abs(second)).sum(axis=1)).max()
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[0] < 1.5 * most < bounds[1] / 2
