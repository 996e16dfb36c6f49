"""The auditor's own mathematics against exact evaluation: nothing that happens lies outside of what it says."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit import bounds
from eqspec.audit.bounds import Reached
from eqspec.audit.claim import FIRST, Obligation, Region, Rows
from eqspec.audit.functions.confidence import entropy, ln, log_odds_below
from eqspec.audit.reading import INPUTS, Pair
from eqspec.audit.relu import relu
from eqspec.audit.rounding import Refused, float_above, float_below
from eqspec.certificates.facts import Behind, Fact, FactNumbers
from unit.certificates.dense import steps

Exact = list[tuple[NDArray[Any], NDArray[Any]]]
SEEDS = range(12)
OUTPUTS: Rows = [{0: Fraction(1)}, {1: Fraction(1)}]
"""Two outputs as they are, as rows of a claim; random ones may follow."""


def rational(numbers: Any) -> NDArray[Any]:
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers), object)


def pair_of(rng: np.random.Generator, size: float = 1.0) -> tuple[Exact, Exact]:
    """Two networks of different widths, some neurons pruned, and weights that floats do not hold."""

    def network(hidden: list[int]) -> Exact:
        sizes, made = [3, *hidden, 2], []
        for n, m in pairwise(sizes):
            weight = rational(size * rng.normal(size=(m, n))) / 3
            if rng.random() < 0.5:
                weight[rng.integers(m)] = Fraction(0)
            made.append((weight, rational(rng.normal(size=m)) / 7))
        return made

    return network([6, 5]), network([4, 6])


def trace(layers: Exact, point: list[Fraction]) -> list[list[Fraction]]:
    """Values before ReLU, layer by layer."""
    found, now = [], point
    for weight, bias in layers:
        found.append(
            [sum((w * v for w, v in zip(row, now, strict=True)), b) for row, b in zip(weight, bias, strict=True)]
        )
        now = [max(v, Fraction(0)) for v in found[-1]]
    return found


def points(rng: np.random.Generator, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> list[list[Fraction]]:
    corners = [np.where(rng.random(len(lower)) < 0.5, lower, upper) for _ in range(3)]
    inside = [np.clip(lower + rng.random(len(lower)) * (upper - lower), lower, upper) for _ in range(5)]
    return [[Fraction(v) for v in point] for point in (*corners, *inside)]


def held(layers: Exact, off: Fraction = Fraction(0)) -> list[NDArray[Any]]:
    """The layers as the auditor holds them, every entry off by so much."""
    whole = [np.concatenate([weight, bias[:, None]], axis=1) for weight, bias in layers]
    return [np.stack([layer, 0 * layer + off]) for layer in whole]


def pair_in_step(first: Exact, second: Exact, rows: tuple[Rows, Rows] = (OUTPUTS, OUTPUTS)) -> Pair:
    return Pair(steps(held(first)), steps(held(second)), 3, rows)


def numbers_of(pair: Pair, exact: int, constraints: int) -> FactNumbers:
    return FactNumbers(pair.widths, [Behind.of(step) for step in pair.steps], exact, constraints)


def rows_of(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    """The outputs, then random rows of both networks."""
    made = (
        [*OUTPUTS, *({0: Fraction(rng.normal()), 1: Fraction(rng.normal()) / 3} for _ in range(count))] for _ in "12"
    )
    first, second = made
    return first, second


def quantities(
    first: Exact, second: Exact, point: list[Fraction], pair: Pair, rows: tuple[Rows, Rows] = (OUTPUTS, OUTPUTS)
) -> list[Fraction]:
    """All of them at a point: the inputs, then x, y and d, step by step, the last one the rows of the claim."""
    found = list(point)
    traces = [trace(first, point), trace(second, point)]
    for one, part in zip(traces, rows, strict=True):
        if part != OUTPUTS:
            one.append([sum((c * one[-1][o] for o, c in row.items()), Fraction(0)) for row in part])
    for xs, ys in zip(*(_padded(one, pair) for one in traces), strict=True):
        found += [*xs, *ys, *(v - w for v, w in zip(xs, ys, strict=True))]
    return found


def boxes(pair: Pair, lower: NDArray[np.float64], upper: NDArray[np.float64], leaves: bool = False) -> Reached:
    """The boxes (n, B), of which nothing else is known; as leaves are enclosed, or for rounds."""
    rest = np.full((3 * sum(pair.widths), lower.shape[1]), np.inf)
    return Reached(pair, np.concatenate([lower, -rest]), np.concatenate([upper, rest]), leaves)


@pytest.mark.parametrize("thinner", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_one_choice_of_generators_makes_all_forms(seed: int, thinner: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each generator is told by the form that brings it; with these all forms give what the networks compute.

    Bounds alone would not show that a form has a generator of another one's. So it is with the forms of leaves, which
    are not kept there.
    """
    monkeypatch.setattr(bounds, "relu", lambda known, low, high, within, _: relu(known, low, high, within, thinner))
    rng = np.random.default_rng(seed)
    first, second = pair_of(rng)
    pair, lower = pair_in_step(first, second), rng.normal(size=(3, 1))
    reached = boxes(pair, lower, lower + 1.0)
    for form in (form for step in reached.after.values() for form in step.forms):
        assert (form.size >= np.abs(form.z).sum(axis=2) + form.err).all(), "the size that rounding is charged with"
    brought = 0
    for point in points(rng, lower[:, 0], lower[:, 0] + 1.0):
        values = np.array([float(value) for value in quantities(first, second, point, pair)])
        forms = [(reached.after[INPUTS].rows(np.arange(3)), values[:3])]
        for number, (part, m) in enumerate(zip(reached.parts, pair.widths, strict=True)):
            forms.append((reached.before[number].rows(np.arange(3 * m)), values[part]))
            if pair.steps[number].curves:
                x, y = np.maximum(values[part].reshape(3, m)[:2], 0.0)
                forms.append((reached.after[number].rows(np.arange(3 * m)), np.concatenate([x, y, x - y])))
        known = np.ones(1)
        for form, value in forms:
            for column in range(len(known), form.z.shape[2]):
                rows = np.flatnonzero(form.z[:, 0, column])
                told = (value - form.z[:, 0, :column] @ known)[rows[:1]] / form.z[rows[:1], 0, column]
                known = np.append(known, told if len(rows) else 0.0)
                brought += len(rows)
            found = form.z[:, 0] @ known[: form.z.shape[2]]
            assert (np.abs(found - value) <= form.err[:, 0] + 1e-9 * (1.0 + np.abs(value))).all()
        assert (np.abs(known) <= 1.0 + 1e-9).all()
    assert brought, "nothing was open, and nothing is shown"


@pytest.mark.part(14)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("leaves", [False, True])
def test_enclosures_contain_what_happens(seed: int, size: float, leaves: bool) -> None:
    rng = np.random.default_rng(seed)
    first, second = pair_of(rng, size)
    rows = rows_of(rng, 3)
    pair = pair_in_step(first, second, rows)
    lower = rng.normal(size=(3, 4))
    upper = lower + np.abs(rng.normal(size=(3, 4))) * rng.choice([0.0, 1e-9, 0.3, 2.0], size=(3, 4))
    reached = boxes(pair, lower, upper, leaves)
    assert not reached.empty.any()
    for b in range(4):
        for point in points(rng, lower[:, b], upper[:, b]):
            values = quantities(first, second, point, pair, rows)
            for low, value, high in zip(reached.low[:, b], values, reached.high[:, b], strict=True):
                assert Fraction(low) <= value <= Fraction(high)


def test_leaves_take_the_thinner_form_of_a_difference() -> None:
    """Where most neurons may bend and weights differ by a tenth, X - Y mostly reaches less far than the strip."""
    narrower = wider = 0
    rows: Rows = [{o: Fraction(1)} for o in range(8)]
    for seed in range(2):
        rng = np.random.default_rng(seed)
        layers = [(rng.normal(size=(8, n)) * np.sqrt(2.0 / n), 0.5 * rng.normal(size=8)) for n in (3, 8, 8, 8, 8)]
        first, second = (
            [(rational(w + off * rng.normal(size=w.shape) / np.sqrt(w.shape[1])), rational(b)) for w, b in layers]
            for off in (0.0, 0.1)
        )
        pair, lower = pair_in_step(first, second, (rows, rows)), rng.normal(size=(3, 4))
        (low, high), (least, most) = (boxes(pair, lower, lower + 1.0, leaves).last() for leaves in (True, False))
        share = (high - low)[2] / (most - least)[2]
        narrower, wider = narrower + int((share < 0.99).sum()), wider + int((share > 1.001).sum())
    assert narrower > 8 * (1 + wider)


@pytest.mark.part(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_overflows_is_neither_off_nor_excluded(seed: int) -> None:
    """Bounds that are infinite or not a number say nothing; those that are left still hold."""
    rng = np.random.default_rng(60 + seed)
    first, second = pair_of(rng, 1e150)
    pair = pair_in_step(first, second)
    lower = rng.normal(size=(3, 4))
    upper = lower + rng.choice([0.0, 0.3, 1e10], size=(3, 4))
    with np.errstate(all="ignore"):
        reached = boxes(pair, lower, upper)
    assert not np.isfinite(reached.high).all()
    assert not reached.empty.any()
    for b in range(4):
        for point in points(rng, lower[:, b], upper[:, b]):
            values = quantities(first, second, point, pair)
            for low, value, high in zip(reached.low[:, b], values, reached.high[:, b], strict=True):
                assert low < np.inf or np.isnan(low)
                assert high > -np.inf or np.isnan(high)
                assert not np.isfinite(low) or Fraction(low) <= value
                assert not np.isfinite(high) or value <= Fraction(high)


@pytest.mark.parametrize("seed", SEEDS)
def test_enclosures_contain_layers_that_may_be_off(seed: int) -> None:
    """As by roots, or by the roundings of a runtime: any weights within the radii."""
    rng = np.random.default_rng(40 + seed)
    first, second = pair_of(rng)
    off = Fraction(float(rng.choice([1e-9, 1e-3])))
    pair = Pair(steps(held(first, off)), steps(held(second, off)), 3, (OUTPUTS, OUTPUTS))
    lower = rng.normal(size=(3, 1))
    upper = lower + 0.3

    def moved(layers: Exact) -> Exact:
        shift = np.frompyfunc(lambda v: v + off * int(rng.integers(-1, 2)), 1, 1)
        return [(shift(weight), shift(bias)) for weight, bias in layers]

    reached = boxes(pair, lower, upper)
    for point in points(rng, lower[:, 0], upper[:, 0]):
        values = quantities(moved(first), moved(second), point, pair)
        for low, value, high in zip(reached.low[:, 0], values, reached.high[:, 0], strict=True):
            assert Fraction(low) <= value <= Fraction(high)


@pytest.mark.part(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_facts_hold_and_so_does_what_follows_from_them(seed: int) -> None:
    """Every fact by itself and random quantities with random multipliers, where claim's box and region hold."""
    rng = np.random.default_rng(100 + seed)
    first, second = pair_of(rng)
    rows = rows_of(rng, 3)
    pair = pair_in_step(first, second, rows)
    lower = rng.normal(size=3)
    upper = lower + np.abs(rng.normal(size=3))
    failing = Obligation(((2, 4, 1, Fraction(-4)), (FIRST, 2, 1, Fraction(-2)), (FIRST, 3, -1, Fraction(-2))))
    known = boxes(pair, lower[:, None], upper[:, None])
    low, high = known.low, known.high
    last = slice(-3 * pair.widths[-1], None)
    for ends, box, better in zip((low, high), failing.box(pair.widths[-1]), (np.maximum, np.minimum), strict=True):
        ends[last] = better(ends[last], box.reshape(-1, 1))
    reached, region = Reached(pair, low, high), _region(lower, upper, rng.normal(size=3))
    count, total = 120, numbers_of(pair, exact=0, constraints=1).of_region.stop
    wanted = rng.integers(-len(reached.low), len(reached.low) + 1, size=count)
    chosen = np.sort(rng.choice(total, size=20, replace=False))
    multipliers = np.where(reached_equal(pair, total)[chosen], rng.normal(size=(count, 20)), 0.0)
    multipliers += rng.exponential(0.05, size=(count, 20))
    multipliers = np.where(reached_equal(pair, total)[chosen], multipliers, np.abs(multipliers))
    bounds = reached.least(wanted, chosen, multipliers, failing, region)
    alone = reached.least(np.zeros(total, int), np.arange(total), np.eye(total), failing, region)
    (every, kinds), (some, some_kinds) = (reached.facts(failing, region, r) for r in (np.arange(total), chosen))
    wide = some.z.shape[2]
    assert np.allclose(some.z, every.z[chosen, :, :wide], rtol=1e-12)
    assert not every.z[chosen, :, wide:].any()
    assert (some_kinds == kinds[chosen]).all()
    met = 0
    for point in [p for _ in range(20) for p in points(rng, lower, upper)]:
        values = quantities(first, second, point, pair, rows)
        x, y = values[-3 * pair.widths[-1] :], values[-2 * pair.widths[-1] :]
        slack = [x[4] - y[4] + 4, x[2] + 2, 2 - x[3], Fraction(region.bounds[0]) - _dot(region.rows[0], point)]
        if min(slack) < 0:
            continue
        met += 1
        assert (alone <= 0.0).all(), "no fact that holds contradicts anything"
        for number, bound in zip(wanted, bounds, strict=True):
            value = Fraction(0) if number == 0 else values[abs(number) - 1] * (1 if number > 0 else -1)
            assert Fraction(bound) <= value, number
    assert met > 10 or seed % 4


def test_multipliers_that_prove_nothing_are_refused() -> None:
    """Of an inequality a negative one, of a fact twice or out of order, of no fact, and what is not finite."""
    rng = np.random.default_rng(8)
    pair, lower = pair_in_step(*pair_of(rng)), rng.normal(size=3)
    reached, region = boxes(pair, lower[:, None], lower[:, None] + 1), _region(lower, lower + 1, np.ones(3))
    total = numbers_of(pair, exact=0, constraints=1).of_region.stop
    equal = reached_equal(pair, total)
    (one, other, *_), (equation, *_) = np.flatnonzero(~equal).tolist(), np.flatnonzero(equal).tolist()

    def asked(facts: list[int], multipliers: list[float]) -> None:
        failing = Obligation(((2, 0, 1, Fraction(-4)),))
        reached.least(np.array([1]), np.array(facts), np.array([multipliers]), failing, region)

    asked([one], [1.0])
    asked([one, other], [1.0, 0.0])
    asked([equation], [-1.0])
    for inequality in np.flatnonzero(~equal).tolist():
        with pytest.raises(Refused, match="negative"):
            asked([inequality], [-5e-324])
    for facts in ([one, one], [other, one], [-1]):
        with pytest.raises(Refused, match="twice, or out of order"):
            asked(facts, [1.0] * len(facts))
    for none in (np.inf, np.nan):
        with pytest.raises(Refused, match="not finite"):
            asked([equation], [none])


def reached_equal(pair: Pair, total: int) -> NDArray[np.bool_]:
    """Which facts are equations."""
    numbers, equal = numbers_of(pair, exact=0, constraints=1), np.zeros(total, np.bool_)
    for layer in range(len(pair.widths)):
        equal[numbers.of(layer, Fact.LINK)] = True
    return equal


def _region(lower: NDArray[np.float64], upper: NDArray[np.float64], row: NDArray[np.float64]) -> Region:
    """A box and one constraint through its middle."""
    data = {
        "lo_exact": [str(Fraction(v)) for v in lower],
        "hi_exact": [str(Fraction(v)) for v in upper],
        "A": [[str(Fraction(v)) for v in row]],
        "b": [str(Fraction(float(row @ (lower + upper) / 2 + 0.5)))],
        "strict": [False],
    }
    return Region({"region": data}, 3)


def test_what_is_known_contradicts_what_is_not_so() -> None:
    """Bounds that no input satisfies are noticed; bounds that one satisfies never are."""
    rng = np.random.default_rng(3)
    first, second = pair_of(rng)
    pair = pair_in_step(first, second)
    lower, upper = -np.ones(3), np.ones(3)
    for point in points(rng, lower, upper):
        values = np.array([float(v) for v in quantities(first, second, point, pair)])
        low, high = (np.concatenate([end, values[3:] + off]) for end, off in ((lower, -1e-9), (upper, 1e-9)))
        assert not Reached(pair, low[:, None], high[:, None]).empty[0]
        impossible = high.copy()
        impossible[3 : 3 + pair.widths[0]] = -1e6
        assert Reached(pair, np.minimum(low, impossible)[:, None], impossible[:, None]).empty[0]


def _dot(row: NDArray[np.float64], values: list[Fraction]) -> Fraction:
    return sum((Fraction(a) * v for a, v in zip(row, values, strict=True)), Fraction(0))


def _padded(values: list[list[Fraction]], pair: Pair) -> list[list[Fraction]]:
    return [[*v, *[Fraction(0)] * (m - len(v))] for v, m in zip(values, pair.widths, strict=True)]


def test_functions_are_on_the_safe_side() -> None:
    values = np.array([1e-300, 0.1, 0.5, 0.999, 1.0, 1.001, 7.0, 1e300])
    found, error = ln(values)
    assert (np.abs(found - np.log(values)) <= error + 1e-15 * np.abs(found)).all()
    assert (error < 1e-10).all()
    third = Fraction(1, 3)
    assert Fraction(float_below(third)) < third < Fraction(float_above(third))
    assert float_below(Fraction(10) ** 400) < np.inf
    for delta in (Fraction(1, 10**9), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**12)):
        below = log_odds_below(delta)
        true = np.log(float(delta / (1 - delta)))
        assert true - 1e-12 * (1 + abs(true)) <= below <= true + 1e-12 * (1 + abs(true))


def test_entropy_is_never_too_much() -> None:
    rng = np.random.default_rng(8)
    lam = rng.exponential(size=(50, 4)) * rng.choice([0.0, 1e-300, 1e-9, 1.0, 1e9], size=(50, 4))
    for row, found in zip(lam, entropy(lam), strict=True):
        with localcontext(Context(prec=60)):
            exact = [Decimal(float(v)) for v in row if v > 0.0]
            true = -sum((v * (v / sum(exact)).ln() for v in exact), Decimal(0))
            assert Decimal(float(found)) <= true
            assert Decimal(float(found)) >= true - Decimal("1e-11") * (1 + sum(exact))
