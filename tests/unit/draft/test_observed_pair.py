"""At how many rows a pair is looked at: fewer where one evaluation takes long, but never too few to tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eqspec.draft.observed_pair import observe, row_places
from small_tasks import identity, task


@pytest.mark.parametrize(
    ("products", "rows", "looked_at"),
    [(10, 400, 400), (10, 80_000, 5000), (10_000_000, 1000, 107), (10_000_000, 50, 50), (1 << 31, 1000, 24), (0, 7, 7)],
)
def test_large_networks_are_looked_at_at_fewer_rows(products: int, rows: int, looked_at: int) -> None:
    large: Any = SimpleNamespace(
        reference=SimpleNamespace(products=products), candidate=SimpleNamespace(products=products)
    )
    places = row_places(rows, large)
    assert len(set(places.tolist())) == looked_at
    assert places[0] == 0
    assert places[-1] == rows - 1


def test_points_are_drawn_where_there_are_no_rows() -> None:
    given = task(identity(2), identity(2))
    assert len(observe(given, None).distance) == 1000
    assert len(observe(given, np.zeros((3, 2))).distance) == 3
