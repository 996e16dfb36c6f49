"""Suggests multipliers for linear programs over the generator cube, with HiGHS.

Shapes: n generators, m rows, J objectives. The programs are

    maximise c.e  subject to  lower <= M e <= upper,  -1 <= e <= 1,      M (m, n), one c per row of `objectives` (J, n).

Sound because nothing here decides anything: for *any* y the number ||c - M^T y||_1 + sum max(y_i lower_i, y_i upper_i)
is an upper bound (weak duality), and the caller evaluates it with outward rounding. A status of the solver is therefore
never a verdict: a solver that errs, stops early or drops a coefficient can only make the bound worse. What we owe the
caller is finite numbers, or NaN.

HiGHS runs the dual simplex on one thread without presolve, which is the fastest for programs of this shape (a few dozen
rows, a few hundred columns). The matrix is passed once per program and only the costs change between objectives, so
that each objective starts from the last basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
LpAnswer: TypeAlias = tuple[Array, Array, Array | None]

_ROWWISE = int(highspy.MatrixFormat.kRowwise)
_MAXIMISE = int(highspy.ObjSense.kMaximize)
_ITERATION_LIMIT = 20_000
"""Far above what such programs need; a solver that cycles must not hold up the search."""


class LinearProgram(Protocol):
    """What the core hands over; see the head of this file for the letters."""

    @property
    def matrix(self) -> Array:
        """M, (m, n)."""
        ...

    @property
    def lower(self) -> Array:
        """(m,), may be -inf."""
        ...

    @property
    def upper(self) -> Array:
        """(m,), may be +inf."""
        ...

    @property
    def objectives(self) -> Array:
        """(J, n)."""
        ...


class HighsSolver:
    """One HiGHS instance that answers program after program. Not thread-safe: one per calling thread."""

    def __init__(self) -> None:
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # its stub lacks methods
        options: dict[str, bool | int | str] = {
            "output_flag": False,
            "threads": 1,  # before the first run: HiGHS keeps one global pool of threads, which must never be reset
            "presolve": "off",
            "solver": "simplex",
            "simplex_iteration_limit": _ITERATION_LIMIT,
        }
        for name, value in options.items():
            if self._highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise RuntimeError(f"HiGHS {self._highs.version()} does not take the option {name} = {value!r}")

    def answer(self, programs: Sequence[LinearProgram], seconds: float = inf) -> list[LpAnswer]:
        """For each program: multipliers (J, m), points (J, n) and, if the constraints are contradictory, a ray (m,).

        After so many seconds, for all programs together, there are no more answers.

        A row of NaN means "no answer". A ray y is handed on only if, in floats, ||M^T y||_1 + sum max(y_i lower_i,
        y_i upper_i) < 0; then the multipliers that were not reached stay NaN.
        """
        # The clock of HiGHS runs on from program to program, and its limit is a time on this clock.
        limit = self._highs.getRunTime() + seconds
        if self._highs.setOptionValue("time_limit", limit) != highspy.HighsStatus.kOk:
            raise RuntimeError(f"HiGHS {self._highs.version()} does not take the option time_limit = {limit!r}")
        end = monotonic() + seconds
        return [self._answer(p.matrix, p.lower, p.upper, p.objectives, end) for p in programs]

    def _answer(self, matrix: Array, lower: Array, upper: Array, objectives: Array, end: float) -> LpAnswer:
        rows, columns = matrix.shape
        duals = np.full((len(objectives), rows), np.nan)
        points = np.full((len(objectives), columns), np.nan)
        if not _usable(matrix, lower, upper):
            return duals, points, None
        if not columns:  # HiGHS calls it an empty model whatever the rows say
            duals[:] = 0.0
            return duals, points, _checked_ray(_violated_row(lower, upper), matrix, lower, upper)
        cube = np.ones(columns)
        passed = False
        for index, objective in enumerate(objectives):
            if not np.isfinite(objective).all():
                continue
            if monotonic() >= end:
                break
            if not passed:
                passed = self._pass(matrix, lower, upper, objective, -cube, cube)
                if not passed:
                    break
            elif not self._change_objective(objective):
                passed = False  # the model may hold half of it: pass it afresh for the next one
                continue
            if self._highs.run() == highspy.HighsStatus.kError:
                passed = False
                continue
            if self._highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
                ray = self._ray(matrix, lower, upper)
                if ray is not None:
                    return duals, points, ray
                passed = False  # finding the ray may have replaced the model
                continue
            duals[index], points[index] = self._solution(lower, upper, columns)
        return duals, points, None

    def _pass(self, matrix: Array, lower: Array, upper: Array, objective: Array, least: Array, most: Array) -> bool:
        """Hand over a model with its columns between `least` and `most`, by arrays: six times faster than a HighsLp."""
        rows, columns = matrix.shape
        status = self._highs.passModel(
            columns,
            rows,
            matrix.size,
            _ROWWISE,
            _MAXIMISE,
            0.0,
            np.ascontiguousarray(objective),
            least,
            most,
            np.ascontiguousarray(lower),
            np.ascontiguousarray(upper),
            np.arange(rows + 1, dtype=np.int32) * np.int32(columns),
            np.tile(np.arange(columns, dtype=np.int32), rows),
            np.ascontiguousarray(matrix).reshape(-1),
            np.zeros(columns, np.int32),
        )
        return bool(status != highspy.HighsStatus.kError)

    def _change_objective(self, objective: Array) -> bool:
        indices = np.arange(len(objective), dtype=np.int32)
        status = self._highs.changeColsCost(len(objective), indices, np.ascontiguousarray(objective))
        return bool(status == highspy.HighsStatus.kOk)

    def _solution(self, lower: Array, upper: Array, columns: int) -> tuple[Array, Array]:
        """Multipliers and point of the last run, NaN unless finite; those of an unfinished run may still be good."""
        solution = self._highs.getSolution()
        duals, point = np.asarray(solution.row_dual, np.float64), np.asarray(solution.col_value, np.float64)
        if not (solution.dual_valid and duals.shape == lower.shape and np.isfinite(duals).all()):
            duals = np.full(len(lower), np.nan)
        if not (solution.value_valid and point.shape == (columns,) and np.isfinite(point).all()):
            point = np.full(columns, np.nan)
        return _on_finite_sides(duals, lower, upper), np.clip(point, -1.0, 1.0)

    def _ray(self, matrix: Array, lower: Array, upper: Array) -> Array | None:
        """A combination of rows that the cube cannot satisfy: the solver's own ray, or else the elastic program's."""
        status, found, direction = self._highs.getDualRay()
        ray = None
        if status == highspy.HighsStatus.kOk and found:
            ray = _checked_ray(np.asarray(direction, np.float64), matrix, lower, upper)
        return self._elastic_ray(matrix, lower, upper) if ray is None else ray

    def _elastic_ray(self, matrix: Array, lower: Array, upper: Array) -> Array | None:
        """The multipliers of: minimise sum(s + t) subject to lower <= M e + s - t <= upper, -1 <= e <= 1, s, t >= 0.

        By duality they minimise ||M^T y||_1 + sum max(y_i lower_i, y_i upper_i) over |y| <= 1: the best ray there is.
        """
        rows, columns = matrix.shape
        one = np.eye(rows)
        least = np.concatenate([-np.ones(columns), np.zeros(2 * rows)])
        most = np.concatenate([np.ones(columns), np.full(2 * rows, np.inf)])
        cost = np.concatenate([np.zeros(columns), -np.ones(2 * rows)])
        elastic = np.hstack([matrix, one, -one])
        if not self._pass(elastic, lower, upper, cost, least, most) or self._highs.run() == highspy.HighsStatus.kError:
            return None
        duals, _ = self._solution(lower, upper, columns + 2 * rows)
        return _checked_ray(duals, matrix, lower, upper)


def _usable(matrix: Array, lower: Array, upper: Array) -> bool:
    """HiGHS drops a NaN coefficient silently and takes a NaN bound for infeasible, so neither may reach it."""
    return bool(np.isfinite(matrix).all() and not np.isnan(lower).any() and not np.isnan(upper).any())


def _on_finite_sides(duals: Array, lower: Array, upper: Array) -> Array:
    """Zero for multipliers that lean on an infinite side (by a rounding error): they would make the bound infinite."""
    leaning = np.where(duals > 0.0, np.isinf(upper), np.isinf(lower) & (duals < 0.0))
    return np.where(leaning, 0.0, duals)


def _violated_row(lower: Array, upper: Array) -> Array:
    """The unit combination that picks the first row which 0 does not satisfy (zero if there is none)."""
    sign = np.where(lower > 0.0, -1.0, np.where(upper < 0.0, 1.0, 0.0))
    return np.where(np.arange(len(sign)) == np.argmax(sign != 0.0), sign, 0.0) if len(sign) else sign


def _checked_ray(direction: Array, matrix: Array, lower: Array, upper: Array) -> Array | None:
    """The direction or its opposite, scaled to one, if it is a ray in floats; the solver's sign is not relied upon."""
    size = np.abs(direction).max(initial=0.0)
    if direction.shape != lower.shape or not np.isfinite(size) or size == 0.0:
        return None
    for ray in (-direction / size, direction / size):
        ray = _on_finite_sides(ray, lower, upper)
        if weak_dual_value(ray, np.zeros(matrix.shape[1]), matrix, lower, upper) < 0.0:
            return ray
    return None


def weak_dual_value(duals: Array, objective: Array, matrix: Array, lower: Array, upper: Array) -> float:
    """||c - M^T y||_1 + sum max(y_i lower_i, y_i upper_i) in plain floats, with 0 * inf = 0: a guide, not a proof."""
    used = duals != 0.0
    y = duals[used]
    sides = np.maximum(y * lower[used], y * upper[used]) if used.any() else np.zeros(0)
    return float(np.abs(objective - matrix.T @ duals).sum() + sides.sum())
