"""The functions of hls4ml that are read, by name. What each of them computes stands in its file."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.firmware import activations, sum_layers
from eqspec.networks.firmware.layer import Layer

LAYERS: dict[str, Callable[[Layer], None]] = {
    "dense": sum_layers.dense,
    "leaky_relu": activations.leaky_relu,
    "linear": activations.linear,
    "normalize": sum_layers.normalize,
    "prelu": activations.prelu,
    "relu": activations.relu,
    "relu1": activations.relu_up_to(1),
    "relu6": activations.relu_up_to(6),
    "softmax": activations.softmax,
}
