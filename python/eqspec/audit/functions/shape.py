"""Where a function is convex, concave or linear, and what follows for it on ranges [a, b].

Of any slope lam the least and the largest f(x) - lam x on [a, b] (`offset`) are bounded piece by piece. A linear piece
has them at its ends. A convex one has the largest at its ends, and lies above its tangent in any point, which is lowest
at an end: so that point, best where the slope is lam, may be found in any way. A concave piece is mirrored. On a piece
of which only |f''| <= K is known, f - lam x is off its chords by K w^2 / 8 on parts of width w. A piece between two
floats around a kink that is no float lies within its slopes.

Slopes (f(x) - f(y)) / (x - y) of any x, y of [a, b] lie in the hull of f' (mean value theorem; f is continuous), which
is monotone on convex and concave pieces; over a jump they are not bounded. Outside of its domain a function has no
value: there everything is not a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..rounding import Array
from .interval import Interval, choose

CONVEX, CONCAVE, LINEAR, BOUNDED, KINK = "convex", "concave", "linear", "bounded", "kink"
PARTS = 16
"""Of a wave, of which only the second derivative is bounded."""
BISECTIONS = 7
"""In the search for a tangent of a given slope, before it is drawn as if the slope were linear from there on."""
Formula = Callable[[Any], Any]


@dataclass(frozen=True)
class Piece:
    """From `low` to `high`, either of which may not belong to it; `curved` bounds |f''| where it is BOUNDED.

    It is then looked at in so many `parts`. A linear piece has its slope and its value at 0 (`exact`, and `line` in
    floats), a KINK its least and its largest slope.
    """

    low: float
    high: float
    kind: str
    value: Formula
    slope: Formula
    curved: float = 0.0
    parts: int = 1
    line: tuple[float, Interval] | None = None
    steep: tuple[float, float] = (0.0, 0.0)
    opens: bool = False  # without `low`
    ends: bool = False  # without `high`
    exact: tuple[Fraction, Fraction] | None = None

    def active(self, a: Array, b: Array) -> Array:
        """Whether a range has a part of it."""
        left = a < self.high if self.ends else a <= self.high
        return left & (b > self.low if self.opens else b >= self.low)


@dataclass(frozen=True)
class Shape:
    """A function: pieces in order, jumps, and intervals without their ends that are its domain (none: everything)."""

    pieces: tuple[Piece, ...]
    jumps: tuple[float, ...] = ()
    domain: tuple[tuple[float, float, bool], ...] = ()

    @property
    def knots(self) -> tuple[float, ...]:
        """Where pieces begin and end."""
        places = (place for piece in self.pieces for place in (piece.low, piece.high))
        return tuple(dict.fromkeys(place for place in places if np.isfinite(place)))

    def defined(self, a: Array, b: Array) -> Array:
        """Whether all of the finite range [a, b] lies in the domain."""
        good = np.isfinite(a) & np.isfinite(b) & (a <= b)
        within = [(a >= low if closed else a > low) & (b < high) for low, high, closed in self.domain]
        return good & np.any(within, axis=0) if within else good

    def near(self, x: Array, slope: bool = False) -> Array:
        """Values or slopes in plain floats, of which nothing is proven."""
        found = np.full(x.shape, np.nan)
        for piece in self.pieces:
            some = piece.active(x, x)
            if some.any():
                found[some] = np.broadcast_to((piece.slope if slope else piece.value)(x[some]), int(some.sum()))
        return found

    def offset(self, lam: Array, a: Array, b: Array) -> Interval:
        """Within which f(x) - lam x lies for x of [a, b] (N,), for slopes (..., N)."""
        low, high = np.full(lam.shape, np.inf), np.full(lam.shape, -np.inf)
        for piece in self.pieces:
            some = np.flatnonzero(piece.active(a, b))
            if not len(some):
                continue
            found = _on_piece(piece, lam[..., some], np.maximum(a[some], piece.low), np.minimum(b[some], piece.high))
            low[..., some] = np.minimum(low[..., some], found.low)
            high[..., some] = np.maximum(high[..., some], found.high)
        good = self.defined(a, b)
        return Interval(np.where(good, low, np.nan), np.where(good, high, np.nan))

    def slopes(self, a: Array, b: Array) -> Interval:
        """Of f between any two points of [a, b] (N,)."""
        low, high = np.full(a.shape, np.inf), np.full(a.shape, -np.inf)
        for piece in self.pieces:
            # One that a range meets in an end alone does not matter, as jumps are looked at below.
            some = np.flatnonzero(piece.active(a, b) & ((a == b) | ((a < piece.high) & (b > piece.low))))
            if not len(some):
                continue
            found = _slopes(piece, np.maximum(a[some], piece.low), np.minimum(b[some], piece.high))
            low[some], high[some] = np.minimum(low[some], found.low), np.maximum(high[some], found.high)
        for place in self.jumps:
            over = (a <= place) & (b >= place) & (a < b)
            low, high = np.where(over, -np.inf, low), np.where(over, np.inf, high)
        unknown = np.isnan(low) | np.isnan(high) | ~self.defined(a, b)
        return Interval(np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high))


class Floor(Shape):
    """x less what lies behind its point, which is in [0, 1); and between its values at both ends."""

    def near(self, x: Array, slope: bool = False) -> Array:
        """Exactly."""
        return np.zeros_like(x) if slope else np.floor(x)

    def offset(self, lam: Array, a: Array, b: Array) -> Interval:
        """Two bounds."""
        x, least, most = Interval(a, b), np.floor(a), np.floor(b)
        rest = (Interval(1.0, 1.0) - lam) * x + Interval(-1.0, 0.0)
        steps = Interval(least, most) + -(Interval.of(lam) * x)
        low, high = np.maximum(rest.low, steps.low), np.minimum(rest.high, steps.high)
        good = self.defined(a, b)
        return Interval(np.where(good, low, np.nan), np.where(good, high, np.nan))

    def slopes(self, a: Array, b: Array) -> Interval:
        """0 between two whole numbers."""
        flat = (np.floor(a) == np.floor(b)) & self.defined(a, b)
        return Interval(np.where(flat, 0.0, -np.inf), np.where(flat, 0.0, np.inf))


def _on_piece(piece: Piece, lam: Array, a: Array, b: Array) -> Interval:
    """Within which f(x) - lam x lies on [a, b], a part of the piece."""

    def at(x: Array) -> Interval:
        if piece.line is not None:
            line: Interval = piece.line[1] + (Interval.of(piece.line[0]) - lam) * x
            return line
        rest: Interval = piece.value(Interval.of(x)) - Interval.of(lam) * x
        return rest

    if piece.kind == BOUNDED:
        width = -np.nextafter(-(b - a), -np.inf)
        places = [np.minimum(a + (b - a) * (k / piece.parts), b) for k in range(piece.parts)] + [b]
        nodes = [at(x) for x in places]
        step = Interval.of(width / piece.parts) + Interval(0.0, 4 * 2.0**-53) * (np.abs(a) + np.abs(b) + 2.0**-1000)
        off = (step * step * (piece.curved / 8.0)).high
        off = np.where(a == b, 0.0, -np.nextafter(-off, -np.inf))
        low, high = np.min([n.low for n in nodes], axis=0), np.max([n.high for n in nodes], axis=0)
        return Interval(low, high) + Interval(-off, off)
    left, right = at(a), at(b)
    low, high = np.minimum(left.low, right.low), np.maximum(left.high, right.high)
    if piece.kind == KINK:
        rise = (Interval(*piece.steep) - lam) * (Interval.of(b) - a)
        return Interval(left.low, left.high) + Interval(np.minimum(rise.low, 0.0), np.maximum(rise.high, 0.0))
    if piece.kind == LINEAR:
        return Interval(low, high)
    sign = 1.0 if piece.kind == CONVEX else -1.0
    x = _touching(piece, lam, sign, a, b)
    value, rise = at(x), piece.slope(Interval.of(x)) - Interval.of(lam)
    ends = [choose(x == y, value, value + rise * (Interval.of(y) - x)) for y in (a, b)]
    if sign > 0.0:
        least = np.minimum(ends[0].low, ends[1].low)
        return Interval(np.where(np.isnan(least), -np.inf, least), high)  # a slope that is not known says nothing
    most = np.maximum(ends[0].high, ends[1].high)
    return Interval(low, np.where(np.isnan(most), np.inf, most))


def _touching(piece: Piece, lam: Array, sign: float, a: Array, b: Array) -> Array:
    """Points of [a, b] where f has about the slope lam, or else its end where f - lam x is extreme; in plain floats."""

    def rise(x: Array) -> Array:
        return np.asarray(sign * (piece.slope(x) - lam))

    s, t, at_s, at_t = *(np.broadcast_to(x, lam.shape) for x in (a, b)), rise(a), rise(b)
    out = at_s >= 0.0, at_t <= 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (s + t)
        found = rise(middle)
        falls = found < 0.0
        s, at_s, t, at_t = (np.where(falls, *pair) for pair in ((middle, s), (found, at_s), (t, middle), (at_t, found)))
    x = s + (t - s) * (at_s / (at_s - at_t))
    return np.where(out[0], a, np.where(out[1], b, np.where((x >= s) & (x <= t), x, 0.5 * (s + t))))


def _slopes(piece: Piece, a: Array, b: Array) -> Interval:
    """The hull of f' on [a, b], a part of the piece."""
    if piece.line is not None:
        return Interval(np.full(a.shape, piece.line[0]), np.full(a.shape, piece.line[0]))
    if piece.kind == KINK:
        return Interval(np.full(a.shape, piece.steep[0]), np.full(a.shape, piece.steep[1]))
    if piece.kind == BOUNDED:
        places = [np.minimum(a + (b - a) * (k / piece.parts), b) for k in range(piece.parts)] + [b]
        nodes = [piece.slope(Interval.of(x)) for x in places]
        step = Interval.of((b - a) / piece.parts) + Interval(0.0, 8 * 2.0**-53) * (np.abs(a) + np.abs(b) + 2.0**-1000)
        off = (step * piece.curved).high  # twice what half of a part gives
        low, high = np.min([n.low for n in nodes], axis=0), np.max([n.high for n in nodes], axis=0)
        return Interval(low, high) + Interval(-off, off)
    left, right = piece.slope(Interval.of(a)), piece.slope(Interval.of(b))
    return Interval(np.minimum(left.low, right.low), np.maximum(left.high, right.high))
