"""Where the open share of a search lies: by feature, over two features, and as a picture where inputs are pixels.

The boxes of an `Undecided` are spread evenly over what they cover; sums are shares of what is open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec.tasks.search_statistics import Undecided

_Array = NDArray[np.float64]
_FEWEST_PIXELS = 36


def density(shown: Undecided, feature: int, bins: int) -> _Array:
    """(bins,): the part of the open share in each step of the feature's range; sums to 1."""
    total = np.zeros(bins)
    for box in shown.sample:
        total += box.share * _overlap(box.edges.get(feature, (0.0, 1.0)), bins)
    whole = total.sum()
    return total / whole if whole > 0 else total


def density_of_two(shown: Undecided, first: int, second: int, bins: int) -> _Array:
    """(bins, bins): the same over two features; the first runs along the rows."""
    total = np.zeros((bins, bins))
    for box in shown.sample:
        one, two = (_overlap(box.edges.get(i, (0.0, 1.0)), bins) for i in (first, second))
        total += box.share * np.outer(one, two)
    whole = total.sum()
    return total / whole if whole > 0 else total


def concentration(shown: Undecided, bins: int) -> _Array:
    """(I,): how unevenly the open share lies over each feature, from 0 (evenly) to nearly 1 (all in one place)."""
    uneven = np.zeros(len(shown.features))
    for feature in sorted({i for box in shown.sample for i in box.edges}):
        uneven[feature] = 0.5 * np.abs(density(shown, feature, bins) - 1.0 / bins).sum()
    return uneven


def _overlap(edge: tuple[float, float], bins: int) -> _Array:
    """(bins,): which parts of an interval within 0..1 lie in which step; a point lies in one."""
    low, high = edge
    if high <= low:
        spread = np.zeros(bins)
        spread[min(int(low * bins), bins - 1)] = 1.0
        return spread
    ends = np.linspace(0.0, 1.0, bins + 1)
    cut: _Array = np.clip(np.minimum(ends[1:], high) - np.maximum(ends[:-1], low), 0.0, None)
    return cut / (high - low)


def side_of_picture(features: Sequence[str]) -> int | None:
    """The side of a square picture, if the features are its pixels in order: numbered by one or by two numbers."""
    side = math.isqrt(len(features))
    if side * side != len(features) or len(features) < _FEWEST_PIXELS:
        return None
    numbers = [[int(n) for n in re.findall(r"\d+", name)] for name in features]
    stems = {re.sub(r"\d+", "#", name) for name in features}
    flat = all(len(n) == 1 and n[0] - numbers[0][0] == i for i, n in enumerate(numbers) if numbers[0])
    paired = [n[-2:] for n in numbers if len(n) >= 2]
    square = len(paired) == len(features) and all(
        (a - paired[0][0], b - paired[0][1]) == divmod(i, side) for i, (a, b) in enumerate(paired)
    )
    return side if len(stems) == 1 and ((flat and bool(numbers[0])) or square) else None
