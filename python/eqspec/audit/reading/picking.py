"""Operators that pick entries by constants: blocks of images, places, masks, and what is put at places.

Of a value the numbers of its entries are picked; of two values those of both, one behind the other.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import onnx

from ..rounding import Array, Refused
from .program import Operand, Operands, Program
from .value import Value

PICKING = {"Compress", "DepthToSpace", "GatherElements", "GatherND", "ReverseSequence", "ScatterElements", "ScatterND"}
PICKING |= {"Scatter", "SpaceToDepth", "Tile", "Trilu", "Where"}
_TWO = {"Scatter": (0, 2), "ScatterElements": (0, 2), "ScatterND": (0, 2), "Where": (1, 2)}
"""Those of two values, and which of the operands these are."""


def picked(node: onnx.NodeProto, operands: Operands, attributes: dict[str, Any], program: Program) -> Operand:
    """The result of an operator of PICKING, of real numbers."""
    kind = node.op_type
    if kind in _TWO:
        return _of_two(kind, [operands[i] if i < len(operands) else None for i in range(3)], attributes, program)
    x = operands[0]
    if x is None:
        raise Refused(f"{kind} {node.name!r} of what is left out")
    places = np.arange(prod(x.shape)).reshape(x.shape)
    if kind == "Tile":
        program.effort.name(places.size, *(max(1, int(r)) for r in _constants(operands, 1).ravel()))
    result = _placed(kind, places, operands, attributes)
    program.effort.name(*result.shape)
    if isinstance(x, Value):
        return program.taken(x, result)
    flat, zero = x.ravel(), np.zeros((), x.dtype)
    if x.dtype == object:
        raise Refused(f"the auditor does not read {kind} of numbers that are computed")
    return np.where(result >= 0, flat[result] if flat.size else zero, zero)


def _constants(operands: Operands, index: int) -> Array:
    found = operands[index] if index < len(operands) else None
    if found is None or isinstance(found, Value) or found.dtype.kind not in "iub":
        raise Refused("places, counts or masks that are no constant integers")
    return found


def _placed(kind: str, a: Array, operands: Operands, attributes: dict[str, Any]) -> Array:
    """Which entry stands where, -1 for a zero."""
    axis = int(attributes.get("axis", 0))
    if kind in ("DepthToSpace", "SpaceToDepth"):
        return _blocks(kind, a, int(attributes["blocksize"]), attributes.get("mode", b"DCR"))
    if kind == "Tile":
        return np.tile(a, [int(r) for r in _constants(operands, 1)])
    if kind == "Trilu":
        diagonal = int(_constants(operands, 1).reshape(())) if len(operands) > 1 and operands[1] is not None else 0
        apart = np.arange(a.shape[-1])[None, :] - np.arange(a.shape[-2])[:, None]
        return np.where(apart >= diagonal if attributes.get("upper", 1) else apart <= diagonal, a, -1)
    if kind == "Compress":
        flags = _constants(operands, 1)
        if flags.dtype != bool or flags.ndim != 1:
            raise Refused("a Compress by what are no truth values")
        x = a if "axis" in attributes else a.ravel()
        return np.take(x, np.flatnonzero(flags), axis=axis)
    if kind == "GatherElements":
        index = _constants(operands, 1)
        _check(index, a.shape[axis])
        return np.take_along_axis(a, index % a.shape[axis], axis=axis)
    if kind == "GatherND":
        if attributes.get("batch_dims", 0):
            raise Refused("a GatherND in batches")
        return np.asarray(a[_at(_constants(operands, 1), a.shape)])
    lengths, batch, time = _constants(operands, 1), attributes.get("batch_axis", 1), attributes.get("time_axis", 0)
    if sorted((batch, time)) != [0, 1] or lengths.shape != (a.shape[batch],):
        raise Refused("a ReverseSequence along other axes")
    rows = np.array(np.swapaxes(a, 0, 1) if batch == 1 else a)
    for row, length in zip(rows, lengths.tolist(), strict=True):
        if not 0 <= length <= len(row):
            raise Refused("a ReverseSequence of more than there is")
        row[:length] = row[:length][::-1].copy()
    return np.swapaxes(rows, 0, 1) if batch == 1 else rows


def _check(index: Array, size: int) -> None:
    if index.size and not (-size <= index.min() and index.max() < size):
        raise Refused("a place beyond the end of an axis")


def _at(index: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    depth = index.shape[-1] if index.ndim else 0
    if not 0 < depth <= len(shape):
        raise Refused("places of no axes, or of more than there are")
    parts = []
    for axis in range(depth):
        _check(index[..., axis], shape[axis])
        parts.append(index[..., axis] % shape[axis])
    return tuple(parts)


def _blocks(kind: str, a: Array, b: int, mode: bytes) -> Array:
    """Channel d of a block and the place (i, j) in it go with each other; which of these counts first is the mode."""
    if a.ndim != 4 or b < 1 or mode not in (b"DCR", b"CRD"):
        raise Refused("blocks of what is no image, or in a way that the auditor does not read")
    n, c, h, w = a.shape
    if kind == "SpaceToDepth":
        if h % b or w % b:
            raise Refused("blocks that do not fit")
        parts = [a[:, :, i::b, j::b] for i in range(b) for j in range(b)]
        return np.stack(parts, axis=1 if mode == b"DCR" else 2).reshape(n, c * b * b, h // b, w // b)
    if c % (b * b):
        raise Refused("blocks that do not fit")
    deep = c // (b * b)
    result = np.empty((n, deep, h * b, w * b), a.dtype)
    for i in range(b):
        for j in range(b):
            n = i * b + j
            result[:, :, i::b, j::b] = a[:, n * deep : (n + 1) * deep] if mode == b"DCR" else a[:, n :: b * b]
    return result


def _of_two(kind: str, operands: Operands, attributes: dict[str, Any], program: Program) -> Operand:
    given = [operands[i] for i in _TWO[kind]]
    if any(one is None or not (isinstance(one, Value) or one.dtype.kind in "fO") for one in given):
        raise Refused(f"the auditor does not read {kind} of integers, or of what is left out")
    a, b = (one for one in given if one is not None)
    first, second = (np.arange(prod(one.shape)).reshape(one.shape) for one in (a, b))
    second = second + prod(a.shape)
    if kind == "Where":
        condition = operands[0]
        if condition is None or isinstance(condition, Value) or condition.dtype != bool:
            raise Refused("a Where by what is no constant truth value")
        program.effort.name(*np.broadcast_shapes(condition.shape, first.shape, second.shape))
        result = np.where(condition, first, second)
    else:
        if attributes.get("reduction", b"none") not in (b"", b"none"):
            raise Refused(f"a {kind} that adds or compares")
        index, result = _constants(operands, 1), first.copy()
        if kind == "ScatterND":
            at = _at(index, result.shape)
            if second.shape != (*index.shape[:-1], *result.shape[index.shape[-1] :]):
                raise Refused("updates of another shape than their places")
            result[at] = second
        else:
            axis = int(attributes.get("axis", 0))
            _check(index, result.shape[axis])
            if second.shape != index.shape:
                raise Refused("updates of another shape than their places")
            np.put_along_axis(result, index % result.shape[axis], second, axis=axis)
        if np.isin(second, result).sum() != second.size or (np.unique(result).size != result.size):
            raise Refused("two updates at one place")
    if not isinstance(a, Value) and not isinstance(b, Value) and object not in (a.dtype, b.dtype):
        return np.concatenate([a.ravel(), b.ravel()])[result]
    return program.taken(program.stacked([program.value(a), program.value(b)]), result)
