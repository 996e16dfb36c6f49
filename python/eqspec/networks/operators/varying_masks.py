"""Masks of minus infinity where a value says so that depends on the input: padding, flags, comparisons.

With b_i = 1 where an entry is shown and 0 where it is hidden,

    softmax over the entries that are shown = b_i e^(s_i - m - L),   L = log(sum over j of b_j e^(s_j - m))

for any m; the mean of all scores is taken, which is affine. Hidden entries are exactly 0, as runtimes compute them.
Where everything is hidden the sum is 0 and its logarithm has no value, so nothing is proved there, whatever a runtime
answers. A mask may be moved, chosen again and added to scores; any other operator refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import comparisons, elementwise, rearranging, selection, shapes, softmax_inside
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of

Real = Affine | Enclosure
_FINITE = "mask with a large negative number, such as -1e9, or only in front of a Softmax"


def concerns(operator: str, given: Sequence[Value | None]) -> bool:
    """Whether what an operator is given, or makes, is minus infinity where the input says so."""
    chosen = operator == "Where" and isinstance(given[0] if given else None, Affine)
    return any(isinstance(v, Hidden) or (chosen and isinstance(v, Masked)) for v in given)


def _parts(call: OperatorCall, index: int) -> tuple[Real, Real]:
    """An input: its numbers, and which of them are shown, as 0 and 1."""
    found = call.value(index)
    match found:
        case Hidden():
            return found.value, found.shown
        case Masked():
            return found.value, Enclosure(np.where(found.infinite, 0.0, 1.0))
    value = call.real_value(index)
    return value, Enclosure(np.ones(value.shape))


def _made(call: OperatorCall, value: Real, shown: Real) -> Hidden:
    shape = np.broadcast_shapes(value.shape, shown.shape)
    flags = shown if isinstance(shown, Affine) else af.constant(call.given, shown)
    whole = af.broadcast(value, shape) if isinstance(value, Affine) else _broadcast(value, shape)
    return Hidden(whole, af.broadcast(flags, shape))


def _broadcast(value: Enclosure, shape: tuple[int, ...]) -> Enclosure:
    return value.rearranged(lambda a: np.broadcast_to(a, shape))


def added(call: OperatorCall) -> Sequence[Value]:
    """Add: hidden where one of the two is."""
    (a, first), (b, second) = _parts(call, 0), _parts(call, 1)
    check_broadcast(a.shape, b.shape)
    check_one_for_all(call, a.shape, b.shape)
    return [_made(call, elementwise.add(a, b), comparisons.both(first, second))]


def chosen(call: OperatorCall) -> Sequence[Value]:
    """Where: by a constant condition, or by one that depends on the input."""
    (a, first), (b, second) = _parts(call, 1), _parts(call, 2)
    shape = np.broadcast_shapes(a.shape, b.shape)
    check_broadcast(a.shape, b.shape)
    condition = call.value(0)
    if isinstance(condition, np.ndarray):
        picked = [
            rearranging.where_constant(replace(call, inputs=[condition, *both]))[0]
            for both in ((a, b), (first, second))
        ]
        value, shown = picked
        assert isinstance(value, Affine | Enclosure)
        assert isinstance(shown, Affine | Enclosure)
        return [_made(call, value, shown)]
    here = comparisons.truth(call, 0)
    check_broadcast(here.shape, shape)
    check_one_for_all(call, here.shape, shape)
    there = comparisons.opposite(here)
    shown = elementwise.add(comparisons.both(here, first), comparisons.both(there, second))
    return [_made(call, comparisons.chosen(here, a, b), shown)]


def cast(call: OperatorCall) -> Sequence[Value]:
    """Cast between types of real numbers."""
    found = call.value(0)
    assert isinstance(found, Hidden)
    return [found]


def _moved(operator: Operator) -> Operator:
    """An operator that only puts entries elsewhere, done to the numbers and to what says which are shown."""

    def of_both(call: OperatorCall) -> Sequence[Value]:
        found = call.value(0)
        if not isinstance(found, Hidden) or any(isinstance(other, Hidden) for other in call.inputs[1:]):
            return refused(call)
        parts = (operator(replace(call, inputs=[one, *call.inputs[1:]])) for one in (found.value, found.shown))
        made = list[Value]()
        for value, shown in zip(*parts, strict=True):
            assert isinstance(value, Affine | Enclosure)
            assert isinstance(shown, Affine)
            made.append(Hidden(value, shown))
        return made

    return of_both


def softmax(call: OperatorCall) -> Sequence[Value]:
    """Softmax over the entries that are shown."""
    found = call.value(0)
    assert isinstance(found, Hidden)
    x = found.value if isinstance(found.value, Affine) else af.constant(call.given, found.value)
    axis = axis_of(call.integer("axis", 1 if call.opset < 13 else -1), len(x.shape))
    if axis == 0 and len(x.shape) > 1 and call.opset >= 13:
        raise UnreadableError("a Softmax along the first axis", "its axis is that of the samples: check it")
    if call.opset < 13:
        moved, rows = x.shape, (prod(x.shape[:axis]), prod(x.shape[axis:]))
        axis = -1
    else:
        moved = (*x.shape[:axis], *x.shape[axis + 1 :], x.shape[axis])
        rows = (prod(moved[:-1]), moved[-1])
    scores, shown = (af.rearrange(v, lambda p: np.moveaxis(p, axis, -1).reshape(rows)) for v in (x, found.shown))
    made = softmax_inside.shares(scores, shown)
    return [af.rearrange(made, lambda p: np.moveaxis(p.reshape(moved), -1, axis))]


def refused(call: OperatorCall) -> Sequence[Value]:
    """Every other operator."""
    name = next(name for name, v in zip(call.node.input, call.inputs, strict=True) if isinstance(v, Hidden | Masked))
    message = f"{name!r} is minus infinity where the input says so, which only a mask in front of a Softmax may be"
    raise UnreadableError(message, _FINITE)


ON_HIDDEN: dict[str, Operator] = {
    "Add": added,
    "Cast": cast,
    "Softmax": softmax,
    "Where": chosen,
    **{name: _moved(shapes.OPERATORS[name]) for name in ("Dropout", "Expand", "Flatten", "Identity", "Reshape")},
    **{name: _moved(shapes.OPERATORS[name]) for name in ("Squeeze", "Transpose", "Unsqueeze")},
    **{name: _moved(selection.OPERATORS[name]) for name in ("Gather", "Slice", "Split")},
    **{name: _moved(rearranging.OPERATORS[name]) for name in ("Tile", "Trilu")},
}
"""In place of those of the same names, where `concerns` says so."""
