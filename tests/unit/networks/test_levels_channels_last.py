"""Operators on levels whose channels stand last, as onnxruntime saves quantised networks at its highest level.

Scales are powers of two and inputs lie on a grid, so that what is read must be what onnxruntime answers, bit for bit.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, agrees, build, grid, microsoft, running

SHAPE = [1, 4, 6, 5]
QUARTER, HALF = np.float32(0.25), np.float32(0.5)


def between(nodes: list[NodeProto], last: str, kind: Any = np.uint8) -> tuple[list[NodeProto], Constants]:
    """Nodes from `t`, levels with channels last, to `last`: between a quantiser and what takes its levels back."""
    before = [node("QuantizeLinear", ["x", "s", "z"], "q"), node("Transpose", ["q"], "t", perm=[0, 2, 3, 1])]
    behind = [node("Transpose", [last], "b", perm=[0, 3, 1, 2]), node("DequantizeLinear", ["b", "s", "z"], "y")]
    return [*before, *nodes, *behind], {"s": QUARTER, "z": kind(3)}


def convolution(random: np.random.Generator, groups: int, *, last: bool) -> tuple[NodeProto, Constants]:
    names = ["t" if last else "q", "s", "z", "w", "u", "o", "s", "z", "c"]
    attributes = {"group": groups, "strides": [2, 1], "pads": [1, 0, 1, 2], "channels_last": int(last)}
    constants: Constants = {
        "w": random.integers(-40, 41, (6, 4 // groups, 3, 2)).astype(np.int8),
        "u": (0.5 ** random.integers(4, 7, 6)).astype(np.float32),
        "o": np.zeros(6, np.int8),
        "c": random.integers(-99, 99, 6).astype(np.int32),
    }
    return microsoft("QLinearConv", names, "d", **attributes), constants


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(groups: int, tmp_path: Path) -> None:
    random = np.random.default_rng(groups)
    one, weights = convolution(random, groups, last=True)
    nodes, constants = between([one], "d")
    agrees(tmp_path, build(nodes, constants | weights, SHAPE), grid(random, SHAPE, most=400))


def test_channels_in_front_of_the_places(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    one, weights = convolution(random, 1, last=False)
    ends = [node("QuantizeLinear", ["x", "s", "z"], "q"), one, node("DequantizeLinear", ["d", "s", "z"], "y")]
    proto = build(ends, {"s": QUARTER, "z": np.uint8(3)} | weights, SHAPE)
    agrees(tmp_path, proto, grid(random, SHAPE, most=400))


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_largest_levels(kind: Any, tmp_path: Path) -> None:
    pool = microsoft("NhwcMaxPool", ["t"], "d", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 0, 0])
    nodes, constants = between([pool], "d", kind)
    agrees(tmp_path, build(nodes, constants, SHAPE), grid(np.random.default_rng(5), SHAPE, most=400))


def test_means_over_all_places(tmp_path: Path) -> None:
    pool = microsoft("QLinearGlobalAveragePool", ["t", "s", "z", "h", "z"], "d", channels_last=1)
    nodes, constants = between([pool], "d")
    agrees_within_ties(tmp_path, build(nodes, constants | {"h": HALF}, [1, 4, 2, 4]))


def agrees_within_ties(folder: Path, proto: onnx.ModelProto) -> None:
    """What onnxruntime answers is one of the levels that are read where a sum in floats may fall on either side."""
    network, session = read_network(save(folder, proto)), running(proto)
    for point in grid(np.random.default_rng(6), [1, 4, 2, 4], 60, most=200):
        ends = zip(*network.evaluate_exact([Fraction(float(x)) for x in point.flat]), strict=True)
        low, high = (np.array([float(v) for v in end]) for end in ends)
        (expected,) = session.run(None, {"x": point})
        assert (low - 1e-9 <= expected.reshape(-1)).all()
        assert (expected.reshape(-1) <= high + 1e-9).all()


def test_means_over_windows_are_refused(tmp_path: Path) -> None:
    """onnxruntime rounds them otherwise than with channels in front: at ties by a level."""
    pool = microsoft("QLinearAveragePool", ["t", "s", "z", "h", "z"], "d", channels_last=1, kernel_shape=[2, 4])
    nodes, constants = between([pool], "d")
    with pytest.raises(NetworkError, match="channels behind the places"):
        read_network(save(tmp_path, build(nodes, constants | {"h": HALF}, [1, 4, 2, 4])))


def test_what_onnxruntime_saves(tmp_path: Path) -> None:
    """A network of QLinearConv and MaxPool, optimised for the processor of the test, and as it was."""
    random = np.random.default_rng(7)
    one, weights = convolution(random, 1, last=False)
    one.domain = ""
    others = [a for a in one.attribute if a.name != "channels_last"]
    del one.attribute[:]
    one.attribute.extend(others)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"), one,
        node("MaxPool", ["d"], "m", kernel_shape=[2, 2]), node("DequantizeLinear", ["m", "s", "z"], "y"),
    ]  # fmt: skip
    proto = build(nodes, {"s": QUARTER, "z": np.uint8(3)} | weights, SHAPE)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath, options.log_severity_level = str(tmp_path / "o.onnx"), 4
    onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    saved = onnx.load(tmp_path / "o.onnx")
    before, behind = read_network(save(tmp_path, proto)), read_network(tmp_path / "o.onnx")
    points = np.concatenate([p.reshape(1, -1) for p in grid(random, SHAPE, most=400)]).astype(float)
    assert np.array_equal(before.evaluate(points), behind.evaluate(points)), [n.op_type for n in saved.graph.node]
