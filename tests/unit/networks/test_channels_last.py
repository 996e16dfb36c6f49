"""Operators of qonnx with channels behind the places, against onnxruntime on standard ones between transpositions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, save

DOMAIN = "qonnx.custom_op.channels_last"
Constants = dict[str, NDArray[Any]]
LAYERS: dict[str, list[tuple[str, list[str], dict[str, Any]]]] = {
    "plain": [("Conv", ["w", "b"], {"kernel_shape": [3, 2], "strides": [1, 1], "pads": [0, 0, 0, 0], "group": 1})],
    "uneven": [("Conv", ["w"], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 2], "dilations": [1, 2]})],
    "depthwise": [("Conv", ["d", "b"], {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [1, 1, 1, 1], "group": 2})],
    "all": [
        ("Conv", ["w", "b"], {"kernel_shape": [3, 2], "strides": [1, 1], "pads": [1, 1, 1, 1]}),
        ("BatchNormalization", ["b", "b", "b", "v"], {"epsilon": 0.25}),
        ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [2, 1], "pads": [0, 0, 0, 0]}),
    ],
    # As Brevitas exports them, which qonnx then converts with all of their attributes.
    "exported": [
        ("Conv", ["w", "b"], {"auto_pad": "NOTSET", "kernel_shape": [3, 2], "strides": [1, 1], "pads": [1, 1, 1, 1]}),
        ("BatchNormalization", ["b", "b", "b", "v"], {"epsilon": 0.25, "training_mode": 0}),
        (
            "MaxPool",
            [],
            {
                "auto_pad": "NOTSET", "ceil_mode": 0, "dilations": [1, 1], "kernel_shape": [2, 2], "pads": [0, 0, 0, 0],
                "storage_order": 0, "strides": [2, 1],
            },
        ),
    ],
}  # fmt: skip


def constants(random: np.random.Generator) -> Constants:
    """Kernels with the channels last: (outputs, height, width, channels)."""
    small = np.arange(-4, 5) / 4
    sizes = {"w": (4, 3, 2, 2), "d": (4, 3, 2, 1), "b": (4,)}
    made = {name: random.choice(small, size=size).astype(np.float32) for name, size in sizes.items()}
    return made | {"v": np.array([0.75, 3.75, 0.75, 3.75], np.float32)}


def last(layers: list[tuple[str, list[str], dict[str, Any]]]) -> list[NodeProto]:
    """The file that is read."""
    names = ["x", *(f"h{k}" for k in range(len(layers) - 1)), "y"]
    return [
        node(kind, [names[k], *read], names[k + 1], domain=DOMAIN, **attributes)
        for k, (kind, read, attributes) in enumerate(layers)
    ]


def first(layers: list[tuple[str, list[str], dict[str, Any]]], given: Constants) -> onnx.ModelProto:
    """The same with the standard operators."""
    turned = {k: np.ascontiguousarray(np.moveaxis(v, -1, 1)) if v.ndim > 1 else v for k, v in given.items()}
    nodes = [node("Transpose", ["x"], "t0", perm=[0, 3, 1, 2])]
    for k, (kind, read, attributes) in enumerate(layers):
        nodes.append(node(kind, [f"t{k}", *read], f"t{k + 1}", **attributes))
    nodes.append(node("Transpose", [f"t{len(layers)}"], "y", perm=[0, 2, 3, 1]))
    return model(nodes, turned, [1, 5, 6, 2])


@pytest.mark.parametrize("name", LAYERS)
def test_they_are_the_standard_operators_between_transpositions(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(len(name))
    given, layers = constants(random), LAYERS[name]
    proto = model(last(layers), given, [1, 5, 6, 2])
    proto.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(first(layers, given).SerializeToString(), providers=["CPUExecutionProvider"])
    for _ in range(4):
        x = (random.integers(-8, 9, size=(1, 5, 6, 2)) / 4).astype(np.float32)
        (answer,) = session.run(None, {"x": x})
        found = [low for low, _ in network.evaluate_exact([Fraction(v) for v in x.reshape(-1).tolist()])]
        assert np.abs(np.array(found, float) - answer.reshape(-1)).max() < 1e-5


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (node("Conv", ["x", "w"], "y", domain=DOMAIN, auto_pad="SAME_UPPER"), "'auto_pad' is SAME_UPPER, which qonnx"),
        (node("Conv", ["x", "w"], "y", domain=DOMAIN, ceil_mode=1), "'ceil_mode' is 1"),
        (node("MaxPool", ["x"], "y", domain=DOMAIN, kernel_shape=[2, 2], ceil_mode=1), "'ceil_mode' is 1"),
        (node("MaxPool", ["x"], "y", domain=DOMAIN, kernel_shape=[2, 2], dilations=[1, 2]), "'dilations' is"),
        (node("MaxPool", ["x"], "y", domain=DOMAIN, kernel_shape=[2, 2], count=1), "'count' is not known"),
        (node("MaxPool", ["x", "w"], "y", domain=DOMAIN, kernel_shape=[2, 2]), "2 inputs"),
        (node("AveragePool", ["x"], "y", domain=DOMAIN, kernel_shape=[2, 2]), "behind the places"),
        (node("Conv", ["x", "b"], "y", domain=DOMAIN), "without an axis of channels"),
    ],
)
def test_what_is_refused(broken: NodeProto, message: str, tmp_path: Path) -> None:
    proto = model([broken], constants(np.random.default_rng(0)), [1, 5, 6, 2])
    proto.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    with pytest.raises(NetworkError, match=message):
        read_network(save(tmp_path, proto))
