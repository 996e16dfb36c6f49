"""The functions of hls4ml that are read, by name. What each of them computes stands in its file."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.firmware import activations, image_layers, sum_layers
from eqspec.networks.firmware.layer import Layer

LAYERS: dict[str, Callable[[Layer], None]] = {
    "conv_1d_cl": image_layers.conv(1),
    "conv_2d_cl": image_layers.conv(2),
    "dense": sum_layers.dense,
    "leaky_relu": activations.leaky_relu,
    "linear": activations.linear,
    "normalize": sum_layers.normalize,
    "pooling2d_cl": image_layers.largest,
    "prelu": activations.prelu,
    "relu": activations.relu,
    "relu1": activations.relu_up_to(1),
    "relu6": activations.relu_up_to(6),
    "softmax": activations.softmax,
    "transpose": image_layers.transpose,
}
