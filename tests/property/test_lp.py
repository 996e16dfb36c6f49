"""Multipliers from HiGHS, judged by weak duality against an independent solver (scipy's interior point) and by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from eqspec.lp import HighsSolver

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Program:
    matrix: Array
    lower: Array
    upper: Array
    objectives: Array


def dual_bound(program: Program, index: int, duals: Array) -> float:
    """The bound as the core computes it, written from the statement alone."""
    total = float(np.abs(program.objectives[index] - program.matrix.T @ duals).sum())
    for y, low, high in zip(duals, program.lower, program.upper, strict=True):
        total += 0.0 if y == 0.0 else max(y * low, y * high)
    return total


def oracle(program: Program, index: int) -> float | None:
    """The optimum by scipy, None if infeasible."""
    matrix, low, high = program.matrix, program.lower, program.upper
    rows = np.vstack([matrix[high < np.inf], -matrix[low > -np.inf]])
    sides = np.concatenate([high[high < np.inf], -low[low > -np.inf]])
    found = linprog(
        -program.objectives[index], A_ub=rows if len(rows) else None, b_ub=sides if len(rows) else None, bounds=(-1, 1)
    )
    if found.status == 2:
        return None
    assert found.status == 0, found.message
    return float(-found.fun)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Small dense, sparse and degenerate programs: rounded entries make ties, equal sides make equations."""
    m, n, j = draw(st.integers(0, 6)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.normal(size=(m, n)) * rng.choice([0.0, 1.0, 1.0], size=(m, n))
    objectives = rng.normal(size=(j, n))
    if draw(st.booleans()):
        matrix, objectives = np.round(matrix), np.round(objectives)
    width = draw(st.sampled_from([0.0, 0.5, 4.0]))
    centre = rng.normal(size=m) * draw(st.sampled_from([0.0, 1.0, 5.0]))
    lower, upper = centre - width, centre + width
    lower[rng.random(m) < 0.4] = -np.inf
    upper[rng.random(m) < 0.4] = np.inf
    return Program(matrix, lower, upper, objectives)


SOLVER = HighsSolver()


@given(programs())
def test_the_multipliers_prove_the_optimum_and_the_points_reach_it(program: Program) -> None:
    duals, points, ray = SOLVER.answer([program])[0]
    if ray is not None:
        assert oracle(program, 0) is None
        return
    for index, objective in enumerate(program.objectives):
        optimum = oracle(program, index)
        if optimum is None:  # contradictory within the tolerances of one solver only: then no ray, and no false bound
            continue
        bound = dual_bound(program, index, duals[index])
        scale = 1.0 + abs(optimum)
        assert bound >= optimum - 1e-9 * scale
        assert bound <= optimum + 1e-7 * scale
        assert (np.abs(points[index]) <= 1.0).all()
        assert abs(objective @ points[index] - optimum) <= 1e-6 * scale


@given(programs(), st.integers(0, 2**32 - 1), st.floats(0.01, 3.0))
def test_contradictory_rows_give_a_ray(program: Program, seed: int, excess: float) -> None:
    """One more row that asks for more than the cube can give, hidden as a combination of others."""
    rng = np.random.default_rng(seed)
    extra = rng.normal(size=(2, program.matrix.shape[1]))
    reach = np.abs(extra.sum(axis=0)).sum() + excess
    share = rng.normal()
    matrix = np.vstack([program.matrix, extra])
    lower = np.concatenate([program.lower, [share, reach - share]])
    upper = np.concatenate([program.upper, [np.inf, np.inf]])
    hard = Program(matrix, lower, upper, program.objectives)
    duals, points, ray = SOLVER.answer([hard])[0]
    assert duals.shape == (len(hard.objectives), len(lower))
    assert points.shape == hard.objectives.shape
    assert ray is not None
    assert dual_bound(Program(matrix, lower, upper, np.zeros_like(hard.objectives)), 0, ray) < 0.0


@given(programs(), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_a_coefficient_that_is_no_number_gets_no_answer(program: Program, poison: float, data: st.DataObject) -> None:
    where = data.draw(st.sampled_from(["matrix", "objectives", "lower", "upper"]))
    target = getattr(program, where).copy()
    if not target.size or (where in ("lower", "upper") and not np.isnan(poison)):
        return
    target.flat[data.draw(st.integers(0, target.size - 1))] = poison
    changed = Program(**{**program.__dict__, where: target})
    duals, points, ray = SOLVER.answer([changed])[0]
    bad = ~np.isfinite(target).all(axis=1) if where == "objectives" else np.ones(len(program.objectives), bool)
    assert np.isnan(points[bad]).all()
    assert np.isnan(duals[bad]).all()
    if where != "objectives":
        assert ray is None


def test_after_its_time_a_solver_answers_nothing_and_then_goes_on() -> None:
    """Its clock runs on from program to program, which must not take from the time of the next one."""
    program = Program(np.array([[1.0, 1.0]]), np.array([-np.inf]), np.array([0.5]), np.array([[1.0, 1.0]]))
    for _ in range(3):
        duals, points, ray = SOLVER.answer([program], 0.0)[0]
        assert np.isnan(duals).all()
        assert np.isnan(points).all()
        assert ray is None
        duals, points, ray = SOLVER.answer([program], 10.0)[0]
        assert points[0].sum() == pytest.approx(0.5)
        assert duals[0] == pytest.approx(1.0)


def test_a_bad_objective_does_not_spoil_its_neighbours() -> None:
    objectives = np.array([[1.0, 1.0], [np.nan, 1.0], [1.0, -1.0]])
    program = Program(np.array([[1.0, 1.0]]), np.array([-np.inf]), np.array([0.5]), objectives)
    duals, points, ray = SOLVER.answer([program])[0]
    assert ray is None
    assert dual_bound(program, 0, duals[0]) == pytest.approx(0.5)
    assert np.isnan(duals[1]).all()
    assert np.isnan(points[1]).all()
    assert dual_bound(program, 2, duals[2]) == pytest.approx(2.0)


@pytest.mark.parametrize(("m", "n", "j"), [(0, 3, 2), (2, 0, 1), (0, 0, 0), (2, 3, 0), (0, 0, 2)])
def test_empty_programs_have_the_right_shapes(m: int, n: int, j: int) -> None:
    program = Program(np.ones((m, n)), np.full(m, -1.0), np.full(m, 1.0), np.ones((j, n)))
    duals, points, ray = SOLVER.answer([program])[0]
    assert duals.shape == (j, m)
    assert points.shape == (j, n)
    assert ray is None
    for index in range(j):
        assert dual_bound(program, index, duals[index]) == pytest.approx(min(n, 1) if m else n)


def test_no_columns_but_a_row_that_zero_breaks() -> None:
    program = Program(np.ones((3, 0)), np.array([-1.0, 0.5, -9.0]), np.array([1.0, 2.0, 9.0]), np.zeros((1, 0)))
    ray = SOLVER.answer([program])[0][2]
    assert ray is not None
    assert dual_bound(program, 0, ray) < 0.0


def test_sides_the_wrong_way_round_are_no_proof() -> None:
    """lower > upper is no feasible row, but no multipliers of this bound can show it: no answer, and nothing raised."""
    program = Program(np.ones((1, 2)), np.array([1.0]), np.array([-1.0]), np.ones((2, 2)))
    duals, _, ray = SOLVER.answer([program])[0]
    assert ray is None
    assert duals.shape == (2, 1)


def test_programs_of_a_batch_are_answered_in_order_and_huge_numbers_do_not_raise() -> None:
    batch = [Program(np.ones((1, k)), np.array([-np.inf]), np.array([k / 2]), np.ones((1, k))) for k in range(1, 6)]
    for k, (program, (duals, _, _)) in enumerate(zip(batch, SOLVER.answer(batch), strict=True), start=1):
        assert dual_bound(program, 0, duals[0]) == pytest.approx(k / 2)
    for size in (1e17, 1e25, 1e300):
        huge = Program(np.full((1, 2), size), np.array([-np.inf]), np.array([size]), np.full((1, 2), size))
        duals, _, _ = SOLVER.answer([huge])[0]
        assert np.isnan(duals).all() or dual_bound(huge, 0, duals[0]) >= size * (1 - 1e-9)
