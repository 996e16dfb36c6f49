"""Small pairs of networks on disk with whole weights, so that ties and bounds are met exactly; and points for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks import Network, read_network

Point = tuple[Fraction, ...]


def write(path: Path, rng: np.random.Generator, inputs: int, outputs: int, *, tail: str | None = None) -> Path:
    """A network with one hidden layer, Gemm - Relu - Gemm, of input [1, I] and output [1, O]."""
    hidden = 3
    arrays = {
        "W": rng.integers(-2, 3, (hidden, inputs)),
        "b": rng.integers(-1, 2, hidden),
        "V": rng.integers(-2, 3, (outputs, hidden)),
        "c": rng.integers(-1, 2, outputs),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "W", "b"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "V", "c"], ["y" if tail is None else "z"], transB=1),
    ]
    if tail is not None:
        nodes.append(helper.make_node(tail, ["z"], ["y"], axis=1))
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, outputs])],
        [numpy_helper.from_array(a.astype(np.float32), name) for name, a in arrays.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def pair(folder: Path, seed: int, inputs: int = 2, outputs: int = 3, *, tail: str | None = None) -> list[Network]:
    """Two networks in f.onnx and g.onnx."""
    rng = np.random.default_rng(seed)
    return [read_network(str(write(folder / f"{name}.onnx", rng, inputs, outputs, tail=tail))) for name in "fg"]


def points(seed: int, inputs: int, count: int = 80) -> Iterator[Point]:
    """Points on a coarse grid around the unit box, so that many lie on bounds and on ties."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield tuple(Fraction(int(n), 4) for n in rng.integers(-5, 6, inputs))


def scores(network: Network, point: Sequence[Fraction]) -> list[Fraction]:
    """The exact outputs at a point."""
    answers = network.evaluate_exact(point)
    assert all(low == high for low, high in answers)
    return [low for low, _ in answers]
