"""ScatterND and ScatterElements at constant places: entries of one value put in place of those of another.

Each result is one entry of either value, so the operator is asked of the reference evaluator of the package onnx, on
the positions of all entries. Where two updates have the same place runtimes choose; such a file is refused. Reductions
(add, mul, max, min) are refused on values that depend on the input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import concatenated


def scatter(call: OperatorCall) -> Sequence[Value]:
    """The first input, with entries of the third at the places that the second says."""
    if folding.is_constant(call):
        return folding.fold(call)
    found = call.attribute("reduction")
    if found is not None and found.s not in (b"", b"none"):
        raise UnreadableError("it adds or compares what it puts in place", "write it with Add, Mul, Max or Min")
    data, places, updates = call.real_value(0), call.whole(1), call.real_value(2)
    values = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in (data, updates)]
    check_value(data.shape)
    before = np.arange(values[0].size, dtype=np.int64).reshape(data.shape)
    behind = values[0].size + np.arange(values[1].size, dtype=np.int64).reshape(updates.shape)
    (positions,) = folding.run(call.node, call.opset, [before, places, behind])
    put = positions[positions >= values[0].size]
    if put.size != values[1].size or np.unique(put).size != put.size:
        raise UnreadableError("it puts two entries at one place", "scatter every entry to a place of its own")
    return [concatenated(values, positions)]


OPERATORS: dict[str, Operator] = {
    "ScatterElements": scatter,
    "ScatterND": scatter,
}
