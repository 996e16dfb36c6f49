"""Smooth functions, what reduces to them, and subgraphs that are one: against onnxruntime and exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto
from onnx.reference import ReferenceEvaluator

from eqspec.errors import NetworkError
from eqspec.networks import Network, align, match, read_network
from eqspec.networks.agreement import beyond
from eqspec.networks.curves import Curve, Curves, leaky
from eqspec.networks.evaluation import gradient, values
from eqspec.networks.float32 import in_float32, overflow
from eqspec.networks.program import Step, Term, Tile, content, problems
from unit.networks.composed_cases import COMPOSED_CASES
from unit.networks.function_cases import OPERATOR_CASES, RECOGNISED_CASES, REDUCED_CASES, Case, numbers, weights
from unit.networks.models import model, node, save

POINTS = 200
ALL: dict[str, Case] = OPERATOR_CASES | REDUCED_CASES | COMPOSED_CASES
ALL |= {name: case for name, (_, case) in RECOGNISED_CASES.items()}


def operator(name: str) -> str:
    """What a case is about, without its opset."""
    return name.rstrip("0123456789 ")


def answers(proto: ModelProto, points: NDArray[np.float32]) -> NDArray[np.float64]:
    """onnxruntime without optimisations, or the reference evaluator where it does not run the model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    run: Any
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        run = session.run
    except Exception:
        run = ReferenceEvaluator(proto).run
    with np.errstate(all="ignore"):
        return np.stack([np.asarray(run(None, {"x": x})[0]).ravel() for x in points]).astype(np.float64)


@pytest.mark.part(165, name=operator)
@pytest.mark.parametrize("name", ALL)
def test_they_are_read_as_others_run_them(name: str, tmp_path: Path) -> None:
    """At random points of several sizes, where the function has a value; and a wrong answer would be noticed."""
    nodes, constants, shape, opset = ALL[name]
    proto = model(nodes, constants, shape, opset=opset)
    network = read_network(save(tmp_path, proto))
    random = np.random.default_rng(0)
    points = random.normal(size=(POINTS, *shape)) * random.choice([0.1, 1.0, 3.0], size=(POINTS, *[1] * len(shape)))
    points = points.astype(np.float32)
    found, flat = answers(proto, points), points.reshape(POINTS, -1).astype(float)
    mine = network.evaluate(flat)
    there = np.isfinite(found).all(axis=1)
    if not any(name.startswith(kind) for kind in ("Log", "Sqrt", "Pow")):  # these have no value at some points
        assert there.all()
    assert there.any()
    np.testing.assert_allclose(mine[there], found[there], rtol=2e-5, atol=2e-5)
    assert beyond(network.steps, flat[there], found[there] + 0.02 * (1 + np.abs(found[there]))) is not None
    for row in np.flatnonzero(there)[:3]:
        exact = network.evaluate_exact([Fraction(x) for x in flat[row].tolist()])
        for (low, high), value in zip(exact, mine[row].tolist(), strict=True):
            assert 0 <= high - low <= Fraction(1, 10**6) * (1 + abs(high))
            assert (
                low - Fraction(1, 10**9) * (1 + abs(low))
                <= Fraction(value)
                <= high + Fraction(1, 10**9) * (1 + abs(high))
            )


@pytest.mark.parametrize("name", RECOGNISED_CASES)
def test_subgraphs_are_one_function(name: str, tmp_path: Path) -> None:
    curve, (nodes, constants, shape, opset) = RECOGNISED_CASES[name]
    network = read_network(save(tmp_path, model(nodes, constants, shape, opset=opset)))
    assert [str(step.function) for step in network.steps] == [curve, "identity"]
    assert network.neurons == 3


def test_what_has_no_jump_left_is_a_line(tmp_path: Path) -> None:
    """sign(x) relu(|x|), as torch writes the sum in the root of an LpPool: x itself, and no function."""
    nodes = [node("Sign", ["x"], "s"), node("Abs", ["x"], "a"), node("Relu", ["a"], "r"), node("Mul", ["s", "r"], "z")]
    proto = model([*nodes, node("Add", ["z", "o"], "w"), node("Tanh", ["w"], "y")], {"o": numbers(0.5)}, (1, 3))
    network = read_network(save(tmp_path, proto))
    assert [str(step.function) for step in network.steps] == ["tanh", "identity"]
    points = np.concatenate([np.random.default_rng(1).normal(size=(20, 3)), np.zeros((1, 3))]).astype(np.float32)
    np.testing.assert_allclose(
        network.evaluate(points.astype(float)), answers(proto, points.reshape(-1, 1, 3)), atol=1e-6
    )


@pytest.mark.parametrize(
    ("nodes", "constants", "functions"),
    [
        # 2 - erf is another gate, a factor of another value is none, and sigmoid(x + 1) is no gate of x
        ([node("Erf", ["x"], "e"), node("Sub", ["o", "e"], "b"), node("Mul", ["x", "b"], "y")], {"o": numbers(2)}, 3),
        ([node("Sigmoid", ["x"], "s"), node("Neg", ["s"], "n"), node("Mul", ["s", "n"], "y")], {}, 2),
        (
            [node("Add", ["x", "o"], "a"), node("Sigmoid", ["a"], "s"), node("Mul", ["x", "s"], "y")],
            {"o": numbers(1)},
            3,
        ),
        (
            [node("Exp", ["x"], "e"), node("Add", ["e", "t"], "b"), node("Log", ["b"], "y")],
            {"t": numbers(2)},
            2,
        ),
    ],
)
def test_what_is_alike_is_not_taken_for_the_same(
    nodes: list[NodeProto], constants: dict[str, Any], functions: int, tmp_path: Path
) -> None:
    proto = model(nodes, constants, (1, 3))
    network = read_network(save(tmp_path, proto))
    points = np.random.default_rng(1).normal(size=(20, 1, 3)).astype(np.float32)
    np.testing.assert_allclose(
        network.evaluate(points.reshape(20, -1).astype(float)), answers(proto, points), atol=1e-5
    )
    assert sum(step.function != "identity" for step in network.steps) == functions


def test_the_tanh_form_of_gelu_carries_what_its_constants_differ_by(tmp_path: Path) -> None:
    """The function of the file, with its float32 constants, lies in what is read of it; at 60 digits."""
    _, (nodes, constants, shape, opset) = RECOGNISED_CASES["gelu by tanh and power"]
    network = read_network(save(tmp_path, model(nodes, constants, shape, opset=opset)))
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(400):
        slope, cubic = (mpmath.mpf(float(constants[name])) for name in "sk")
        for x in np.linspace(-9, 9, 61).tolist():
            exact = mpmath.mpf(x) / 2 * (1 + mpmath.tanh(slope * (x + cubic * mpmath.mpf(x) ** 3)))
            for low, high in network.evaluate_exact([Fraction(x)] * 3):
                ends = [mpmath.mpf(end.numerator) / end.denominator for end in (low, high)]
                assert ends[0] <= exact <= ends[1]
                assert high - low < Fraction(1, 10**7)


@pytest.mark.parametrize(
    ("nodes", "constants", "words"),
    [
        ([node("Pow", ["x", "x"], "y")], {}, "base and exponent both depend"),
        ([node("Celu", ["x"], "y", alpha=-1.0)], {}, "has to be positive"),
        ([node("Log", ["c"], "l"), node("Mul", ["x", "l"], "y")], {"c": numbers(-1, 1, 2)}, "outside of its domain"),
        ([node("LpNormalization", ["x"], "y", p=3)], {}, "a norm of order 3"),
        ([node("Softmax", ["x"], "s", axis=0), node("Neg", ["s"], "y")], {}, "Softmax over 1 of 3"),
    ],
)
def test_what_is_refused_says_why(
    nodes: list[NodeProto], constants: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkError) as caught:
        read_network(save(tmp_path, model(nodes, constants, (1, 3))))
    assert words in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize("root", [node("Pow", ["c", "half"], "r"), node("Sqrt", ["c"], "r")])
@pytest.mark.parametrize(("number", "known"), [(16.0, True), (0.0, True), (2.0, False), (16.000002, False)])
def test_roots_without_rounding_are_whole_numbers(number: float, known: bool, root: NodeProto, tmp_path: Path) -> None:
    """As vision transformers compute the sides of their grid; of another root it is not known where a runtime is."""
    nodes = [root, node("Cast", ["r"], "i", to=7), node("Cast", ["i"], "f", to=1), node("Add", ["x", "f"], "y")]
    proto = model(nodes, {"c": numbers(number), **({"half": numbers(0.5)} if root.op_type == "Pow" else {})}, (1, 1))
    if not known:
        with pytest.raises(NetworkError, match="may be rounded"):
            read_network(save(tmp_path, proto))
        return
    found = read_network(save(tmp_path, proto)).evaluate_exact([Fraction(1, 2)])
    assert found == [(Fraction(1, 2) + int(number**0.5),) * 2]
    assert answers(proto, np.array([[[0.5]]], np.float32)).ravel().tolist() == [0.5 + number**0.5]


def test_constants_through_functions_are_enclosed(tmp_path: Path) -> None:
    """exp, log and the like of stored numbers: 3 numbers at 60 digits."""
    mpmath = pytest.importorskip("mpmath")
    given = numbers(0.5, 1.25, 3)
    oracles = {"Exp": mpmath.exp, "Log": mpmath.log, "Tanh": mpmath.tanh, "Erf": mpmath.erf, "Sin": mpmath.sin}
    for kind, oracle in oracles.items():
        nodes = [node(kind, ["c"], "e"), node("Add", ["x", "e"], "y")]
        network = read_network(save(tmp_path, model(nodes, {"c": given}, (1, 3))))
        assert not network.exact
        with mpmath.workprec(300):
            for number, (low, high) in zip(given.tolist(), network.evaluate_exact([Fraction(0)] * 3), strict=True):
                exact = oracle(mpmath.mpf(number))
                assert (
                    mpmath.mpf(low.numerator) / low.denominator
                    <= exact
                    <= mpmath.mpf(high.numerator) / high.denominator
                )
                assert high - low < Fraction(1, 10**14)


def test_float32_takes_pieces_and_says_what_it_assumes_of_smooth_functions(tmp_path: Path) -> None:
    pieces = [node("MatMul", ["x", "w"], "a"), node("Clip", ["a", "l", "h"], "b"), node("Abs", ["b"], "c")]
    pieces.append(node("LeakyRelu", ["c"], "y", alpha=0.1))
    constants: dict[str, Any] = {"w": weights(3, 3), "l": numbers(-1), "h": numbers(2)}
    proto = model(pieces, constants, (1, 3))
    rounded = in_float32(read_network(save(tmp_path, proto)))
    points = np.random.default_rng(0).normal(size=(40, 1, 3)).astype(np.float32)
    flat = points.reshape(40, 3).astype(float)
    assert beyond(rounded.steps, flat, answers(proto, points)) is None
    assert overflow(rounded, np.full(3, 4.0), np.full(3, 4.0)) is None
    assert not any("assumed" in note for note in rounded.notes)
    smooth = in_float32(read_network(save(tmp_path, model([node("Tanh", ["x"], "y")], {}, (1, 3)))))
    assert any("within 2^-20" in note for note in smooth.notes)


CURVES = [
    Curves.all(Curve("tanh")),
    Curves.all(Curve("log")),
    Curves.all(leaky(0.1)),
    Curves.of_rows([leaky(0.1), leaky(0.2), Curve("sigmoid"), leaky(0.1), leaky(0.1), Curve("reciprocal")]),
]


def bent(random: np.random.Generator, function: Any, rows: int = 6, positive: bool = True) -> Network:
    """Two steps with a function, whose argument is positive on positive inputs."""
    first, last = (random.uniform(0.1, 1.0, size=shape) for shape in ((rows, 4), (3, rows)))
    if not positive:
        first, last = first - 0.5, last - 0.5
    steps = (
        Step((Term(-1, Tile.dense(first)),), random.uniform(0.1, 1, size=rows), function=function),
        Step(
            (Term(0, Tile.dense(last)), Term(-1, Tile.dense(random.normal(size=(3, 4))))), np.zeros(3), None, "identity"
        ),
    )
    return Network(steps, 4, "made", "0")


@pytest.mark.parametrize("function", CURVES, ids=str)
def test_matched_and_padded_programs_compute_what_they_did(function: Curves) -> None:
    """Permuted, rescaled, with more rows or another function: each network stays what it is, wherever it stands."""
    random = np.random.default_rng(3)
    a = bent(random, function)
    order = random.permutation(6)
    hidden, last = a.steps
    moved = Step(
        (Term(-1, Tile.dense(np.ascontiguousarray(hidden.terms[0].tile.weight[0][order]))),),
        np.ascontiguousarray(hidden.bias[order]),
        function=function.taken(order),
    )
    reading = Tile.dense(np.ascontiguousarray(last.terms[0].tile.weight[0][:, order]))
    b = Network((moved, replace(last, terms=(Term(0, reading), last.terms[1]))), 4, "moved", "1")
    others = [b, bent(random, Curves.all(Curve("sqrt")), 4), bent(random, "relu", 7)]
    if function.uniform is not None:
        others.append(bent(random, function, 9))
    point = [Fraction(n, 7) for n in (3, 1, 5, 9)]
    for other in others:
        for first, second in (align(a, other), match(a, other)[:2]):
            first, second = align(first, second)
            assert [s.function == "identity" for s in first.steps] == [s.function == "identity" for s in second.steps]
            assert [s.rows for s in first.steps] == [s.rows for s in second.steps]
            assert not [*problems(first.steps, 4), *problems(second.steps, 4)]
            for before, after in ((a, first), (other, second)):
                for (low, high), (after_low, after_high) in zip(
                    before.evaluate_exact(point), after.evaluate_exact(point), strict=True
                ):
                    assert max(low, after_low) <= min(high, after_high)
                    assert after_high - after_low <= high - low + Fraction(1, 10**9)
    first, second = match(a, b)[:2]
    if function.uniform is not None:  # the permutation is found
        np.testing.assert_allclose(first.steps[0].bias, second.steps[0].bias)


@pytest.mark.parametrize("function", CURVES, ids=str)
def test_gradients_are_slopes(function: Curves) -> None:
    network = bent(np.random.default_rng(5), function)
    x = np.random.default_rng(6).uniform(0.2, 1, size=(4, 1))
    before = values(network.steps, x)
    for output in range(3):
        change = np.zeros((3, 1))
        change[output] = 1.0
        found = gradient(network.steps, before, change, 4)[:, 0]
        for i in range(4):
            step = np.zeros((4, 1))
            step[i] = 1e-6
            ahead, behind = (network.evaluate((x + s * step).T)[0, output] for s in (1, -1))
            assert found[i] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("slopes", [[], [0.3] * 4, [0.7, -0.2, 0.7, 0.1, -0.2], [3.0, 2.0, 1.0]])
def test_functions_of_numbers_are_those_of_rows(slopes: list[float]) -> None:
    """In the same order, too, since what is printed follows it; each is made once."""
    asked: list[float] = []

    def curve(slope: float) -> Curve:
        asked.append(slope)
        return leaky(slope)

    found, expected = Curves.of_numbers(np.array(slopes), curve), Curves.of_rows([leaky(s) for s in slopes])
    assert found.kinds == expected.kinds
    assert np.array_equal(found.of_row, expected.of_row)  # type: ignore[arg-type]
    assert len(asked) == len(set(slopes))


def test_programs_with_other_functions_have_other_content() -> None:
    random = np.random.default_rng(0)
    made = [bent(np.random.default_rng(0), f) for f in (*CURVES, Curves.all(leaky(0.2)), "relu")]
    assert len({b"".join(content(network.steps)) for network in made}) == len(made)
    assert Curves.all(Curve("tanh")) != "tanh"
    assert Curves.of_rows([leaky(0.1)] * 3) == Curves.all(leaky(0.1))
    wrong = {
        "unknown function": Curve("sine"),
        "has 1 parameters": Curve("elu"),
        "knots have to grow": Curve("pieces", (2.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0)),
        "not a finite float": Curve("elu", (float("nan"),)),
    }
    for words, curve in wrong.items():
        with pytest.raises(NetworkError, match=words):
            bent(random, Curves.all(curve))
    with pytest.raises(NetworkError, match="kinds of"):
        bent(random, Curves((Curve("tanh"), Curve("exp")), np.zeros(5, np.int32)))


def test_the_means_of_large_groups_are_a_step_of_their_own(tmp_path: Path) -> None:
    """2,500 entries in one group would be 6 million numbers in place of their one mean; against the definition."""
    made = model(
        [node("GroupNormalization", ["x", "scale", "bias"], "n", num_groups=1), node("Flatten", ["n"], "y")],
        {"scale": np.array([2.0, 1.0], np.float32), "bias": np.array([0.5, -1.0], np.float32)},
        [1, 2, 50, 25],
        opset=21,
    )
    network = read_network(save(tmp_path, made))
    assert max(term.tile.index.size for step in network.steps for term in step.terms) < 10_000
    x = np.random.default_rng(0).normal(1.0, 2.0, (1, 2500))
    normal = ((x - x.mean()) / np.sqrt(x.var() + np.float32(1e-5))).reshape(2, -1)
    wanted = normal * [[2.0], [1.0]] + [[0.5], [-1.0]]
    assert np.allclose(network.evaluate(x), wanted.reshape(1, -1))


def test_a_computed_constant_of_half_precision_is_widened(tmp_path: Path) -> None:
    """A cast to a type that holds the one before rounds nothing; one to a narrower type may, and is refused."""

    def written(kind: int) -> str:
        nodes = [node("Sqrt", ["two"], "r"), node("Cast", ["r"], "w", to=kind), node("Mul", ["x", "w"], "y")]
        return save(tmp_path, model(nodes, {"two": np.array([2.0], np.float16)}, [1, 3]))

    found = read_network(written(1)).evaluate(np.ones((1, 3)))
    assert np.allclose(found, np.sqrt(2.0), atol=1e-3)
    nodes = [node("Sqrt", ["two"], "r"), node("Cast", ["r"], "w", to=10), node("Cast", ["w"], "v", to=1)]
    nodes.append(node("Mul", ["x", "v"], "y"))
    with pytest.raises(NetworkError, match="rounded by a cast to float16"):
        read_network(save(tmp_path, model(nodes, {"two": np.array([2.0], np.float32)}, [1, 3])))
