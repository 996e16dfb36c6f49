"""Candidates are moved to where the equations of a region hold, exactly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import eqspec
from eqspec.replay.equations import Equation, onto
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict

TINY = """eqspec 1
space s {{ features a, b  normalise zscore mean [0.1, 0.7] std [0.3, 1.1]  outputs x, y }}
network f = "base.onnx"   in s
network g = "raised.onnx" in s
region r in s = box {{ all: -1 .. 1 }} and where {{ {where} }}
check c {{ prove g stays within {eps} of f  on r  budget {{ timeout 20s }} }}
"""
small = st.fractions(-3, 3, max_denominator=7)
points = st.lists(st.fractions(-1, 1, max_denominator=9), min_size=3, max_size=3)


class Wide:
    """A box of three inputs, all that is looked at of a task."""

    lower_exact, upper_exact = (Fraction(-9),) * 3, (Fraction(9),) * 3


@given(rows=st.lists(st.lists(small, min_size=3, max_size=3), min_size=1, max_size=4), met=points, start=points)
def test_equations_that_some_point_meets_hold_where_it_is_moved(
    rows: list[list[Fraction]], met: list[Fraction], start: list[Fraction]
) -> None:
    """Any number of them, some of which may follow from others."""
    equations = [
        Equation(
            {i: a for i, a in enumerate(row) if a}, sum((a * x for a, x in zip(row, met, strict=True)), Fraction(0))
        )
        for row in rows
    ]
    moved = onto(Wide(), equations, tuple(start))  # type: ignore[arg-type]
    for equation in equations:
        assert sum(a * moved[i] for i, a in equation.coefficients.items()) == equation.bound


def test_a_claim_on_a_single_point_that_no_float_holds_is_decided(root: Path) -> None:
    """Its only input is a = 1/14, b = 4/35: it was left unknown for its spurious points."""
    found = {}
    for eps in ("0.2", "0.3"):
        where = "3*a - b == 0.1, a + 2*b == 0.3"
        (task,) = eqspec.loads(TINY.format(where=where, eps=eps), directory=root / "specs" / "tiny").tasks
        found[eps] = Runner(Options()).run(task)
    assert [result.verdict for result in found.values()] == [Verdict.DIFFERENT, Verdict.EQUIVALENT]
    assert found["0.2"].witness is not None
    assert found["0.2"].witness.raw == (Fraction(1, 14), Fraction(4, 35))
