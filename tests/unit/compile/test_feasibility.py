"""Whether a region is empty: never said without proof, and checked against an independent solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from eqspec.compile.boxes import BoxBuilder, RegionBox
from eqspec.compile.feasibility import refute
from eqspec.compile.scalers import Scaler
from eqspec.span import Source, Span
from eqspec.spec.region_terms import RawBound, RawConstraint, Terms
from eqspec.spec.spaces import SpaceFacts
from eqspec.tasks.emptiness import separates

SPAN = Span(Source("x", "a constraint"), 0, 12)
SIZE = 3
small = st.fractions(-4, 4, max_denominator=6)


def region(rows: list[list[Fraction]], bounds: list[Fraction], scale: Fraction) -> tuple[RegionBox, Scaler]:
    """Constraints on three inputs from -1 to 2 in raw units."""
    features = tuple((name, None) for name in "uvw")
    space = SpaceFacts(None, features, features, "none", None, None, "max")  # type: ignore[arg-type]
    box = {i: RawBound(Fraction(-1), Fraction(2), SPAN) for i in range(SIZE)}
    constraints = [
        RawConstraint({i: c for i, c in enumerate(row) if c}, bound, False, "<=", Fraction(0), SPAN)
        for row, bound in zip(rows, bounds, strict=True)
        if sum(c != 0 for c in row) > 1
    ]
    scaler = Scaler((Fraction(1, 3),) * SIZE, (scale,) * SIZE)
    (found,) = BoxBuilder("r", SPAN, Terms(boxes=[dict(box)], constraints=constraints), space, scaler).build(None)
    return found, scaler


@given(
    rows=st.lists(st.lists(small, min_size=SIZE, max_size=SIZE), min_size=1, max_size=5),
    bounds=st.lists(small, min_size=5, max_size=5),
    scale=st.fractions(Fraction(1, 100), 100, max_denominator=100),
)
def test_emptiness_agrees_with_another_solver(
    rows: list[list[Fraction]], bounds: list[Fraction], scale: Fraction
) -> None:
    box, scaler = region(rows, bounds[: len(rows)], scale)
    finding = refute("r", SPAN, box, scaler)
    if not box.constraints:
        assert finding is None
        return
    matrix = np.array([[float(c) for c in k.coefficients] for k in box.constraints])
    limits = np.array([float(k.bound) for k in box.constraints])
    # slack: how far all constraints must give way; > 0 means empty
    answer = linprog(
        [0.0] * SIZE + [1.0],
        A_ub=np.hstack([matrix, -np.ones((len(limits), 1))]),
        b_ub=limits,
        bounds=[*zip(map(float, box.lower_exact), map(float, box.upper_exact), strict=True), (None, None)],
    )
    assert answer.status == 0
    if finding is not None:
        assert finding.code == "E133"
        assert answer.fun > -1e-9
    elif answer.fun > 1e-6:
        raise AssertionError(f"empty by {answer.fun}, and not noticed")


@given(
    rows=st.lists(st.lists(small, min_size=SIZE, max_size=SIZE), min_size=1, max_size=4),
    bounds=st.lists(small, min_size=4, max_size=4),
    multipliers=st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4),
    point=st.lists(st.fractions(0, 1, max_denominator=20), min_size=SIZE, max_size=SIZE),
)
def test_no_multipliers_exclude_a_point_that_is_there(
    rows: list[list[Fraction]], bounds: list[Fraction], multipliers: list[float], point: list[Fraction]
) -> None:
    box, _ = region(rows, bounds[: len(rows)], Fraction(1))
    x = [low + t * (high - low) for low, high, t in zip(box.lower_exact, box.upper_exact, point, strict=True)]
    inside = all(sum(c * v for c, v in zip(k.coefficients, x, strict=True)) <= k.bound for k in box.constraints)
    if separates(multipliers[: len(box.constraints)], box, box.constraints):
        assert not inside
