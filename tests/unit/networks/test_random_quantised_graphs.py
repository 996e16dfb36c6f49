"""Random graphs of quantisers, operators on levels and real operators: bit for bit what onnxruntime runs.

All numbers are multiples of powers of two, and small enough that float32 holds every sum: so what is read in rationals
and what runs in float32 are one function, at ties and ends as well, of which there are many.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.networks import read_network
from unit.networks.models import save

KINDS = {"int8": np.int8, "uint8": np.uint8}


class Growing:
    """A graph on images (1, channels, height, width) that grows by one node after the other."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Any] = {}
        self.name, self.shape = "x", (2, 4, 4)
        self.levels: tuple[str, str, str] | None = None
        """Of integers: their type, and what scale and zero point they have."""
        self.apart = 0
        """How many real operators were applied since the last quantiser."""
        self.kept: list[tuple[str, tuple[int, ...]]] = []

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def scale(self, low: int = -3, high: int = 0) -> str:
        return self.constant(np.float32(2.0 ** self.whole(low, high)))

    def put(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        made = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [made], domain=domain, name=made, **attributes))
        self.name = made
        return made

    def parameters(self, kind: str) -> tuple[str, str]:
        low = -9 if kind == "int8" else 0
        return self.scale(), self.constant(KINDS[kind](self.whole(low, 140 if kind == "uint8" else 9)))

    # Real values.

    def quantise(self) -> None:
        kind = ("int8", "uint8")[self.whole(0, 1)]
        scale, zero = self.parameters(kind)
        self.put("QuantizeLinear", [self.name, scale, zero])
        self.levels, self.apart = (kind, scale, zero), 0

    def bend(self) -> None:
        kind = ("Relu", "Clip", "LeakyRelu", "Abs")[self.whole(0, 3)]
        if kind == "Clip":
            ends = sorted(self.rng.integers(-20, 20, 2) / 4)
            self.put(kind, [self.name, *(self.constant(np.float32(end)) for end in ends)])
        else:
            attributes: dict[str, Any] = {"alpha": 0.25} if kind == "LeakyRelu" else {}
            self.put(kind, [self.name], **attributes)

    def convolve(self) -> None:
        made = self.whole(1, 3)
        weight = self.rng.integers(-8, 9, (made, self.shape[0], 2, 2)) / 8
        bias = self.rng.integers(-16, 17, made) / 4
        given = [self.constant(a.astype(np.float32)) for a in (weight, bias)]
        self.put("Conv", [self.name, *given], pads=[1, 0, 0, 1])
        self.shape, self.apart = (made, *self.shape[1:]), self.apart + 1

    def shift(self) -> None:
        offset = self.rng.integers(-16, 17, (self.shape[0], 1, 1)) / 8
        self.put("Add", [self.name, self.constant(offset.astype(np.float32))])

    def remember(self) -> None:
        self.kept.append((self.name, self.shape))

    def add_kept(self) -> None:
        fitting = [name for name, shape in self.kept if shape == self.shape]
        if fitting:
            self.put("Add", [self.name, fitting[self.whole(0, len(fitting) - 1)]])

    # Levels.

    def dequantise(self) -> None:
        assert self.levels is not None
        kind, *given = self.levels
        if self.whole(0, 3) == 0:  # by channel, as something else
            scales = 2.0 ** self.rng.integers(-3, 1, self.shape[0])
            given = [self.constant(scales.astype(np.float32)), self.constant(np.full(self.shape[0], 3, KINDS[kind]))]
        self.put("DequantizeLinear", [self.name, *given], axis=1)
        self.levels = None

    def cut_off(self) -> None:
        assert self.levels is not None
        kind = KINDS[self.levels[0]]
        ends = sorted(self.rng.integers(-9 if kind is np.int8 else 0, 60, 2))
        self.put("Clip", [self.name, *(self.constant(kind(end)) for end in ends)])

    def pool(self) -> None:
        self.put("MaxPool", [self.name], kernel_shape=[2, 2], pads=[0, 1, 1, 0])

    def turn(self) -> None:
        self.put("Transpose", [self.name], perm=[0, 1, 3, 2])

    def pad(self) -> None:
        assert self.levels is not None
        pads = self.constant(np.array([0, 0, 1, 0, 0, 0, -1, 0]))
        self.put("Pad", [self.name, pads, self.constant(KINDS[self.levels[0]](self.whole(0, 9)))])

    def add_levels(self) -> None:
        assert self.levels is not None
        kind, *given = self.levels
        other = [self.constant(self.rng.integers(0, 90, self.shape).astype(KINDS[kind])[None]), *self.parameters(kind)]
        made = self.parameters(kind)
        self.put(("QLinearAdd", "QLinearMul")[self.whole(0, 1)], [self.name, *given, *other, *made], "com.microsoft")
        self.levels = kind, *made

    def convolve_levels(self) -> None:
        assert self.levels is not None
        kind, *given = self.levels
        count = self.whole(1, 3)
        weight = self.constant(self.rng.integers(-20, 21, (count, self.shape[0], 2, 2)).astype(np.int8))
        several = self.whole(0, 1) * (count - 1) + 1
        scales = self.constant((2.0 ** self.rng.integers(-5, -2, several)).astype(np.float32))
        made = self.parameters(kind)
        bias = self.constant(self.rng.integers(-90, 91, count).astype(np.int32))
        inputs = [self.name, *given, weight, scales, self.constant(np.zeros(several, np.int8)), *made, bias]
        self.put("QLinearConv", inputs, pads=[1, 0, 0, 1])
        self.levels, self.shape = (kind, *made), (count, *self.shape[1:])

    def step(self) -> None:
        if self.levels is not None:
            moves = [self.dequantise, self.dequantise, self.cut_off, self.pool, self.turn, self.pad]
            moves += [self.add_levels, self.convolve_levels]
        elif self.apart:
            moves = [self.quantise, self.quantise, self.bend]
        else:
            moves = [self.quantise, self.bend, self.convolve, self.convolve, self.shift, self.remember, self.add_kept]
        moves[self.whole(0, len(moves) - 1)]()

    def model(self) -> onnx.ModelProto:
        made = TensorProto.FLOAT if self.levels is None else {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}[
            self.levels[0]
        ]  # fmt: skip
        stored = [numpy_helper.from_array(np.asarray(a), name) for name, a in self.constants.items()]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])
        result = helper.make_tensor_value_info(self.name, made, None)
        graph = helper.make_graph(self.nodes, "g", [given], [result], stored)
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(120))
def test_graphs_are_read_as_they_run(tmp_path: Path, seed: int) -> None:
    growing = Growing(seed)
    growing.quantise()
    for _ in range(growing.whole(4, 12)):
        growing.step()
    model = growing.model()
    network = read_network(save(tmp_path, model))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for most in (20, 200):
        x = (growing.rng.integers(-most, most + 1, (1, 2, 4, 4)) / 16).astype(np.float32)
        (expected,) = session.run(None, {"x": x})
        found = network.evaluate_exact([Fraction(float(n)) for n in x.reshape(-1)])
        assert all(low == high for low, high in found)
        assert np.array_equal([float(low) for low, _ in found], expected.reshape(-1).astype(float))
