"""Layers that move numbers and compute nothing: padding, cropping, other orders, copies of streams, larger images.

Each number is assigned to the type of what it is moved to.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.firmware.windows import sides_of

_AGAIN = "write the project again"


def _edged(layer: Layer, axes: int, base: str, what: str) -> tuple[tuple[int, ...], tuple[int, ...], list[int], int]:
    """Sizes of an image before and after, what is put on or cut off before and behind along each axis, and channels."""
    layer.check_call(3, 2)
    sides = sides_of(axes)
    edges = [f"{what}_{edge}" for edge in ("top", "bottom", "left", "right")[-2 * axes :]]
    sizes = [f"{which}_{side}" for which in ("in", "out") for side in sides]
    configuration = layer.configuration(base, ("n_chan", *sizes, *edges), ("reuse_factor",))
    number = layer.project.declared.member_number
    size, out = (tuple(number(configuration, f"{which}_{side}") for side in sides) for which in ("in", "out"))
    return size, out, [number(configuration, edge) for edge in edges], number(configuration, "n_chan")


def padded(axes: int) -> Callable[[Layer], None]:
    """Zeros around an image."""

    def read(layer: Layer) -> None:
        size, out, around, channels = _edged(layer, axes, f"padding{axes}d_config", "pad")
        if min(*size, channels) < 1 or min(around) < 0:
            layer.fail("it has no pixels, no channels, or pads with less than nothing", _AGAIN)
        if out != tuple(n + a + b for n, a, b in zip(size, around[::2], around[1::2], strict=True)):
            layer.fail(f"{size} padded by {around} is not {out}", _AGAIN)
        if prod(out) * channels > MAX_NEURONS:
            layer.fail(f"{prod(out) * channels} entries", f"images of up to {MAX_NEURONS} entries are read")
        layer.rests_on("nnet_padding", f"zeropad{axes}d_cl", helpers=("fill_zero", "fill_data"))
        _check_pixels(layer, channels)
        pixels = np.full(out, -1)
        within = tuple(slice(a, a + n) for a, n in zip(around[::2], size, strict=True))
        pixels[within] = np.arange(prod(size)).reshape(size)
        entries = np.where(pixels.reshape(-1, 1) < 0, -1, pixels.reshape(-1, 1) * channels + np.arange(channels))
        _moved(layer, prod(size) * channels, entries.reshape(-1), word=channels)

    return read


def cropped(axes: int) -> Callable[[Layer], None]:
    """An image without its edges."""

    def read(layer: Layer) -> None:
        size, out, edges, channels = _edged(layer, axes, f"cropping{axes}d_config", "crop")
        first = edges[::2]
        if min(*size, *out, channels) < 1 or any(not 0 <= a <= n - m for a, n, m in zip(first, size, out, strict=True)):
            layer.fail(f"{size} cropped to {out} from {first} on", _AGAIN)
        layer.rests_on("nnet_cropping", f"cropping{axes}d_cl")
        if layer.word:
            _check_pixels(layer, channels)
            layer.project.templates.check("nnet_padding_stream.h", "fill_data")
            if any(a + m + b != n for a, m, b, n in zip(first, out, edges[1::2], size, strict=True)):
                layer.fail(f"{size} cropped to {out} leaves pixels in its stream", _AGAIN)
        entry = np.arange(prod(size) * channels).reshape(*size, channels)
        taken = entry[tuple(slice(a, a + m) for a, m in zip(first, out, strict=True))]
        _moved(layer, prod(size) * channels, taken.reshape(-1), word=channels)

    return read


def resized(layer: Layer) -> None:
    """A larger or smaller image, each pixel the nearest one as a ratio in sixteen bits says."""
    layer.check_call(2, 2)
    names = ("height", "width", "new_height", "new_width", "n_chan")
    configuration = layer.configuration("resize_config", names, ("reuse_factor",))
    height, width, rows, columns, channels = (layer.project.declared.member_number(configuration, n) for n in names)
    if min(height, width, rows, columns, channels) < 1 or rows * columns * channels > MAX_NEURONS:
        layer.fail(
            f"{height} by {width} pixels become {rows} by {columns}", "write the project again, or a smaller one"
        )
    layer.rests_on("nnet_image", "resize_nearest")
    if layer.word:
        _check_pixels(layer, channels)
        if rows % height or columns % width:
            layer.fail("in streams images become a whole number of times larger", "write the project with io_parallel")
        down, across = np.arange(rows) // (rows // height), np.arange(columns) // (columns // width)
    else:
        down = np.arange(rows) * ((height << 16) // rows + 1) >> 16
        across = np.arange(columns) * ((width << 16) // columns + 1) >> 16
    if down.max() >= height or across.max() >= width:
        layer.fail("it reads behind the end of its image", "write the project again")
    pixels = down[:, None] * width + across
    entries = pixels.reshape(-1, 1) * channels + np.arange(channels)
    _moved(layer, height * width * channels, entries.reshape(-1), word=channels, template=0)


def transposed(layer: Layer) -> None:
    """Entries in another order of axes."""
    layer.check_call(3, 2)
    taken, shape = order_of(layer)
    layer.rests_on("nnet_transpose", "transpose")
    # Of two axes a stream has a loop of its own, which writes words of a row of the result.
    _moved(layer, len(taken), taken, word=shape[-1] if len(shape) == 2 else None)


def order_of(layer: Layer, name: str | None = None) -> tuple[NDArray[np.intp], list[int]]:
    """Which entry stands at each place of a result, and its shape: by the configuration of a transposition, that of
    the call or the one of this name.
    """
    several = ("from_shape", "to_shape", "perm", "perm_strides")
    configuration = layer.configuration("", ("dims", "N", *several), (), name)
    declared = layer.project.declared
    layer.project.templates.check("nnet_transpose.h", "transfer_idx")
    size, axes = (declared.member_number(configuration, name) for name in ("N", "dims"))
    shape, strides = (declared.member_numbers(configuration, name) for name in ("to_shape", "perm_strides"))
    if len(shape) != axes or len(strides) != axes or prod(shape) != size or size < 1:
        layer.fail(f"{size} entries of shape {shape[:8]}", _AGAIN)
    places = np.indices(shape).reshape(axes, -1)
    taken = np.tensordot(np.array(strides), places, axes=1)
    if not (np.sort(taken) == np.arange(size)).all():
        layer.fail("it does not take every entry once", _AGAIN)
    return taken, shape


def cloned(layer: Layer) -> None:
    """The same stream several times."""
    copies = len(layer.call.arguments) - 1
    if copies < 2 or len(layer.call.templates) != 3 or not all(layer.call.arguments):
        layer.fail(f"{copies} copies", _AGAIN)
    size = _size_of_call(layer)
    layer.project.templates.check("nnet_stream.h", "clone_stream")
    layer.project.templates.check("nnet_types.h", "array")
    given = layer.given(size)
    for copy in range(copies):
        layer.gives(given, argument=1 + copy, template=1, word=layer.word)


def repacked(layer: Layer) -> None:
    """A stream in words of another length."""
    layer.check_call(3, 2)
    size = _size_of_call(layer)
    layer.project.templates.check("nnet_stream.h", "repack_stream")
    layer.project.templates.check("nnet_types.h", "array")
    result = layer.words_of(1)
    if not layer.word or not result or max(layer.word, result) % min(layer.word, result):
        layer.fail(f"words of {layer.word} numbers become words of {result}", _AGAIN)
    layer.gives(layer.given(size), argument=1, template=1)


def _size_of_call(layer: Layer) -> int:
    """How many numbers a call says that it moves."""
    words = Words.of(layer.project.function.path, layer.call.templates[-1])
    return layer.project.declared.number(words)


def _check_pixels(layer: Layer, channels: int) -> None:
    """Refuse a stream whose words are no pixels."""
    if layer.word and layer.word != channels:
        layer.fail(f"a word of its stream has {layer.word} numbers, a pixel {channels}", _AGAIN)


def _moved(layer: Layer, size: int, entries: NDArray[np.intp], *, word: int | None = None, template: int = 1) -> None:
    """Some entries, and zeros where they are -1, in another order."""
    builder = layer.project.builder
    builder.refuse = layer.fail
    given = layer.given(size)
    value = builder.with_zeros(given, entries) if (entries < 0).any() else given.taken(entries)
    layer.gives(value, argument=1, template=template, word=word)
