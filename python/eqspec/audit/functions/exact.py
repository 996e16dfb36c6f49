"""Functions of exact numbers: between which rationals f(x) lies for x between two rationals.

Linear pieces, levels of quantisers, and squares of numbers with few digits are exact. A smooth function is evaluated in
the middle, in floats whose rounding is counted, and grows from there by at most its largest slope. Refused where a
function is not defined, or jumps.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..rounding import Array, Refused, float_above, float_below
from .by_name import shape
from .curve import BENT, Curve, Curves
from .levels import level
from .shape import LINEAR, Shape

SHORT = 256
"""Bits of denominators of which squares are exact, as products of levels are that decide on a tie; of longer ones
digits would double from square to square."""


def behind(curves: Curves, low: Array, high: Array) -> tuple[Array, Array]:
    """Of rows (m,) of Fractions."""
    if curves == BENT:
        return np.maximum(low, 0 * low), np.maximum(high, 0 * high)
    rows = [_between(curves[0 if len(curves) == 1 else n], *ends) for n, ends in enumerate(zip(low, high, strict=True))]
    found = np.array(rows, object).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _between(curve: Curve, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    if curve.name in ("levels", "multiples"):
        unit = Fraction(curve.parameters[0]) if curve.name == "multiples" else Fraction(1)
        return unit * level(curve.parameters, low), unit * level(curve.parameters, high)
    one = shape(curve)
    ends = np.array([float_below(low)]), np.array([float_above(high)])
    if curve.name == "floor":
        return Fraction(low // 1), Fraction(high // 1)
    if curve.name == "square" and max(x.denominator.bit_length() for x in (low, high)) <= SHORT:
        squares = low * low, high * high
        return Fraction(0) if low < 0 < high else min(squares), max(squares)
    if all(p.kind == LINEAR for p in one.pieces):
        return _linear(one, low, high)
    with np.errstate(all="ignore"):
        found = one.offset(np.zeros(1), *ends)
    least, most = float(found.low[0]), float(found.high[0])
    if not (np.isfinite(least) and np.isfinite(most)):
        raise Refused(f"the function {curve.name} is not defined there, or too large")
    return Fraction(least), Fraction(most)


def _linear(one: Shape, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    found = []
    for piece in one.pieces:
        assert piece.exact is not None
        slope, at_0 = piece.exact
        left = low < piece.high if piece.ends else low <= piece.high
        if left and (high > piece.low if piece.opens else high >= piece.low):
            ends = [max(low, Fraction(piece.low)) if np.isfinite(piece.low) else low]
            ends.append(min(high, Fraction(piece.high)) if np.isfinite(piece.high) else high)
            found += [slope * x + at_0 for x in ends]
    return min(found), max(found)
