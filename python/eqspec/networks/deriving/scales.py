"""Scales, zero points and levels of integers, as static quantisation chooses them.

    activations    from l <= 0 to u >= 0, levels 0 .. 2^b - 1     scale (u - l) / (2^b - 1), zero round(-l / scale)
    weights        levels -m .. m with m = 2^(b - 1) - 1          scale max |w| / m, of the tensor or of each output
    biases         levels of 32 bits                              scale of the inputs times scale of the weights

Scales are float32 numbers, which files hold, and everything else is counted with them. These are the choices of
`onnxruntime.quantization` for 8 bits; the same formulas serve any number of bits. Where a bias would not fit into 32
bits, the weights' scale is raised until it does, as onnxruntime and TensorFlow Lite do.

Levels of weights are rounded with ties to even from a quotient in float32. They are part of the derived network, not of
a claim about it, so nothing is proved about this rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Array

_TINY = float(np.finfo(np.float32).tiny)
_MOST_OF_BIAS = 2**31 - 1
_MARGIN = 1.0001
"""By how much more than needed a scale is raised, so that rounding cannot undo it."""


@dataclass(frozen=True)
class Activation:
    """Scale and zero point of one tensor, with levels from 0 to 2^bits - 1."""

    scale: np.float32
    zero: int
    bits: int


@dataclass(frozen=True, eq=False)
class Weights:
    """Levels of a constant; scales of its own along an axis, or one (axis None)."""

    levels: NDArray[np.int64]
    scale: NDArray[np.float32]
    axis: int | None


def activation(least: float, most: float, bits: int) -> Activation:
    """Of values from `least` to `most`; 0 is added to them."""
    low, high, levels = min(least, 0.0), max(most, 0.0), 2**bits - 1
    scale = (high - low) / levels
    if scale < _TINY:
        return Activation(np.float32(1.0), 0, bits)
    return Activation(np.float32(scale), int(np.round(-low / scale)), bits)


def weight_scales(weight: Array, bits: int, axis: int | None) -> NDArray[np.float32]:
    """One scale for all, or one for each place along an axis."""
    most = 2 ** (bits - 1) - 1
    largest = (
        np.abs(weight).max()
        if axis is None
        else np.abs(np.moveaxis(weight, axis, 0)).reshape(weight.shape[axis], -1).max(axis=1)
    )
    scale = np.atleast_1d(np.asarray(largest, np.float64)) / most
    return np.where(scale < _TINY, 1.0, scale).astype(np.float32)


def raised(scale: NDArray[np.float32], inputs: np.float32, bias: Array) -> NDArray[np.float32]:
    """Scales of weights with which a bias (O,) fits into 32 bits."""
    largest = np.abs(bias).max(keepdims=True) if scale.size == 1 else np.abs(bias)
    least = _MARGIN * largest / _MOST_OF_BIAS
    product = np.float64(inputs) * scale.astype(np.float64)
    return np.where(product < least, scale * (least / product), scale).astype(np.float32)


def quantised_weights(weight: Array, scale: NDArray[np.float32], bits: int, axis: int | None) -> Weights:
    """Levels of weights for scales that are known."""
    most = 2 ** (bits - 1) - 1
    levels = np.rint(weight.astype(np.float32) / along(scale, weight.ndim, axis))
    return Weights(np.clip(levels, -most, most).astype(np.int64), scale, axis)


def quantised_bias(bias: Array, scale: NDArray[np.float32], shape: tuple[int, ...]) -> Weights:
    """Levels of a bias (O,) of 32 bits, for one scale or one for each output, in a shape with one long axis."""
    levels = np.clip(np.rint(bias / scale.astype(np.float64)), -_MOST_OF_BIAS - 1, _MOST_OF_BIAS)
    axis = None if scale.size == 1 else shape.index(len(bias))
    return Weights(levels.astype(np.int64).reshape(shape), scale, axis)


def along(scale: NDArray[np.float32], axes: int, axis: int | None) -> NDArray[np.float32]:
    """Scales as they are multiplied with a tensor."""
    if axis is None:
        return scale.reshape(())
    shape = [1] * axes
    shape[axis] = -1
    return scale.reshape(shape)
