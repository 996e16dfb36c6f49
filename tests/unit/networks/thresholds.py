"""How far points are from the thresholds of a network's quantisers, where runtimes that round may differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import Network
from eqspec.networks.curves import Curves
from eqspec.networks.evaluation import values
from eqspec.networks.quantiser import Quantiser

CLEAR = 2.0**-14
"""In levels: what float32 rounds in networks of 8 bits is a hundredth of it."""


def clear_of_thresholds(network: Network, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points keep away from all thresholds of all quantisers that round to the nearest, by the sums in front.

    At a tie itself, as sums on a grid have it, every runtime decides alike.
    """
    clear = np.ones(len(points), bool)
    for step, sums in zip(network.steps, values(network.steps, points.T), strict=True):
        if not isinstance(step.function, Curves):
            continue
        for curve, rows in step.function.groups(step.rows):
            if curve.name == "quantiser":
                quantiser = Quantiser.of(curve)
                t = sums[rows] / quantiser.scale + quantiser.zero
                distance = np.abs(t - np.floor(t) - 0.5)
                near = (distance > 0.0) & (distance < CLEAR)
                clear &= ~(near & (t > quantiser.low - 1) & (t < quantiser.high + 1)).any(axis=0)
    return clear
