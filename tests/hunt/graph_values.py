"""The values of a plan at many points at once, exactly: integers over one denominator, of numpy.

Shapes: a value of a block at N points is (N, *shape). Weights are floats, so they are integers over a power of two, and
no block but a pool divides. Integers are int64 where a bound of the result, formed in integers of Python from the
largest numbers that are there, stays below 2^62; else they are Python's own, in arrays of objects. That this is the
same as the definitions of `graph_definitions`, number by number, is tested on random plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hunt import smooth
from hunt.graph_plans import SMOOTH, Array, Block, Plan

Integers = NDArray[Any]
"""Of int64, or of Python's integers."""
_MOST = 1 << 62


@dataclass(frozen=True)
class Values:
    """Numbers as integers over one denominator."""

    over: Integers
    denominator: int

    @classmethod
    def of(cls, points: Sequence[Sequence[Fraction]]) -> Values:
        """Points (N, I)."""
        denominator = lcm(*(x.denominator for point in points for x in point))
        over = [[x.numerator * (denominator // x.denominator) for x in point] for point in points]
        most = max((abs(x) for row in over for x in row), default=0)
        return cls(np.array(over, _type(most)), denominator)

    def fractions(self) -> list[list[Fraction]]:
        """The same, a list of rows."""
        return [[Fraction(x, self.denominator) for x in row] for row in self.over.reshape(len(self.over), -1).tolist()]

    def times(self, factor: int) -> Integers:
        """The integers over a denominator that is larger by a factor."""
        return _fitting(self.over, factor * (_most(self.over) + 1)) * factor

    def largest_difference(self, other: Values) -> Fraction:
        """The largest distance of two numbers at the same place."""
        a, b, denominator = _together(self, other)
        return Fraction(_most(a - b), denominator)


def evaluate(plan: Plan, points: Values) -> Values:
    """The outputs at points (N, I), exactly (see `Plan.exact`)."""
    values = [Values(points.over.reshape(-1, *plan.shape), points.denominator)]
    for block in plan.blocks:
        values.append(_value(block, [values[i] for i in block.reads]))
    return values[-1]


def _value(block: Block, given: list[Values]) -> Values:
    x = given[0]
    match block.kind:
        case "conv":
            windows = _windows(x.over, block.array("weight").shape[2], block.stride, block.pad)
            return _affine(Values(windows, x.denominator), block.array("weight"), block.array("bias"), block.shape)
        case "dense":
            flat = Values(x.over.reshape(len(x.over), 1, -1), x.denominator)
            return _affine(flat, block.array("weight"), block.array("bias"), block.shape)
        case "add" | "subtract":
            a, b, denominator = _together(*given)
            return Values(a + b if block.kind == "add" else a - b, denominator)
        case "concat":
            a, b, denominator = _together(*given)
            return Values(np.concatenate([a, b], axis=1), denominator)
        case "maxpool" | "meanpool":
            windows = _windows(x.over, 2, block.stride, 0)
            windows = windows.reshape(len(windows), *block.shape[1:], block.shape[0], 4)
            windows = np.moveaxis(windows, 3, 1)
            if block.kind == "maxpool":
                return Values(windows.max(axis=-1), x.denominator)
            return Values(_fitting(windows, 4 * _most(windows)).sum(axis=-1), 4 * x.denominator)
    return _function(block, x)


def _function(block: Block, x: Values) -> Values:
    match block.kind:
        case "norm":
            return _line(x, block.array("scale"), block.array("shift"))
        case "relu":
            return Values(np.maximum(x.over, 0), x.denominator)
        case "abs":
            return Values(np.abs(x.over), x.denominator)
        case "leaky" | "prelu":
            bent = _line(x, block.array("alpha" if block.kind == "leaky" else "slopes"), np.zeros(()))
            a, b, denominator = _together(x, bent)
            return Values(np.where(x.over > 0, a, b), denominator)
        case "clip":
            return _between(x, *block.array("ends"))
        case "floor":
            a, b, denominator = _together(x, _by_channel(block.array("least")))
            return Values(np.maximum(a, b), denominator)
        case "hard":
            return _between(_line(x, *block.array("line")), 0.0, 1.0)
        case "levels":
            return _levels(x, block.array("scale"), block.array("ends"))
    assert block.kind in SMOOTH
    made = [smooth.fixed(block.kind, n, x.denominator) for n in x.over.ravel().tolist()]
    return Values(np.array(made, object).reshape(x.over.shape), 1 << smooth.BITS)


def _affine(x: Values, weight: Array, bias: Array, shape: tuple[int, ...]) -> Values:
    """Of windows (N, places, k): weight (o, ...) and bias (o); the result is (N, *shape)."""
    w, b = _dyadic(weight.reshape(len(weight), -1)), _dyadic(bias)
    denominator = lcm(x.denominator * w.denominator, b.denominator)
    factor, shift = denominator // (x.denominator * w.denominator), b.times(denominator // b.denominator)
    rows = max((sum(map(abs, row)) for row in w.over.tolist()), default=0)
    most = (rows * _most(x.over) + 1) * factor + _most(shift)
    given, w_over = _fitting(x.over, most), _fitting(w.over, most)
    made = given @ w_over.T * factor + _fitting(shift, most)
    return Values(np.moveaxis(made, -1, 1).reshape(len(made), *shape), denominator)


def _line(x: Values, scale: Array, shift: Array) -> Values:
    """Numbers times and plus one, or one a channel."""
    a, b = _by_channel(scale), _by_channel(shift)
    most = _most(x.over) * _most(a.over)
    return _sum(Values(_fitting(x.over, most) * _fitting(a.over, most), x.denominator * a.denominator), b)


def _sum(x: Values, y: Values) -> Values:
    a, b, denominator = _together(x, y)
    return Values(a + b, denominator)


def _between(x: Values, low: float, high: float) -> Values:
    a, ends, denominator = _together(x, _dyadic(np.array([low, high])))
    return Values(np.minimum(np.maximum(a, ends[0]), ends[1]), denominator)


def _levels(x: Values, scale: Array, ends: Array) -> Values:
    """To the nearest multiple of a scale p / q > 0, ties to an even one: of n / d that is n q / (d p)."""
    p, q = (int(part) for part in scale.item().as_integer_ratio())
    low, high = (int(end) for end in ends)
    over, under = x.times(q), x.denominator * p
    over = _fitting(over, 4 * max(_most(over), under, p * max(abs(low), abs(high))))
    whole = over // under
    twice = 2 * (over - whole * under)
    level = whole + ((twice > under) | ((twice == under) & (whole % 2 == 1)))
    return Values(np.minimum(np.maximum(level, low), high) * p, q)


def _windows(over: Integers, kernel: int, stride: int, pad: int) -> Integers:
    """Of (N, c, h, w): (N, places, c kernel^2), zeros around it."""
    if pad:  # not by np.pad, which puts numpy's integers into arrays of objects
        n, channels, height, width = over.shape
        wide = np.full((n, channels, height + 2 * pad, width + 2 * pad), 0, over.dtype)
        wide[:, :, pad : pad + height, pad : pad + width] = over
        over = wide
    seen = sliding_window_view(over, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    seen = seen.transpose(0, 2, 3, 1, 4, 5)
    return seen.reshape(len(seen), seen.shape[1] * seen.shape[2], -1)


def _together(x: Values, y: Values) -> tuple[Integers, Integers, int]:
    """Over one denominator, with room for a sum of both."""
    denominator = lcm(x.denominator, y.denominator)
    f, g = denominator // x.denominator, denominator // y.denominator
    most = 2 * max(f * (_most(x.over) + 1), g * (_most(y.over) + 1))
    return _fitting(x.over, most) * f, _fitting(y.over, most) * g, denominator


def _by_channel(array: Array) -> Values:
    """One number, or one a channel, to stand beside (N, c, h, w)."""
    made = _dyadic(np.asarray(array))
    return Values(made.over.reshape(-1, 1, 1) if made.over.ndim else made.over, made.denominator)


def _dyadic(array: Array) -> Values:
    pairs = [x.as_integer_ratio() for x in array.ravel().tolist()]
    denominator = max((d for _, d in pairs), default=1)
    over = [n * (denominator // d) for n, d in pairs]
    return Values(np.array(over, _type(max(map(abs, over), default=0))).reshape(array.shape), denominator)


def _most(over: Integers) -> int:
    """The largest magnitude."""
    return int(max(over.max(), -over.min())) if over.size else 0


def _type(most: int) -> Any:
    return np.int64 if most < _MOST else object


def _fitting(over: Integers, most: int) -> Integers:
    """In a type that holds up to so much."""
    return over if most < _MOST and over.dtype != object else over.astype(object)
