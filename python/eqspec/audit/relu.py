"""ReLU on affine forms: relu(x) - k x lies in [0, 2 h] for any slope k, which defines a generator: X = k x + h + h g.

D is X or -Y where the other is off, else d + (X - x) - (Y - y), or, where both may be on or off, between min(0, d) and
max(0, d), or X - Y written with as much of d as there is: c d + (k - c) x - (l - c) y + ..., for slopes k, l >= c.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .forms import Known, Runs, with_generators
from .rounding import Array, up


def chord(low: Array, high: Array, open_: Array, low_slope: float = 2.0**-30) -> Array:
    """A slope between 0 and 1: of the chord of max(0, x) where it is open."""
    with np.errstate(all="ignore"):
        slope = np.clip(high / (high - low), low_slope, 1.0)
    return np.where(open_, np.where(np.isnan(slope), 0.5, slope), 0.0)


def above(slope: Array, low: Array, high: Array) -> Array:
    """The largest max(0, v) - slope v on [low, high], which is at one of its ends; 0 only at v = 0."""
    ends = [np.maximum(up(1.0 - slope) * v, -slope * v) for v in (low, high)]
    return np.where((low == 0.0) & (high == 0.0), 0.0, up(np.maximum(*ends)))


def below(slope: Array, low: Array, high: Array) -> Array:
    """The least min(0, v) - slope v on [low, high]."""
    return -above(slope, -high, -low)


def relu(known: Known, low: Array, high: Array, within: Sequence[Runs], thinner: bool = False) -> Known:
    """X, Y and D of x, y and d, given bounds (3, m, B) of them; their own generators come behind these columns.

    Where both may be on or off, D is X - Y if it is to be the `thinner` of both forms and that is it: of the facts the
    chord takes D to be the other one.
    """
    off, on = high[:2] <= 0.0, (low[:2] >= 0.0) & (high[:2] > 0.0)
    open_ = ~off & ~on
    slope = np.where(on, 1.0, chord(low[:2], high[:2], open_))
    half = np.where(open_, up(0.5 * above(slope, low[:2], high[:2])), 0.0)
    own = open_[0] & open_[1]
    keep = chord(low[2], high[2], own, 0.0)
    most, least = above(keep, low[2], high[2]), below(keep, low[2], high[2])
    common = np.minimum(*slope)
    wide = common * (high[2] - low[2]) + ((slope - common) * (high[:2] - low[:2])).sum(0) + 2.0 * half.sum(0)
    apart = own & (wide < keep * (high[2] - low[2]) + (most - least)) & thinner
    own = own & ~apart
    both = ~own & ~apart & ~off[0] & ~off[1]  # there D = d + (X - x) - (Y - y)
    middle = np.where(own, 0.5 * (most + least), 0.0)
    radius = np.where(
        own & ((low[2] != 0.0) | (high[2] != 0.0)), up(np.maximum(up(most - middle), up(middle - least))), 0.0
    )
    kept = np.where(both, 1.0, np.where(apart, common, np.where(own, keep, 0.0)))
    shares = np.where(own, 0.0, slope - kept)  # the slope itself where either is off, as nothing of d is kept
    h1, h2 = (np.where(own, 0.0, h) for h in half)
    none = np.zeros(own.shape)
    factors = np.array([[slope[0], none, none], [none, slope[1], none], [shares[0], -shares[1], kept]])
    constants = np.array([*half, h1 - h2 + middle])
    sizes = [([half[0], none, h1], open_[0]), ([none, half[1], -h2], open_[1]), ([none, none, radius], own)]
    return with_generators(factors, known, constants, within, [(np.array(size), where) for size, where in sizes])
