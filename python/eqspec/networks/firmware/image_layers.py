"""Layers of sequences and images in io_parallel: convolutions, pools that take the largest entry, transpose.

A convolution takes the inputs of each position from a buffer, which code that hls4ml generates fills (nnet_code_gen.h):

    if (partition == 2) { buffer[0][0] = data[4]; buffer[0][1] = data[5]; ... = 0; }

What it reads is therefore what that code says; stride and padding are not looked at. Each position is then a dense
layer, whose result has the outputs of a position together. A pool returns its largest entry in its accumulator's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.sum_layers import STRATEGIES, factors_of, refuse_bits
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.tokens import Words

_CODE = "nnet_code_gen.h"
_LAYOUT = (
    *SPEED, "pad_left", "pad_right", "pad_top", "pad_bottom", "kernel_size", "stride_width", "stride_height",
    "dilation", "implementation", "min_width", "min_height", "pixels", "n_pixels", "scale_index", "scale_index_width",
    "scale_index_height",
)  # fmt: skip
"""Members of convolutions that say how hardware is laid out, or what the code that fills the buffer says as well."""


def conv(axes: int) -> Callable[[Layer], None]:
    """A convolution over so many axes: a dense layer at each position."""
    sides = ("height", "width")[-axes:]

    def read(layer: Layer) -> None:
        layer.check_call(3, 4)
        if layer.word:
            layer.fail("it is not read of streams", "write the project with io_parallel")
        known = [f"{what}_{side}" for what in ("in", "filt", "out") for side in sides]
        types = ("accum_t", "bias_t", "weight_t")
        chosen = ("n_chan", "n_filt", "n_partitions", "fill_buffer", "mult_config", "conv_kernel")
        configuration = layer.configuration(f"conv{axes}d_config", (*known, *chosen, *types), _LAYOUT)
        declared, templates = layer.project.declared, layer.project.templates
        size, taps, positions = (
            prod(declared.member_number(configuration, f"{what}_{side}") for side in sides)
            for what in ("in", "filt", "out")
        )
        channels, outputs = (declared.member_number(configuration, name) for name in ("n_chan", "n_filt"))
        inputs = taps * channels
        given = layer.given(size * channels)
        name = declared.member_name(configuration, "mult_config")
        product = layer.configuration("dense_config", (*types, "n_in", "n_out", "kernel", "product"), SPEED, name)
        for of in types:
            if declared.member_type(configuration, of).same_as != declared.member_type(product, of).same_as:
                layer.fail(f"{configuration.name} and {product.name} differ in {of}", "write the project again")
        accumulator, of_bias, of_weight = (declared.member_type(configuration, of) for of in types)
        weights = layer.weights(layer.call.arguments[2], of_weight, inputs * outputs)
        bias = layer.weights(layer.call.arguments[3], of_bias, outputs)
        refuse_bits(layer)
        order = _order(layer, configuration, axes, inputs)
        templates.check(f"nnet_conv{axes}d.h", f"conv_{axes}d_cl")
        if order == "inputs first":
            matrix = np.ascontiguousarray(weights.integers.reshape(inputs, outputs).T)
        else:
            matrix = np.ascontiguousarray(weights.integers.reshape(outputs, inputs))
        factors = factors_of(layer, product, matrix, of_weight)
        partitions = declared.member_number(configuration, "n_partitions")
        index = _buffer(layer, configuration, (partitions, positions, inputs), size * channels)
        sums = Sums(index, factors, of_weight.bits, bias.integers, of_bias.bits)
        layer.project.builder.refuse = layer.fail
        summed = layer.project.builder.added(given, sums, accumulator, f"{layer.name}.accum_t")
        layer.gives(summed, argument=1, template=1)

    return read


def _order(layer: Layer, configuration: Configuration, axes: int, inputs: int) -> str:
    """In which order the weights are taken."""
    declared, templates = layer.project.declared, layer.project.templates
    strategy = declared.member_name(configuration, "strategy")
    order = STRATEGIES.get(strategy)
    latency = order == "inputs first"
    kernel = f"Conv{axes}D{'Latency' if latency else 'Resource'}"
    if "conv_kernel" in configuration.members:
        found = declared.member_name(configuration, "conv_kernel", "data_T", "res_T", "CONFIG_T").removeprefix("nnet::")
        order = order if found == kernel else None
        kernel = found
    if order is None:
        layer.fail(f"the kernel {kernel} with strategy {strategy} is not read", "use strategy Latency or Resource")
    if "conv_kernel" in configuration.members:
        templates.check(f"nnet_conv{axes}d.h", kernel)
    if latency:
        templates.check(f"nnet_conv{axes}d_latency.h", f"conv_{axes}d_latency_cl")
        return order
    templates.check(f"nnet_conv{axes}d_resource.h", f"conv_{axes}d_resource_cl")
    reuse = declared.member_number(configuration, "reuse_factor")
    if reuse < 1 or inputs % reuse:
        layer.fail(f"the reuse factor {reuse} does not divide {inputs} inputs", "give it one that does")
    return order


def _buffer(layer: Layer, configuration: Configuration, shape: tuple[int, int, int], size: int) -> NDArray[np.intp]:
    """Which entry each position takes for each of its inputs, -1 for 0: what the code says that fills the buffer."""
    partitions, positions, inputs = shape
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


def transpose(layer: Layer) -> None:
    """Entries in another order of axes."""
    layer.check_call(3, 2)
    if layer.word:
        layer.fail("it is not read of streams", "write the project with io_parallel")
    several = ("from_shape", "to_shape", "perm", "perm_strides")
    configuration = layer.configuration("", ("dims", "N", *several), ())
    declared = layer.project.declared
    layer.project.templates.check("nnet_transpose.h", "transpose", "transfer_idx")
    size, axes = (declared.member_number(configuration, name) for name in ("N", "dims"))
    shape, strides = (declared.member_numbers(configuration, name) for name in ("to_shape", "perm_strides"))
    given = layer.given(size)
    if len(shape) != axes or len(strides) != axes or prod(shape) != size:
        layer.fail(f"{size} entries of shape {shape[:8]}", "write the project again")
    places = np.indices(shape).reshape(axes, -1)
    taken = np.tensordot(np.array(strides), places, axes=1)
    if not (np.sort(taken) == np.arange(size)).all():
        layer.fail("it does not take every entry once", "write the project again")
    layer.gives(given.taken(taken), argument=1, template=1)


def largest(axes: int) -> Callable[[Layer], None]:
    """The largest entries of windows that lie side by side."""
    sides = ("height", "width")[-axes:]
    inside, outside = (("n_in",), ("n_out",)) if axes == 1 else tuple(_of(sides, what) for what in ("in", "out"))
    pads = ("pad_top", "pad_bottom", "pad_left", "pad_right")[-2 * axes :]
    harmless = ("filt_height", "filt_width", "n_chan", "count_pad", "implementation", "reuse_factor")

    def read(layer: Layer) -> None:
        sizes = (*inside, *outside, *_of(sides, "pool"), *_of(sides, "stride"))
        configuration = _pool(layer, axes, (*sizes, *pads), harmless)
        declared = layer.project.declared
        size, out, pool, stride = (
            tuple(declared.member_number(configuration, name) for name in names)
            for names in (inside, outside, _of(sides, "pool"), _of(sides, "stride"))
        )
        channels = declared.member_number(configuration, "n_filt")
        if any(declared.member_number(configuration, pad) for pad in pads if pad in configuration.members):
            layer.fail("a pool with padding is not read", "use one without")
        if pool != stride or min(pool) < 1 or out != tuple(n // k for n, k in zip(size, pool, strict=True)):
            layer.fail(f"a pool of {pool} with strides {stride} is not read", "use windows that lie side by side")
        layer.project.templates.check("nnet_pooling.h", f"pooling{axes}d_cl", "pool_op", "max")
        entry = np.arange(prod(size) * channels).reshape(*size, channels)
        entry = entry[tuple(slice(n * k) for n, k in zip(out, pool, strict=True))]
        windows = entry.reshape(*(n for pair in zip(out, pool, strict=True) for n in pair), channels)
        # places of windows, channels, places in a window
        order = (*range(0, 2 * axes, 2), 2 * axes, *range(1, 2 * axes, 2))
        _pooled(layer, configuration, windows.transpose(order).reshape(-1, prod(pool)))

    return read


def largest_of_all(axes: int) -> Callable[[Layer], None]:
    """The largest entry of each channel."""
    inside = ("n_in",) if axes == 1 else _of(("height", "width"), "in")

    def read(layer: Layer) -> None:
        # Of windows and padding nothing is looked at by what it computes.
        sizes = ("pool_width", "pool_height", "stride_width", "stride_height", "pad_left", "pad_right", "pad_top")
        harmless = (*sizes, "pad_bottom", "reuse_factor", "implementation", "count_pad")
        configuration = _pool(layer, axes, inside, harmless)
        declared = layer.project.declared
        size = prod(declared.member_number(configuration, name) for name in inside)
        channels = declared.member_number(configuration, "n_filt")
        layer.project.templates.check("nnet_pooling.h", f"global_pooling{axes}d_cl", "pool_op", "max")
        _pooled(layer, configuration, np.arange(size * channels).reshape(size, channels).T)

    return read


def _of(sides: Sequence[str], what: str) -> tuple[str, ...]:
    return tuple(f"{what}_{side}" for side in sides)


def _pool(layer: Layer, axes: int, members: Sequence[str], harmless: Sequence[str]) -> Configuration:
    """The configuration of a pool that takes the largest entry."""
    layer.check_call(3, 2)
    if layer.word:
        layer.fail("it is not read of streams", "write the project with io_parallel")
    known = (*members, "n_filt", "pool_op", "accum_t")
    configuration = layer.configuration(f"pooling{axes}d_config", known, harmless)
    operation = layer.project.declared.member_name(configuration, "pool_op")
    if operation != "nnet::Max":
        layer.fail(f"pools by {operation} are not read", "use a pool that takes the largest entry")
    return configuration


def _pooled(layer: Layer, configuration: Configuration, windows: NDArray[np.intp]) -> None:
    """The largest entry of each window, in the accumulator's type."""
    count = layer.project.declared.member_number(configuration, "n_filt")
    inside = layer.given(_entries(layer, configuration) * count)
    builder = layer.project.builder
    builder.refuse = layer.fail
    found = builder.largest(inside, windows)
    accumulator = layer.project.declared.member_type(configuration, "accum_t")
    layer.gives(builder.assigned(found, accumulator, f"{layer.name}.accum_t"), argument=1, template=1)


def _entries(layer: Layer, configuration: Configuration) -> int:
    """The places of what a pool reads."""
    names = ("n_in",) if "n_in" in configuration.members else ("in_height", "in_width")
    return prod(layer.project.declared.member_number(configuration, name) for name in names)
