"""Values and slopes of the core's functions of one variable lie within the errors that it claims.

The truth is interval arithmetic of many digits (arb, by python-flint), so a point that disagrees is a counterexample:
what arb encloses differs from the core's number by more than its error. The knots between convex and concave pieces
are held against the same arithmetic.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from eqspec import _core
from eqspec.networks.curves import Curve
from eqspec.networks.quantiser import Quantiser, Rounding
from quantiser_definition import defined

Real = Callable[[arb], "arb | None"]
Reference = tuple[Real, Real, Real]

DIGITS = 240
MANY_DIGITS = 4000  # For errors of the smallest subnormal beside a value near 1.


def _quantisers(rounding: Rounding) -> list[Quantiser]:
    """With thresholds at floats and between them, saturated and wrapped."""
    return [
        Quantiser(0.25, -8, 7, rounding),
        Quantiser(float(np.float32(0.3)), -(2**15), 2**15 - 1, rounding, 0.5, unit=1.0, base=0.0),
        Quantiser(0.1, -3, 12, rounding, 0.7, wraps=True, unit=1 / 3, base=-0.1),
    ]


CASES: list[tuple[str, tuple[float, ...]]] = [
    ("pieces", (1.0, 0.0, 0.0, 1.0, 0.0)),
    ("pieces", (1.0, 0.0, 0.1, 1.0, 0.0)),
    ("pieces", (4.0, -2.0, -0.7, 0.1, 1.3, 0.3, -1.1, 2.0, 0.7, -0.2, 0.123)),
    *((name, ()) for name in ("sigmoid", "tanh", "softplus", "softsign", "exp", "log", "sqrt", "reciprocal", "square")),
    *((name, ()) for name in ("erf", "sin", "cos", "atan", "gelu", "gelu_tanh", "silu", "mish", "sign", "floor")),
    *(("elu", (a,)) for a in (1.0, 0.3, -0.7)),
    *(("celu", (a,)) for a in (0.3, 2.0)),
    ("selu", (1.6732631921768188, 1.0507010221481323)),
    *(("power", (p,)) for p in (0.0, 1.0, 3.0, 7.0, 33.0, 40.0, -0.5, 1.5, 0.7, 2.3, -1.0, -2.0, -3.0, -1.37)),
    ("hardswish", (1 / 6, 0.5)),
    ("hardswish", (0.7, -0.3)),
    *(("thresholded", (a,)) for a in (1.0, 0.0, -0.8)),
    *((q.curve.name, q.curve.parameters) for r in Rounding for q in _quantisers(r)),
]


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, DIGITS
    yield
    ctx.prec = before


def sigmoid(x: arb) -> arb:
    return x.exp() / (1 + x.exp()) if x < 0 else 1 / (1 + (-x).exp())


def sigmoid_slope(x: arb) -> arb:
    e = (-abs(x)).exp()
    return e / (1 + e) ** 2


def softplus(x: arb) -> arb:
    return (x if x > 0 else arb(0)) + (-abs(x)).exp().log1p()


def density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def distribution(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def cubic(x: arb) -> tuple[arb, arb]:
    """2 sqrt(2 / pi) (x + 0.044715 x^3) and its derivative."""
    factor, a = 2 * (2 / arb.pi()).sqrt(), arb(fmpq(44715, 1000000))
    return factor * (x + a * x**3), factor * (1 + 3 * a * x * x)


def _pieces(numbers: Sequence[float]) -> Reference:
    n = int(numbers[0])
    knots, slopes = [arb(k) for k in numbers[1 : n + 1]], [arb(s) for s in numbers[n + 1 : 2 * n + 2]]
    values = [arb(numbers[-1])]
    for i in range(1, n):
        values.append(values[-1] + slopes[i] * (knots[i] - knots[i - 1]))

    def left(x: arb) -> int:
        return sum(1 for k in knots if k < x)

    def right(x: arb) -> int:
        return sum(1 for k in knots if k <= x)

    def value(x: arb) -> arb:
        base = max(right(x) - 1, 0)
        return values[base] + slopes[right(x)] * (x - knots[base])

    return value, lambda x: slopes[left(x)], lambda x: slopes[right(x)]


def _unit(amount: arb, scale: arb, end: arb) -> Reference:
    """end x, left of 0 amount (e^(x / scale) - 1)."""

    def bent(x: arb) -> arb:
        return amount / scale * (x / scale).exp()

    return (
        lambda x: end * x if x >= 0 else amount * (x / scale).expm1(),
        lambda x: end if x > 0 else bent(x),
        lambda x: end if x >= 0 else bent(x),
    )


def _power(p: float) -> Reference:
    q = arb(p)
    if p == int(p):
        n = int(p)
        slope: Real = lambda x: arb(0) if n == 0 else n * x ** (n - 1) if n > 0 or x != 0 else None  # noqa: E731
        return (lambda x: x**n if n >= 0 or x != 0 else None), slope, slope
    slope = lambda x: q * ((q - 1) * x.log()).exp() if x > 0 else None  # noqa: E731
    return (lambda x: (q * x.log()).exp() if x > 0 else None), slope, slope


def _hardswish(a: arb, b: arb) -> Reference:
    def value(x: arb) -> arb:
        gate = a * x + b
        return arb(0) if gate <= 0 else x if gate >= 1 else x * gate

    def left(x: arb) -> arb:
        gate = a * x + b
        return arb(0) if gate <= 0 else arb(1) if gate > 1 else gate + a * x

    def right(x: arb) -> arb:
        gate = a * x + b
        return arb(0) if gate < 0 else arb(1) if gate >= 1 else gate + a * x

    return value, left, right


def reference(name: str, numbers: Sequence[float]) -> Reference:
    """Value, slope from the left and from the right, None outside of the domain."""
    p = [arb(number) for number in numbers]
    smooth: dict[str, tuple[Real, Real]] = {
        "sigmoid": (sigmoid, sigmoid_slope),
        "tanh": (lambda x: x.tanh(), lambda x: 4 * sigmoid_slope(2 * x)),
        "softplus": (softplus, sigmoid),
        "softsign": (lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2),
        "atan": (lambda x: x.atan(), lambda x: 1 / (1 + x * x)),
        "exp": (lambda x: x.exp(), lambda x: x.exp()),
        "log": (lambda x: x.log() if x > 0 else None, lambda x: 1 / x if x > 0 else None),
        "sqrt": (lambda x: x.sqrt() if x >= 0 else None, lambda x: 1 / (2 * x.sqrt()) if x > 0 else None),
        "reciprocal": (lambda x: 1 / x if x != 0 else None, lambda x: -1 / x**2 if x != 0 else None),
        "square": (lambda x: x * x, lambda x: 2 * x),
        "erf": (lambda x: x.erf(), lambda x: 2 / arb.pi().sqrt() * (-x * x).exp()),
        "sin": (lambda x: x.sin(), lambda x: x.cos()),
        "cos": (lambda x: x.cos(), lambda x: -x.sin()),
        "gelu": (lambda x: x * distribution(x), lambda x: distribution(x) + x * density(x)),
        "gelu_tanh": (
            lambda x: x * sigmoid(cubic(x)[0]),
            lambda x: sigmoid(cubic(x)[0]) + x * sigmoid_slope(cubic(x)[0]) * cubic(x)[1],
        ),
        "silu": (lambda x: x * sigmoid(x), lambda x: sigmoid(x) + x * sigmoid_slope(x)),
        "mish": (
            lambda x: x * softplus(x).tanh(),
            lambda x: softplus(x).tanh() + 4 * x * sigmoid_slope(2 * softplus(x)) * sigmoid(x),
        ),
        "sign": (lambda x: arb(0) if x == 0 else arb(1) if x > 0 else arb(-1), lambda x: arb(0)),
        "floor": (lambda x: x.floor(), lambda x: arb(0)),
    }
    if name in smooth:
        value, slope = smooth[name]
        return value, slope, slope
    match name:
        case "pieces":
            return _pieces(numbers)
        case "elu":
            return _unit(p[0], arb(1), arb(1))
        case "celu":
            return _unit(p[0], p[0], arb(1))
        case "selu":
            return _unit(p[0] * p[1], arb(1), p[1])
        case "power":
            return _power(numbers[0])
        case "hardswish":
            return _hardswish(p[0], p[1])
        case "quantiser":
            quantiser = Quantiser.of(Curve(name, tuple(numbers)))

            def level(x: arb) -> arb:
                found = defined(quantiser, Fraction(float(x)))
                return arb(fmpq(found.numerator, found.denominator))

            return level, lambda x: arb(0), lambda x: arb(0)
        case "thresholded":
            return (
                lambda x: x if x > p[0] else arb(0),
                lambda x: arb(1) if x > p[0] else arb(0),
                lambda x: arb(1) if x >= p[0] else arb(0),
            )
    raise KeyError(name)


def points(numbers: Sequence[float], count: int = 2500) -> list[float]:
    """Zeros, subnormals, ends of ranges of the implementation, knots, all with neighbours; and random points."""
    marks = [
        1e-310,
        2.2250738585072014e-308,
        1e-300,
        1e-200,
        1e-100,
        1e-30,
        1e-16,
        1e-8,
        0.0625,
        0.17,
        0.34,
        0.4,
        0.5,
        1.0,
    ]
    marks += [2.39935728051547, math.sqrt(2), math.pi / 2, math.pi, 3.0, 6.0, 8.5, 18.0, 28.0, 37.0, 40.0, 355.0, 372.0]
    marks += [700.0, 708.0, 709.78, 710.0, 744.0, 745.2, 746.0, 747.0, 1e3, 1e6, 1e10, 1e15, 2.0**51, 2.0**53, 1e100]
    marks += [1e154, 1.4e154, 1e200, 1e300, 1.7976931348623157e308, *(abs(number) for number in numbers)]
    found = [0.0, -0.0, 5e-324, -5e-324]
    for mark in marks:
        for x in (mark, -mark):
            found += [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]
    chance = random.Random(17)
    while len(found) < count:
        found.append(chance.uniform(-20, 20))
        found.append(chance.uniform(-2, 2))
        found.append(chance.choice((1, -1)) * math.exp(chance.uniform(-745, 709)))
        found.append(chance.choice((1, -1)) * math.exp(chance.uniform(-40, 10)))
    return [x for x in found if math.isfinite(x)]


def _disagrees(truth: Real, x: float, value: float, error: float) -> str | None:
    exact = truth(arb(x))
    if exact is None:
        return None if error == math.inf else "has a value outside of the domain"
    if not error < math.inf:
        return None
    if not math.isfinite(value):
        return "is infinite with a finite error"
    distance = abs(exact - arb(value))
    if not distance <= arb(error):
        ctx.prec = MANY_DIGITS
        exact = truth(arb(x))
        assert exact is not None
        distance = abs(exact - arb(value))
        ctx.prec = DIGITS
    return None if distance <= arb(error) else f"is {value!r} +- {error!r}, the truth {exact}"


@pytest.mark.part(45)
@pytest.mark.parametrize(("name", "numbers"), CASES)
def test_values_and_slopes_are_within_their_errors(name: str, numbers: tuple[float, ...]) -> None:
    x = points(numbers)
    value, error = _core.curve_value(name, list(numbers), np.array(x))
    left, left_error, right, right_error = _core.curve_slope(name, list(numbers), np.array(x))
    truths = reference(name, numbers)
    found = ((value, error), (left, left_error), (right, right_error))
    for what, truth, (near, far) in zip(("value", "left slope", "right slope"), truths, found, strict=True):
        for at, number, bound in zip(x, near.tolist(), far.tolist(), strict=True):
            problem = _disagrees(truth, at, number, bound)
            assert problem is None, f"{name}{numbers} at {at!r}: {what} {problem}"


@pytest.mark.parametrize(("name", "numbers"), CASES)
def test_errors_are_small(name: str, numbers: tuple[float, ...]) -> None:
    """A proof of a loose error would be no use: for moderate x it is at most 32 units of max(1, |value|), for
    powers in proportion to the exponent."""
    x = np.linspace(0.05, 6.0, 400)
    if name not in ("log", "sqrt", "reciprocal", "power"):
        x = np.concatenate([x, -x])
    value, error = _core.curve_value(name, list(numbers), x)
    units = 120 * (1 + abs(numbers[0])) if name == "power" else 32
    assert np.all(error <= units * 2.0**-53 * np.maximum(1.0, np.abs(value)))


def _mish_bend(x: arb) -> arb:
    """The second derivative of Mish up to a positive factor (rust/src/curve/gated.rs)."""
    w = x.exp()
    return 2 * (w + 1) * (w * w + 2 * w + 2) + x * (2 + 2 * w - 3 * w**2 - 2 * w**3)


def _has_sign(function: Callable[[arb], arb], low: float, high: float, sign: int) -> bool:
    """Whether the function has this sign on the whole of [low, high], by halving."""
    waiting = [(low, high)]
    for _ in range(20_000):
        if not waiting:
            return True
        a, b = waiting.pop()
        middle = a + (b - a) / 2
        enclosure = function(arb(a).union(arb(b))) * sign
        if enclosure > 0:
            continue
        if not a < middle < b:
            return False
        waiting += [(a, middle), (middle, b)]
    return False


def test_mish_bends_as_its_pieces_say() -> None:
    first, second = (-2.256376396360794, -2.256376396360792), (1.4905711794854277, 1.4905711794854293)
    assert _has_sign(_mish_bend, -20.0, first[0], -1)
    assert _has_sign(_mish_bend, first[1], second[0], 1)
    assert _has_sign(_mish_bend, second[1], 20.0, -1)
    assert not _has_sign(_mish_bend, -20.0, first[1], -1)


def test_the_knots_of_gates_are_enclosed() -> None:
    """Each is the only positive zero of a function that rises through it (rust/src/curve/gated.rs)."""
    a, k = arb(fmpq(44715, 1000000)), (2 / arb.pi()).sqrt()

    def gelu_tanh(x: arb) -> arb:
        tanh = (k * (x + a * x**3)).tanh()
        return k * x * tanh * (1 + 3 * a * x * x) ** 2 - 1 - 6 * a * x * x

    rising: list[tuple[Callable[[arb], arb], float, float]] = [
        (lambda x: x * (x / 2).tanh() - 2, 2.399357280515467, 2.399357280515469),
        (lambda x: x * x - 2, 1.4142135623730945, 1.4142135623730956),
        (gelu_tanh, 1.4185040087908276, 1.4185040087908292),
    ]
    for function, low, high in rising:
        assert function(arb(low)) < 0 < function(arb(high))
