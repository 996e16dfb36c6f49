"""Which numbers the values of a graph take on at the rows of a table: the least and the largest of each.

onnxruntime runs the float graph, without rewriting it, and gives every value that is asked for. Ranges decide scales
and nothing else; that they are computed in float32 is no matter of soundness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ValueInfoProto

from eqspec.errors import DerivationError
from eqspec.networks.deriving.float_graph import FloatGraph
from eqspec.networks.network import Network, Port
from eqspec.networks.roundoff import LARGEST

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
_MOST_NUMBERS = 1 << 20
"""Of the inputs that are run at a time."""


def checked_rows(network: Network, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (N, I) of finite numbers. DerivationError for anything else."""
    fix = "calibrate at rows of a table, in the units that the network takes"
    found = np.asarray(rows, np.float64)
    if found.ndim != 2 or found.shape[1] != network.input_size:
        message = f"rows of shape {found.shape} are given, it takes (N, {network.input_size})"
        raise DerivationError(network.source, message, fix=fix)
    if not len(found):
        raise DerivationError(network.source, "there are 0 rows to calibrate at", fix=fix)
    wrong = np.flatnonzero(~(np.abs(found) <= LARGEST).all(axis=1))
    if len(wrong):
        message = f"row {wrong[0]} holds numbers that are not finite, or beyond float32"
        raise DerivationError(network.source, message, fix=fix)
    return found


def ranges(graph: FloatGraph, network: Network, rows: NDArray[np.float64], wanted: Sequence[str]) -> Ranges:
    """The least and the largest number of each wanted value, the inputs among them, at rows (N, I)."""
    given = [value.name for value in graph.inputs]
    asked = [name for name in dict.fromkeys(wanted) if name not in given]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = graph.model([ValueInfoProto(name=name) for name in [*asked, graph.output]])
    least, most = dict.fromkeys(wanted, np.inf), dict.fromkeys(wanted, -np.inf)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for fed in _batches(graph, network, rows):
            answers = dict(zip(asked, session.run(asked, fed), strict=True)) if asked else {}
            for name in least:
                values = fed[name] if name in fed else answers[name]
                least[name] = min(least[name], float(values.min()))
                most[name] = max(most[name], float(values.max()))
    except Exception as error:  # onnxruntime's own errors have no common type
        message = f"onnxruntime does not run the float network at the rows ({str(error).splitlines()[0]})"
        raise DerivationError(network.source, message, fix="compare the rows with what the network takes") from error
    for name in least:
        if not np.isfinite([least[name], most[name]]).all():
            message = f"{name!r} is not finite at one of the rows"
            raise DerivationError(network.source, message, fix="leave rows out that the network cannot take")
    return {name: (least[name], most[name]) for name in least}


def _batches(graph: FloatGraph, network: Network, rows: NDArray[np.float64]) -> Any:
    """What is fed, by the name of the input: many rows at once where the batch is open, else one after the other."""
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in graph.inputs}
    ports = network.ports or (Port(graph.inputs[0].name, (), network.input_size),)
    sizes = {port.name: port.size for port in ports}
    is_open = all(len(shape) > 1 and not shape[0] and prod(shape[1:]) == sizes[n] for n, shape in shapes.items())
    at_once = max(1, _MOST_NUMBERS // network.input_size) if is_open else 1
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once].astype(np.float32)
        fed, begin = {}, 0
        for port in ports:
            part = some[:, begin : begin + port.size]
            begin += port.size
            shape = [d or 1 for d in shapes[port.name]]
            if is_open:
                fed[port.name] = part.reshape(len(some), *shape[1:])
            elif prod(shape) == port.size:
                fed[port.name] = part.reshape(shape)
            else:  # the one open size is no batch, or the batch is fixed: the row once or repeated
                wide = [d or max(1, port.size // prod(shape)) for d in shapes[port.name]]
                fed[port.name] = np.resize(part, wide)
        yield fed
