"""What onnxruntime writes for graphics processors, which it does not run here: against the definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.exported import several, value
from unit.networks.function_cases import weights
from unit.networks.models import node, save
from unit.networks.test_written_out import ms

Array = NDArray[np.float64]
SCALES = {"g": weights(6, seed=1), "c": weights(6, seed=2)}
BIAS = weights(1, 1, 3, 4, seed=3)


def softmax(x: Array) -> Array:
    raised = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def grouped(x: Array, groups: int, epsilon: float) -> Array:
    """Channels last."""
    apart = x.reshape(*x.shape[:3], groups, -1)
    centred = apart - apart.mean(axis=(1, 2, 4), keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=(1, 2, 4), keepdims=True) + epsilon)
    return np.asarray(normal.reshape(x.shape) * SCALES["g"] + SCALES["c"])


def silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


CASES: dict[str, tuple[NodeProto, tuple[int, ...], Callable[[Array], Array]]] = {
    "softmax of the last axis": (
        ms("BiasSoftmax", ["x", "bias"], "s", axis=3, is_inner_broadcast=0), (1, 2, 3, 4), lambda x: softmax(x + BIAS)
    ),
    "softmax of two axes": (
        ms("BiasSoftmax", ["x", "bias"], "s", axis=2, is_inner_broadcast=1), (1, 2, 3, 4),
        lambda x: softmax((x + BIAS).reshape(2, 12)).reshape(1, 2, 3, 4),
    ),
    "norm": (
        ms("GroupNorm", ["x", "g", "c"], "s", groups=2, epsilon=1e-2), (1, 2, 3, 6), lambda x: grouped(x, 2, 1e-2)
    ),
    "norm and silu": (
        ms("GroupNorm", ["x", "g", "c"], "s", groups=3, activation=1), (1, 2, 3, 6), lambda x: silu(grouped(x, 3, 1e-5))
    ),
    "norm of channels second": (
        ms("GroupNorm", ["x", "g", "c"], "s", groups=3, channels_last=0), (1, 6, 2, 3),
        lambda x: grouped(x.transpose(0, 2, 3, 1), 3, 1e-5).transpose(0, 3, 1, 2),
    ),
}  # fmt: skip


def model(step: NodeProto, shape: tuple[int, ...]) -> Any:
    given, made = value("x", TensorProto.FLOAT, shape), value("y", TensorProto.FLOAT, None)
    constants = {**SCALES, "bias": BIAS}
    return several([step, node("Neg", ["s"], "y")], constants, [given], [made], others=[("com.microsoft", 1)])


@pytest.mark.parametrize("name", CASES)
def test_they_are_read_as_they_are_defined(name: str, tmp_path: Path) -> None:
    step, shape, function = CASES[name]
    network = read_network(save(tmp_path, model(step, shape)))
    for seed in range(3):
        x = 2 * weights(*shape, seed=10 + seed).astype(float)
        np.testing.assert_allclose(network.evaluate(x.reshape(1, -1))[0], -function(x).ravel(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ms("BiasSoftmax", ["x", "bias"], "s", axis=7), "axis 7"),
        (ms("GroupNorm", ["x", "g", "c"], "s", groups=4), "4 groups of 6 channels"),
        (ms("GroupNorm", ["x", "g", "c"], "s", groups=2, activation=2), "with activation 2"),
        (ms("CDist", ["x", "bias"], "s", metric="cosine"), "input 0 has shape"),
    ],
)
def test_others_are_refused(step: NodeProto, words: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, model(step, (1, 2, 3, 6))))
