"""Quantisers written out: Round, Clip or Min and Max, and a Cast to 8 bits, as Keras writes its int8 models.

Against onnxruntime, on inputs that no rounding moves over a threshold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.function_cases import weights
from unit.networks.models import model, node, run_onnxruntime, save

INT8, UINT8, INT16, INT32 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32
CONSTANTS: dict[str, Any] = {
    "w": np.random.default_rng(0).integers(-127, 128, (6, 4)).astype(np.int8), "zero": np.int8(0),
    "wide": np.random.default_rng(0).integers(-127, 128, (6, 4)).astype(np.int32), "v": weights(6, 4),
    "tiny": np.float32(1e-7), "most": np.float32(127), "least": np.float32(-127), "none": np.float32(0),
    "byte": np.float32(255), "half": np.float32(7.5), "step": np.float32(0.03125),
}  # fmt: skip
MIDDLE = {"clip": [("Clip", ["r", "least", "most"])], "min, max": [("Min", ["r", "most"]), ("Max", ["least", "c0"])],
          "max, min": [("Max", ["r", "least"]), ("Min", ["c0", "most"])]}  # fmt: skip


def kept(names: str) -> list[NodeProto]:
    return [
        node(kind, inputs, "c" if index == len(MIDDLE[names]) - 1 else f"c{index}")
        for index, (kind, inputs) in enumerate(MIDDLE[names])
    ]


def largest(names: str) -> list[NodeProto]:
    """Keras: x 127 / (max |x| + 1e-7), rounded and multiplied as integers, and divided by what it was multiplied by."""
    scaled = [node("Abs", ["x"], "a"), node("ReduceMax", ["a"], "m", axes=[1]), node("Add", ["m", "tiny"], "n")]
    scaled += [node("Div", ["most", "n"], "s"), node("Mul", ["x", "s"], "k"), node("Round", ["k"], "r")]
    product = [node("MatMulInteger", ["i", "w", "zero", "zero"], "p"), node("Cast", ["p"], "q", to=TensorProto.FLOAT)]
    return [*scaled, *kept(names), node("Cast", ["c"], "i", to=INT8), *product, node("Div", ["q", "s"], "y")]


def fixed(ends: tuple[str, str], kind: int, *, rounded: str = "Round") -> list[NodeProto]:
    """A fixed scale, and a Cast there and back."""
    nodes = [node("Div", ["x", "step"], "k"), node(rounded, ["k"], "r"), node("Clip", ["r", *ends], "c")]
    back = [node("Cast", ["c"], "i", to=kind), node("Cast", ["i"], "q", to=TensorProto.FLOAT)]
    return [*nodes, *back, node("MatMul", ["q", "v"], "y")]


CASES = {
    **{f"largest entry, {names}": largest(names) for names in MIDDLE},
    "int8": fixed(("least", "most"), INT8),
    "uint8": fixed(("none", "byte"), UINT8),
    "int16": fixed(("least", "byte"), INT16),
    "int32": fixed(("least", "most"), INT32),
    "floor": fixed(("least", "most"), INT8, rounded="Floor"),
    "not rounded": fixed(("least", "most"), INT8, rounded="Identity"),
    "not negative": fixed(("none", "most"), INT8, rounded="Identity"),
    "ends that are not whole": fixed(("none", "half"), INT8),
}


def used(nodes: list[NodeProto]) -> dict[str, Any]:
    return {name: CONSTANTS[name] for one in nodes for name in one.input if name in CONSTANTS}


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_onnxruntime_computes(name: str, tmp_path: Path) -> None:
    path = save(tmp_path, model(CASES[name], used(CASES[name]), (1, 6)))
    network = read_network(path)
    for size in (0.1, 1.0, 8.0):
        for x in (np.random.default_rng(3).normal(size=(5, 6)) * size).astype(np.float32):
            found = network.evaluate(x[None].astype(float))[0]
            np.testing.assert_allclose(found, run_onnxruntime(path, x[None]).ravel(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "ends"), [(UINT8, ("least", "most")), (INT8, ("none", "byte"))])
def test_what_leaves_the_type_is_refused(kind: int, ends: tuple[str, str], tmp_path: Path) -> None:
    nodes = fixed(ends, kind)
    with pytest.raises(NetworkError, match="cast to integers"):
        read_network(save(tmp_path, model(nodes, used(nodes), (1, 6))))
