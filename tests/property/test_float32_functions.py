"""What `arithmetic float32` assumes of functions: runtimes keep to it, and what is proved with it holds of them.

The oracles are onnxruntime with and without its fusions, and the reference evaluator of ONNX. They know nothing of the
enclosures; the true functions are scipy's in float64, whose errors are far below what is assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto
from onnx.reference import ReferenceEvaluator
from scipy import special

import eqspec
from breadth import some
from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from eqspec.networks.operators import OPERATORS
from eqspec.networks.roundoff import _OPERATIONS, DECIDING, EXACT, FUNCTIONS, UNKNOWN
from eqspec.networks.runtime_functions import MISSED, TIMES_X
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from property.test_float32 import sessions
from unit.networks.models import model, node, save

Single = NDArray[np.float32]
Double = NDArray[np.float64]
F = np.float32
_SELU = float(F(1.67326319217681884765625)), float(F(1.05070102214813232421875))


def _below(x: Double) -> Double:
    return np.asarray(np.expm1(np.minimum(x, 0.0)))


TRUE: dict[str, Callable[[Double], Double]] = {
    "Atan": np.arctan, "Cos": np.cos, "Erf": special.erf, "Exp": np.exp, "Sigmoid": special.expit, "Sin": np.sin,
    "Softplus": lambda x: np.logaddexp(0.0, x), "Softsign": lambda x: x / (1 + np.abs(x)), "Tanh": np.tanh,
    "Elu": lambda x: np.maximum(x, 0) + _below(x), "Celu": lambda x: np.maximum(x, 0) + _below(x),
    "Selu": lambda x: _SELU[1] * (np.maximum(x, 0) + _SELU[0] * _below(x)), "Sqrt": np.sqrt,
    "Gelu": lambda x: x * special.ndtr(x), "Mish": lambda x: x * np.tanh(np.logaddexp(0.0, x)),
    "HardSwish": lambda x: x * np.clip(x * float(F(1 / 6)) + 0.5, 0, 1),
}  # fmt: skip
GATED = {"Gelu", "HardSwish", "Mish"}


class Runtimes:
    """What runtimes answer for a model."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self._all: list[Any] = [*sessions(proto), ReferenceEvaluator(proto)]

    def __call__(self, x: Single) -> list[Double]:
        with np.errstate(all="ignore"):
            return [np.asarray(one.run(None, {"x": x})[0], np.float64) for one in self._all]


@pytest.mark.parametrize("kind", TRUE)
def test_runtimes_keep_to_what_is_assumed(kind: str) -> None:
    """Over a cover of moderate numbers, and of all sizes where float32 holds the result."""
    far = np.geomspace(1e-30, 1e30, 4_001)
    x = np.unique(np.concatenate([np.linspace(-30, 30, 100_001), far, -far]).astype(F))
    if kind in ("Cos", "Sin"):
        x = x[np.abs(x) < 1e5]
    x = x[x < 80] if kind == "Exp" else np.abs(x) if kind == "Sqrt" else x
    proto = model([node(kind, ["x"], "y")], {}, ["n"], opset=22)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        true = TRUE[kind](wide)
    allowed = TIMES_X * np.abs(wide) if kind in GATED else 1.0 + np.abs(true)
    for found in Runtimes(proto)(x):
        assert (np.abs(found - true) <= 0.5 * MISSED * allowed + 2.0**-126).all(), "half of it is left for others"


def by_hand(kind: str, x: str, y: str) -> list[NodeProto]:
    """A function as exporters write it out."""
    match kind:
        case "silu":
            return [node("Sigmoid", [x], f"{y}s"), node("Mul", [x, f"{y}s"], y)]
        case "gelu":
            nodes = [node("Div", [x, "root"], f"{y}d"), node("Erf", [f"{y}d"], f"{y}e")]
            nodes += [node("Add", [f"{y}e", "one"], f"{y}a"), node("Mul", [x, f"{y}a"], f"{y}m")]
            return [*nodes, node("Mul", [f"{y}m", "half"], y)]
        case "mish":
            nodes = [node("Softplus", [x], f"{y}p"), node("Tanh", [f"{y}p"], f"{y}t")]
            return [*nodes, node("Mul", [x, f"{y}t"], y)]
        case "hardswish":
            nodes = [node("Add", [x, "three"], f"{y}a"), node("Clip", [f"{y}a", "zero", "six"], f"{y}c")]
            return [*nodes, node("Mul", [x, f"{y}c"], f"{y}m"), node("Div", [f"{y}m", "six"], y)]
        case "product":
            return [node("Tanh", [x], f"{y}t"), node("Sin", [x], f"{y}s"), node("Mul", [f"{y}t", f"{y}s"], y)]
        case "cube":
            return [node("Pow", [x, "three"], y)]
        case "softmax":
            return [node("Softmax", [x], f"{y}s"), node("Mul", [f"{y}s", "three"], y)]
        case _:
            return [node(kind, [x], y)]


CONSTANTS = {
    "root": np.sqrt(F(2)), "one": F(1), "half": F(0.5), "three": F(3), "zero": F(0), "six": F(6),
}  # fmt: skip
KINDS = [*TRUE.keys() - {"Sqrt"}, "silu", "gelu", "mish", "hardswish", "product", "cube", "softmax"]
KINDS.sort()


def network_of(kind: str, rng: np.random.Generator) -> onnx.ModelProto:
    """Two layers of one function, with a skip connection."""
    n = 4
    nodes = [node("Gemm", ["x", "w", "b"], "h"), *by_hand(kind, "h", "f"), node("Add", ["f", "x"], "s")]
    nodes += [node("Gemm", ["s", "u", "c"], "g"), *by_hand(kind, "g", "k"), node("MatMul", ["k", "v"], "y")]
    weights = {m: rng.normal(size=(n, n)).astype(F) / 2 for m in "wuv"}
    weights |= {m: rng.normal(size=n).astype(F) / 2 for m in "bc"}
    return model(nodes, {**weights, **{k: np.asarray(v, F) for k, v in CONSTANTS.items()}}, [1, n], opset=22)


@pytest.mark.parametrize("kind", KINDS)
def test_what_runtimes_answer_lies_within_the_enclosure(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    proto = network_of(kind, rng)
    network = in_float32(read_network(save(tmp_path, proto)))
    assert any("assumed of float32" in note for note in network.notes) or kind == "cube"
    runtimes = Runtimes(proto)
    for _ in some(range(12), 6):
        x = rng.normal(size=4).astype(F)
        intervals = network.evaluate_exact([Fraction(float(v)) for v in x])
        widest = max(float(high - low) for low, high in intervals)
        for found in runtimes(x[None]):
            for (low, high), y in zip(intervals, found.ravel().tolist(), strict=True):
                assert low <= Fraction(y) <= high
                assert widest < 2e-3 * max(1.0, abs(y)) or kind in ("Exp", "cube"), "and they are of use"


@pytest.mark.parametrize("kind", ["Tanh", "silu"])
def test_no_distance_is_proved_that_runtimes_exceed(kind: str, tmp_path: Path) -> None:
    """The pair differs by a few units in the last place of a weight."""
    rng = np.random.default_rng(7)
    first = network_of(kind, rng)
    second = onnx.ModelProto()
    second.CopyFrom(first)
    stored = next(t for t in second.graph.initializer if t.name == "u")
    moved = onnx.numpy_helper.to_array(stored) * F(1 + 2e-6)
    stored.CopyFrom(onnx.numpy_helper.from_array(moved, "u"))
    a, b = (save(tmp_path, proto, name) for proto, name in ((first, "a.onnx"), (second, "b.onnx")))
    x = rng.uniform(-0.05, 0.05, size=(60, 1, 4)).astype(F)
    one, other = Runtimes(first), Runtimes(second)
    most = max(float(np.abs(y - z).max()) for v in x for y in one(v) for z in other(v))
    below = eqspec.verify(a, b, [-0.05] * 4, [0.05] * 4, Epsilon(most * 0.99), arithmetic="float32", timeout=2)
    assert below.verdict is not Verdict.EQUIVALENT
    above = eqspec.verify(a, b, [-0.05] * 4, [0.05] * 4, Epsilon("1e-3"), arithmetic="float32", timeout=30)
    assert above.verdict is Verdict.EQUIVALENT
    assert "functions within 2^-20" in above.claim


def test_what_cancels_is_not_taken_for_a_function(tmp_path: Path) -> None:
    """x sigmoid(x) + 1e8 - 1e8 is a SiLU over the reals alone."""
    nodes = [*by_hand("silu", "x", "f"), node("Add", ["f", "big"], "a"), node("Sub", ["a", "big"], "y")]
    proto = model(nodes, {"big": np.array(1e8, F)}, [1, 3])
    network = in_float32(read_network(save(tmp_path, proto)))
    x, runtimes = np.array([0.3, -1.2, 2.5], F), Runtimes(proto)
    for found in runtimes(x[None]):
        for (low, high), y in zip(network.evaluate_exact([*map(Fraction, x.tolist())]), found.ravel(), strict=True):
            assert low <= Fraction(float(y)) <= high
            assert high - low > 1


def fraction(kind: str) -> list[NodeProto]:
    """A Sigmoid or SiLU with an exponential, as formulas are written down."""
    grown = [node("Exp", ["x"], "e"), node("Add", ["e", "one"], "d")]
    shrunk = [node("Neg", ["x"], "m"), node("Exp", ["m"], "e"), node("Add", ["one", "e"], "d")]
    forms = {
        "1 / (1 + e^-x)": [*shrunk, node("Div", ["one", "d"], "y")],
        "x / (1 + e^-x)": [*shrunk, node("Div", ["x", "d"], "y")],
        "x (1 + e^-x)^-1": [*shrunk, node("Reciprocal", ["d"], "r"), node("Mul", ["r", "x"], "y")],
        "e^x / (1 + e^x)": [*grown, node("Div", ["e", "d"], "y")],
        "e^x (1 + e^x)^-1": [*grown, node("Reciprocal", ["d"], "r"), node("Mul", ["e", "r"], "y")],
        "x (e^x / (1 + e^x))": [*grown, node("Div", ["e", "d"], "q"), node("Mul", ["x", "q"], "y")],
        "(x e^x) / (1 + e^x)": [*grown, node("Mul", ["x", "e"], "n"), node("Div", ["n", "d"], "y")],
    }
    return forms[kind]


@pytest.mark.parametrize("kind", ["1 / (1 + e^-x)", "x / (1 + e^-x)", "x (1 + e^-x)^-1"])
def test_an_infinity_in_a_denominator_is_0(kind: str) -> None:
    proto = model(fraction(kind), {"one": np.array(1, F)}, [1, 2])
    found = eqspec.verify(proto, proto, [-200] * 2, [200] * 2, Epsilon(1), arithmetic="float32", timeout=20)
    assert found.verdict is Verdict.EQUIVALENT
    far = np.array([[-200, 200], [-89, 89], [-90.5, 87], [-104, 0]], F)
    with np.errstate(all="ignore"):
        true = special.expit(far.astype(np.float64)) * (far if kind.startswith("x") else 1)
    for row, wanted in zip(far, true, strict=True):
        for answer in Runtimes(proto)(row[None]):
            assert (np.abs(answer - wanted) <= MISSED * TIMES_X * np.maximum(1, np.abs(row))).all()


@pytest.mark.parametrize("kind", ["e^x / (1 + e^x)", "e^x (1 + e^x)^-1", "x (e^x / (1 + e^x))", "(x e^x) / (1 + e^x)"])
def test_infinities_that_meet_are_no_function(kind: str) -> None:
    """Over the reals it is a Sigmoid or SiLU, and runtimes answer NaN where the exponential is infinite."""
    proto = model(fraction(kind), {"one": np.array(1, F)}, [1, 2])
    assert any(np.isnan(answer).any() for answer in Runtimes(proto)(np.full((1, 2), 100, F)))
    assert eqspec.verify(proto, proto, [-100] * 2, [100] * 2, Epsilon(1)).verdict is Verdict.EQUIVALENT
    with pytest.raises(eqspec.EqspecError, match=r"reciprocal|overflow"):
        eqspec.verify(proto, proto, [-100] * 2, [100] * 2, Epsilon(1), arithmetic="float32")


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([node("Log", ["x"], "y")], "log"),
        ([node("Tanh", ["x"], "t"), node("Div", ["x", "t"], "y")], "reciprocal"),
        ([node("LayerNormalization", ["x", "s"], "y")], "LayerNormalization"),
        ([node("Einsum", ["x", "s"], "y", equation="ij,j->ij")], "Einsum"),
    ],
    ids=["Log", "Div", "LayerNormalization", "Einsum"],
)
def test_what_nobody_bounds_is_refused(nodes: list[NodeProto], why: str, tmp_path: Path) -> None:
    network = read_network(save(tmp_path, model(nodes, {"s": np.ones(3, F)}, [1, 3])))
    with pytest.raises(NetworkError, match=why):
        in_float32(network)


def test_it_is_said_of_every_operator_what_it_rounds() -> None:
    parts: list[Any] = [set(_OPERATIONS) & set(OPERATORS), DECIDING, EXACT, FUNCTIONS, UNKNOWN]
    assert sum(map(len, parts)) == len(set.union(*parts)), "of one kind only"
    assert set.union(*parts) == set(OPERATORS)
