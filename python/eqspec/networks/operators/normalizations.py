"""Normalisations by statistics of the values themselves, reduced to squares and powers.

    LayerNormalization, GroupNormalization, InstanceNormalization:  (x - mean) (variance + epsilon)^(-1/2) scale + bias
    RMSNormalization:  x (mean of x^2 + epsilon)^(-1/2) scale          LpNormalization:  x / |x|_1,  x / |x|_2

The mean is affine, the variance a sum of squares, and the last product one of two values that depend on the input
(`variable_products`): exact over the real numbers, and loosely bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import Indices
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import functions, pooling
from eqspec.networks.operators.broadcasting import check_broadcast
from eqspec.networks.operators.elementwise import add, multiply
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of
from eqspec.networks.operators.variable_products import product, square

_FIX = "fold the constants before exporting, for example with onnxsim"
_MANY = 1 << 22
"""So many numbers at most are written for the means of groups in place of each of their entries."""


def _value(call: OperatorCall) -> Affine:
    x = call.real_value(0)
    if not isinstance(x, Affine):
        raise UnreadableError(f"{call.node.op_type} is computed of real constants, and its rounding is not known", _FIX)
    if any(call.node.output[1:]):
        raise UnreadableError("the statistics are asked for as well", "remove the other outputs")
    return functions.argument(x)


def _mean(x: Affine, groups: Indices, *, count: int | None = None) -> Affine:
    """The mean of each group (r, k) of flat entries, where each of them stands in the value; or another share.

    Of large groups the means are a step of their own, so that they are not summed up again for each entry.
    """
    shares = np.full(len(groups), groups.shape[1] if count is None else count)
    means = pooling.mean(x, groups, shares, (len(groups),))
    assert isinstance(means, Affine)
    if x.size * groups.shape[1] > _MANY:
        means = functions.argument(means)
    place = np.empty(x.size, int)
    place[groups.reshape(-1)] = np.repeat(np.arange(len(groups)), groups.shape[1])
    return af.rearrange(means, lambda _: place.reshape(x.shape))


def _normalised(x: Affine, groups: Indices, epsilon: float, *, centred: bool = True) -> Affine:
    """Each entry minus the mean of its group, over the root of the variance and epsilon."""
    if epsilon < 0:
        raise UnreadableError("a negative epsilon", "export the model again")
    apart = functions.argument(af.add(x, af.negate(_mean(x, groups)))) if centred else x
    squares = af.shift(_mean(square(apart), groups), en.exactly(epsilon))
    return _over(apart, squares, groups, Curve("power", (-0.5,)))


def _over(x: Affine, total: Affine, groups: Indices, curve: Curve) -> Affine:
    """x times a function of the statistic of each group, which is computed once."""
    first = groups[:, 0]
    shares = af.curve(af.rearrange(total, lambda p: p.reshape(-1)[first]), Curves.all(curve))
    place = np.empty(x.size, int)
    place[groups.reshape(-1)] = np.repeat(np.arange(len(groups)), groups.shape[1])
    return product(x, af.rearrange(shares, lambda _: place.reshape(x.shape)))


def _scaled(call: OperatorCall, x: Affine, shape: tuple[int, ...] | None = None) -> list[Value]:
    made: Affine | Enclosure = x
    for index, combine in ((1, multiply), (2, add)):
        if call.has(index):
            constant = call.number(index)
            if shape is not None:
                if constant.value.size != prod(shape):
                    message = f"{constant.value.size} scales or biases, {prod(shape)} are expected"
                    raise UnreadableError(message, "export the model again")
                constant = constant.rearranged(lambda a: a.reshape(shape))
            check_broadcast(made.shape, constant.shape)
            made = combine(made, constant)
    return [made]


def layer_normalization(call: OperatorCall) -> Sequence[Value]:
    """LayerNormalization and RMSNormalization: over all axes from `axis` on."""
    x = _value(call)
    axis = axis_of(call.integer("axis", -1), len(x.shape))
    groups = np.arange(x.size).reshape(prod(x.shape[:axis]), -1)
    centred = call.node.op_type == "LayerNormalization"
    return _scaled(call, _normalised(x, groups, call.real("epsilon", float(np.float32(1e-5))), centred=centred))


def instance_normalization(call: OperatorCall) -> Sequence[Value]:
    """InstanceNormalization: over the positions of each channel."""
    x = _value(call)
    if len(x.shape) < 3:
        raise UnreadableError(f"InstanceNormalization of a value of shape {x.shape}", "export the model again")
    groups = np.arange(x.size).reshape(x.shape[0] * x.shape[1], -1)
    made = _normalised(x, groups, call.real("epsilon", float(np.float32(1e-5))))
    return _scaled(call, made, (x.shape[1], *(1,) * (len(x.shape) - 2)))


def group_normalization(call: OperatorCall) -> Sequence[Value]:
    """GroupNormalization: over groups of channels; scale and bias for each group up to opset 20, then each channel."""
    x, count = _value(call), call.integer("num_groups", 0)
    if len(x.shape) < 3 or count < 1 or x.shape[1] % count:
        message = f"{count} groups of a value of shape {x.shape}"
        raise UnreadableError(message, "num_groups has to divide the channels")
    groups = np.arange(x.size).reshape(x.shape[0] * count, -1)
    made = _normalised(x, groups, call.real("epsilon", float(np.float32(1e-5))))
    spatial = (1,) * (len(x.shape) - 2)
    if call.opset >= 21:
        return _scaled(call, made, (x.shape[1], *spatial))
    wide = af.rearrange(made, lambda p: p.reshape(x.shape[0], count, x.shape[1] // count, *x.shape[2:]))
    (found,) = _scaled(call, wide, (count, 1, *spatial))
    assert isinstance(found, Affine)
    return [af.rearrange(found, lambda p: p.reshape(x.shape))]


def lp_normalization(call: OperatorCall) -> Sequence[Value]:
    """LpNormalization: over the sum of sizes or the root of the sum of squares along an axis."""
    x, p = _value(call), call.integer("p", 2)
    axis = axis_of(call.integer("axis", -1), len(x.shape))
    groups = np.moveaxis(np.arange(x.size).reshape(x.shape), axis, -1).reshape(-1, x.shape[axis])
    if p == 1:
        sizes = _mean(af.curve(x, Curves.all(ABSOLUTE)), groups, count=1)
        return [_over(x, sizes, groups, Curve("reciprocal"))]
    if p != 2:
        raise UnreadableError(f"a norm of order {p}", "1 and 2 are read")
    return [_over(x, _mean(square(x), groups, count=1), groups, Curve("power", (-0.5,)))]


OPERATORS: dict[str, Operator] = {
    "GroupNormalization": group_normalization,
    "InstanceNormalization": instance_normalization,
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "RMSNormalization": layer_normalization,
}
