"""Networks with functions other than ReLU in the auditor: what it reads, encloses, takes for facts, and refuses."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
import onnx
import onnxruntime
import pytest

from eqspec.audit.bounds import Reached
from eqspec.audit.claim import Obligation, Region, Rows
from eqspec.audit.functions import BENT, Curve, Curves, Relaxation
from eqspec.audit.reading import Float32, Pair
from eqspec.audit.reading.program import Step
from eqspec.audit.rounding import Refused
from eqspec.audit.witness import values_at
from eqspec.certificates.facts import Behind, FactNumbers
from unit.certificates.dense import steps as dense_steps
from unit.certificates.graphs import read
from unit.certificates.true_functions import CURVES, ball, contains, kind_of, name_of, true_value
from unit.networks.models import model, node

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Exact = list[tuple[Any, Any]]
OUTPUTS: Rows = [{0: Fraction(1)}, {1: Fraction(1)}]
DEFINED = [
    c for c in CURVES if c.name not in ("log", "sqrt", "reciprocal", "power") or c.parameters[:1] in ((3.0,), (4.0,))
]


JUMPING = ("floor", "guarded", "levels", "multiples", "sign", "thresholded")


@pytest.fixture(autouse=True)
def many_digits() -> None:
    flint.ctx.prec = 200
    np.seterr(all="ignore")


def weights(rng: np.random.Generator, sizes: tuple[int, ...]) -> Exact:
    """Layers of these widths, of exact floats."""
    return [(rng.normal(size=(m, n)) * 1.5 / np.sqrt(n), 0.5 * rng.normal(size=m)) for n, m in pairwise(sizes)]


def moved(layers: Exact, rng: np.random.Generator, off: float) -> Exact:
    return [(w + off * rng.normal(size=w.shape), b) for w, b in layers]


def chain(layers: Exact, curves: list[Curves]) -> list[Step]:
    """Steps of dense layers with these functions."""
    whole = [np.concatenate([w, b[:, None]], axis=1) for w, b in layers]
    exact = np.frompyfunc(Fraction, 1, 1)
    made = dense_steps([np.stack([exact(one), exact(0 * one)]) for one in whole])
    return [Step(step.value, f) for step, f in zip(made, [*curves, ()], strict=True)]


def trace(layers: Exact, curves: list[Curves], point: list[Any]) -> list[Any]:
    """Values in front of the functions, in balls, layer by layer."""
    found, now = [], point
    for k, (w, b) in enumerate(layers):
        found.append(
            [sum((ball(a) * v for a, v in zip(row, now, strict=True)), ball(c)) for row, c in zip(w, b, strict=True)]
        )
        if k < len(curves):
            f = curves[k]
            now = [true_value(f[0 if len(f) == 1 else i], v) for i, v in enumerate(found[-1])]
    return found


def quantities(first: list[Any], second: list[Any], point: list[Any]) -> list[Any]:
    """All of them: the inputs, and step by step all x, y and d."""
    found = list(point)
    for x, y in zip(first, second, strict=True):
        found += [*x, *y, *(a - b for a, b in zip(x, y, strict=True))]
    return found


def boxes(pair: Pair, lower: Array, upper: Array) -> Reached:
    rest = np.full((3 * sum(pair.widths), lower.shape[1]), np.inf)
    return Reached(pair, np.concatenate([lower, -rest]), np.concatenate([upper, rest]))


def points(rng: np.random.Generator, lower: Array, upper: Array, count: int) -> list[list[Any]]:
    corners = [np.where(rng.random(len(lower)) < 0.5, lower, upper) for _ in range(count // 2)]
    inside = [
        np.clip(lower + rng.random(len(lower)) * (upper - lower), lower, upper) for _ in range(count - count // 2)
    ]
    return [[ball(v) for v in point] for point in (*corners, *inside)]


def in_units_of_inputs(curves: Curves) -> Curves:
    """What they become beside others."""
    return tuple(Curve("multiples", f.parameters) if f.name == "levels" else f for f in curves)


def partners(curve: Curve, seed: int) -> tuple[np.random.Generator, Exact, Exact, list[Curves], list[Curves]]:
    """Two networks with a function, in one layer of several; the second may have another one there."""
    rng = np.random.default_rng([seed, CURVES.index(curve)])
    first = weights(rng, (3, 6, 5, 2))
    second = moved(first, rng, float(rng.choice([0.0, 1e-7, 0.02, 0.5])))
    several = tuple(DEFINED[i] for i in rng.integers(len(DEFINED), size=5))
    mine: list[Curves] = [(curve,), [(curve,), BENT, several][seed % 3]]
    other = [mine[0] if seed % 4 else (DEFINED[seed % len(DEFINED)],), mine[1]]
    return rng, first, second, mine, other


@pytest.mark.part(45)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("curve", DEFINED, ids=name_of)
def test_enclosures_and_facts_contain_what_happens(curve: Curve, seed: int) -> None:
    """Bounds of everything, and of random quantities from random facts, at inputs in many digits."""
    rng, first, second, mine, other = partners(curve, seed)
    pair = Pair(chain(first, mine), chain(second, other), 3, (OUTPUTS, OUTPUTS))
    given = zip(mine, other, strict=True)
    assert [(step.curves, step.others) for step in pair.steps[:-1]] == [
        both if both[0] == both[1] else tuple(map(in_units_of_inputs, both)) for both in given
    ]
    lower = 0.6 * rng.normal(size=(3, 2))
    upper = lower + rng.choice([0.0, 1e-9, 0.1, 1.0], size=(3, 2))
    reached = boxes(pair, lower, upper)
    for form in (form for step in reached.after.values() for form in step.forms):
        assert not (form.size < np.abs(form.z).sum(axis=2) + form.err).any(), "what rounding is charged with"
    assert not reached.empty.any()
    numbers = FactNumbers(pair.widths, [Behind.of(step) for step in pair.steps], 0, 0)
    total, failing = numbers.of_region.stop, Obligation(((2, 0, 1, Fraction(-(10**12))),))
    region = Region({"region": {"lo_exact": ["-9"] * 3, "hi_exact": ["9"] * 3, "A": [], "b": [], "strict": []}}, 3)
    b = seed  # both boxes are enclosed; of each seed, one is looked at closely
    one = boxes(pair, lower[:, b : b + 1], upper[:, b : b + 1])
    facts, kinds = one.facts(failing, region, np.arange(total))
    good = np.flatnonzero(np.isfinite(facts.z).all(axis=(1, 2)) & np.isfinite(facts.err[:, 0]))
    assert len(good) > 0.8 * total or curve.name in JUMPING
    wanted = rng.integers(1, len(one.low) + 1, size=40) * rng.choice([-1, 1], size=40)
    multipliers = rng.exponential(0.3, size=(40, len(good))) * (rng.random((40, len(good))) < 0.05)
    multipliers[:, kinds[good] == 1] *= rng.choice([-1, 1], size=(40, int((kinds[good] == 1).sum())))
    bounds = one.least(wanted, good, multipliers, failing, region)
    alone = one.least(np.zeros(len(good), int), good, np.eye(len(good)), failing, region)
    assert not (alone > 0.0).any(), "no fact that holds contradicts anything"
    for point in points(rng, lower[:, b], upper[:, b], 5):
        values = quantities(trace(first, mine, point), trace(second, other, point), point)
        for q, value in enumerate(values):
            assert contains(reached.low[q, b], value, reached.high[q, b]), q
        for number, bound in zip(wanted, bounds, strict=True):
            value = values[abs(number) - 1] * (1 if number > 0 else -1)
            assert not np.isfinite(bound) or not value < ball(bound), number


@pytest.mark.part(36, curve=kind_of)
@pytest.mark.parametrize("curve", DEFINED, ids=name_of)
def test_the_same_network_differs_by_nothing(curve: Curve) -> None:
    rng = np.random.default_rng(CURVES.index(curve))
    layers = weights(rng, (3, 6, 5, 2))
    one, other = (chain(layers, [(curve,), (curve,)]) for _ in range(2))
    pair = Pair(one, other, 3, (OUTPUTS, OUTPUTS))
    reached = boxes(pair, np.full((3, 1), -0.5), np.full((3, 1), 0.5))
    low, high = reached.last()
    assert (low[2] == 0.0).all()
    assert (high[2] == 0.0).all()


@pytest.mark.parametrize("curve", [c for c in CURVES if c not in DEFINED], ids=name_of)
def test_outside_of_a_domain_nothing_is_proved(curve: Curve) -> None:
    """Also where both networks are the same, and where the value is one that no function is asked for."""
    layers = [(np.eye(2), np.zeros(2)), (np.ones((2, 2)), np.zeros(2))]
    for other in (layers, [(np.eye(2), np.full(2, 1e-9)), layers[1]]):
        pair = Pair(chain(layers, [(curve,)]), chain(other, [(curve,)]), 2, (OUTPUTS, OUTPUTS))
        low, high = boxes(pair, np.full((2, 1), -1.0), np.full((2, 1), 1.0)).last()
        if curve.parameters[:1] in ((0.0,), (1.0,)):
            continue
        assert not np.isfinite(low).any()
        assert not np.isfinite(high).any()
        low, high = boxes(pair, np.full((2, 1), 0.5), np.full((2, 1), 1.0)).last()
        assert np.isfinite([low, high]).all()


@pytest.mark.part(38, curve=kind_of)
@pytest.mark.parametrize("curve", CURVES, ids=name_of)
def test_a_step_that_stands_alone_spoils_nothing(curve: Curve) -> None:
    """Beside it are points of its domain, though 0 may be none."""
    rng = np.random.default_rng(3)
    first = [(np.full((4, 3), 0.25), np.full(4, 2.0)), *weights(rng, (4, 2))]
    second = [first[0], *[(np.full((4, 4), 0.25), np.full(4, 2.0))] * 1, *weights(rng, (4, 2))]
    thin = [(first[0][0][:2], first[0][1][:2]), *weights(rng, (2, 2))]
    for other in (second, thin):
        pair = Pair(chain(first, [(curve,)]), chain(other, [(curve,)] * (len(other) - 1)), 3, (OUTPUTS, OUTPUTS))
        low, high = boxes(pair, np.full((3, 1), -0.1), np.full((3, 1), 0.1)).last()
        assert np.isfinite(low[:2]).all()
        assert np.isfinite(high[:2]).all()


def in_onnxruntime(proto: onnx.ModelProto, x: Array) -> Array:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    return np.asarray(session.run(None, {"x": x.astype(np.float32)})[0], float).ravel()


def whole(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


X = ["x"]
ONE: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], tuple[Curve, ...]]] = {
    **{name: ([node(name, X, "y")], {}, (Curve(kind),)) for name, kind in {
        "Sigmoid": "sigmoid", "Tanh": "tanh", "Softplus": "softplus", "Softsign": "softsign", "Exp": "exp",
        "Erf": "erf", "Sin": "sin", "Cos": "cos", "Atan": "atan", "Mish": "mish", "Sign": "sign",
        "Floor": "floor",
    }.items()},
    "Elu": ([node("Elu", X, "y", alpha=0.5)], {}, (Curve("elu", (0.5,)),)),
    "Celu": ([node("Celu", X, "y", alpha=2.0)], {}, (Curve("celu", (2.0,)),)),
    "Selu": ([node("Selu", X, "y", alpha=1.5, gamma=0.5)], {}, (Curve("selu", (1.5, 0.5)),)),
    "ThresholdedRelu": ([node("ThresholdedRelu", X, "y", alpha=0.5)], {}, (Curve("thresholded", (0.5,)),)),
    "HardSwish": ([node("HardSwish", X, "y")], {}, (Curve("hardswish", (float(np.float32(1 / 6)), 0.5)),)),
    "Gelu": ([node("Gelu", X, "y")], {}, (Curve("gelu"),)),
    "Gelu by tanh": ([node("Gelu", X, "y", approximate="tanh")], {}, (Curve("gelu_tanh"),)),
    "Ceil": ([node("Ceil", X, "y")], {}, (Curve("floor"),)),
    "LeakyRelu": ([node("LeakyRelu", X, "y", alpha=0.25)], {}, (Curve("pieces", (1.0, 0.0, 0.25, 1.0, 0.0)),)),
    "Abs": ([node("Abs", X, "y")], {}, (Curve("pieces", (1.0, 0.0, -1.0, 1.0, 0.0)),)),
    "Clip": ([node("Clip", ["x", "a", "b"], "y")], {"a": np.float32(-0.5), "b": np.float32(0.75)},
             (Curve("pieces", (2.0, -0.5, 0.75, 0.0, 1.0, 0.0, -0.5)),)),
    "HardSigmoid": ([node("HardSigmoid", X, "y", alpha=0.25)], {},
                    (Curve("pieces", (2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0)),)),
    "Pow": ([node("Pow", ["x", "p"], "y")], {"p": whole(2.0)}, (Curve("square"),)),
    "cube": ([node("Pow", ["x", "p"], "y")], {"p": np.float32(3.0)}, (Curve("power", (3.0,)),)),
    "roots": ([node("Exp", X, "e"), node("Sqrt", ["e"], "s"), node("Log", ["s"], "l"), node("Reciprocal", ["e"], "r"),
               node("Sum", ["s", "l", "r"], "y")], {}, tuple(map(Curve, ("exp", "sqrt", "log", "reciprocal")))),
    "SiLU": ([node("Sigmoid", X, "s"), node("Mul", ["x", "s"], "y")], {}, (Curve("silu"),)),
    "QuickGELU": ([node("Mul", ["x", "k"], "m"), node("Sigmoid", ["m"], "s"), node("Mul", ["s", "x"], "y")],
                  {"k": np.float32(1.702)}, (Curve("silu"),)),
    "GELU of torch": ([node("Div", ["x", "r"], "d"), node("Erf", ["d"], "e"), node("Add", ["e", "one"], "p"),
                       node("Mul", ["x", "p"], "m"), node("Mul", ["m", "half"], "y")],
                      {"r": np.float32(2.0**0.5), "one": np.float32(1), "half": np.float32(0.5)}, (Curve("gelu"),)),
    "softplus, as torch writes it": (
        [node("Softplus", X, "s"), node("Greater", ["x", "c"], "g"), node("Where", ["g", "x", "s"], "y")],
        {"c": np.float32(0.75)}, (Curve("guarded", (0.75,)),)),
    "softplus of another number": (
        [node("Mul", ["x", "c"], "h"), node("Softplus", ["h"], "s"), node("Greater", ["x", "c"], "g"),
         node("Where", ["g", "x", "s"], "y")],
        {"c": np.float32(0.75)}, tuple(map(Curve, ("softplus", "sign", "relu", "square", "square")))),
    "softplus where the number is larger": (
        [node("Softplus", X, "s"), node("Greater", ["x", "c"], "g"), node("Where", ["g", "s", "x"], "y")],
        {"c": np.float32(0.75)}, tuple(map(Curve, ("softplus", "sign", "relu", "square", "square")))),
    "softplus where another number is larger": (
        [node("Neg", X, "h"), node("Softplus", X, "s"), node("Greater", ["h", "c"], "g"),
         node("Where", ["g", "x", "s"], "y")],
        {"c": np.float32(0.75)}, tuple(map(Curve, ("softplus", "sign", "relu", "square", "square")))),
    "a product": ([node("Sin", X, "s"), node("Mul", ["x", "s"], "y")], {},
                  tuple(map(Curve, ("sin", "square", "square")))),
    "a square": ([node("Mul", ["x", "x"], "y")], {}, (Curve("square"),)),
    "a quotient": ([node("Exp", X, "e"), node("Div", ["x", "e"], "y")], {},
                   tuple(map(Curve, ("exp", "reciprocal", "square", "square")))),
}  # fmt: skip
"""Nodes, constants, and the functions of the steps, in order."""


@pytest.mark.parametrize("name", ONE)
def test_operators_are_read_as_others_compute_them(name: str) -> None:
    nodes, constants, curves = ONE[name]
    proto = model(nodes, constants, (1, 5), opset=22)
    found = read(proto, 5)
    assert [curve for step in found.steps() for curve in step.curves] == list(curves)
    rng = np.random.default_rng(4)
    for x in (rng.normal(size=(1, 5)), 3.0 * rng.normal(size=(1, 5)), np.array([[0.0, -0.5, 0.5, 1.0, -3.0]])):
        x = x.astype(np.float32)
        values = values_at(found, [Fraction(float(v)) for v in x.ravel()])
        expected = in_onnxruntime(proto, x)
        np.testing.assert_allclose([float(low) for low, _ in values], expected, rtol=1e-5, atol=3e-6)
        assert all(high - low <= Fraction(1, 10**9) for low, high in values)


def test_slopes_of_channels_are_functions_of_rows() -> None:
    proto = model([node("PRelu", ["x", "a"], "y")], {"a": whole(0.5, 0.0, 1.0).reshape(3, 1, 1)}, (1, 3, 2, 2))
    (step, last) = read(proto, 12).steps()
    assert not last.curves
    assert [c.parameters[2] for c in step.curves] == [0.5] * 4 + [0.0] * 4 + [1.0] * 4
    x = np.random.default_rng(1).normal(size=(1, 3, 2, 2))
    values = values_at(read(proto, 12), [Fraction(float(v)) for v in x.astype(np.float32).ravel()])
    np.testing.assert_allclose([float(v) for v, _ in values], in_onnxruntime(proto, x), rtol=1e-6)


def test_softplus_beside_a_threshold_of_more_axes_keeps_them() -> None:
    nodes = [node("Softplus", X, "s"), node("Greater", ["x", "c"], "g"), node("Where", ["g", "x", "s"], "w"),
             node("Transpose", ["w"], "y", perm=[2, 0, 1])]  # fmt: skip
    proto = model(nodes, {"c": whole(0.75).reshape(1, 1, 1)}, (1, 5), opset=22)
    x = np.array([[0.0, -0.5, 0.75, 1.0, -3.0]])
    values = values_at(read(proto, 5), [Fraction(float(v)) for v in x.ravel()])
    np.testing.assert_allclose([float(low) for low, _ in values], in_onnxruntime(proto, x), rtol=1e-5)


REFUSED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "an exponent that varies": ([node("Pow", ["x", "x"], "y")], {}),
    "a clip the wrong way": ([node("Clip", ["x", "a", "b"], "y")], {"a": np.float32(1), "b": np.float32(0)}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_by_name(name: str) -> None:
    nodes, constants = REFUSED[name]
    with pytest.raises(Refused):
        read(model(nodes, constants, (1, 5), opset=22), 5).steps()


@pytest.mark.parametrize("name", ["SiLU", "a product", "a quotient", "roots"])
def test_float32_knows_no_products_of_values_and_nothing_without_a_bound(name: str) -> None:
    nodes, constants, _ = ONE[name]
    with pytest.raises(Refused, match="in float32"):
        read(model(nodes, constants, (1, 5), opset=22), 5, Float32).steps()


def test_float32_knows_what_nothing_rounds() -> None:
    for name in ("Abs", "Clip", "LeakyRelu"):
        nodes, constants, _ = ONE[name]
        assert read(model(nodes, constants, (1, 5), opset=22), 5, Float32).steps()


def test_many_functions_in_one_step_are_those_of_their_rows() -> None:
    rng = np.random.default_rng(9)
    rows = tuple(DEFINED[i] for i in rng.integers(len(DEFINED), size=30))
    low = rng.normal(size=(2, 30, 4))
    high = low + rng.random((2, 30, 4))
    every, lam = Relaxation(rows, 30), rng.normal(size=(2, 30, 4))
    offset, slopes, chosen = every.offset(lam, low, high), every.slopes(low, high), every.chosen(low, high)
    for i, curve in enumerate(rows):
        part, own = (slice(None), slice(i, i + 1)), Relaxation((curve,), 1)
        assert (own.offset(lam[part], low[part], high[part]).low == offset.low[part]).all()
        assert (own.slopes(low[part], high[part]).high == slopes.high[part]).all()
        assert (own.chosen(low[part], high[part]) == chosen[:, :, i : i + 1]).all()
        assert every.of(np.array([i])).curves == (curve,)
