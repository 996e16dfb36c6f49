"""The functions of hls4ml that are read, by name. What each of them computes stands in its file."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.firmware import (
    activations,
    adders,
    einsum_layers,
    einsum_of_two,
    image_layers,
    merge_layers,
    moving_layers,
    pools,
    sum_layers,
    tables,
    thresholds,
)
from eqspec.networks.firmware.layer import Layer

_OF_TIME = "a layer that goes through time is not read"
_OF_TWO = "products of two values are not read"
LAYERS: dict[str, Callable[[Layer], None]] = {
    "add": merge_layers.merged(merge_layers.added),
    "average": merge_layers.merged(merge_layers.averaged),
    "binary_tanh": activations.binary_tanh,
    "clone_stream": moving_layers.cloned,
    "concatenate1d": merge_layers.concatenated(1),
    "concatenate2d": merge_layers.concatenated(2),
    "concatenate3d": merge_layers.concatenated(3),
    "conv1d_cl": adders.convolution(1),
    "conv2d_cl": adders.convolution(2),
    "conv_1d_cl": image_layers.conv(1),
    "conv_2d_cl": image_layers.conv(2),
    "cropping1d_cl": moving_layers.cropped(1),
    "cropping2d_cl": moving_layers.cropped(2),
    "dense": sum_layers.dense,
    "depthwise_conv_1d_cl": image_layers.depthwise(1),
    "depthwise_conv_2d_cl": image_layers.depthwise(2),
    "einsum": einsum_of_two.einsum,
    "einsum_dense": einsum_layers.einsum_dense,
    "elu": tables.elu,
    "global_pooling1d_cl": pools.pool_of_all(1),
    "global_pooling2d_cl": pools.pool_of_all(2),
    "hard_sigmoid": activations.hard(1, 0),
    "hard_tanh": activations.hard(2, -1),
    "leaky_relu": activations.leaky_relu,
    "linear": activations.linear,
    "maximum": merge_layers.merged(merge_layers.larger),
    "minimum": merge_layers.merged(merge_layers.lesser),
    "multiply": merge_layers.merged(merge_layers.multiplied),
    "normalize": sum_layers.normalize,
    "normalize_binary_tanh": thresholds.binary,
    "normalize_ternary_tanh": thresholds.ternary,
    "pointwise_conv_1d_cl": image_layers.pointwise(1),
    "pointwise_conv_2d_cl": image_layers.pointwise(2),
    "pooling1d_cl": pools.pool(1),
    "pooling2d_cl": pools.pool(2),
    "prelu": activations.prelu,
    "relu": activations.relu,
    "relu1": activations.relu_up_to(1),
    "relu6": activations.relu_up_to(6),
    "repack_stream": moving_layers.repacked,
    "resize_nearest": moving_layers.resized,
    "selu": tables.selu,
    "sigmoid": tables.symmetric("sigmoid"),
    "softmax": activations.softmax,
    "softplus": tables.symmetric("softplus"),
    "softsign": tables.symmetric("softsign"),
    "subtract": merge_layers.merged(merge_layers.subtracted),
    "tanh": tables.symmetric("tanh"),
    "ternary_tanh": activations.ternary_tanh,
    "thresholded_relu": activations.thresholded_relu,
    "transpose": moving_layers.transposed,
    "unary_lut": tables.of_model,
    "zeropad1d_cl": moving_layers.padded(1),
    "zeropad2d_cl": moving_layers.padded(2),
}
REFUSED = {
    "bidirectional": _OF_TIME,
    "bidirectional_stack": _OF_TIME,
    "dot1d": _OF_TWO,
    "embedding": "an entry of a table by a number that depends on the input is not read",
    "garnet": _OF_TWO,
    "garnet_stack": _OF_TWO,
    "gru": _OF_TIME,
    "gru_stack": _OF_TIME,
    "layernormalize": "a layer that divides by what depends on the input is not read",
    "lstm": _OF_TIME,
    "lstm_stack": _OF_TIME,
    "simple_rnn": _OF_TIME,
    "softmax_multidim": "a softmax over some of its entries alone is not read",
}
"""Functions of hls4ml that are known and not read, and why."""
RESULTS = {
    "add": 2, "average": 2, "concatenate1d": 2, "concatenate2d": 2, "concatenate3d": 2, "einsum": 2, "leaky_relu": 2,
    "maximum": 2, "minimum": 2, "multiply": 2, "prelu": 2, "subtract": 2, "thresholded_relu": 2,
}  # fmt: skip
"""Which argument of a function is what it gives, where that is not the second one (1)."""


def given_by(function: str, arguments: int, templates: int) -> range:
    """Which of the arguments of a call are what it gives."""
    if function == "clone_stream":
        return range(1, arguments)
    first = 2 if function == "elu" and templates == 4 else RESULTS.get(function, 1)
    return range(first, first + 1)
