"""Operators that put entries elsewhere: nodes of them with all attributes, at the edges of what they may be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from conformance.building import LEAST, MOST, AnyArray, Builder, Value
from conformance.operators import Generator, partner, sample_of


def concat(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    rank = len(shape)
    axis = g.whole(-rank if g.opset >= 11 or g.chance(0.1) else 0, max(0, rank - 1))
    parts = [v]
    for _ in range(g.whole(0, 2)):
        sizes = list(shape)
        if rank:
            sizes[axis] = g.one([0 if g.chance(0.2) else 1, 1, 2])
        floats = sample_of(v).dtype.kind == "f"
        made = g.floats(sizes).astype(sample_of(v).dtype) if floats else g.rng.integers(0, 2, sizes)
        parts.append(g.constant(made, sample_of(v).dtype) if g.chance(0.8) else v)
    g.rng.shuffle(parts)
    g.add("Concat", parts, lambda: np.concatenate([sample_of(p) for p in parts], axis), axis=axis)


def expand(g: Builder) -> None:
    v = g.operand()
    target = partner(g, tuple(g.one([2, 3]) if d == 1 and g.chance(0.4) else d for d in sample_of(v).shape))
    shape = np.broadcast_shapes(sample_of(v).shape, target) if g.chance(0.0) else target
    g.add("Expand", [v, g.constant(np.array(shape, np.int64))],
          lambda: np.broadcast_to(sample_of(v), np.broadcast_shapes(sample_of(v).shape, target)))  # fmt: skip


def flatten(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    axis = g.whole(-len(shape) if g.opset >= 11 else 0, len(shape) + g.chance(0.05))
    attributes = {} if g.chance(0.3) else {"axis": axis}
    axis = attributes.get("axis", 1)
    rows = int(np.prod(shape[:axis])) if axis != len(shape) else sample_of(v).size
    columns = int(np.prod(shape[axis:])) if axis != len(shape) else 1
    g.add("Flatten", [v], lambda: sample_of(v).reshape(rows, columns), **attributes)


def gather(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    axis = g.whole(-len(shape), max(0, len(shape) - 1))
    size = shape[axis] if shape else 1
    low, high = (-size, size - 1) if g.chance(0.95) else (-size - 1, size)
    places = g.rng.integers(low, max(low, high) + 1, g.one([(), (1,), (2,), (2, 2), (0,) if g.chance(0.2) else (3,)]))
    index = g.constant(np.asarray(places, g.one([np.int32, np.int64])))
    attributes = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    g.add("Gather", [v, index], lambda: np.take(sample_of(v), places, axis), **attributes)


def reshape(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    size = sample_of(v).size
    target: list[int] = g.one(
        [
            [-1],
            [1, -1],
            [size],
            [0] * len(shape),
            [0, -1],
            list(shape[::-1]),
            [1, 1, size],
            [-1, 1],
            [size, -1],
            [0, 0, -1],
        ]
    )
    if g.chance(0.05):
        target = [g.one([-2, 7, -1, 0]) for _ in range(g.whole(0, 3))]
    attributes = {"allowzero": g.one([0, 1])} if g.opset >= 14 and g.chance(0.3) else {}
    kept = [shape[i] if d == 0 and i < len(shape) else d for i, d in enumerate(target)]
    g.add("Reshape", [v, g.constant(np.array(target, np.int64))], lambda: sample_of(v).reshape(kept), **attributes)


def shape_of(g: Builder) -> None:
    v = g.operand()
    attributes: dict[str, Any] = {}
    if g.opset >= 15:
        for name in ("start", "end"):
            if g.chance(0.4):
                attributes[name] = g.whole(-5, 5)
    sizes = np.array(sample_of(v).shape, np.int64)[attributes.get("start", 0) : attributes.get("end")]
    (made,) = g.add("Shape", [v], lambda: sizes, **attributes)
    if made.sample is None:
        return
    if g.chance(0.5):
        ends = g.constant(sizes)
        g.add(
            g.one(["Mul", "Add", "Sub"]),
            [made, ends],
            lambda: sizes * sizes,
            **({"broadcast": 1} if g.opset < 7 else {}),
        )
    elif g.chance(0.5):
        other = g.operand()
        g.add("Expand" if g.opset >= 8 else "Reshape", [other, made], lambda: np.broadcast_to(sample_of(other), sizes))


def slice_(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    rank = len(shape)
    axes = sorted(g.rng.permutation(rank)[: g.whole(0 if g.chance(0.1) else 1, rank)].tolist()) if rank else []
    if g.chance(0.03):
        axes = [*axes, *axes]

    def end() -> int:
        return g.one([LEAST, MOST, -(2**31), 2**31 - 1, MOST - 1]) if g.chance(0.25) else g.whole(-6, 6)

    starts, ends = [end() for _ in axes], [end() for _ in axes]
    steps = [g.one([1, 1, -1, -1, 2, -2, 5, -5, LEAST + 1, MOST]) for _ in axes]
    shown = [a - rank if g.chance(0.3) else a for a in axes]
    leave_axes = axes == list(range(len(axes))) and g.chance(0.5)
    if g.opset < 10:
        steps = [1] * len(axes)
        attributes: dict[str, Any] = {"starts": starts, "ends": ends}
        if not leave_axes:
            attributes["axes"] = shown if g.opset >= 10 else axes
        inputs: list[Value | None] = [v]
    else:
        attributes = {}
        inputs = [v, g.constant(np.array(starts, np.int64)), g.constant(np.array(ends, np.int64))]
        inputs.append(None if leave_axes else g.constant(np.array(shown, np.int64)))
        if g.chance(0.6):
            inputs.append(g.constant(np.array(steps, np.int64)))
        else:
            steps = [1] * len(axes)
        if all(-(2**31) <= n < 2**31 for n in (*starts, *ends, *steps)) and g.chance(0.2):
            inputs = [v, *(None if i is None else g.constant(sample_of(i).astype(np.int32)) for i in inputs[1:])]
    cut = [slice(None)] * rank
    for axis, a, b, step in zip(axes, starts, ends, steps, strict=True):
        cut[axis] = slice(a, b, step)
    g.add("Slice", inputs, lambda: sample_of(v)[tuple(cut)], **attributes)


def split(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    rank = len(shape)
    axis = g.whole(-rank if g.opset >= 11 else 0, max(0, rank - 1))
    size = shape[axis] if shape else 1
    count = g.whole(2, 3) if g.chance(0.9) else 1
    attributes: dict[str, Any] = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    cuts = sorted(g.whole(0, size) for _ in range(count - 1))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
    inputs: list[Value | None] = [v]
    if g.chance(0.6):
        if g.opset >= 13:
            inputs.append(g.constant(np.array(sizes, np.int64)))
        else:
            attributes["split"] = sizes
        if g.opset >= 18 and g.chance(0.05):
            attributes["num_outputs"] = count
    else:
        part = -(-size // count)
        sizes = [max(0, min(part, size - i * part)) for i in range(count)]
        if g.opset >= 18 and g.chance(0.95):
            attributes["num_outputs"] = count + (g.chance(0.05))
    ends = np.cumsum([0, *sizes])

    def parts() -> list[AnyArray]:
        return [np.take(sample_of(v), range(a, b), axis) for a, b in pairwise(ends)]

    found = g.add("Split", inputs, parts if count > 1 else lambda: parts()[0], count, **attributes)
    g.values.append(g.one(found))


def squeeze(g: Builder) -> None:
    v = g.operand()
    shape = sample_of(v).shape
    ones = [i for i, d in enumerate(shape) if d == 1]
    axes = [i for i in ones if g.chance(0.6)] if g.chance(0.95) else [0]
    _with_axes(g, "Squeeze", v, axes, len(shape), lambda: np.squeeze(sample_of(v), tuple(axes)))


def unsqueeze(g: Builder) -> None:
    v = g.operand()
    rank = sample_of(v).ndim + g.whole(1, 2)
    axes = sorted(g.rng.permutation(rank)[: rank - sample_of(v).ndim].tolist())
    if g.chance(0.03):
        axes = [0, 0]
    _with_axes(g, "Unsqueeze", v, axes, rank, lambda: np.expand_dims(sample_of(v), tuple(axes)), needed=True)


def _with_axes(
    g: Builder, kind: str, v: Value, axes: list[int], rank: int, sample: Callable[[], Any], needed: bool = False
) -> None:
    shown = [a - rank if g.opset >= 11 and g.chance(0.3) else a for a in axes]
    if g.chance(0.3):
        shown = shown[::-1]
    if not needed and g.chance(0.2):
        g.add(kind, [v], lambda: np.squeeze(sample_of(v)))
    elif g.opset >= 13:
        g.add(kind, [v, g.constant(np.array(shown, np.int64))], sample)
    else:
        g.add(kind, [v], sample, axes=shown)


def transpose(g: Builder) -> None:
    v = g.operand()
    rank = sample_of(v).ndim
    perm = g.rng.permutation(rank).tolist()
    attributes = {} if g.chance(0.3) else {"perm": perm}
    g.add("Transpose", [v], lambda: np.transpose(sample_of(v), attributes.get("perm")), **attributes)


MOVING: dict[str, Generator] = {
    "Concat": concat,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "Reshape": reshape,
    "Shape": shape_of,
    "Slice": slice_,
    "Split": split,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
