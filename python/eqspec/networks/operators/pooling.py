"""AveragePool, MaxPool and their global forms, over any number of spatial axes.

An average is a tile: one small kernel for all places where every window has as many entries, else one for each place.
A maximum is taken along one axis after the other, as a tree; what lies in the padding is left out, since it is minus
infinity there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import functions, peaks, windows
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def average_pool(call: OperatorCall) -> Sequence[Value]:
    """AveragePool: over what lies in the value, or over the padding as well with `count_include_pad`."""
    x = call.real_value(0)
    found = _windows(call, windows.spatial(x.shape))
    included = bool(call.integer("count_include_pad", 0))
    if found.ceil and included and any(found.behind) and (found.counted() != prod(found.kernel)).any():
        message = "an average that counts padding, in a window beyond it, which runtimes divide by different numbers"
        raise UnreadableError(message, "leave ceil_mode or count_include_pad out, or pad the value beforehand")
    _check_cost(x, x.shape[:2], found)
    places = found.places()
    counts = found.counted() if included else (places != NONE).sum(axis=1)
    if not counts.all():
        raise UnreadableError("an average over padding alone", "use smaller pads")
    return [_average(x, places, counts, (*x.shape[:2], *found.results))]


def global_average_pool(call: OperatorCall) -> Sequence[Value]:
    """GlobalAveragePool: over all spatial axes."""
    x = call.real_value(0)
    sizes = windows.spatial(x.shape)
    places = np.arange(prod(sizes)).reshape(1, -1)
    return [_average(x, places, np.array([prod(sizes)]), (*x.shape[:2], *(1,) * len(sizes)))]


def _average(x: Affine | Enclosure, places: Indices, counts: Indices, shape: tuple[int, ...]) -> Affine | Enclosure:
    channels, taps = prod(shape[:2]), places.shape[1]
    index = windows.over_channels(places, 1, channels, 1, prod(x.shape[2:]))  # (c, p, k)
    return mean(x, index.reshape(-1, taps), np.tile(counts, channels), shape)


def mean(x: Affine | Enclosure, read: Indices, counts: Indices, shape: tuple[int, ...]) -> Affine | Enclosure:
    """The sum of what each row (r, k) reads, over its count (r)."""
    share = en.divide(en.exactly(1.0), en.exactly(counts.astype(np.float64)))
    if (counts == counts[0]).all():
        weight = share.rearranged(lambda a: np.full((1, 1, read.shape[1]), a[0]))
        index = read[None]
    else:
        weight = share.rearranged(lambda a: np.repeat(a[:, None, None], read.shape[1], axis=2))
        index = read[:, None, :]
    if isinstance(x, Affine):
        return products.tile(x, index, weight, shape)
    return products.tile_of_constant(x, index, weight, shape)


def max_pool(call: OperatorCall) -> Sequence[Value]:
    """MaxPool: along one spatial axis after the other."""
    if call.wants(1):
        raise UnreadableError("the places of the maxima are asked for", "remove the second output")
    x = call.real_value(0)
    found = _windows(call, windows.spatial(x.shape))
    made: Affine | Enclosure = functions.argument(x) if isinstance(x, Affine) else x
    for axis, results in enumerate(found.results):
        places = found.axis(axis)
        if (places == NONE).all(axis=1).any():
            raise UnreadableError("a maximum over padding alone", "use smaller pads")
        shape = (*made.shape[: 2 + axis], results, *made.shape[3 + axis :])
        check_value((*shape, places.shape[1]))
        groups = _along(made.shape, 2 + axis, places)
        made = _largest(made, groups.reshape(-1, places.shape[1]), shape)
    result = functions.result(made)
    if isinstance(x, Affine) and isinstance(result, Affine) and result.shape == x.shape:
        groups = windows.over_channels(found.places(), 1, prod(x.shape[:2]), 1, prod(x.shape[2:]))
        peaks.remember(result, x, groups.reshape(result.size, -1), np.arange(result.size))
    return [result]


def _along(shape: tuple[int, ...], axis: int, places: Indices) -> Indices:
    """Flat places (*shape with the results of this axis, kernel) of windows along one axis."""
    flat = np.arange(prod(shape)).reshape(shape)
    taken = np.moveaxis(np.take(np.moveaxis(flat, axis, -1), places, axis=-1), -2, axis)
    absent = (places == NONE).reshape(*(1,) * axis, len(places), *(1,) * (len(shape) - axis - 1), -1)
    return np.where(absent, NONE, taken)


def _largest(x: Affine | Enclosure, groups: Indices, shape: tuple[int, ...]) -> Affine | Enclosure:
    if isinstance(x, Affine):
        return af.rearrange(functions.maximum_of(x, groups), lambda p: p.reshape(shape))
    value = np.where(groups == NONE, -np.inf, x.value.reshape(-1)[groups]).max(axis=1).reshape(shape)
    error = None if x.error is None else x.error.reshape(-1)[groups].max(axis=1).reshape(shape)
    return en.enclose(value, error)


def global_max_pool(call: OperatorCall) -> Sequence[Value]:
    """GlobalMaxPool: over all spatial axes."""
    x = call.real_value(0)
    sizes = windows.spatial(x.shape)
    groups = np.arange(prod(x.shape)).reshape(-1, prod(sizes))
    shape = (*x.shape[:2], *(1,) * len(sizes))
    made = _largest(functions.argument(x) if isinstance(x, Affine) else x, groups, shape)
    return [functions.result(made)]


def _windows(call: OperatorCall, sizes: tuple[int, ...]) -> windows.Windows:
    if call.integer("storage_order", 0):
        raise UnreadableError("column-major places", "leave storage_order out")
    return windows.read(call, sizes, tuple(call.integers("kernel_shape") or ()), pooling=True)


def _check_cost(x: Affine | Enclosure, channels: Sequence[int], found: windows.Windows) -> None:
    if isinstance(x, Affine):
        x.parts[0].units.reading.check_products(prod(channels) * prod(found.results) * prod(found.kernel))


OPERATORS: dict[str, Operator] = {
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
    "MaxPool": max_pool,
}
