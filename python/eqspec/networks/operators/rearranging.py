"""Operators that put entries elsewhere: Pad, Tile, Resize and Upsample to the nearest, DepthToSpace, Where and others.

Each maps the array of flat positions, -1 for what is filled in. What only moves entries by constants (GatherND, Tile,
Trilu, ...) is asked of the reference evaluator of the package onnx, on these positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import NONE, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.elementwise import add
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of, concatenated

_AGAIN = "export the model again"
_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect", "wrap": "wrap"}


def pad(call: OperatorCall) -> Sequence[Value]:
    """Pad: with a number, or with entries of the value (edge, reflect, wrap); negative pads cut off."""
    x, (pads, number) = call.value(0), _pads(call)
    found = call.attribute("mode")
    mode = "constant" if found is None else found.s.decode("utf-8", "replace")
    shape = _shape(x)
    if mode not in _MODES:
        raise UnreadableError(f"padding in mode {mode!r}", _AGAIN)
    grown = [(max(0, a), max(0, b)) for a, b in pads]
    cut = tuple(slice(max(0, -a), d + b if b < 0 else None) for (a, b), d in zip(pads, shape, strict=True))
    if any(min(a, b) < 0 for a, b in pads) and mode != "constant":
        raise UnreadableError(f"negative pads in mode {mode!r}", "slice the value instead")
    kept = tuple(d + min(0, a) + min(0, b) for (a, b), d in zip(pads, shape, strict=True))
    made = tuple(d + a + b for (a, b), d in zip(grown, kept, strict=True))
    if min(kept, default=1) < 0:
        raise UnreadableError(f"pads {pads[:8]} cut more than {shape} has", _AGAIN)
    if mode == "reflect" and any(max(a, b) > d - 1 for (a, b), d in zip(grown, shape, strict=True)):
        raise UnreadableError("it reflects more than there is", "pad less, or in several steps")
    if mode == "wrap" and any(max(a, b) > d for (a, b), d in zip(grown, shape, strict=True)):
        raise UnreadableError("it wraps more than there is", "pad less, or in several steps")
    check_value(made)
    if mode != "constant":
        return [apply(x, lambda a: np.pad(a, grown, mode=mode))]  # type: ignore[call-overload]
    if isinstance(x, np.ndarray):
        fill = 0 if number is None else np.asarray(number).reshape(-1)[0]
        return [np.pad(x[cut], grown, constant_values=fill)]
    value = call.real_value(0)
    filled = number if isinstance(number, Enclosure) else Enclosure(np.zeros(()))
    if isinstance(value, Enclosure):
        return [_padded(value, cut, grown, filled)]
    moved = af.rearrange(value, lambda p: np.pad(p[cut], grown, constant_values=NONE))
    if filled.error is None and not filled.value.any():
        return [moved]
    here = np.pad(np.zeros(kept), grown, constant_values=1.0)
    outside = Enclosure(here * filled.value, None if filled.error is None else here * filled.radius)
    return [add(moved, outside)]


def _padded(value: Enclosure, cut: tuple[slice, ...], grown: list[tuple[int, int]], filled: Enclosure) -> Enclosure:
    made = np.pad(value.value[cut], grown, constant_values=float(filled.value))
    if value.error is None and filled.error is None:
        return Enclosure(made)
    return Enclosure(made, np.pad(value.radius[cut], grown, constant_values=float(filled.radius)))


def _pads(call: OperatorCall) -> tuple[list[tuple[int, int]], Value | None]:
    """Pads before and behind each axis, and the number that is filled in."""
    rank = len(_shape(call.value(0)))
    number: Value | None
    if call.opset < 11:
        pads, number = call.integers("pads") or [], Enclosure(np.array(call.real("value", 0.0)))
        axes = list(range(rank))
    else:
        pads, number = [int(p) for p in call.whole(1).reshape(-1)], None
        if call.has(2):
            number = call.value(2)
            if isinstance(number, Affine):
                raise UnreadableError("it fills in a value that depends on the input", "join it with Concat")
            if isinstance(number, Enclosure):
                number = number.rearranged(lambda a: a.reshape(-1)[:1].reshape(()) if a.size else np.zeros(()))
        axes = [axis_of(int(a), rank) for a in call.whole(3).reshape(-1)] if call.has(3) else list(range(rank))
    if len(pads) != 2 * len(axes) or len(set(axes)) != len(axes):
        raise UnreadableError(f"{len(pads)} pads for {len(axes)} axes", _AGAIN)
    made = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        made[axis] = (pads[place], pads[place + len(axes)])
    return made, number


def _shape(value: Value) -> tuple[int, ...]:
    return (
        value.shape
        if isinstance(value, np.ndarray | Enclosure | Affine | Levels | Masked | Hidden)
        else value.scores.shape
    )


def depth_to_space(call: OperatorCall) -> Sequence[Value]:
    """DepthToSpace, in either mode."""
    x, block = call.value(0), call.integer("blocksize", 0)
    n, c, h, w = _image(x, block)
    if c % (block * block):
        raise UnreadableError(f"{c} channels in blocks of {block}", _AGAIN)
    deep = c // (block * block)
    if _places_first(call):
        split, order = (n, block, block, deep, h, w), (0, 3, 4, 1, 5, 2)
    else:
        split, order = (n, deep, block, block, h, w), (0, 1, 4, 2, 5, 3)
    return [apply(x, lambda a: a.reshape(split).transpose(order).reshape(n, deep, h * block, w * block))]


def space_to_depth(call: OperatorCall) -> Sequence[Value]:
    """SpaceToDepth, in either mode, of which opset 28 has the second."""
    x, block = call.value(0), call.integer("blocksize", 0)
    n, c, h, w = _image(x, block)
    if h % block or w % block:
        raise UnreadableError(f"an image of {h} x {w} in blocks of {block}", _AGAIN)
    split = (n, c, h // block, block, w // block, block)
    made = (n, c * block * block, h // block, w // block)
    order = (0, 3, 5, 1, 2, 4) if _places_first(call) else (0, 1, 3, 5, 2, 4)
    return [apply(x, lambda a: a.reshape(split).transpose(order).reshape(made))]


def _places_first(call: OperatorCall) -> bool:
    """Whether channels count the places in a block before what they were, as by default."""
    mode = call.attribute("mode")
    if mode is not None and mode.s not in (b"DCR", b"CRD"):
        raise UnreadableError(f"mode {mode.s!r}", _AGAIN)
    return mode is None or mode.s == b"DCR"


def _image(x: Value, block: int) -> tuple[int, ...]:
    shape = _shape(x)
    if len(shape) != 4 or block < 1:
        raise UnreadableError(f"a value of shape {shape} in blocks of {block}", "it takes (batch, channels, h, w)")
    return shape


def where_constant(call: OperatorCall) -> Sequence[Value]:
    """Where: entries of two values by a constant condition."""
    if folding.is_constant(call) and not _is_computed(call, 1, 2):
        return folding.fold(call)
    chosen, a, b = call.whole(0), call.real_value(1), call.real_value(2)
    check_broadcast(a.shape, b.shape)
    shape = np.broadcast_shapes(chosen.shape, a.shape, b.shape)
    for operand in (a.shape, b.shape):
        check_one_for_all(call, chosen.shape, operand)
        check_one_for_all(call, shape, operand)
    check_value(shape)
    if isinstance(a, Enclosure) and isinstance(b, Enclosure):
        exact = a.error is None and b.error is None
        error = None if exact else np.where(chosen, a.radius, b.radius)
        return [Enclosure(np.where(chosen, a.value, b.value), error)]
    first = np.broadcast_to(np.arange(prod(a.shape)).reshape(a.shape), shape)
    second = np.broadcast_to(np.arange(prod(b.shape)).reshape(b.shape), shape) + prod(a.shape)
    values = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in (a, b)]
    return [concatenated(values, np.where(chosen, first, second))]


def _is_computed(call: OperatorCall, *indices: int) -> bool:
    """Whether inputs are real constants one of which the graph computes, so that it may be known up to rounding."""
    given = [call.value(i) for i in indices]
    real = [v for v in given if isinstance(v, Enclosure)]
    return len(real) == len(given) and (call.rounded or any(v.error is not None for v in real))


_FILLING = {"Trilu"}
"""Of the operators below those that fill in zeros, which may be none of the levels of a quantiser."""


def moving(call: OperatorCall) -> Sequence[Value]:
    """An operator that moves entries by constants, or fills in zeros; the value is its first input."""
    levels = call.value(0)
    if folding.is_constant(call) and not _is_computed(call, 0):
        return folding.fold(call)
    x = levels if isinstance(levels, Levels) and call.node.op_type not in _FILLING else call.real_value(0)
    given = [None if v is None else call.whole(i) for i, v in enumerate(call.inputs) if i]
    if call.node.op_type == "Tile":
        check_value([d * int(r) for d, r in zip(x.shape, call.whole(1).reshape(-1), strict=True)])

    def positions(a: NDArray[Any]) -> NDArray[Any]:
        (made,) = folding.run(call.node, call.opset, [a.astype(np.int64) + 1, *given])
        return np.asarray(made - 1)

    if isinstance(x, Enclosure):  # whose own entries are moved, and no positions
        places = positions(np.arange(prod(x.shape)).reshape(x.shape))
        return [x.rearranged(lambda a: np.where(places == NONE, 0.0, a.reshape(-1)[places]))]
    return [apply(x, positions)]


OPERATORS: dict[str, Operator] = {
    "Compress": moving,
    "DepthToSpace": depth_to_space,
    "GatherElements": moving,
    "GatherND": moving,
    "Pad": pad,
    "ReverseSequence": moving,
    "SpaceToDepth": space_to_depth,
    "Tile": moving,
    "Trilu": moving,
}
