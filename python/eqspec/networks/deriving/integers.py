"""A float network in integers: the network of the ONNX file with quantisers that is made of it.

The file is made in memory and read like any other, so what is derived is what the exported file means, to the bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError, NetworkError
from eqspec.networks.deriving import folded_normalizations
from eqspec.networks.deriving.calibration import checked_rows, ranges
from eqspec.networks.deriving.float_graph import float_graph
from eqspec.networks.deriving.precision import Integers
from eqspec.networks.deriving.quantised_graph import Quantising
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader


def in_integers(network: Network, precision: Integers, rows: NDArray[np.float64] | None) -> Network:
    """The network with quantisers that are calibrated at rows (N, I). Its `content` is the file. DerivationError."""
    given = checked_rows(network, rows)
    graph = float_graph(network)
    folded_normalizations.fold(graph)
    quantising = Quantising(graph, precision)
    model = quantising.model(ranges(graph, network, given, quantising.measured))
    stored = model.SerializeToString(deterministic=True)
    name = f"{network.source} as {precision.text}"
    try:
        with np.errstate(all="ignore"):
            found = onnx_reader.read(name, stored)
    except NetworkError as error:
        raise DerivationError(name, error.message, node=error.node, operator=error.operator, fix=error.fix) from error
    return replace(found, content=stored)
