"""Which numbers the values of a graph take on at the rows of a table: the least and the largest of each.

onnxruntime runs the float graph, without rewriting it, and gives every value that is asked for. Ranges decide scales
and nothing else; that they are computed in float32 is no matter of soundness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray
from onnx import ValueInfoProto

from eqspec.errors import DerivationError
from eqspec.networks.deriving.float_graph import FloatGraph
from eqspec.networks.deriving.precision import Ranges
from eqspec.networks.network import Network, Port
from eqspec.networks.roundoff import LARGEST
from eqspec.networks.without_telemetry import onnxruntime

_MOST_NUMBERS = 1 << 20
"""The most numbers of the inputs that are run at a time."""
_FEW, _NEAR = 64, 1e-4
"""So many rows are run one after the other; and how near, in float32, two ways of running a row come to each other."""


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
    try:
        single = _Run(graph, network, wanted)
        together = _together(graph, network, rows, wanted, single)
        found = single.ranges(rows, 1) if together is None else together.ranges(rows, _MOST_NUMBERS)
    except Exception as error:  # onnxruntime's own errors have no common type
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        message = f"onnxruntime does not run the float network at the rows ({said})"
        fix = "compare the rows with what the network takes; or export it with a newer opset"
        raise DerivationError(network.source, message, fix=fix) from error
    for name, ends in found.items():
        if not np.isfinite(ends).all():
            message = f"{name!r} is not finite at one of the rows"
            raise DerivationError(network.source, message, fix="leave rows out that the network cannot take")
    return found


class _Run:
    """A session that gives the wanted values; `many` says that it takes any number of rows, and else one."""

    def __init__(self, graph: FloatGraph, network: Network, wanted: Sequence[str], *, opened: bool = False) -> None:
        self._ports = network.ports or (Port(graph.inputs[0].name, (), network.input_size),)
        self._shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in graph.inputs}
        if opened:
            graph = _opened(graph)
            self._shapes = {name: [0, *shape[1:]] for name, shape in self._shapes.items()}
        sizes = {port.name: port.size for port in self._ports}
        self.many = all(len(s) > 1 and not s[0] and prod(s[1:]) == sizes[n] for n, s in self._shapes.items())
        self._wanted = list(dict.fromkeys(wanted))
        self._asked = [name for name in self._wanted if name not in self._shapes]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model = graph.model([ValueInfoProto(name=name) for name in dict.fromkeys([*self._asked, graph.output])])
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def values(self, rows: NDArray[np.float64]) -> dict[str, NDArray[np.float32]]:
        """The wanted values at some rows."""
        fed, begin, some = dict[str, NDArray[np.float32]](), 0, rows.astype(np.float32)
        for port in self._ports:
            part = some[:, begin : begin + port.size]
            begin += port.size
            shape = self._shapes[port.name]
            single = [d or 1 for d in shape]
            if self.many:
                fed[port.name] = part.reshape(len(some), *shape[1:])
            elif prod(single) == port.size:
                fed[port.name] = part.reshape(single)
            else:  # the one open size is no batch, or the batch is fixed: the row once or repeated
                fed[port.name] = np.resize(part, [d or max(1, port.size // prod(single)) for d in shape])
        answers = self._session.run(self._asked, fed) if self._asked else []
        return fed | dict(zip(self._asked, answers, strict=True))

    def ranges(self, rows: NDArray[np.float64], numbers: int) -> dict[str, tuple[float, float]]:
        """The least and the largest number of each wanted value, with so many numbers of rows (or one row) at once."""
        found, at_once = dict.fromkeys(self._wanted, (np.inf, -np.inf)), max(1, numbers // rows.shape[1])
        for start in range(0, len(rows), at_once):
            values = self.values(rows[start : start + at_once])
            for name, (least, most) in found.items():
                found[name] = min(least, float(values[name].min())), max(most, float(values[name].max()))
        return found


def _together(
    graph: FloatGraph, network: Network, rows: NDArray[np.float64], wanted: Sequence[str], single: _Run
) -> _Run | None:
    """A run of many rows at once: of the graph, or with its batch opened; None unless two rows give what each gives."""
    if not single.many and len(rows) <= _FEW:
        return None
    try:
        run = single if single.many else _Run(graph, network, wanted, opened=True)
        both = run.values(rows[:2])
        for row in range(min(2, len(rows))):
            alone = single.values(rows[row : row + 1])
            if not all(both[n].shape[1:] == a.shape[1:] and _near(both[n][row], a[0]) for n, a in alone.items()):
                return None
    except Exception:  # whatever makes sense of a single row alone
        return None
    return run if run.many else None


def _near(a: NDArray[np.float32], b: NDArray[np.float32]) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= _NEAR * (1.0 + np.abs(b).max(initial=0.0)))


def _opened(graph: FloatGraph) -> FloatGraph:
    """The graph with a first axis of any size."""
    inputs = list[ValueInfoProto]()
    for value in graph.inputs:
        inputs.append(ValueInfoProto())
        inputs[-1].CopyFrom(value)
        inputs[-1].type.tensor_type.shape.dim[0].dim_param = "rows"
    return replace(graph, inputs=inputs)
