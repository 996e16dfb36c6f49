"""Grids against what is true of every point: sets of all points of an interval, made without a division."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.tasks.lattice import Lattice, on

WHOLE = 12
"""Everything here is a multiple of a twelfth."""
SMALL = st.integers(-48, 48).map(lambda n: Fraction(n, WHOLE))
STEPS = st.integers(1, 40).map(lambda n: Fraction(n, WHOLE))
GRIDS = st.builds(Lattice, SMALL, STEPS)


def listed(grid: Lattice, low: Fraction, high: Fraction) -> list[Fraction]:
    """The points between two numbers, both of them twelfths and at most 160 from 0, in order."""
    origin, step = int(grid.origin * WHOLE), int(grid.step * WHOLE)
    first, last = int(low * WHOLE), int(high * WHOLE)
    found = range(origin - 2000 * step, origin + 2000 * step, step)
    return [Fraction(n, WHOLE) for n in found if first <= n <= last]


@given(GRIDS, SMALL, SMALL)
def test_a_box_is_rounded_inward_and_loses_no_point(grid: Lattice, low: Fraction, high: Fraction) -> None:
    points = listed(grid, low, high)
    first, last = grid.at_least(low), grid.at_most(high)
    assert listed(grid, first, last) == points
    assert grid.points(low, high) == len(points)
    if points:
        assert (first, last) == (points[0], points[-1])
    elif low <= high:
        assert first > last


@given(GRIDS, SMALL)
def test_the_nearest_point_is_as_near_as_any(grid: Lattice, x: Fraction) -> None:
    near = grid.nearest(x)
    assert near in grid
    assert abs(near - x) == min(abs(p - x) for p in listed(grid, x - grid.step, x + grid.step))


@given(GRIDS, SMALL)
def test_the_points_of_a_grid_are_those_a_whole_number_of_steps_from_its_origin(grid: Lattice, x: Fraction) -> None:
    assert (x in grid) == (x in listed(grid, x, x))
    assert all(p in grid for p in listed(grid, Fraction(-1), Fraction(1)))


@given(GRIDS, GRIDS)
def test_two_grids_meet_where_both_have_a_point(one: Lattice, other: Lattice) -> None:
    """Within 40 of 0 there are several points of every grid that two of these may meet in, or else none."""
    low, high = Fraction(-40), Fraction(40)
    both = sorted({*listed(one, low, high)} & {*listed(other, low, high)})
    met = one.meet(other)
    assert met == other.meet(one)
    assert both == ([] if met is None else listed(met, low, high))
    if met is None:
        period = one.step * other.step * WHOLE  # after so much both repeat
        assert not {*listed(one, Fraction(0), period)} & {*listed(other, Fraction(0), period)}


@given(GRIDS, st.integers(-5, 5))
def test_equal_grids_are_equal(grid: Lattice, turns: int) -> None:
    assert Lattice(grid.origin + turns * grid.step, grid.step) == grid
    assert 0 <= grid.origin < grid.step


@given(GRIDS, SMALL, SMALL.filter(bool), SMALL)
def test_a_grid_in_other_units(grid: Lattice, centre: Fraction, scale: Fraction, x: Fraction) -> None:
    assert ((x - centre) / scale in grid.scaled(centre, scale)) == (x in grid)


def test_huge_numbers() -> None:
    grid = Lattice(Fraction(1, 10**300), Fraction(1, 3**200))
    assert grid.nearest(Fraction(10**200)) in grid
    met = grid.meet(Lattice(Fraction(1, 10**300), Fraction(1, 2**200)))
    assert met == Lattice(Fraction(1, 10**300), Fraction(1))


@pytest.mark.parametrize("step", [Fraction(0), Fraction(-1)])
def test_a_step_is_above_zero(step: Fraction) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Lattice(Fraction(0), step)


def test_a_point_is_on_all_grids() -> None:
    grids = (Lattice(Fraction(0), Fraction(1, 2)), None)
    assert on(grids, [Fraction(3, 2), Fraction(1, 3)])
    assert not on(grids, [Fraction(1, 3), Fraction(3, 2)])
    assert on((), [Fraction(1, 3)])
