"""The auditor's functions of one variable against interval arithmetic of many digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from eqspec.audit.functions import Curve, Interval, Relaxation, behind, shape
from eqspec.audit.functions import elementary as own
from eqspec.audit.functions.formulas import SMOOTH
from eqspec.audit.functions.shape import BOUNDED, CONCAVE, CONVEX, KINK, LINEAR
from eqspec.audit.rounding import Refused
from unit.certificates.true_functions import CURVES, ball, contains, kind_of, name_of, smooth, true_value

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
JUMPING = ("floor", "guarded", "levels", "multiples", "sign", "thresholded")
ONLY_POSITIVE = ("log", "sqrt", "reciprocal")


@pytest.fixture(autouse=True)
def many_digits() -> None:
    flint.ctx.prec = 400
    np.seterr(all="ignore")


def of_all_sizes(rng: np.random.Generator, count: int) -> Array:
    """Numbers of many sizes, a few special ones among them."""
    special = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022, 0.5, 2.0, 709.0, -708.5, -744.0, 6.0, -6.0, 1e5]
    sizes = rng.choice([1e-300, 1e-20, 1e-5, 0.1, 1.0, 5.0, 30.0, 600.0], size=count)
    return np.concatenate([special, rng.normal(size=count) * sizes])


def positive_only(curve: Curve) -> bool:
    p = curve.parameters
    return curve.name in ONLY_POSITIVE or (curve.name == "power" and not (p[0] >= 0 and p[0].is_integer()))


def ranges(curve: Curve, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    centre = rng.normal(size=count) * rng.choice([0.01, 1.0, 5.0, 20.0], size=count)
    half = np.abs(rng.normal(size=count)) * rng.choice([0.0, 1e-12, 1e-3, 0.3, 3.0, 20.0], size=count)
    low, high = centre - half, centre + half
    if positive_only(curve):
        low = np.abs(low) + 1e-3
        high = low + 2.0 * half
    return low, high


@pytest.mark.parametrize("operation", ["+", "-", "*", "/"])
def test_intervals_contain_what_exact_numbers_give(operation: str) -> None:
    rng = np.random.default_rng(1)
    numbers = np.concatenate([of_all_sizes(rng, 300), [1e308, -1e308, 1e-310]])
    a, b = rng.choice(numbers, 4000), rng.choice(numbers, 4000)
    some = b != 0.0 if operation == "/" else np.ones(4000, bool)
    a, b = a[some], b[some]
    x, y = Interval.of(a), Interval.of(b)
    found = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}[operation]()
    for p, q, low, high in zip(a, b, found.low, found.high, strict=True):
        one, other = Fraction(p), Fraction(q)
        true = {"+": one + other, "-": one - other, "*": one * other, "/": one / other if other else one}[operation]
        assert low == -np.inf or Fraction(low) <= true
        assert high == np.inf or true <= Fraction(high)
        assert low < np.inf
        assert high > -np.inf


def test_wide_intervals_contain_what_their_points_give() -> None:
    rng = np.random.default_rng(2)
    ends = np.sort(rng.normal(size=(4, 2, 400)) * rng.choice([1e-9, 1.0, 1e9], size=400), axis=1)
    x, y = (Interval(*ends[k]) for k in (0, 1))
    inner = [ends[k, 0] + rng.random(400) * (ends[k, 1] - ends[k, 0]) for k in (0, 1)]
    p, q = (np.clip(v, *ends[k]) for k, v in enumerate(inner))
    for found, true in ((x * y, p * q), (x + y, p + q), (x - y, p - q), (abs(x), np.abs(p))):
        assert (found.low <= true).all()
        assert (true <= found.high).all()
    quotient = x / y
    assert (np.isnan(quotient.low) | ((quotient.low <= p / q) & (p / q <= quotient.high))).all()
    assert np.isnan(quotient.low[(y.low <= 0) & (y.high >= 0)]).all()


@pytest.mark.parametrize("name", ["exp", "ln", "log1p", "erf", "sin", "cos", "sqrt"])
def test_elementary_functions_contain_the_truth_and_little_else(name: str) -> None:
    x = of_all_sizes(np.random.default_rng(3), 3000)
    x = np.concatenate([x, np.random.default_rng(4).uniform(-750.0, 720.0, 2000)])
    if name in ("ln", "sqrt"):
        x = np.abs(x) + (5e-324 if name == "ln" else 0.0)
    if name == "log1p":
        x = np.abs(x)[np.abs(x) <= 1.0]
    found = getattr(own, name)(Interval.of(x))
    truths: dict[str, Callable[[Any], Any]] = {"ln": lambda v: v.log(), "log1p": lambda v: (1 + v).log()}
    truth = truths.get(name, lambda v: getattr(v, name)())
    for point, low, high in zip(x, found.low, found.high, strict=True):
        value = truth(ball(point))
        assert contains(low, value, high), (point, low, high, value)
        if abs(point) < 700.0:
            assert high - low <= 2.0**-40 * max(abs(low), abs(high), 1.0 if name in ("sin", "cos") else 1e-300)
    outside = Interval.of(np.array([-1.0, np.nan]))
    if name in ("ln", "sqrt", "log1p"):
        assert np.isnan(getattr(own, name)(outside).low).all()


@pytest.mark.part(36, curve=kind_of)
@pytest.mark.parametrize("curve", CURVES, ids=name_of)
def test_values_contain_the_truth_and_little_else(curve: Curve) -> None:
    rng = np.random.default_rng(5)
    points = of_all_sizes(rng, 1500)
    points = points[np.abs(points) < 200.0]
    points = np.concatenate([points, rng.integers(-40, 40, 100) / 8.0])
    if positive_only(curve):
        points = np.abs(points[np.abs(points) > 1e-3])
    found = shape(curve).offset(np.zeros(len(points)), points, points)
    for x, low, high in zip(points, found.low, found.high, strict=True):
        value = true_value(curve, ball(x))
        assert contains(low, value, high), (x, low, high, value)
        at_jump = (
            curve.name in ("levels", "multiples") and abs(x) < 1e-15
        )  # x + zero is rounded, and 0 may be where it jumps
        assert high - low <= 1e-12 * (1.0 + abs(float(value.mid())) + abs(x)) or abs(x) > 30.0 or at_jump
    rest = behind((curve,), *[np.array([Fraction(x) for x in points[:50]], object)] * 2)
    for x, low, high in zip(points, *rest, strict=False):
        assert contains(low, true_value(curve, ball(x)), high)


@pytest.mark.part(36, curve=kind_of)
@pytest.mark.parametrize("curve", CURVES, ids=name_of)
def test_lines_have_the_function_on_their_side(curve: Curve) -> None:
    """Lines of any slope, those that are chosen among them, at many points; and slopes between these points."""
    rng = np.random.default_rng(6)
    low, high = ranges(curve, rng, 60)
    one = shape(curve)
    chosen = Relaxation((curve,), 60).chosen(low[:, None], high[:, None])[..., 0]
    lines = [*chosen, rng.normal(size=60), 10.0 * rng.normal(size=60)]
    offsets = [one.offset(lam, low, high) for lam in lines]
    hull = one.slopes(low, high)
    knots = [p for piece in one.pieces for p in (piece.low, piece.high) if np.isfinite(p)]
    for i in range(60):
        places = [low[i] + (high[i] - low[i]) * t / 24 for t in range(25)]
        places += [p for p in (*knots, 0.0, 1.0, -1.0) if low[i] <= p <= high[i]]
        places += [np.nextafter(p, side) for p in knots for side in (-9e9, 9e9)]
        xs = sorted({float(np.clip(p, low[i], high[i])) for p in places})
        values = [true_value(curve, ball(x)) for x in xs]
        for lam, off in zip(lines, offsets, strict=True):
            for x, value in zip(xs, values, strict=True):
                assert contains(off.low[i], value - ball(lam[i]) * ball(x), off.high[i]), (low[i], high[i], lam[i], x)
        assert not hull.low[i] > hull.high[i] or low[i] == high[i], "no slopes at all"
        for (x, fx), (y, fy) in zip(zip(xs, values, strict=True), zip(xs[1:], values[1:], strict=True), strict=False):
            if np.isfinite([hull.low[i], hull.high[i]]).all():
                assert contains(hull.low[i], (fy - fx) / (ball(y) - ball(x)), hull.high[i]), (low[i], high[i], x, y)


@pytest.mark.parametrize("curve", [c for c in CURVES if c.name not in JUMPING], ids=name_of)
def test_strips_are_about_as_thin_as_they_can_be(curve: Curve) -> None:
    """Against the range of f - lam x at many points, for the same slope."""
    rng = np.random.default_rng(7)
    low, high = ranges(curve, rng, 200)
    some = (high - low > 1e-2) & (high - low < 8.0) & (np.abs(low) < 8.0)
    low, high = low[some], high[some]
    lam = Relaxation((curve,), len(low)).chosen(low[:, None], high[:, None])[0, :, 0]
    off, one = shape(curve).offset(lam, low, high), shape(curve)
    x = low + np.linspace(0.0, 1.0, 400)[:, None] * (high - low)
    rest = one.near(x.ravel()).reshape(x.shape) - lam * x
    room = 1e-9 * (1.0 + np.abs(rest).max(axis=0))
    if curve.name in ("sin", "cos"):  # of which only |f''| <= 1 is used, on sixteen parts
        room += (high - low) ** 2 / 1000.0
    assert (off.high - off.low <= 1.02 * np.ptp(rest, axis=0) + room).all()


BENDING = [c for c in CURVES if c.name in {*SMOOTH, "power", "elu", "celu", "selu"} - {"softsign", "sin", "cos"}]
"""Of softsign it is -+2 / (1 + |x|)^3, and those of waves are waves."""


@pytest.mark.parametrize("curve", BENDING, ids=name_of)
def test_pieces_are_convex_and_concave_as_they_say(curve: Curve) -> None:
    """The second derivative over a cover of each piece, without a thousandth beside 0, where some have inflections."""
    formula = smooth(curve)
    assert formula is not None
    for piece in shape(curve).pieces:
        if piece.kind == LINEAR:
            continue
        ends = max(piece.low, -30.0), min(piece.high, 30.0)
        if curve.name not in ("mish", "silu"):
            ends = max(ends[0], -8.0), min(ends[1], 8.0)
        left = ends[0] + 1e-3 if piece.low == 0.0 else ends[0]
        right = ends[1] - 1e-3 if piece.high == 0.0 else ends[1]
        if left >= right:
            continue
        todo, looked_at = [(ball(left), ball(right))], 0
        while todo:
            low, high = todo.pop()
            looked_at += 1
            assert looked_at < 20_000, (piece.kind, piece.low, piece.high, low, high)
            try:
                second = 2 * formula(flint.arb_series([flint.arb.union(low, high), 1], 3))[2]
            except ValueError:  # a divisor may be 0 in so wide a ball
                second = flint.arb("nan")
            if not {CONVEX: second >= 0, CONCAVE: second <= 0, BOUNDED: abs(second) <= piece.curved}[piece.kind]:
                middle = ((low + high) / 2).mid()
                todo += [(low, middle), (middle, high)]


@pytest.mark.parametrize("curve", [c for c in CURVES if positive_only(c)], ids=name_of)
def test_outside_of_the_domain_nothing_is_known(curve: Curve) -> None:
    closed = curve.name == "sqrt"
    both = curve.name == "reciprocal" or (curve.name == "power" and curve.parameters[0].is_integer())
    low, high = np.array([-1.0, -1.0, 0.0, -1.0, np.nan, 1.0]), np.array([1.0, 0.0, 1.0, -0.5, 1.0, np.inf])
    known = [False, False, closed, both, False, False]
    found, slopes = shape(curve).offset(np.zeros(6), low, high), shape(curve).slopes(low, high)
    assert (~np.isnan(found.low) == known).all()
    assert (~np.isnan(found.high) == known).all()
    unknown = ~np.array(known)
    assert (slopes.low[unknown] == -np.inf).all()
    assert (slopes.high[unknown] == np.inf).all()
    if not both:
        with pytest.raises(Refused, match="not defined"):
            behind((curve,), *[np.array([Fraction(-1)], object)] * 2)


def test_kinds_of_pieces_are_known() -> None:
    kinds = {piece.kind for curve in CURVES for piece in shape(curve).pieces}
    assert kinds == {CONVEX, CONCAVE, LINEAR, BOUNDED, KINK}


@pytest.mark.parametrize(
    "wrong",
    [
        ("relu6", ()), ("tanh", (1.0,)), ("elu", ()), ("elu", (float("nan"),)), ("celu", (0.0,)),
        ("hardswish", (-1.0, 0.0)),
        ("pieces", ()), ("pieces", (1.0, 0.0, 1.0)), ("pieces", (2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)),
        ("pieces", (0.0, 1.0, 0.0)), ("pieces", (1.0, 0.0, float("inf"), 1.0, 0.0)),
    ],
)  # fmt: skip
def test_functions_that_are_none_are_refused(wrong: tuple[str, tuple[float, ...]]) -> None:
    with pytest.raises(Refused):
        Curve(*wrong)
