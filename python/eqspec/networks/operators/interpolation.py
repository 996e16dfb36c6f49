"""Interpolation along one axis: every entry of the result is a sum of two or four neighbours with fixed shares.

    linear: 1 - t, t        cubic (Keys): k(1 + t), k(t), k(1 - t), k(2 - t),     t the fraction of the coordinate
    k(s) = (a + 2) s^3 - (a + 3) s^2 + 1 for s <= 1,     a s^3 - 5 a s^2 + 8 a s - 4 a for 1 <= s <= 2

Coordinates are exact rationals, neighbours beyond an end are the last entry there. A runtime computes coordinates in
float32, so a share may be off by some units of the size of the axis: in a rounding arithmetic that is its radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, prod

import numpy as np

from eqspec.networks import enclosure as en
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure

_COORDINATE = 32
"""Roundings of a share, each at most a unit of the size of the axis, with the slope of the shares."""
STEEPEST = 2.0
"""No share changes faster with the coordinate: the linear one by 1, the cubic one with a = -0.75 by at most 1.35."""


def along(
    x: Affine | Enclosure, axis: int, at: Sequence[Fraction], steep: Fraction | None, unit: float
) -> Affine | Enclosure:
    """The values at coordinates along an axis; cubic with the parameter `steep`, linear without one."""
    size = x.shape[axis]
    taps = [_taps(c, size, steep) for c in at]
    index = np.array([[place for place, _ in row] for row in taps])
    shares = en.from_intervals([(share, share) for row in taps for _, share in row])
    shares = shares.rearranged(lambda a: a.reshape(len(at), 1, -1))
    if unit:
        missed = np.full(shares.shape, unit * _COORDINATE * (size + 2))
        shares = en.enclose(shares.value, en.add_up(shares.radius, missed))
    lines = np.moveaxis(np.arange(prod(x.shape)).reshape(x.shape), axis, 0).reshape(size, -1)
    read = np.ascontiguousarray(np.moveaxis(lines[index], 1, 2))  # (results, lines, taps)
    others = (*x.shape[:axis], *x.shape[axis + 1 :])
    shape = (*x.shape[:axis], len(at), *x.shape[axis + 1 :])
    order = np.moveaxis(np.arange(prod(shape)).reshape(len(at), *others), 0, axis).reshape(-1)
    if isinstance(x, Affine):
        return products.tile(x, read, shares, shape, order)
    rows = products.tile_of_constant(x, read, shares, (prod(shape),))
    return rows.rearranged(lambda a: a.reshape(-1)[order].reshape(shape))


def _taps(at: Fraction, size: int, steep: Fraction | None) -> list[tuple[int, Fraction]]:
    """The neighbours of a coordinate with their shares."""
    if steep is None:
        at = min(max(at, Fraction(0)), Fraction(size - 1))
        low, t = floor(at), at - floor(at)
        return [(low, 1 - t), (min(low + 1, size - 1), t)]
    low, t = floor(at), at - floor(at)
    return [(min(max(low + k, 0), size - 1), share(abs(t - k), steep)) for k in (-1, 0, 1, 2)]


def share(s: Fraction, a: Fraction | None) -> Fraction:
    """The share of an entry at a distance s from the coordinate: cubic with the parameter a, linear without one."""
    if a is None:
        return max(1 - s, Fraction(0))
    if s >= 2:
        return Fraction(0)
    if s <= 1:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1
    return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a
