"""Constants that a graph computes and then moves, as embeddings of positions: sines, tiled to the size of an image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, build

ANGLES = np.random.default_rng(0).normal(size=(1, 3, 4)).astype(np.float32)
MOVES: dict[str, tuple[list[str], Constants, dict[str, int]]] = {
    "Tile": (["r"], {"r": np.array([2, 1, 1])}, {}),
    "Trilu": ([], {}, {"upper": 1}),
    "GatherElements": (["r"], {"r": np.array([[[2, 0, 1, -1]] * 3])}, {"axis": 1}),
    "GatherND": (["r"], {"r": np.array([[[0, 2], [0, -3]]])}, {}),
    "Compress": (["r"], {"r": np.array([True, False, True])}, {"axis": 1}),
    "ReverseSequence": (["r"], {"r": np.array([3])}, {"batch_axis": 0, "time_axis": 1}),
}


@pytest.mark.parametrize("kind", MOVES)
def test_they_are_moved_as_onnxruntime_does(tmp_path: Path, kind: str) -> None:
    operands, constants, attributes = MOVES[kind]
    nodes = [
        node("Cos", ["angles"], "c"),
        node(kind, ["c", *operands], "m", **attributes),
        node("Mul", ["x", "m"], "p"),
        node("ReduceSum", ["p", "axes"], "y", keepdims=0),
    ]
    proto = build(nodes, {"angles": ANGLES, "axes": np.array([2]), **constants}, [1, 1, 4], opset=17)
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for x in np.random.default_rng(1).normal(size=(5, 1, 1, 4)).astype(np.float32):
        (expected,) = session.run(None, {"x": x})
        made = network.evaluate(x.reshape(1, 4).astype(float))[0]
        np.testing.assert_allclose(made, expected.reshape(-1), rtol=1e-5, atol=1e-6)


TERNARY = [
    node("Abs", ["w"], "a"),
    node("ReduceMean", ["a"], "m", keepdims=0),
    node("Mul", ["m", "share"], "t"),
    node("Greater", ["a", "t"], "c"),
    node("Sign", ["w"], "s"),
    node("Where", ["c", "s", "zero"], "k"),
    node("MatMul", ["x", "k"], "y"),
]


def test_ternary_weights_are_compared_with_a_share_of_their_mean(tmp_path: Path) -> None:
    """As ternary weight networks have them; a weight that lies at the threshold may be one or 0 in a runtime."""
    weights = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)
    constants: Constants = {"w": weights, "share": np.float32(0.7), "zero": np.float32(0)}
    network = read_network(save(tmp_path, build(TERNARY, constants, [1, 4], opset=17)))
    kept = np.abs(weights) > 0.7 * np.abs(weights).mean()
    assert network.layers[0].weight.tolist() == (np.sign(weights) * kept).T.tolist()
    constants["w"] = np.full((4, 3), 0.3, np.float32)
    constants["share"] = np.float32(1)
    with pytest.raises(NetworkError, match="within rounding of each other"):
        read_network(save(tmp_path, build(TERNARY, constants, [1, 4], opset=17)))
