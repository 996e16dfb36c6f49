"""Cells of regions against values in rationals: every point has the values of its cell; floats within their errors."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import programs
import quantised_programs as random_programs
from eqspec.networks.cells import Cells, CertainProgram, InputStep, Values, cut, find
from eqspec.networks.cells.certain_values import Watch
from eqspec.networks.cells.cutting import threshold
from eqspec.networks.curves import Curves, leaky
from eqspec.networks.grain import grain
from eqspec.networks.grids import Region
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding, rounded

Point = tuple[Fraction, ...]


def quantised_inputs(random: np.random.Generator, inputs: int) -> Step:
    """A step that quantises each input, in any order, some of them twice."""
    order = np.concatenate([random.permutation(inputs), random.integers(inputs, size=1)])
    tile = Tile(
        order.reshape(-1, 1, 1).astype(np.int32), random.choice([1.0, -1.0, 0.5, -2.0], size=(len(order), 1, 1))
    )
    curves = Curves.of_rows([random_programs.quantiser(random).curve for _ in order])
    return Step((Term(-1, tile),), random.choice([0.0, 0.25, -1.0], size=len(order)), None, curves)


def finite_program(random: np.random.Generator) -> tuple[Step, ...]:
    first = quantised_inputs(random, 2)
    rest = random_programs.program(random, inputs=first.rows, steps=3)
    moved = [Step(tuple(Term(t.source + 1, t.tile) for t in s.terms), s.bias, None, s.function) for s in rest]
    return (first, *moved)


def points_of(random: np.random.Generator, region: Region) -> list[Point]:
    found = []
    for _ in range(20):
        shares = [Fraction(int(random.integers(0, 65)), 64) for _ in region.lower]
        found.append(tuple(low + s * (up - low) for low, up, s in zip(region.lower, region.upper, shares, strict=True)))
    return found


def at(step: InputStep, x: Fraction) -> Fraction:
    return random_programs.applied(Curves.all(step.line.curve), 0, step.line.factor * x + step.line.offset)


@pytest.mark.part(20)
@pytest.mark.parametrize("seed", range(50))
def test_a_point_has_the_values_of_its_cell(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps, lattices = finite_program(random), bool(random.integers(2))
    region = random_programs.region(random, lattices=lattices)
    found = find(steps, 2)
    assert not found.read.any()
    cells = cut(region, [found], 1 << 20)
    assert isinstance(cells, Cells)
    points = list(random_programs.points(region)) if lattices else points_of(random, region)
    for place in range(2):
        for x in cells.numbers[place]:
            assert region.lower[place] <= x <= region.upper[place]
    values = {}
    for place in range(2):
        here = [s for s in found.found if s.place == place]
        for x in cells.numbers[place]:
            levels = tuple(at(s, x) for s in here)
            values[place, levels] = x
    for point in points[:60]:
        stands = []
        for place, x in enumerate(point):
            here = [s for s in found.found if s.place == place]
            levels = tuple(at(s, x) for s in here)
            stands.append(values[place, levels])
        assert random_programs.outputs(steps, point) == random_programs.outputs(steps, tuple(stands))


@pytest.mark.parametrize("rounding", list(Rounding))
def test_thresholds(rounding: Rounding) -> None:
    tiny = Fraction(1, 10**9)
    for level in range(-4, 4):
        at, below = threshold(level, rounding)
        assert rounded(at - tiny, rounding) <= level
        assert rounded(at + tiny, rounding) >= level + 1
        assert rounded(at, rounding) == (level if below else level + 1)


def test_inputs_that_are_read_as_they_are() -> None:
    q = Curves.all(Quantiser(1.0, -2, 2).curve)
    one = Step((Term(-1, Tile.dense(np.array([[1.0, 0.0], [0.0, 1.0]]))),), np.zeros(2), None, q)
    mixed = Step((Term(-1, Tile.dense(np.array([[1.0, 1.0], [0.0, 1.0]]))),), np.zeros(2), None, q)
    bent = Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, Curves.of_rows([leaky(0.1), q.kinds[0]]))
    last = Step((Term(0, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity")
    direct = Step(
        (Term(0, Tile.dense(np.eye(2))), Term(-1, Tile.rearranged(np.array([-1, 1])))), np.zeros(2), None, "identity"
    )
    for steps, read in (
        ((one, last), [0, 0]),
        ((mixed, last), [1, 1]),
        ((bent, last), [1, 0]),
        ((one, direct), [0, 1]),
    ):
        assert find(steps, 2).read.tolist() == read, read
    error = Tile(np.arange(2, dtype=np.int32).reshape(1, 2, 1), np.ones((1, 1, 1)), np.full((1, 1, 1), 1e-9))
    assert find((Step((Term(-1, error),), np.zeros(2), None, q), last), 2).read.all()


def test_a_region_with_infinitely_many_cells_and_one_with_too_many() -> None:
    q = Curves.all(Quantiser(1.0, -(2**40), 2**40).curve)
    steps = (
        Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, q),
        Step((Term(0, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity"),
    )
    size = Fraction(10**9)
    wide = Region((-size, -size), (size, size))
    assert cut(wide, [find(steps, 2)], 1 << 16) == (2 * 10**9 + 1) ** 2
    linear = (Step((Term(-1, Tile.dense(np.eye(2))),), np.zeros(2), None, "identity"),)
    assert cut(wide, [find(linear, 2)], 1 << 16) is None


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(120))
def test_values_lie_within_their_errors(seed: int) -> None:
    random = np.random.default_rng(seed)
    if seed % 3 == 0:
        network = programs.program(random, inputs=2, errors=bool(seed % 2))
        steps = network.steps
    else:
        steps = random_programs.program(random)
    short = seed % 3 == 1
    inputs = random.choice([0.125, 0.5, -0.75, 3.0] if short else [0.125, 1.1, 3.0, 1 / 3], size=(2, 12))
    values, unsure = CertainProgram(steps)(Values(inputs, None, grain(inputs)), {})
    low, high = values.ends()
    for k in np.flatnonzero(~unsure).tolist():
        point = tuple(Fraction(x) for x in inputs[:, k].tolist())
        exact = random_programs.outputs(steps, point)
        for row, x in enumerate(exact):
            assert Fraction(float(low[row, k])) <= x <= Fraction(float(high[row, k]))
    if short:
        assert not unsure.all()


def in_quarters(step: Step) -> Step:
    """With weights and biases that are multiples of 1/4, and errors as before."""
    terms = [
        replace(t, tile=Tile(t.tile.index, np.round(4 * t.tile.weight) / 4, t.tile.weight_error)) for t in step.terms
    ]
    return Step(tuple(terms), np.round(4 * step.bias) / 4, step.bias_error, step.function)


@pytest.mark.parametrize("seed", range(30))
def test_values_of_every_network_within_its_errors_lie_within_theirs(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps = programs.program(random, inputs=2, errors=True).steps
    if seed % 2:  # nothing is rounded in sums of these, and the errors are all there is
        steps = tuple(map(in_quarters, steps))
    inputs = random.choice([0.125, 0.5, -0.75, 3.0], size=(2, 6))
    values, unsure = CertainProgram(steps)(Values(inputs, None, grain(inputs)), {})
    assert not unsure.any()
    low, high = values.ends()
    for _ in range(3):
        other = programs.within_errors(random, steps)
        for k in range(inputs.shape[1]):
            exact = random_programs.outputs(other, tuple(Fraction(x) for x in inputs[:, k].tolist()))
            for row, x in enumerate(exact):
                assert Fraction(float(low[row, k])) <= x <= Fraction(float(high[row, k]))


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("wraps", [False, True])
def test_no_level_that_leaves_its_type_is_overlooked(rounding: Rounding, wraps: bool) -> None:
    """Also where the number lies at the threshold behind the last level, or next to it."""
    quantiser = Quantiser(0.75, -3, 3, rounding, wraps=wraps)
    places = [Fraction(3 * k, 8) for k in range(-12, 13)]
    inputs = np.array([[x for at in map(float, places) for x in (np.nextafter(at, -9), at, np.nextafter(at, 9))]])
    steps = (Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(quantiser.curve)),)
    watch = Watch(wraps, np.zeros(inputs.shape[1], bool))
    CertainProgram(steps)(Values(inputs, None, grain(inputs)), {}, watch)
    left = [abs(rounded(Fraction(x) / Fraction(0.75), rounding)) > 3 for x in inputs[0].tolist()]
    assert any(left)
    assert not all(left)
    assert not (np.array(left) & ~watch.outside).any()
    assert not watch.outside[np.abs(inputs[0]) <= 2.2].any()


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(150))
def test_every_combination_of_levels_has_a_cell(seed: int) -> None:
    """Several steps of one input, whose thresholds often lie at one place and belong to either side."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 4))
    curves = [replace(random_programs.quantiser(random), scale=float(random.choice([1.0, 0.5]))) for _ in range(count)]
    tile = Tile(np.zeros((count, 1, 1), np.int32), random.choice([1.0, -1.0, 0.5, -0.5], size=(count, 1, 1)))
    first = Step((Term(-1, tile),), np.zeros(count), None, Curves.of_rows([q.curve for q in curves]))
    last = Step((Term(0, Tile.dense(np.eye(count))),), np.zeros(count), None, "identity")
    found = find((first, last), 1)
    region = Region((Fraction(int(random.integers(-12, 0)), 4),), (Fraction(int(random.integers(1, 12)), 4),))
    cells = cut(region, [found], 1 << 16)
    assert isinstance(cells, Cells)
    there = {tuple(at(step, x) for step in found.found) for x in cells.numbers[0]}
    tiny = Fraction(1, 10**6)
    near = [Fraction(k, 8) + side for k in range(-24, 25) for side in (-tiny, Fraction(0), tiny)]
    met = {tuple(at(step, x) for step in found.found) for x in near if region.lower[0] <= x <= region.upper[0]}
    assert there == met


@pytest.mark.parametrize("exponent", [-20, -40, -70])
def test_narrow_cells_have_numbers_of_their_own(exponent: int) -> None:
    """Cells between which float32, or binary64, has no number."""
    scale = 2.0**exponent
    curve = Curves.all(Quantiser(scale, -1000, 1000, Rounding.FLOOR, -1000 * 2.0**-exponent).curve)
    step = Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, curve)
    found = find((step, Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")), 1)
    region = Region((Fraction(1000),), (1000 + 8 * Fraction(scale),))
    cells = cut(region, [found], 100)
    assert isinstance(cells, Cells)
    levels = [(x - 1000) // Fraction(scale) for x in cells.numbers[0]]
    assert levels == list(range(9))


@pytest.mark.parametrize("rounding", [Rounding.FLOOR, Rounding.CEIL, Rounding.HALF_EVEN, Rounding.AWAY])
def test_levels_next_to_thresholds_that_division_rounds_to(rounding: Rounding) -> None:
    scale = random_programs.TENTH
    ties = [k * scale / 2 for k in range(-40, 41)]
    inputs = np.array([[x for tie in ties for x in (np.nextafter(tie, -9), tie, np.nextafter(tie, 9))]])
    curve = Curves.all(Quantiser(scale, -100, 100, rounding, 0.25).curve)
    shifted = inputs - 0.25 * scale
    steps = (
        Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, curve),
        Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity"),
    )
    values, unsure = CertainProgram(steps)(Values(shifted, None, grain(shifted)), {})
    assert not unsure.any()
    low, high = values.ends()
    for k, x in enumerate(shifted[0].tolist()):
        (exact,) = random_programs.outputs(steps, (Fraction(x),))
        assert Fraction(float(low[0, k])) <= exact <= Fraction(float(high[0, k]))


@pytest.mark.parametrize("lattice", [None, (Fraction(0), Fraction(1, 2))])
def test_what_saturates_is_a_cell_of_its_own_where_that_is_asked(lattice: tuple[Fraction, Fraction] | None) -> None:
    """The lowest level and all that is cut off to it have one value, and one of them leaves its type."""
    q = Quantiser(1.0, -2, 2)
    step = Step((Term(-1, Tile.dense(np.eye(1))),), np.zeros(1), None, Curves.all(q.curve))
    found = find([step, Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")], 1)
    region = Region((Fraction(-9),), (Fraction(9),), (lattice,))
    plain, apart = cut(region, [found], 100), cut(region, [found], 100, outside=True)
    assert isinstance(plain, Cells)
    assert isinstance(apart, Cells)
    assert (plain.count, apart.count) == (5, 7)
    levels = sorted(rounded(apart.point([k])[0], q.rounding) for k in range(7))
    assert levels[0] < -2
    assert levels[-1] > 2
