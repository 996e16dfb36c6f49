"""LRN, LpPool and GlobalLpPool: entries over, or as, norms of windows of entries.

    LRN: x_c / (bias + alpha / size sum over channels near c of x^2)^beta         LpPool: (sum of |x|^p)^(1/p)

The quotient is a product of two values that depend on the input: sound, and loosely bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import pooling, windows
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.variable_products import product, square


def _value(call: OperatorCall) -> Affine:
    x = call.real_value(0)
    return x if isinstance(x, Affine) else af.constant(call.given, x)


def local_response(call: OperatorCall) -> Sequence[Value]:
    """LRN: over `size` neighbouring channels, more of them behind than before where it is even."""
    x, size = _value(call), call.integer("size", 0)
    if len(x.shape) < 3 or size < 1:
        raise UnreadableError(f"{size} channels of a value of shape {x.shape}", "export the model again")
    channels = x.shape[1]
    check_value((*x.shape, min(size, channels)))
    before = min((size - 1) // 2, channels - 1)
    behind = min(size - 1 - (size - 1) // 2, channels - 1)
    places = np.moveaxis(np.arange(x.size).reshape(x.shape), 1, -1)
    if call.given.unit:
        total = _running_sums(call, square(x), places, before, behind)
    else:
        near = np.arange(channels)[:, None] + np.arange(-before, behind + 1)[None, :]
        inside = (near >= 0) & (near < channels)
        read = np.where(inside, places[..., np.where(inside, near, 0)], NONE)  # (n, spatial, c, k)
        found = pooling.mean(square(x), np.moveaxis(read, -2, 1).reshape(x.size, -1), np.ones(x.size, int), x.shape)
        assert isinstance(found, Affine)
        total = found
    share = en.divide(en.exactly(call.real("alpha", float(np.float32(1e-4)))), en.exactly(float(size)))
    base = af.shift(af.scale(total, share), en.exactly(call.real("bias", 1.0)))
    return [product(x, af.curve(base, Curves.all(_power(-call.real("beta", 0.75)))))]


def _running_sums(call: OperatorCall, squares: Affine, places: Indices, before: int, behind: int) -> Affine:
    """The sums as runtimes may keep them, adding a square in front and taking one away behind: all leave an error."""
    channels, shape = squares.shape[1], squares.shape
    apart = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    weight = ((apart >= -before) & (apart <= behind)).astype(np.float64)
    check_value((*shape, channels))
    spread = (*places.shape, channels)
    read = np.moveaxis(np.broadcast_to(places[..., None, :], spread), -2, 1).reshape(-1, 1, channels)
    kernels = np.moveaxis(np.broadcast_to(weight, spread), -2, 1).reshape(-1, 1, channels)
    error = np.full(kernels.shape, 2 * channels * call.given.unit)
    return products.tile(squares, read, Enclosure(kernels, error), shape)


def _power(exponent: float) -> Curve:
    named = {0.5: "sqrt", -1.0: "reciprocal"}
    return Curve(named[exponent]) if exponent in named else Curve("power", (exponent,))


def _norm(call: OperatorCall, x: Affine, read: Indices, shape: tuple[int, ...]) -> Affine:
    order = call.integer("p", 2)
    if order not in (1, 2):
        raise UnreadableError(f"a norm of order {order}", "1 and 2 are read")
    sizes = square(x) if order == 2 else af.curve(x, Curves.all(ABSOLUTE))
    total = pooling.mean(sizes, read, np.ones(len(read), int), shape)
    assert isinstance(total, Affine)
    return af.curve(total, Curves.all(Curve("sqrt"))) if order == 2 else total


def norm_pool(call: OperatorCall) -> Sequence[Value]:
    """LpPool: windows as those of an AveragePool, in which padding counts nothing."""
    x = _value(call)
    found = windows.read(call, windows.spatial(x.shape), tuple(call.integers("kernel_shape") or ()), pooling=True)
    channels = prod(x.shape[:2])
    check_value((channels, prod(found.results), prod(found.kernel)))
    index = windows.over_channels(found.places(), 1, channels, 1, prod(x.shape[2:]))
    return [_norm(call, x, index.reshape(-1, index.shape[-1]), (*x.shape[:2], *found.results))]


def global_norm_pool(call: OperatorCall) -> Sequence[Value]:
    """GlobalLpPool."""
    x = _value(call)
    sizes = windows.spatial(x.shape)
    read = np.arange(x.size).reshape(prod(x.shape[:2]), -1)
    return [_norm(call, x, read, (*x.shape[:2], *(1,) * len(sizes)))]


OPERATORS: dict[str, Operator] = {
    "GlobalLpPool": global_norm_pool,
    "LRN": local_response,
    "LpPool": norm_pool,
}
