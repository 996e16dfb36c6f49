"""Ways in which verifiers have been wrong, each as the smallest case that would show it here.

Most of these drive the core with a callback that refuses every witness. Then nothing can end the search early by
chance, and a claim that is false must stay `unknown` whatever the settings: any `equivalent` is a wrong proof.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from acceptance.every_mode import (
    DOMAINS,
    SMALLEST,
    Array,
    LpAnswer,
    Weights,
    layer,
    modes,
    refuse,
    settings,
    verdicts,
)
from core_pairs import pair
from eqspec import _core
from eqspec.lp import HighsSolver
from eqspec.networks.network import Network
from eqspec.property import Confidence, Epsilon, Linear, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.directed_rounding import float_above, float_below
from eqspec.tasks.verdict import Verdict
from small_tasks import network, task


def random_pair(rng: np.random.Generator, inputs: int) -> tuple[Weights, Weights]:
    """A network and a disturbed copy."""
    sizes = [inputs, *(int(n) for n in rng.integers(2, 7, size=rng.integers(1, 4))), 3]
    reference = [
        (rng.normal(size=(m, n)) * 1.5 / math.sqrt(n), rng.normal(size=m) * 0.3) for n, m in itertools.pairwise(sizes)
    ]
    noise = float(rng.choice([0.01, 0.1, 0.5]))
    return reference, [(w + noise * rng.normal(size=w.shape), b) for w, b in reference]


def outputs(layers: Weights, points: Array) -> Array:
    """The network at points (N, I)."""
    for number, (weight, bias) in enumerate(layers):
        points = (points if number == 0 else np.maximum(points, 0.0)) @ weight.T + bias
    return points


# What is false at a known point is proved in no mode.


@pytest.mark.part(3)
@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_violation_is_never_proved_away(seed: int, inputs: int) -> None:
    """Ten inputs are beyond those that are halved only: bounds are contracted under the assumed violation."""
    rng = np.random.default_rng([seed, inputs])
    reference, candidate = random_pair(rng, inputs)
    centre, radius = rng.normal(size=inputs), rng.uniform(0.1, 1.0, size=inputs)
    box = (centre - radius, centre + radius)
    points = np.clip(centre + radius * np.sign(rng.normal(size=(2000, inputs))), *box)
    f, g = outputs(reference, points), outputs(candidate, points)
    networks = pair(reference, candidate)
    difference = np.abs(f - g)
    slack = 1e-7

    claims = [
        _core.Property.epsilon(float(difference.max()) - slack, "linf", [0, 1, 2]),
        _core.Property.epsilon(float(difference.sum(1).max()) - slack, "l1", [0, 1, 2]),
        _core.Property.epsilon(float(np.sqrt((difference**2).sum(1)).max()) - slack, "l2", [0, 1, 2]),
        _core.Property.linear(
            np.array([1.0, -0.5, 0.0]),
            np.array([0.0, 0.25, -1.0]),
            float((g @ [1.0, -0.5, 0.0] + f @ [0.0, 0.25, -1.0]).max()) - slack,
            False,
        ),
    ]
    best, chosen = np.sort(f, axis=1), f.argmax(1)
    overtaken = g.max(1) - np.take_along_axis(g, chosen[:, None], 1)[:, 0] > 1e-6
    if overtaken.any():
        margin = float((best[:, -1] - best[:, -2])[overtaken].max()) - slack
        claims.append(_core.Property.top1(max(margin, 0.0)))
        shares = np.exp(f - f.max(1, keepdims=True))
        delta = float((1 / shares.sum(1))[overtaken].max()) - slack
        claims.append(_core.Property.confidence(math.log(delta / (1 - delta)) - 1e-9, delta))
    for claim in claims:
        assert verdicts(networks, box, claim) == {"unknown"}


@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("seed", range(2))
def test_constraints_through_the_violating_point_prove_nothing(seed: int, inputs: int) -> None:
    """The only violating point lies on the edge of every constraint, and of nothing else that may be cut off."""
    rng = np.random.default_rng([seed, inputs, 1])
    reference, candidate = random_pair(rng, inputs)
    ends = (-np.ones(inputs), np.ones(inputs))
    points = np.sign(rng.normal(size=(2000, inputs)))
    difference = np.abs(outputs(reference, points) - outputs(candidate, points)).max(1)
    worst = points[difference.argmax()]
    rows = rng.normal(size=(2, inputs))
    corner = [Fraction(x) for x in worst.tolist()]
    sides = [sum((Fraction(a) * x for a, x in zip(row, corner, strict=True)), Fraction(0)) for row in rows.tolist()]
    constraints = (rows, np.array([float_above(side) for side in sides]))
    claim = _core.Property.epsilon(float(difference.max()) - 1e-7, "linf", [0, 1, 2])
    for mode in modes():
        solution = _core.solve(
            pair(reference, candidate),
            *ends,
            claim,
            settings(**mode),
            constraints=constraints,
            answer_lps=HighsSolver().answer,
            confirm=refuse,
        )
        assert solution.verdict == "unknown"


def test_many_inputs_are_split_by_phase_and_nothing_false_is_proved() -> None:
    """Beyond 64 inputs the signs of neurons are assumed, one by one, instead of halving the box."""
    inputs, taken_apart = 70, 0
    for seed in range(2):
        rng = np.random.default_rng([seed, inputs])
        reference, candidate = random_pair(rng, inputs)
        points = np.sign(rng.normal(size=(2000, inputs)))
        difference = outputs(reference, points) - outputs(candidate, points)
        output = int(np.abs(difference).max(0).argmax())
        claim = _core.Property.epsilon(float(np.abs(difference[:, output]).max()) - 1e-7, "linf", [output])
        ends = (-np.ones(inputs), np.ones(inputs))
        solution = _core.solve(pair(reference, candidate), *ends, claim, settings(boxes=15), confirm=refuse)
        assert solution.verdict == "unknown"
        taken_apart += solution.splits
    assert taken_apart > 0


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_one_float_below_the_truth_is_never_proved(seed: int) -> None:
    """All neurons active: the largest difference is known exactly, and only honest rounding keeps bounds above it."""
    rng = np.random.default_rng(seed)
    inputs, depth = int(rng.choice([1, 3, 10])), int(rng.integers(1, 4))
    sizes = [inputs, *(int(n) for n in rng.integers(1, 5, size=depth - 1)), 1]
    low = rng.normal(size=inputs)
    high = low + rng.uniform(0, 1, size=inputs) * (rng.random(inputs) > 0.2)
    networks: list[Weights] = []
    for _ in range(2):
        size, layers = np.maximum(np.abs(low), np.abs(high)), []
        for number, (n, m) in enumerate(itertools.pairwise(sizes)):
            weight = rng.normal(size=(m, n)) * 2.0 ** rng.integers(-30, 30)
            bias = np.abs(weight) @ size * 1.01 if number < depth - 1 else rng.normal(size=m)
            size = np.abs(weight) @ size + bias
            layers.append((weight, bias))
        networks.append(layers)
    slopes, offset = exact_difference(networks[0], networks[1])
    corner = [Fraction(float(u if s > 0 else v)) for s, v, u in zip(slopes, low, high, strict=True)]
    truth = offset + sum(s * x for s, x in zip(slopes, corner, strict=True))
    bound = float_below(truth)
    if bound == truth:
        bound = math.nextafter(bound, -math.inf)
    claim = _core.Property.linear(np.array([-1.0]), np.array([1.0]), bound, False)
    assert verdicts(pair(*networks), (low, high), claim, boxes=5) == {"unknown"}


def exact_difference(reference: Weights, candidate: Weights) -> tuple[list[Fraction], Fraction]:
    """Slopes and offset of f - g where every neuron is active, one output."""
    ends: list[tuple[list[Fraction], Fraction]] = []
    for layers in (reference, candidate):
        row, offset = [Fraction(1)], Fraction(0)
        for weight, bias in reversed(layers):
            offset += sum((r * Fraction(b) for r, b in zip(row, bias.tolist(), strict=True)), Fraction(0))
            columns = weight.T.tolist()
            row = [sum((r * Fraction(w) for r, w in zip(row, c, strict=True)), Fraction(0)) for c in columns]
        ends.append((row, offset))
    (a, c), (b, d) = ends
    return [x - y for x, y in zip(a, b, strict=True)], c - d


# NaN, infinity, denormal and huge numbers.


@pytest.mark.parametrize("weight", [1e300, 1.7e308])
def test_overflow_is_no_proof(weight: float) -> None:
    """f - g = w (w x - w x') overflows to inf - inf: a NaN bound, which must not read as 'excluded'."""
    reference = [layer([[weight], [-weight]]), layer([[weight, weight]])]
    candidate = [layer([[weight], [weight]]), layer([[weight, -weight]])]
    box = (np.array([0.5]), np.array([1.0]))
    for claim in (
        _core.Property.epsilon(1.0, "linf", [0]),
        _core.Property.epsilon(1.0, "l1", [0]),
        _core.Property.epsilon(1.0, "l2", [0]),
        _core.Property.linear(np.array([0.0]), np.array([1.0]), 1.0, False),
    ):
        assert verdicts(pair(reference, candidate), box, claim) == {"unknown"}


def test_denormal_weights_count() -> None:
    """The only difference is a weight of 5e-324, blown up behind it; what underflows is paid for with 2^-900."""
    reference = [layer([[SMALLEST]]), layer([[2.0**1000]]), layer([[2.0**60]])]
    candidate = [layer([[0.0]]), layer([[2.0**1000]]), layer([[2.0**60]])]
    difference = SMALLEST * 2.0**1000 * 2.0**60  # a power of two, exact
    box = (np.array([0.0]), np.array([1.0]))
    below = _core.Property.epsilon(math.nextafter(difference, 0), "linf", [0])
    assert verdicts(pair(reference, candidate), box, below) == {"unknown"}
    claim = Epsilon(Fraction(difference) * 2**240)
    assert Runner(Options(threads=1)).run(task(network(*reference), network(*candidate), claim)).verdict == "equivalent"


def test_coefficients_that_underflow_on_the_way_back_are_paid_for() -> None:
    """0.7 * 1.5e-323 rounds to 1e-323, 5 % too small, and weighs 1e300 x."""
    first = np.zeros((1, 9))
    first[0, 0] = 1e300
    reference = [(first, np.zeros(1)), layer([[3 * SMALLEST]]), layer([[0.7]])]
    candidate = [(first, np.zeros(1)), layer([[0.0]]), layer([[0.7]])]
    largest = Fraction(0.7) * 3 * Fraction(SMALLEST) * 2 * Fraction(1e300)
    claim = _core.Property.epsilon(float(largest * Fraction(98, 100)), "linf", [0])
    assert verdicts(pair(reference, candidate), (np.ones(9), np.full(9, 2.0)), claim) == {"unknown"}


def test_numbers_that_are_none_are_refused() -> None:
    good = [layer([[1.0]])]
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            pair([layer([[wrong]])], good)
        with pytest.raises(ValueError, match="finite"):
            _core.solve(
                pair(good, good),
                np.array([0.0]),
                np.array([wrong]),
                _core.Property.top1(None),
                settings(),
                confirm=refuse,
            )
    with pytest.raises(ValueError, match="finite"):
        _core.Property.epsilon(math.nan, "linf", [0])


# Boxes without width.


def test_a_point_is_decided() -> None:
    """lo = hi everywhere leaves no generator at all."""
    apart, near = network(layer([[1.0, 1.0]])), network(layer([[1.0, 1.5]]))
    for eps, verdict in ((Fraction(2), "different"), (Fraction(4), "equivalent")):
        point = [Fraction(3), Fraction(5)]
        assert Runner(Options(threads=1)).run(task(apart, near, Epsilon(eps), point, point)).verdict == verdict


def test_constant_inputs_carry_their_rounding() -> None:
    """A third of the weight sits behind an input fixed to 1/3, which no float equals."""
    third = Fraction(1, 3)
    reference, candidate = network(layer([[1.0, 3.0]])), network(layer([[1.0, 0.0]]))  # apart by exactly 1
    low, high = [Fraction(-1), third], [Fraction(1), third]
    runner = Runner(Options(threads=1, boxes=200))
    assert runner.run(task(reference, candidate, Epsilon(1 - Fraction(1, 10**30)), low, high)).verdict != "equivalent"
    assert runner.run(task(reference, candidate, Epsilon(Fraction(101, 100)), low, high)).verdict == "equivalent"


# Witnesses.


def test_a_witness_outside_the_exact_box_is_none() -> None:
    """The claim fails only between 1/3 and the next float: inside the rounded box, outside the region."""
    above = math.nextafter(float(Fraction(1, 3)), 1.0)
    reference, candidate = network(layer([[3.0]])), network(layer([[0.0]]))
    made = task(reference, candidate, Epsilon(1), [Fraction(0)], [Fraction(1, 3)])
    assert made.upper[0] == above
    replay = Runner(Options(threads=1)).replay(made)
    assert 3 * Fraction(above) > 1
    assert not replay.confirm(np.array([above]))
    assert Runner(Options(threads=1, boxes=500)).run(made).verdict != "different"


def test_a_violation_smaller_than_the_replays_own_rounding_is_seen_and_its_absence_too() -> None:
    """The difference is 1 + 2^-80, or 1 - 2^-80: floats see 1 for both."""
    tiny = 2.0**-80
    reference = network(layer([[1.0, tiny]]))
    candidate = network(layer([[0.0, 0.0]]))
    one = np.array([1.0, 1.0])
    beyond = task(reference, candidate, Epsilon(1), [1, 1], [1, 1])
    within = task(network(layer([[1.0, -tiny]])), candidate, Epsilon(1), [1, 1], [1, 1])
    runner = Runner(Options(threads=1, boxes=50))
    assert runner.replay(beyond).confirm(one)
    assert not runner.replay(within).confirm(one)
    assert runner.run(beyond).verdict != "equivalent"
    assert runner.run(within).verdict != "different"


# Callbacks.


def undecided() -> tuple[_core.Pair, tuple[Array, Array], _core.Property]:
    """A true Top-1 query that needs linear programs: the candidate is the reference at another scale."""
    rng = np.random.default_rng(5)
    reference = [(rng.normal(size=(6, 3)), rng.normal(size=6)), (rng.normal(size=(3, 6)), rng.normal(size=3))]
    candidate = [reference[0], (2 * reference[1][0], 2 * reference[1][1])]
    return pair(reference, candidate), (-np.ones(3), np.ones(3)), _core.Property.top1(0.5)


def test_an_exception_in_a_callback_is_raised() -> None:
    networks, box, claim = undecided()

    def fail(*_: object) -> bool:
        raise ZeroDivisionError("in a callback")

    with pytest.raises(ZeroDivisionError):
        _core.solve(networks, *box, claim, settings(dual=False), answer_lps=fail, confirm=refuse)  # type: ignore[arg-type]
    apart = pair([layer([[1.0]])], [layer([[-1.0]])])
    with pytest.raises(ZeroDivisionError):
        _core.solve(
            apart, np.array([1.0]), np.array([2.0]), _core.Property.epsilon(0.5, "linf", [0]), settings(), confirm=fail
        )


def mangled(kind: str) -> Callable[[list[_core.LinearProgram]], list[LpAnswer]]:
    """A solver whose answers are spoilt."""
    solver, rng = HighsSolver(), np.random.default_rng(0)
    if kind == "stale answers":
        kept: list[LpAnswer] = []

        def stale(programs: list[_core.LinearProgram]) -> list[LpAnswer]:
            kept.extend(solver.answer(programs))
            return kept[: len(programs)]

        return stale

    def spoil(values: Array) -> Array:
        match kind:
            case "nan":
                return np.full_like(values, np.nan)
            case "infinite":
                return np.full_like(values, np.inf)
            case "signs":
                return -values
            case "huge":
                return values * 1e300
            case "denormal":
                return values * 1e-310
            case _:
                return rng.normal(size=values.shape) * 10.0 ** rng.integers(-3, 4)

    def answer(programs: list[_core.LinearProgram]) -> list[LpAnswer]:
        answers: list[LpAnswer] = []
        for duals, points, _ in solver.answer(programs):
            rows = np.abs(rng.normal(size=duals.shape[1]))
            answers.append((spoil(duals), spoil(points), spoil(rows)))  # and a ray that says: contradictory
        return answers[:-1] if kind == "too few" else answers

    return answer


SPOILT = ["nan", "infinite", "signs", "huge", "denormal", "noise", "too few", "stale answers"]


@pytest.mark.part(8)
@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("kind", SPOILT)
def test_a_lying_solver_proves_nothing(kind: str, inputs: int) -> None:
    """A false claim stays unproved, and a true one is at worst undecided."""
    networks, box, claim = undecided()
    assert verdicts(networks, box, claim, mangled(kind), boxes=100) <= {"equivalent", "unknown"}
    rng = np.random.default_rng(11)
    reference, candidate = random_pair(rng, inputs)
    points = rng.uniform(-1, 1, size=(2000, inputs))
    f, g = outputs(reference, points), outputs(candidate, points)
    chosen, best = f.argmax(1), np.sort(f, axis=1)
    overtaken = g.max(1) - np.take_along_axis(g, chosen[:, None], 1)[:, 0] > 1e-6
    assert overtaken.any()
    margin = float((best[:, -1] - best[:, -2])[overtaken].max()) * 0.999
    wrong = _core.Property.top1(margin)
    ends = (-np.ones(inputs), np.ones(inputs))
    assert verdicts(pair(reference, candidate), ends, wrong, mangled(kind)) == {"unknown"}


def test_the_spoilt_answers_are_asked_for() -> None:
    """Otherwise the test above would pass without a single linear program."""
    networks, box, claim = undecided()
    asking = settings(boxes=400, dual=False)
    solution = _core.solve(networks, *box, claim, asking, answer_lps=HighsSolver().answer, confirm=refuse)
    assert solution.verdict == "equivalent"
    assert solution.stages["program"] > 0


# Options.


def test_no_option_turns_a_verdict_round() -> None:
    rng = np.random.default_rng(3)
    found: set[Verdict] = set()
    for claim in (
        Epsilon("0.4"),
        Epsilon("0.4", "l1"),
        Top1(),
        Confidence("0.8"),
        Linear((1, 0, 0), (-1, 0, 0), "0.3"),
    ):
        for inputs in (2, 9):
            reference, candidate = random_pair(rng, inputs)
            low, high = [Fraction(-1, 5)] * inputs, [Fraction(1, 5)] * inputs
            made = task(network(*reference), network(*candidate), claim, low, high)
            seen = {
                Runner(Options(threads=threads, domain=domain, lp=lp, boxes=100)).run(made).verdict
                for threads in (1, 2)
                for domain in DOMAINS
                for lp in (True, False)
            }
            assert len(seen - {Verdict.UNKNOWN}) <= 1, f"{claim} {inputs}"
            found |= seen
    assert found >= {Verdict.EQUIVALENT, Verdict.DIFFERENT}


def test_networks_compare_in_both_directions() -> None:
    """Distance is symmetric, so no verdict may depend on who is the reference."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        reference, candidate = (network(*layers) for layers in random_pair(rng, 3))
        claim, options = Epsilon("0.5"), Options(threads=1, boxes=300)
        both: list[tuple[Network, Network]] = [(reference, candidate), (candidate, reference)]
        seen = {Runner(options).run(task(f, g, claim)).verdict for f, g in both}
        assert len(seen - {Verdict.UNKNOWN}) <= 1
