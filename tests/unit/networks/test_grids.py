"""Grids, intervals and forms of programs with quantisers against all points of small regions, in rationals."""

import random as plain
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import quantised_programs as random_programs
from breadth import some
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.exact_curves import on_interval
from eqspec.networks.grids import Atoms, EmptyRegionError, Grid, Region, analyse
from eqspec.networks.grids.casts import leaving
from eqspec.networks.grids.comparison import differences, equal
from eqspec.networks.grids.simplification import simplified
from eqspec.networks.program import Step, Term, Tile, problems
from eqspec.networks.quantiser import Quantiser, Rounding


def lies_on(x: Fraction, grid: Grid) -> bool:
    if not grid.low <= x <= grid.high:
        return False
    if grid.step is None:
        return True
    return x == grid.origin if grid.step == 0 else (x - grid.origin) % grid.step == 0


def some_points(region: Region, count: int) -> list[tuple[Fraction, ...]]:
    every = list(random_programs.points(region))
    return every if len(every) <= count else plain.Random(0).sample(every, count)


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", range(80))
def test_values_of_lattice_points_lie_on_their_grids(seed: int) -> None:
    random = np.random.default_rng(seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    atoms = Atoms(region)
    found = analyse(steps, atoms)
    for point in some_points(region, 25):
        values = random_programs.values(steps, point)
        for number, (sums, after) in enumerate(values):
            step = found.steps[number]
            for row, (x, y) in enumerate(zip(sums, after, strict=True)):
                assert lies_on(x, step.sums[row]), (number, row, x)
                assert lies_on(y, step.values.taken(np.array([row])).grids(atoms)[0]), (number, row, y)


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", range(80))
def test_values_are_on_their_grids_where_some_inputs_have_none(seed: int) -> None:
    """A sum of an integer and of any real number of an interval is any real number."""
    random = np.random.default_rng(2000 + seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    free = int(random.integers(2))
    lattices = tuple(None if place == free else lattice for place, lattice in enumerate(region.lattices))
    atoms = Atoms(Region(region.lower, region.upper, lattices))
    found = analyse(steps, atoms)
    low, high = region.lower[free], region.upper[free]
    for point in some_points(region, 8):
        share = Fraction(int(random.integers(0, 98)), 97)
        moved = (*point[:free], low + share * (high - low), *point[free + 1 :])
        for number, (sums, after) in enumerate(random_programs.values(steps, moved)):
            step = found.steps[number]
            for row, (x, y) in enumerate(zip(sums, after, strict=True)):
                assert lies_on(x, step.sums[row]), (number, row, x)
                assert lies_on(y, step.values.taken(np.array([row])).grids(atoms)[0]), (number, row, y)


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", range(80))
def test_what_is_known_of_a_function_is_the_function(seed: int) -> None:
    random = np.random.default_rng(1000 + seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    found = analyse(steps, Atoms(region))
    for point in some_points(region, 25):
        for step, (sums, after) in zip(found.steps, random_programs.values(steps, point), strict=True):
            for known, x, y in zip(step.functions or [], sums, after, strict=False):
                if known.affine is not None:
                    assert y == known.affine[0] * x + known.affine[1]
                if known.bent is not None:
                    assert y == known.bent(x)
                if known.quantiser is not None:
                    assert y == on_interval(known.quantiser.curve, (x, x))[0]


def test_a_region_without_a_point() -> None:
    lattice = (Fraction(0), Fraction(1))
    with pytest.raises(EmptyRegionError, match="input 1"):
        Atoms(Region((Fraction(0), Fraction(1, 4)), (Fraction(1), Fraction(3, 4)), (None, lattice)))


def same(first: tuple[Step, ...], second: tuple[Step, ...], region: Region) -> bool:
    atoms = Atoms(region)
    one, two = analyse(first, atoms), analyse(second, atoms)
    found = equal(one.outputs, two.outputs)
    assert found == all(
        d == Grid(Fraction(0), Fraction(0), Fraction(0)) for d in differences(one.outputs, two.outputs, atoms)
    )
    return found


@pytest.mark.part(30)
@pytest.mark.parametrize("seed", range(100))
def test_programs_that_are_found_equal_are_equal_everywhere(seed: int) -> None:
    random = np.random.default_rng(seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    other = random_programs.changed(random, steps)
    atoms = Atoms(region)
    one, two = analyse(steps, atoms), analyse(other, atoms)
    ranges = differences(one.outputs, two.outputs, atoms)
    for point in some_points(region, 30):
        pairs = zip(random_programs.outputs(steps, point), random_programs.outputs(other, point), strict=True)
        for (x, y), known in zip(pairs, ranges, strict=True):
            assert lies_on(x - y, known)


@pytest.mark.part(35)
@pytest.mark.parametrize("seed", range(100))
def test_programs_written_otherwise_are_found_equal(seed: int) -> None:
    random = np.random.default_rng(seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    other = random_programs.written_otherwise(random, steps)
    for point in some_points(region, 3):
        assert random_programs.outputs(steps, point) == random_programs.outputs(other, point)
    assert same(steps, other, region)


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(120))
def test_simplified_programs_are_the_same_on_the_region(seed: int) -> None:
    random = np.random.default_rng(seed)
    region, steps = random_programs.region(random), random_programs.program(random)
    if seed % 2:
        steps = random_programs.written_otherwise(random, steps)
    simple = simplified(steps, analyse(steps, Atoms(region)))
    assert not list(problems(simple, 2))
    assert len(simple) <= len(steps)
    for point in some_points(region, 20):
        assert random_programs.outputs(steps, point) == random_programs.outputs(simple, point)


def test_casts_that_change_nothing_are_gone() -> None:
    """Products and sums in wide types, as firmware has them, become the one step that they are."""
    wide, narrow = (Quantiser(2.0**-8, -(2**k), 2**k - 1, Rounding.FLOOR, wraps=True).curve for k in (17, 7))
    kept = Quantiser(0.25, 0, 7).curve
    weights = np.array([[0.5, -1.25], [2.0, 0.75], [-3.0, 0.25]])

    def firmware(accumulator: Curve) -> tuple[Step, ...]:
        index, taps = np.array([[[0], [0], [0], [1], [1], [1]]], np.int32), weights.T.reshape(-1)
        products = Tile(index.reshape(6, 1, 1), taps.reshape(6, 1, 1))
        added = Tile(np.array([[[r, r + 3] for r in range(3)]], np.int32), np.ones((1, 1, 2)))
        return (
            Step((Term(-1, products),), np.zeros(6), None, Curves.all(accumulator)),
            Step((Term(0, added),), np.array([0.5, 0.0, -1.0]), None, Curves.all(accumulator)),
            Step((Term(1, Tile.dense(np.eye(3))),), np.zeros(3), None, Curves.all(kept)),
            Step((Term(2, Tile.dense(np.ones((1, 3)))),), np.zeros(1), None, "identity"),
        )

    trained = (
        Step((Term(-1, Tile.dense(weights)),), np.array([0.5, 0.0, -1.0]), None, Curves.all(kept)),
        Step((Term(0, Tile.dense(np.ones((1, 3)))),), np.zeros(1), None, "identity"),
    )
    inputs = (Fraction(0), Fraction(1, 64))
    region = Region((Fraction(-8),) * 2, (Fraction(8),) * 2, (inputs, inputs))
    assert same(firmware(wide), trained, region)
    assert not same(firmware(narrow), trained, region)
    simple = simplified(firmware(wide), analyse(firmware(wide), Atoms(region)))
    assert [step.rows for step in simple] == [3, 1]
    assert (simple[0].terms[0].tile.matrix(2) == weights).all()
    assert leaving(firmware(wide), analyse(firmware(wide), Atoms(region)), wraps=True) == []
    assert {one.step for one in leaving(firmware(narrow), analyse(firmware(narrow), Atoms(region)), wraps=True)} == {
        0,
        1,
    }


def one_quantiser(q: Quantiser, weight: float, bias: float) -> tuple[Step, ...]:
    first = Step((Term(-1, Tile.dense(np.array([[weight]]))),), np.array([bias]), None, Curves.all(q.curve))
    return first, Step((Term(0, Tile.dense(np.eye(1))),), np.zeros(1), None, "identity")


def test_quantisers_are_found_equal_only_where_they_are() -> None:
    """Pairs of quantisers of one sum: all roundings, fine and coarse lattices, and all real numbers."""
    random = np.random.default_rng(0)
    tiny, found, tried = Fraction(1, 1 << 20), 0, some(range(1200), 400)
    for _ in tried:
        q = random_programs.quantiser(random)
        rounding = q.rounding if random.integers(3) else Rounding(int(random.integers(9)))
        if random.integers(4) == 0:
            q, rounding = replace(q, rounding=Rounding.AWAY, low=0), Rounding.FLOOR
        if random.integers(4) == 0:
            q, rounding = replace(q, rounding=Rounding.HALF_EVEN), Rounding.HALF_EVEN
        other = replace(q, rounding=rounding, wraps=bool(random.integers(2)))
        if random.integers(2):
            by = int(random.integers(-3, 4))
            other = replace(other, zero=q.zero + by, low=q.low + by, high=q.high + by, base=(q.base or q.zero) + by)
            q = replace(q, base=q.base or q.zero)
        weight, bias = float(random.choice([1.0, -1.0, 0.5])), float(random.choice([0.0, 0.5, -0.25]))
        low = Fraction(int(random.integers(-16, 12)), 4)
        high = low + Fraction(int(random.integers(1, 20)), 4)
        step = Fraction(1, int(random.choice([1, 2, 3, 4, 8])))
        lattice = None if random.integers(3) == 0 else (Fraction(int(random.integers(0, 4)), 8), step)
        region = Region((low,), (high,), (lattice,))
        try:
            alike = same(one_quantiser(q, weight, bias), one_quantiser(other, weight, bias), region)
        except EmptyRegionError:
            continue
        if lattice is None:
            near = [Fraction(k, 16) + side for k in range(-64, 129) for side in (-tiny, Fraction(0), tiny)]
            points = [x for x in near if low <= x <= high]
        else:
            points = [x for (x,) in random_programs.points(region)]
        if alike and q.curve != other.curve:
            found += 1
            for x in points:
                one, two = (random_programs.outputs(one_quantiser(p, weight, bias), (x,)) for p in (q, other))
                assert one == two, (q, other, weight, bias, region, x)
    assert found > len(tried) / 12
