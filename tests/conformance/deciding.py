"""What is decided by values that depend on the input: sorted entries, categories, counts, masks; and stored places."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of
from conformance.spatial import image

_MOST = 24


def _small(g: Builder) -> Value | None:
    """A value with a few entries and at least one axis."""
    v = g.operand(floats=True, dependent=g.chance(0.9))
    sample = sample_of(v)
    return v if sample.ndim and 0 < sample.size <= _MOST else None


def top(g: Builder) -> None:
    """The largest or smallest entries along an axis; what is read are the values."""
    v = _small(g)
    if v is None:
        return
    shape = sample_of(v).shape
    axis = g.whole(-len(shape) if g.opset >= 11 else 0, len(shape) - 1)
    count = g.whole(1, shape[axis]) if g.chance(0.97) else shape[axis] + 1
    attributes: dict[str, Any] = {} if axis == -1 and g.chance(0.5) else {"axis": axis}
    if g.opset >= 11:
        attributes |= {name: g.one([0, 1]) for name, often in (("largest", 0.6), ("sorted", 0.1)) if g.chance(often)}
    if g.opset < 10:
        found = add(g, "TopK", [v], 2, k=count, **attributes)
    else:
        found = add(g, "TopK", [v, g.constant(np.array([count], np.int64))], 2, **attributes)
    g.values.append(found[0])


def placed(kind: str) -> Generator:
    """The place of the largest or smallest entry, or where it is, and what is looked up there."""

    def make(g: Builder) -> None:
        v = _small(g)
        if v is None:
            return
        shape = sample_of(v).shape
        axis = g.whole(-len(shape) if g.opset >= 11 else 0, len(shape) - 1)
        if kind == "Hardmax":
            (marks,) = add(g, "Hardmax", [v], axis=axis)
            add(g, "Neg", [marks])
            return
        last = {"select_last_index": 1} if g.opset >= 12 and g.chance(0.3) else {}
        (found,) = add(g, kind, [v], axis=axis, keepdims=g.one([0, 1]), **last)
        if found.sample is None:
            return
        if g.chance(0.5):
            add(g, "Gather", [g.constant(g.floats((shape[axis], 2))), found])
        elif g.chance(0.9):
            (place,) = add(g, "Cast", [found], to=g.kind)
            add(g, "Neg", [place])

    return make


def found_again(g: Builder) -> None:
    """What a TopK finds, looked up at its places."""
    v = _small(g)
    if v is None or g.opset < 11:
        return
    axis = g.whole(0, sample_of(v).ndim - 1)
    count = g.constant(np.array([g.whole(1, sample_of(v).shape[axis])], np.int64))
    found = add(g, "TopK", [v, count], 2, axis=axis, largest=g.one([0, 1]))
    if found[1].sample is not None:
        add(g, "GatherElements", [g.one([v, g.input]) if g.input.sample is not None else v, found[1]], axis=axis)


def put_back(g: Builder) -> None:
    """Entries that are put, or added, at the places that a TopK or an ArgMax finds."""
    v = _small(g)
    if v is None or g.opset < 11:
        return
    axis = g.whole(0, sample_of(v).ndim - 1)
    count = g.constant(np.array([g.whole(1, sample_of(v).shape[axis])], np.int64))
    found = add(g, "TopK", [v, count], 2, axis=axis, largest=g.one([0, 1]))
    if found[1].sample is None:
        return
    (updates,) = add(g, "Neg", [found[0]])
    shape = [n + g.whole(0, 1) * (i != axis) for i, n in enumerate(sample_of(v).shape)]
    data = v if g.chance(0.5) else g.constant(g.floats(shape))
    kinds = ["none", "none", "add"] if g.opset >= 16 else ["none"]
    kind = g.one(kinds)
    attributes: dict[str, Any] = {} if (kind == "none" and g.chance(0.7)) or g.opset < 16 else {"reduction": kind}
    if updates.sample is not None:
        add(g, "ScatterElements", [data, found[1], updates], axis=axis, **attributes)


def reached(kind: str) -> Generator:
    """A value that is compared with its own largest entries: of windows, of an axis, or behind a TopK."""

    def make(g: Builder) -> None:
        v = _small(g)
        if v is None or g.opset < 13:
            return
        shape = sample_of(v).shape
        axis = g.whole(0, len(shape) - 1)
        how = g.one(["MaxPool", "ReduceMax", "TopK"])
        if how == "MaxPool" and len(shape) > 2:
            reach = [g.whole(0, 1) for _ in shape[2:]]
            (best,) = add(g, how, [v], kernel_shape=[2 * r + 1 for r in reach], pads=[*reach, *reach])
        elif how == "TopK":
            count = g.whole(1, shape[axis])
            best, _ = add(g, how, [v, g.constant(np.array([count], np.int64))], 2, axis=axis)
            if best.sample is None:
                return
            at = np.array([g.whole(0, count - 1)], np.int64)
            (best,) = add(g, "Gather", [best, g.constant(at)], axis=axis)
        elif g.opset >= 18:
            (best,) = add(g, "ReduceMax", [v, g.constant(np.array([axis], np.int64))])
        else:
            (best,) = add(g, "ReduceMax", [v], axes=[axis])
        if best.sample is not None:
            add(g, kind, [v, best] if g.chance(0.5) else [best, v])

    return make


def sampled(g: Builder) -> None:
    """GridSample at stored places, some beyond the ends."""
    v = image(g)
    shape = sample_of(v).shape
    rank = len(shape) - 2
    if rank < 1 or (g.opset < 20 and rank != 2) or sample_of(v).size > 2 * _MOST:
        return
    outer = (shape[0], *(g.whole(1, 2) for _ in range(rank)), rank)
    numbers = g.rng.integers(-40, 41, outer) / (29 if g.chance(0.9) else 16)
    modes = ["linear", "nearest", "cubic"] if g.opset >= 20 else ["bilinear", "nearest", "bicubic"]
    attributes: dict[str, Any] = {}
    if g.chance(0.7):
        attributes["mode"] = g.one(modes)
    if g.chance(0.7):
        attributes["padding_mode"] = g.one(["zeros", "border", "reflection"])
    if g.chance(0.6):
        attributes["align_corners"] = g.one([0, 1])
    add(g, "GridSample", [v, g.constant(numbers.astype(sample_of(v).dtype))], **attributes)


def counted(g: Builder) -> None:
    """How many thresholds an entry is above, computed with, and what is looked up by it."""
    v = _small(g)
    if v is None or g.opset < 11:
        return
    shape, kind = sample_of(v).shape, g.one([TensorProto.INT64, TensorProto.INT32])
    whole = np.int64 if kind == TensorProto.INT64 else np.int32
    many = g.whole(1, 3)
    (column,) = add(g, "Reshape", [v, g.constant(np.array([*shape, 1], np.int64))])
    (above,) = add(g, g.one(["Greater", "Less"]), [column, g.constant(g.floats((many,)))])
    if above.sample is None:  # which the reference evaluator could not tell
        return
    (number,) = add(g, "Cast", [above], to=kind)
    axis = len(shape)
    if g.opset >= 13:
        (total,) = add(g, "ReduceSum", [number, g.constant(np.array([axis], np.int64))], keepdims=0)
    else:
        (total,) = add(g, "ReduceSum", [number], axes=[axis], keepdims=0)
    low, high = 0, many
    if g.chance(0.4):
        by, off = g.one([1, 2, -1]), g.whole(-1, 1)
        (scaled,) = add(g, "Mul", [total, g.constant(np.array(by, whole))])
        (total,) = add(g, g.one(["Add", "Sub"]), [scaled, g.constant(np.array(off, whole))])
        low, high = -2 * many - 1, 2 * many + 1
    if total.sample is None:
        return
    how = g.one(["Gather", "OneHot", "Equal", "Cast"])
    if how == "Gather":
        add(g, how, [g.constant(g.floats((max(high, -low) + 1, g.whole(1, 2)))), total])
    elif how == "OneHot":
        depth = g.constant(np.array(g.whole(1, many + 1), g.one([np.int64, np.int32])))
        ends = g.constant(g.floats((2,)))
        add(g, how, [total, depth, ends], **({"axis": g.whole(-len(shape) - 1, len(shape))} if g.chance(0.5) else {}))
    elif how == "Equal":
        add(g, how, [total, g.constant(np.array(g.whole(low, high), whole))])
    else:
        add(g, how, [total], to=g.kind)


def hidden_softmax(g: Builder) -> None:
    """Scores of which the input hides some, all but at most of one row, and their shares."""
    v = _small(g)
    if v is None or g.opset < 13:
        return
    shape, dtype = sample_of(v).shape, sample_of(v).dtype
    low = g.constant(np.array(-np.inf, dtype))
    (flag,) = add(g, g.one(["Greater", "Less"]), [v, g.constant(g.floats((1,)))])
    seldom = np.ones(shape[-1], bool)
    seldom[g.whole(0, shape[-1] - 1)] = False  # one entry is always shown
    (flag,) = add(g, "And", [flag, g.constant(seldom)])
    if g.chance(0.5):
        (scores,) = add(g, "Where", [flag, low, v])
    else:
        (mask,) = add(g, "Where", [flag, low, g.constant(np.zeros((), dtype))])
        (scores,) = add(g, "Add", [v, mask] if g.chance(0.5) else [mask, v])
    add(g, "Softmax", [scores], axis=g.one([-1, len(shape) - 1]))
