"""Which way a claim moves with a searched variable: what is decided is held against exact values, many to a range."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eqspec.compile import loads
from eqspec.compile.implication import follows
from eqspec.errors import SpecError
from eqspec.networks.network import AffineLayer, Network
from eqspec.spec import ast, polynomials, values
from eqspec.spec.dependence import VARIABLE, MovingForm, Tracer, UndecidedError, course
from eqspec.spec.findings import Fault
from eqspec.spec.parse import parse_expression
from eqspec.spec.values import UNKNOWN, Form, Value

NUMBERS = ("0", "1", "2", "3", "1/2", "1/4", "3/4", "0.3", "5")
small = st.fractions(-3, 3, max_denominator=8)


def expressions() -> st.SearchStrategy[str]:
    """What the grammar can make of a variable v and a few numbers."""
    leaf = st.sampled_from(["v", "v", "v", *NUMBERS])

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
            inner.map(lambda e: f"-({e})"),
            st.tuples(inner, st.integers(-2, 4)).map(lambda t: f"({t[0]})^({t[1]})"),
        )

    return st.recursive(leaf, grown, max_leaves=8)


def exact(expression: ast.Expression, v: Fraction) -> Fraction | None:
    """The value at v, by the evaluation that makes tasks; None where there is none."""
    try:
        found = values.number(expression, lambda _: Form(v))
    except Fault:
        return None
    assert isinstance(found, Form)
    return found.constant


def unknown(_: ast.Reference) -> Value:
    return UNKNOWN


@given(expressions(), small, st.fractions(Fraction(1, 8), 4, max_denominator=8))
def test_what_is_decided_is_what_the_values_do(text: str, low: Fraction, width: Fraction) -> None:
    high = low + width
    expression = parse_expression(text, "e")
    try:
        number = Tracer(unknown, {"v": MovingForm(VARIABLE)}, low, high).number(expression)
        found = course(number, low, high)
    except (UndecidedError, Fault):
        return
    points = [low + width * i / 96 for i in range(97)]
    listed = [exact(expression, v) for v in points]
    assert None not in listed  # a number that is followed has a value everywhere
    assert listed == [number.at(v) for v in points]
    steps = {polynomials.sign(b - a) for a, b in pairwise(listed)}  # type: ignore[operator]
    if found.way is not None:
        assert steps <= {0, found.way}
    if found.way == 0:
        assert steps == {0}
    if found.way is None:
        assert found.turn is not None
        assert low < found.turn < high


@given(st.lists(small, min_size=1, max_size=5), st.integers(-3, 3).filter(bool), small, small)
def test_the_sign_of_a_polynomial_with_known_roots(
    roots: list[Fraction], factor: int, low: Fraction, high: Fraction
) -> None:
    """Between its roots of odd multiplicity a product of linear factors keeps its sign, and at them it changes."""
    assume(low < high)
    p: polynomials.Polynomial = (Fraction(factor),)
    for root in roots:
        p = polynomials.multiply(p, (-root, Fraction(1)))
    turning = [r for r in set(roots) if roots.count(r) % 2 and low < r < high]
    found = polynomials.constant_sign(p, low, high)
    assert (found is None) == bool(turning)
    if found is not None:
        assert all(found * polynomials.value(p, low + (high - low) * i / 50) >= 0 for i in range(51))
    assert polynomials.has_root(p, low, high) == any(low <= r <= high for r in roots)


HEAD = """eqspec 1
let half = 1/2
space s { features a, b, c normalise zscore mean [1, 2, 3] std [1, 2, 1/3] outputs y, z }
network f = "f.onnx" in s
network g = "g.onnx" in s
"""
REGIONS = (
    "box {{ all within {0} sigma of {1} }}",
    "box {{ all: -({0}) .. {1} + 4 }}",
    "box {{ all: -9 .. 9, b: 0 .. {0} }}",
    "ball linf {0} around mean",
    "ball linf {0} + 1 around point [{1}, 0, 1]",
    "ball linf {0} sigma around point [0, {1}, 1]",
    "box {{ all: -9 .. 9 }} and where {{ a + b <= {0}, a - 2*c >= -({1}) }}",
    "box {{ all: -9 .. 9 }} and where {{ a * ({1}) <= {0} + 2 }}",
    "box {{ all: -9 .. 9 }} and where {{ ({1}) * a + b <= {0} + 9 }}",
    "box {{ all: -9 .. 9 }} and where {{ {0} + 1 >= 0 }}",
)
CLAIMS = (
    "g stays within {0} of f",
    "g stays within {0} of f comparing [{1}]",
    "g keeps top1 of f",
    "g keeps top1 of f when margin >= {0}",
    "g keeps top1 of f when confidence >= ({0})/8",
    "g satisfies g[y] - f[z] <= {0}",
    "g satisfies ({1})*g[y] - f[z] > {0}",
)


GIVEN = {
    name: Network.of_layers((AffineLayer(np.full((2, 3), float(i)), np.zeros(2)),), name, name)
    for i, name in enumerate("fg")
}


simple = (
    st.sampled_from(
        [
            "v",
            "v",
            "2*v",
            "1",
            "v/(v+1)",
            "v^2",
            "half*v",
            "3 - v",
            "1/(v + 1)",
            "v^2 - v",
            "(v - 0.3)^2",
            "v^3 - v^2 + v",
        ]
    )
    | expressions()
)


@given(
    claim=st.sampled_from(CLAIMS),
    region=st.sampled_from(REGIONS),
    chosen=st.tuples(simple, simple, simple, simple),
    direction=st.sampled_from(["smallest", "largest"]),
    ends=st.sampled_from(["0 .. 1", "1/4 .. 2", "1 .. 2"]),
)
def test_every_task_of_a_search_follows_from_every_harder_one(
    claim: str, region: str, chosen: tuple[str, str, str, str], direction: str, ends: str
) -> None:
    text = (
        f"{HEAD}region inner(p, q) in s = {region.format('p', 'q')}\n"
        f"region r(k, l) in s = inner(k, l)\n"
        f"check c {{ prove {claim.format(*(f'({e})' for e in chosen[:2]))} on r({chosen[2]}, {chosen[3]})\n"
        f"  find {direction} v in {ends} }}\n"
    )
    try:
        (search,) = loads(text, networks=GIVEN).finds
    except SpecError:
        return
    step = (search.high - search.low) / 24
    tried = [search.low + step * i for i in range(25)]
    if direction == "largest":
        tried.reverse()
    tasks = [search.task_at(v) for v in tried]  # from the hard end to the easy one
    for hard, easy in pairwise(tasks):
        assert follows(easy, hard)


@pytest.mark.parametrize("claim", CLAIMS)
def test_searches_are_made_for_every_kind_of_claim(claim: str) -> None:
    """The test above is about something: these have an answer."""
    direction = "largest" if "top1 of f" in claim and "{0}" not in claim else "smallest"
    direction = "largest" if " > " in claim else direction
    which = {"prove": "v", "on": "1"} if "{0}" in claim else {"prove": "0", "on": "v"}
    text = (
        f"{HEAD}region r(k) in s = ball linf k around mean\n"
        f"check c {{ prove {claim.format(which['prove'], '1')} on r({which['on']}) find {direction} v in 1 .. 2 }}"
    )
    assert len(loads(text, networks=GIVEN).finds) == 1
