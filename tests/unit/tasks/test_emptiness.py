"""Whether constraints leave a point of a grid: against all its points."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.tasks.emptiness import empty, off_grid
from eqspec.tasks.lattice import Lattice, Lattices
from eqspec.tasks.task import LinearConstraint

F = Fraction
NONE, ALL = [False], [False]


@dataclass(frozen=True)
class Cut:
    lower_exact: tuple[F, ...]
    upper_exact: tuple[F, ...]
    constraints: tuple[LinearConstraint, ...]
    lattices: Lattices

    @property
    def lower(self) -> NDArray[np.float64]:
        return np.array([float(x) for x in self.lower_exact])

    @property
    def upper(self) -> NDArray[np.float64]:
        return np.array([float(x) for x in self.upper_exact])


def inhabited(cut: Cut) -> bool:
    """Whether a point of the grid meets all constraints, at an input without a grid one of five numbers."""
    axes = []
    for grid, low, high in zip(cut.lattices, cut.lower_exact, cut.upper_exact, strict=True):
        every = [low + (high - low) * F(k, 4) for k in range(5)]
        axes.append(
            every if grid is None else [grid.at_least(low) + k * grid.step for k in range(grid.points(low, high))]
        )
    met = (
        all(s < k.bound if k.strict else s <= k.bound for k in cut.constraints for s in [_sum(k, point)])
        for point in product(*axes)
    )
    return any(met)


def _sum(constraint: LinearConstraint, point: tuple[F, ...]) -> F:
    return sum((a * x for a, x in zip(constraint.coefficients, point, strict=True)), F(0))


@pytest.mark.part(60)
@pytest.mark.parametrize("seed", range(300))
def test_no_grid_with_a_point_is_empty_and_every_empty_one_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    low = tuple(F(int(rng.integers(-6, 3)), 2) for _ in range(size))
    high = tuple(x + F(int(rng.integers(0, 9)), 2) for x in low)
    step = [F(int(rng.integers(1, 4)), int(rng.integers(1, 4))) for _ in range(size)]
    grids = tuple(Lattice(F(int(rng.integers(0, 3)), 3), s) if rng.random() < 0.85 else None for s in step)
    rows = [tuple(F(int(c)) for c in rng.integers(-2, 3, size)) for _ in range(int(rng.integers(1, 3)))]
    bounds = [F(int(rng.integers(-9, 10)), int(rng.integers(1, 4))) for _ in rows]
    constraints = [LinearConstraint(a, b, bool(rng.random() < 0.3)) for a, b in zip(rows, bounds, strict=True)]
    if rng.random() < 0.5:  # an equation
        constraints.append(LinearConstraint(tuple(-c for c in rows[0]), -bounds[0]))
    cut = Cut(low, high, tuple(constraints), grids)
    there, shown = inhabited(cut), off_grid(cut)
    assert not (there and (shown or empty(cut)))
    if None not in grids:
        assert shown is not there
    ALL[0] |= shown
    NONE[0] |= there


def test_some_were_empty_and_some_not() -> None:
    assert ALL[0]
    assert NONE[0]


def test_many_inputs_take_no_long_time() -> None:
    """An equation of hundreds of inputs on a fine grid that the common divisor refutes, and one that nothing does."""
    grids, ends = (Lattice(F(0), F(2, 1000)),) * 300, ((F(-1),) * 300, (F(1),) * 300)
    row = LinearConstraint((F(1),) * 300, F(1, 1000)), LinearConstraint((F(-1),) * 300, F(-1, 1000))
    assert off_grid(Cut(*ends, row, grids))
    uneven = tuple(F(2 + k % 2) for k in range(300))
    there = LinearConstraint(uneven, F(1, 500)), LinearConstraint(tuple(-c for c in uneven), F(-1, 500))
    assert not off_grid(Cut(*ends, there, grids))
