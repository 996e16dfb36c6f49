"""ScatterND and ScatterElements at constant places: entries of one value put in place of those of another.

Each result is one entry of either value, so the operator is asked of the reference evaluator of the package onnx, on
the positions of all entries. Where two updates have the same place runtimes choose; such a file is refused. Where they
are added to what is there (reduction "add"), as messages are in networks over the edges of a graph, the result is a
sum; it is a maximum, a minimum or a product with the other reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators import folding, functions, pooling, reductions
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of, concatenated


def scatter(call: OperatorCall) -> Sequence[Value]:
    """The first input, with entries of the third at the places that the second says."""
    found = call.attribute("reduction")
    reduction = b"none" if found is None or not found.s else found.s
    rounds = reduction in (b"add", b"mul") and any(isinstance(v, Enclosure) for v in call.inputs)
    if folding.is_constant(call) and not rounds:
        return folding.fold(call)
    data, places, updates = call.real_value(0), call.whole(1), call.real_value(2)
    if reduction in (b"add", b"max", b"min", b"mul"):
        return [_reduced(call, data, places, updates, reduction.decode())]
    if reduction != b"none":
        raise UnreadableError(f"an unknown reduction {reduction!r}", "export the model again")
    values = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in (data, updates)]
    check_value(data.shape)
    before = np.arange(values[0].size, dtype=np.int64).reshape(data.shape)
    behind = values[0].size + np.arange(values[1].size, dtype=np.int64).reshape(updates.shape)
    (positions,) = folding.run(call.node, call.opset, [before, places, behind])
    put = positions[positions >= values[0].size]
    if put.size != values[1].size or np.unique(put).size != put.size:
        raise UnreadableError("it puts two entries at one place", "scatter every entry to a place of its own")
    return [concatenated(values, positions)]


def _reduced(
    call: OperatorCall, data: Affine | Enclosure, places: Whole, updates: Affine | Enclosure, kind: str
) -> Value:
    """data, with every update added at its place, where others may be added, too; or compared, or multiplied."""
    if call.given.unit and kind in ("add", "mul"):
        raise UnreadableError("in which order float32 adds them is left to a runtime", "compare it in 'real'")
    targets = _targets(call, data.shape, places)
    if targets.shape != updates.shape:
        raise UnreadableError(
            f"updates of shape {updates.shape} at places of {targets.shape}", "export the model again"
        )
    values = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in (data, updates)]
    size, flat = values[0].size, targets.reshape(-1)
    counts = np.bincount(flat, minlength=size)
    most = int(counts.max(initial=0))
    check_value((size, 1 + most))
    read = np.full((size, 1 + most), NONE, np.int64)
    read[:, 0] = np.arange(size)
    order = np.argsort(flat, kind="stable")
    within = np.arange(flat.size) - np.repeat(np.cumsum(counts) - counts, counts)
    read[flat[order], 1 + within] = size + order
    if kind in ("max", "min"):
        return functions.reduced(af.stack(values), read, data.shape, largest=kind == "max")
    if kind == "mul":
        values.append(af.constant(call.given, Enclosure(np.ones(1))))
        return reductions.multiplied(af.stack(values), np.where(read == NONE, size + flat.size, read), data.shape)
    return pooling.mean(af.stack(values), read, np.ones(size, int), data.shape)


def _targets(call: OperatorCall, shape: tuple[int, ...], places: Whole) -> Indices:
    """The flat place in `shape` of every update."""
    positions = np.arange(prod(shape)).reshape(shape)
    try:
        if call.node.op_type == "ScatterND":
            return np.asarray(positions[tuple(np.moveaxis(places, -1, 0))])
        axis = axis_of(call.integer("axis", 0), len(shape))
        kept = tuple(slice(None) if i == axis else slice(d) for i, d in enumerate(places.shape))
        return np.take_along_axis(positions[kept], places, axis)
    except (IndexError, ValueError) as error:
        raise UnreadableError(f"places beyond {shape} ({error})", "export the model again") from error


OPERATORS: dict[str, Operator] = {
    "ScatterElements": scatter,
    "ScatterND": scatter,
}
