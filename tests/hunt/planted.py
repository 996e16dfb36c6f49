"""Differences hidden where sampling does not look: spikes and ridges added to a network, exactly.

A spike is a new part of the network that is 0 but near one place and known there: at a corner one neuron is enough,
along an edge too, inside it takes a hidden layer more. Everything is dyadic, so heights are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oracle.pairs import Random
from oracle.pieces import Layers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Planted:
    """Two networks on [-1, 1]^I that differ at `point`, by `height` in the given output, and in a small region only."""

    reference: Layers
    candidate: Layers
    point: tuple[Fraction, ...]
    output: int
    height: Fraction
    share: float
    """How much of the box differs at all, about."""


def base(rng: Random, inputs: int, outputs: int, width: int = 4) -> Layers:
    """A random network with two hidden layers, of small dyadic weights."""
    sizes = [inputs, width, width, outputs]
    return [(rng.integers(-8, 9, (m, n)) / 8.0, rng.integers(-8, 9, m) / 8.0) for n, m in pairwise(sizes)]


def at_a_face(rng: Random, inputs: int, outputs: int, fixed: int, width: Fraction) -> Planted:
    """Near the face where `fixed` of the inputs are at an end: a corner if that is all, an edge if all but one."""
    chosen = rng.permutation(inputs)[:fixed]
    side = np.zeros(inputs)
    side[chosen] = rng.choice([-1.0, 1.0], fixed)
    # relu(side . x - (fixed - width)) is at most `width`, on the face
    point = [Fraction(int(s)) if s else Fraction(int(rng.integers(-8, 9)), 8) for s in side]
    return _grown(rng, base(rng, inputs, outputs), [(side, float(width) - fixed)], width, point, float(width) ** fixed)


def inside(rng: Random, inputs: int, outputs: int, width: Fraction) -> Planted:
    """Around a point inside: relu(width - sum |x_i - c_i|)."""
    point = [Fraction(int(n), 16) for n in rng.integers(-15, 16, inputs)]
    rows = [(sign * np.eye(inputs)[i], -sign * float(c)) for i, c in enumerate(point) for sign in (1.0, -1.0)]
    return _grown(rng, base(rng, inputs, outputs), rows, width, point, float(width) ** inputs, behind=True)


def along_a_ridge(rng: Random, inputs: int, outputs: int, width: Fraction) -> Planted:
    """Along a hyperplane through a point inside: relu(width - |a . (x - c)|)."""
    point = [Fraction(int(n), 16) for n in rng.integers(-15, 16, inputs)]
    a = rng.integers(-4, 5, inputs).astype(np.float64)
    a[int(rng.integers(inputs))] = 4.0
    level = float(sum(Fraction(x) * c for x, c in zip(a.tolist(), point, strict=True)))
    rows = [(a, -level), (-a, level)]
    return _grown(rng, base(rng, inputs, outputs), rows, width, point, float(width), behind=True)


def _grown(
    rng: Random,
    layers: Layers,
    rows: Sequence[tuple[Array, float]],
    width: Fraction,
    point: Sequence[Fraction],
    share: float,
    *,
    behind: bool = False,
) -> Planted:
    """The network, and it with relu of the rows in its first layer; `behind`: and relu(width - their sum) in the next.

    Without `behind` the (one) row goes through the second layer as it is. The spike enters one output, times 2^k.
    """
    (w1, b1), (w2, b2), (w3, b3) = layers
    more = len(rows)
    first = (np.concatenate([w1, [row for row, _ in rows]]), np.append(b1, [offset for _, offset in rows]))
    through = np.concatenate([np.zeros(w2.shape[1]), np.full(more, -1.0 if behind else 1.0)])
    wider = np.concatenate([np.concatenate([w2, np.zeros((len(w2), more))], axis=1), through[None, :]])
    second = (wider, np.append(b2, float(width) if behind else 0.0))
    output, factor = int(rng.integers(len(b3))), 2.0 ** int(rng.integers(0, 8))
    column = np.zeros((len(b3), 1))
    column[output] = factor * float(rng.choice([-1, 1]))
    third = (np.concatenate([w3, column], axis=1), b3)
    return Planted(layers, [first, second, third], tuple(point), output, width * Fraction(factor), share)
