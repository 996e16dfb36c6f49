"""Functions of the rows of an exact vector: rational where a function takes rationals to rationals, else enclosed.

Rational functions (`pieces`, `thresholded`, `sign`, `floor`, `quantiser`) keep the denominator of a vector and add what
bits they need. For all others numbers are rounded outward to so many bits behind the point, and the function is
enclosed there (`curve_definitions`); the result has a denominator only to go with the others. UndefinedError where an
argument is not known to lie in a function's domain, OverflowError where it is absurdly large: more bits help against
the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import Curve, Curves, Pieces
from eqspec.networks.exact_vectors import Integers, Vector
from eqspec.networks.quantiser import Quantiser, in_range

_Result: TypeAlias = tuple[Integers, Integers, int]


def applied(curves: Curves, values: Vector, bits: int) -> Vector:
    """The functions of all rows, with so many bits behind the point where they are not rational."""
    found = [(rows, _result(curve, _taken(values, rows), bits)) for curve, rows in curves.groups(len(values.lower))]
    exponent = min(e for _, (_, _, e) in found)
    certain = all(low is high for _, (low, high, _) in found)
    lower = np.zeros(len(values.lower), object)
    upper = lower if certain else np.zeros(len(values.lower), object)
    for rows, (low, high, own) in found:
        lower[rows] = low << (own - exponent)
        if not certain:
            upper[rows] = high << (own - exponent)
    return Vector(lower, upper, exponent, values.denominator)


def on_interval(curve: Curve, ends: tuple[Fraction, Fraction], bits: int = 160) -> tuple[Fraction, Fraction]:
    """The function on a rational interval, within about 2^-bits."""
    low, high = Vector.of([ends[0]]), Vector.of([ends[1]])
    denominator = low.denominator * high.denominator
    lower, upper = low.lower * high.denominator, high.lower * low.denominator
    exponent = min(low.exponent, high.exponent)
    lower, upper = lower << (low.exponent - exponent), upper << (high.exponent - exponent)
    vector = Vector(lower, lower if ends[0] == ends[1] else upper, exponent, denominator)
    return applied(Curves.all(curve), vector, bits).fractions()[0]


def is_rational(curves: Curves) -> bool:
    """Whether all of these functions take rationals to rationals."""
    return all(
        DEFINITIONS[curve.name].exact for curve, _ in curves.groups(0 if curves.of_row is None else len(curves.of_row))
    )


def _taken(values: Vector, rows: NDArray[np.intp] | slice) -> Vector:
    lower = values.lower[rows]
    upper = lower if values.certain else values.upper[rows]
    return Vector(lower, upper, values.exponent, values.denominator)


def _result(curve: Curve, values: Vector, bits: int) -> _Result:
    enclosed = DEFINITIONS[curve.name].enclosed
    if enclosed is None:
        return _RATIONAL[curve.name](values, curve.parameters)
    shift = values.exponent + bits
    denominator = values.denominator if shift >= 0 else values.denominator << -shift
    low, high = (values.lower << max(0, shift)) // denominator, -((-values.upper << max(0, shift)) // denominator)
    if (low == high).all():
        high = low
    least, most = enclosed((low, high), bits, curve.parameters)
    return least * values.denominator, most * values.denominator, -bits


def _pieces(values: Vector, parameters: Sequence[float]) -> _Result:
    """Slope times x plus what makes it fit at the knots; on an interval at its ends and the knots inside."""
    knots, (steep, of_slopes), (apart, of_offsets) = _in_integers(tuple(parameters))
    exponent = min(values.exponent + of_slopes, of_offsets)

    def at(numbers: Integers) -> Integers:
        piece = np.zeros(len(numbers), int)
        for knot in knots:
            piece += _at_least(values, numbers, knot)
        rise = np.array(steep, object)[piece] * numbers << (values.exponent + of_slopes - exponent)
        return np.asarray(rise + (np.array(apart, object)[piece] * values.denominator << (of_offsets - exponent)))

    low = at(values.lower)
    if values.certain:
        return low, low, exponent
    high = at(values.upper)
    least, most = np.minimum(low, high), np.maximum(low, high)
    for knot, value in zip(knots, apart[len(steep) :], strict=True):
        inside = ~_at_least(values, values.lower, knot) & _at_least(values, values.upper, knot)
        there = value * values.denominator << (of_offsets - exponent)
        least = np.where(inside, np.minimum(least, there), least)
        most = np.where(inside, np.maximum(most, there), most)
    return least, most, exponent


_Dyadic: TypeAlias = tuple[list[int], int]


@lru_cache(1 << 10)
def _in_integers(parameters: tuple[float, ...]) -> tuple[list[Fraction], _Dyadic, _Dyadic]:
    """The knots of `pieces`; the slopes; and what is added on each piece, with the values at the knots behind them."""
    parts = Pieces.of(parameters)
    knots, slopes = [Fraction(k) for k in parts.knots], [Fraction(s) for s in parts.slopes]
    values_at = [parts.values[0], *parts.values]
    offsets = [v - s * k for v, s, k in zip(values_at, slopes, [knots[0], *knots], strict=True)]
    return knots, _dyadic(slopes), _dyadic([*offsets, *parts.values])


def _dyadic(numbers: Sequence[Fraction]) -> _Dyadic:
    """Dyadic rationals as integers over one power of two."""
    exponent = -max(x.denominator.bit_length() - 1 for x in numbers)
    return [(x.numerator << -exponent) // x.denominator for x in numbers], exponent


def _at_least(values: Vector, numbers: Integers, bound: Fraction) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which numbers of a vector are at least a dyadic bound."""
    (whole,), exponent = _dyadic([bound])
    least = min(exponent, values.exponent)
    limit = whole * values.denominator << (exponent - least)
    return np.asarray(numbers << (values.exponent - least) >= limit, bool)


def _thresholded(values: Vector, parameters: Sequence[float]) -> _Result:
    """x above the threshold, 0 up to it; an interval that crosses it may give either."""
    bound = Fraction(parameters[0])
    above = ~_at_least(_negated(values), -values.lower, -bound)
    low = np.where(above, values.lower, 0)
    if values.certain:
        return low, low, values.exponent
    above_high = ~_at_least(_negated(values), -values.upper, -bound)
    low = np.where(above, values.lower, np.where(above_high, np.minimum(values.lower, 0), 0))
    return low, np.where(above_high, np.where(above, values.upper, np.maximum(values.upper, 0)), 0), values.exponent


def _negated(values: Vector) -> Vector:
    return Vector(-values.upper, -values.lower, values.exponent, values.denominator)


def _sign(values: Vector, _: Sequence[float]) -> _Result:
    low = ((values.lower > 0) * 1 - (values.lower < 0) * 1).astype(object) * values.denominator
    if values.certain:
        return low, low, 0
    return low, ((values.upper > 0) * 1 - (values.upper < 0) * 1).astype(object) * values.denominator, 0


def _floor(values: Vector, _: Sequence[float]) -> _Result:
    shift = values.exponent

    def of(numbers: Integers) -> Integers:
        divisor = values.denominator << max(0, -shift)
        return np.asarray((numbers << max(0, shift)) // divisor * values.denominator)

    low = of(values.lower)
    return low, low if values.certain else of(values.upper), 0


@lru_cache(1 << 10)
def _quantiser(parameters: tuple[float, ...]) -> tuple[Quantiser, list[int], int]:
    """The quantiser of these parameters; its unit and its base as integers, and of which power of two."""
    return (Quantiser.of(Curve("quantiser", parameters)), *_dyadic([Fraction(x) for x in parameters[4:6]]))


def _quantised(values: Vector, parameters: Sequence[float]) -> _Result:
    """Levels, and what they stand for; on an interval of levels at its ends, or the whole type where it may wrap."""
    quantiser, (unit, base), exponent = _quantiser(tuple(parameters))
    shift, divisor = max(0, values.exponent), values.denominator << max(0, -values.exponent)

    def of(numbers: Integers) -> Integers:
        return quantiser.levels(numbers << shift, divisor)

    def meant(levels: Integers) -> Integers:
        """unit (k - base), both of which are multiples of 2^exponent."""
        return np.asarray(unit * ((levels << -exponent) - base) * values.denominator)

    if values.certain:
        levels = meant(quantiser.brought(of(values.lower)))
        return levels, levels, 2 * exponent
    low, high = in_range(quantiser, of(values.lower), of(values.upper))
    return meant(low), meant(high), 2 * exponent


_RATIONAL: dict[str, Callable[[Vector, Sequence[float]], _Result]] = {
    "pieces": _pieces,
    "thresholded": _thresholded,
    "sign": _sign,
    "floor": _floor,
    "quantiser": _quantised,
}
