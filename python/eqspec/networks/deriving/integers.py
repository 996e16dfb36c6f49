"""A float network in integers: the network of the ONNX file with quantisers that is made of it.

The file is made in memory and read like any other, so what is derived is what the exported file means, to the bit. The
last ranges are kept, as a search over bits asks for the same ones again and again.
"""

from __future__ import annotations

import hashlib
from dataclasses import field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import DerivationError, NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.deriving import folded_normalizations
from eqspec.networks.deriving.calibration import checked_rows, ranges
from eqspec.networks.deriving.float_graph import FloatGraph, digest, float_graph
from eqspec.networks.deriving.precision import Integers, Ranges
from eqspec.networks.deriving.quantised_graph import Quantising
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.roundoff import LARGEST

_COMPARED, _FAR = 16, 1e-2
"""At so many rows a folded graph is compared with its network; and a share of the outputs that no rounding explains."""


def in_integers(network: Network, precision: Integers, measured: Ranges) -> Network:
    """The network with quantisers for these ranges of its values. Its `content` is the file. DerivationError."""
    quantising = Quantising(_folded_graph(network), precision)
    missing = next((name for name in quantising.measured if name not in measured), None)
    if missing is not None:
        fix = "calibrate this network: the ranges are those of another one"
        raise DerivationError(network.source, f"there is no range of {missing!r}", fix=fix)
    for name in quantising.measured:
        least, most = measured[name]
        if not -LARGEST <= least <= most <= LARGEST:
            fix = "calibrate the network again"
            raise DerivationError(network.source, f"the range of {name!r} is {least} to {most}", fix=fix)
    stored = quantising.model(measured).SerializeToString(deterministic=True)
    name = f"{network.source} as {precision.text}"
    return replace(_read(name, stored), content=stored)


def _read(name: str, stored: bytes) -> Network:
    try:
        with np.errstate(all="ignore"):
            return onnx_reader.read(name, stored)
    except NetworkError as error:
        raise DerivationError(name, error.message, node=error.node, operator=error.operator, fix=error.fix) from error


def calibrate(network: Network, rows: NDArray[np.float64]) -> Ranges:
    """The least and the largest number of each value that is quantised, at rows (N, I) in the network's units.

    They are the same for every number of bits. DerivationError for rows that do not fit, and where the network cannot
    be quantised.
    """
    given = checked_rows(network, rows)
    asked = hashlib.sha256(f"{digest(network)} {given.shape}\n".encode())
    asked.update(np.ascontiguousarray(given).tobytes())
    return _measured(_Calibration(asked.hexdigest(), network, given))


@dataclass(frozen=True)
class _Calibration:
    """A network and rows to calibrate it at, which are known by a digest of both."""

    digest: str
    network: Network = field(compare=False)
    rows: NDArray[np.float64] = field(compare=False)


@lru_cache(maxsize=4)
def _measured(asked: _Calibration) -> Ranges:
    graph = _folded_graph(asked.network)
    _check_folded(graph, asked)
    # Which values are measured does not depend on how many bits they get.
    return ranges(graph, asked.network, asked.rows, Quantising(graph, Integers(8)).measured)


def _folded_graph(network: Network) -> FloatGraph:
    graph = float_graph(network)
    folded_normalizations.fold(graph)
    return graph


def _check_folded(graph: FloatGraph, asked: _Calibration) -> None:
    """DerivationError where the graph is another function than the network at some rows: what folds is not trusted."""
    rows, network = asked.rows[:_COMPARED], asked.network
    made = _read(network.source, graph.model([graph.declared_output]).SerializeToString())
    with np.errstate(all="ignore"):
        found, expected = made.evaluate(rows), network.evaluate(rows)
    size = np.abs(expected).max(initial=1e-6)
    if not np.allclose(found, expected, rtol=0, atol=_FAR * size, equal_nan=True):
        message = "with its normalisations folded into its layers it computes something else"
        raise DerivationError(network.source, message, fix="report it with the file; or fold them before exporting")
