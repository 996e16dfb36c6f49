"""Operators on levels, those of onnxruntime among them, bit for bit as it runs them without rewriting.

Scales and inputs are those of `test_linear_quantisation`: float32 rounds nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import TYPES, Constants, agrees, build, exactly, grid, microsoft, running


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_convolutions_of_levels(tmp_path: Path, signed: bool, per_channel: bool) -> None:
    rng = np.random.default_rng(6)
    kind = np.int8 if signed else np.uint8
    several = 4 if per_channel else 1
    constants = {
        "sx": np.float32(0.25), "zx": kind(5), "w": rng.integers(-9, 9, (4, 2, 3, 3)).astype(np.int8),
        "sw": (2.0 ** rng.integers(-3, 0, several)).astype(np.float32), "zw": np.zeros(several, np.int8),
        "sy": np.float32(2), "zy": kind(3), "b": rng.integers(-50, 50, 4).astype(np.int32),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "sx", "zx"], "q"),
        node(
            "QLinearConv", ["q", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], "c", pads=[1, 1, 0, 0], strides=[2, 1]
        ),
        node("DequantizeLinear", ["c", "sy", "zy"], "y"),
    ]
    agrees(
        tmp_path, build(nodes, constants, [1, 2, 5, 5], opset=10 if not per_channel else 17), grid(rng, [1, 2, 5, 5])
    )


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("opset", [10, 21])
def test_products_of_levels(tmp_path: Path, columns: int, opset: int) -> None:
    rng = np.random.default_rng(7)
    constants = {
        "sx": np.float32(0.25), "zx": np.uint8(5), "w": rng.integers(-9, 9, (6, 4)).astype(np.int8),
        "sw": (2.0 ** rng.integers(-3, 0, columns)).astype(np.float32), "zw": np.zeros(columns, np.int8),
        "sy": np.float32(0.5), "zy": np.uint8(101),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "sx", "zx"], "q"),
        node("QLinearMatMul", ["q", "sx", "zx", "w", "sw", "zw", "sy", "zy"], "c"),
        node("DequantizeLinear", ["c", "sy", "zy"], "y"),
    ]
    agrees(tmp_path, build(nodes, constants, [1, 2, 6], opset=opset), grid(rng, [1, 2, 6]))


def test_sums_of_integers(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    constants: Constants = {"sx": np.float32(0.25), "zx": np.uint8(5), "zw": np.int8(2), "to": np.float32(0.125)}
    front, back = node("QuantizeLinear", ["x", "sx", "zx"], "q"), node("Cast", ["c"], "f", to=TensorProto.FLOAT)
    constants["w"] = rng.integers(-9, 9, (6, 4)).astype(np.int8)
    product = node("MatMulInteger", ["q", "w", "zx", "zw"], "c")
    nodes = [front, product, back, node("Mul", ["f", "to"], "y")]
    agrees(tmp_path, build(nodes, constants, [1, 2, 6]), grid(rng, [1, 2, 6]))
    constants["w"] = rng.integers(0, 9, (3, 2, 2, 2)).astype(np.uint8)
    constants["zw"] = np.uint8(2)
    nodes[1] = node("ConvInteger", ["q", "w", "zx", "zw"], "c", pads=[1, 1, 1, 1])
    agrees(tmp_path, build(nodes, constants, [1, 2, 4, 4]), grid(rng, [1, 2, 4, 4]))


def test_what_onnxruntime_dequantises_is_compared_as_floats(tmp_path: Path) -> None:
    """Its quantiser writes nodes of its own domain where the opset does not know a type; what they give has a type."""
    constants: Constants = {
        "s": np.float32(0.25), "z": np.array(5, "int16"), "zero": np.zeros(3, np.float32),
    }  # fmt: skip
    nodes = [
        microsoft("QuantizeLinear", ["x", "s", "z"], "q"), microsoft("DequantizeLinear", ["q", "s", "z"], "d"),
        node("Greater", ["d", "zero"], "c"), node("Where", ["c", "d", "zero"], "y"),
    ]  # fmt: skip
    agrees(tmp_path, build(nodes, constants, [1, 3], opset=17), grid(np.random.default_rng(3), [1, 3]))


@pytest.mark.parametrize(("kind", "zero"), [("int8", -3), ("int8", 4), ("uint8", 91), ("uint8", 90)])
def test_operators_of_onnxruntime(tmp_path: Path, kind: str, zero: int) -> None:
    """Some of them add the zero point in front of the rounding, some behind: ties are among these points."""
    rng = np.random.default_rng(9)
    constants: Constants = {
        "sx": np.float32(0.25), "zx": np.array(5, kind), "sy": np.float32(0.5), "zy": np.array(zero, kind),
        "c": rng.integers(0, 100, (1, 2, 4, 4)).astype(kind), "sc": np.float32(0.125), "zc": np.array(50, kind),
    }  # fmt: skip
    front, back = node("QuantizeLinear", ["x", "sx", "zx"], "q"), node("DequantizeLinear", ["m", "sy", "zy"], "y")
    one = ["q", "sx", "zx", "sy", "zy"]
    cases = [
        microsoft("QLinearAdd", ["q", "sx", "zx", "c", "sc", "zc", "sy", "zy"], "m"),
        microsoft("QLinearMul", ["q", "sx", "zx", "c", "sc", "zc", "sy", "zy"], "m"),
        microsoft("QLinearAveragePool", one, "m", kernel_shape=[2, 2], strides=[2, 2]),
        microsoft("QLinearGlobalAveragePool", one, "m"),
        microsoft("QLinearLeakyRelu", one, "m", alpha=0.25),
        microsoft("QLinearConcat", ["sy", "zy", "c", "sc", "zc", "q", "sx", "zx"], "m", axis=2),
    ]
    for case in cases:
        agrees(tmp_path, build([front, case, back], constants, [1, 2, 4, 4], opset=13), grid(rng, [1, 2, 4, 4]))


@pytest.mark.parametrize("turned", [0, 1])
def test_gemm_of_levels(tmp_path: Path, turned: int) -> None:
    rng = np.random.default_rng(10)
    weight = rng.integers(-9, 9, (6, 4)).astype(np.int8)
    constants: Constants = {
        "sx": np.float32(0.25), "zx": np.uint8(5), "w": weight.T.copy() if turned else weight,
        "sw": np.array([0.5, 0.25, 0.5, 1], np.float32), "zw": np.zeros(4, np.int8), "sy": np.float32(0.5),
        "zy": np.uint8(101), "b": rng.integers(-50, 50, 4).astype(np.int32),
    }  # fmt: skip
    front = node("QuantizeLinear", ["x", "sx", "zx"], "q")
    names = ["q", "sx", "zx", "w", "sw", "zw", "b"]
    for alpha in (1.0, 0.5):
        made = microsoft("QGemm", [*names, "sy", "zy"], "c", transB=turned, alpha=alpha)
        nodes = [front, made, node("DequantizeLinear", ["c", "sy", "zy"], "y")]
        agrees(tmp_path, build(nodes, constants, [1, 6], opset=13), grid(rng, [1, 6]))
        real = microsoft("QGemm", names, "y", transB=turned, alpha=alpha)
        agrees(tmp_path, build([front, real], constants, [1, 6], opset=13), grid(rng, [1, 6]))


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("operator", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_functions_of_levels_are_onnxruntimes_tables(tmp_path: Path, operator: str, kind: str) -> None:
    """At all 256 levels, with scales as calibrations find them; a sigmoid is enclosed, and rounds to one level."""
    limits = np.iinfo(kind)
    levels = np.arange(limits.min, limits.max + 1)
    for scale, zero, slope in ((0.05, 100, 0.01), (0.031, 0, 0.37)):
        last = np.float32(1 / 256 if operator == "QLinearSigmoid" else 0.0173)
        constants = {"sx": np.float32(scale), "zx": np.array(zero, kind), "sy": last, "zy": np.array(limits.min, kind)}
        attributes = {} if operator == "QLinearSigmoid" else {"alpha": slope}
        nodes = [microsoft(operator, ["x", "sx", "zx", "sy", "zy"], "y", **attributes)]
        proto = build(nodes, constants, [1, 256], kind=TYPES[kind], made=TYPES[kind], opset=13)
        network = read_network(save(tmp_path, proto))
        (expected,) = running(proto).run(None, {"x": levels.astype(kind)[None]})
        assert np.array_equal(exactly(network, levels), expected.reshape(-1))
