"""A model with the nodes that Brevitas exports, along its way: QONNX, hls4ml, and the proof that both are the same."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec import Epsilon, NeverWraps, verify
from eqspec.networks import read_network
from unit.networks.firmware.converted import converted

QONNX = "qonnx.custom_op.general"


class Exported:
    """QuantIdentity, QuantLinear and QuantReLU, one behind the other, with scales that are powers of two."""

    def __init__(self, *, bias_bits: int | None) -> None:
        self._random = np.random.default_rng(8)
        self._nodes, self._stored = list[NodeProto](), list[TensorProto]()
        self._bias_bits = bias_bits
        self._quant("x", "q0", scale=1 / 16, bits=8, signed=1)
        self._linear(0, "q0", 5, 6)
        self._nodes.append(helper.make_node("Relu", ["g0"], ["r0"]))
        self._quant("r0", "q1", scale=1 / 4, bits=4, signed=0)
        self._linear(1, "q1", 6, 3)

    def model(self) -> onnx.ModelProto:
        """The file, as qonnx makes it ready for hls4ml."""
        wrapper = pytest.importorskip("qonnx.core.modelwrapper", reason="qonnx is not installed")
        plain = pytest.importorskip("qonnx.transformation.gemm_to_matmul", reason="qonnx is not installed")
        cleanup = pytest.importorskip("qonnx.util.cleanup", reason="qonnx is not installed")
        given, end = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("x", 5), ("g1", 3))
        )
        graph = helper.make_graph(self._nodes, "g", [given], [end], self._stored)
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(QONNX, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of opsets behind the ninth
            ready = cleanup.cleanup_model(wrapper.ModelWrapper(model)).transform(plain.GemmToMatMul())
        made: onnx.ModelProto = ready.model
        return made

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._stored)}"
        self._stored.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def _quant(self, given: str, made: str, *, scale: float, bits: int, signed: int, narrow: int = 0) -> None:
        held = [self._constant(value) for value in (scale, 0, bits)]
        kind: dict[str, Any] = {"signed": signed, "narrow": narrow, "rounding_mode": "ROUND"}
        self._nodes.append(helper.make_node("Quant", [given, *held], [made], domain=QONNX, **kind))

    def _linear(self, number: int, given: str, inputs: int, outputs: int) -> None:
        weight, bias = (
            self._constant(self._random.uniform(-0.5, 0.5, size)) for size in ((outputs, inputs), (outputs,))
        )
        self._quant(weight, f"w{number}", scale=1 / 16, bits=4, signed=1, narrow=1)
        if self._bias_bits is not None:
            self._quant(bias, f"b{number}", scale=1 / 256, bits=self._bias_bits, signed=1)
            bias = f"b{number}"
        self._nodes.append(helper.make_node("Gemm", [given, f"w{number}", bias], [f"g{number}"], transB=1))


@pytest.mark.parametrize(("bias_bits", "verdict"), [(16, "equivalent"), (None, "different")])
def test_firmware_is_what_was_trained_where_its_biases_have_levels(
    bias_bits: int | None, verdict: str, tmp_path: Path
) -> None:
    """A bias in floats is rounded to the type that hls4ml gives it."""
    model = Exported(bias_bits=bias_bits).model()
    onnx.save(model, tmp_path / "trained.onnx")
    trained, firmware = read_network(tmp_path / "trained.onnx"), read_network(converted(tmp_path / "prj", model))
    found = verify(trained, firmware, -16, 15, Epsilon(0), grid=1 / 64, timeout=20)
    assert found.verdict == verdict
    assert verify(firmware, firmware, -16, 15, NeverWraps(), grid=1 / 64, timeout=20).verdict == "equivalent"
    if bias_bits is None:
        assert found.witness is not None
        point = np.array([[float(x) for x in found.witness.raw]])
        assert (firmware.evaluate(point) != trained.evaluate(point)).any()
