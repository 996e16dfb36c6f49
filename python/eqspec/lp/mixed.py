"""Answers mixed-integer programs with HiGHS, for the mode that asks a solver as a last resort.

Shapes: n columns, m rows. A program is

    maximise cost.v  subject to  row_lower <= A v <= row_upper,  lower <= v <= upper,  some v whole.

A solution is a hint that others replay. That there is none is the solver's word, good to its tolerances, and proves
nothing: the search that asked may only say that the rest of a claim rests on it. So the word is passed on only where
HiGHS itself has no doubt (no warning, no limit, a program of finite numbers); in all other cases there is no answer.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
MixedAnswer: TypeAlias = tuple[bool, Array | None]
"""Whether there is no solution, and one if there is."""

_GAP = 0.1
"""A solution need not be the best: one that clearly violates the claim is enough."""


class MixedProgram(Protocol):
    """What the core hands over; see the head of this file for the letters. A stands row after row, without zeros."""

    @property
    def cost(self) -> Array:
        """(n,)."""
        ...

    @property
    def lower(self) -> Array:
        """(n,)."""
        ...

    @property
    def upper(self) -> Array:
        """(n,)."""
        ...

    @property
    def integer(self) -> NDArray[np.bool_]:
        """(n,): which columns are whole."""
        ...

    @property
    def starts(self) -> NDArray[np.int32]:
        """(m + 1,): where each row begins in `indices` and `values`."""
        ...

    @property
    def indices(self) -> NDArray[np.int32]:
        """Columns."""
        ...

    @property
    def values(self) -> Array:
        """Coefficients."""
        ...

    @property
    def row_lower(self) -> Array:
        """(m,), may be -inf."""
        ...

    @property
    def row_upper(self) -> Array:
        """(m,), may be +inf."""
        ...

    @property
    def seconds(self) -> float:
        """What it may take."""
        ...


class MixedSolver:
    """HiGHS for one program after the other. Not thread-safe: one per calling thread."""

    def answer(self, program: MixedProgram) -> MixedAnswer:
        """Its word on a program; (False, None) is no answer."""
        if not _usable(program):
            return False, None
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # its stub lacks methods
        options: dict[str, bool | int | float] = {
            "output_flag": False,
            "threads": 1,  # HiGHS keeps one global pool of threads, which must never be reset
            "time_limit": max(program.seconds, 0.0),
            "mip_rel_gap": _GAP,
            "small_matrix_value": 1e-12,  # smaller coefficients are dropped
        }
        for name, value in options.items():
            if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise RuntimeError(f"HiGHS {highs.version()} does not take the option {name} = {value!r}")
        passed = highs.passModel(
            len(program.cost),
            len(program.row_lower),
            len(program.values),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMaximize),
            0.0,
            program.cost,
            program.lower,
            program.upper,
            program.row_lower,
            program.row_upper,
            program.starts,
            program.indices,
            program.values,
            program.integer.astype(np.int32),
        )
        if passed != highspy.HighsStatus.kOk:  # a warning may mean that something was dropped
            return False, None
        ran = highs.run()
        if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return ran == highspy.HighsStatus.kOk, None
        return False, None if ran == highspy.HighsStatus.kError else _point(highs, len(program.cost))


def _usable(program: MixedProgram) -> bool:
    """HiGHS drops a NaN coefficient silently and takes a NaN bound for infeasible, so neither may reach it."""
    finite = (program.cost, program.lower, program.upper, program.values)
    sides = (program.row_lower, program.row_upper)
    return all(np.isfinite(v).all() for v in finite) and not any(np.isnan(v).any() for v in sides)


def _point(highs: Any, columns: int) -> Array | None:
    """The best solution found, if there is one."""
    solution = highs.getSolution()
    point = np.asarray(solution.col_value, np.float64)
    if not solution.value_valid or point.shape != (columns,) or not np.isfinite(point).all():
        return None
    return point
