"""Replay against an oracle that evaluates networks and the definitions of the claims in plain rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eqspec.networks import Network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.replay.replay import Replay, contains
from eqspec.tasks.task import LinearConstraint, Task
from small_tasks import network, space, task

tenths = st.integers(-30, 30).map(lambda k: Fraction(k, 10))


def outputs(net: Network, point: Sequence[Fraction]) -> list[Fraction]:
    """One affine map and one maximum after the other."""
    values = list(point)
    for number, layer in enumerate(net.layers):
        rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
        values = [sum((Fraction(w) * v for w, v in zip(row, values, strict=True)), Fraction(b)) for row, b in rows]
        if number < len(net.layers) - 1:
            values = [max(v, Fraction(0)) for v in values]
    return values


def holds(claim: Property, f: list[Fraction], g: list[Fraction]) -> bool | None:
    """The claim as the manual states it; None if the softmax is too close to tell."""
    differences = [b - a for a, b in zip(f, g, strict=True)]
    match claim:
        case Epsilon(eps, "linf", chosen):
            return all(abs(differences[i]) <= Fraction(eps) for i in chosen or range(len(f)))
        case Epsilon(eps, "l1", chosen):
            return sum(abs(differences[i]) for i in chosen or range(len(f))) <= Fraction(eps)
        case Epsilon(eps, "l2", chosen):
            return sum(differences[i] ** 2 for i in chosen or range(len(f))) <= Fraction(eps) ** 2
        case Linear(a, b, bound, strict):
            left = sum(Fraction(c) * y for c, y in zip((*a, *b), (*g, *f), strict=True))
            return left < Fraction(bound) if strict else left <= Fraction(bound)
    best_f = {k for k, y in enumerate(f) if y == max(f)}
    best_g = {k for k, y in enumerate(g) if y == max(g)}
    if best_f <= best_g:
        return True
    match claim:
        case Top1():
            return False
        case Margin(margin):
            ranked = sorted(f, reverse=True)
            return ranked[0] - ranked[1] < Fraction(margin)
        case Confidence(delta):
            with localcontext() as context:
                context.prec = 60
                powers = [(Decimal(y.numerator) / y.denominator).exp() for y in f]
                confidence = Fraction(max(powers) / sum(powers))
            return None if abs(confidence - Fraction(delta)) < Fraction(1, 10**50) else confidence < Fraction(delta)
    raise AssertionError(claim)


@st.composite
def claims(draw: st.DrawFn, size: int) -> Property:
    kind = draw(st.sampled_from(["epsilon", "top1", "margin", "confidence", "linear"]))
    if kind == "epsilon":
        chosen = draw(st.none() | st.sets(st.integers(0, size - 1), min_size=1).map(tuple))
        return Epsilon(draw(tenths.map(abs)), draw(st.sampled_from(["linf", "l1", "l2"])), chosen)
    if kind == "margin":
        return Margin(draw(tenths.map(abs)))
    if kind == "confidence":
        return Confidence(draw(st.integers(1, 99)) / Fraction(100))
    if kind == "linear":
        row = st.tuples(*[tenths] * size)
        return Linear(draw(row), draw(row), draw(tenths), draw(st.booleans()))
    return Top1()


@st.composite
def networks(draw: st.DrawFn, sizes: tuple[int, ...]) -> Network:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return network(
        *((np.round(rng.normal(size=(m, n)) * 4) / 4, np.round(rng.normal(size=m) * 2) / 4) for n, m in pairwise(sizes))
    )


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=4)))
    reference, candidate = draw(networks(sizes)), draw(networks(sizes))
    inputs, size = sizes[0], sizes[-1]
    corners = [sorted(draw(st.tuples(tenths, tenths))) for _ in range(inputs)]
    constraints = draw(
        st.lists(st.builds(LinearConstraint, st.tuples(*[tenths] * inputs), tenths, st.booleans()), max_size=2)
    )
    return task(
        reference,
        candidate,
        draw(claims(size)),
        [low for low, _ in corners],
        [high for _, high in corners],
        constraints=tuple(constraints),
        space=space(inputs, size, decide=draw(st.sampled_from(["max", "min"]))),
    )


def oracle(made: Task, point: Sequence[Fraction]) -> bool | None:
    """Whether the point lies in the region and breaks the claim there."""
    inside = all(a <= x <= b for a, x, b in zip(made.lower_exact, point, made.upper_exact, strict=True))
    for constraint in made.constraints:
        value = sum(a * x for a, x in zip(constraint.coefficients, point, strict=True))
        inside &= value < constraint.bound if constraint.strict else value <= constraint.bound
    if not inside:
        return False
    f, g = outputs(made.reference, point), outputs(made.candidate, point)
    if made.space.decide == "min" and isinstance(made.property, Top1 | Margin | Confidence):
        f, g = [-y for y in f], [-y for y in g]
    held = holds(made.property, f, g)
    return None if held is None else not held


@given(tasks(), st.integers(0, 2**32 - 1))
def test_a_point_is_a_witness_exactly_if_it_breaks_the_claim_in_the_region(made: Task, seed: int) -> None:
    """On a grid that reaches a little beyond the box, so that bounds are met exactly."""
    rng = np.random.default_rng(seed)
    box = list(zip(made.lower_exact, made.upper_exact, strict=True))
    for _ in range(10):
        point = tuple(a + (b - a) * int(rng.integers(-1, 12)) / 10 for a, b in box)
        expected = oracle(made, point)
        if expected is None:
            continue
        witness = Replay(made).replay(point)
        assert (witness is not None) == expected
        if witness is not None:
            assert witness.normalised == point
            assert list(witness.reference) == [float(y) for y in outputs(made.reference, point)]
            assert list(witness.candidate) == [float(y) for y in outputs(made.candidate, point)]


@given(tasks(), st.data())
def test_what_is_confirmed_breaks_the_claim_inside_the_exact_region(made: Task, data: st.DataObject) -> None:
    """Candidates come from the box rounded outward, so they may lie just outside the exact one."""
    share = np.array([data.draw(st.floats(-0.001, 1.001)) for _ in made.lower_exact])
    candidate = made.lower + share * (made.upper - made.lower)
    replay = Replay(made)
    witness = replay.confirm(candidate)
    if witness is not None:
        assert contains(made, witness.normalised)
        assert oracle(made, witness.normalised) is not False
        moved = np.abs(np.array([float(x) for x in witness.normalised]) - candidate)
        assert (moved <= 1e-6 * (1 + np.abs(candidate)) + 0.002 * (made.upper - made.lower)).all()
    else:
        nearest = [
            min(max(Fraction(x), a), b)
            for x, a, b in zip(candidate.tolist(), made.lower_exact, made.upper_exact, strict=True)
        ]
        assert not oracle(made, nearest)


@given(tasks())
def test_numbers_that_are_none_confirm_nothing(made: Task) -> None:
    for poison in (np.nan, np.inf, -np.inf):
        assert Replay(made).confirm(np.full(made.reference.input_size, poison)) is None
