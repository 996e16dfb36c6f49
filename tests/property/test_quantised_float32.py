"""What `arithmetic float32` promises of quantised networks: what any runtime answers lies within the enclosures.

The oracles are onnxruntime, and numpy's float32 in random orders of summation, which divides by a scale or multiplies
by its reciprocal. Inputs are such that the arguments of quantisers often lie on ties or a rounding away from them.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

import eqspec
from eqspec.networks import Arithmetic, Network, in_float32, read_network
from eqspec.tasks.verdict import Verdict
from property.test_float32 import F, Single, contained, dense
from unit.networks.models import model, node, save

Random = np.random.Generator


class Net:
    """Two layers with quantisers in front, between and behind, as QDQ or as QONNX has them."""

    def __init__(self, random: Random, *, short: bool) -> None:
        scales = [1.0, 0.5, 0.25] if short else [0.1, 0.3, 0.07, 0.5]
        self.scales = [F(random.choice(scales)) for _ in range(3)]
        self.zeros = [int(random.integers(-3, 4)) for _ in range(3)]
        weights = np.array([-1.0, -0.5, 0.25, 0.5, 1.0, 2.0]) if short else random.normal(size=6)
        self.weights = [random.choice(weights, size=shape).astype(F) for shape in ((3, 2), (2, 3))]
        self.biases = [random.choice([0.0, 0.5, -0.25, 0.1 * (not short)], size=n).astype(F) for n in (3, 2)]

    def proto(self, *, qonnx: bool) -> onnx.ModelProto:
        """The file."""
        nodes: list[onnx.NodeProto] = []
        constants: dict[str, NDArray[Any]] = {}
        last = "x"
        for k in range(3):
            constants |= {f"s{k}": np.array(self.scales[k], F)}
            if qonnx:
                constants |= {f"z{k}": np.array(self.zeros[k], F), "bits": np.array(4, F)}
                one = node(
                    "Quant", [last, f"s{k}", f"z{k}", "bits"], f"d{k}", signed=1, narrow=0, rounding_mode="ROUND"
                )
                one.domain = "qonnx.custom_op.general"
                nodes.append(one)
            else:
                constants |= {f"z{k}": np.array(self.zeros[k], np.int8)}
                nodes.append(node("QuantizeLinear", [last, f"s{k}", f"z{k}"], f"q{k}"))
                nodes.append(node("DequantizeLinear", [f"q{k}", f"s{k}", f"z{k}"], f"d{k}"))
            last = f"d{k}"
            if k < 2:
                constants |= {f"w{k}": self.weights[k], f"b{k}": self.biases[k]}
                nodes.append(node("Gemm", [last, f"w{k}", f"b{k}"], f"h{k}", transB=1))
                nodes.append(node("Relu", [f"h{k}"], f"r{k}"))
                last = f"r{k}"
        nodes.append(node("Identity", [last], "y"))
        return model(nodes, constants, ["n", 2])

    def run(self, x: Single, order: Random, *, qonnx: bool) -> Single:
        """What some float32 runtime makes of it."""
        for k in range(3):
            s, z = self.scales[k], F(self.zeros[k])
            t = x / s if order.random() < 0.5 else x * F(F(1) / s)
            level = np.clip(np.rint(t + z), -8, 7) if qonnx else np.clip(np.rint(t) + z, -128, 127)
            x = (level - z).astype(F) * s
            if k < 2:
                x = np.maximum(dense(self.weights[k], self.biases[k], x, order), F(0))
        return x


def inputs(random: Random, net: Net, count: int) -> Single:
    """Many on a tie of the first quantiser, or one float beside it."""
    ties = (random.integers(-9, 9, size=(count, 2)) + F(0.5)).astype(F) * net.scales[0]
    beside = np.nextafter(ties, random.choice([-np.inf, np.inf], size=ties.shape).astype(F))
    chosen = np.where(random.integers(3, size=ties.shape) == 0, beside, ties)
    return np.where(random.integers(4, size=ties.shape) == 0, random.normal(size=ties.shape), chosen).astype(F)


def running(proto: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.part(12)
@pytest.mark.parametrize("qonnx", [False, True])
@pytest.mark.parametrize("seed", range(16))
def test_every_float32_evaluation_lies_within_the_enclosure(seed: int, qonnx: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    net = Net(random, short=bool(seed % 2))
    proto = net.proto(qonnx=qonnx)
    exact = read_network(save(tmp_path, proto))
    rounded = in_float32(exact)
    assert rounded.arithmetic == "float32"
    session = None if qonnx else running(proto)
    for x in inputs(random, net, 12):
        for _ in range(3):
            contained(rounded, x, net.run(x, random, qonnx=qonnx))
        as_reals = exact.evaluate_exact([Fraction(v) for v in x.tolist()])
        ends = rounded.evaluate_exact([Fraction(v) for v in x.tolist()])
        assert all(low <= value <= high for (low, high), (value, _) in zip(ends, as_reals, strict=True))
        if session is not None:
            contained(rounded, x, session.run(None, {"x": x[None]})[0])


def stepped(tmp_path: Path, weight: float) -> Network:
    """weight x, rounded to whole numbers."""
    constants: dict[str, NDArray[Any]] = {"w": np.array([[weight]], F), "s": np.array(1, F), "z": np.array(0, np.int8)}
    nodes = [
        node("MatMul", ["x", "w"], "h"),
        node("QuantizeLinear", ["h", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "y"),
    ]
    return read_network(save(tmp_path, model(nodes, constants, ["n", 1])))


def test_a_rounding_in_front_of_a_threshold_costs_a_level(tmp_path: Path) -> None:
    """One network in two runtimes: equal as real numbers, a level apart at a tie, equal away from all ties."""
    network = stepped(tmp_path, 0.3)

    def said(low: float, high: float, eps: float, arithmetic: Arithmetic) -> Verdict:
        asked = eqspec.verify(network, network, [low], [high], eqspec.Epsilon(eps), arithmetic=arithmetic, timeout=3)
        return asked.verdict

    assert said(1.0, 2.5, 0.5, "real") is Verdict.EQUIVALENT
    assert said(1.0, 2.5, 0.5, "float32") is Verdict.UNKNOWN
    assert said(1.0, 2.5, 1.5, "float32") is Verdict.EQUIVALENT
    assert said(2.0, 4.5, 0.5, "float32") is Verdict.EQUIVALENT


@pytest.mark.part(4)
@pytest.mark.parametrize("seed", range(8))
def test_no_distance_is_proved_that_two_runtimes_exceed(seed: int, tmp_path: Path) -> None:
    """Each against itself: two orders of summation differ by levels at ties, and by nothing as real numbers."""
    random = np.random.default_rng(100 + seed)
    net = Net(random, short=False)
    network = read_network(save(tmp_path, net.proto(qonnx=bool(seed % 2))))
    points = inputs(random, net, 60)
    answers = [[net.run(x, random, qonnx=bool(seed % 2)) for x in points] for _ in range(4)]
    apart = max(float(np.abs(np.subtract(a, b, dtype=np.float64)).max()) for a in answers for b in answers)
    lower, upper = points.min(axis=0).tolist(), points.max(axis=0).tolist()

    def said(eps: float) -> Verdict:
        asked = eqspec.verify(network, network, lower, upper, eqspec.Epsilon(eps), arithmetic="float32", timeout=0.3)
        return asked.verdict

    assert apart == 0.0 or said(apart * 0.999) is Verdict.UNKNOWN
    widest = max(float(net.scales[2]) * (15.0 if seed % 2 else 255.0), 1.0) * 1.01
    assert said(widest) is Verdict.EQUIVALENT
