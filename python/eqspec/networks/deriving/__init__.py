"""Quantised networks from float networks: the candidate of a claim is derived from its reference.

`precision` says to what a network is quantised. `fixed_point` computes as hls4ml does. `integers` makes an ONNX file
with quantisers: `float_graph` is the graph that it starts from, `folded_normalizations` what goes into weights first,
`calibration` the ranges of values, `scales` what follows from them, `quantised_graph` where quantisers stand, in the
nodes of `quantiser_nodes`. `hls4ml_configuration` has what hls4ml is told. What makes networks is imported when one is
made.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError
from eqspec.networks.containment import quantised
from eqspec.networks.deriving.precision import FixedPointFormat, Integers, Precision, Ranges
from eqspec.networks.network import Network


def derive(network: Network, precision: Precision, calibration: NDArray[np.float64] | Ranges | None = None) -> Network:
    """The network in another precision.

    `Integers` are calibrated: at rows (N, I) of typical inputs in the units that the network takes, or by the ranges
    that `calibrate` found at them. Fixed-point types need neither.

    Raises DerivationError where the network, or a part of it, cannot be quantised so.
    """
    if quantised(network):
        fix = "derive from the float network that it was made of"
        raise DerivationError(network.source, "the network is quantised already", fix=fix)
    if network.arithmetic != "real":
        raise DerivationError(network.source, "it is a network in float32 arithmetic", fix="derive it in real numbers")
    if isinstance(precision, FixedPointFormat):
        from eqspec.networks.deriving.fixed_point import in_fixed_point

        return in_fixed_point(network, precision)
    if calibration is None:
        message = "integers are calibrated, and nothing is given to calibrate them at"
        raise DerivationError(network.source, message, fix="give rows of a table, in the units that the network takes")
    from eqspec.networks.deriving.integers import in_integers

    measured = calibration if isinstance(calibration, Mapping) else calibrate(network, calibration)
    return in_integers(network, precision, measured)


def calibrate(network: Network, rows: NDArray[np.float64]) -> Ranges:
    """The least and the largest number of each value that is quantised, at rows (N, I); see `integers.calibrate`."""
    from eqspec.networks.deriving import integers

    return integers.calibrate(network, rows)


def exported(network: Network, precision: Precision, calibration: NDArray[np.float64] | Ranges | None) -> bytes:
    """The file of what `derive` gives of the same arguments, for those who deploy it.

    `Integers` become an ONNX file, which is the derived network when it is read. Fixed-point types become a
    configuration of hls4ml.

    Raises DerivationError as `derive` does.
    """
    from eqspec.networks.deriving.hls4ml_configuration import configuration

    derived = derive(network, precision, calibration)
    if isinstance(precision, FixedPointFormat):
        return configuration(derived, precision).encode()
    assert derived.content is not None
    return derived.content


__all__ = ["FixedPointFormat", "Integers", "Precision", "Ranges", "calibrate", "derive", "exported"]
