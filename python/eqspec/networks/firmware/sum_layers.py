"""Layers that add up: dense and normalize.

dense          every product of an input and a weight, and every bias, assigned to accum_t; their sum in accum_t;
               assigned to the result's type. With strategy latency weights are stored input by input, with
               resource output by output
normalize      scale times input plus bias, exactly, assigned to the result's type
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware import adders, one_bit
from eqspec.networks.firmware.declarations import Configuration
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.one_bit import is_bit
from eqspec.networks.firmware.powers_of_two import beyond_product
from eqspec.networks.firmware.sums import Sums

_LATENCY, _FEW, _MANY = "DenseLatency", "DenseResource_rf_leq_nin", "DenseResource_rf_gt_nin_rem0"
STRATEGIES = {"nnet::latency": "inputs first", "nnet::resource": "outputs first"}
"""In which order kernels of layers that are no dense ones take their weights."""
_KERNELS = (_LATENCY, _FEW, _MANY)
_PRODUCTS = ("mult", "weight_ternary", "weight_binary", "weight_exponential")
_STREAM_HELPERS = ("dense_wrapper", "data_prepare", "res_write", "dense_latency_wrapper", "dense_resource_wrapper")


def dense(layer: Layer) -> None:
    """A matrix times the inputs, and a bias, in an accumulator."""
    if len(layer.call.arguments) == 2:
        adders.of_stream(layer)
        return
    layer.check_call(3, 4)
    read = ("n_in", "n_out", "accum_t", "bias_t", "weight_t", "kernel", "product")
    configuration = layer.configuration("dense_config", read, SPEED)
    declared = layer.project.declared
    inputs, outputs = (declared.member_number(configuration, n) for n in ("n_in", "n_out"))
    accumulator, of_bias = (declared.member_type(configuration, n) for n in ("accum_t", "bias_t"))
    of_weight = declared.member_type(configuration, "weight_t", of_weights=True)
    given = layer.given(inputs)
    weights = layer.weights(layer.call.arguments[2], of_weight, inputs * outputs)
    bias = layer.weights(layer.call.arguments[3], of_bias, outputs)
    layer.rests_on("nnet_dense", "dense", helpers=_STREAM_HELPERS)
    matrix = matrix_of(layer, configuration, weights.integers, inputs, outputs)
    if is_bit(layer.given_type):
        product = product_of(layer, configuration)
        one_bit.dense(layer, product, given, matrix, of_weight, bias, accumulator)
        return
    factors = factors_of(layer, configuration, matrix, of_weight)
    order = order_of(layer, configuration, inputs)
    sums = Sums(np.arange(inputs)[None], factors, of_weight.bits, bias.integers, of_bias.bits, order)
    layer.project.builder.refuse = layer.fail
    summed = layer.project.builder.added(given, sums, accumulator, f"{layer.name}.accum_t")
    layer.gives(summed, argument=1, template=1)


def refuse_bits(layer: Layer) -> None:
    """Refuse inputs of one bit, of which hls4ml's products and casts make something else."""
    if is_bit(layer.given_type):
        layer.fail("inputs of one bit stand for -1 and 1 there, which is not read", "use ap_int<2>")


def matrix_of(layer: Layer, configuration: Configuration, integers_: Integers, inputs: int, outputs: int) -> Integers:
    """The weights by output and input, as the kernel takes them from its array."""
    declared, templates = layer.project.declared, layer.project.templates
    reuse = declared.member_number(configuration, "reuse_factor")
    strategy = declared.member_name(configuration, "strategy")
    by_strategy = {"nnet::latency": _LATENCY, "nnet::resource": _FEW if reuse <= inputs else _MANY}.get(strategy)
    kernel = by_strategy or strategy
    if "kernel" in configuration.members:  # since hls4ml 1.0; some functions go by the strategy all the same
        kernel = declared.member_name(configuration, "kernel", "data_T", "res_T", "CONFIG_T").removeprefix("nnet::")
        if kernel in _KERNELS:
            templates.check("nnet_dense.h", kernel)
    if kernel not in _KERNELS or kernel != by_strategy:
        fix = "use strategy Latency or Resource, whose code is part of hls4ml"
        layer.fail(f"the kernel {kernel} with strategy {strategy} is not read", fix)
    if kernel == _LATENCY:
        templates.check("nnet_dense_latency.h", "dense_latency")
        return np.ascontiguousarray(integers_.reshape(inputs, outputs).T)
    templates.check("nnet_dense_resource.h", "dense_resource", f"dense_resource{kernel.removeprefix('DenseResource')}")
    fits = reuse >= 1 and (inputs % reuse == 0 if kernel == _FEW else reuse % inputs == 0)
    if not fits:
        fix = "give it a reuse factor that divides its inputs, or a multiple of their number"
        layer.fail(f"the reuse factor {reuse} does not fit {inputs} inputs", fix)
    return np.ascontiguousarray(integers_.reshape(outputs, inputs))


def order_of(layer: Layer, configuration: Configuration, inputs: int) -> NDArray[np.intp] | None:
    """In which order the kernel adds up its products, as `Sums` has it; None of a kernel that takes inputs twice."""
    declared = layer.project.declared
    if declared.member_name(configuration, "strategy") == "nnet::latency":
        return np.arange(inputs)[:, None]
    reuse = declared.member_number(configuration, "reuse_factor")
    return every_so_many(inputs, reuse) if reuse <= inputs else None


def every_so_many(inputs: int, reuse: int) -> NDArray[np.intp]:
    """The order of strategy resource: every input by steps of the reuse factor from the first one, then from the
    second one, and so on.
    """
    return np.arange(inputs).reshape(-1, reuse).T.reshape(-1, 1)


def factors_of(layer: Layer, configuration: Configuration, weights: Integers, of: FixedPoint) -> Integers:
    """What inputs are multiplied by, by the function that makes products."""
    product = product_of(layer, configuration)
    if product in _PRODUCTS:
        layer.project.templates.check("nnet_mult.h", product, "cast")
    else:
        layer.fail(f"products by {product} are not read", f"these are: {', '.join(_PRODUCTS)}")
    if (product == "weight_exponential") != (of.exponent > 0):
        layer.fail(f"{product} with weights of type {of.text}", "write the project again")
    if of.exponent:
        if (why := beyond_product(weights, of, layer.given_type)) is not None:
            layer.fail(f"{product}: {why}", "use fixed point for its weights, or for its input a type with fewer bits")
        return weights
    if product == "weight_binary":  # 0 and 1 stand for -1 and 1
        if not is_bit(of):
            layer.fail(f"{product} with weights of type {of.text}", "write the project again")
        return integers(2 * weights - 1)
    if product == "weight_ternary" and (of.bits != 0 or max(abs(int(w)) for w in weights.reshape(-1)) > 1):
        layer.fail(f"{product} with weights other than -1, 0 and 1", "write the project again")
    return weights


def product_of(layer: Layer, configuration: Configuration) -> str:
    """The function that makes products, by its name."""
    found = layer.project.declared.member_name(configuration, "product", "x_T", "y_T")
    return found.removeprefix("nnet::product::")


def normalize(layer: Layer) -> None:
    """Each entry times the scale of its channel, and the bias of its channel."""
    layer.check_call(3, 4)
    read = ("n_in", "n_filt", "n_scale_bias", "bias_t", "scale_t", "product")
    configuration = layer.configuration("batchnorm_config", read, SPEED)
    declared = layer.project.declared
    size = declared.member_number(configuration, "n_in")
    channels = declared.member_number(configuration, "n_filt")
    channels = size if channels == -1 else channels
    if channels < 1 or size % channels:
        layer.fail(f"{size} entries are not a multiple of {channels} channels", "write the project again")
    of_scale = declared.member_type(configuration, "scale_t", of_weights=True)
    of_bias = declared.member_type(configuration, "bias_t")
    given = layer.given(size)
    scales = layer.weights(layer.call.arguments[2], of_scale, channels)
    bias = layer.weights(layer.call.arguments[3], of_bias, channels)
    refuse_bits(layer)
    layer.rests_on("nnet_batchnorm", "normalize")
    if layer.word % channels:
        said = f"a word of its stream has {layer.word} numbers, which is not a multiple of its {channels} channels"
        layer.fail(said, "write the project again")
    factors = factors_of(layer, configuration, scales.integers, of_scale)
    of_entry = np.arange(size) % channels
    layer.project.builder.refuse = layer.fail
    scaled = layer.project.builder.scaled(
        given, factors[of_entry], of_scale.bits, bias.integers[of_entry], of_bias.bits
    )
    layer.gives(scaled, argument=1, template=1, word=layer.word)
