"""X, Y and D = X - Y behind the functions of a step, given x, y and d in front of them: as forms, and as facts.

X = lam x + c + h a with a generator a, where f - lam x lies within h of c on the range of x; Y alike. What is thinner
than rounding, as where a sigmoid is saturated, is an error and no generator. For D there are two rules; of each neuron
the one that reaches less far is taken:

    share    D = lam1 x - lam2 y + c1 - c2 + h1 a1 - h2 a2, written with as much of d as both slopes have,
    own      D = lam d + rest, where D is s d for a slope s of f between both ranges (mean value theorem), so that the
             rest is (s - lam) d; it is also f(x) - lam x less f(y) - lam y. A new generator has what both allow.

Facts are lines below and above f over the range of x, and lines below and above D over that of d: (s - lam) d is linear
in s and in d, so its bounds are at the ends, and the best slopes are those of its chords. Of ranges that do not lie in
the domain of a function all of it is not a number, and nothing follows.
"""

from __future__ import annotations

import numpy as np

from .forms import Form, combine, new_generators
from .functions import Interval, Relaxation
from .functions.relaxation import LOWER_LEFT, LOWER_RIGHT, UPPER_LEFT, UPPER_RIGHT
from .rounding import TINY, Array, up

LINES = ("X - left", "X - right", "left - X", "right - X", "Y - left", "Y - right", "left - Y", "right - Y")
"""Facts about one network: lines below and above f, by the end of the range that they come from."""
CHORDS = ("D - below", "above - D")
THIN = 2.0**-44
"""Of the size of X: below that a strip is mostly rounding."""


def curved(form: Form, low: Array, high: Array, wide: int, functions: Relaxation) -> Form:
    """X, Y and D of x, y and d, given bounds (3, m, B) of them; their own generators come behind `wide` others."""
    strips = functions.strip(low[:2], high[:2])
    (lam1, lam2), (c1, c2), (h1, h2) = strips.slope, strips.centre, strips.half
    size = np.abs(strips.centre) + np.abs(strips.slope) * np.maximum(np.abs(low[:2]), np.abs(high[:2]))
    open1, open2 = strips.half > THIN * size
    keep, rest = _own(functions, low, high, 0.5 * (lam1 + lam2))
    middle = np.where(rest.low == rest.high, rest.low, 0.5 * (rest.low + rest.high))
    radius = np.where(
        rest.low == rest.high, 0.0, up(np.maximum(up(rest.high - middle), up(middle - rest.low)))
    )
    less = np.abs(lam1) <= np.abs(lam2)
    of_d, wide_of = np.where(less, lam1, lam2), 0.5 * (high - low)
    beside = np.abs(lam1 - lam2) * np.where(less, wide_of[1], wide_of[0])
    share = np.abs(of_d) * wide_of[2] + beside + h1 + h2 < np.abs(keep) * wide_of[2] + radius
    own = ~share & (radius > THIN * np.maximum(*size))
    none = np.zeros(share.shape)
    of_x, of_y = np.where(share & ~less, lam1 - lam2, 0.0), np.where(share & less, lam1 - lam2, 0.0)
    factors = np.array([[lam1, none, none], [none, lam2, none], [of_x, of_y, np.where(share, of_d, keep)]])
    new = combine(factors, form, np.array([c1, c2, np.where(share, c1 - c2, middle)]))
    shared = [np.where(share, h, 0.0) for h in (h1, h2)]
    lost = [np.where(open1, 0.0, h1), np.where(open2, 0.0, h2)]
    lost.append(np.where(share, np.where(open1, 0.0, h1) + np.where(open2, 0.0, h2), np.where(own, 0.0, radius)))
    bad = np.isnan(c1) | np.isnan(c2)  # no function is defined there, though d may be 0
    off = np.where(bad, np.nan, np.array(lost))
    err = new.err + np.where(off == 0.0, 0.0, up(off) + TINY).reshape(new.err.shape)
    sizes = [([h1, none, shared[0]], open1), ([none, h2, -shared[1]], open2), ([none, none, radius], own)]
    others = np.zeros((*err.shape, wide - new.z.shape[2]))
    z = np.concatenate([new.z, others, *(new_generators(np.array(s), w) for s, w in sizes)], axis=2)
    return Form(z, np.where(err == new.err, err, err * (1.0 + 2.0**-50)))


def _own(functions: Relaxation, low: Array, high: Array, wanted: Array) -> tuple[Array, Interval]:
    """A slope of D, near the wanted one, and within which D - slope d lies."""
    slopes = functions.slopes(np.minimum(low[0], low[1]), np.maximum(high[0], high[1]))
    keep = np.clip(wanted, slopes.low, slopes.high)
    keep = np.where(np.isfinite(keep), keep, 0.0)
    return keep, _rest(functions, low, high, slopes, keep)


def _rest(functions: Relaxation, low: Array, high: Array, slopes: Interval, keep: Array) -> Interval:
    """Within which D - keep d lies."""
    by_slopes = (slopes - keep) * Interval(low[2], high[2])
    strips = functions.offset(np.array([keep, keep]), low[:2], high[:2])
    apart = strips[0] - strips[1]
    least, most = np.fmax(by_slopes.low, apart.low), np.fmin(by_slopes.high, apart.high)
    bad = np.isnan(strips.low).any(0) | np.isnan(strips.high).any(0) | (least > most)
    return Interval(np.where(bad, by_slopes.low, least), np.where(bad, by_slopes.high, most))


def line(fact: str, functions: Relaxation, low: Array, high: Array) -> tuple[Array, Array]:
    """Slope and constant (m, 1) of the line of a fact of `LINES` or `CHORDS`, given bounds (3, m, 1): f - slope - constant
    >= 0 where it is below f or D, slope + constant - f >= 0 where it is above."""
    if fact in CHORDS:
        slopes = functions.slopes(np.minimum(low[0], low[1]), np.maximum(high[0], high[1]))
        least, most = (slopes.low, slopes.high) if fact == CHORDS[0] else (slopes.high, slopes.low)
        # of min(m d, M d) and max(m d, M d): the slope at the left end is that of M, or of m
        slope = (least * high[2] - most * low[2]) / (high[2] - low[2])
        slope = np.where(low[2] >= 0.0, least, np.where(high[2] <= 0.0, most, slope))
        slope = np.where(np.isfinite(slope), slope, 0.0)
        rest = _rest(functions, low, high, slopes, slope)
        return slope, rest.low if fact == CHORDS[0] else rest.high
    which, number = (LOWER_LEFT, LOWER_RIGHT, UPPER_LEFT, UPPER_RIGHT)[LINES.index(fact) % 4], LINES.index(fact) // 4
    slope = functions.chosen(low[number], high[number])[which]
    off = functions.offset(slope, low[number], high[number])
    return slope, off.low if which in (LOWER_LEFT, LOWER_RIGHT) else off.high
