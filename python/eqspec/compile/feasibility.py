"""Whether the constraints of a region leave anything of its box.

Of one constraint alone it is said in raw units by how much. What is shown of several together, and of points of a grid,
is in `tasks.emptiness`. Where nothing is shown nothing is said; the engine then finds out.
"""

from __future__ import annotations

from fractions import Fraction

from eqspec.compile.boxes import RegionBox, written
from eqspec.compile.scalers import Scaler
from eqspec.errors import Diagnostic, Label
from eqspec.span import Span
from eqspec.spec.findings import error
from eqspec.spec.numbers import shown
from eqspec.spec.region_terms import RawConstraint
from eqspec.tasks.emptiness import contradict, off_grid


def refute(name: str, span: Span, box: RegionBox, scaler: Scaler) -> Diagnostic | None:
    """E133 if the region is proved empty, else None."""
    for constraint in box.joint:
        finding = _refute_one(name, constraint, box, scaler)
        if finding is not None:
            return finding
    listed = " and ".join(dict.fromkeys(f"'{written(c)}'" for c in box.joint[:4]))
    message = None
    if len(box.constraints) > 1 and contradict(box):
        message = f"region '{name}' is empty: {listed} cannot hold together"
    elif off_grid(box):
        message = f"region '{name}' is empty: no point of its grid meets {listed}"
    if message is not None:
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
