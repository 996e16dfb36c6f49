"""Whether the constraints of a region leave anything of its box.

One constraint alone is decided exactly: a linear function has its extremes over a box at corners. For several together
a linear program suggests multipliers y >= 0, and only exact arithmetic on them counts: if y.A x > y.b everywhere on the
box, no point satisfies A x <= b. Where no such y is found nothing is said; the engine then finds out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.boxes import RegionBox, written
from eqspec.compile.scalers import Scaler
from eqspec.errors import Diagnostic, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import error
from eqspec.spec.numbers import shown
from eqspec.spec.region_terms import RawConstraint
from eqspec.tasks.task import LinearConstraint


def refute(name: str, span: Span, box: RegionBox, scaler: Scaler) -> Diagnostic | None:
    """E133 if the region is proved empty, else None."""
    for constraint in box.joint:
        finding = _refute_one(name, constraint, box, scaler)
        if finding is not None:
            return finding
    if len(box.constraints) > 1 and _contradict(box):
        listed = " and ".join(dict.fromkeys(f"'{written(c)}'" for c in box.joint[:4]))
        message = f"region '{name}' is empty: {listed} cannot hold together"
        labels = tuple(Label(span, "one of them") for span in dict.fromkeys(c.span for c in box.joint[:4]))
        return error("E133", message, span, *labels, help="relax one of the constraints")
    return None


def _refute_one(name: str, constraint: RawConstraint, box: RegionBox, scaler: Scaler) -> Diagnostic | None:
    """E133 if the sum of one constraint stays on the wrong side, in raw units."""
    least = most = Fraction(0)
    for i, coefficient in constraint.coefficients.items():
        ends = (
            coefficient * (scaler.centre[i] + scaler.scale[i] * box.lower_exact[i]),
            coefficient * (scaler.centre[i] + scaler.scale[i] * box.upper_exact[i]),
        )
        least, most = least + min(ends), most + max(ends)
    too_large = least > constraint.bound
    too_small = constraint.equality and most < constraint.bound
    if not too_large and not too_small:
        return None
    where = "" if box.row is None else f" around row {box.row}"
    if constraint.table is not None:
        message = (
            f"region '{name}' is empty{where}: no input of its box lies as near to the rows of '{constraint.table}'"
        )
        return error("E133", message, constraint.span, help="move or widen the box to where the rows lie")
    sign = -1 if constraint.operator == ">=" else 1
    extreme = shown(sign * (least if too_large else most) + constraint.offset)
    which = "maximum" if too_small or constraint.operator == ">=" else "minimum"
    message = f"region '{name}' is empty{where}: '{written(constraint)}', but its {which} over the box is {extreme}"
    return error("E133", message, constraint.span, help="relax the constraint")


@dataclass(frozen=True)
class _Feasibility:
    """The program that asks for a point of the box, in the box's own coordinates from -1 to 1."""

    matrix: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    objectives: NDArray[np.float64]


def _contradict(box: RegionBox) -> bool:
    """Whether multipliers prove, exactly, that the constraints have no common point in the box."""
    radius, middle = (box.upper - box.lower) / 2, (box.upper + box.lower) / 2
    with np.errstate(all="ignore"):
        rows = np.array([[float(c) for c in constraint.coefficients] for constraint in box.constraints])
        upper = np.array([float(constraint.bound) for constraint in box.constraints]) - rows @ middle
        program = _Feasibility(rows * radius, np.full(len(rows), -np.inf), upper, np.zeros((1, len(radius))))
    from eqspec.lp import HighsSolver  # regions with several constraints are few, and HiGHS takes long to load

    _, _, ray = HighsSolver().answer([program])[0]
    return ray is not None and bool(np.isfinite(ray).all()) and separates(ray.tolist(), box)


def separates(multipliers: Sequence[float], box: RegionBox) -> bool:
    """Exactly: whether, with negative multipliers dropped, y.A x > y.b at every x of the box."""
    used: list[tuple[Fraction, LinearConstraint]] = [
        (Fraction(y), c) for y, c in zip(multipliers, box.constraints, strict=True) if y > 0
    ]
    least = -sum((y * c.bound for y, c in used), Fraction(0))
    for i, (low, high) in enumerate(zip(box.lower_exact, box.upper_exact, strict=True)):
        slope = sum((y * c.coefficients[i] for y, c in used), Fraction(0))
        least += slope * (low if slope > 0 else high)
    return least > 0
