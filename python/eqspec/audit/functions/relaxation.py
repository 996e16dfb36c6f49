"""What is linear around the functions of a step: strips and lines, of all rows on all boxes at once.

Slopes are chosen by values at some points, in plain floats: any slope is sound, since `offset` bounds what lies between
the function and a line of that slope. The strip of f is thinnest where the lowest and the highest of f - lam x are
attained as far left (its height is convex in lam). Below, f has the line that leaves its left end and stays below it,
and that which comes so to its right end; above likewise.
"""

from __future__ import annotations

import numpy as np

from ..rounding import Array
from .by_name import shape
from .curve import Curves
from .interval import Interval
from .shape import Shape

SAMPLES, STEPS, MOST_PLACES = 9, 14, 8
"""Points on a range, bisections for the slope of a strip, and knots that are looked at beside the points."""
STRIP, LOWER_LEFT, LOWER_RIGHT, UPPER_LEFT, UPPER_RIGHT = range(5)


class Relaxation:
    """Of the functions of rows (m,); what is asked are arrays whose last axes are (m, B)."""

    def __init__(self, curves: Curves, width: int) -> None:
        self.curves, self.width = curves, width
        if len(curves) == 1:
            self.groups = [(shape(curves[0]), np.arange(width))]
        else:
            kinds = list(dict.fromkeys(curves))
            place = {curve: number for number, curve in enumerate(kinds)}
            which = np.array([place[curve] for curve in curves])
            self.groups = [(shape(curve), np.flatnonzero(which == n)) for n, curve in enumerate(kinds)]

    @property
    def each(self) -> Curves:
        """The function of every row."""
        return self.curves * self.width if len(self.curves) == 1 else self.curves

    def of(self, rows: Array) -> Relaxation:
        """Of some of the rows."""
        one = len(self.curves) == 1
        return Relaxation(self.curves if one else tuple(self.curves[row] for row in rows), len(rows))

    @property
    def knots(self) -> Array:
        """Where pieces of the functions begin and end (K, m), and infinity."""
        found = np.full((max(len(one.knots) for one, _ in self.groups), self.width), np.inf)
        for one, rows in self.groups:
            found[: len(one.knots), rows] = np.array(one.knots)[:, None]
        return found

    def offset(self, lam: Array, low: Array, high: Array) -> Interval:
        """Within which f(x) - lam x lies on [low, high], for slopes (..., *low.shape)."""
        found, several = np.empty((2, *lam.shape)), lam.shape[: lam.ndim - low.ndim]
        for one, rows in self.groups:
            part = one.offset(lam[..., rows, :].reshape(*several, -1), *(a[..., rows, :].ravel() for a in (low, high)))
            found[..., rows, :] = np.stack([part.low, part.high]).reshape(found[..., rows, :].shape)
        return Interval(found[0], found[1])

    def slopes(self, low: Array, high: Array) -> Interval:
        """Within which all slopes of f between points of [low, high] lie."""
        found = np.empty((2, *low.shape))
        for one, rows in self.groups:
            part = one.slopes(*(a[..., rows, :].ravel() for a in (low, high)))
            found[..., rows, :] = np.stack([part.low, part.high]).reshape(found[..., rows, :].shape)
        return Interval(found[0], found[1])

    def chosen(self, low: Array, high: Array) -> Array:
        """Slopes (5, ...) of a strip, and of two lines on either side."""
        found = np.empty((5, *low.shape))
        for one, rows in self.groups:
            part = _chosen(one, *(a[..., rows, :].ravel() for a in (low, high)))
            found[..., rows, :] = part.reshape(found[..., rows, :].shape)
        return found

    def near(self, x: Array, slope: bool = False) -> Array:
        """Values or slopes in plain floats, of which nothing is proven."""
        found = np.empty(x.shape)
        for one, rows in self.groups:
            found[..., rows, :] = one.near(x[..., rows, :].ravel(), slope).reshape(found[..., rows, :].shape)
        return found


def _chosen(one: Shape, a: Array, b: Array) -> Array:
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    inner = np.array(one.knots[:MOST_PLACES])[:, None]
    x = np.concatenate([a[None], np.clip(np.concatenate([a + shares[1:-1] * (b - a), inner + 0.0 * a]), a, b), b[None]])
    f = one.near(x)
    ends = one.near(x[[0, -1]], slope=True)
    wide = (b > a)[None]
    with np.errstate(all="ignore"):
        left = np.where(x > a, (f - f[0]) / (x - a), ends[0])
        right = np.where(x < b, (f[-1] - f) / (b - x), ends[1])
        line = (f[-1] - f[0]) / (b - a)
    left[0], right[-1] = ends[0], ends[1]
    low, high = np.minimum(left.min(0), right.min(0)), np.maximum(left.max(0), right.max(0))
    s, t = low, high
    for _ in range(STEPS):
        lam = 0.5 * (s + t)
        rest = f - lam * x
        columns = np.arange(len(a))
        rising = x[rest.argmin(0), columns] < x[rest.argmax(0), columns]  # then a steeper line is nearer
        s, t = np.where(rising, lam, s), np.where(rising, t, lam)
    lam = 0.5 * (s + t)
    heights = [np.ptp(f - slope * x, axis=0) for slope in (lam, line)]
    strip = np.where(heights[1] <= heights[0], line, lam)
    found = np.where(wide, [strip, left.min(0), right.max(0), left.max(0), right.min(0)], ends[0])
    for piece in one.pieces:
        if piece.exact is not None:  # a linear piece has its own slope, exactly
            found = np.where((a >= piece.low) & (b <= piece.high), float(piece.exact[0]), found)
    return np.where(np.isfinite(found), found, 0.0)
