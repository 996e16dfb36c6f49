"""Operators that only put numbers elsewhere, as ONNX defines them; places, sizes and axes are constant integers.

They are done to constants as they are, and of values to the numbers of their entries.
"""

from __future__ import annotations

from math import prod

import numpy as np
import onnx

from ..rounding import Array, Refused
from .program import Given, Operand, Operands, Program
from .value import Value

MOVING = {"Concat", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Resize", "Shape", "Slice", "Split"}
MOVING |= {"Squeeze", "Transpose", "Unsqueeze", "Upsample"}
MOST_GATHERED = 1 << 20


def moved(node: onnx.NodeProto, opset: int, operands: Operands, attributes: Given, program: Program) -> list[Operand]:
    """The results of an operator of MOVING: one, but for Split."""
    if node.op_type == "Concat":
        return [joined(operands, attributes["axis"], program)]
    value = operands[0]
    if value is None:
        raise Refused(f"{node.op_type} {node.name!r} of what is left out")
    if node.op_type == "Pad":
        return [_padded(value, opset, operands, attributes, program)]
    x = value.places if isinstance(value, Value) else value
    if node.op_type == "Split":
        results = _split(opset, x, operands, attributes, len(node.output))
    elif node.op_type == "Expand":
        shape = np.broadcast_shapes(x.shape, tuple(whole(operands, 1) or ()))
        program.effort.name(*shape)
        results = [np.broadcast_to(x, shape)]
    elif node.op_type in ("Resize", "Upsample"):
        results = [_resized(x, opset, operands, attributes, program)]
    else:
        results = [np.asarray(_moved(node.op_type, opset, x, operands, attributes))]
    if isinstance(value, Value) and node.op_type != "Shape":
        return [program.taken(value, result) for result in results]
    return [*results]


def joined(operands: Operands, axis: int, program: Program) -> Operand:
    """Concat: all of numbers, or all of stored integers."""
    values = [value for value in operands if value is not None]
    whole_ = {not isinstance(value, Value) and value.dtype.kind not in "fO" for value in values}
    if len(values) != len(operands) or len(whole_) != 1:
        raise Refused("a Concat of numbers with integers, or with what is left out")
    constants = [value for value in values if not isinstance(value, Value)]
    program.effort.name(sum(value.size for value in values))
    if len(constants) == len(values):
        objects = any(value.dtype == object for value in constants)
        return np.concatenate([program.effort.numbers(v) if objects else v for v in constants], axis=axis)
    sizes = np.cumsum([0, *(value.size for value in values)])
    numbers = [np.arange(value.size).reshape(value.shape) + n for value, n in zip(values, sizes, strict=False)]
    return program.taken(program.stacked(values), np.concatenate(numbers, axis=axis))


def _padded(x: Operand, opset: int, operands: Operands, attributes: Given, program: Program) -> Operand:
    pads = whole(operands, 1) if opset >= 11 else list(attributes["pads"])
    axes = whole(operands, 3) if opset >= 18 else None
    axes, mode = list(range(len(x.shape))) if axes is None else axes, attributes.get("mode", b"constant").decode()
    if pads is None or len(pads) != 2 * len(axes) or min(pads, default=0) < 0 or mode not in _PADS:
        raise Refused("a Pad of other axes, with negative sizes, or in a way that the auditor does not read")
    inside, rank = [axis for axis in axes if -len(x.shape) <= axis < len(x.shape)], len(x.shape)
    if len({axis % rank for axis in inside}) != len(axes):
        raise Refused("a Pad of axes that do not exist, or of one of them twice")
    around = [(0, 0)] * len(x.shape)
    for axis, before, after in zip(axes, pads, pads[len(axes) :], strict=False):
        around[axis] = (before, after)
        if mode == "reflect" and max(before, after) >= x.shape[axis]:
            raise Refused("a Pad that reflects more than there is")
    program.effort.name(*(n + a + b for n, (a, b) in zip(x.shape, around, strict=True)))
    value, places = program.value(x), np.arange(prod(x.shape)).reshape(x.shape)
    if mode != "constant":
        return program.taken(value, np.pad(places, around, mode=mode))
    wide = np.pad(places, around, constant_values=-1)
    given = operands[2] if opset >= 11 and len(operands) > 2 else None
    filled = np.array(attributes.get("value", 0.0)) if given is None else given
    if isinstance(filled, Value) or filled.dtype != np.float64 or filled.size != 1:
        raise Refused("a Pad with what is no constant")
    made = program.taken(value, wide)
    return program.added(made, np.where(wide < 0, filled.reshape(()), 0.0)) if filled.any() else made


_PADS = ("constant", "edge", "reflect")
_UNSAID = {"antialias": 0, "exclude_outside": 0, "keep_aspect_ratio_policy": b"stretch"}
_WAYS = [(b"asymmetric", b"floor"), *((b"half_pixel", way) for way in (b"round_prefer_floor", b"round_prefer_ceil"))]


def said(attributes: Given) -> set[str]:
    """Which attributes of a Resize say something: torch writes those, too, of which each has its default."""
    return {name for name, value in attributes.items() if _UNSAID.get(name) != value}


def _resized(x: Array, opset: int, operands: Operands, attributes: Given, program: Program) -> Array:
    """Whole numbers of copies of every entry, side by side."""
    given = [operands[i] if i < len(operands) else None for i in range(4)]
    get = attributes.get
    ways = (get("coordinate_transformation_mode", b"half_pixel"), get("nearest_mode", b"round_prefer_floor"))
    if opset < 11:  # scales alone, which are then an attribute or the second input
        ways = (b"asymmetric", b"floor")
        scales_ = np.array(attributes["scales"]) if "scales" in attributes else given[1]
        given, attributes = [given[0], None, scales_, None], {k: v for k, v in attributes.items() if k != "scales"}
    known = {"coordinate_transformation_mode", "nearest_mode", "mode", "cubic_coeff_a", "extrapolation_value"}
    if attributes.get("mode", b"nearest") != b"nearest" or ways not in _WAYS or not said(attributes) <= known:
        raise Refused("a Resize in a way that the auditor does not read")
    sizes = whole(operands, 3) if given[3] is not None else None
    if sizes is None:
        scales = given[2]
        if scales is None or isinstance(scales, Value) or scales.dtype != np.float64 or scales.shape != (x.ndim,):
            raise Refused("a Resize that does not say how large")
        sizes = [int(n * s) if float(s).is_integer() else -1 for n, s in zip(x.shape, scales, strict=True)]
    if len(sizes) != x.ndim or any(n < m or not m or n % m for n, m in zip(sizes, x.shape, strict=True)):
        raise Refused("a Resize by what is no whole number")
    program.effort.name(*sizes)
    for axis, size in enumerate(sizes):
        x = np.repeat(x, size // x.shape[axis], axis)
    return x


def reduced(x: Value, operator: str, opset: int, operands: Operands, attributes: Given) -> Array:
    """Which entries each result of a reduction is made of, (..., t)."""
    axes = whole(operands, 1) if opset >= (13 if operator == "ReduceSum" else 18) else attributes.get("axes")
    ndim = len(x.shape)
    if not axes and (axes is not None or attributes.get("noop_with_empty_axes")):
        raise Refused("a reduction of no axes, which some take for all")
    axes = list(range(ndim)) if axes is None else list(axes)
    if not all(-ndim <= axis < ndim for axis in axes) or len({axis % ndim for axis in axes}) != len(axes):
        raise Refused("a reduction of axes that do not exist, or of one of them twice")
    axes = sorted(axis % ndim for axis in axes)
    rest = [axis for axis in range(ndim) if axis not in axes]
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    shape = kept if attributes.get("keepdims", 1) else [x.shape[axis] for axis in rest]
    return x.places.transpose(*rest, *axes).reshape(*shape, prod(x.shape[axis] for axis in axes))


def _moved(operator: str, opset: int, x: Array, operands: Operands, attributes: Given) -> Array:
    if operator == "Flatten":
        axis = attributes.get("axis", 1)
        if not -x.ndim <= axis <= x.ndim:
            raise Refused("a Flatten at no axis")
        rows = prod(x.shape[:axis]) if axis != x.ndim else x.size
        return x.reshape(rows, prod(x.shape[axis:]) if axis != x.ndim else 1)
    if operator == "Gather":
        places, axis = operands[1], attributes.get("axis", 0)
        if places is None or isinstance(places, Value) or places.dtype.kind not in "iu":
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


def _split(opset: int, x: Array, operands: Operands, attributes: Given, count: int) -> list[Array]:
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


def _sliced(x: Array, opset: int, operands: Operands, attributes: Given) -> Array:
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


def whole(operands: Operands, index: int) -> list[int] | None:
    """A list of integers, None where it is left out."""
    found = operands[index] if index < len(operands) else None
    if found is None:
        return None
    if isinstance(found, Value) or found.dtype.kind not in "iu" or found.ndim != 1:
        raise Refused("places, sizes or axes that are no constant list of integers")
    return [int(i) for i in found]
