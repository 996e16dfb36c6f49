"""Where open boxes lie, against counting points by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from any_results import edges
from eqspec.report.html.raster import concentration, density, density_of_two, side_of_picture
from eqspec.report.html.svg import round_steps
from eqspec.tasks.search_statistics import OpenBox, Undecided


def open_boxes(size: int, sample: Sequence[OpenBox]) -> Undecided:
    names = tuple(f"f{i}" for i in range(size))
    return Undecided(1.0, names, (None,) * size, (0.0,) * size, (1.0,) * size, tuple(sample))


boxes = st.builds(OpenBox, st.floats(0.01, 1), st.dictionaries(st.integers(0, 2), edges, max_size=3))
some = st.lists(boxes, min_size=1, max_size=5)


@given(some, st.integers(1, 20))
def test_densities_are_shares_and_fit_together(sample: list[OpenBox], bins: int) -> None:
    shown = open_boxes(3, sample)
    one = [density(shown, i, bins) for i in range(3)]
    both = density_of_two(shown, 0, 2, bins)
    assert all(part.sum() == pytest.approx(1) and (part >= 0).all() for part in one)
    assert both.sum(axis=1) == pytest.approx(one[0], abs=1e-9)
    assert both.sum(axis=0) == pytest.approx(one[2], abs=1e-9)
    uneven = concentration(shown, bins)
    assert ((uneven >= -1e-12) & (uneven < 1)).all()
    untouched = set(range(3)) - {i for box in sample for i in box.edges}
    assert all(uneven[i] == pytest.approx(0, abs=1e-9) for i in untouched)


@given(some)
def test_a_density_is_that_of_points_in_the_boxes(sample: list[OpenBox]) -> None:
    assume(all(b - a > 1e-3 for box in sample for a, b in box.edges.values()))
    shown = open_boxes(3, sample)
    whole = sum(box.share for box in sample)
    fine = (np.arange(20_000) + 0.5) / 20_000
    expected = np.zeros(4)
    for box in sample:
        low, high = box.edges.get(1, (0.0, 1.0))
        places = low + (high - low) * fine
        expected += box.share / whole * np.histogram(places, bins=4, range=(0, 1))[0] / len(fine)
    assert density(shown, 1, 4) == pytest.approx(expected, abs=1e-3)


def test_pictures_are_squares_of_numbered_pixels() -> None:
    flat = [f"x{i}" for i in range(64)]
    assert side_of_picture(flat) == 8
    assert side_of_picture([f"p{i + 1}" for i in range(784)]) == 28
    assert side_of_picture([f"p_{r}_{c}" for r in range(7) for c in range(7)]) == 7
    for other in (
        flat[:63],  # no square
        flat[:16],  # so few may be anything
        flat[::-1],
        [*flat[:63], "mass"],
        ["mass"] * 64,
        [f"p_{c}_{r}" for r in range(7) for c in range(7)],  # columns first
        [],
    ):
        assert side_of_picture(other) is None


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_within(low: float, width: float) -> None:
    high = low + width
    assume(high > low and width > 1e-6 * abs(low))
    ticks = round_steps(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low - 1e-6 * width <= t <= high + 1e-6 * width for t in ticks)
    assert round_steps(1.0, 1.0) == [1.0]
    assert round_steps(float("nan"), 1.0) == []
