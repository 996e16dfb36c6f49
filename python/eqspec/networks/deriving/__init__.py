"""Quantised networks from float networks: the candidate of a claim is derived from its reference.

`precision` says to what a network is quantised; `fixed_point` computes as hls4ml does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError
from eqspec.networks.containment import quantised
from eqspec.networks.deriving.fixed_point import in_fixed_point
from eqspec.networks.deriving.integers import in_integers
from eqspec.networks.deriving.precision import FixedPointFormat, Integers, Precision
from eqspec.networks.network import Network


def derive(network: Network, precision: Precision, rows: NDArray[np.float64] | None = None) -> Network:
    """The network in another precision.

    `rows` (N, I) are typical inputs in the units that the network takes: `Integers` are calibrated at them. Fixed-point
    types need none.

    Raises DerivationError where the network, or a part of it, cannot be quantised so.
    """
    if quantised(network):
        fix = "derive from the float network that it was made of"
        raise DerivationError(network.source, "the network is quantised already", fix=fix)
    if network.arithmetic != "real":
        raise DerivationError(network.source, "it is a network in float32 arithmetic", fix="derive it in real numbers")
    if isinstance(precision, FixedPointFormat):
        return in_fixed_point(network, precision)
    return in_integers(network, precision, rows)


__all__ = ["FixedPointFormat", "Integers", "Precision", "derive"]
