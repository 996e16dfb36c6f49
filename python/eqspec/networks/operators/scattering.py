"""ScatterND and ScatterElements: entries of one value put in place of those of another.

Each result is one entry of either value, so the operator is asked of the reference evaluator of the package onnx, on
the positions of all entries. Where two updates have the same place runtimes choose; such a file is refused. Where they
are added to what is there (reduction "add"), as messages are in networks over the edges of a graph, the result is a
sum; it is a maximum, a minimum or a product with the other reductions.

Places along one axis may depend on the input, as those of a TopK do in mixtures of experts. With [p = j] from `lookup`,

    result_j = data_j + sum over updates u at p of [p = j] (u - data_j)        (u alone where they are added)

where no two updates have the same place: the places of a TopK are known to differ, and so is a single one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from onnx import NodeProto

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Computed, Levels
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators import comparisons, elementwise, folding, functions, lookup, pooling, reductions
from eqspec.networks.operators.operator_call import IN_REAL, Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of, concatenated


def scatter(call: OperatorCall) -> Sequence[Value]:
    """The first input, with entries of the third at the places that the second says."""
    if call.node.op_type == "Scatter":  # what ScatterElements was called before opset 11
        node = NodeProto()
        node.CopyFrom(call.node)
        node.op_type = "ScatterElements"
        call = replace(call, node=node, opset=11)
    found = call.attribute("reduction")
    reduction = b"none" if found is None or not found.s else found.s
    rounds = reduction in (b"add", b"mul") and any(isinstance(v, Enclosure) for v in call.inputs)
    if folding.is_constant(call) and not rounds:
        return folding.fold(call)
    if isinstance(call.value(1), Levels):
        return [_at_varying_places(call, reduction)]
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
        fix = "scatter every entry to a place of its own; torch's older exporter leaves out the sum of scatter_add and "
        fix += "index_add, with dynamo=True it is written"
        raise UnreadableError("it puts two entries at one place", fix)
    return [concatenated(values, positions)]


def _reduced(
    call: OperatorCall, data: Affine | Enclosure, places: Whole, updates: Affine | Enclosure, kind: str
) -> Value:
    """data, with every update added at its place, where others may be added, too; or compared, or multiplied."""
    if call.given.unit and kind in ("add", "mul"):
        raise UnreadableError("in which order float32 adds them is left to a runtime", IN_REAL)
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


def _at_varying_places(call: OperatorCall, reduction: bytes) -> Value:
    """Updates put, or added, at places along one axis that depend on the input."""
    call.refuse_rounded_jump("where it puts entries jumps from place to place")
    if reduction not in (b"none", b"add"):
        message = f"reduction {reduction.decode(errors='replace')!r} at places that depend on the input"
        raise UnreadableError(message, "put or add the updates")
    data, updates = call.real_value(0), call.real_value(2)
    places, shape, axis = _places_along_an_axis(call, data.shape, updates.shape)
    size, count = data.shape[axis], shape[axis]
    if reduction == b"none" and not _apart(places, axis):
        message = "two entries may be put at one place, which depends on the input"
        raise UnreadableError(message, "scatter every entry to a place of its own, as those of a TopK are")
    chosen = _is_place(places, shape, axis, size)
    lines = np.moveaxis(np.arange(prod(data.shape)).reshape(data.shape), axis, -1)
    lines = lines[tuple(slice(n) for n in np.delete(shape, axis))].reshape(-1, size)  # those that the updates cover
    moves = _rearranged(updates, lambda a: np.moveaxis(a, axis, -1).reshape(-1, count, 1))
    if reduction == b"none":
        old = _rearranged(data, lambda a: a.reshape(-1)[lines][:, None, :])
        moves = elementwise.add(moves, comparisons.negated(old))
    moves = elementwise.multiply(chosen, moves)  # (lines, count, size)
    values = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in (data, moves)]
    read = np.full((prod(data.shape), 1 + count), NONE, np.int64)
    read[:, 0] = np.arange(len(read))
    read[lines, 1:] = np.moveaxis(len(read) + np.arange(values[1].size).reshape(-1, count, size), 1, -1)
    return pooling.mean(af.stack(values), read, np.ones(len(read), int), data.shape)


def _rearranged(value: Affine | Enclosure, f: Callable[[Indices], Indices]) -> Affine | Enclosure:
    made = apply(value, f)
    assert isinstance(made, Affine | Enclosure)
    return made


def _places_along_an_axis(
    call: OperatorCall, data: tuple[int, ...], updates: tuple[int, ...]
) -> tuple[Levels, tuple[int, ...], int]:
    """The places, kept within the data, the shape of the updates that they are of, and the axis that they count along.

    They have an axis for each of the data, of the updates' size or of size 1. UnreadableError where shapes do not fit.
    """
    places, axis = call.value(1), 0
    assert isinstance(places, Levels)
    if call.node.op_type == "ScatterND":
        places, shape = _along_the_first_axis(places, data)
    else:
        axis, shape = axis_of(call.integer("axis", 0), len(data)), places.shape
    if (
        updates != shape
        or len(shape) != len(data)
        or any(n > d for i, (n, d) in enumerate(zip(shape, data, strict=True)) if i != axis)
    ):
        message = f"updates of shape {updates} at places of {places.shape} in {data}"
        raise UnreadableError(message, "export the model again")
    size = data[axis]
    if places.low < -size or places.high >= size:
        places = lookup.within(call, places, size)
    lookup.check_count(places, size)
    return places, shape, axis


def _is_place(places: Levels, shape: tuple[int, ...], axis: int, size: int) -> Affine | Enclosure:
    """[p = j] for the place p of each update and each j below `size`: (lines, updates of a line, size)."""
    check_value((places.size, size))
    numbers = np.arange(places.low, places.high + 1) % size
    put = lookup.rows_at(places, Enclosure((numbers[:, None] == np.arange(size)).astype(np.float64)))
    at = np.moveaxis(np.arange(places.size).reshape(places.shape), axis, -1)
    at = np.broadcast_to(at, (*np.delete(shape, axis), shape[axis])).reshape(-1, shape[axis])
    check_value((len(at), shape[axis], size))
    return _rearranged(put, lambda a: a.reshape(-1, size)[at])


def _along_the_first_axis(places: Levels, shape: tuple[int, ...]) -> tuple[Levels, tuple[int, ...]]:
    """The places of a ScatterND along the first axis alone, with an axis for each of the data; shape of the updates."""
    if places.shape[-1:] != (1,) or len(places.shape) != 2:
        message = f"places of shape {places.shape}, along more axes than one, that depend on the input"
        raise UnreadableError(message, "write it with ScatterElements along one axis")
    count = len(places.shape) and places.shape[0]
    return places.rearranged(lambda a: a.reshape(count, *(1,) * (len(shape) - 1))), (count, *shape[1:])


def _apart(places: Levels, axis: int) -> bool:
    """Whether the places of each line are known to differ from each other."""
    if places.shape[axis] == 1:
        return True
    if not isinstance(places.rule, Computed) or places.rule.groups is None:
        return False
    lines = np.moveaxis(places.index, axis, -1).reshape(-1, places.shape[axis])
    groups, ordered = places.rule.groups[lines], np.sort(lines, axis=1)
    return bool((groups == groups[:, :1]).all() and (ordered[:, 1:] != ordered[:, :-1]).all())


OPERATORS: dict[str, Operator] = {
    "Scatter": scatter,
    "ScatterElements": scatter,
    "ScatterND": scatter,
}
