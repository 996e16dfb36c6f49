"""Pairs for the core from the matrices of chains of dense layers with ReLU between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec import _core
from eqspec.run.core import Step

Array = NDArray[np.float64]


def steps(layers: Sequence[tuple[Array, Array]]) -> list[Step]:
    """Exact weights (m, n) and biases (m,) as steps."""
    last = len(layers) - 1
    return [
        ([(number - 1, None, weight[None], None)], bias, None, "identity" if number == last else "relu")
        for number, (weight, bias) in enumerate(layers)
    ]


def pair(reference: Sequence[tuple[Array, Array]], candidate: Sequence[tuple[Array, Array]]) -> _core.Pair:
    """Two chains of exact weights."""
    return _core.Pair(reference[0][0].shape[1], steps(reference), steps(candidate))
