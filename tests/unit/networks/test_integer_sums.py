"""Sums of products of integers: what 32 bits hold, and what is computed with them further on in integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, agrees, build, grid


def test_sums_of_products_of_two_values_stay_within_32_bits(tmp_path: Path) -> None:
    """40,000 times 255 squared is more than they hold, and onnxruntime would go on below zero."""
    front, turned = node("QuantizeLinear", ["x", "o", "i"], "q"), node("Transpose", ["q"], "t")
    nodes = [front, turned, node("MatMulInteger", ["q", "t"], "c"), node("Cast", ["c"], "y", to=1)]
    constants: Constants = {"o": np.float32(1), "i": np.uint8(0)}
    with pytest.raises(NetworkError, match="32 bits do not hold that"):
        read_network(save(tmp_path, build(nodes, constants, [1, 40_000])))
    agrees(tmp_path, build(nodes, constants, [1, 40]), grid(np.random.default_rng(3), [1, 40]))


@pytest.mark.parametrize("stored", [True, False])
def test_sums_of_products_with_a_vector_stay_within_32_bits(tmp_path: Path, stored: bool) -> None:
    """All entries of a vector are in one sum."""
    front, flat = node("QuantizeLinear", ["x", "o", "i"], "q"), node("Reshape", ["q", "n"], "v")
    nodes = [front, flat, node("MatMulInteger", ["q", "w" if stored else "v"], "c"), node("Cast", ["c"], "y", to=1)]
    for size in (40_000, 30_000):
        constants: Constants = {"o": np.float32(1), "i": np.uint8(0), "n": np.array([-1])}
        file = save(tmp_path, build(nodes, constants | {"w": np.full(size, 255, np.uint8)}, [1, size]))
        if size == 40_000:
            with pytest.raises(NetworkError, match="32 bits do not hold that"):
                read_network(file)
        else:
            assert read_network(file).input_size == size


@pytest.mark.parametrize(("operator", "number"), [("MatMulInteger", 1 << 20), ("ConvInteger", -(1 << 20))])
def test_a_bias_and_a_multiplier_in_integers(tmp_path: Path, operator: str, number: int) -> None:
    """As integer networks are written by hand: (sum + bias) times a whole number, then scaled and quantised."""
    rng = np.random.default_rng(4)
    shape, kernel = ([1, 6], (6, 3)) if operator == "MatMulInteger" else ([1, 2, 4], (3, 2, 2))
    constants: Constants = {
        "s": np.float32(0.25), "z": np.uint8(117), "w": rng.integers(-9, 9, kernel).astype(np.int8),
        "b": np.array(number, np.int32), "m": np.array(77, np.int32), "t": np.float32(2.0**-20), "zy": np.int8(-3),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node(operator, ["q", "w", "z"], "i"),
        node("Add", ["i", "b"], "j"),
        node("Mul", ["j", "m"], "k"),
        node("Cast", ["k"], "f", to=1),
        node("Mul", ["f", "t"], "g"),
        node("QuantizeLinear", ["g", "s", "zy"], "p"),
        node("DequantizeLinear", ["p", "s", "zy"], "y"),
    ]
    agrees(tmp_path, build(nodes, constants, shape), grid(rng, shape))


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_with_a_bias_stay_within_32_bits(tmp_path: Path, sign: int) -> None:
    """Levels up to 255 times 3 and 2 reach 1275."""
    nodes = [
        node("QuantizeLinear", ["x", "o", "i"], "q"),
        node("MatMulInteger", ["q", "w"], "c"),
        node("Add", ["c", "b"], "d"),
        node("Sub", ["d", "b"], "e"),
        node("Cast", ["e"], "y", to=1),
    ]
    constants: Constants = {"o": np.float32(1), "i": np.uint8(0), "w": np.array([[3], [2]], np.int8) * sign}
    most = 2**31 - 1 - 1275
    constants["b"] = np.array([sign * (most + 1) - (sign < 0)], np.int32)
    with pytest.raises(NetworkError, match="may leave their type"):
        read_network(save(tmp_path, build(nodes, constants, [1, 2])))
    constants["b"] = np.array([sign * most - (sign < 0)], np.int32)
    nodes[3:] = [node("Cast", ["d"], "y", to=11)]
    agrees(tmp_path, build(nodes, constants, [1, 2], made=11), [np.array([[300, 300]], np.float32)])
