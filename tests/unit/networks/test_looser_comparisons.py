"""Mistakes of a reader are seen where a comparison with onnxruntime is loosest: jumps, levels, long sums in 16 bits.

Each case is two files: what is read of the first is compared with what onnxruntime answers of the second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from eqspec.errors import DisagreementError
from eqspec.networks import agreement, as_network
from eqspec.networks.agreement import Comparison
from unit.networks.function_cases import weights
from unit.networks.models import model, node

HALF, SINGLE = TensorProto.FLOAT16, TensorProto.FLOAT


def compare(read: onnx.ModelProto, run: onnx.ModelProto) -> None:
    content = read.SerializeToString()
    network = replace(as_network(read), content=run.SerializeToString())
    Comparison(network, lambda: content).at(agreement.points(network.input_size))


def rounded(*nodes: onnx.NodeProto, **constants: Any) -> onnx.ModelProto:
    return model(list(nodes), constants, (1, 1))


def levels(zero: Any, low: float = -100, high: float = 100) -> onnx.ModelProto:
    nodes = [
        node("Clip", ["x", "low", "high"], "c"),
        node("QuantizeLinear", ["c", "scale", "zero"], "q"),
        node("DequantizeLinear", ["q", "scale", "zero"], "y"),
    ]
    ends = {"low": np.float32(low), "high": np.float32(high)}
    return rounded(*nodes, scale=np.float32(0.01), zero=zero, **ends)


def by_hand(name: str, shift: float = 0.0) -> onnx.ModelProto:
    """Levels a tenth apart, written out."""
    nodes = [node("Div", ["x", "s"], "d"), node("Add", ["d", "t"], "e"), node(name, ["e"], "k")]
    constants = {"s": np.array([0.1], np.float32), "t": np.array([shift], np.float32)}
    return rounded(*nodes, node("Mul", ["k", "s"], "y"), **constants)


TRUNCATED = rounded(node("Cast", ["x"], "k", to=TensorProto.INT32), node("Cast", ["k"], "y", to=SINGLE))
JUMPS = {
    "floor for truncated": (TRUNCATED, rounded(node("Floor", ["x"], "y"))),
    "truncated for floor": (rounded(node("Floor", ["x"], "y")), TRUNCATED),
    "zero point one off": (levels(np.uint8(0)), levels(np.uint8(1))),
    "one level fewer": (levels(np.int8(0)), levels(np.int8(0), low=-1.27)),
    "rounded for floor": (by_hand("Floor"), by_hand("Round")),
    "half a level": (by_hand("Round"), by_hand("Round", 0.5)),
}


@pytest.mark.parametrize("case", JUMPS)
def test_one_level_off_is_seen(case: str) -> None:
    """Levels and places of jumps that rounding does not explain, though it is one level, or at half of the points."""
    read, run = JUMPS[case]
    compare(read, read)
    compare(run, run)
    with pytest.raises(DisagreementError):
        compare(read, run)


def linear(weight: Any, stored: int) -> onnx.ModelProto:
    """A product with weights in 16 bits, computed in these or, where the file casts them, in 32."""
    if stored == HALF:
        return model([node("MatMul", ["x", "w"], "y")], {"w": weight}, (1, len(weight)), kind=HALF)
    nodes = [node("Cast", ["w"], "v", to=SINGLE), node("MatMul", ["x", "v"], "y")]
    return model(nodes, {"w": weight}, (1, len(weight)))


@pytest.mark.parametrize("computed", [HALF, SINGLE], ids=["float16", "cast to float32"])
@pytest.mark.parametrize("size", [200, 784, 3000])
def test_another_order_of_many_weights_in_16_bits_is_seen(size: int, computed: int) -> None:
    """A bound of n roundings is as large as the sum of n products, from some hundreds on."""
    weight = (weights(size, 4) / np.sqrt(size)).astype(np.float16)
    compare(linear(weight, computed), linear(weight, computed))
    with pytest.raises(DisagreementError):
        compare(linear(weight, computed), linear(weight[::-1].copy(), computed))


@pytest.mark.parametrize("added", [64, 2048, 8192])
@pytest.mark.parametrize("size", [2, 784])
def test_what_cancels_in_16_bits_is_no_mistake(size: int, added: int) -> None:
    """W x + a - a in float16 has few digits of W x, or none, which no folded step shows."""
    nodes = [node("MatMul", ["x", "w"], "h"), node("Add", ["h", "a"], "i"), node("Sub", ["i", "a"], "y")]
    constants = {"w": (weights(size, 2) / np.sqrt(size)).astype(np.float16), "a": np.full(2, added, np.float16)}
    proto = model(nodes, constants, (1, size), kind=HALF)
    compare(proto, proto)


def test_long_sums_of_one_sign_in_16_bits_are_no_mistake() -> None:
    for nodes, constants in (
        ([node("Relu", ["x"], "h"), node("MatMul", ["h", "w"], "y")], {"w": np.ones((3000, 1), np.float16)}),
        ([node("Relu", ["x"], "h"), node("ReduceMean", ["h"], "y", axes=[1])], {}),
    ):
        proto = model(nodes, constants, (1, 3000), kind=HALF)
        compare(proto, proto)
