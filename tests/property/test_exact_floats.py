"""What counts as exact in `arithmetic float32` is: random graphs against onnxruntime, and sums at the edge of 24 bits.

Graphs have scales that are powers of two, where most of their steps are exact, or others, where few are. Where a
network is called exact, every runtime has to answer the one number that is read in rationals.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

import eqspec
from eqspec.networks import Network, in_float32, read_network
from eqspec.tasks.verdict import Verdict
from property.test_float32 import F, dense
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import TYPES, Constants, build, running
from unit.networks.test_random_quantised_graphs import Growing

Random = np.random.Generator


class Uneven(Growing):
    """Scales that are no powers of two."""

    def scale(self, low: int = -3, high: int = 0) -> str:
        return self.constant(np.float32(self.rng.uniform(2.0**low, 2.0**high)))


def held(network: Network, x: NDArray[Any], answer: NDArray[Any]) -> int:
    """How many outputs are known exactly; all are to hold the answer."""
    ends = network.evaluate_exact([Fraction(float(n)) for n in x.reshape(-1)])
    for (low, high), y in zip(ends, answer.reshape(-1).astype(float).tolist(), strict=True):
        assert low <= Fraction(y) <= high, (float(low), y, float(high))
    return sum(low == high for low, high in ends)


@pytest.mark.part(10)
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_what_onnxruntime_answers_lies_within_the_enclosure(tmp_path: Path, seed: int, uneven: bool) -> None:
    """Inputs lie on ties of the first quantiser or half a step beside; scales of powers of two leave the rest exact."""
    growing = (Uneven if uneven else Growing)(1000 + seed)
    growing.quantise()
    for _ in range(growing.whole(4, 12)):
        growing.step()
    proto = growing.model()
    network, session = in_float32(read_network(save(tmp_path, proto))), running(proto)
    for most in (20, 200):
        x = ((growing.rng.integers(-most, most + 1, (1, 2, 4, 4)) + 0.5) / 16).astype(np.float32)
        (answer,) = session.run(None, {"x": x})
        held(network, x, answer)


def chain(random: Random, kind: str, bits: int, width: int) -> tuple[onnx.ModelProto, list[NDArray[Any]]]:
    """Integers, two layers with biases between quantisers of powers of two, and what the weights are."""
    weights = [random.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (width, width)).astype(np.int32) for _ in range(2)]
    constants: Constants = {"s": F(2.0**-4), "z": np.array(0, kind), "t": F(2.0**-5), "zw": np.array(0, np.int32)}
    nodes, last = list[NodeProto](), "x"
    for k, weight in enumerate(weights):
        constants |= {f"w{k}": weight, f"b{k}": (random.integers(-99, 99, width) * 2.0**-9).astype(F)}
        nodes += [
            node("DequantizeLinear", [last, "s", "z"], f"d{k}"),
            node("DequantizeLinear", [f"w{k}", "t"], f"v{k}"),
            node("MatMul", [f"d{k}", f"v{k}"], f"m{k}"),
            node("Add", [f"m{k}", f"b{k}"], f"a{k}"),
            node("Relu", [f"a{k}"], f"r{k}"),
            node("QuantizeLinear", [f"r{k}", "s", "z"], f"q{k}"),
        ]
        last = f"q{k}"
    nodes.append(node("Identity", [last], "y"))
    return build(nodes, constants, [1, width], kind=TYPES[kind], made=TYPES[kind]), weights


def answered(proto: onnx.ModelProto, weights: list[NDArray[Any]], x: NDArray[Any], order: Random) -> NDArray[Any]:
    """What some runtime makes of it, in an order of its own."""
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
    limits = np.iinfo(stored["z"].dtype)
    for k, weight in enumerate(weights):
        real = dense((weight.T * stored["t"]).astype(F), stored[f"b{k}"], x.astype(F) * F(2.0**-4), order)
        x = np.clip(np.rint(np.maximum(real, F(0)) / F(2.0**-4)), limits.min, limits.max)
    return np.asarray(x)


@pytest.mark.parametrize(("kind", "bits", "width", "exact"), [("uint8", 8, 12, True), ("uint16", 12, 24, False)])
def test_sums_are_exact_while_they_are_short(tmp_path: Path, kind: str, bits: int, width: int, exact: bool) -> None:
    """In 24 bits all orders of summation agree; in more they do not, and none of them leaves the enclosure."""
    random = np.random.default_rng(5)
    proto, weights = chain(random, kind, bits, width)
    real = read_network(save(tmp_path, proto))
    network, session = in_float32(real), running(proto)
    assert all(step.exact for step in network.steps) is exact
    apart = 0
    for _ in range(8):
        x = random.integers(0, np.iinfo(kind).max, width, endpoint=True).astype(kind)
        (first,) = session.run(None, {"x": x[None]})
        answers = [first[0], *(answered(proto, weights, x, random) for _ in range(4))]
        known = [held(network, x, answer) for answer in answers]
        assert not exact or known == [width] * 5
        apart += any((answer != first[0]).any() for answer in answers)
    assert exact or apart > 0, "some sums are rounded"


def test_what_is_merged_into_the_weights_of_an_exact_sum_rounds(tmp_path: Path) -> None:
    """Of a factor and a bias behind it: runtimes may multiply weights by the one, and begin with the other."""
    random = np.random.default_rng(3)
    weight = random.integers(-128, 128, (40, 3)).astype(F)
    constants: Constants = {
        "s": F(1), "z": np.uint8(0), "w": weight, "b": random.normal(size=3).astype(F), "c": F(0.1),
    }  # fmt: skip
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], "d"),
        node("MatMul", ["d", "w"], "m"),
        node("Mul", ["m", "c"], "p"),
        node("Add", ["p", "b"], "y"),
    ]
    network = in_float32(read_network(save(tmp_path, build(nodes, constants, [1, 40], kind=TYPES["uint8"]))))
    merged = (weight * F(0.1)).astype(F)
    for _ in range(50):
        x = random.integers(0, 256, 40).astype(np.uint8)
        held(network, x, dense(merged.T, constants["b"], x.astype(F), random))


@pytest.mark.parametrize("bend", ["Relu", "Clip", "Identity", "Abs"])
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_inputs_may_be_rounded_to_a_tie(tmp_path: Path, bend: str, scale: float) -> None:
    """Reals beside a tie of the quantiser: a runtime may see the float32 on it, or one on its other side."""
    constants: Constants = {"s": F(scale), "z": np.int8(3), "low": F(-1), "high": F(100)}
    nodes = [
        node(bend, ["x", "low", "high"] if bend == "Clip" else ["x"], "c"),
        node("QuantizeLinear", ["c", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "y"),
    ]
    proto = build(nodes, constants, [1, 1])
    network, session = in_float32(read_network(save(tmp_path, proto))), running(proto)
    for level in range(0, 40, 3):
        tie = F(F(level + 0.5) * F(scale))
        (answer,) = session.run(None, {"x": np.array([[tie]], F)})
        for beside in (Fraction(-1, 2**40), Fraction(0), Fraction(1, 2**40)):
            ((low, high),) = network.evaluate_exact([Fraction(float(tie)) + beside])
            assert low <= Fraction(float(answer[0, 0])) <= high


def test_an_exact_network_is_equal_to_itself_in_every_runtime(tmp_path: Path) -> None:
    proto, _ = chain(np.random.default_rng(5), "uint8", 8, 8)
    network = read_network(save(tmp_path, proto))
    assert "float32 rounds nothing: all sums and products are exact" in in_float32(network).notes
    said = eqspec.verify(network, network, [0.0] * 8, [255.0] * 8, eqspec.Epsilon(0.0), arithmetic="float32")
    assert said.verdict is Verdict.EQUIVALENT


def test_a_power_of_two_too_many_is_no_exact_sum(tmp_path: Path) -> None:
    """255 times 2^16 - 1 and 65792 are 2^24 + 1, which is no number of float32."""
    for last, exact in ((10_000.0, True), (65_792.0, False)):
        constants: Constants = {
            "s": F(1), "z": np.uint16(0), "w": np.array([[255.0]], F), "b": np.array([last], F),
        }  # fmt: skip
        nodes = [
            node("DequantizeLinear", ["x", "s", "z"], "d"),
            node("MatMul", ["d", "w"], "m"),
            node("Add", ["m", "b"], "y"),
        ]
        proto = build(nodes, constants, [1, 1], kind=TYPES["uint16"], made=TensorProto.FLOAT)
        network = in_float32(read_network(save(tmp_path, proto)))
        assert network.steps[-1].exact is exact
        x = np.array([[2**16 - 1]], np.uint16)
        (answer,) = running(proto).run(None, {"x": x})
        held(network, x, answer)
