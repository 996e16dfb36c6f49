"""The operators of ONNX that select entries: Gather, Slice, Split.

What lies beyond an axis follows ONNX, not numpy: starts and ends of a Slice are clamped to the axis, also where it runs
backwards, so that a start far before a backward slice is its first entry.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of, check_made, shape_of_value


def gather(call: OperatorCall) -> Sequence[Value]:
    """Gather constant places along an axis; negative ones count from its end."""
    x, places = call.value(0), call.whole(1)
    shape = shape_of_value(x)
    axis = axis_of(call.integer("axis", 0), len(shape))
    size = shape[axis]
    if places.size and not (-size <= int(places.min()) and int(places.max()) < size):
        raise UnreadableError(f"indices beyond axis {axis} of shape {shape}", "export the model again")
    check_made([x], (*shape[:axis], *places.shape, *shape[axis + 1 :]))
    return [apply(x, lambda a: np.take(a, places, axis=axis))]


_TO_THE_END = (2**31 - 1, 2**63 - 1)
"""What exporters write for 'to the end' of a slice that runs forwards."""


def slice_(call: OperatorCall) -> Sequence[Value]:
    """Slice: starts, ends, axes and steps as attributes before opset 10, as inputs since."""
    x = call.value(0)
    shape = shape_of_value(x)
    if call.opset < 10:
        starts, ends, axes, steps = call.integers("starts"), call.integers("ends"), call.integers("axes"), None
    else:
        given = [[int(i) for i in call.whole(k).reshape(-1)] if call.has(k) else None for k in range(1, 5)]
        starts, ends, axes, steps = given
    if starts is None or ends is None:
        raise UnreadableError("no starts or no ends", "export the model again")
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise UnreadableError("starts, ends, axes and steps do not fit together", "export the model again")
    places = [axis_of(axis, len(shape)) for axis in axes]
    if len(set(places)) != len(places):
        raise UnreadableError(f"axes {axes[:20]} repeat", "export the model again")
    if any(shape[axis] == 0 for axis in places):
        raise UnreadableError(
            "it slices an empty axis, which ends some versions of onnxruntime", "export the model again"
        )
    if any(step < 0 and end in _TO_THE_END for end, step in zip(ends, steps, strict=True)):
        cause = "it runs backwards to the largest integer, which onnxruntime takes for 'as far as there is'"
        raise UnreadableError(f"{cause} and ONNX for the end of the axis", "end it at the smallest integer instead")
    cut = [slice(None)] * len(shape)
    for start, end, axis, step in zip(starts, ends, places, steps, strict=True):
        cut[axis] = _part(start, end, step, shape[axis])
    return [apply(x, lambda a: a[tuple(cut)])]


def _part(start: int, end: int, step: int, size: int) -> slice:
    """What ONNX means by start, end and step on an axis, as Python says it."""
    start, end = (i + size if i < 0 else i for i in (start, end))
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    if size == 0 or end >= start:
        return slice(0, 0)
    return slice(start, None if end < 0 else end, max(step, -size))


def split(call: OperatorCall) -> Sequence[Value]:
    """Split along an axis into parts of given sizes, or equal ones; since opset 18 the last may be smaller."""
    x = call.value(0)
    shape = shape_of_value(x)
    axis = axis_of(call.integer("axis", 0), len(shape))
    sizes = _sizes(call, shape[axis])
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]

    def part_of(first: int, last: int) -> Value:
        return apply(x, lambda a: np.take(a, range(first, last), axis=axis))

    return [part_of(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def _sizes(call: OperatorCall, size: int) -> list[int]:
    count = len(call.node.output)
    if call.opset >= 13:
        sizes = [int(i) for i in call.whole(1).reshape(-1)] if call.has(1) else None
    else:
        sizes = call.integers("split")
    if call.opset >= 18:
        asked = call.attribute("num_outputs") is not None
        if asked == (sizes is not None):
            what = "both sizes and a number of parts" if asked else "neither sizes nor a number of parts"
            raise UnreadableError(what, "export the model again: one of the two must be given")
        if asked and call.integer("num_outputs", 0) != count:
            message = f"{call.integer('num_outputs', 0)} parts for {count} outputs"
            raise UnreadableError(message, "export the model again")
    if sizes is None:
        part = -(-size // count)
        sizes = [part] * (count - 1) + [size - part * (count - 1)]
        if sizes[-1] <= 0 < size or (call.opset < 18 and sizes[-1] != part):
            raise UnreadableError(f"{size} entries cannot be split into {count} parts", "export the model again")
    if len(sizes) != count or sum(sizes) != size or min(sizes) < 0:
        raise UnreadableError(f"{size} entries cannot be split into {sizes[:20]}", "export the model again")
    return sizes


OPERATORS: dict[str, Operator] = {
    "Gather": gather,
    "Slice": slice_,
    "Split": split,
}
