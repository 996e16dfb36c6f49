"""The best matching of classes to outputs, against scipy's solver and against all matchings; Wilson's interval."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from eqspec.draft.assignment import best_matching, interval, unclear


@given(st.integers(1, 6), st.integers(0, 4), st.sampled_from([1, 2, 5, 1000]), st.integers(0, 2**32 - 1))
def test_no_matching_agrees_with_more_rows(classes: int, more: int, most: int, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, most + 1, (classes, classes + more))
    found = best_matching(counts)
    assert len(set(found)) == classes
    agreed = counts[np.arange(classes), found].sum()
    assert agreed == counts[linear_sum_assignment(-counts)].sum()
    if classes + more <= 7:
        assert agreed == max(
            counts[np.arange(classes), list(p)].sum() for p in permutations(range(classes + more), classes)
        )


def test_more_classes_than_outputs_have_no_matching() -> None:
    with pytest.raises(ValueError, match="3 classes cannot be matched with 2 outputs"):
        best_matching(np.ones((3, 2), np.int64))


def test_wilsons_interval() -> None:
    """Figures for z = 1.96 from the formula in Brown, Cai, DasGupta (2001): 8 of 10 and 0 of 10."""
    assert interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert interval(0, 0) == (0.0, 1.0)


def test_a_class_without_a_majority_is_unclear() -> None:
    counts = np.array([[40, 10, 0], [5, 5, 0], [0, 0, 3]])
    assert unclear(counts, [0, 1, 2]) == [1, 2]  # three of three rows are too few to be sure
    assert unclear(np.array([[4, 0], [0, 4]]), [0, 1]) == []
