"""What the core gets: a region that contains the task's, demands that imply the task's, pairs made once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.errors import InputError
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run import core, lowering
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.pairs import Pairs
from eqspec.tasks.task import LinearConstraint
from small_tasks import identity, network, space, task

numbers = st.fractions(-100, 100)


class Recorder:
    """Stands in for the core's `Property` and remembers what it was asked for."""

    def __getattr__(self, name: str) -> object:
        return lambda *arguments: (name, *arguments)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Core:
        Property = Recorder()

    monkeypatch.setattr(lowering, "core", Core)


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=2), st.tuples(numbers, numbers), numbers, st.data())
def test_constraints_keep_every_point_of_the_region(
    ends: list[tuple[Fraction, Fraction]], row: tuple[Fraction, Fraction], bound: Fraction, data: st.DataObject
) -> None:
    low, high = [min(e) for e in ends], [max(e) for e in ends]
    made = task(identity(2), identity(2), None, low, high, constraints=(LinearConstraint(row, bound),))
    lowered = lower_constraints(made)
    assert lowered is not None
    (matrix, sides) = lowered
    assert matrix.shape == (1, 2)
    share = [data.draw(st.fractions(0, 1)) for _ in ends]
    point = [a + (b - a) * s for a, b, s in zip(low, high, share, strict=True)]
    value = sum(a * x for a, x in zip(row, point, strict=True))
    if value <= bound:
        rounded = sum(Fraction(a) * x for a, x in zip(matrix[0].tolist(), point, strict=True))
        assert rounded <= Fraction(sides[0].item())
    assert Fraction(sides[0].item()) <= bound + Fraction(1, 10**9)  # outward, yet close


@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_points_at_the_bound_of_a_constraint_stay_in_the_region(
    row: tuple[Fraction, Fraction], point: tuple[Fraction, Fraction]
) -> None:
    """Coefficients are rounded, as 1/3 is, and the bound makes up for it."""
    bound = sum((a * x for a, x in zip(row, point, strict=True)), Fraction(0))
    made = task(identity(2), identity(2), None, [-100, -100], [100, 100], constraints=(LinearConstraint(row, bound),))
    lowered = lower_constraints(made)
    assert lowered is not None
    matrix, sides = lowered
    rounded = sum(Fraction(a) * x for a, x in zip(matrix[0].tolist(), point, strict=True))
    assert rounded <= Fraction(sides[0].item())


@given(
    st.integers(-1400, 1400),
    st.tuples(numbers, numbers),
    st.one_of(numbers, st.just(Fraction(10) ** 400)),
    st.tuples(st.fractions(-1, 1), st.fractions(-1, 1)),
)
def test_constraints_of_any_size_keep_the_region_and_cut_the_rest(
    exponent: int, row: tuple[Fraction, Fraction], bound: Fraction, point: tuple[Fraction, Fraction]
) -> None:
    """Multiplied by a power of two they are the same constraint, at the ends of the floats as elsewhere."""
    factor = Fraction(2) ** exponent
    scaled = LinearConstraint(tuple(a * factor for a in row), bound * factor)
    lowered = lower_constraints(task(identity(2), identity(2), None, [-1, -1], [1, 1], constraints=(scaled,)))
    assert lowered is not None
    matrix, sides = lowered
    assert np.isfinite(matrix).all()
    assert np.isfinite(sides).all()
    left = sum(a * x for a, x in zip(row, point, strict=True)) - bound
    rounded = sum(Fraction(a) * x for a, x in zip(matrix[0].tolist(), point, strict=True)) - Fraction(sides[0].item())
    if left <= 0:
        assert rounded <= 0
    elif left > max(map(abs, row)) * Fraction(1, 10**9) + abs(bound) * Fraction(1, 10**9):
        assert rounded > 0


def test_without_constraints_there_are_none() -> None:
    assert lower_constraints(task(identity(2), identity(2))) is None


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("claim", "asked"),
    [
        (Epsilon("0.1"), ("epsilon", 0.09999999999999999, "linf", [0, 1, 2])),
        (Epsilon("0.5", "l1", (2, 0)), ("epsilon", 0.5, "l1", [2, 0])),
        (Top1(), ("top1", None)),
        (Margin("0.1"), ("top1", 0.09999999999999999)),
        (Confidence("0.5"), ("confidence", 0.0, 0.5)),
        (Confidence("1/3"), ("top1", None)),
        (Confidence("0.2"), ("top1", None)),
    ],
)
def test_demands_are_rounded_down(claim: Property, asked: tuple[object, ...]) -> None:
    """The float 0.1 is a little more than a tenth, the one before it less."""
    lowered: object = lower_property(claim, 3)
    assert lowered == asked


@pytest.mark.usefixtures("recorded")
@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers), numbers, st.booleans())
def test_a_lowered_linear_claim_implies_the_claim(
    ours: tuple[Fraction, Fraction], theirs: tuple[Fraction, Fraction], bound: Fraction, strict: bool
) -> None:
    try:
        lowered = lower_property(Linear(ours, theirs, bound, strict), 2)
    except InputError:
        return  # another test
    recorded: Any = lowered
    kind, a, b, limit, still_strict = recorded
    assert kind == "linear"
    exact = [*ours, *theirs]
    scaled = [Fraction(c) for c in [*a.tolist(), *b.tolist()]]
    factors = {s / c for s, c in zip(scaled, exact, strict=True) if c}
    assert len(factors) <= 1
    factor = factors.pop() if factors else Fraction(1)
    assert factor > 0
    assert all(s == c * factor for s, c in zip(scaled, exact, strict=True))
    limit = Fraction(limit)
    assert limit <= bound * factor
    if strict:
        assert still_strict or limit < bound * factor


def test_coefficients_no_factor_makes_exact_are_refused() -> None:
    with pytest.raises(InputError, match="round them"):
        lower_property(Linear((Fraction(1, 3**40), 1), (Fraction(1, 7**30), 0), 0), 2)


def test_a_pair_is_made_once_and_turned_round_for_decisions_only() -> None:
    pairs = Pairs()
    first, second = identity(2), network((np.eye(2), [0.0, 1.0]))
    lowest = space(2, 2, decide="min")
    plain = pairs.of(task(first, second, Epsilon(1)))
    assert pairs.of(task(first, second, Top1())) is plain
    assert pairs.of(task(first, second, Epsilon(2), space=lowest)) is plain
    turned = pairs.of(task(first, second, Top1(), space=lowest))
    assert turned is not plain
    assert pairs.of(task(second, first, Top1())) is not plain
    point = np.array([[1.0, 2.0]])
    f, g = core.evaluate(plain, point)
    assert (f.tolist(), g.tolist()) == ([[1.0, 2.0]], [[1.0, 3.0]])
    f, g = core.evaluate(turned, point)
    assert (f.tolist(), g.tolist()) == ([[-1.0, -2.0]], [[-1.0, -3.0]])
