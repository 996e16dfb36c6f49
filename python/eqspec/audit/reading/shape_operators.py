"""Operators that only put numbers elsewhere, as ONNX defines them; places, sizes and axes are constant integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import onnx

from ..rounding import Array, Refused
from .effort import Effort

MOVING = {"Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Shape", "Slice", "Split", "Squeeze"}
MOVING |= {"Transpose", "Unsqueeze"}
MOST_GATHERED = 1 << 20


def moved(
    node: onnx.NodeProto, opset: int, operands: Sequence[Array | None], attributes: dict[str, Any], effort: Effort
) -> list[Array]:
    """The results of an operator of MOVING: one, but for Split."""
    values = [value for value in operands[: None if node.op_type == "Concat" else 1] if value is not None]
    if node.op_type == "Concat":
        if len(values) != len(operands) or len({value.dtype == object for value in values}) != 1:
            raise Refused("a Concat of numbers with integers, or with what is left out")
        effort.spend((sum(value.size for value in values),), 1, *values)
        results = [np.concatenate(values, axis=attributes["axis"])]
    elif operands[0] is None:
        raise Refused(f"{node.op_type} {node.name!r} of what is left out")
    elif node.op_type == "Split":
        results = _split(opset, operands[0], operands, attributes, len(node.output))
    elif node.op_type == "Expand":
        shape = np.broadcast_shapes(operands[0].shape, tuple(whole(operands, 1) or ()))
        effort.spend(shape, 1, operands[0])
        results = [np.broadcast_to(operands[0], shape)]
    else:
        results = [np.asarray(_moved(node.op_type, opset, operands[0], operands, attributes))]
    return [effort.note(result, *effort.size(*values)) for result in results]


def _moved(operator: str, opset: int, x: Array, operands: Sequence[Array | None], attributes: dict[str, Any]) -> Array:
    if operator == "Flatten":
        axis = attributes.get("axis", 1)
        if not -x.ndim <= axis <= x.ndim:
            raise Refused("a Flatten at no axis")
        rows = prod(x.shape[:axis]) if axis != x.ndim else x.size
        return x.reshape(rows, prod(x.shape[axis:]) if axis != x.ndim else 1)
    if operator == "Gather":
        places, axis = operands[1], attributes.get("axis", 0)
        if places is None or places.dtype == object:
            raise Refused("a Gather of places that are no constant integers")
        if x.size * places.size > MOST_GATHERED * x.shape[axis]:
            raise Refused("a Gather of more than the auditor allows for")
        return np.asarray(np.take(x, places, axis=axis))
    if operator == "Reshape":
        kept = not attributes.get("allowzero", 0)
        target = [x.shape[i] if d == 0 and kept else d for i, d in enumerate(whole(operands, 1) or [])]
        if min(target, default=0) < -1:
            raise Refused("a Reshape to less than nothing")
        return x.reshape(target)
    if operator == "Shape":
        return np.array(x.shape[attributes.get("start", 0) : attributes.get("end")], np.int64)
    if operator == "Slice":
        return _sliced(x, opset, operands, attributes)
    if operator in ("Squeeze", "Unsqueeze"):
        axes = whole(operands, 1) if opset >= 13 else attributes.get("axes")
        if operator == "Unsqueeze":
            return np.expand_dims(x, tuple(axes or ()))
        if axes is not None and not axes:
            raise Refused("a Squeeze of no axes, which some take for all")
        return np.squeeze(x, None if axes is None else tuple(axes))
    return x if operator == "Identity" else np.transpose(x, attributes.get("perm"))


def _split(
    opset: int, x: Array, operands: Sequence[Array | None], attributes: dict[str, Any], count: int
) -> list[Array]:
    """Sizes are given, or all are alike; since opset 18 the last may then be smaller."""
    axis = attributes.get("axis", 0)
    sizes, size = whole(operands, 1) if opset >= 13 else attributes.get("split"), x.shape[axis]
    asked = attributes.get("num_outputs")
    if (opset >= 18 and (asked is None) == (sizes is None)) or asked not in (None, count):
        raise Refused("a Split that does not say into how many parts")
    if sizes is None:
        part = -(-size // count)
        sizes = [part] * (count - 1) + [size - part * (count - 1)]
        if sizes[-1] != part and (opset < 18 or sizes[-1] < 1):
            raise Refused(f"a Split of {size} entries into {count} like parts")
    if len(sizes) != count or min(sizes) < 0 or sum(sizes) != size:
        raise Refused(f"a Split of {size} entries into {count} parts of other sizes")
    return list(np.split(x, np.cumsum(sizes)[:-1], axis))


def _sliced(x: Array, opset: int, operands: Sequence[Array | None], attributes: dict[str, Any]) -> Array:
    """Starts and ends count from the end where they are negative, and are then clamped to the axis."""
    names = ("starts", "ends", "axes")
    given = [whole(operands, k + 1) if opset >= 10 else attributes.get(name) for k, name in enumerate(names)]
    starts, ends = given[0] or [], given[1] or []
    axes = list(range(len(starts))) if given[2] is None else given[2]
    axes = [axis % x.ndim for axis in axes if -x.ndim <= axis < x.ndim]
    steps = (whole(operands, 4) if opset >= 10 else None) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or len(set(axes)) != len(axes):
        raise Refused("a Slice whose parts do not fit together")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size, back = x.shape[axis], step < 0
        if back and end in (2**31 - 1, 2**63 - 1):
            raise Refused("a backward Slice to an end that runtimes read in two ways")
        first, last = (i + size if i < 0 else i for i in (start, end))
        first, last = max(0, min(first, size - back)), max(-back, min(last, size - back))
        x = np.take(x, range(first, last, step) if size else range(0), axis=axis)
    return x


def whole(operands: Sequence[Array | None], index: int) -> list[int] | None:
    """A list of integers, None where it is left out."""
    found = operands[index] if index < len(operands) else None
    if found is None:
        return None
    if found.dtype == object or found.ndim != 1:
        raise Refused("places, sizes or axes that are no constant list of integers")
    return [int(i) for i in found]
