"""Which ReLUs are left out in front of functions that cut off the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eqspec.audit.functions import BENT, RELU, Curve, clip, leaky
from eqspec.audit.functions.levels import ROUNDINGS, level
from eqspec.audit.reading import INPUTS, Step
from eqspec.audit.reading.merging import merged
from eqspec.audit.reading.value import Part, Value


def after_a_relu(curve: Curve) -> list[Step]:
    """One input, a ReLU, a function, and the output."""

    def step(source: int, curves: Any) -> Step:
        one = np.zeros(1, int)
        return Step(Value((1,), (Part(source, one, one[:, None].astype(np.int32), one, np.ones((1, 1))),)), curves)

    return [step(INPUTS, BENT), step(0, (curve,)), step(1, ())]


@pytest.mark.parametrize("rounding", range(len(ROUNDINGS)))
@pytest.mark.parametrize(("zero", "least"), [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0), (-2.0, 1.0), (0.5, 0.0), (3.0, 3.0)])
def test_a_relu_is_left_out_only_where_it_changes_no_level(rounding: int, zero: float, least: float) -> None:
    curve = Curve("levels", (0.25, zero, least, 9.0, float(rounding)))
    points = [Fraction(n, 16) for n in range(-64, 65)]
    same = all(level(curve.parameters, max(x, Fraction(0))) == level(curve.parameters, x) for x in points)
    shorter = len(merged(after_a_relu(curve))) == 2
    assert shorter == (least >= zero)
    assert same or not shorter


@pytest.mark.parametrize(
    ("curve", "flat"),
    [(RELU, False), (clip(0.0, 6.0), True), (clip(1.0, 6.0), True), (clip(-1.0, 6.0), False), (leaky(0.5), False)],
)
def test_a_relu_is_left_out_before_what_is_constant_below_0(curve: Curve, flat: bool) -> None:
    assert (len(merged(after_a_relu(curve))) == 2) is flat


def test_a_relu_that_is_read_elsewhere_stays() -> None:
    steps = after_a_relu(Curve("levels", (0.25, 0.0, 0.0, 9.0, 0.0)))
    both = Value((1,), (*steps[2].value.parts, *steps[1].value.parts))
    assert len(merged([*steps[:2], Step(both)])) == 3
