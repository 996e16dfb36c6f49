"""A float network in integers: the network of the ONNX file with quantisers that is made of it.

The file is made in memory and read like any other, so what is derived is what the exported file means, to the bit. The
float graph and its ranges are the same for every number of bits; the last ones are kept, as a search over bits asks for
them again and again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError, NetworkError
from eqspec.networks.deriving import folded_normalizations
from eqspec.networks.deriving.calibration import Ranges, checked_rows, ranges
from eqspec.networks.deriving.float_graph import FloatGraph, digest, float_graph
from eqspec.networks.deriving.precision import Integers
from eqspec.networks.deriving.quantised_graph import Quantising
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader


def in_integers(network: Network, precision: Integers, rows: NDArray[np.float64] | None) -> Network:
    """The network with quantisers that are calibrated at rows (N, I). Its `content` is the file. DerivationError."""
    graph, measured = _calibrated(_Calibration.of(network, checked_rows(network, rows)))
    model = Quantising(graph, precision).model(measured)
    stored = model.SerializeToString(deterministic=True)
    name = f"{network.source} as {precision.text}"
    try:
        with np.errstate(all="ignore"):
            found = onnx_reader.read(name, stored)
    except NetworkError as error:
        raise DerivationError(name, error.message, node=error.node, operator=error.operator, fix=error.fix) from error
    return replace(found, content=stored)


@dataclass(frozen=True)
class _Calibration:
    """A network and rows to calibrate it at, told apart by a digest of both."""

    digest: str
    network: Network = field(compare=False)
    rows: NDArray[np.float64] = field(compare=False)

    @classmethod
    def of(cls, network: Network, rows: NDArray[np.float64]) -> _Calibration:
        """With the digest of everything that the float graph and its ranges follow from."""
        found = hashlib.sha256(f"{digest(network)} {rows.shape}\n".encode())
        found.update(np.ascontiguousarray(rows).tobytes())
        return cls(found.hexdigest(), network, rows)


@lru_cache(maxsize=4)
def _calibrated(asked: _Calibration) -> tuple[FloatGraph, Ranges]:
    graph = float_graph(asked.network)
    folded_normalizations.fold(graph)
    # Which values are measured does not depend on how many bits they get.
    wanted = Quantising(graph, Integers(8)).measured
    return graph, ranges(graph, asked.network, asked.rows, wanted)
