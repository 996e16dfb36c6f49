"""Operators on constant integers and truth values: what computes shapes, masks and places, in all of their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import TYPES, Generator, partner, sample_of

WIDE = (np.int32, np.int64, np.int32, np.int64, np.uint32, np.uint64, np.int8, np.uint8)


def whole(g: Builder, shape: Sequence[int] | None = None, dtype: Any = None) -> Value:
    """Constant integers, mostly of a type that the operator has in a runtime."""
    return g.constant(g.integers(g.some_shape(2) if shape is None else shape, g.one(WIDE) if dtype is None else dtype))


def reduce(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = whole(g)
        rank = sample_of(v).ndim
        axes = sorted(g.rng.permutation(rank)[: g.whole(0, rank)].tolist())
        attributes: dict[str, Any] = {"keepdims": g.one([0, 1])}
        if axes and g.opset < 18:
            attributes["axes"] = axes
        add(g, kind, [v, g.indices(axes)] if axes and g.opset >= 18 else [v], **attributes)

    return make


def cumulative_sum(g: Builder) -> None:
    v = whole(g)
    rank = sample_of(v).ndim
    axis = g.constant(np.array(g.whole(-rank, max(0, rank - 1)), g.one([np.int32, np.int64])))
    add(g, "CumSum", [v, axis], exclusive=g.one([0, 1]), reverse=g.one([0, 1]))


def remainder(g: Builder) -> None:
    v = whole(g)
    other = g.integers(partner(g, sample_of(v).shape), sample_of(v).dtype)
    least = -1 if other.dtype.kind == "i" else 0  # a division that has no quotient ends the process of some runtimes
    other = np.where((other == 0) | (other == other.dtype.type(least)), other.dtype.type(3), other)
    add(g, "Mod", [v, g.constant(other)], **({} if g.chance(0.4) else {"fmod": g.one([0, 1])}))


def shift(g: Builder) -> None:
    v = whole(g, dtype=g.one([np.uint8, np.uint32, np.uint64]))
    bits = 8 * sample_of(v).dtype.itemsize
    by = np.asarray(g.rng.integers(0, bits, sample_of(v).shape), sample_of(v).dtype)
    add(g, "BitShift", [v, g.constant(by)], direction=g.one(["LEFT", "RIGHT"]))


def bitwise(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = whole(g)
        other = [] if kind == "BitwiseNot" else [whole(g, partner(g, sample_of(v).shape), sample_of(v).dtype)]
        add(g, kind, [v, *other])

    return make


def compare(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = whole(g) if g.chance(0.7) else g.constant(g.floats(g.some_shape(2)))
        shape = partner(g, sample_of(v).shape)
        floats = sample_of(v).dtype.kind == "f"
        add(g, kind, [v, g.constant(g.floats(shape)) if floats else whole(g, shape, sample_of(v).dtype)])

    return make


def logical(kind: str) -> Generator:
    def make(g: Builder) -> None:
        shape = g.some_shape(2)
        shapes = [shape] if kind == "Not" else [shape, partner(g, shape)]
        add(g, kind, [g.constant(g.rng.integers(0, 2, s).astype(bool)) for s in shapes])

    return make


def largest_place(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = whole(g)
        rank = sample_of(v).ndim
        attributes: dict[str, Any] = {"axis": g.whole(-rank if g.opset >= 11 else 0, max(0, rank - 1))}
        if g.opset >= 12 and g.chance(0.5):
            attributes["select_last_index"] = g.one([0, 1])
        add(g, kind, [v], keepdims=g.one([0, 1]), **attributes)

    return make


def largest(g: Builder) -> None:
    v = whole(g)
    shape = sample_of(v).shape
    axis = g.whole(-len(shape), max(0, len(shape) - 1))
    count = g.constant(np.array([g.whole(0, shape[axis] if shape else 1)], np.int64))
    attributes = {"axis": axis, "largest": g.one([0, 1])}
    found = add(g, "TopK", [v, count], 2, **attributes)
    g.values.append(g.one(found))


def arange(g: Builder) -> None:
    dtype = g.one([np.int32, np.int64, np.int16])
    numbers = [g.whole(-9, 9), g.whole(-9, 20), g.one([1, 2, 3, -1, -4])]
    add(g, "Range", [g.constant(np.array(n, dtype)) for n in numbers])


def one_hot(g: Builder) -> None:
    depth = g.whole(1, 4)
    places = g.constant(np.asarray(g.rng.integers(-depth - 1, depth + 1, g.some_shape(2)), np.int64))
    values = g.constant(g.integers((2,), g.one([np.int64, np.int32])))
    attributes = {} if g.chance(0.4) else {"axis": g.whole(-sample_of(places).ndim - 1, sample_of(places).ndim)}
    add(g, "OneHot", [places, g.constant(np.array(depth, np.int64)), values], **attributes)


def nonzero(g: Builder) -> None:
    add(g, "NonZero", [g.constant(np.asarray(g.rng.integers(0, 2, g.some_shape(2)), g.one([np.int64, np.int32])))])


def eye(g: Builder) -> None:
    v = whole(g, (g.whole(1, 3), g.whole(1, 3)), np.int64)
    attributes = {"k": g.whole(-3, 3)} if g.chance(0.6) else {}
    if g.chance(0.5):
        attributes["dtype"] = TYPES[g.one([np.float32, np.int32, np.int64])]
    add(g, "EyeLike", [v], **attributes)


def unique(g: Builder) -> None:
    v = g.constant(np.asarray(g.rng.integers(-2, 3, g.some_shape(2)), np.int64))
    axis = {"axis": g.whole(0, sample_of(v).ndim - 1)} if sample_of(v).ndim and g.chance(0.4) else {}
    g.values.append(g.one(add(g, "Unique", [v], 4, sorted=g.one([0, 1]), **axis)))


COUNTING: dict[str, Generator] = {
    "And": logical("And"),
    "ArgMax": largest_place("ArgMax"),
    "ArgMin": largest_place("ArgMin"),
    "BitShift": shift,
    "BitwiseAnd": bitwise("BitwiseAnd"),
    "BitwiseNot": bitwise("BitwiseNot"),
    "BitwiseXor": bitwise("BitwiseXor"),
    "CumSum": cumulative_sum,
    "Equal": compare("Equal"),
    "EyeLike": eye,
    "GreaterOrEqual": compare("GreaterOrEqual"),
    "Less": compare("Less"),
    "Mod": remainder,
    "NonZero": nonzero,
    "Not": logical("Not"),
    "OneHot": one_hot,
    "Range": arange,
    "ReduceProd": reduce("ReduceProd"),
    "TopK": largest,
    "Unique": unique,
    "Xor": logical("Xor"),
}
COUNTED_SINCE = {
    "BitShift": 11, "BitwiseAnd": 18, "BitwiseNot": 18, "BitwiseXor": 18, "CumSum": 11, "Equal": 7, "EyeLike": 9,
    "GreaterOrEqual": 12, "Less": 9, "Mod": 10, "NonZero": 9, "OneHot": 11, "Range": 11, "TopK": 11, "Unique": 11,
}  # fmt: skip
