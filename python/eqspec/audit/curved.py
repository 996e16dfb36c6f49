"""X, Y and D = X - Y behind the functions of a step, given x, y and d in front of them: as forms, and as facts.

X = lam x + c + h a with a generator a, where f - lam x lies within h of c on the range of x; Y alike, with the same
slope where the ranges are about the same. What is thinner than rounding, as where a sigmoid is saturated, is an error
and no generator. For D there are two rules; of each neuron the one that reaches less far is taken:

    share    D = lam1 x - lam2 y + c1 - c2 + h1 a1 - h2 a2, written with as much of d as both slopes have,
    own      D = lam d + rest, where D is s d for a slope s of f between both ranges (mean value theorem), so that the
             rest is (s - lam) d; it is also f(x) - lam x less f(y) - lam y. A new generator has what both allow.

Where the second network has another function g, f(y) - g(y) is added to s d; or f(x) - g(x), s being a slope of g, if
f jumps. Facts are lines below and above f over the range of x, and lines below and above D over that of d: (s - lam) d
is linear in s and in d, so its bounds are at the ends, and the best slopes are those of its chords. Of ranges that do
not lie in the domain of a function all of it is not a number, and nothing follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .forms import Known, Runs, with_generators
from .functions import Interval, Relaxation
from .functions.interval import choose
from .functions.relaxation import LOWER_LEFT, LOWER_RIGHT, STRIP, UPPER_LEFT, UPPER_RIGHT
from .reading import Both
from .rounding import MORE, TINY, Array, up

BESIDE = [LOWER_LEFT, LOWER_RIGHT, UPPER_LEFT, UPPER_RIGHT]
THIN = 2.0**-40
"""Of the size of X: below that a strip is an error."""
ALIKE = 0.05
"""Of the width of a range: by so much may another one differ that has the same slope."""
PARTS = 8
"""Of a range on which two functions are compared."""


@dataclass(frozen=True)
class Functions:
    """Those of rows of a step in both networks, and where they differ (m,)."""

    first: Relaxation
    second: Relaxation
    differ: Array

    @classmethod
    def of(cls, step: Both, rows: Array | None = None) -> Functions:
        """Of a step, or of some of its rows."""
        some = np.arange(step.width) if rows is None else rows
        first, second = (Relaxation(curves, step.width).of(some) for curves in (step.curves, step.others))
        return cls(first, second, np.array([a != b for a, b in zip(first.each, second.each, strict=True)], bool))

    def offset(self, lam: Array, low: Array, high: Array) -> Interval:
        """Within which f(x) - lam x and g(y) - lam y lie on ranges (2, m, B), for slopes (..., 2, m, B)."""
        if not self.differ.any():
            return self.first.offset(lam, low, high)
        both = [one.offset(lam[..., k, :, :], low[k], high[k]) for k, one in enumerate((self.first, self.second))]
        return Interval(np.stack([one.low for one in both], -3), np.stack([one.high for one in both], -3))

    def chosen(self, low: Array, high: Array) -> Array:
        """Slopes (5, 2, m, B) of strips and lines, with one strip for ranges that are alike."""
        if self.differ.any():
            both = [one.chosen(low[k], high[k]) for k, one in enumerate((self.first, self.second))]
            return np.stack(both, axis=1)
        found = self.first.chosen(low, high)
        wide = ALIKE * (high[0] - low[0])
        alike = (np.abs(low[1] - low[0]) <= wide) & (np.abs(high[1] - high[0]) <= wide)
        found[STRIP, 1] = np.where(alike, found[STRIP, 0], found[STRIP, 1])
        return found

    def rise(self, low: Array, high: Array) -> tuple[Interval, Interval]:
        """Within which s and r lie where f(x) - g(y) = s d + r, given bounds (3, m, B) of x, y and d.

        s are slopes of f and r = f(y) - g(y), or those of g and r = f(x) - g(x) where f jumps and g does not.
        """
        hull = np.minimum(low[0], low[1]), np.maximum(high[0], high[1])
        slopes, ends = self.first.slopes(*hull), (low[1], high[1])
        if self.differ.any():
            other = self.second.slopes(*hull)
            steep = [np.isinf(one.high - one.low) for one in (slopes, other)]
            jumps = self.differ[:, None] & steep[0] & ~steep[1]
            slopes = choose(jumps, other, slopes)
            ends = np.where(jumps, low[0], ends[0]), np.where(jumps, high[0], ends[1])
        return slopes, self._apart(*ends)

    def _apart(self, low: Array, high: Array) -> Interval:
        """Within which f - g lies on these (m, B): both lie in strips of the same slope, from knot to knot."""
        least, most, rows = np.zeros(low.shape), np.zeros(low.shape), np.flatnonzero(self.differ)
        if len(rows):
            f, g, first, last, found = self.first.of(rows), self.second.of(rows), low[rows], high[rows], []
            inner = [first + (last - first) * (k / PARTS) for k in range(1, PARTS)]
            inner += [knots[:, None] + 0.0 * first for knots in (*f.knots, *g.knots)]
            for a, b in pairwise([first, *np.sort(np.clip(inner, first, last), axis=0), last]):
                lam = f.chosen(a, b)[STRIP]
                found.append(f.offset(lam, a, b) - g.offset(lam, a, b))
            least[rows] = np.min([one.low for one in found], axis=0)
            most[rows] = np.max([one.high for one in found], axis=0)
        return Interval(least, most)


def curved(known: Known, low: Array, high: Array, within: Sequence[Runs], functions: Functions) -> Known:
    """X, Y and D of x, y and d, given bounds (3, m, B) of them; their own generators come behind these columns."""
    slope, rise = functions.chosen(low[:2], high[:2])[STRIP], functions.rise(low, high)
    kept = _kept(rise[0], low[2], high[2], 0.5 * (slope[0] + slope[1]))
    strips = functions.offset(np.stack([slope, *np.stack([kept, kept], 1)]), low[:2], high[:2])
    (c1, c2), (h1, h2) = _centred(strips[0])
    lam1, lam2 = slope
    size = np.abs([c1, c2]) + np.abs(slope) * np.maximum(np.abs(low[:2]), np.abs(high[:2]))
    open1, open2 = np.array([h1, h2]) > THIN * size
    middle, radius = _centred(_rest(rise, low[2], high[2], kept, strips[1:]))
    reach = np.abs(kept) * (0.5 * high[2] - 0.5 * low[2]) + radius
    keep, middle, radius = (np.where(reach[1] < reach[0], v[1], v[0]) for v in (kept, middle, radius))
    less = np.abs(lam1) <= np.abs(lam2)
    of_d, half = np.where(less, lam1, lam2), 0.5 * high - 0.5 * low
    beside = np.abs(lam1 - lam2) * np.where(less, half[1], half[0])
    share = np.abs(of_d) * half[2] + beside + h1 + h2 < np.abs(keep) * half[2] + radius
    own = ~share & (radius > THIN * (np.abs(middle) + np.abs(keep) * half[2]))
    none = np.zeros(share.shape)
    of_x, of_y = np.where(share & ~less, lam1 - lam2, 0.0), np.where(share & less, lam1 - lam2, 0.0)
    factors = np.array([[lam1, none, none], [none, lam2, none], [of_x, of_y, np.where(share, of_d, keep)]])
    loose1, loose2 = np.where(open1, 0.0, h1), np.where(open2, 0.0, h2)
    lost = [loose1, loose2, np.where(share, up(loose1 + loose2), np.where(own, 0.0, radius))]
    bad = np.isnan(c1) | np.isnan(c2)  # no function is defined there, though d may be 0
    shared = [np.where(share, h, 0.0) for h in (h1, h2)]
    sizes = [([h1, none, shared[0]], open1), ([none, h2, -shared[1]], open2), ([none, none, radius], own)]
    constants, new = np.array([c1, c2, np.where(share, c1 - c2, middle)]), [(np.array(s), where) for s, where in sizes]
    found = with_generators(factors, known, constants, within, new)
    for form, off in zip(found.forms, np.where(bad, np.nan, np.array(lost)), strict=True):
        form.err = np.where(off == 0.0, form.err, up(form.err + off) + TINY)
        form.size = (form.size + form.err) * MORE
    return found


def _centred(off: Interval) -> tuple[Array, Array]:
    """The middle, and at least what it is from both ends; exact where both are one."""
    exact = off.low == off.high
    centre = np.where(exact, off.low, 0.5 * off.low + 0.5 * off.high)
    return centre, np.where(exact, 0.0, up(np.maximum(up(off.high - centre), up(centre - off.low))))


def _kept(slopes: Interval, low: Array, high: Array, wanted: Array) -> Array:
    """Two slopes of D (2, m, B), given ranges of d: as its chord has it, and the one that is wanted, or near it."""
    with np.errstate(all="ignore"):
        share = np.clip(np.nan_to_num(high / (high - low), nan=0.5), 0.0, 1.0)
    share = np.where((low < 0.0) & (high > 0.0), share, 0.5)
    kept = np.stack([slopes.low + (slopes.high - slopes.low) * share, np.clip(wanted, slopes.low, slopes.high)])
    return np.where(np.isfinite(kept), kept, 0.0)


def _rest(rise: tuple[Interval, Interval], low: Array, high: Array, keep: Array, strips: Interval) -> Interval:
    """Within which D - keep d lies, for slopes (k, m, B), of which `strips` (k, 2, m, B) are the offsets."""
    by_slopes = (rise[0] - keep) * Interval(low, high) + rise[1]
    by_strips = strips[:, 0] - strips[:, 1]
    least, most = np.fmax(by_slopes.low, by_strips.low), np.fmin(by_slopes.high, by_strips.high)
    bad = ~(least <= most)
    return Interval(np.where(bad, by_slopes.low, least), np.where(bad, by_slopes.high, most))


def lines(functions: Functions, low: Array, high: Array) -> tuple[Array, Array]:
    """Slopes and constants (10, m) of the lines by X, Y and D that `bounds` names, given bounds (3, m, 1)."""
    slopes, apart = functions.rise(low, high)
    chords = []
    for least, most in ((slopes.low, slopes.high), (slopes.high, slopes.low)):  # of min(m d, M d) and max(m d, M d)
        slope = (least * high[2] - most * low[2]) / (high[2] - low[2])
        slope = np.where(low[2] >= 0.0, least, np.where(high[2] <= 0.0, most, slope))
        chords.append(np.where(np.isfinite(slope), slope, 0.0))
    chosen, both = functions.chosen(low[:2], high[:2])[BESIDE], np.stack([chords, chords], 1)
    off = functions.offset(np.concatenate([chosen, both]), low[:2], high[:2])
    rest = _rest((slopes, apart), low[2], high[2], np.array(chords), off[len(BESIDE) :])
    ends = np.concatenate([off.low[:2], off.high[2 : len(BESIDE)]])
    steep = [*chosen[:, 0], *chosen[:, 1], *chords]
    return np.array(steep)[..., 0], np.array([*ends[:, 0], *ends[:, 1], rest.low[0], rest.high[1]])[..., 0]
