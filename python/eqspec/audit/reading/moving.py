"""Operators that only put numbers elsewhere, as ONNX defines them; places, sizes and axes are constant integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..rounding import Array, Refused

MOVING = {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
MOST_GATHERED = 1 << 20


def moved(operator: str, opset: int, x: Array, operands: Sequence[Array | None], attributes: dict[str, Any]) -> Array:
    """The result of an operator of MOVING, which moves x, the first of its operands."""
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
        target = [x.shape[i] if d == 0 and kept else d for i, d in enumerate(_whole(operands, 1) or [])]
        if min(target, default=0) < -1:
            raise Refused("a Reshape to less than nothing")
        return x.reshape(target)
    if operator == "Slice":
        return _sliced(x, opset, operands, attributes)
    if operator in ("Squeeze", "Unsqueeze"):
        axes = _whole(operands, 1) if opset >= 13 else attributes.get("axes")
        if operator == "Unsqueeze":
            return np.expand_dims(x, tuple(axes or ()))
        if axes is not None and not axes:
            raise Refused("a Squeeze of no axes, which some take for all")
        return np.squeeze(x, None if axes is None else tuple(axes))
    return x if operator == "Identity" else np.transpose(x, attributes.get("perm"))


def _sliced(x: Array, opset: int, operands: Sequence[Array | None], attributes: dict[str, Any]) -> Array:
    """Starts and ends count from the end where they are negative, and are then clamped to the axis."""
    names = ("starts", "ends", "axes")
    given = [_whole(operands, k + 1) if opset >= 10 else attributes.get(name) for k, name in enumerate(names)]
    starts, ends = given[0] or [], given[1] or []
    axes = list(range(len(starts))) if given[2] is None else given[2]
    axes = [axis % x.ndim for axis in axes if -x.ndim <= axis < x.ndim]
    steps = (_whole(operands, 4) if opset >= 10 else None) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or len(set(axes)) != len(axes):
        raise Refused("a Slice whose parts do not fit together")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size, back = x.shape[axis], step < 0
        first, last = (i + size if i < 0 else i for i in (start, end))
        first, last = max(0, min(first, size - back)), max(-back, min(last, size - back))
        x = np.take(x, range(first, last, step) if size else range(0), axis=axis)
    return x


def _whole(operands: Sequence[Array | None], index: int) -> list[int] | None:
    """A list of integers, None where it is left out."""
    found = operands[index] if index < len(operands) else None
    if found is None:
        return None
    if found.dtype == object or found.ndim != 1:
        raise Refused("places, sizes or axes that are no constant list of integers")
    return [int(i) for i in found]
