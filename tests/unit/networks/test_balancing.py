"""Products with factors of unlike scales: the same function for every balance, and far tighter bounds for the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.networks import Network, read_network
from eqspec.networks.balancing import MOST, balance, balanced, certain, from_bounds, radii_at, sums_of
from eqspec.networks.exact import IntegerStep, evaluate
from eqspec.networks.factors import products
from eqspec.networks.network import LargestIntermediate
from eqspec.networks.program import Step, Term, Tile
from eqspec.property import Epsilon
from eqspec.run import core
from eqspec.run.balances import balances_in
from eqspec.run.core_pairs import pair_of
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from programs import sums
from small_tasks import space
from small_tasks import task as task_of
from unit.networks.models import model, node, save

SCALES = (1e-4, 1.0, 100.0, 1e4)


def weights(seed: int, *shape: int, factor: float = 1.0, off: float = 0.0) -> NDArray[np.float32]:
    """Of a layer, and the same a little off."""
    exact = np.random.default_rng(seed).normal(size=shape) / np.sqrt(shape[0]) * factor
    return np.asarray(exact * (1 + off * np.random.default_rng(seed + 99).normal(size=shape)), np.float32)


def gated(folder: Path, scale: float, off: float = 0.0, hidden: int = 6) -> Network:
    """(x A) relu(x B) C, where B is large and C small by the same scale."""
    nodes = [
        node("MatMul", ["x", "a"], "u"), node("MatMul", ["x", "b"], "h"), node("Relu", ["h"], "v"),
        node("Mul", ["u", "v"], "p"), node("MatMul", ["p", "c"], "y"),
    ]  # fmt: skip
    constants: dict[str, Any] = {
        "a": weights(1, 4, hidden, off=off),
        "b": weights(2, 4, hidden, factor=scale, off=off),
        "c": weights(3, hidden, 3, factor=1 / scale, off=off),
    }
    return read_network(save(folder, model(nodes, constants, ["N", 4]), f"{scale}-{off}.onnx"))


def attention(folder: Path, off: float = 0.0) -> Network:
    """One head over four places, with values ten times as large as its shares."""
    nodes = [
        node("MatMul", ["x", "e"], "t0"), node("Reshape", ["t0", "sizes"], "t"),
        node("MatMul", ["t", "q"], "queries"), node("MatMul", ["t", "k"], "keys"), node("MatMul", ["t", "v"], "values"),
        node("Transpose", ["keys"], "turned", perm=[0, 2, 1]), node("MatMul", ["queries", "turned"], "scores"),
        node("Softmax", ["scores"], "shares", axis=-1), node("MatMul", ["shares", "values"], "mixed"),
        node("Flatten", ["mixed"], "flat"), node("MatMul", ["flat", "o"], "y"),
    ]  # fmt: skip
    constants: dict[str, Any] = {
        "e": weights(1, 8, 16, off=off), "sizes": np.array([-1, 4, 4]), "q": weights(2, 4, 4, off=off),
        "k": weights(3, 4, 4, off=off), "v": weights(4, 4, 4, factor=10, off=off), "o": weights(5, 16, 3, off=off),
    }  # fmt: skip
    return read_network(save(folder, model(nodes, constants, ["N", 8]), f"attention-{off}.onnx"))


def asked(first: Network, second: Network, eps: str, radius: Fraction) -> Task:
    size = first.input_size
    ends: dict[str, Any] = {"lower": [-radius] * size, "upper": [radius] * size}
    return task_of(first, second, Epsilon(eps), space=space(size, first.output_size), **ends)


def exactly(network: Network, point: list[Fraction]) -> list[Fraction]:
    """Its outputs in rationals, with squares that nothing rounds."""
    values = [point]
    for step in network.steps:
        now = sums(step, values)
        function = step.function if isinstance(step.function, str) else step.function.kinds[0].name
        values.append([{"relu": max(x, Fraction(0)), "square": x * x, "identity": x}[function] for x in now])
    return values[-1]


def enclosed(network: Network, point: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    return evaluate([IntegerStep(step) for step in network.steps], point)


@pytest.mark.parametrize("by_factors", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_every_balance_is_the_same_function(seed: int, by_factors: bool, tmp_path: Path) -> None:
    """In exact arithmetic, to the last digit: no function here is rounded."""
    random = np.random.default_rng(seed)
    network = gated(tmp_path, SCALES[seed % 4])
    sizes = [network.steps[s].rows for s, _ in products(network.steps)]
    assert sizes == [6]
    for k in (random.integers(-MOST, MOST + 1, 6), np.full(6, MOST), np.full(6, -MOST)):
        made = balanced(network, (k.astype(np.int32),), by_factors=by_factors)
        assert len(made.steps) == len(network.steps) + 2
        for _ in range(5):
            point = [Fraction(int(n), 7) for n in random.integers(-20, 21, 4)]
            assert exactly(made, point) == exactly(network, point)


def test_products_of_matrices_are_the_same_in_enclosures(tmp_path: Path) -> None:
    network = attention(tmp_path)
    pairs = products(network.steps)
    assert len(pairs) >= 2
    random = np.random.default_rng(0)
    chosen = tuple(random.integers(-3, 4, network.steps[s].rows).astype(np.int32) for s, _ in pairs)
    made = balanced(network, chosen)
    assert products(made.steps)
    assert sums_of(network, chosen) != sums_of(network, ())
    for point in ([Fraction(0)] * 8, [Fraction(n, 5) for n in range(8)]):
        for (a, b), (c, d) in zip(enclosed(network, point), enclosed(made, point), strict=True):
            assert max(a, c) <= min(b, d)


def test_nothing_is_balanced_where_nothing_is_given(tmp_path: Path) -> None:
    network = gated(tmp_path, 1.0)
    assert balanced(network, ()) is network
    zeros = balanced(network, (np.zeros(6, np.int32),))
    assert [step.function for step in zeros.steps] == [step.function for step in network.steps]


def read_otherwise(network: Network, change: Callable[[Term, int, int], list[Term]]) -> list[Step]:
    """The program with other terms where the squares of its product are read."""
    ((first, second),) = products(network.steps)
    return [
        replace(step, terms=tuple(made for term in step.terms for made in change(term, first, second)))
        if second in step.sources
        else step
        for step in network.steps
    ]


OTHERWISE: dict[str, Callable[[Term, int, int], list[Term]]] = {
    "half": lambda t, s, _: [Term(t.source, replace(t.tile, weight=t.tile.weight * 0.5)) if t.source == s else t],
    "the same sign": lambda t, s, _: [Term(t.source, replace(t.tile, weight=-t.tile.weight)) if t.source == s else t],
    "other rows": lambda t, _, second: [
        Term(t.source, replace(t.tile, index=np.ascontiguousarray(np.roll(t.tile.index, 1))))
        if t.source == second
        else t
    ],
    "twice": lambda t, s, _: [t, t] if t.source == s else [t],
    "one alone": lambda t, _, second: [] if t.source == second else [t],
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_squares_that_are_read_in_another_way_are_no_product(name: str, tmp_path: Path) -> None:
    """With weights that are not opposite, from other rows, or twice: s^2 and t^2 must stay what they are."""
    network = gated(tmp_path, 1.0)
    steps = read_otherwise(network, OTHERWISE[name])
    assert products(steps) == []
    made = (replace(network, steps=tuple(steps)),)
    assert balance(made, radii_at(made, lambda: np.zeros((2, 4)))) == ((),)


def test_weights_that_may_not_be_opposite_are_left_alone(tmp_path: Path) -> None:
    """Where no float holds them they are known to within an error alone, and may differ in the last digit."""
    network = gated(tmp_path, 1e4)

    def uncertain(tile: Tile) -> Tile:
        return Tile(tile.index, tile.weight, np.full_like(tile.weight, 1e-17))

    steps = [
        replace(step, terms=tuple(Term(t.source, uncertain(t.tile)) for t in step.terms)) for step in network.steps
    ]
    made = replace(network, steps=tuple(steps))
    assert len(products(made.steps)) == 1
    assert certain(made.steps) == [False]
    inputs = np.random.default_rng(0).normal(size=(8, 4))
    assert balance((made,), radii_at((made,), lambda: inputs)) == ((),)
    assert [step.function for step in balanced(made, (np.full(6, 3, np.int32),)).steps] == [
        step.function for step in made.steps
    ]


def test_float32_is_left_alone(tmp_path: Path) -> None:
    """There a runtime rounds u v itself, and s and t stand for nothing that it computes."""
    network = gated(tmp_path, 1e4)
    sizes = tuple(LargestIntermediate(np.ones(step.rows), 1.0) for step in network.steps)
    rounding = replace(network, arithmetic="float32", largest_intermediates=sizes)
    inputs = np.random.default_rng(0).normal(size=(8, 4))
    assert balance((rounding,), radii_at((rounding,), lambda: inputs)) == ((),)


def test_factors_that_seem_to_be_zero_follow_the_others() -> None:
    bounds = [np.array([[1.0, 0.0, 1.0], [4.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 0.0, 4.0]])]
    none, two, seen = (np.zeros(3, np.int32),), (np.full(3, 2, np.int32),), [np.zeros((2, 3))]
    (made,) = from_bounds(bounds, [True], none, seen)
    assert made.tolist() == [1, 1, 1]
    assert from_bounds([np.full((4, 3), np.nan)], [True], two, seen)[0].tolist() == [2, 2, 2]
    assert from_bounds([np.zeros((4, 3))], [True], none, seen) == ()
    assert from_bounds(bounds, [False], none, seen) == ()


def test_factors_that_do_not_vary_leave_digits() -> None:
    """A flag that is 1 in the whole box, but for the rounding of its bound, times a number."""
    bounds = [np.array([[1e-16], [0.1], [1e-16], [1e-3]])]
    (made,) = from_bounds(bounds, [True], (np.zeros(1, np.int32),), [np.array([[1.0], [16.0]])])
    assert 2 < made[0] <= 10


def test_a_factor_that_varies_more_than_was_seen_is_followed() -> None:
    """As what rounding changes, which is 0 at some inputs and half a step at others."""
    bounds = [np.array([[80.0], [1e-4], [80.0], [1e-4]])]
    (made,) = from_bounds(bounds, [True], (np.full(1, 13, np.int32),), [np.array([[1e-12], [1e-4]])])
    assert made[0] == 3  # with p = 2^13 so far, u is 80 / 2^13 and v is 2^13 / 10^4


@pytest.mark.parametrize("scale", SCALES)
def test_a_gated_layer_of_any_scale_is_proved_on_the_first_box(scale: float, tmp_path: Path) -> None:
    """With one p for all scales, a factor 100 took ten thousand boxes and 10 000 stayed undecided."""
    task = asked(gated(tmp_path, scale), gated(tmp_path, scale, 1e-3), "0.1", Fraction(1))
    result = Runner(Options(threads=1, boxes=1)).run(task)
    assert result.verdict is Verdict.EQUIVALENT


def test_bounds_of_attention_are_a_fraction_of_what_they_were(tmp_path: Path) -> None:
    first, second = attention(tmp_path), attention(tmp_path, 1e-3)
    task = asked(first, second, "0.000001", Fraction(1, 20))
    one, other = balances_in(task, first, second)
    claim = core.Property.epsilon(1e-6, "linf", [0, 1, 2])
    bounds = []
    for pair in (pair_of(first, second), pair_of(balanced(first, one), balanced(second, other))):
        settings = Options(boxes=1).settings(task)
        found = core.solve(pair, task.lower, task.upper, claim, settings).initial_bound
        assert found is not None
        bounds.append(found)
    assert bounds[1] < bounds[0] / 2


def test_radii_are_those_of_the_factors(tmp_path: Path) -> None:
    """They hold what the factors were seen to do, and are not much more where the layer is affine."""
    first, second = gated(tmp_path, 100.0), gated(tmp_path, 100.0, 1e-2)
    task = asked(first, second, "0.1", Fraction(1))
    (radii,) = core.factor_radii(pair_of(first, second), task.lower, task.upper, sums_of(first, ()), 1 << 28)
    assert radii is not None
    exact = np.abs(np.asarray(weights(1, 4, 6), float)).sum(axis=0)
    other = np.abs(np.asarray(weights(1, 4, 6, off=1e-2), float)).sum(axis=0)
    assert np.allclose(radii[0], np.maximum(exact, other), rtol=1e-12)
    apart = np.abs(np.asarray(weights(1, 4, 6), float) - np.asarray(weights(1, 4, 6, off=1e-2), float)).sum(axis=0)
    assert np.allclose(radii[2], apart, rtol=1e-9)
    assert core.factor_radii(pair_of(first, second), task.lower, task.upper, sums_of(first, ()), 1) == [None]


SHARES = [
    node("Exp", ["x"], "e"),
    node("ReduceSum", ["e", "axes"], "total", keepdims=1),
    node("Sub", ["three", "e"], "d"),
]
"""What quotients are made of: e^x, their sum, and 3 - e^x."""
QUOTIENTS = {
    "a small share of a small sum": [*SHARES[:2], node("Div", ["e", "total"], "y")],
    "a small number that two large ones leave": [
        *SHARES, node("Add", ["d", "e"], "r"), node("Sub", ["r", "three"], "none"), node("Add", ["none", "e"], "back"),
        node("Div", ["back", "total"], "y"),
    ],
    "large times small": [*SHARES[:1], node("Neg", ["x"], "m"), node("Exp", ["m"], "i"), node("Mul", ["e", "i"], "y")],
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTIENTS)
@pytest.mark.parametrize("far", [-1.0, -20.0, -40.0])
def test_a_small_factor_keeps_its_digits_beside_a_large_one(name: str, far: float, tmp_path: Path) -> None:
    """In floats, as classifiers normalise scores far from their data; squares of the sums would leave nothing."""
    constants: dict[str, Any] = {"axes": np.array([-1]), "three": np.float32(3)}
    used = {i for n in QUOTIENTS[name] for i in n.input}
    constants = {n: a for n, a in constants.items() if n in used}
    network = read_network(save(tmp_path, model(QUOTIENTS[name], constants, ["N", 3])))
    inputs = np.random.default_rng(0).uniform(far - 1, far, size=(4, 3))
    exact = [[float((a + b) / 2) for a, b in network.evaluate_exact([Fraction(x) for x in row], 400)] for row in inputs]
    np.testing.assert_allclose(network.evaluate(inputs), exact, rtol=1e-12)
