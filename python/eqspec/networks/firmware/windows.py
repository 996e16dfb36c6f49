"""Which pixels of an image or a sequence each position of a layer takes: in io_parallel and in streams.

io_parallel    code that hls4ml generates (nnet_code_gen.h) fills a buffer with the entries of a position:

    if (partition == 2) { buffer[0][0] = data[4]; buffer[0][1] = data[5]; ... = 0; }

               What it reads is therefore what that code says; stride and padding are not looked at.
line buffers   a stream gives a pixel at a time; a position is complete with its last pixel. Nothing is padded.
encoded        each pixel goes into the queues of the places that a mask of the configuration names, and a position is
               taken from all queues at once when the last place was named. The queues are run through here.
"""

from __future__ import annotations

from collections import deque
from math import prod

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.tokens import Words

Windows = NDArray[np.intp]
"""(P, K): the entry or pixel that each position takes at each of its places, -1 for 0."""
_CODE = "nnet_code_gen.h"
PADS = ("pad_top", "pad_bottom", "pad_left", "pad_right")


def sides_of(axes: int) -> tuple[str, ...]:
    """The names of the axes of an image, or of a sequence."""
    return ("height", "width")[-axes:]


def by_code(layer: Layer, configuration: Configuration, shape: tuple[int, int], size: int) -> Windows:
    """The entries of each position, as the code says that fills the buffer."""
    positions, inputs = shape
    partitions = layer.project.declared.member_number(configuration, "n_partitions")
    if partitions < 1 or positions % partitions or positions * inputs > MAX_PRODUCTS:
        layer.fail(f"{positions} positions of {inputs} inputs in {partitions} partitions", "write the project again")
    pixels = positions // partitions
    name = layer.project.declared.member_name(configuration, "fill_buffer", "data_T", "CONFIG_T").removeprefix("nnet::")
    words = layer.project.templates.words(_CODE)
    if words is None:
        layer.fail(f"there is no {_CODE}", "keep firmware/nnet_utils as hls4ml wrote it")
    while words.next.text and not words.skip("class", name):
        words.take()
    words.until("{")
    words.expect("public", ":", "static", "void", "fill_buffer", "(")
    words.until(")")
    words.expect("{")
    index = np.full((positions, inputs), -2, np.intp)
    while not words.skip("}"):
        words.expect("if", "(", "partition", "=", "=")
        partition = _below(words, partitions)
        words.expect(")", "{")
        while not words.skip("}"):
            words.expect("buffer", "[")
            line = words.next.line
            pixel = _below(words, pixels)
            words.expect("]", "[")
            tap = _below(words, inputs)
            words.expect("]", "=")
            place = partition * pixels + pixel, tap
            if index[place] != -2:
                words.fail(line, f"input {tap} of a position is filled twice", "write the project again")
            if words.skip("data", "["):
                index[place] = _below(words, size)
                words.expect("]")
            else:
                words.expect("0")
                index[place] = -1
            words.expect(";")
    words.expect("}", ";")
    if (index == -2).any():
        layer.fail(f"{name} leaves inputs of a position as they are", "write the project again")
    return index


def _below(words: Words, end: int) -> int:
    """A number from 0 on below this one."""
    word = words.take()
    if word.kind != "number" or not word.text.isdecimal() or len(word.text) > 9 or int(word.text) >= end:
        words.refuse(f"a number below {end}", word)
    return int(word.text)


def side_by_side(
    layer: Layer, size: tuple[int, ...], window: tuple[int, ...], stride: tuple[int, ...], out: tuple[int, ...]
) -> Windows:
    """The pixels of windows that move over all axes and never leave the image."""
    if min(*size, *window, *stride) < 1 or any(k > n for n, k in zip(size, window, strict=True)):
        layer.fail(f"windows of {window} with strides {stride} in {size}", "write the project again")
    fit = tuple((n - k) // s + 1 for n, k, s in zip(size, window, stride, strict=True))
    if fit != out:
        layer.fail(f"windows of {window} with strides {stride} in {size} give {fit}, not {out}", "write it again")
    if prod(out) * prod(window) > MAX_PRODUCTS:
        layer.fail(f"{prod(out)} windows of {prod(window)} entries", "use a smaller network")
    first = np.zeros(out, np.intp)
    place = np.zeros(window, np.intp)
    for axis in range(len(size)):
        step = prod(size[axis + 1 :])
        along = [1] * len(size)
        along[axis] = -1
        first = first + (np.arange(out[axis]) * stride[axis] * step).reshape(along)
        place = place + (np.arange(window[axis]) * step).reshape(along)
    found: Windows = first.reshape(-1, 1) + place.reshape(1, -1)
    return found


def of_stream(layer: Layer, configuration: Configuration, axes: int, channels: int) -> Windows:
    """The pixels of each position of a convolution that reads a stream."""
    declared = layer.project.declared
    size, window, stride, out = (
        tuple(declared.member_number(configuration, f"{what}_{side}") for side in sides_of(axes))
        for what in ("in", "filt", "stride", "out")
    )
    refuse_padding(layer, configuration)
    way = declared.member_name(configuration, "implementation").removeprefix("nnet::conv_implementation::")
    if way == "linebuffer":
        if layer.word != channels:
            layer.fail(f"a word of its stream has {layer.word} numbers, a pixel {channels}", "write the project again")
        if axes == 2 and window[0] == 1 and stride[0] != 1:
            # Such layers count pixels of a row alone, whatever the stride down is.
            layer.fail("windows of one row with a stride down are not read", "use a stride of 1 there")
        return side_by_side(layer, size, window, stride, out)
    if way != "encoded" or layer.word % channels:
        layer.fail(f"the implementation {way} of streams is not read", "use LineBuffer or Encoded")
    return _of_queues(layer, configuration, size, window, stride, prod(out))


def refuse_padding(layer: Layer, configuration: Configuration) -> None:
    """Refuse padding, of which streams know nothing: the simulation stops there."""
    declared = layer.project.declared
    if any(declared.member_number(configuration, pad) for pad in PADS if pad in configuration.members):
        layer.fail("padding inside of a layer that reads a stream is not read", "write the project again")


def _of_queues(
    layer: Layer,
    configuration: Configuration,
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    positions: int,
) -> Windows:
    declared = layer.project.declared
    masks = declared.member_numbers(configuration, "pixels")
    names = ("scale_index",) if len(size) == 1 else ("scale_index_height", "scale_index_width")
    scaled = [
        [_scaled(layer, configuration, name, pixel, k, s, n) for pixel in range(n)]
        for name, n, k, s in zip(names, size, window, stride, strict=True)
    ]
    across = declared.member_number(configuration, "min_width")
    taps = prod(window)
    queues = [deque[int]() for _ in range(taps)]
    found = list[list[int]]()
    for pixel, place in enumerate(np.ndindex(*size)):
        at = [numbers[k] for numbers, k in zip(scaled, place, strict=True)]
        which = at[0] if len(size) == 1 else at[0] * across + at[1]
        if which >= len(masks):
            layer.fail(f"pixel mask {which} is missing", "write the project again")
        mask = masks[which]
        for tap in range(taps):
            if mask >> tap & 1:
                queues[tap].append(pixel)
        if mask >> (taps - 1) & 1:
            if not all(queues):
                layer.fail("a position is taken before all of its pixels are there", "write the project again")
            found.append([queue.popleft() for queue in queues])
    if len(found) != positions or any(queues):
        layer.fail(f"its masks give {len(found)} positions, its configuration {positions}", "write the project again")
    return np.array(found, np.intp)


def _scaled(layer: Layer, configuration: Configuration, name: str, pixel: int, k: int, s: int, w: int) -> int:
    """Which pixel of a smaller image has the same mask."""
    way = layer.project.declared.member_name(configuration, name, "K", "S", "W").removeprefix("nnet::")
    if way == "scale_index_unscaled":
        return pixel
    if way != "scale_index_regular" or w < k:
        layer.fail(f"{way} is not read", "write the project again")
    apart, least, most = abs(k - s), min(k, s), max(k, s)
    nearest = (w - k) // s * s + k
    small = (-(-most // least) - 1) * s + k
    if pixel < apart:
        return pixel
    if pixel >= nearest:
        return small
    rest = nearest - pixel
    return small - rest if rest <= apart else apart + (pixel - apart) % s
