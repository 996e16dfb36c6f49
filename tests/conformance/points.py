"""The points at which a graph is judged: multiples of a quarter, and every other time a point at which entries tie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def points(rng: np.random.Generator, shape: Sequence[int]) -> list[NDArray[Any]]:
    """Two points of this shape; the second one may be 0 throughout, of equal entries, or of -1, 0 and 1 alone."""
    first, second = (rng.integers(-16, 17, shape) / 4 for _ in range(2))
    equal = np.full(shape, float(rng.integers(-16, 17)) / 4)
    tied = [np.zeros(shape), equal, rng.integers(-1, 2, shape) * 1.0]
    return [first, [*tied, second, second, second][int(rng.integers(6))]]
