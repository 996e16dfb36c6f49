"""Convolutions over sequences and images: of all channels, of each channel by itself (depthwise), of single pixels.

Each position is a dense layer of the entries that it takes (`windows`), whose result has the outputs of a position
together. In io_parallel a function of its own multiplies, by the strategy; in streams it is the kernel of a dense
layer. A depthwise convolution adds up the places of each channel alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware import adders
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.sum_layers import STRATEGIES, every_so_many, factors_of, matrix_of, order_of, refuse_bits
from eqspec.networks.firmware.sums import Sums
from eqspec.networks.firmware.windows import PADS, Windows, by_code, of_stream, side_by_side, sides_of

_LAYOUT = (
    *SPEED, *PADS, "kernel_size", "stride_width", "stride_height", "dilation", "implementation", "min_width",
    "min_height", "pixels", "n_pixels", "scale_index", "scale_index_width", "scale_index_height", "fill_buffer",
    "n_partitions",
)  # fmt: skip
"""Members of convolutions that say how hardware is laid out, or which pixels are taken, which `windows` reads."""
_TYPES = ("accum_t", "bias_t", "weight_t")
_BUFFERS = (
    "mult_buffer", "compute_output_encoded", "kernel_shift_1d", "kernel_shift_2d", "shift_line_buffer",
    "compute_output_buffer_1d", "compute_output_buffer_2d", "scale_index_K_gte_S", "scale_index_K_lt_S",
    "scale_index_regular", "scale_index_unscaled",
)  # fmt: skip
_BATCHED = "BatchedDenseForConv1D"
_DEPTHWISE_BUFFERS = (
    "depthwise_mult_buffer", "compute_depthwise_output_encoded", "compute_depthwise_output_buffer_1d",
    "compute_depthwise_output_buffer_2d", "pointwise_mult_buffer",
)  # fmt: skip
_DEPTHWISE_KERNELS = {
    "DepthwiseDenseLatency": "depthwise_product_latency",
    "DepthwiseDenseResource_rf_leq_nout": "depthwise_product_resource_rf_leq_nout",
    "DepthwiseDenseResource_rf_gt_nout_rem0": "depthwise_product_resource_rf_gt_nout_rem0",
    "DepthwiseDenseResource_rf_gt_nout": "depthwise_product_resource_gt_nout",
}


class _Convolution:
    """What all of them share: sizes, types, weights, and the configuration of the product at a position."""

    def __init__(self, layer: Layer, axes: int) -> None:
        layer.check_call(3, 4)
        self.layer, self.axes = layer, axes
        known = [f"{what}_{side}" for what in ("in", "filt", "out") for side in sides_of(axes)]
        chosen = ("n_chan", "n_filt", "mult_config", "conv_kernel")
        self.configuration = layer.configuration(f"conv{axes}d_config", (*known, *chosen, *_TYPES), _LAYOUT)
        declared = self.declared = layer.project.declared
        self.pixels, self.taps, self.positions = (
            prod(declared.member_number(self.configuration, f"{what}_{side}") for side in sides_of(axes))
            for what in ("in", "filt", "out")
        )
        self.channels, self.outputs = (
            declared.member_number(self.configuration, name) for name in ("n_chan", "n_filt")
        )
        if min(self.pixels, self.taps, self.positions, self.channels, self.outputs) < 1:
            layer.fail("it has no pixels, channels or outputs", "write the project again")
        name = declared.member_name(self.configuration, "mult_config")
        read = (*_TYPES, "n_in", "n_out", "kernel", "product")
        self.product: Configuration = layer.configuration("dense_config", read, SPEED, name)
        for of in _TYPES:
            again = declared.member_type(self.product, of, of_weights=of == "weight_t")
            if self.type(of).same_as != again.same_as:
                layer.fail(f"{self.configuration.name} and {name} differ in {of}", "write the project again")
        refuse_bits(layer)

    @property
    def kernel(self) -> str:
        """What convolves in io_parallel; empty in older releases, which choose by the strategy alone."""
        if "conv_kernel" not in self.configuration.members:
            return ""
        found = self.declared.member_name(self.configuration, "conv_kernel", "data_T", "res_T", "CONFIG_T")
        return found.removeprefix("nnet::")

    @property
    def inputs(self) -> int:
        """What a position takes."""
        return self.taps * self.channels

    def type(self, of: str) -> FixedPoint:
        """One of its types."""
        return self.declared.member_type(self.configuration, of, of_weights=of == "weight_t")

    def weights(self, size: int) -> Integers:
        """So many weights, as they are stored."""
        return self.layer.weights(self.layer.call.arguments[2], self.type("weight_t"), size).integers

    def entries(self) -> Windows:
        """The entries of each position, place by place with all channels."""
        if self.layer.word:
            pixels = of_stream(self.layer, self.configuration, self.axes, self.channels)
            return (pixels[:, :, None] * self.channels + np.arange(self.channels)).reshape(len(pixels), -1)
        return by_code(self.layer, self.configuration, (self.positions, self.inputs), self.pixels * self.channels)

    def gives(self, index: Windows, matrix: Integers, order: NDArray[np.intp] | None = None) -> None:
        """The sums of each position; `order` is that in which the kernel adds up, where it is known."""
        layer = self.layer
        if len(index) * matrix.size > MAX_PRODUCTS:
            layer.fail(f"{len(index) * matrix.size} products", f"networks of up to {MAX_PRODUCTS} are decided")
        given = layer.given(self.pixels * self.channels)
        bias = layer.weights(layer.call.arguments[3], self.type("bias_t"), self.outputs)
        factors = factors_of(layer, self.product, matrix, self.type("weight_t"))
        sums = Sums(index, factors, self.type("weight_t").bits, bias.integers, self.type("bias_t").bits, order)
        layer.project.builder.refuse = layer.fail
        summed = layer.project.builder.added(given, sums, self.type("accum_t"), f"{layer.name}.accum_t")
        layer.gives(summed, argument=1, template=1, word=None if self._packs else self.outputs)

    @property
    def _packs(self) -> bool:
        """Whether several positions may stand in one word of the stream that it gives."""
        way = self.declared.member_name(self.configuration, "implementation")
        return "pointwise" not in self.layer.call.function and way.endswith("encoded")

    def gives_of_kernel(self, index: Windows) -> None:
        """What the kernel of a dense layer, which may be one of adders, makes of each position of a stream."""
        inputs, outputs = (self.declared.member_number(self.product, name) for name in ("n_in", "n_out"))
        if (inputs, outputs) != (self.inputs, self.outputs):
            self.layer.fail(f"{self.product.name} multiplies {inputs} by {outputs}", "write the project again")
        if self.declared.member_name(self.product, "strategy") != adders.STRATEGY:
            stored = self.weights(inputs * outputs)
            matrix = matrix_of(self.layer, self.product, stored, inputs, outputs)
            self.gives(index, matrix, order_of(self.layer, self.product, inputs))
            return
        layer = self.layer
        kernel = self.declared.member_name(self.product, "kernel", "data_T", "res_T", "CONFIG_T")
        definition, function = adders.wrapped(layer, kernel.removeprefix("nnet::"), (inputs, outputs))
        summed = adders.multiplied(layer, definition, function, layer.given(self.pixels * self.channels), index)
        layer.gives(summed, argument=1, template=1, word=None if self._packs else outputs)


def conv(axes: int) -> Callable[[Layer], None]:
    """A convolution over so many axes."""

    def read(layer: Layer) -> None:
        made = _Convolution(layer, axes)
        if layer.word:
            helpers = [f"conv_{axes}d_{what}_cl" for what in ("buffer", "encoded", "buffer_latency", "buffer_resource")]
            layer.rests_on(
                f"nnet_conv{axes}d", f"conv_{axes}d_cl", helpers=(*helpers, f"compute_scaled_indices_{axes}d")
            )
            layer.project.templates.check("nnet_conv_stream.h", helpers=_BUFFERS)
            made.gives_of_kernel(made.entries())
        else:
            layer.project.templates.check(f"nnet_conv{axes}d.h", f"conv_{axes}d_cl")
            made.gives(made.entries(), *_ordered(made))

    return read


def pointwise(axes: int) -> Callable[[Layer], None]:
    """A convolution of single pixels."""

    def read(layer: Layer) -> None:
        made = _Convolution(layer, axes)
        if made.taps != 1:
            layer.fail(f"it is called with windows of {made.taps} pixels", "write the project again")
        name = f"pointwise_conv_{axes}d_cl"
        if not layer.word:
            layer.project.templates.check(f"nnet_conv{axes}d.h", name)
            if axes == 1 and made.kernel == _BATCHED:
                made.gives(*_batched(made))
            else:
                made.gives(made.entries(), *_ordered(made))
            return
        layer.rests_on(f"nnet_sepconv{axes}d", name)
        layer.project.templates.check("nnet_sepconv_stream.h", "pointwise_mult_buffer")
        if layer.word != made.channels:
            layer.fail(f"a word of its stream has {layer.word} numbers, a pixel {made.channels}", "write it again")
        size, stride, out = (
            tuple(made.declared.member_number(made.configuration, f"{what}_{side}") for side in sides_of(axes))
            for what in ("in", "stride", "out")
        )
        pixels = side_by_side(layer, size, (1,) * axes, stride, out)
        made.gives_of_kernel(pixels * made.channels + np.arange(made.channels))

    return read


def _batched(made: _Convolution) -> tuple[Windows, Integers, NDArray[np.intp]]:
    """The pixel of each position of a sequence, the weights, and in which order channels are added up.

    The kernel takes all pixels at once: it reads no buffer, and 0 where strides and padding lead out of the sequence.
    """
    layer, number = made.layer, made.declared.member_number
    strategy = made.declared.member_name(made.configuration, "strategy")
    names = ("n_partitions", "stride_width", "pad_left")
    partitions, stride, pad = (number(made.configuration, name) for name in names)
    if strategy != "nnet::latency" or partitions != 1 or stride < 1 or pad < 0:
        said = f"strategy {strategy}, {partitions} partitions, a stride of {stride} and padding of {pad}"
        layer.fail(f"{_BATCHED} with {said} is not read", "write the project again")
    layer.project.templates.check("nnet_conv1d.h", _BATCHED)
    layer.project.templates.check("nnet_conv1d_latency.h", "pointwise_conv_1d_latency_cl")
    pixels = (np.arange(made.positions) * stride - pad).reshape(-1, 1)
    index = np.where((pixels < 0) | (pixels >= made.pixels), -1, pixels * made.channels + np.arange(made.channels))
    stored = made.weights(made.inputs * made.outputs)
    return index, np.ascontiguousarray(stored.reshape(made.inputs, made.outputs).T), np.arange(made.inputs)[:, None]


def depthwise(axes: int) -> Callable[[Layer], None]:
    """A convolution of each channel by itself."""

    def read(layer: Layer) -> None:
        made = _Convolution(layer, axes)
        if made.outputs != made.channels:
            layer.fail(f"{made.outputs} outputs of {made.channels} channels", "use a depth multiplier of 1")
        stored = made.weights(made.inputs)
        name = f"depthwise_conv_{axes}d"
        if layer.word:
            layer.rests_on(f"nnet_sepconv{axes}d", f"{name}_cl", helpers=[f"{name}_buffer_cl", f"{name}_encoded_cl"])
            helpers = [f"compute_scaled_indices_{axes}d"]
            layer.project.templates.check(f"nnet_conv{axes}d_stream.h", helpers=helpers)
            layer.project.templates.check("nnet_conv_stream.h", helpers=_BUFFERS)
            layer.project.templates.check("nnet_sepconv_stream.h", helpers=_DEPTHWISE_BUFFERS)
            _check_depthwise_kernel(made)
        else:
            strategy = made.declared.member_name(made.configuration, "strategy")
            if strategy != "nnet::latency":
                layer.fail(f"hls4ml has none with strategy {strategy} in io_parallel", "use strategy Latency")
            layer.project.templates.check(f"nnet_sepconv{axes}d.h", f"{name}_cl")
            layer.project.templates.check(f"nnet_sepconv{axes}d_latency.h", f"{name}_latency_cl")
        matrix = integers(np.zeros((made.channels, made.inputs)))
        own = np.arange(made.inputs)
        matrix[own % made.channels, own] = stored
        kernel = made.declared.member_name(made.product, "kernel", "data_T", "res_T", "CONFIG_T") if layer.word else ""
        places = np.arange(made.inputs).reshape(-1, made.channels)
        made.gives(made.entries(), matrix, places if not layer.word or kernel.endswith("DenseLatency") else None)

    return read


def _check_depthwise_kernel(made: _Convolution) -> None:
    """Refuse a product of streams that is not the sum over the places of each channel."""
    layer = made.layer
    kernel = made.declared.member_name(made.product, "kernel", "data_T", "res_T", "CONFIG_T").removeprefix("nnet::")
    sizes = tuple(made.declared.member_number(made.product, name) for name in ("n_in", "n_out"))
    if kernel not in _DEPTHWISE_KERNELS or sizes != (made.inputs, made.channels):
        layer.fail(f"the kernel {kernel} of {sizes} is not read", "use strategy Latency or Resource")
    layer.project.templates.check("nnet_depthwise_product.h", kernel, _DEPTHWISE_KERNELS[kernel])
    reuse = min(made.declared.member_number(made.product, "reuse_factor"), made.inputs)
    fits = {
        "DepthwiseDenseLatency": True,
        "DepthwiseDenseResource_rf_leq_nout": reuse <= made.channels,
        "DepthwiseDenseResource_rf_gt_nout_rem0": reuse >= made.channels and not reuse % made.channels,
        "DepthwiseDenseResource_rf_gt_nout": reuse > made.channels,
    }[kernel]
    if reuse < 1 or made.inputs % reuse or not fits:
        layer.fail(f"the reuse factor {reuse} does not fit {made.inputs} products", "give it one that divides them")


def _ordered(made: _Convolution) -> tuple[Integers, NDArray[np.intp] | None]:
    """The weights by output and input, as the kernel of io_parallel takes them, and in which order it adds up."""
    stored = made.weights(made.inputs * made.outputs)
    layer, axes = made.layer, made.axes
    declared, templates, configuration = made.declared, layer.project.templates, made.configuration
    strategy = declared.member_name(configuration, "strategy")
    order = STRATEGIES.get(strategy)
    latency = order == "inputs first"
    kernel = f"Conv{axes}D{'Latency' if latency else 'Resource'}"
    if made.kernel:
        order = order if made.kernel == kernel else None
        kernel = made.kernel
    if order is None:
        layer.fail(f"the kernel {kernel} with strategy {strategy} is not read", "use strategy Latency or Resource")
    if made.kernel:
        templates.check(f"nnet_conv{axes}d.h", kernel)
    if latency:
        templates.check(f"nnet_conv{axes}d_latency.h", f"conv_{axes}d_latency_cl")
        return np.ascontiguousarray(stored.reshape(made.inputs, made.outputs).T), np.arange(made.inputs)[:, None]
    templates.check(f"nnet_conv{axes}d_resource.h", f"conv_{axes}d_resource_cl")
    reuse = declared.member_number(configuration, "reuse_factor")
    if reuse < 1 or made.inputs % reuse:
        layer.fail(f"the reuse factor {reuse} does not divide {made.inputs} inputs", "give it one that does")
    return np.ascontiguousarray(stored.reshape(made.outputs, made.inputs)), every_so_many(made.inputs, reuse)
