"""Piecewise linear operators: of one value they are the function of a step, of two they are written with ReLU:

    max(a, b) = b + relu(a - b),   min(a, b) = b - relu(b - a),
    and in float32, or with a slope that is no float, leaky(v) = (1 - a) relu(v) + a v.

In float32 the operators themselves round no more than what is counted here, as sums and products of their operands.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..functions import BENT, Curve, clip, joined
from ..functions import leaky as function
from ..rounding import Array, Refused
from .program import Operand, Program
from .value import Value


def leaky(program: Program, value: Value, slope: Array) -> Value:
    """The slope, which may differ, left of 0."""
    known = exact_floats(slope)
    if known is not None and not program.kind.rounds:
        slopes = np.broadcast_to(known, value.shape) + 0.0
        if (slopes == 1.0).all():
            return value
        return program.step(value, BENT if not slopes.any() else joined([function(s) for s in slopes.ravel().tolist()]))
    value = program.settled(value)
    rest = program.effort.done(np.subtract, np.ones(()), slope)
    return program.added(program.scaled(program.step(value, BENT), rest), program.scaled(value, slope))


def exact_floats(constants: Array) -> Array | None:
    """Constants as floats, if they are."""
    if constants.dtype != object:
        return constants
    if all(isinstance(n.c, Fraction) and not n.k and Fraction(float(n.c)) == n.c for n in constants.ravel()):
        return np.array([float(n.c) for n in constants.ravel()]).reshape(constants.shape)
    return None


def absolute(program: Program, value: Value) -> Value:
    """Its size."""
    return program.step(value, (Curve("pieces", (1.0, 0.0, -1.0, 1.0, 0.0)),))


def clipped(program: Program, value: Value, low: float, high: float) -> Value:
    """Between these numbers; infinite ones do nothing."""
    if low == high:
        return program.constant_where(value, np.full(value.shape, low))
    if not low < high:
        raise Refused("a Clip between numbers in the wrong order, which runtimes read in two ways")
    program.held |= {low, high}
    made = program.step(value, (clip(low, high),)) if np.isfinite([low, high]).all() else value
    if made is value and np.isfinite([low, high]).any():
        made = larger(program, value, np.array(low if high == np.inf else high), high != np.inf)
    return made


def larger(program: Program, a: Operand, b: Operand, smaller: bool = False) -> Value:
    """max(a, b), or min(a, b), at least one of which varies."""
    a, b = (a, b) if isinstance(a, Value) else (b, a)
    b = program.settled(b) if isinstance(b, Value) else b
    over = program.step(program.apart(b, a) if smaller else program.apart(a, b), BENT)
    return program.added(b, program.negative(over) if smaller else over)


def extreme(program: Program, value: Value, taps: Array, smallest: bool) -> Value:
    """The largest, or the smallest, of the entries at places taps (..., t), where -1 is none: pair by pair."""
    if not taps.shape[-1] or (taps < 0).all(axis=-1).any():
        raise Refused("the largest of nothing")
    some = np.take_along_axis(taps, (taps >= 0).argmax(axis=-1)[..., None], axis=-1)
    taps, value = np.where(taps < 0, some, taps), program.settled(value)
    while (count := taps.shape[-1]) > 1:
        a, b = (program.taken(value, taps[..., start : count - count % 2 : 2]) for start in (0, 1))
        better = larger(program, a, b, smallest)
        rest = program.taken(value, taps[..., count - count % 2 :])
        value = program.stacked([better, rest])
        sizes = better.shape, rest.shape
        numbers = np.split(np.arange(value.size), [better.size])
        taps = np.concatenate([n.reshape(s) for n, s in zip(numbers, sizes, strict=True)], axis=-1)
    return program.taken(value, taps[..., 0])
