"""The functions of hls4ml that are read, by name. What each of them computes stands in its file."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.firmware import activations, image_layers, merge_layers, sum_layers
from eqspec.networks.firmware.layer import Layer

LAYERS: dict[str, Callable[[Layer], None]] = {
    "add": merge_layers.combined(1),
    "concatenate1d": merge_layers.concatenated,
    "conv_1d_cl": image_layers.conv(1),
    "conv_2d_cl": image_layers.conv(2),
    "dense": sum_layers.dense,
    "global_pooling1d_cl": image_layers.largest_of_all(1),
    "global_pooling2d_cl": image_layers.largest_of_all(2),
    "leaky_relu": activations.leaky_relu,
    "linear": activations.linear,
    "normalize": sum_layers.normalize,
    "pooling1d_cl": image_layers.largest(1),
    "pooling2d_cl": image_layers.largest(2),
    "prelu": activations.prelu,
    "relu": activations.relu,
    "relu1": activations.relu_up_to(1),
    "relu6": activations.relu_up_to(6),
    "softmax": activations.softmax,
    "subtract": merge_layers.combined(-1),
    "thresholded_relu": activations.thresholded_relu,
    "transpose": image_layers.transpose,
}
RESULTS = {"add": 2, "concatenate1d": 2, "leaky_relu": 2, "prelu": 2, "subtract": 2, "thresholded_relu": 2}
"""Which argument of a function is what it gives, where that is not the second one (1)."""
