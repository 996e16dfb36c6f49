"""Operators of com.microsoft that onnxruntime writes for graphics processors, and CDist of converters, as defined.

BiasSoftmax    softmax(x + bias) over all axes from one on
GroupNorm      (x - mean) / sqrt(variance + epsilon) over groups of channels, times a scale and plus an offset for each
               channel, and SiLU behind it if that is asked for
CDist          Euclidean distances between the rows of one matrix and those of another, or their squares
"""

from __future__ import annotations

from math import prod

import numpy as np

from eqspec.networks.expansion.fused_by_shape import MICROSOFT
from eqspec.networks.expansion.graph_pieces import attributes, counts
from eqspec.networks.expansion.in_place import AGAIN, InPlace
from eqspec.networks.onnx_tensor import UnreadableError


def bias_softmax(made: InPlace) -> None:
    """BiasSoftmax; a bias of fewer axes, or of one entry along some, is repeated as numpy does."""
    given = attributes(made.node, ("axis", "is_inner_broadcast"))
    counts(made.node, (2, 2), (1, 1))
    shape, bias, axis = made.shape(0), made.shape(1), int(given.get("axis", 1))
    if not -len(shape) <= axis < len(shape) or len(bias) > len(shape):
        raise UnreadableError(f"axis {axis} of shape {shape}, with a bias of shape {bias}", AGAIN)
    if int(given.get("is_inner_broadcast", 0)) and len(bias) != len(shape):
        raise UnreadableError(f"a bias of shape {bias} is repeated between axes of {shape}", AGAIN)
    axis %= len(shape)
    total = made.of("Add", made.given(0), made.given(1))
    if axis == len(shape) - 1:
        made.of("Softmax", total, to=made.wanted(0), axis=axis)
        return
    rows = made.reshaped(total, prod(shape[:axis]), prod(shape[axis:]))
    made.of("Reshape", made.of("Softmax", rows, axis=1), made.whole(*shape), to=made.wanted(0))


def group_norm(made: InPlace) -> None:
    """GroupNorm of (batch, height, width, channels), or with the channels second."""
    given = attributes(made.node, ("activation", "channels_last", "epsilon", "groups"))
    counts(made.node, (3, 3), (1, 1))
    shape, last = made.shape(0, 4), bool(int(given.get("channels_last", 1)))
    groups, activation = int(given.get("groups", 0)), int(given.get("activation", 0))
    samples, channels = shape[0], shape[3] if last else shape[1]
    if groups < 1 or channels % groups or activation not in (0, 1):
        raise UnreadableError(f"{groups} groups of {channels} channels, with activation {activation}", AGAIN)
    if made.shape(1) != (channels,) or made.shape(2) != (channels,):
        raise UnreadableError(f"scales of shape {made.shape(1)} for {channels} channels", AGAIN)
    plain = made.turned(made.given(0), 0, 3, 1, 2) if last else made.given(0)
    places = shape[1:3] if last else shape[2:]
    size = channels // groups * prod(places)
    ones = made.constant(np.ones(size, np.float32))
    epsilon = float(given.get("epsilon", np.float32(1e-5)))
    rows = made.reshaped(plain, samples, groups, size)
    normal = made.of("LayerNormalization", rows, ones, domain=MICROSOFT, axis=-1, epsilon=epsilon)
    value = made.reshaped(normal, samples, channels, *places)
    value = made.of("Mul", value, made.reshaped(made.given(1), channels, 1, 1))
    value = made.of("Add", value, made.reshaped(made.given(2), channels, 1, 1))
    if activation:
        value = made.of("Mul", value, made.of("Sigmoid", value))
    if last:
        made.of("Transpose", value, to=made.wanted(0), perm=[0, 2, 3, 1])
    else:
        made.of("Identity", value, to=made.wanted(0))


def distances(made: InPlace) -> None:
    """CDist between rows (m, n) and rows (k, n): (m, k)."""
    metric = attributes(made.node, ("metric",)).get("metric", "sqeuclidean")
    counts(made.node, (2, 2), (1, 1))
    (m, n), (k, other) = made.shape(0, 2), made.shape(1, 2)
    if n != other or metric not in ("euclidean", "sqeuclidean"):
        raise UnreadableError(f"distances {metric!r} between rows of {n} and of {other} entries", AGAIN)
    apart = made.of("Sub", made.reshaped(made.given(0), m, 1, n), made.reshaped(made.given(1), 1, k, n))
    kind = "ReduceL2" if metric == "euclidean" else "ReduceSumSquare"
    if made.opset >= 18:
        made.of(kind, apart, made.whole(2), to=made.wanted(0), keepdims=0)
    else:
        made.of(kind, apart, to=made.wanted(0), axes=[2], keepdims=0)
