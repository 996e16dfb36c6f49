"""What `arithmetic float32` promises: every float32 evaluation lies within the enclosures.

The oracles are numpy's float32, term by term in shuffled orders and in trees, with bias first or last, on weights with
the normalisation merged in or not, and onnxruntime with and without its fusions. None of them knows the enclosures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

import eqspec
from eqspec.errors import InputError, NetworkError
from eqspec.networks import AffineLayer, Network, in_float32, read_network
from eqspec.property import Epsilon, Top1
from eqspec.tasks.verdict import Verdict
from unit.networks.models import model, node, save

Single = NDArray[np.float32]
F = np.float32


def summed(terms: list[np.float32], rng: np.random.Generator) -> np.float32:
    """A float32 sum in a random order, as a random tree."""
    terms = list(terms)
    while len(terms) > 1:
        i, j = sorted(rng.choice(len(terms), 2, replace=False))
        b, a = terms.pop(int(j)), terms.pop(int(i))
        terms.append(F(a + b))
    return terms[0]


def dense(weight: Single, bias: Single, x: Single, rng: np.random.Generator) -> Single:
    """weight x + bias, the bias anywhere in the sum."""
    rows = [
        summed([*(F(w * v) for w, v in zip(row, x, strict=True)), b], rng) for row, b in zip(weight, bias, strict=True)
    ]
    return np.array(rows, F)


def contained(network: Network, x: Single, outputs: NDArray[Any]) -> None:
    intervals = network.evaluate_exact([Fraction(float(v)) for v in x])
    for (low, high), y in zip(intervals, np.asarray(outputs, np.float64).ravel().tolist(), strict=True):
        assert low <= Fraction(y) <= high, (float(low), y, float(high))


def wild(rng: np.random.Generator, *shape: int) -> Single:
    """Numbers of very different sizes, which cancel and lose digits; some tiny, some zero."""
    numbers = rng.normal(size=shape) * 10.0 ** rng.integers(-4, 5, size=shape)
    numbers = np.where(rng.random(shape) < 0.05, numbers * 1e-38, numbers)
    return np.where(rng.random(shape) < 0.1, 0.0, numbers).astype(F)


def plain(rng: np.random.Generator) -> tuple[onnx.ModelProto, Callable[[Single, np.random.Generator], Single]]:
    """Gemm, ReLU, MatMul, Add, ReLU, Gemm."""
    widths = [int(n) for n in rng.integers(1, 12, size=4)]
    weights = [wild(rng, m, n) for n, m in pairwise(widths)]
    biases = [wild(rng, m) for m in widths[1:]]
    nodes = [
        node("Gemm", ["x", "w0", "b0"], "h0", transB=1), node("Relu", ["h0"], "r0"),
        node("MatMul", ["r0", "w1"], "m1"), node("Add", ["m1", "b1"], "h1"), node("Relu", ["h1"], "r1"),
        node("Gemm", ["r1", "w2", "b2"], "y", transB=1),
    ]  # fmt: skip
    constants = {"w0": weights[0], "w1": weights[1].T.copy(), "w2": weights[2]}
    constants |= {f"b{i}": b for i, b in enumerate(biases)}

    def run(x: Single, order: np.random.Generator) -> Single:
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            x = np.maximum(dense(weight, bias, x, order), F(0))
        return dense(weights[-1], biases[-1], x, order)

    return model(nodes, constants, ["n", widths[0]]), run


def normalised(rng: np.random.Generator) -> tuple[onnx.ModelProto, Callable[[Single, np.random.Generator], Single]]:
    """(x - mean) / std, two products in a row without ReLU between, BatchNormalization, ReLU, a residual sum, Gemm."""
    n = int(rng.integers(2, 9))
    mean, std = wild(rng, n), (np.abs(rng.normal(size=n)) + 0.1).astype(F)
    first, second, last = wild(rng, n, n), wild(rng, n, n), wild(rng, 3, n)
    bias, shift, centre = wild(rng, n), wild(rng, n), wild(rng, n)
    factor, variance, end = wild(rng, n), (rng.random(n) * 10).astype(F), wild(rng, 3)
    nodes = [
        node("Sub", ["x", "mean"], "c"), node("Div", ["c", "std"], "u"),
        node("MatMul", ["u", "first"], "p"), node("Gemm", ["p", "second", "bias"], "q", transB=1, alpha=0.5),
        node("BatchNormalization", ["q", "factor", "shift", "centre", "variance"], "n"),
        node("Relu", ["n"], "r"), node("Add", ["r", "u"], "s"), node("Gemm", ["s", "last", "end"], "y", transB=1),
    ]  # fmt: skip
    constants = {
        "mean": mean, "std": std, "first": first.T.copy(), "second": second, "bias": bias, "factor": factor,
        "shift": shift, "centre": centre, "variance": variance, "last": last, "end": end,
    }  # fmt: skip
    nothing = np.zeros(n, F)

    def run(x: Single, order: np.random.Generator) -> Single:
        u = (x - mean) / std if order.random() < 0.5 else (x - mean) * (F(1) / std)
        slope = factor / np.sqrt(variance + F(1e-5))
        p = dense(first, nothing, u, order)
        if order.random() < 0.5:
            q = dense(second * F(0.5), bias, p, order)
            v = q * slope + (shift - centre * slope) if order.random() < 0.5 else (q - centre) * slope + shift
        else:  # merged into the weights
            v = dense(second * F(0.5) * slope[:, None], (bias - centre) * slope + shift, p, order)
        return dense(last, end, np.maximum(v, F(0)) + u, order)

    return model(nodes, constants, ["n", n]), run


def sessions(proto: onnx.ModelProto) -> list[onnxruntime.InferenceSession]:
    made = []
    for level in (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
    ):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level, options.log_severity_level = level, 4
        made.append(
            onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        )
    return made


@pytest.mark.part(8)
@pytest.mark.parametrize("make", [plain, normalised])
@pytest.mark.parametrize("seed", range(12))
def test_every_float32_evaluation_lies_within_the_enclosure(make: Any, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    proto, run = make(rng)
    exact = read_network(save(tmp_path, proto))
    network = in_float32(exact)
    assert network.arithmetic == "float32"
    for _ in range(4):
        x = wild(rng, exact.input_size)
        with np.errstate(all="ignore"):
            for _ in range(4):
                contained(network, x, run(x, rng))
        for session in sessions(proto):
            contained(network, x, session.run(None, {"x": x[None]})[0])
        point = [Fraction(float(v)) for v in x]
        for (low, high), (a, b) in zip(network.evaluate_exact(point), exact.evaluate_exact(point), strict=True):
            assert low <= a <= b <= high, "the exact function is one of those that are covered"


def layers(*given: tuple[Any, Any]) -> Network:
    made = tuple(AffineLayer(np.array(w, float), np.array(b, float)) for w, b in given)
    return Network.of_layers(made, "made by hand", "0" * 64)


CANCELLING = layers(([[1e8, 1.0, -1e8]], [0.0]))
"""1e8 x + y - 1e8 z: at x = z = 1 exactly y, but 0 or 8 or y in float32, by the order."""


def test_an_order_of_summation_that_changes_the_answer_is_enclosed() -> None:
    x, found = np.ones(3, F), set()
    for seed in range(20):
        y = dense(np.array([[1e8, 1, -1e8]], F), np.zeros(1, F), x, np.random.default_rng(seed))
        contained(in_float32(CANCELLING), x, y)
        found.add(float(y[0]))
    assert len(found) > 1, "the orders differ, so this network can tell"


def test_networks_that_differ_in_float32_alone_are_proved_over_the_reals_only() -> None:
    simpler = layers(([[0.0, 1.0, 0.0]], [0.0]))
    lower, upper = [1, 0, 1], [1, 1, 1]
    assert eqspec.verify(CANCELLING, simpler, lower, upper, Epsilon("1e-6")).verdict is Verdict.EQUIVALENT
    rounded = eqspec.verify(CANCELLING, simpler, lower, upper, Epsilon("0.5"), arithmetic="float32", timeout=2)
    assert rounded.verdict is not Verdict.EQUIVALENT
    assert rounded.claim.endswith("in float32")
    loose = eqspec.verify(CANCELLING, simpler, lower, upper, Epsilon(1000), arithmetic="float32", timeout=20)
    assert loose.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("claim", [Epsilon("1e-9"), Top1()])
def test_a_network_is_not_settled_against_itself(claim: Any) -> None:
    rng = np.random.default_rng(3)
    one = layers((rng.normal(size=(6, 3)), rng.normal(size=6)), (rng.normal(size=(2, 6)), rng.normal(size=2)))
    box = [-1, -1, -1], [1, 1, 1]
    assert eqspec.verify(one, one, *box, claim).verdict is Verdict.EQUIVALENT
    assert eqspec.verify(one, one, *box, claim, arithmetic="float32", timeout=1).verdict is not Verdict.EQUIVALENT
    coarse = eqspec.verify(one, one, *box, Epsilon("1e-4"), arithmetic="float32", timeout=20)
    assert coarse.verdict is Verdict.EQUIVALENT


def test_different_means_different_in_every_runtime() -> None:
    first, second = layers(([[1.0]], [0.0])), layers(([[1.0]], [1.0]))
    assert eqspec.verify(first, second, [0], [1], Epsilon("0.5"), arithmetic="float32").verdict is Verdict.DIFFERENT
    barely = eqspec.verify(first, second, [0], [1], Epsilon("0.99999999"), arithmetic="float32", timeout=1)
    assert barely.verdict is Verdict.UNKNOWN
    assert eqspec.verify(first, second, [0], [1], Epsilon("0.99999999")).verdict is Verdict.DIFFERENT


def test_overflow_is_refused() -> None:
    huge = layers(([[1e30]], [0.0]), ([[1e-30]], [0.0]))
    assert eqspec.verify(huge, huge, [0], [1], Epsilon(1), arithmetic="float32").verdict is Verdict.EQUIVALENT
    with pytest.raises(InputError, match="overflow"):
        eqspec.verify(huge, huge, [0], [1e9], Epsilon(1), arithmetic="float32")
    with pytest.raises(NetworkError, match="beyond the range of float32"):
        in_float32(layers(([[1e39]], [0.0])))


def test_a_step_in_between_that_overflows_is_refused(tmp_path: Path) -> None:
    nodes = [node("Mul", ["x", "big"], "h"), node("Mul", ["h", "small"], "y")]
    proto = model(nodes, {"big": np.array([1e30], F), "small": np.array([1e-30], F)}, ["n", 1])
    path = save(tmp_path, proto)
    with np.errstate(all="ignore"):
        assert not np.isfinite(sessions(proto)[0].run(None, {"x": np.array([[1e9]], F)})[0]).all()
    assert eqspec.verify(path, path, [0], [1], Epsilon(1), arithmetic="float32").verdict is Verdict.EQUIVALENT
    with pytest.raises(InputError, match="overflow"):
        eqspec.verify(path, path, [0], [1e9], Epsilon(1e10), arithmetic="float32")


def test_sixteen_bits_and_lost_graphs_are_refused(tmp_path: Path) -> None:
    half = model(
        [node("MatMul", ["x", "w"], "y")], {"w": np.ones((2, 1), np.float16)}, ["n", 2], kind=onnx.TensorProto.FLOAT16
    )
    with pytest.raises(NetworkError, match="16 bits"):
        in_float32(read_network(save(tmp_path, half)))
    folded = CANCELLING.with_layers([replace(CANCELLING.layers[0], bias_error=np.ones(1))])
    with pytest.raises(NetworkError, match="folded"):
        in_float32(folded)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    network = read_network(save(tmp_path, plain(np.random.default_rng(0))[0]))
    save(tmp_path, plain(np.random.default_rng(1))[0])
    with pytest.raises(NetworkError, match="changed"):
        in_float32(network)


def test_zeros_stay_exact() -> None:
    """So that pruned neurons cost nothing."""
    pruned = in_float32(layers(([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0]), ([[1.0, 0.0]], [0.0])))
    first = pruned.layers[0]
    assert first.weight_error is not None
    assert first.bias_error is not None
    assert (first.weight_error[1] == 0).all()
    assert first.bias_error[1] == 0
    assert first.weight_error[0, 1] == 0


def test_a_long_sum_in_order_is_enclosed(tmp_path: Path) -> None:
    """2^24 + 1 + ... + 1 from the left never leaves 2^24: the error of one sum grows with its length."""
    weight = np.array([2.0**24, *[1.0] * 4000], F)
    proto = model([node("MatMul", ["x", "w"], "y")], {"w": weight[:, None]}, ["n", len(weight)])
    total = F(0)
    for w in weight:
        total = F(total + w)
    assert float(total) == 2.0**24
    contained(in_float32(read_network(save(tmp_path, proto))), np.ones(len(weight), F), np.array([total]))


@pytest.mark.parametrize("x", [1.0, 3e-39])
def test_underflow_is_enclosed(x: float) -> None:
    """x 1e-25 1e-25 1e30, in a runtime that keeps small numbers, and in one that flushes them and its input to zero."""
    network = in_float32(layers(([[1e-25]], [0.0]), ([[1e-25]], [0.0]), ([[1e30]], [0.0])))
    kept = F(F(F(x) * F(1e-25)) * F(1e-25)) * F(1e30)
    contained(network, np.array([x], F), np.array([kept]))
    contained(network, np.array([x], F), np.zeros(1))


def test_constants_that_a_runtime_computes_are_enclosed(tmp_path: Path) -> None:
    """x ((a + b) - a): over the reals 3 x, in float32 0."""
    nodes = [node("Add", ["a", "b"], "s"), node("Sub", ["s", "a"], "d"), node("Mul", ["x", "d"], "y")]
    proto = model(nodes, {"a": np.array([1e8], F), "b": np.array([3], F)}, ["n", 1])
    network = in_float32(read_network(save(tmp_path, proto)))
    x = np.ones((1, 1), F)
    answers = [session.run(None, {"x": x})[0] for session in sessions(proto)]
    assert any(float(y[0, 0]) != 3 for y in answers)
    for y in answers:
        contained(network, x[0], y)
