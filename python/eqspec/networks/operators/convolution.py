"""Conv, ConvTranspose and Col2Im over any number of spatial axes, as tiles over what their windows read.

A group of channels is a group of the tile, its outputs are the kernels, a place of the result is a position, and the
taps are channels times places of the window. A transposed convolution reads what a convolution with these strides would
have written there: at place y the places i with i stride + tap dilation = y + pad. Col2Im adds up what stands there for
each tap: a transposed convolution whose kernels are single taps.

A kernel of a Conv may depend on the input, too: of mixed experts, of hypernetworks, of a template that is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import affine as af
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import windows
from eqspec.networks.operators.broadcasting import reshaped
from eqspec.networks.operators.elementwise import add
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value

_SHAPES = "check the shapes of the value and of the weight"


def convolution(call: OperatorCall) -> Sequence[Value]:
    """Conv: strides, pads, dilations, groups, with or without bias."""
    x, weight = call.real_value(0), call.real_value(1)
    sizes, groups = windows.spatial(x.shape), call.integer("group", 1)
    outputs, channels, *kernel = weight.shape if len(weight.shape) == len(x.shape) else (0, 0)
    if groups < 1 or outputs < 1 or outputs % groups or channels * groups != x.shape[1]:
        raise UnreadableError(f"a weight of shape {weight.shape} in {groups} groups over {x.shape}", _SHAPES)
    _check_kernel(call, tuple(kernel))
    found = windows.read(call, sizes, tuple(kernel))
    shape = (x.shape[0], outputs, *found.results)
    _check_cost(x, prod(shape) * channels * prod(kernel), shape, outputs // groups)
    index = windows.over_channels(found.places(), x.shape[0], groups, channels, prod(sizes))
    if isinstance(weight, Affine):
        return [_with_bias(call, _of_varying_kernel(x, weight, index, shape))]
    by_group = weight.rearranged(lambda a: a.reshape(groups, outputs // groups, channels * prod(kernel)))
    return [_with_bias(call, _tiled(x, index, by_group, shape))]


def _of_varying_kernel(
    x: Affine | Enclosure, weight: Affine, index: Indices, shape: tuple[int, ...]
) -> Affine | Enclosure:
    """A kernel that depends on the input: its rows (g, o / g, k) times what the windows read (n, g, k, p)."""
    check_value(index.shape)
    samples, groups = shape[0], index.shape[0] // shape[0]
    read = np.swapaxes(index, 1, 2).reshape(samples, groups, index.shape[2], -1)
    outside = np.where(read == NONE, 0, read)
    if isinstance(x, Affine):
        patches: Affine | Enclosure = af.rearrange(x, lambda _: read)
    else:
        patches = x.rearranged(lambda a: np.where(read == NONE, 0.0, a.reshape(-1)[outside]))
    rows = af.rearrange(weight, lambda p: p.reshape(1, groups, -1, index.shape[2]))
    made = multiply_matrices(rows, patches)
    assert isinstance(made, Affine)
    return af.rearrange(made, lambda p: p.reshape(shape))


def transposed(call: OperatorCall) -> Sequence[Value]:
    """ConvTranspose: strides, pads, dilations, groups, output_padding, output_shape, with or without bias."""
    x, weight = call.real_value(0), call.number(1)
    sizes, groups = windows.spatial(x.shape), call.integer("group", 1)
    channels, outputs, *kernel = weight.shape if len(weight.shape) == len(x.shape) else (0, 0)
    if groups < 1 or outputs < 1 or channels != x.shape[1] or channels % groups:
        raise UnreadableError(f"a weight of shape {weight.shape} in {groups} groups over {x.shape}", _SHAPES)
    _check_kernel(call, tuple(kernel))
    before, results = _transposed_shape(call, sizes, tuple(kernel))
    shape = (x.shape[0], outputs * groups, *results)
    _check_cost(x, prod(shape) * channels // groups * prod(kernel), shape, outputs)
    strides, dilations = (windows.spread(call, name, len(sizes)) for name in ("strides", "dilations"))
    axes = [_transposed_axis(*one) for one in zip(sizes, kernel, strides, dilations, before, results, strict=True)]
    places = windows.combined(axes, sizes)
    index = windows.over_channels(places, x.shape[0], groups, channels // groups, prod(sizes))

    def by_group(a: NDArray[Any]) -> NDArray[Any]:
        split = a.reshape(groups, channels // groups, outputs, prod(kernel))
        return np.ascontiguousarray(split.swapaxes(1, 2)).reshape(groups, outputs, -1)

    return [_with_bias(call, _tiled(x, index, weight.rearranged(by_group), shape))]


def _transposed_axis(size: int, kernel: int, stride: int, dilation: int, before: int, results: int) -> Indices:
    """Places along an axis (results, kernel) that are read, -1 for nothing."""
    places = np.arange(results)[:, None] + before - np.arange(kernel) * dilation
    read = (places % stride == 0) & (places >= 0) & (places // stride < size)
    return np.where(read, places // stride, NONE)


def _transposed_shape(
    call: OperatorCall, sizes: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pads before each axis, and the sizes of the result."""
    rank = len(sizes)
    strides, dilations = windows.spread(call, "strides", rank), windows.spread(call, "dilations", rank)
    extra = call.integers("output_padding") or [0] * rank
    if (
        len(extra) != rank
        or min(extra) < 0
        or any(e >= max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True))
    ):
        raise UnreadableError(f"output_padding {extra} with strides {strides}", "export the model again")
    full = [
        (size - 1) * s + e + (k - 1) * d + 1
        for size, s, e, k, d in zip(sizes, strides, extra, kernel, dilations, strict=True)
    ]
    kind, wanted = windows.auto_pad(call), call.integers("output_shape")
    if wanted is None and kind.startswith("SAME"):
        wanted = [size * s for size, s in zip(sizes, strides, strict=True)]
    if wanted is None:
        pads = windows.pads_of(call, rank)
        results = tuple(f - pads[i] - pads[rank + i] for i, f in enumerate(full))
        before = tuple(pads[:rank])
    else:
        if call.attribute("output_shape") is not None and any(call.integers("pads") or []):
            raise UnreadableError("both pads and output_shape", "export it again: one of the two must be given")
        wanted = wanted[-rank:]
        total = [f - w for f, w in zip(full, wanted, strict=True)]
        if len(wanted) != rank or min(total) < 0:
            raise UnreadableError(
                f"output_shape {wanted} is larger than {full}, which is all that windows reach",
                "give output_padding, which says on which side the rest lies; runtimes choose without it",
            )
        results = tuple(wanted)
        before = tuple(t // 2 if kind == "SAME_UPPER" else t - t // 2 for t in total)
    if min(results) < 1:
        raise UnreadableError(f"a result of shape {results}", "export the model again")
    return before, results


def _check_kernel(call: OperatorCall, kernel: tuple[int, ...]) -> None:
    given = call.integers("kernel_shape")
    if given is not None and tuple(given) != kernel:
        raise UnreadableError(f"kernel_shape {given}, but a weight of {kernel}", "export the model again")


def _check_cost(x: Affine | Enclosure, cost: int, shape: tuple[int, ...], outputs: int) -> None:
    """Refuse what would be too large, before it is formed; so many outputs share the places that they read."""
    check_value(shape)
    if isinstance(x, Affine):
        held = cost // max(1, outputs) + 2 * cost // max(1, prod(shape[2:]))
        x.parts[0].units.reading.check_products(cost, held)


def _tiled(x: Affine | Enclosure, index: Indices, weight: Enclosure, shape: tuple[int, ...]) -> Affine | Enclosure:
    """The tile of each sample: groups of the next sample are groups of their own."""
    samples = index.shape[0] // weight.shape[0]
    kernels = weight if samples == 1 else weight.rearranged(lambda a: np.tile(a, (samples, 1, 1)))
    if isinstance(x, Affine):
        return products.tile(x, index, kernels, shape)
    return products.tile_of_constant(x, index, kernels, shape)


def _with_bias(call: OperatorCall, made: Affine | Enclosure) -> Value:
    if not call.has(2):
        return made
    bias = call.number(2)
    if bias.shape != made.shape[1:2]:
        raise UnreadableError(f"a bias of shape {bias.shape} for a result of {made.shape}", _SHAPES)
    return add(made, reshaped(bias, (*bias.shape, *(1,) * (len(made.shape) - 2))))


def columns_to_image(call: OperatorCall) -> Sequence[Value]:
    """Col2Im, as torch exports Fold: (N, C taps, windows) to (N, C, *image), overlapping windows added up."""
    x = call.real_value(0)
    image, kernel = (tuple(int(d) for d in call.whole(i).reshape(-1)) for i in (1, 2))
    check_value(image)
    found = windows.read(call, image, kernel)  # those that would make such columns of the image
    taps, count = prod(kernel), prod(found.results)
    if len(image) != 2 and max(found.dilations) > 1:
        raise UnreadableError("dilations of other than two axes, which onnxruntime leaves out", "use Pad and Conv")
    if len(x.shape) != 3 or min(image, default=0) < 1 or x.shape[1] % taps or x.shape[2] != count:
        message = f"columns of shape {x.shape} for {found.results} windows of {kernel} over {image}"
        raise UnreadableError(message, "export the model again")
    channels = x.shape[0] * (x.shape[1] // taps)
    shape = (x.shape[0], x.shape[1] // taps, *image)
    _check_cost(x, prod(shape) * taps, shape, 1)
    each = zip(found.results, kernel, found.strides, found.dilations, found.before, image, strict=True)
    places = windows.combined([_transposed_axis(*one) for one in each], found.results)  # (image, taps)
    columns = (np.arange(channels)[:, None, None] * taps + np.arange(taps)) * count
    index = np.where(places == NONE, NONE, columns + places).reshape(1, -1, taps)
    return [_tiled(x, index, Enclosure(np.ones((1, 1, taps))), shape)]


OPERATORS: dict[str, Operator] = {
    "Col2Im": columns_to_image,
    "Conv": convolution,
    "ConvTranspose": transposed,
}
