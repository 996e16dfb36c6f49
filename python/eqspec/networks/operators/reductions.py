"""ReduceMean, ReduceSum, ReduceMax, ReduceMin, ReduceProd, and sums of squares and sizes.

Axes are an attribute, or an input in later opsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curve, Curves
from eqspec.networks.matrices import Indices
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding, functions, peaks, pooling, variable_products
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of, concatenated, shape_of_value

_OF_FUNCTIONS = {"ReduceL1": ABSOLUTE, "ReduceL2": Curve("square"), "ReduceSumSquare": Curve("square")}
_NO_AXES = "give the axes, or write the function of the entries itself"
_INPUT_SINCE = {"ReduceSum": 13}
"""The opset in which axes became an input; 18 for all others."""


def _reduce(call: OperatorCall) -> Sequence[Value]:
    kind = call.node.op_type
    given = call.value(0)
    axes = _axes(call, len(shape_of_value(given)))
    if isinstance(given, np.ndarray):
        return folding.fold(call)
    x = call.real_value(0)
    if not axes:
        return [x]
    kept = [i for i in range(len(x.shape)) if i not in axes]
    if any(x.shape[i] == 0 for i in range(len(x.shape))):
        raise UnreadableError(f"it reduces a value of shape {x.shape}", "export the model again")
    groups = np.transpose(np.arange(prod(x.shape)).reshape(x.shape), [*kept, *axes])
    groups = groups.reshape(-1, prod(x.shape[i] for i in axes))
    keep = call.integer("keepdims", 1)
    shape = tuple(1 if i in axes else d for i, d in enumerate(x.shape) if keep or i not in axes)
    if isinstance(x, Affine) and kind in _OF_FUNCTIONS:
        total = pooling.mean(af.curve(x, Curves.all(_OF_FUNCTIONS[kind])), groups, np.ones(len(groups), int), shape)
        assert isinstance(total, Affine)
        return [af.curve(total, Curves.all(Curve("sqrt"))) if kind == "ReduceL2" else total]
    if isinstance(x, en.Enclosure) and kind in _OF_FUNCTIONS:
        sizes = constants.multiply(x, x) if kind != "ReduceL1" else en.enclose(np.abs(x.value), x.error)
        sum_of = pooling.mean(sizes, groups, np.ones(len(groups), int), shape)
        assert isinstance(sum_of, en.Enclosure)
        return [constants.root_of_squares(sum_of) if kind == "ReduceL2" else sum_of]
    if kind in ("ReduceMean", "ReduceSum"):
        count = groups.shape[1] if kind == "ReduceMean" else 1
        return [pooling.mean(x, groups, np.full(len(groups), count), shape)]
    if kind == "ReduceProd":
        return [multiplied(x, groups, shape)] if isinstance(x, Affine) else folding.fold(call)
    if isinstance(x, Affine):
        made = functions.reduced(x, groups, shape, largest=kind == "ReduceMax")
        if kind == "ReduceMax" and isinstance(made, Affine):
            peaks.remember(made, x, groups, np.arange(len(groups)))
        return [made]
    return [_of_constant(x, groups, shape, largest=kind == "ReduceMax")]


def multiplied(x: Affine, groups: Indices, shape: tuple[int, ...]) -> Affine:
    """Products of groups (m, n) of flat entries: a tree of products of two."""
    value = af.rearrange(x, lambda _: groups)
    while (count := value.shape[1]) > 1:
        pairs = count // 2
        value = functions.argument(value)
        first, second, rest = (
            af.rearrange(value, lambda p, part=part: p[:, part])  # type: ignore[misc]
            for part in (slice(0, pairs), slice(pairs, 2 * pairs), slice(2 * pairs, None))
        )
        made = variable_products.product(first, second)
        value = (
            made
            if count % 2 == 0
            else concatenated(
                [made, rest],
                np.concatenate(
                    [np.arange(made.size).reshape(made.shape), made.size + np.arange(rest.size)[:, None]], axis=1
                ),
            )
        )
    return af.rearrange(value, lambda p: p.reshape(shape))


def _of_constant(x: en.Enclosure, groups: Indices, shape: tuple[int, ...], *, largest: bool) -> en.Enclosure:
    taken = x.value.reshape(-1)[groups]
    value = (taken.max(axis=1) if largest else taken.min(axis=1)).reshape(shape)
    return en.enclose(value, None if x.error is None else x.error.reshape(-1)[groups].max(axis=1).reshape(shape))


def _axes(call: OperatorCall, rank: int) -> list[int]:
    if call.opset >= _INPUT_SINCE.get(call.node.op_type, 18):
        given = [int(a) for a in call.whole(1).reshape(-1)] if call.has(1) else []
    else:
        given = call.integers("axes") or []
    if not given:
        if not call.integer("noop_with_empty_axes", 0):
            return list(range(rank))
        if call.node.op_type in _OF_FUNCTIONS:
            raise UnreadableError("a reduction over no axes, of which runtimes square the entries or not", _NO_AXES)
        return []
    axes = sorted({axis_of(a, rank) for a in given})
    if len(axes) != len(given):
        raise UnreadableError(f"axes {given[:20]} repeat", "export the model again")
    return axes


OPERATORS: dict[str, Operator] = {
    "ReduceL1": _reduce,
    "ReduceL2": _reduce,
    "ReduceMax": _reduce,
    "ReduceMean": _reduce,
    "ReduceMin": _reduce,
    "ReduceProd": _reduce,
    "ReduceSum": _reduce,
    "ReduceSumSquare": _reduce,
}
