"""Operators that compute with levels, in `arithmetic float32`: what onnxruntime answers lies within the enclosures.

Inputs are integers, so that nothing is rounded in front of the operator. Scales are such that many results lie on a
tie, or within a rounding of one: there the two levels are possible, elsewhere one is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

import eqspec
from eqspec.networks import in_float32, read_network
from eqspec.networks.readers import onnx_reader
from eqspec.tasks.verdict import Verdict
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import TYPES, Constants, build, microsoft, running

Random = np.random.Generator
SEEDS = 3
Case = tuple[list[NodeProto], Constants, list[int]]


def integers(random: Random, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """All that a type holds."""
    return random.integers(*TYPE_ENDS[kind], shape, endpoint=True).astype(kind)


TYPE_ENDS = {"int8": (-128, 127), "uint8": (0, 255)}


def parameters(random: Random, kind: str, *names: str) -> Constants:
    """A scale and a zero point for each: often a power of two times another one, so that quotients are exact."""
    base = float(np.float32(random.uniform(0.01, 0.2)))
    found: Constants = {}
    for name in names:
        scale = base * 2.0 ** random.integers(-2, 3) if random.random() < 0.5 else random.uniform(0.01, 0.2)
        found |= {f"s{name}": np.float32(scale), f"z{name}": integers(random, kind, ())}
    return found


def convolution(random: Random, kind: str) -> Case:
    made = parameters(random, kind, "x", "y")
    weight = random.integers(-3, 4, (4, 2, 3, 3)).astype(np.int8)
    scale = (float(made["sx"]) * 2.0 ** random.integers(-3, 0, 4)).astype(np.float32)
    if random.random() < 0.7:  # ties, but for what is rounded of the scales
        made["sy"] = np.float32(made["sx"] * scale[0] * 2)
    made |= {"w": weight, "sw": scale, "zw": np.zeros(4, np.int8), "b": random.integers(-50, 50, 4).astype(np.int32)}
    return [node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], "y")], made, [1, 2, 8, 8]


def product(random: Random, kind: str) -> Case:
    made = parameters(random, kind, "x", "w", "y")
    if random.random() < 0.7:
        made["sy"] = np.float32(made["sx"] * made["sw"] * 2)
    made |= {"w": random.integers(-3, 4, (6, 8)).astype(np.int8), "zw": np.int8(random.integers(-3, 4))}
    return [node("QLinearMatMul", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], "y")], made, [1, 24, 6]


def general_product(random: Random, kind: str) -> Case:
    made = parameters(random, kind, "x", "w", "y")
    if random.random() < 0.7:
        made["sy"] = np.float32(made["sx"] * made["sw"] * 2)
    made |= {"w": random.integers(-3, 4, (6, 8)).astype(np.int8), "zw": np.int8(0)}
    made |= {"b": random.integers(-50, 50, 8).astype(np.int32)}
    names = ["x", "sx", "zx", "w", "sw", "zw", "b", "sy", "zy"]
    return [microsoft("QGemm", names, "y", alpha=float(random.choice([1.0, 0.7])))], made, [1, 6]


def of_two(name: str) -> Callable[[Random, str], Case]:
    def case(random: Random, kind: str) -> Case:
        made = parameters(random, kind, "x", "c", "y")
        if name == "QLinearMul" and random.random() < 0.7:
            made["sy"] = np.float32(made["sx"] * made["sc"] * 2)
        made |= {"c": integers(random, kind, (1, 96))}
        return [microsoft(name, ["x", "sx", "zx", "c", "sc", "zc", "sy", "zy"], "y")], made, [1, 96]

    return case


def of_one(name: str, shape: list[int], **attributes: Any) -> Callable[[Random, str], Case]:
    def case(random: Random, kind: str) -> Case:
        made = parameters(random, kind, "x", "y")
        return [microsoft(name, ["x", "sx", "zx", "sy", "zy"], "y", **attributes)], made, shape

    return case


def joined(random: Random, kind: str) -> Case:
    made = parameters(random, kind, "x", "c", "y") | {"c": integers(random, kind, (1, 16))}
    return [microsoft("QLinearConcat", ["sy", "zy", "c", "sc", "zc", "x", "sx", "zx"], "y", axis=1)], made, [1, 80]


def chosen(random: Random, kind: str) -> Case:
    made = parameters(random, kind, "x", "c", "y") | {"c": integers(random, kind, (1, 96))}
    made |= {"m": random.random((1, 96)) < 0.5}
    return [microsoft("QLinearWhere", ["m", "x", "sx", "zx", "c", "sc", "zc", "sy", "zy"], "y")], made, [1, 96]


CASES = {
    "QLinearConv": convolution,
    "QLinearMatMul": product,
    "QGemm": general_product,
    "QLinearAdd": of_two("QLinearAdd"),
    "QLinearMul": of_two("QLinearMul"),
    "QLinearAveragePool": of_one("QLinearAveragePool", [1, 2, 8, 8], kernel_shape=[3, 3]),
    "QLinearGlobalAveragePool": of_one("QLinearGlobalAveragePool", [1, 64, 2, 2]),
    "QLinearLeakyRelu": of_one("QLinearLeakyRelu", [1, 96], alpha=0.3),
    "QLinearSigmoid": of_one("QLinearSigmoid", [1, 96]),
    "QLinearConcat": joined,
    "QLinearWhere": chosen,
}


@pytest.mark.parametrize("name", CASES)
def test_levels_of_onnxruntime_lie_within_the_enclosure(name: str, tmp_path: Path) -> None:
    """And within one level of each other, which is one alone nearly everywhere."""
    wide = total = 0
    for seed in range(SEEDS):
        random = np.random.default_rng([seed, list(CASES).index(name)])
        kind = "uint8" if seed % 2 else "int8"
        nodes, constants, shape = CASES[name](random, kind)
        opset = 17 if name == "QLinearConv" else 13
        proto = build(nodes, constants, shape, kind=TYPES[kind], made=TYPES[kind], opset=opset)
        real = read_network(save(tmp_path, proto))
        x = integers(random, kind, tuple(shape))
        (answer,) = running(proto).run(None, {"x": x})
        point = [Fraction(int(v)) for v in x.reshape(-1)]
        found = zip(in_float32(real).evaluate_exact(point), real.evaluate_exact(point), strict=True)
        for ((low, high), exact), level in zip(found, answer.reshape(-1).tolist(), strict=True):
            assert low <= level <= high <= low + 1
            assert low <= exact[0] == exact[1] <= high or name == "QLinearSigmoid"
            wide += high > low
            total += 1
    assert wide < total / 2


def test_sums_in_float32_may_take_scale_times_level_and_zero_point_apart(tmp_path: Path) -> None:
    """As onnxruntime adds: what is zero for the file is then a difference of two rounded numbers."""
    levels = np.arange(256, dtype=np.uint8)[None]
    constants: Constants = {
        "s": np.float32(0.1), "z": np.uint8(131), "c": np.full((1, 256), 131, np.uint8), "sy": np.float32(0.2),
        "zy": np.uint8(101),
    }  # fmt: skip
    nodes = [microsoft("QLinearAdd", ["x", "s", "z", "c", "s", "z", "sy", "zy"], "y")]
    proto = build(nodes, constants, [1, 256], kind=TYPES["uint8"], made=TYPES["uint8"], opset=13)
    network = in_float32(read_network(save(tmp_path, proto)))
    ends = network.evaluate_exact([Fraction(int(v)) for v in levels.reshape(-1)])
    (answer,) = running(proto).run(None, {"x": levels})
    assert all(low <= y <= high for (low, high), y in zip(ends, answer.reshape(-1).tolist(), strict=True))
    assert sum(low < high for low, high in ends) > 50, "half of the quotients are ties"


def powers(tmp_path: Path, name: str, scale: float, kind: str = "uint8") -> Path:
    """Two products of levels, whose scales are powers of two or not."""
    random = np.random.default_rng(4)
    constants: Constants = {
        "sx": np.float32(0.25), "zx": np.array(5, kind), "w": random.integers(-9, 9, (6, 6)).astype(np.int8),
        "sw": np.float32(scale), "zw": np.int8(0), "sy": np.float32(0.5), "zy": np.array(101, kind),
    }  # fmt: skip
    nodes = [
        node("QLinearMatMul", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], "c"),
        node("QLinearMatMul", ["c", "sy", "zy", "w", "sw", "zw", "sx", "zx"], "y"),
    ]
    proto = build(nodes, constants, [1, 6], kind=TYPES[kind], made=TYPES[kind], opset=13)
    return Path(save(tmp_path, proto, name))


def test_scales_that_are_powers_of_two_round_nothing(tmp_path: Path) -> None:
    """Then a network is equal to itself in every runtime; with others two runtimes may part at a threshold."""
    found = {}
    for scale in (0.125, 0.1):
        network = read_network(powers(tmp_path, f"{scale}.onnx", scale))
        rounded = in_float32(network)
        found[scale] = all(step.exact for step in rounded.steps)
        low, high = [0.0] * 6, [255.0] * 6
        asked = eqspec.verify(network, network, low, high, eqspec.Epsilon(0.5), arithmetic="float32", timeout=1)
        assert asked.verdict is (Verdict.EQUIVALENT if found[scale] else Verdict.UNKNOWN)
    assert found == {0.125: True, 0.1: False}


@pytest.mark.parametrize("scale", [1e-35, 1e35])
def test_scales_that_float32_may_lose_are_refused(scale: float, tmp_path: Path) -> None:
    path = powers(tmp_path, "lost.onnx", scale)
    with pytest.raises(eqspec.NetworkError, match="float32 may lose them"):
        onnx_reader.read(str(path), path.read_bytes(), "float32")


def test_sums_of_integers_are_exact_until_they_become_real_numbers(tmp_path: Path) -> None:
    """MatMulInteger, MatMulIntegerToFloat and QGemm with a real result, against onnxruntime."""
    random = np.random.default_rng(8)
    constants: Constants = {
        "w": random.integers(-9, 9, (6, 4)).astype(np.int8), "zx": np.uint8(5), "zw": np.int8(2),
        "s": np.float32(0.013), "t": np.float32(0.37), "b": random.normal(size=4).astype(np.float32),
        "c": random.integers(-50, 50, 4).astype(np.int32),
    }  # fmt: skip
    cases = [
        [
            node("MatMulInteger", ["x", "w", "zx", "zw"], "i"),
            node("Cast", ["i"], "f", to=TensorProto.FLOAT),
            node("Mul", ["f", "s"], "p"),
            node("Add", ["p", "b"], "y"),
        ],
        [microsoft("MatMulIntegerToFloat", ["x", "w", "s", "t", "zx", "zw", "b"], "y")],
        [microsoft("QGemm", ["x", "s", "zx", "w", "t", "zw", "c"], "y", alpha=0.7)],
    ]
    for nodes in cases:
        proto = build(nodes, constants, [8, 6], kind=TYPES["uint8"], opset=13)
        network, session = in_float32(read_network(save(tmp_path, proto))), running(proto)
        for _ in range(8):
            x = random.integers(0, 256, (8, 6)).astype(np.uint8)
            (answer,) = session.run(None, {"x": x})
            ends = network.evaluate_exact([Fraction(int(v)) for v in x[0]])
            for (low, high), y in zip(ends, answer[0].tolist(), strict=True):
                assert low <= Fraction(y) <= high <= low + Fraction(1, 1000)
