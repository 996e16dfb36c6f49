"""Assignments against scipy's, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from eqspec.networks.linear_assignment import assign


@pytest.mark.parametrize("seed", range(40))
def test_the_sum_is_the_least(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 30))
    columns = rows + int(random.integers(0, 10))
    kinds = [random.normal(size=(rows, columns)), random.integers(0, 3, (rows, columns)).astype(float)]
    for costs in kinds:
        found = assign(costs)
        assert len(set(found)) == rows
        least = costs[linear_sum_assignment(costs)].sum()
        assert costs[range(rows), found].sum() == pytest.approx(least, abs=1e-9)


def test_a_permutation_is_found() -> None:
    order = np.random.default_rng(1).permutation(50)
    costs = np.ones((50, 50))
    costs[range(50), order] = 0.0
    assert assign(costs) == order.tolist()


def test_nothing_is_assigned_to_nothing() -> None:
    assert assign(np.zeros((0, 0))) == []
    assert assign(np.zeros((0, 3))) == []
