"""Trains the models of tests/convolutional_models.py on scikit-learn's digits, in numpy.

Adam, on the cross-entropy of classes; every layer answers with its values and a function that takes their gradient
back, adding those of its parameters to a list in the order in which `parameters` names them, last layer first. Shapes:
images (N, 1, 8, 8) in [0, 1], labels (N,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from making import tables
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from convolutional_models import (
    ALPHA,
    BETA,
    SLOPE,
    SMOOTH,
    VARIANCE_EPSILON,
    Array,
    Conv,
    Dense,
    Flatten,
    Function,
    Layer,
    Model,
    Norm,
    Pool,
    Residual,
)

_erf = np.vectorize(math.erf, otypes=[float])
Gradients = dict[int, Array]
Back = Callable[[Array, Gradients], Array]
"""The gradient of the inputs from that of the outputs; gradients of parameters are kept by the id of their array."""
MOMENTUM = 0.1
"""What one batch counts in the running statistics of a normalisation."""


def digits() -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Images and labels to train on, and to test on."""
    data = tables.digits()
    images = [x.reshape(-1, 1, 8, 8) / tables.DIGIT_PIXEL_MAX for x in (data.inputs, data.test_inputs)]
    return images[0], data.labels.astype(np.int64), images[1], data.test_labels.astype(np.int64)


def fit(model: Model, rng: np.random.Generator, *, epochs: int, rate: float = 3e-3, cut: float = 0.0) -> None:
    """Train on digits in place; with `cut`, that share of every weight tensor becomes 0 first and stays 0."""
    images, labels, _, _ = digits()
    masks = (
        {id(w): np.abs(w) > np.quantile(np.abs(w), cut) for w in parameters(model.layers) if w.ndim > 1} if cut else {}
    )

    def batches() -> Iterator[tuple[Array, Array]]:
        for _ in range(epochs):
            for batch in np.array_split(rng.permutation(len(images)), len(images) // 64):
                yield images[batch], np.eye(10)[labels[batch]]

    descend(model, batches(), surprise, rate, masks)


def surprise(scores: Array, wanted: Array) -> Array:
    """The gradient of the cross-entropy of scores (N, O)."""
    likely = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(likely / likely.sum(1, keepdims=True) - wanted)


def descend(
    model: Model,
    batches: Iterable[tuple[Array, Array]],
    slope_of_loss: Callable[[Array, Array], Array],
    rate: float,
    masks: Mapping[int, NDArray[np.bool_]] = MappingProxyType({}),
) -> None:
    """Adam, in place, on batches of inputs and what is wanted of them."""
    arrays = parameters(model.layers)
    moments = {id(w): (np.zeros_like(w), np.zeros_like(w)) for w in arrays}
    for step, (inputs, wanted) in enumerate(batches, start=1):
        scores, back = forward(model.layers, inputs, training=True)
        gradients: Gradients = {}
        back(slope_of_loss(scores, wanted) / len(inputs), gradients)
        for weight in arrays:
            first, second = moments[id(weight)]
            slope = gradients[id(weight)]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            weight -= rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            if id(weight) in masks:
                weight *= masks[id(weight)]


def accuracy(model: Model) -> float:
    """On the images that were not trained on."""
    _, _, images, labels = digits()
    scores, _ = forward(model.layers, images, training=False)
    return float(np.mean(scores.argmax(1) == labels))


def parameters(layers: Sequence[Layer]) -> list[Array]:
    """All arrays that are trained."""
    found: list[Array] = []
    for layer in layers:
        match layer:
            case Conv() | Dense():
                found += [layer.weight] if layer.bias is None else [layer.weight, layer.bias]
            case Norm():
                found += [layer.scale, layer.shift]
            case Residual():
                found += parameters(layer.body)
    return found


def forward(layers: Sequence[Layer], x: Array, *, training: bool) -> tuple[Array, Back]:
    """Values of the last layer, and the way back."""
    backs = []
    for layer in layers:
        x, back = _layer(layer, x, training)
        backs.append(back)

    def all_back(slope: Array, gradients: Gradients) -> Array:
        for back in reversed(backs):
            slope = back(slope, gradients)
        return slope

    return x, all_back


def _layer(layer: Layer, x: Array, training: bool) -> tuple[Array, Back]:
    match layer:
        case Conv():
            return _conv(layer, x)
        case Dense():
            return _dense(layer, x)
        case Norm():
            return _norm(layer, x, training)
        case Function():
            values, derivative = _function(layer.name, x)
            return values, lambda slope, _: slope * derivative
        case Pool():
            return _pool(layer, x)
        case Flatten():
            return x.reshape(len(x), -1), lambda slope, _: slope.reshape(x.shape)
        case Residual():
            inner, back = forward(layer.body, x, training=training)
            return x + inner, lambda slope, gradients: slope + back(slope, gradients)


def _function(name: str, x: Array) -> tuple[Array, Array]:
    match name:
        case "relu":
            return np.maximum(x, 0), (x > 0).astype(float)
        case "leaky":
            return np.where(x > 0, x, SLOPE * x), np.where(x > 0, 1, SLOPE)
        case "abs":
            return np.abs(x), np.sign(x)
        case "hardsigmoid":
            score = ALPHA * x + BETA
            return np.clip(score, 0, 1), ALPHA * ((score > 0) & (score < 1)).astype(float)
        case _ if name in SMOOTH:
            return _smooth(name, x)
        case _:
            low, high = (0, 6) if name == "relu6" else (-1, 1)
            return np.clip(x, low, high), ((x > low) & (x < high)).astype(float)


def _smooth(name: str, x: Array) -> tuple[Array, Array]:
    score = (np.tanh(x / 2) + 1) / 2  # the logistic function, without overflow
    match name:
        case "sigmoid":
            return score, score * (1 - score)
        case "tanh":
            return np.tanh(x), 1 - np.tanh(x) ** 2
        case "softplus":
            return np.logaddexp(x, 0), score
        case "elu":
            below = np.exp(np.minimum(x, 0))
            return np.where(x > 0, x, below - 1), below
        case "silu":
            return x * score, score + x * score * (1 - score)
        case "gelu":
            likely = (1 + _erf(x / math.sqrt(2))) / 2
            return x * likely, likely + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        case _:
            gate = np.clip(x / 6 + 0.5, 0, 1)
            return x * gate, gate + x * ((gate > 0) & (gate < 1)) / 6


def _conv(layer: Conv, x: Array) -> tuple[Array, Back]:
    n, channels = x.shape[:2]
    outputs, inner, *size = layer.weight.shape
    groups, pad, stride = layer.groups, layer.padding, layer.stride
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = sliding_window_view(padded, size, axis=(2, 3))[:, :, ::stride, ::stride]
    high, wide = windows.shape[2:4]
    # (groups, N * positions, taps) times (groups, taps, outputs of a group)
    taps = windows.reshape(n, groups, inner, high, wide, *size).transpose(1, 0, 3, 4, 2, 5, 6)
    taps = taps.reshape(groups, n * high * wide, -1)
    weight = layer.weight.reshape(groups, outputs // groups, -1)
    values = (taps @ weight.transpose(0, 2, 1)).reshape(groups, n, high, wide, -1)
    values = values.transpose(1, 0, 4, 2, 3).reshape(n, outputs, high, wide)
    if layer.bias is not None:
        values = values + layer.bias[:, None, None]

    def back(slope: Array, gradients: Gradients) -> Array:
        if layer.bias is not None:
            gradients[id(layer.bias)] = slope.sum((0, 2, 3))
        rows = slope.reshape(n, groups, -1, high, wide).transpose(1, 0, 3, 4, 2).reshape(groups, n * high * wide, -1)
        gradients[id(layer.weight)] = (rows.transpose(0, 2, 1) @ taps).reshape(layer.weight.shape)
        spread = (rows @ weight).reshape(groups, n, high, wide, inner, *size)
        answer: Array = np.zeros_like(padded)
        for i in range(size[0]):
            for j in range(size[1]):
                part = spread[..., i, j].transpose(1, 0, 4, 2, 3).reshape(n, channels, high, wide)
                answer[:, :, i : i + stride * high : stride, j : j + stride * wide : stride] += part
        return answer[:, :, pad : pad + x.shape[2], pad : pad + x.shape[3]]

    return values, back


def _dense(layer: Dense, x: Array) -> tuple[Array, Back]:
    def back(slope: Array, gradients: Gradients) -> Array:
        gradients[id(layer.weight)], gradients[id(layer.bias)] = slope.T @ x, slope.sum(0)
        return slope @ layer.weight

    return x @ layer.weight.T + layer.bias, back


def _norm(layer: Norm, x: Array, training: bool) -> tuple[Array, Back]:
    axes, shape = (0, 2, 3), (-1, 1, 1)
    mean, variance = (x.mean(axes), x.var(axes)) if training else (layer.mean, layer.variance)
    if training:
        layer.mean += MOMENTUM * (mean - layer.mean)
        layer.variance += MOMENTUM * (variance - layer.variance)
    scale = 1 / np.sqrt(variance + VARIANCE_EPSILON)
    normal = (x - mean.reshape(shape)) * scale.reshape(shape)

    def back(slope: Array, gradients: Gradients) -> Array:
        gradients[id(layer.scale)], gradients[id(layer.shift)] = (slope * normal).sum(axes), slope.sum(axes)
        inner = slope * layer.scale.reshape(shape)
        along = (inner * normal).mean(axes).reshape(shape)
        answer: Array = (inner - inner.mean(axes).reshape(shape) - normal * along) * scale.reshape(shape)
        return answer

    return normal * layer.scale.reshape(shape) + layer.shift.reshape(shape), back


def _pool(layer: Pool, x: Array) -> tuple[Array, Back]:
    if layer.kind == "global":
        count = x.shape[2] * x.shape[3]
        means = x.mean((2, 3), keepdims=True)
        return means, lambda slope, _: np.broadcast_to(slope / count, x.shape)
    n, channels, high, wide = x.shape
    cells = x.reshape(n, channels, high // 2, 2, wide // 2, 2)
    if layer.kind == "average":
        return cells.mean((3, 5)), lambda slope, _: np.repeat(np.repeat(slope / 4, 2, 2), 2, 3)
    largest = cells.max((3, 5), keepdims=True)
    share = (cells == largest) / (cells == largest).sum((3, 5), keepdims=True)
    return largest[:, :, :, 0, :, 0], lambda slope, _: (share * slope[:, :, :, None, :, None]).reshape(x.shape)
