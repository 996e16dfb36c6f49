"""Piecewise linear functions, reductions, and what picks entries by constants: nodes at the edges of what they may be.

A sample of what they give is what onnx's reference implementation makes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from conformance.building import Builder, Value
from conformance.operators import TYPES, Generator, partner, sample_of


def add(g: Builder, kind: str, inputs: Sequence[Value | None], outputs: int = 1, **attributes: Any) -> list[Value]:
    """A node with the sample that the reference implementation gives."""

    def sample() -> Any:
        if any(v is not None and v.sample is None for v in inputs):
            raise LookupError("what went before has no sample")
        given = {v.name: sample_of(v) for v in inputs if v is not None}
        values = [helper.make_tensor_value_info(n, TYPES[a.dtype.type], a.shape) for n, a in given.items()]
        names = [f"made{i}" for i in range(outputs)]
        results = [helper.make_tensor_value_info(name, g.kind, None) for name in names]
        node = helper.make_node(kind, ["" if v is None else v.name for v in inputs], names, **attributes)
        graph = helper.make_graph([node], "g", values, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8)
        try:
            made = ReferenceEvaluator(model).run(None, given)
        except Exception as error:  # whatever numpy raises
            raise ValueError(str(error)) from None
        return made if outputs > 1 else made[0]  # type: ignore[index]

    return g.add(kind, inputs, sample, outputs, **attributes)


def absolute(g: Builder) -> None:
    add(g, "Abs", [g.operand(floats=g.chance(0.9))])


def leaky_relu(g: Builder) -> None:
    attributes: dict[str, Any] = {} if g.chance(0.3) else {"alpha": g.one([0.25, 0.0, 1.0, -0.5, 2.0, 0.1, 0.01])}
    add(g, "LeakyRelu", [g.operand(floats=True)], **attributes)


def parametric_relu(g: Builder) -> None:
    v = g.operand(floats=True)
    shape = sample_of(v).shape
    if g.opset < 7:
        slope = g.one([(1,), shape, shape[1:2] or (1,)])
    else:
        slope = g.one([(1,), shape, (), (*shape[1:2], *(1,) * max(0, len(shape) - 2)), partner(g, shape)])
    add(g, "PRelu", [v, g.constant(g.floats(slope))])


def clip(g: Builder) -> None:
    v = g.operand(floats=g.chance(0.9))
    ends = [None if g.chance(0.25) else g.one([-2.0, -0.5, 0.0, 0.25, 1.0, 6.0]) for _ in range(2)]
    if None not in ends and g.chance(0.85):
        ends = sorted(ends)  # type: ignore[type-var]
    if g.opset < 11:
        attributes: dict[str, Any] = {
            name: end for name, end in zip(("min", "max"), ends, strict=True) if end is not None
        }
        add(g, "Clip", [v], **attributes)
        return
    dtype = sample_of(v).dtype if g.chance(0.97) else np.float64
    unsigned = sample_of(v).dtype.kind == "u"
    shape = (1,) if g.chance(0.05) else ()
    given = [None if e is None else g.constant(np.full(shape, abs(e) if unsigned else e, dtype)) for e in ends]
    add(g, "Clip", [v, *given])


def hard_sigmoid(g: Builder) -> None:
    attributes: dict[str, Any] = {}
    if g.chance(0.6):
        attributes["alpha"] = g.one([0.25, 0.5, -0.25, 0.0, 1.0, 1 / 6])
    if g.chance(0.6):
        attributes["beta"] = g.one([0.5, 0.0, -1.0, 0.25])
    add(g, "HardSigmoid", [g.operand(floats=True)], **attributes)


def extreme(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = g.operand(floats=g.chance(0.95))
        shape, parts = sample_of(v).shape, [v]
        for _ in range(g.whole(0, 3)):
            same = [w for w in g.values if w.sample is not None and w.sample.dtype == sample_of(v).dtype]
            if g.chance(0.3):
                parts.append(g.one(same))
            elif sample_of(v).dtype.kind == "f":
                parts.append(g.constant(g.floats(partner(g, shape) if g.opset >= 8 else shape)))
        g.rng.shuffle(parts)
        add(g, kind, parts)

    return make


def reduce(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = g.operand(floats=g.chance(0.95))
        rank = sample_of(v).ndim
        axes = sorted(g.rng.permutation(rank)[: g.whole(0 if g.chance(0.2) else min(1, rank), rank)].tolist())
        if g.opset >= 11 and g.chance(0.4):
            axes = [a - rank for a in axes]
        if g.chance(0.03):
            axes = [*axes, *axes]
        attributes: dict[str, Any] = {} if g.chance(0.5) else {"keepdims": g.one([0, 1])}
        inputs: list[Value | None] = [v]
        leave = g.chance(0.25)
        if g.opset >= (13 if kind == "ReduceSum" else 18):
            if g.chance(0.3):
                attributes["noop_with_empty_axes"] = g.one([0, 1])
            if not leave:
                inputs.append(g.constant(np.array(axes, np.int64)))
        elif not leave and axes:
            attributes["axes"] = axes
        add(g, kind, inputs, **attributes)

    return make


def reciprocal(g: Builder) -> None:
    add(g, "Reciprocal", [g.constant(g.floats(g.some_shape()))])


def where(g: Builder) -> None:
    v = g.operand(floats=True)
    shape = sample_of(v).shape
    chosen = g.constant(g.rng.integers(0, 2, partner(g, shape)).astype(bool))
    other = g.operand(floats=True) if g.chance(0.3) else g.constant(g.floats(partner(g, shape)))
    pair = [other, v] if g.chance(0.5) else [v, other]
    add(g, "Where", [chosen, *pair])


def compress(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    axis = g.whole(-len(shape) if g.opset >= 11 else 0, max(0, len(shape) - 1))
    flat = g.chance(0.3) or not shape
    size = sample_of(v).size if flat else shape[axis]
    kept = g.rng.integers(0, 2, g.whole(0 if g.chance(0.1) else min(1, size), size)).astype(bool)
    add(g, "Compress", [v, g.constant(kept)], **({} if flat else {"axis": axis}))


def gather_elements(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    axis = g.whole(-len(shape), max(0, len(shape) - 1))
    size = shape[axis] if shape else 1
    sizes = [g.whole(1, d) if d and g.chance(0.1) else d for d in shape]
    if shape:
        sizes[axis] = g.whole(1, 3)
    low, high = (-size, size) if g.chance(0.95) else (-size - 1, size + 1)
    places = g.rng.integers(low, max(low + 1, high), sizes)
    attributes = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    add(g, "GatherElements", [v, g.constant(places.astype(g.one([np.int32, np.int64])))], **attributes)


def gather_nd(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    batch = g.whole(0, max(0, len(shape) - 1)) if g.opset >= 12 and g.chance(0.4) else 0
    depth = g.whole(1, max(1, len(shape) - batch))
    sizes = shape[batch : batch + depth]
    lead = (*shape[:batch], *g.one([(), (1,), (2,), (2, 2)]))
    places = [g.rng.integers(-d if d else 0, max(d, 1), lead) for d in sizes] or [np.zeros(lead, np.int64)]
    index = g.constant(np.stack(places, axis=-1).astype(np.int64))
    add(g, "GatherND", [v, index], **({"batch_dims": batch} if batch else {}))


def scatter_nd(g: Builder) -> None:
    v = g.operand(floats=True)
    shape = sample_of(v).shape
    if not shape or 0 in shape:
        return
    depth = g.whole(1, len(shape))
    kept = int(np.prod(shape[:depth]))
    flat = g.rng.choice(kept, g.whole(1, min(4, kept)), replace=g.chance(0.05))
    places = np.stack(np.unravel_index(flat, shape[:depth]), axis=-1)
    places = np.where(g.rng.random(places.shape) < 0.2, places - np.array(shape[:depth]), places)
    updates = g.constant(g.floats((len(flat), *shape[depth:])), sample_of(v).dtype)
    add(g, "ScatterND", [v, g.constant(places.astype(np.int64)), updates])


def scatter_elements(kind: str) -> Generator:
    """ScatterElements, or what opsets 9 and 10 call so."""

    def made(g: Builder) -> None:
        v = g.operand(floats=True)
        shape = sample_of(v).shape
        if not shape or 0 in shape:
            return
        axis = g.whole(-len(shape), len(shape) - 1)
        sizes = [d if g.chance(0.9) else g.whole(1, d) for d in shape]
        sizes[axis] = g.whole(1, shape[axis])
        order = g.rng.permuted(np.broadcast_to(np.arange(shape[axis]), (*np.delete(sizes, axis), shape[axis])), axis=-1)
        places = np.moveaxis(order[..., : sizes[axis]], -1, axis)
        attributes = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
        updates = g.constant(g.floats(places.shape), sample_of(v).dtype)
        add(g, kind, [v, g.constant(places.astype(g.one([np.int32, np.int64]))), updates], **attributes)

    return made


def reverse_sequence(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    if len(shape) < 2 or 0 in shape[:2]:
        return
    time = g.one([0, 1])
    lengths = g.rng.integers(1 if g.chance(0.9) else 0, shape[time] + 1, shape[1 - time])
    attributes = {} if time == 0 and g.chance(0.5) else {"time_axis": time, "batch_axis": 1 - time}
    add(g, "ReverseSequence", [v, g.constant(lengths.astype(np.int64))], **attributes)


def tile(g: Builder) -> None:
    v = g.operand()
    repeats = [g.one([1, 1, 2, 3, 0 if g.chance(0.05) else 1]) for _ in sample_of(v).shape]
    add(g, "Tile", [v, g.constant(np.array(repeats, np.int64))])


def trilu(g: Builder) -> None:
    v = g.operand(floats=g.chance(0.9))
    attributes = {} if g.chance(0.5) else {"upper": g.one([0, 1])}
    k: Value | None = g.constant(np.array(g.whole(-3, 3), np.int64)) if g.chance(0.6) else None
    add(g, "Trilu", [v, k], **attributes)


FUNCTIONS: dict[str, Generator] = {
    "Abs": absolute,
    "Clip": clip,
    "Compress": compress,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "HardSigmoid": hard_sigmoid,
    "LeakyRelu": leaky_relu,
    "Max": extreme("Max"),
    "Min": extreme("Min"),
    "PRelu": parametric_relu,
    "Reciprocal": reciprocal,
    "ReduceMax": reduce("ReduceMax"),
    "ReduceMean": reduce("ReduceMean"),
    "ReduceMin": reduce("ReduceMin"),
    "ReduceSum": reduce("ReduceSum"),
    "ReverseSequence": reverse_sequence,
    "Scatter": scatter_elements("Scatter"),
    "ScatterElements": scatter_elements("ScatterElements"),
    "ScatterND": scatter_nd,
    "Tile": tile,
    "Trilu": trilu,
    "Where": where,
}
