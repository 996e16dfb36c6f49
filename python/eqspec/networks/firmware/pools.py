"""Pools: the largest entry or the average of windows, or of everything in a channel.

io_parallel    the largest entry is taken as it is and assigned to the accumulator's type. An average adds entries up in
               the accumulator, one after the other, and divides by how many of them lie inside of the image
streams        every entry is assigned to the accumulator's type first

The division is that of whole numbers of the accumulator's last digit, cut off towards zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.windows import PADS, Windows, refuse_padding, side_by_side, sides_of
from eqspec.networks.quantiser import Rounding

_LAYOUT = ("filt_height", "filt_width", "n_chan", "implementation", "reuse_factor")
_OF_WINDOWS = ("pool_width", "pool_height", "stride_width", "stride_height", "count_pad", *PADS)
_NEWEST = {
    1: "9aecf42968058b3fafb404415626b4e2",
    2: "0e59222908980ba26cfaf6f48a5b4ad0",
}
"""Digests of pooling1d_cl and pooling2d_cl since 1.2. Those before take a stride where the size of a window belongs."""
_BUFFERS = ("kernel_shift_1d", "kernel_shift_2d", "shift_line_buffer")
_STEADY = (Rounding.FLOOR, Rounding.CEIL, Rounding.HALF_UP, Rounding.HALF_DOWN)
"""Roundings for which it is the same to round a sum and to round what is added, where the rest lies on the grid."""


class _Shape(NamedTuple):
    """Along each axis the pixels of the image, of a window, from one window to the next, and of the result."""

    axes: int
    size: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    out: tuple[int, ...]


def pool(axes: int) -> Callable[[Layer], None]:
    """A pool of windows."""
    inside, outside = (("n_in",), ("n_out",)) if axes == 1 else (_of("in", axes), _of("out", axes))
    pads = PADS[-2 * axes :]

    def read(layer: Layer) -> None:
        read_here = (*inside, *outside, *_of("pool", axes), *_of("stride", axes), *pads, "count_pad")
        configuration, average = _configuration(layer, axes, read_here, _LAYOUT)
        declared = layer.project.declared
        size, window, stride, out = (
            tuple(declared.member_number(configuration, name) for name in names)
            for names in (inside, _of("pool", axes), _of("stride", axes), outside)
        )
        shape = _Shape(axes, size, window, stride, out)
        channels = declared.member_number(configuration, "n_filt")
        given = layer.given(prod(size) * channels)
        if layer.word:
            windows = _of_stream(layer, configuration, shape, channels)
        else:
            windows = _of_array(layer, configuration, shape)
        entries = _entries(windows, channels)
        counts = (entries >= 0).sum(axis=1)
        if average and not layer.word and _counts_pads(layer, configuration):
            counts[:] = prod(window)
        _pooled(layer, configuration, given, entries, counts if average else None, channels)

    return read


def pool_of_all(axes: int) -> Callable[[Layer], None]:
    """A pool of everything in a channel."""
    inside = ("n_in",) if axes == 1 else _of("in", axes)

    def read(layer: Layer) -> None:
        # Of windows and padding nothing is looked at by what it computes.
        configuration, average = _configuration(layer, axes, inside, (*_OF_WINDOWS, *_LAYOUT))
        declared = layer.project.declared
        size = prod(declared.member_number(configuration, name) for name in inside)
        channels = declared.member_number(configuration, "n_filt")
        given = layer.given(size * channels)
        if layer.word:
            helpers = ("compute_global_pool", "reduce_global_pool")
            layer.rests_on("nnet_pooling", f"global_pooling{axes}d_cl", helpers=helpers)
            layer.project.templates.check("nnet_common.h", "reduce", "Op_add", "Op_max")
            if layer.word % channels or size % (layer.word // channels):
                layer.fail(f"a word of its stream has {layer.word} numbers, a pixel {channels}", "write it again")
        else:
            layer.project.templates.check("nnet_pooling.h", f"global_pooling{axes}d_cl")
        entries = np.arange(size * channels).reshape(size, channels).T
        counts = np.full(channels, size) if average else None
        _pooled(layer, configuration, given, entries, counts, channels)

    return read


def _of(what: str, axes: int) -> tuple[str, ...]:
    return tuple(f"{what}_{side}" for side in sides_of(axes))


def _configuration(
    layer: Layer, axes: int, members: Sequence[str], harmless: Sequence[str]
) -> tuple[Configuration, bool]:
    """The configuration of a pool, and whether it is an average."""
    layer.check_call(3, 2)
    known = (*members, "n_filt", "pool_op", "accum_t")
    configuration = layer.configuration(f"pooling{axes}d_config", known, harmless)
    operation = layer.project.declared.member_name(configuration, "pool_op")
    if operation not in ("nnet::Max", "nnet::Average"):
        layer.fail(f"pools by {operation} are not read", "use the largest entry or the average")
    if layer.project.declared.member_number(configuration, "n_filt") < 1:
        layer.fail("it has no channels", "write the project again")
    return configuration, operation == "nnet::Average"


def _counts_pads(layer: Layer, configuration: Configuration) -> bool:
    """Whether an average divides by the size of the window everywhere."""
    if "count_pad" not in configuration.members:
        return False
    said = layer.project.declared.member_name(configuration, "count_pad")
    if said not in ("true", "false"):
        layer.fail(f"count_pad is {said}", "write the project again")
    return said == "true"


def _of_array(layer: Layer, configuration: Configuration, shape: _Shape) -> Windows:
    """The pixels of each window, -1 where it leaves the image."""
    axes, size, window, stride, out = shape
    declared, templates = layer.project.declared, layer.project.templates
    templates.check("nnet_pooling.h", f"pooling{axes}d_cl")
    pads = {
        side: tuple(
            declared.member_number(configuration, pad) if pad in configuration.members else 0
            for pad in (("pad_top", "pad_left") if side == "before" else ("pad_bottom", "pad_right"))[-axes:]
        )
        for side in ("before", "after")
    }
    padded = tuple(n + a + b for n, a, b in zip(size, pads["before"], pads["after"], strict=True))
    plain = padded == size and window == stride
    if not plain and templates.digest("nnet_pooling.h", f"pooling{axes}d_cl") not in (None, _NEWEST[axes]):
        fix = "write the project with hls4ml 1.2 or newer, or use windows that lie side by side"
        layer.fail("windows that overlap or leave the image are not read of this release", fix)
    if padded != size:
        templates.check("nnet_pooling.h", "pad_val")
    pixels = np.full(padded, -1)
    within = tuple(slice(a, a + n) for a, n in zip(pads["before"], size, strict=True))
    pixels[within] = np.arange(prod(size)).reshape(size)
    found: Windows = pixels.reshape(-1)[side_by_side(layer, padded, window, stride, out)]
    return found


def _of_stream(layer: Layer, configuration: Configuration, shape: _Shape, channels: int) -> Windows:
    """The pixels of each window; windows never leave what a stream brings."""
    axes, size, window, stride, out = shape
    refuse_padding(layer, configuration)
    name = f"pooling{axes}d"
    encoded = (f"{name}_encoded_cl", f"compute_pool_encoded_{axes}d", "init_pool_table")
    helpers = (f"{name}_buffer_cl", f"compute_pool_buffer_{axes}d", "reduce_pool", *encoded)
    layer.rests_on("nnet_pooling", f"{name}_cl", helpers=helpers)
    layer.project.templates.check("nnet_conv_stream.h", helpers=_BUFFERS)
    layer.project.templates.check("nnet_common.h", "reduce", "Op_add", "Op_max")
    way = layer.project.declared.member_name(configuration, "implementation")
    if way not in ("nnet::conv_implementation::linebuffer", "nnet::conv_implementation::encoded"):
        layer.fail(f"{way} is not read", "use LineBuffer or Encoded")
    packs = way.endswith("encoded")
    if layer.word % channels or (layer.word != channels and not packs):
        layer.fail(f"a word of its stream has {layer.word} numbers, a pixel {channels}", "write the project again")
    if window != stride and (packs or axes == 2):
        layer.fail(f"windows of {window} with strides {stride}: hls4ml has none in streams", "use io_parallel")
    return side_by_side(layer, size, window, stride, out)


def _entries(windows: Windows, channels: int) -> Windows:
    """The entries of each window of each channel, in the order of the result."""
    entries = np.where(windows[:, None] < 0, -1, windows[:, None] * channels + np.arange(channels)[:, None])
    return entries.reshape(-1, windows.shape[1])


def _pooled(
    layer: Layer,
    configuration: Configuration,
    given: Value,
    entries: Windows,
    counts: NDArray[np.intp] | None,
    channels: int,
) -> None:
    """The largest entry or, with what to divide by, the average of each window."""
    builder = layer.project.builder
    builder.refuse = layer.fail
    accumulator = layer.project.declared.member_type(configuration, "accum_t")
    name = f"{layer.name}.accum_t"
    templates = layer.project.templates
    if not layer.word:
        templates.check("nnet_pooling.h", "pool_op", "max" if counts is None else "avg")
    if (entries < 0).all(axis=1).any():
        layer.fail("a window lies outside of the image", "write the project again")
    if counts is None:
        if (entries < 0).any() and not layer.given_type.signed:
            fix = "use a type with a sign, or a pool without padding"
            layer.fail(f"what it pads with is not the least number of {layer.given_type.text}", fix)
        # Outside of the image stands the least number there is, which changes nothing beside another entry.
        entries = np.where(entries < 0, entries.max(axis=1, keepdims=True), entries)
        if layer.word:
            found = builder.largest(builder.assigned(given, accumulator, name), entries)
        else:
            found = builder.assigned(builder.largest(given, entries), accumulator, name)
    else:
        _check_addition(layer, given, accumulator)
        nothing, taps = integers([0]), entries.shape[1]
        order = None if layer.word else np.arange(taps)[:, None]
        sums = Sums(entries, integers([[1] * taps]), 0, nothing, 0, order)
        found = builder.divided(builder.added(given, sums, accumulator, name), _integers(counts), accumulator)
    word = layer.word if layer.word == channels else None
    layer.gives(found, argument=1, template=1, word=channels if layer.word and word else None)


def _integers(counts: NDArray[np.intp]) -> Integers:
    return integers(counts.tolist())


def _check_addition(layer: Layer, given: Value, accumulator: FixedPoint) -> None:
    """Refuse sums of io_parallel that are not those of rounded entries: there every sum is rounded."""
    if layer.word:
        return
    lattice = given.lattice
    if accumulator.rounding not in _STEADY and not lattice.on_grid(accumulator).all():
        fix = "give its accumulator the digits of its input, or AP_TRN or AP_RND"
        layer.fail(f"its accumulator {accumulator.text} rounds every sum on the way", fix)
    if not accumulator.wraps and not lattice.levels(accumulator).inside(accumulator).all():
        layer.fail(f"its accumulator {accumulator.text} cuts off what is added", "give it more bits")
