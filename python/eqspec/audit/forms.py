"""Boxes through two networks in step: x in f1, y in f2 and d = x - y as forms with shared generators.

A form is centre + sum of generators, each in [-1, 1], +- an error that covers all rounding: z (m, B, 1 + generators),
err (m, B), for m quantities on B boxes. The same generator is the same number in all forms, so that for every input
there is one choice of generators at which every form holds. Each operation adds to err what it rounds.
Through ReLU: relu(x) - k x lies in [0, 2 h] for any slope k, which defines a generator: X = k x + h + h g. D is X or -Y
where the other is off, else d + (X - x) - (Y - y), or, where both may be on or off, between min(0, d) and max(0, d).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .ball import Ball
from .rounding import MORE, TINY, Array, U, gamma, up


class Form:
    """z (m, B, 1 + generators), the centre first, and err (m, B)."""

    def __init__(self, z: Array, err: Array) -> None:
        self.z, self.err = z, err

    @cached_property
    def spread(self) -> Array:
        """Of the generators, (m, B)."""
        return np.asarray(np.abs(self.z[..., 1:]).sum(-1))

    @cached_property
    def size(self) -> Array:
        """At least |centre| + spread + err, (m, B)."""
        return np.asarray((np.abs(self.z[..., 0]) + self.spread + self.err) * MORE)

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds (m, B), exact where nothing was rounded."""
        centre = self.z[..., 0]
        radius = self.spread + self.err
        radius = np.where(radius == 0.0, 0.0, (radius + 4.0 * U * np.abs(centre)) * MORE + TINY)
        return centre - radius, centre + radius

    def wide(self, generators: int) -> Form:
        """The same with more generators, which do not occur."""
        return Form(np.pad(self.z, ((0, 0), (0, 0), (0, generators + 1 - self.z.shape[2]))), self.err)

    def __getitem__(self, key: Array | slice) -> Form:
        return Form(self.z[key], self.err[key])

    def __neg__(self) -> Form:
        return Form(-self.z, self.err)

    def __add__(self, o: Form) -> Form:
        return Form(self.z + o.z, (self.err + o.err + 2.0 * U * (self.size + o.size)) * MORE)

    def __sub__(self, o: Form) -> Form:
        return self + -o

    def plus(self, constant: Array, off: Array | float = 0.0) -> Form:
        """Plus constants (m, B) or (m, 1), which may be off."""
        z = self.z.copy()
        z[..., 0] += constant
        rounded = np.where(constant == 0.0, 0.0, 2.0 * U * (np.abs(self.z[..., 0]) + np.abs(constant)))
        return Form(z, (self.err + rounded + off) * MORE)

    def times(self, factor: Array) -> Form:
        """Times factors (m, B) or (m, 1), each off by a unit at most; 0 and 1 are meant."""
        rounded = np.where((factor == 0.0) | (factor == 1.0), 0.0, 4.0 * U * np.abs(factor) * self.size + TINY)
        return Form(self.z * factor[..., None], (np.abs(factor) * self.err + rounded) * MORE)


def product(matrix: Array, form: Form, off: Array | float = 0.0) -> Form:
    """matrix (r, m) times the forms, where the matrix may be off elementwise."""
    z = (matrix @ form.z.reshape(len(form.z), -1)).reshape(len(matrix), *form.z.shape[1:])
    size = np.abs(matrix)
    rounded = (gamma(matrix.shape[1] + 2) * size + off) @ form.size
    used = ((size + off) != 0.0).any(axis=1, keepdims=True)
    return Form(z, np.where(used, (size @ form.err + rounded) * MORE + TINY, 0.0))


def join(forms: Sequence[Form]) -> Form:
    """All forms as one, which must have the same generators."""
    return Form(np.concatenate([f.z for f in forms]), np.concatenate([f.err for f in forms]))


class Pair:
    """Two networks in step: per layer (W1, b1), (W2, b2) with what they miss, and W1 - W2, b1 - b2 as floats."""

    def __init__(self, first: Sequence[Ball], second: Sequence[Ball]) -> None:
        depth = max(len(first), len(second))
        chains = [_deepen(list(layers), depth) for layers in (first, second)]
        self.inputs, self.outputs = first[0].c.shape[1] - 1, len(first[-1].c)
        self.widths = [max(len(a.c), len(b.c)) for a, b in zip(*chains, strict=True)]
        rows = list(zip(self.widths, [self.inputs, *self.widths], strict=False))
        self.first, self.second = ([_padded(a, *n) for a, n in zip(c, rows, strict=True)] for c in chains)
        together = zip(self.first, self.second, strict=True)
        self.identical = all((a.c == b.c).all() and not a.r.any() and not b.r.any() for a, b in together)


def _deepen(layers: list[Ball], depth: int) -> list[Ball]:
    """Identity layers after the last ReLU, where no value is negative; before them relu(y) - relu(-y) = y."""
    if len(layers) == 1 and depth > 1:
        only, one = layers[0], np.eye(len(layers[0].c))
        split = Ball(np.concatenate([only.c, -only.c]), np.concatenate([only.r, only.r]))
        layers = [split, Ball(np.concatenate([one, -one, 0.0 * one[:, :1]], axis=1))]
    width = layers[-1].c.shape[1] - 1
    return [*layers[:-1], *[Ball(np.eye(width, width + 1))] * (depth - len(layers)), layers[-1]]


def _padded(layer: Ball, rows: int, columns: int) -> Ball:
    """Zero rows, whose outputs nothing reads, and the zero columns that read them."""
    down, right = (0, rows - len(layer.c)), (0, columns + 1 - layer.c.shape[1])
    return layer.move(
        lambda a: np.concatenate([np.pad(a[:, :-1], (down, right)), np.pad(a[:, -1:], (down, (0, 0)))], 1)
    )


def affine(w1: Ball, w2: Ball, x: Form, y: Form, d: Form) -> tuple[Form, Form, Form]:
    """x' = W1 x + b1, y' = W2 y + b2, d' = W1 d + (W1 - W2) y + b1 - b2."""
    c1, c2, r1, r2 = (w[:, :-1] for w in (w1.c, w2.c, w1.r, w2.r))
    (b1, b2), (o1, o2) = ((w[:, -1:] for w in pair) for pair in ((w1.c, w2.c), (w1.r, w2.r)))
    change, shift = c1 - c2, b1 - b2
    moved = product(c1, d) + product(change, y, 2.0 * U * np.abs(change))
    own = (r1 @ x.size + r2 @ y.size) * MORE + TINY * (r1.any(1, keepdims=True) | r2.any(1, keepdims=True)) + o1 + o2
    moved = moved.plus(shift, 2.0 * U * np.abs(shift) + own)
    return product(c1, x, r1).plus(b1, o1), product(c2, y, r2).plus(b2, o2), moved


def exchange(low: Array, high: Array) -> tuple[Array, Array]:
    """x = y + d, y = x - d, d = x - y on bounds (3, m, B). Where they contradict each other, low > high."""
    low, high = low.copy(), high.copy()
    for i, j, k, sign in ((0, 1, 2, 1.0), (1, 0, 2, -1.0), (2, 0, 1, -1.0)):  # i = j + sign k
        least, most = (low[k], high[k]) if sign > 0.0 else (-high[k], -low[k])
        low[i], high[i] = np.maximum(low[i], -up(-(low[j] + least))), np.minimum(high[i], up(high[j] + most))
    return low, high


def chord(low: Array, high: Array, open_: Array, low_slope: float = 2.0**-30) -> Array:
    """A slope between 0 and 1: of the chord of max(0, x) where it is open."""
    with np.errstate(all="ignore"):
        slope = np.clip(high / (high - low), low_slope, 1.0)
    return np.where(open_, np.where(np.isnan(slope), 0.5, slope), 0.0)


def above(slope: Array, low: Array, high: Array) -> Array:
    """The largest max(0, v) - slope v on [low, high], which is at one of its ends."""
    ends = [np.where(v > 0.0, up(1.0 - slope) * v, -slope * v) for v in (low, high)]
    return np.asarray(up(np.maximum(*ends)))


def below(slope: Array, low: Array, high: Array) -> Array:
    """The least min(0, v) - slope v on [low, high]."""
    return -above(slope, -high, -low)


def _fresh(sizes: Array, where: Array) -> Array:
    """A generator for each quantity in `where` (m, B), the k-th of a box in column k."""
    rank = where.cumsum(axis=0) - 1
    block = np.zeros((*where.shape, int(where.sum(axis=0).max(initial=0))))
    i, b = np.nonzero(where)
    block[i, b, rank[i, b]] = sizes[i, b]
    return block


def relu(forms: Sequence[Form], low: Array, high: Array) -> tuple[Form, Form, Form]:
    """X, Y and D, given bounds (3, m, B) of x, y and d."""
    x, y, d = forms
    off, on = high[:2] <= 0.0, (low[:2] >= 0.0) & (high[:2] > 0.0)
    open_ = ~off & ~on
    slope = np.where(on, 1.0, chord(low[:2], high[:2], open_))
    half = np.where(open_, up(0.5 * above(slope, low[:2], high[:2])), 0.0)
    own, either = open_[0] & open_[1], ~off[0] & ~off[1]
    keep = chord(low[2], high[2], own, 0.0)
    most, least = above(keep, low[2], high[2]), below(keep, low[2], high[2])
    middle = np.where(own, 0.5 * (most + least), 0.0)
    radius = np.where(own, up(np.maximum(up(most - middle), up(middle - least))), 0.0)
    both = either & ~own  # there D = d + (X - x) - (Y - y)
    shares = np.where(own | off[::-1] & off, 0.0, np.where(both, slope - 1.0, slope)) * np.where(off, 0.0, 1.0)
    h1, h2 = (np.where(own | off[k], 0.0, half[k]) for k in (0, 1))
    blocks = [_fresh(half[0], open_[0]), _fresh(half[1], open_[1]), _fresh(radius, own)]
    used = [(half[0], [1, 0, 0]), (half[1], [0, 1, 0])]
    passed = []
    for k, form in enumerate((x, y)):
        new = form.times(slope[k]).plus(half[k])
        passed.append(
            Form(np.concatenate([new.z, *(b * u for b, u in zip(blocks, used[k][1], strict=True))], 2), new.err)
        )
    new = d.times(np.where(both, 1.0, keep)) + x.times(shares[0]) - y.times(shares[1])
    new = new.plus(h1).plus(-h2).plus(middle)
    mine = [_fresh(h1, open_[0]), -_fresh(h2, open_[1]), blocks[2]]
    return passed[0], passed[1], Form(np.concatenate([new.z, *mine], 2), new.err)
