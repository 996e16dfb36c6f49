"""What a result says of its region: the numbers of the task, in raw units."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.tasks.question import MOST_FEATURES, question
from eqspec.tasks.task import LinearConstraint, Task
from small_tasks import identity, space, task

numbers = st.fractions(-8, 8, max_denominator=64)


@st.composite
def boxes(draw: st.DrawFn) -> Task:
    size = draw(st.integers(1, 4))
    low = [draw(numbers) for _ in range(size)]
    high = [a + abs(draw(numbers)) for a in low]
    frame = space(
        size,
        size,
        centre=tuple(draw(numbers) for _ in range(size)),
        scale=tuple(draw(st.fractions(Fraction(1, 8), 8, max_denominator=64)) for _ in range(size)),
    )
    return task(identity(size), identity(size), lower=low, upper=high, space=frame)


@given(boxes())
def test_ends_and_centre_are_those_of_the_box_in_raw_units(asked: Task) -> None:
    found = question(asked)
    mean, std = (np.array(list(map(float, x))) for x in (asked.space.centre, asked.space.scale))
    low, high = (np.array(list(map(float, x))) for x in (asked.lower_exact, asked.upper_exact))
    np.testing.assert_allclose(np.array([r.low for r in found.ranges], np.float64), mean + std * low, atol=1e-12)
    np.testing.assert_allclose(np.array([r.high for r in found.ranges], np.float64), mean + std * high, atol=1e-12)
    np.testing.assert_allclose(
        np.array([r.centre for r in found.ranges], np.float64), mean + std * (low + high) / 2, atol=1e-12
    )
    assert found.normalised == (any(mean != 0) or any(std != 1))


def test_a_ball_says_its_row() -> None:
    made = task(identity(2), identity(2), lower=[0, 1], upper=[2, 3], space=space(2, 2))
    around = replace(made, around=(Fraction(1), Fraction(2)), parameters={"row": Fraction(7)})
    assert question(around).words == "every feature within 1 of row 7"
    assert [r.centre for r in question(around).ranges] == [1.0, 2.0]
    cut = replace(around, around=(Fraction(1, 2), Fraction(2)))
    assert "range of its own" in question(cut).words  # one reaches 3/2, the other 1
    cut = replace(around, around=(Fraction(1), Fraction(2)), lower_exact=(Fraction(1, 2), Fraction(1)))
    assert question(cut).words.endswith("; less where a feature has no further values")


@pytest.mark.parametrize(
    ("high", "words"),
    [
        ([0, 0], "a single input"),
        ([2, 0], "1 of 2 features (the others are fixed) within 1 of the middle of its range"),
        ([-1, 0], "no input at all"),
    ],
)
def test_regions_in_words(high: list[int], words: str) -> None:
    assert question(task(identity(2), identity(2), lower=[0, 0], upper=high, space=space(2, 2))).words == words


def test_a_region_around_the_mean_says_so() -> None:
    scaled = replace(space(2, 2), centre=(Fraction(7), Fraction(0)), scale=(Fraction(2), Fraction(3)))
    ends: dict[str, Any] = {"lower": [-1, -1], "upper": [1, 1]}
    made = task(identity(2), identity(2), space=scaled, **ends)
    assert question(made).words == "every feature within 1 std of its mean"
    assert question(task(identity(2), identity(2), space=space(2, 2), **ends)).words == "every feature within 1 of 0"


def test_very_many_features_are_counted_and_constraints_told() -> None:
    size = MOST_FEATURES + 5
    made = task(identity(size), identity(size), space=space(size, size))
    limit = LinearConstraint((Fraction(1), Fraction(-2)) + (Fraction(0),) * (size - 2), Fraction(3), strict=True)
    found = question(replace(made, constraints=(limit,)))
    assert (len(found.ranges), found.left_out) == (MOST_FEATURES, 5)
    assert found.constraints == ("x0 - 2 * x1 < 3",)
