"""Operators that pick entries by constants: blocks of images, places, masks, and what is put at places.

Of a value the numbers of its entries are picked; of two values those of both, one behind the other.
"""

from __future__ import annotations

from math import prod

import numpy as np
import onnx

from ..rounding import Array, Refused
from . import bends, statistics
from .program import Given, Operand, Operands, Program
from .value import Value

PICKING = {"Compress", "DepthToSpace", "GatherElements", "GatherND", "ReverseSequence", "ScatterElements", "ScatterND"}
PICKING |= {"Scatter", "SpaceToDepth", "Tile", "Trilu", "Where"}
_TWO = {"Scatter": (0, 2), "ScatterElements": (0, 2), "ScatterND": (0, 2), "Where": (1, 2)}
"""Those of two values, and which of the operands these are."""


def picked(node: onnx.NodeProto, operands: Operands, attributes: Given, program: Program) -> Operand:
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


def _placed(kind: str, a: Array, operands: Operands, attributes: Given) -> Array:
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
        return _beside(a, _constants(operands, 1), axis)
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


def _beside(a: Array, index: Array, axis: int) -> Array:
    """The entries at places along an axis; along the others there may be fewer places than entries."""
    _check(index, a.shape[axis])
    return np.take_along_axis(cut(a, index.shape, axis % a.ndim), index % a.shape[axis], axis=axis)


def cut(a: Array, shape: tuple[int, ...], axis: int) -> Array:
    """The entries of which some are taken along an axis by places of this shape."""
    if len(shape) != a.ndim or any(n > m for i, (n, m) in enumerate(zip(shape, a.shape, strict=True)) if i != axis):
        raise Refused("more places beside an axis than entries, or of other axes than these have")
    return a[tuple(slice(a.shape[i] if i == axis else n) for i, n in enumerate(shape))]


def _check(index: Array, size: int) -> None:
    if index.size and not (-size <= index.min() and index.max() < size):
        raise Refused("a place beyond the end of an axis")


def _at(index: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    depth = index.shape[-1] if index.ndim else 0
    if not 0 < depth <= len(shape):
        raise Refused("places of no axes, or of more than there are")
    for axis in range(depth):
        _check(index[..., axis], shape[axis])
    return tuple(np.moveaxis(index % np.array(shape[:depth]), -1, 0))


def _blocks(kind: str, a: Array, b: int, mode: bytes) -> Array:
    """Channel d of a block and the place (i, j) in it go with each other; which of these counts first is the mode."""
    if a.ndim != 4 or b < 1 or mode not in (b"DCR", b"CRD"):
        raise Refused("blocks of what is no image, or in a way that the auditor does not read")
    (n, c, h, w), first = a.shape, mode == b"DCR"
    if kind == "SpaceToDepth" and not (h % b or w % b):
        cut = a.reshape(n, c, h // b, b, w // b, b)
        return cut.transpose(0, *((3, 5, 1) if first else (1, 3, 5)), 2, 4).reshape(n, c * b * b, h // b, w // b)
    if kind == "SpaceToDepth" or c % (b * b):
        raise Refused("blocks that do not fit")
    d = c // (b * b)
    cut = a.reshape(n, *((b, b, d) if first else (d, b, b)), h, w)
    return cut.transpose(0, *((3, 4, 1, 5, 2) if first else (1, 4, 2, 5, 3))).reshape(n, d, h * b, w * b)


def _updated(kind: str, a: Array, updates: tuple[int, ...], index: Array, attributes: Given) -> Array:
    """The places (flat) of `a` at which a Scatter puts each of its updates."""
    nd = kind == "ScatterND"
    if updates != ((*index.shape[:-1], *a.shape[index.shape[-1] :]) if nd else index.shape):
        raise Refused("updates of another shape than their places")
    return (a[_at(index, a.shape)] if nd else _beside(a, index, int(attributes.get("axis", 0)))).ravel()


def _gathered(program: Program, how: bytes, both: Value, at: Array, own: Array) -> Value:
    """What is at each place of a Scatter that adds or compares, and behind it all updates that are put there."""
    order, counts = np.argsort(at, kind="stable"), np.bincount(at, minlength=own.size)
    most = 1 + int(counts.max(initial=0))
    program.effort.name(own.size, most)
    taps = np.full((own.size, most), -1)
    taps[:, 0] = own.ravel()
    taps[at[order], 1 + np.arange(at.size) - (counts.cumsum() - counts)[at[order]]] = own.size + order
    if how not in (b"add", b"max", b"min"):
        raise Refused("a Scatter that multiplies")
    made = statistics.total(program, both, taps) if how == b"add" else bends.extreme(program, both, taps, how == b"min")
    return made.reshaped(own.shape)


def _of_two(kind: str, operands: Operands, attributes: Given, program: Program) -> Operand:
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
        at, result = _updated(kind, first, second.shape, _constants(operands, 1), attributes), first.copy()
        if (how := attributes.get("reduction", b"none") or b"none") != b"none":
            return _gathered(program, how, program.stacked([program.value(a), program.value(b)]), at, first)
        result.ravel()[at] = second.ravel()
        if np.unique(at).size != at.size:
            raise Refused("two updates at one place")
    if not isinstance(a, Value) and not isinstance(b, Value) and object not in (a.dtype, b.dtype):
        return np.concatenate([a.ravel(), b.ravel()])[result]
    return program.taken(program.stacked([program.value(a), program.value(b)]), result)
