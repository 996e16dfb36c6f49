"""What float32 runtimes make of functions that are not piecewise linear, which no standard says: an assumption.

What a runtime gives for f(x) is taken to be within 2^-20 (1 + |f(x)|) of f(x), and for x times a function of x (gelu,
silu, mish, hardswish) within 2^-18 |x|. With u = 2^-24 and gamma(k) >= k u as in `number`: 16 u (1 + |f|) is no more
than gamma(18) of f and of 1, and 64 u |x| than gamma(66) of the monomials of x, whatever more is rounded behind.
Nothing is assumed of functions without a bound near zero. They, and products of two values, are refused.
"""

from __future__ import annotations

import numpy as np

from ..functions import Curve
from ..rounding import Array, Refused
from .number import ONE, ZERO
from .program import Program
from .value import Value

ROUNDINGS, TIMES_X = 18, 66
EXACT = {"floor", "sign", "thresholded"}
GATED = {"gelu", "gelu_tanh", "hardswish", "mish", "silu"}
WITHIN_LINES = {"cos", "erf", "sigmoid", "sin", "softplus", "softsign", "sqrt", "tanh", "atan", *GATED, *EXACT}
"""At most 1 + |x|."""


def computed(program: Program, x: Value, curve: Curve) -> Value:
    """A function of every entry as a runtime may compute it."""
    x = program.settled(x)
    made = exactly(program, x, curve)
    if curve.name in EXACT:
        return made
    if curve.name == "square":
        return _times(program, made, 1, 6)
    if curve.name in GATED:
        return program.added(_times(program, made, 1, ROUNDINGS), _times(program, x, 0, TIMES_X))
    return missing(program, made, ROUNDINGS)


def exactly(program: Program, x: Value, curve: Curve) -> Value:
    """A function of every entry as it is."""

    def size(given: Array) -> Array:
        with np.errstate(over="ignore"):
            if curve.name in WITHIN_LINES:
                return given + 1.0
            if curve.name in ("elu", "celu", "selu"):
                return np.asarray((given + abs(curve.parameters[0])) * max(1.0, *map(abs, curve.parameters[1:]), 1.0))
            if curve.name == "exp":
                return np.exp(given) * 1.001
            if curve.name == "square":
                return given**2 * 1.001
            if curve.name == "power" and curve.parameters[0] > 0.0:
                return np.maximum(1.0, given) ** curve.parameters[0] * 1.001
        raise Refused(f"the auditor does not know what {curve.name} is in float32")

    return program.step(x, (curve,), size)


def missing(program: Program, value: Value, roundings: int) -> Value:
    """A value that may be off by so many units of 1 and of itself."""
    far = np.full(value.shape, program.kind(ZERO, ONE, ROUNDINGS, 1.0), object)
    return program.added(_times(program, value, 1, roundings), far)


def _times(program: Program, value: Value, factor: int, roundings: int) -> Value:
    return program.scaled(value, np.array(program.kind(factor * ONE, ONE, roundings, 1.0), object))
