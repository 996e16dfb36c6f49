"""Piecewise linear operators, written exactly with ReLU:

    leaky(v) = (1 - a) relu(v) + a v,   |v| = 2 relu(v) - v,   clip(v) = low + relu(v - low) - relu(v - high),
    max(a, b) = b + relu(a - b),        min(a, b) = b - relu(b - a).

In float32 the operators themselves round no more than what is counted here, as sums and products of their operands.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..rounding import Array, Refused
from .program import Operand, Program
from .value import Value


def leaky(program: Program, value: Value, slope: Array) -> Value:
    """The slope, which may differ, left of 0."""
    value = program.settled(value)
    rest = program.effort.done(np.subtract, np.ones(()), slope)
    return program.added(program.scaled(program.step(value, relu=True), rest), program.scaled(value, slope))


def absolute(program: Program, value: Value) -> Value:
    """Its size."""
    value = program.settled(value)
    twice = program.scaled(program.step(value, relu=True), np.array(2.0))
    return program.added(twice, program.scaled(value, np.array(-1.0)))


def clipped(program: Program, value: Value, low: float, high: float) -> Value:
    """Between these numbers; infinite ones do nothing."""
    if not low <= high:
        raise Refused("a Clip between numbers in the wrong order, which runtimes read in two ways")
    if not np.isfinite([low, high]).any():
        return value
    if np.isfinite([low, high]).all():
        value = program.settled(value)
    over = [program.step(program.added(value, np.array(-end)), relu=True) for end in (low, high) if np.isfinite(end)]
    if not np.isfinite(low):  # min(v, high) = v - relu(v - high)
        return program.added(value, program.scaled(over[0], np.array(-1.0)))
    more = [program.scaled(one, np.array(-1.0)) for one in over[1:]]
    return program.added(over[0], np.array(low), *more)


def largest(program: Program, a: Operand, b: Operand) -> Value:
    """max(a, b), at least one of which varies."""
    a, b = (a, b) if isinstance(a, Value) else (b, a)
    b = program.settled(b) if isinstance(b, Value) else b
    return program.added(program.step(program.added(a, program.negative(b)), relu=True), b)


def least(program: Program, a: Operand, b: Operand) -> Value:
    """min(a, b), at least one of which varies."""
    a, b = (a, b) if isinstance(a, Value) else (b, a)
    b = program.settled(b) if isinstance(b, Value) else b
    over = program.step(program.added(b, program.negative(a)), relu=True)
    return program.added(b, program.scaled(over, np.array(-1.0)))


def extreme(program: Program, value: Value, taps: Array, smallest: bool) -> Value:
    """The largest, or the smallest, of the entries at places taps (..., t), where -1 is none: pair by pair."""
    if not taps.shape[-1] or (taps < 0).all(axis=-1).any():
        raise Refused("the largest of nothing")
    some = np.take_along_axis(taps, (taps >= 0).argmax(axis=-1)[..., None], axis=-1)
    taps, value = np.where(taps < 0, some, taps), program.settled(value)
    choose = least if smallest else largest
    while (count := taps.shape[-1]) > 1:
        a, b = (program.taken(value, taps[..., start : count - count % 2 : 2]) for start in (0, 1))
        better = choose(program, a, b)
        rest = program.taken(value, taps[..., count - count % 2 :])
        value = program.stacked([better, rest])
        sizes = better.shape, rest.shape
        numbers = np.split(np.arange(value.size), [better.size])
        taps = np.concatenate([n.reshape(s) for n, s in zip(numbers, sizes, strict=True)], axis=-1)
    return program.taken(value, taps[..., 0])


def extremes(program: Program, operands: list[Operand], smallest: bool) -> Operand:
    """Of several operands, entry by entry."""
    return reduce(lambda a, b: (least if smallest else largest)(program, a, b), operands)
