"""Two networks in step, in floats: layers of equal widths, and by how much every float is off.

x' = W1 x + b1 and y' = W2 y + b2 give d' = W1 d + (W1 - W2) y + b1 - b2. W1 - W2 is formed of the exact numbers before
it is rounded, so what both files define alike (square roots included, as `surd`) leaves exactly nothing, and the error
of such a W1 acts on d alone. What a runtime may be off is of each file by itself, and is added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..opening import limits
from ..rounding import Array, Refused, up
from ..rounding import rational as rationals
from .file import File
from .surd import rational

Rows = tuple[Sequence[Mapping[int, Fraction]], Sequence[Mapping[int, Fraction]]]
"""Sums of outputs of each, which are the last layer instead of the outputs themselves."""


class Pair:
    """Two networks, given as layers (2, m, n + 1): what is exact and what is missing, the constants last.

    Per layer of m neurons, x, y and d (3 m) are floats times those of the layer before, plus constants, all maybe off.
    """

    def __init__(self, first: list[Array], second: list[Array], rows: Rows) -> None:
        depth = max(len(first), len(second))
        if depth * max(layers[-1].shape[2] for layers in (first, second)) ** 2 > limits.STEP:
            raise Refused("one of the networks is too deep for the width of the other")
        chains = [_deepen(layers, depth) for layers in (first, second)]
        for chain, part in zip(chains, rows, strict=True):
            chain[-1] = np.stack([_sum([_times(c, chain[-1][:, o]) for o, c in row.items()]) for row in part], axis=1)
        self.inputs, self.outputs = first[0].shape[2] - 1, first[-1].shape[1]
        self.widths = [max(a.shape[1], b.shape[1]) for a, b in zip(*chains, strict=True)]
        if sum(9 * a * b for a, b in pairwise([self.inputs, *self.widths])) > limits.STEP:
            raise Refused("the two networks in step are larger than the auditor computes with")
        self.layers = []
        for before, width, *layers in zip([0, *self.widths], self.widths, *chains, strict=False):
            a, b = (_padded(layer, width, before or self.inputs) for layer in layers)
            near, off = zip(*(_floats(*one) for one in (a, b, np.stack([a[0] - b[0], a[1] + b[1]]))), strict=True)
            self.layers.append((*_step(near, not before), *_step(off, not before)))

    @classmethod
    def of(cls, first: File, second: File, rows: Rows) -> Pair:
        """Of two files; kept, for many certificates about one pair."""
        return kept(first, second, tuple(tuple(tuple(row.items()) for row in part) for part in rows))


@lru_cache(maxsize=1)
def kept(first: File, second: File, rows: tuple[tuple[tuple[tuple[int, Fraction], ...], ...], ...]) -> Pair:
    """The last one."""
    one, other = ([dict(row) for row in part] for part in rows)
    return Pair(first.layers(), second.layers(), (one, other))


def _sum(parts: list[Array]) -> Array:
    return np.asarray(sum(parts[1:], parts[0]))


def _times(factor: Fraction, values: Array) -> Array:
    if abs(factor) == 1:  # as in most claims
        return values if factor == 1 else np.stack([-values[0], values[1]])
    return np.asarray(values * np.array([[factor], [abs(factor)]]))


def _deepen(layers: list[Array], depth: int) -> list[Array]:
    """Identity layers after the last ReLU, where no value is negative; before them relu(y) - relu(-y) = y."""
    if len(layers) == 1 and depth > 1:
        minus, one = np.array([[[-1]], [[1]]]), _same(layers[0].shape[1])
        layers = [
            np.concatenate([layers[0], minus * layers[0]], axis=1),
            np.concatenate([one[..., :-1], minus * one], 2),
        ]
    return [*layers[:-1], *[_same(layers[-1].shape[2] - 1)] * (depth - len(layers)), layers[-1]]


def _same(width: int) -> Array:
    """A layer that changes nothing."""
    exact = np.eye(width, width + 1, dtype=int)
    return np.stack([exact, 0 * exact]).astype(object)


def _padded(layer: Array, rows: int, columns: int) -> Array:
    """Zero rows, whose outputs nothing reads, and the zero columns that read them."""
    made = np.full((2, rows, columns + 1), 0, object)
    made[:, : layer.shape[1], : layer.shape[2] - 1], made[:, : layer.shape[1], -1] = layer[..., :-1], layer[..., -1]
    return made


def _floats(exact: Array, missing: Array) -> tuple[Array, Array]:
    """The nearest floats, and by how much each of them is off."""
    exact, gap = rational(np.stack([exact, missing]))
    try:
        near = exact.astype(np.float64)
    except OverflowError:
        raise Refused("weights leave the range of floats") from None
    ratio = np.frompyfunc(lambda x: x.as_integer_ratio(), 1, 1)
    inexact = np.asarray(ratio(exact) != ratio(near), bool)
    gap[inexact] += np.abs(exact[inexact] - rationals(near[inexact]))
    off = np.where(gap != 0, up(gap.astype(np.float64)), 0.0)
    if not (np.isfinite(near).all() and np.isfinite(off).all()):
        raise Refused("weights leave the range of floats")
    return near, off


def _step(layers: Sequence[Array], inputs: bool) -> tuple[Array, Array]:
    """x' = W1 x + b1, y' = W2 y + b2, d' = W1 d + (W1 - W2) y + b1 - b2; inputs are the same for both."""
    (w1, b1), (w2, b2), (change, shift) = ((w[:, :-1], w[:, -1:]) for w in layers)
    none = np.zeros(w1.shape)
    table = [[w1], [w2], [change]] if inputs else [[w1, none, none], [none, w2, none], [none, change, w1]]
    return np.block(table), np.concatenate([b1, b2, shift])
