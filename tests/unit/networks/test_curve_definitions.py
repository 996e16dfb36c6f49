"""Functions of one variable at points and on intervals, in floats and enclosed exactly: against mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from eqspec.networks import fixed_point
from eqspec.networks.curve_definitions import DEFINITIONS, domain_point, homogeneous, problem
from eqspec.networks.curve_values import spread
from eqspec.networks.curves import ABSOLUTE, Curve, Curves, clip, leaky, pieces
from eqspec.networks.exact_curves import on_interval
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.quantiser import Quantiser, Rounding
from quantiser_definition import defined as defined_quantiser

Oracle = Callable[[Any, tuple[float, ...]], Any]


def _elu(x: Any, a: float, scale: float = 1.0) -> Any:
    return x if x >= 0 else mpf(a) * mpmath.expm1(x / mpf(scale))


def _pieces(x: Any, p: tuple[float, ...]) -> Any:
    count = int(p[0])
    knots, slopes, value = [mpf(k) for k in p[1 : count + 1]], [mpf(s) for s in p[count + 1 : -1]], mpf(p[-1])
    if x < knots[0]:
        return value + slopes[0] * (x - knots[0])
    for i, knot in enumerate(knots):
        end = knots[i + 1] if i + 1 < count else None
        if end is None or x <= end:
            return value + slopes[i + 1] * (x - knot)
        value += slopes[i + 1] * (end - knot)
    raise AssertionError


def _quantised(x: Any, p: tuple[float, ...]) -> Any:
    sign, mantissa, exponent, _ = x._mpf_
    exact = Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)
    return ratio(defined_quantiser(Quantiser.of(Curve("quantiser", p)), exact))


ORACLES: dict[str, Oracle] = {
    "pieces": _pieces,
    "sigmoid": lambda x, _: 1 / (1 + mpmath.exp(-x)),
    "tanh": lambda x, _: mpmath.tanh(x),
    "softplus": lambda x, _: mpmath.log1p(mpmath.exp(x)),
    "softsign": lambda x, _: x / (1 + abs(x)),
    "atan": lambda x, _: mpmath.atan(x),
    "elu": lambda x, p: _elu(x, p[0]),
    "celu": lambda x, p: _elu(x, p[0], p[0]),
    "selu": lambda x, p: mpf(p[1]) * _elu(x, p[0]),
    "exp": lambda x, _: mpmath.exp(x),
    "log": lambda x, _: mpmath.log(x),
    "sqrt": lambda x, _: mpmath.sqrt(x),
    "reciprocal": lambda x, _: 1 / x,
    "square": lambda x, _: x * x,
    "power": lambda x, p: mpmath.power(x, int(p[0]) if p[0] == int(p[0]) else mpf(p[0])),
    "erf": lambda x, _: mpmath.erf(x),
    "sin": lambda x, _: mpmath.sin(x),
    "cos": lambda x, _: mpmath.cos(x),
    "gelu": lambda x, _: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2)),
    "gelu_tanh": lambda x, _: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpf(44715) / 10**6 * x**3))),
    "silu": lambda x, _: x / (1 + mpmath.exp(-x)),
    "hardswish": lambda x, p: x * max(mpf(0), min(mpf(1), mpf(p[0]) * x + mpf(p[1]))),
    "mish": lambda x, _: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "thresholded": lambda x, p: x if x > mpf(p[0]) else mpf(0),
    "sign": lambda x, _: mpmath.sign(x),
    "floor": lambda x, _: mpmath.floor(x),
    "quantiser": _quantised,
}
CURVES = [
    *(Curve(name) for name in ORACLES if DEFINITIONS[name].parameters == 0 and name != "pieces"),
    *(Curve("elu", (a,)) for a in (1.0, -0.5, 2.3)),
    *(Curve("celu", (a,)) for a in (0.7, 2.0)),
    Curve("selu", (1.67326319217681884765625, 1.05070102214813232421875)),
    Curve("selu", (-0.5, -2.0)),
    *(Curve("power", (p,)) for p in (3.0, 4.0, 0.0, -1.0, -2.0, 0.5, 1.7, -0.5)),
    Curve("hardswish", (1 / 6, 0.5)),
    Curve("hardswish", (2.0, -0.25)),
    *(Curve("thresholded", (a,)) for a in (1.0, -0.5)),
    Quantiser(0.25, -8, 7).curve,
    Quantiser(0.75, -9, 9, Rounding.AWAY, 0.375, unit=0.5, base=1.0).curve,
    Quantiser(0.5, -4, 3, Rounding.FLOOR, wraps=True).curve,
    *(leaky(0.1), leaky(-0.5), clip(-1.0, 2.0), ABSOLUTE, pieces((-1.0, 0.5, 2.0), (0.3, -2.0, 0.0, 5.0), 0.7)),
]


def test_every_function_is_tested() -> None:
    assert DEFINITIONS.keys() == ORACLES.keys() == {curve.name for curve in CURVES}
    assert not any(problem(curve) for curve in CURVES)


def ratio(x: Fraction) -> Any:
    return mpf(x.numerator) / x.denominator


def defined(curve: Curve, low: Fraction, high: Fraction) -> bool:
    ends = [np.array([float(end)]) for end in (low, high)]
    return bool(DEFINITIONS[curve.name].defined(ends[0], ends[1], curve.parameters).all())


def some_points(seed: int, count: int) -> list[Fraction]:
    random = np.random.default_rng(seed)
    sizes = random.choice([0.01, 1.0, 1.0, 4.0, 30.0, 300.0], count)
    found = [Fraction(float(x)) for x in random.normal(size=count) * sizes]
    found += [
        Fraction(int(n), int(d))
        for n, d in zip(random.integers(-1000, 1000, 10), random.integers(1, 99, 10), strict=True)
    ]
    return [*found, *(Fraction(n, 2) for n in range(-6, 7))]


@pytest.mark.part(32, curve=attrgetter("name"))
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_enclosures_hold_the_function(curve: Curve) -> None:
    """At points, and on intervals at points of them; at points they are as thin as they are said to be."""
    random = np.random.default_rng(0)
    oracle = ORACLES[curve.name]
    with mpmath.workprec(1200):
        for number, x in enumerate(some_points(1, 30)):
            bits = (40, 100, 256)[number % 3]
            if defined(curve, x, x):
                low, high = on_interval(curve, (x, x), bits)
                exact = oracle(ratio(x), curve.parameters)
                tiny = abs(exact) * mpf(2) ** -1150  # what the oracle itself rounds
                assert ratio(low) - tiny <= exact <= ratio(high) + tiny
                if bits == 256:
                    assert high - low <= max(Fraction(1), abs(high)) / 2**200
            y = x + Fraction(abs(float(random.normal())) * float(random.choice([1e-12, 0.1, 3.0])))
            if not defined(curve, x, y):
                continue
            low, high = on_interval(curve, (x, y), bits)
            for k in range(9):
                exact = oracle(ratio(x + (y - x) * Fraction(k, 8)), curve.parameters)
                tiny = (abs(exact) + abs(ratio(x))) * mpf(2) ** -1150
                assert ratio(low) - tiny <= exact <= ratio(high) + tiny
            assert high - low <= 100 * max(Fraction(1), abs(low), abs(high))


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_floats_are_near_and_slopes_are_differences(curve: Curve) -> None:
    definition, p = DEFINITIONS[curve.name], curve.parameters
    points = [float(x) for x in some_points(2, 40) if abs(x) < 30 and defined(curve, x, x)]
    with mpmath.workprec(200), np.errstate(all="ignore"):
        for x in points:
            exact = ORACLES[curve.name](mpf(x), p)
            value = float(definition.value(np.array([x]), p)[0])
            assert abs(value - exact) <= 2.0**-40 * max(1, abs(x), abs(exact))
            jumps = curve.name in ("sign", "floor", "thresholded", "quantiser")
            kinks = [*definition.turns(p), *((0.0,) if curve.name in ("elu", "celu", "selu") else ())]
            if (
                jumps
                or any(abs(x - turn) < 1e-3 for turn in kinks)
                or (abs(x) < 1e-3 and not defined(curve, Fraction(-1), Fraction(1)))
            ):
                continue
            slope = float(definition.slope(np.array([x]), p)[0])
            exact_slope = (
                ORACLES[curve.name](mpf(x) + mpf(2) ** -60, p) - ORACLES[curve.name](mpf(x) - mpf(2) ** -60, p)
            ) * mpf(2) ** 59
            assert abs(slope - exact_slope) <= 1e-9 * max(1, abs(exact_slope))


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_spread_holds_what_lies_within_a_radius(curve: Curve) -> None:
    random = np.random.default_rng(3)
    for _ in range(40):
        x, radius = float(random.normal() * 2), float(random.choice([1e-6, 0.1, 2.0]))
        there = defined(curve, Fraction(x - radius), Fraction(x + radius))
        with np.errstate(all="ignore"):
            found = float(spread(Curves.all(curve), np.array([[x]]), np.array([[radius]]), 0.0)[0, 0])
            near = x + radius * np.linspace(-1, 1, 41)
            values = DEFINITIONS[curve.name].value(np.append(near, x), curve.parameters)
        assert found == np.inf if not there else np.abs(values[:-1] - values[-1]).max() <= found * (1 + 1e-9) + 1e-12


def test_turning_points_are_where_they_are_said_to_be() -> None:
    """The slopes of the functions that turn have one sign on each side of the intervals that are given for them."""
    with mpmath.workprec(200):
        for name, low, high in (
            ("silu", "-1.279", "-1.278"),
            ("gelu", "-0.752", "-0.751"),
            ("mish", "-1.193", "-1.192"),
        ):
            assert (
                mpmath.diff(lambda x, n=name: ORACLES[n](x, ()), mpf(low))
                < 0
                < mpmath.diff(lambda x, n=name: ORACLES[n](x, ()), mpf(high))
            )
        assert mpmath.diff(lambda x: ORACLES["gelu_tanh"](x, ()), mpf("-0.753")) < 0
        assert mpmath.diff(lambda x: ORACLES["gelu_tanh"](x, ()), mpf("-0.752")) > 0
        for name in ("silu", "gelu", "mish", "gelu_tanh"):
            steepest = max(abs(mpmath.diff(lambda x, n=name: ORACLES[n](x, ()), mpf(k) / 50)) for k in range(-400, 400))
            assert 1 < steepest < 1.2


@pytest.mark.parametrize(
    ("curve", "low", "high"),
    [
        ("log", 0, 1),
        ("log", -1, -1),
        ("sqrt", -1, 1),
        ("reciprocal", -1, 1),
        ("reciprocal", 0, 0),
        ("reciprocal", 0, 1),
    ],
)
def test_off_its_domain_a_function_has_no_value(curve: str, low: int, high: int) -> None:
    with pytest.raises(UndefinedError):
        on_interval(Curve(curve), (Fraction(low), Fraction(high)))
    with pytest.raises(UndefinedError):
        on_interval(Curve("power", (-0.5,)), (Fraction(0), Fraction(1)))


def test_points_of_domains_and_multiples() -> None:
    assert [domain_point(Curve(name)) for name in ("tanh", "sqrt", "log", "reciprocal")] == [0.0, 0.0, 1.0, 1.0]
    assert [domain_point(Curve("power", (p,))) for p in (2.0, 0.0, -1.0, 0.5)] == [0.0, 0.0, 1.0, 1.0]
    assert [homogeneous(c) for c in (leaky(0.2), ABSOLUTE, clip(-1, 1), Curve("silu"))] == [True, True, False, False]
    assert not homogeneous(pieces((0.0,), (1.0, 2.0), 1.0))
    assert not homogeneous(pieces((1.0,), (1.0, 2.0), 0.0))


def test_what_is_absurdly_large_is_refused() -> None:
    with pytest.raises(OverflowError):
        on_interval(Curve("exp"), (Fraction(10**9), Fraction(10**9)))
    low, high = on_interval(Curve("exp"), (Fraction(-(10**9)), Fraction(-(10**9))))
    assert 0 <= low <= high < Fraction(1, 2**100)
    assert fixed_point.pi(100) >> 100 == 3
