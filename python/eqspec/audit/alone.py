"""Each network of a chain by itself: neurons as sums over earlier ones, step by step down to the inputs.

A functional a X + c of the values X = relu(x) behind a step is at least one of x, since for any slopes
alpha x <= relu(x) <= lam x + h on the range of x, each taken where the sign of a asks for it; and x = W V + b of the
values V behind the step below. On the way it is also at least what the ranges of X leave. So bounds of a neuron
are found that a zonotope does not find, nor finds it all of theirs: both are used.

What is computed is the functional from there on; what it misses by rounding is charged at once, with the sizes that
x, X and V have on the box. Functionals (P, m) are of one row on one box each, and share nothing but the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .reading import FIRST, SECOND, Both, Pair
from .relu import above, chord
from .rounding import MORE, TINY, Array, U, gamma, up

FEW, ENTRIES, WIDE = 64, 1 << 22, 1 << 12
"""With more free inputs than that a box is as good without; larger matrices are not written out."""


@dataclass(frozen=True)
class Layer:
    """x = weights (m, n) V + bias (m,) in one network, weights and constants off by so much."""

    weights: Array
    off: Array
    bias: Array
    lost: Array


@dataclass(frozen=True)
class Passed:
    """What a functional meets at a step, on every box (B, m): the slopes of relu and a height above, ranges behind it.

    `cost` and `tiny` (B,) are what a coefficient, and all products that underflow, may miss.
    """

    layer: Layer
    slope: Array
    height: Array
    lower: Array
    cost: Array
    tiny: Array
    least: Array
    most: Array


Chains: TypeAlias = tuple[tuple[Layer, ...], tuple[Layer, ...]]
"""Of both networks."""


def chains(pair: Pair) -> Chains:
    """The first steps, as long as each is a matrix, of the step before alone, and ReLU follows in both networks."""
    found: list[tuple[Layer, Layer]] = []
    for number, step in enumerate(pair.steps):
        columns = pair.widths[number - 1] if number else pair.inputs
        small = max(step.width, columns) <= WIDE and step.width * columns <= ENTRIES
        if not small or not step.curves or step.curved or step.sources - {number - 1}:
            break
        first, second = (_layer(step, kind, kind if number else FIRST, columns) for kind in (FIRST, SECOND))
        if first is None or second is None:
            break
        found.append((first, second))
    return tuple(first for first, _ in found), tuple(second for _, second in found)


def _layer(step: Both, kind: int, read: int, columns: int) -> Layer | None:
    """The matrix of x or y of a step; None where an entry is a sum of several, or of another kind than `read`."""
    near, off, seen = (np.zeros((step.width, columns + 1)) for _ in range(3))
    for link in step.links:
        starts = {start for start, to in link.pairs if to == kind}
        if starts - {read}:
            return None
        for tile in link.tiles if starts else ():
            places = tile.rows.swapaxes(1, 2)[..., None], tile.index[:, :, None]  # -1 is the column behind the last
            near[places], off[places] = tile.near[:, None], tile.off[:, None]
            np.add.at(seen, places, 1)
    if (seen[:, :-1] > 1).any():
        return None
    rows = slice(kind * step.width, (kind + 1) * step.width)
    return Layer(near[:, :-1].copy(), off[:, :-1].copy(), step.bias[rows, 0], step.lost[rows, 0])


class Alone:
    """One network on boxes with these inputs (n, B); steps are taken in order, each when its bounds are known."""

    def __init__(self, chain: tuple[Layer, ...], low: Array, high: Array) -> None:
        self.chain, self.ends, self.passed = chain, (low.T, high.T), list[Passed]()

    def _below(self) -> tuple[Array, Array]:
        """Ranges (B, n) of what the next step reads."""
        return (self.passed[-1].least, self.passed[-1].most) if self.passed else self.ends

    def take(self, low: Array, high: Array) -> None:
        """The next step has these bounds (m, B) in front of its ReLU."""
        layer, low, high = self.chain[len(self.passed)], low.T, high.T
        below, size = _size(*self._below()), _size(low, high)
        on, off = (low >= 0.0) & (high > 0.0), high <= 0.0
        slope = np.where(on, 1.0, chord(low, high, ~on & ~off))
        height = np.where(on | off, 0.0, above(slope, low, high))
        lower = np.where(on | (~off & (high > -low)), 1.0, 0.0)
        each, all_ = gamma(2 * len(layer.weights) + 8), gamma(len(layer.weights) + 2)
        lost = below @ (all_ * np.abs(layer.weights) + layer.off).T + layer.lost
        cost = (lost + each * np.abs(layer.bias) + 4.0 * U * size) * MORE + TINY
        tiny = TINY * (1.0 + below.sum(1) + size.sum(1))
        least, most = np.maximum(low, 0.0), np.maximum(high, 0.0)
        self.passed.append(Passed(layer, slope, height, lower, cost, tiny, least, most))

    def tightened(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Bounds (m, B) of the next step, where they leave open on which side of 0 a neuron is: the nearer end."""
        low, high, layer = low.copy(), high.copy(), self.chain[len(self.passed)]
        if not self.passed:
            return low, high  # the zonotope has those of the inputs
        row, box = np.nonzero((low < 0.0) & (high > 0.0))
        rising = -low[row, box] < high[row, box]
        sign, size = np.where(rising, 1.0, -1.0), _size(*self._below())
        missed = np.einsum("pn,pn->p", layer.off[row], size[box]) * MORE + layer.lost[row] + TINY
        best = self._least(sign[:, None] * layer.weights[row], sign * layer.bias[row], missed, box)
        good = np.isfinite(best)
        for ends, some, of in ((low, good & rising, 1.0), (high, good & ~rising, -1.0)):
            known = of * ends[row[some], box[some]]
            ends[row[some], box[some]] = of * np.maximum(known, best[some])
        return low, high

    def _least(self, a: Array, c: Array, missed: Array, box: Array) -> Array:
        """Lower bounds (P,) of functionals of what the last step that was taken gives."""
        best = [_at_ends(a, c, missed, *(ends[box] for ends in self._below()))]
        for one in reversed(self.passed):
            falls, rises = np.minimum(a, 0.0), np.maximum(a, 0.0)
            higher = _each(falls, one.height[box])
            t = falls * one.slope[box] + rises * one.lower[box]  # one of them is 0; to choose takes much longer
            rounded = gamma(2 * a.shape[1] + 8) * (np.abs(c) - higher) + _each(np.abs(t), one.cost[box])
            missed = (missed + rounded + one.tiny[box]) * MORE
            c = c + higher + t @ one.layer.bias
            a = t @ one.layer.weights
        best.append(_at_ends(a, c, missed, *(ends[box] for ends in self.ends)))
        return np.asarray(np.fmax(*best))


def _at_ends(a: Array, c: Array, missed: Array, least: Array, most: Array) -> Array:
    """The least of a v + c, less what it misses, for v within these ends (P, n)."""
    total = c + _each(np.maximum(a, 0.0), least) + _each(np.minimum(a, 0.0), most)
    rounded = gamma(2 * a.shape[1] + 8) * (np.abs(c) + _each(np.abs(a), _size(least, most)))
    return np.asarray(-up(-(total - up((missed + rounded) * MORE + TINY))))


def _each(a: Array, b: Array) -> Array:
    """Row by row the sum of products."""
    return np.asarray(np.einsum("pn,pn->p", a, b))


def _size(low: Array, high: Array) -> Array:
    return np.maximum(np.abs(low), np.abs(high))
