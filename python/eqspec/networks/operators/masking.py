"""Masks of minus infinity: what may be done to them up to the Softmax that gives nothing to the entries they hide.

    softmax over scores of which some are minus infinity = softmax over the others, and 0

which is how runtimes compute it, as e^(-inf) = 0. A mask may be moved, chosen from and added to scores; any other
operator refuses it. Scores that are all hidden have no softmax: runtimes answer with NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.masked import Masked
from eqspec.networks.matrices import Indices
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import casting, elementwise, functions, rearranging, selection, shapes, softmax_inside
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of, concatenated

_FINITE = "mask with a large negative number, such as -1e9, or only in front of a Softmax"
REFUSED = (
    "a number is minus infinity, which only a mask may be that is added to the scores of a Softmax",
    "repair the training or the export that made it; " + _FINITE,
)


def _parts(
    call: OperatorCall, index: int
) -> tuple[Affine | Enclosure, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """An input: its numbers, and which of them are minus infinity."""
    found = call.value(index)
    if isinstance(found, Masked):
        return found.value, found.infinite
    value = call.real_value(index)
    return value, np.zeros(value.shape, bool)


def _made(value: Affine | Enclosure, infinite: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Masked:
    """A value whose hidden entries are zero."""
    if not infinite.any():
        return Masked(value, infinite)
    if isinstance(value, Affine):
        places = np.where(infinite, -1, np.arange(value.size).reshape(value.shape))
        return Masked(af.rearrange(value, lambda _: places), infinite)
    error = None if value.error is None else np.where(infinite, 0.0, value.error)
    return Masked(Enclosure(np.where(infinite, 0.0, value.value), error), infinite)


def added(call: OperatorCall) -> Sequence[Value]:
    """Add."""
    (a, first), (b, second) = _parts(call, 0), _parts(call, 1)
    check_broadcast(a.shape, b.shape)
    check_one_for_all(call, a.shape, b.shape)
    return [_made(elementwise.add(a, b), np.logical_or(first, second))]


def chosen(call: OperatorCall) -> Sequence[Value]:
    """Where, by a constant condition."""
    condition, (a, first), (b, second) = call.value(0), _parts(call, 1), _parts(call, 2)
    if not isinstance(condition, np.ndarray):
        raise UnreadableError("it chooses minus infinity where a value says so that depends on the input", _FINITE)
    check_broadcast(a.shape, b.shape)
    plain = replace(call, inputs=[condition, a, b])
    (made,) = rearranging.where_constant(plain)
    assert isinstance(made, Affine | Enclosure)
    return [_made(made, np.where(condition, first, second))]


def cast(call: OperatorCall) -> Sequence[Value]:
    """Cast between types of real numbers."""
    value, infinite = _parts(call, 0)
    (made,) = casting.cast(replace(call, inputs=[value]))
    if not isinstance(made, Affine | Enclosure):
        raise UnreadableError(*REFUSED)
    return [Masked(made, infinite)]


def clip(call: OperatorCall) -> Sequence[Value]:
    """Clip from minus infinity on, which is no lower end."""
    lower = call.inputs[1] if len(call.inputs) > 1 else None
    if not isinstance(lower, Masked) or not lower.infinite.all():
        raise UnreadableError(*REFUSED)
    return functions.clip(replace(call, inputs=[call.inputs[0], None, *call.inputs[2:]]))


def _moved(operator: Operator) -> Operator:
    """An operator that only puts entries elsewhere, done to the numbers and to which of them are hidden."""

    def of_both(call: OperatorCall) -> Sequence[Value]:
        value, infinite = _parts(call, 0)
        if any(isinstance(other, Masked) for other in call.inputs[1:]):
            raise UnreadableError(*REFUSED)
        made = list[Value]()
        numbers, flags = (operator(replace(call, inputs=[one, *call.inputs[1:]])) for one in (value, infinite))
        for number, flag in zip(numbers, flags, strict=True):
            assert isinstance(number, Affine | Enclosure)
            made.append(Masked(number, np.asarray(flag, bool)))
        return made

    return of_both


def softmax(call: OperatorCall) -> Sequence[Value]:
    """Softmax, over those that no mask hides."""
    value, infinite = _parts(call, 0)
    x = value if isinstance(value, Affine) else af.constant(call.given, value)
    axis = axis_of(call.integer("axis", 1 if call.opset < 13 else -1), len(x.shape))
    if axis == 0 and len(x.shape) > 1 and call.opset >= 13:
        raise UnreadableError("a Softmax along the first axis", "its axis is that of the samples: check it")
    places = np.arange(x.size).reshape(x.shape)
    if call.opset < 13:
        rows = places.reshape(-1, prod(x.shape[axis:]))
        back: Callable[[Indices], Indices] = lambda p: p.reshape(x.shape)  # noqa: E731
    else:
        moved = np.moveaxis(places, axis, -1)
        rows = moved.reshape(-1, x.shape[axis])
        back = lambda p: np.moveaxis(p.reshape(moved.shape), -1, axis)  # noqa: E731
    seen = ~infinite.reshape(-1)[rows]
    counts = seen.sum(axis=1)
    if not counts.all():
        raise UnreadableError("a Softmax over minus infinity alone, which is not a number", "leave one entry unmasked")
    groups, taken, begin = list[Affine](), np.full(rows.shape, -1), 0
    for count in np.unique(counts).tolist():
        these = np.flatnonzero(counts == count)
        some = rows[these][seen[these]].reshape(len(these), count)
        groups.append(softmax_inside.softmax(af.rearrange(x, lambda _, at=some: at), count, logarithm=False))  # type: ignore[misc]
        filled = np.full(rows[these].shape, -1)
        filled[seen[these]] = begin + np.arange(some.size)
        taken[these], begin = filled, begin + some.size
    return [concatenated(groups, back(taken))]


def refused(call: OperatorCall) -> Sequence[Value]:
    """Every other operator."""
    for name, value in zip(call.node.input, call.inputs, strict=True):
        if isinstance(value, Masked) and value.infinite.any():
            place = [int(i) for i in np.argwhere(value.infinite)[0]]
            message = f"{name!r} is minus infinity at {place}, which only a mask in front of a Softmax may be"
            raise UnreadableError(message, REFUSED[1])
    raise UnreadableError(*REFUSED)


ON_MASKED: dict[str, Operator] = {
    "Add": added,
    "Cast": cast,
    "Clip": clip,
    "Softmax": softmax,
    "Where": chosen,
    **{name: _moved(shapes.OPERATORS[name]) for name in ("Dropout", "Expand", "Flatten", "Identity", "Reshape")},
    **{name: _moved(shapes.OPERATORS[name]) for name in ("Squeeze", "Transpose", "Unsqueeze")},
    **{name: _moved(selection.OPERATORS[name]) for name in ("Gather", "Slice", "Split")},
    **{name: _moved(rearranging.OPERATORS[name]) for name in ("Tile", "Trilu")},
}
"""In place of those of the same names, where an input holds minus infinity."""
