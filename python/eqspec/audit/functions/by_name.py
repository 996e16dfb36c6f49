"""Which shape the functions of `curve` have: where each is convex, concave, linear or bounded in another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from .curve import Curve, clip
from .elementary import exp
from .formulas import SMOOTH, points, power, power_slope
from .interval import Interval, choose
from .quantiser import Levels, Multiples
from .shape import BOUNDED, CONCAVE, CONVEX, KINK, LINEAR, PARTS, Floor, Piece, Shape

INF = float("inf")
ROOTS = {
    "silu": (2.399357280515467, 2.399357280515469), "gelu": (1.414213562373095, 1.4142135623730954),
    "gelu_tanh": (1.4185, 1.41851),
}  # fmt: skip
"""Where their second derivatives change their sign, at plus and minus one place between these.

It is where x tanh(x / 2) = 2, where x = sqrt 2, and where x u'^2 tanh u = u' + x u'' / 2, u = sqrt(2 / pi) (x + e x^3):
divided by 1 + 6 e x^2 the left side grows with x >= 0, and the right one is constant.
"""


def _linear(low: float, high: float, slope: float, at_0: Fraction, opens: bool = False) -> Piece:
    line = (slope, Interval.around(at_0))

    def value(x: Any) -> Any:
        return line[1] + Interval.of(slope) * x if isinstance(x, Interval) else float(at_0) + slope * x

    def rise(x: Any) -> Any:
        return 0.0 * x + slope

    return Piece(low, high, LINEAR, value, rise, line=line, opens=opens, exact=(Fraction(slope), at_0))


@lru_cache(maxsize=1024)
def shape(curve: Curve) -> Shape:
    """The shape of a function."""
    name, given = curve.name, curve.parameters
    if name == "relu":
        return _pieces((1.0, 0.0, 0.0, 1.0, 0.0))
    if name == "pieces":
        return _pieces(given)
    if name == "sign":
        first, second = (_linear(*ends, 0.0, Fraction(v)) for ends, v in (((-INF, 0.0), -1), ((0.0, INF), 1)))
        none = _linear(0.0, 0.0, 0.0, Fraction(0))
        return Shape((_cut(first, ends=True), none, _cut(second, opens=True)), jumps=(0.0,))
    if name == "floor":
        return Floor(())
    if name in ("thresholded", "guarded"):
        below, above = _linear(-INF, given[0], 0.0, Fraction(0)), _linear(given[0], INF, 1.0, Fraction(0), opens=True)
        below = below if name == "thresholded" else Piece(-INF, given[0], CONVEX, *SMOOTH["softplus"])
        return Shape((below, above), jumps=(given[0],) if given[0] or name == "guarded" else ())
    if name == "hardswish":
        return _hardswish(*given)
    if name in ("elu", "celu", "selu"):
        return _exponential(name, *given)
    if name == "power":
        return _power(given[0])
    if name in ("levels", "multiples"):
        scale, zero, low, high, _ = given
        ends = (low - zero) * scale, (high - zero) * scale
        inner = shape(clip(*ends)) if ends[0] < ends[1] else Shape((_linear(-INF, INF, 0.0, Fraction(ends[0])),))
        return (Levels if name == "levels" else Multiples).of(given, *ends, inner)
    value, slope = SMOOTH[name]

    def part(low: float, high: float, kind: str, curved: float = 0.0, parts: int = 1) -> Piece:
        return Piece(low, high, kind, value, slope, curved, parts)

    if name in ("sigmoid", "tanh", "softsign", "erf", "atan"):
        return Shape((part(-INF, 0.0, CONVEX), part(0.0, INF, CONCAVE)))
    if name in ("softplus", "exp", "square"):
        return Shape((part(-INF, INF, CONVEX),))
    if name in ("log", "sqrt"):
        return Shape((part(0.0, INF, CONCAVE),), domain=((0.0, INF, name == "sqrt"),))
    if name == "reciprocal":
        both = part(-INF, 0.0, CONCAVE), part(0.0, INF, CONVEX)
        return Shape((_cut(both[0], ends=True), _cut(both[1], opens=True)), domain=SIDES)
    if name in ("sin", "cos"):
        return Shape((part(-INF, INF, BOUNDED, 1.0, PARTS),))
    if name == "mish":
        return _mish(part)
    (low, high), curved = ROOTS[name], 2.0
    return Shape((
        part(-INF, -high, CONCAVE), part(-high, -low, BOUNDED, curved), part(-low, low, CONVEX),
        part(low, high, BOUNDED, curved), part(high, INF, CONCAVE),
    ))  # fmt: skip


SIDES = ((-INF, 0.0, False), (0.0, INF, False))


def _cut(piece: Piece, opens: bool = False, ends: bool = False) -> Piece:
    """Without an end."""
    return replace(piece, opens=opens, ends=ends)


def _mish(part: Callable[..., Piece]) -> Shape:
    """Its second derivative changes its sign twice; beyond 30 it is tiny, and of one sign, which is not used."""
    return Shape((
        part(-INF, -30.0, BOUNDED, 1e-10), part(-30.0, -2.25638, CONCAVE), part(-2.25638, -2.25637, BOUNDED, 1.0),
        part(-2.25637, 1.49057, CONVEX), part(1.49057, 1.49058, BOUNDED, 1.0), part(1.49058, 30.0, CONCAVE),
        part(30.0, INF, BOUNDED, 1e-10),
    ))  # fmt: skip


def _pieces(given: tuple[float, ...]) -> Shape:
    n = int(given[0])
    knots, slopes = given[1 : n + 1], given[n + 1 : 2 * n + 2]
    ends, made = (-INF, *knots, INF), []
    value, at = Fraction(given[-1]), Fraction(knots[0])
    for i, slope in enumerate(slopes):
        if i > 1:
            value, at = value + Fraction(slopes[i - 1]) * (Fraction(knots[i - 1]) - at), Fraction(knots[i - 1])
        made.append(_linear(ends[i], ends[i + 1], slope, value - Fraction(slope) * at))
    return Shape(tuple(made))


def _hardswish(a: float, b: float) -> Shape:
    """0, x (a x + b), x; the kinks at -b / a and (1 - b) / a lie between two floats each."""
    places = [Interval.around(Fraction(top) / Fraction(a)) for top in (-Fraction(b), 1 - Fraction(b))]
    (k1, k2), (k3, k4) = ((float(one.low), float(one.high)) for one in places)

    def value(x: Any) -> Any:
        return x * (a * x + b)

    def slope(x: Any) -> Any:
        return 2.0 * a * x + b

    def kink(low: float, high: float, outside: float) -> Piece:
        rise = Interval.of(2.0 * a) * Interval(low, high) + b
        steep = min(outside, float(rise.low)), max(outside, float(rise.high))

        def around(x: Any) -> Any:  # of `low` and `high`, which lie on both sides of the kink
            left, right = (0.0 * x, value(x)) if outside == 0.0 else (value(x), x)
            return choose(points(x) <= low, left, right)

        return Piece(low, high, KINK, around, slope, steep=steep)

    middle = Piece(k2, k3, CONVEX, value, slope)
    outer = _linear(-INF, k1, 0.0, Fraction(0)), _linear(k4, INF, 1.0, Fraction(0))
    return Shape((outer[0], kink(k1, k2, 0.0), middle, kink(k3, k4, 1.0), outer[1]))


def _exponential(name: str, a: float, g: float = 1.0) -> Shape:
    scale, inner = (1.0, a) if name == "celu" else (g, 1.0)

    def value(x: Any) -> Any:
        return scale * (a * (exp(x / inner) - 1.0))

    def slope(x: Any) -> Any:
        return scale * (a / inner * exp(x / inner)) if name != "celu" else exp(x / inner)

    left = Piece(-INF, 0.0, CONVEX if (scale >= 0.0) == (a >= 0.0) else CONCAVE, value, slope)
    return Shape((left, _linear(0.0, INF, scale, Fraction(0))))


def _power(p: float) -> Shape:
    value, slope = partial(power, p=p), partial(power_slope, p=p)
    if p in (0.0, 1.0):
        return Shape((_linear(-INF, INF, p, Fraction(1 - int(p))),))
    right = CONCAVE if 0.0 < p < 1.0 else CONVEX
    positive = Piece(0.0, INF, right, value, slope)
    if not p.is_integer() or abs(p) > 64:
        return Shape((positive,), domain=((0.0, INF, False),))
    left = Piece(-INF, 0.0, CONCAVE if p % 2 else CONVEX, value, slope)
    if p < 0.0:
        return Shape((_cut(left, ends=True), _cut(positive, opens=True)), domain=SIDES)
    return Shape((left, positive))
