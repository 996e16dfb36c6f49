"""What `arithmetic float32` assumes of the functions of runtimes, since no standard lays down how they are rounded.

What a runtime gives for f(x), of a float32 number x, is assumed to lie within

    2^-20 (1 + |f(x)|)   of f(x), for Sigmoid, Tanh, Softplus, Exp, Erf ... and each share of a Softmax,
    2^-18 |x|            of f(x), for x times a function of x: Gelu, Swish, Mish, HardSwish.

The largest errors of onnxruntime 1.32 and of the reference evaluator of ONNX, over two million points of [-20, 20] and
over all sizes, are 0.21 times the first (Exp) and 0.08 times the second (Mish). The second follows from the first where
a file writes the function out, as x times the result of another one: 2^-20 (1 + 1) |x| and what products round.

A function that a file writes out is one function here if between its argument and its result there are products, powers
and functions only, and at most one constant is added: then nothing cancels, and what is rounded is relative to the
result or, inside of the other function, as small as that one's own error. Exponentials are infinite from 89 on: with
one of them in a denominator the quotient is 0 then, which is within what is assumed; e^x / (1 + e^x) has no value there
and is read operator by operator. Functions that only choose or cut off (ReLU, clips, Sign, Floor) are exact; a square
is a product. Nothing is known of what has no bound near zero, such as the reciprocal of a value, so that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, nextafter

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.program import Function

MISSED = 2.0**-20
"""How far a function may be off, of 1 and of its own value."""
TIMES_X = 4
"""So many times that, of the size of x, where x is multiplied."""
ASSUMPTION = (
    "every runtime's functions within 2^-20 (1 + |f(x)|) of f(x), and x times a function of x within 2^-18 |x| of it"
)
ASSUMED = "functions within 2^-20"
"""The same, as short as a claim says it."""
ROUNDINGS = 18
"""(1 + u)^-18 is below 1 - 2^-20, for u = 2^-24."""
_GATED = ("gelu", "gelu_tanh", "hardswish", "mish", "silu")
_EXACT = ("floor", "pieces", "quantiser", "sign", "square", "thresholded")
_UNBOUNDED = ("log", "reciprocal")
_WRITTEN_OUT = (*_GATED, "sigmoid")
_BETWEEN = (
    "Add", "Clip", "Div", "Erf", "Exp", "HardSigmoid", "Mul", "Neg", "Pow", "Reciprocal", "Sigmoid", "Softplus", "Tanh"
)  # fmt: skip
_MOST_BETWEEN = 10
_LARGEST_OFFSET = 4.0
"""The offset of a HardSwish, relative to its height: its line rounds at most 2 u (2 4 + 1) where it is not cut off."""


def kinds(function: Function) -> Iterator[Curve]:
    """The functions of the rows of a step."""
    if isinstance(function, Curves):
        rows = 0 if function.of_row is None else len(function.of_row)
        yield from (curve for curve, _ in function.groups(rows))


def is_assumed(function: Function) -> bool:
    """Whether what float32 makes of it is an assumption."""
    return any(curve.name not in _EXACT for curve in kinds(function))


def unbounded(function: Function) -> Curve | None:
    """A function of the rows of a step that is beyond all bounds near zero."""
    found = (c for c in kinds(function) if c.name in _UNBOUNDED or (c.name == "power" and c.parameters[0] <= 0))
    return next(found, None)


def as_computed(made: Affine, curves: Curves, x: Affine) -> Affine:
    """f(x) as runtimes may compute it, where that counts."""
    reading = made.parts[0].units.reading
    names = {curve.name for curve in kinds(curves)}
    if not reading.missed or names <= {*_EXACT}:
        return made
    if names <= {*_GATED}:
        far = Enclosure(np.zeros(()), np.array(_up(TIMES_X * reading.missed * (1.0 + reading.unit))))
        made, tiny = af.add(made, af.scale(x, far)), 8 * reading.tiny
        return _counted(af.shift(made, Enclosure(np.zeros(()), np.array(tiny)), started=False), ROUNDINGS)
    return missing(made, ROUNDINGS)


def missing(made: Affine, roundings: int) -> Affine:
    """A value that may be off by what is assumed and by so many roundings."""
    reading = made.parts[0].units.reading
    if not reading.missed:
        return made
    far = np.full(made.shape, _up(reading.missed * (1.0 + reading.unit) + 8 * reading.tiny))
    return _counted(af.shift(made, Enclosure(np.zeros(made.shape), far), started=False), roundings)


def _up(number: float) -> float:
    return nextafter(number * (1.0 + 2.0**-50), inf)


def _counted(made: Affine, roundings: int) -> Affine:
    reading = made.parts[0].units.reading
    reading.roundings = max(reading.roundings, roundings)
    return replace(made, roundings=roundings)


def may_be_one(curves: Sequence[Curve], between: Sequence[tuple[str, int, int]]) -> bool:
    """Whether nothing cancels between an argument and what operators write out as one of these functions.

    Of every operator its kind, and how many of its operands are constants and values.
    """
    if not all(curve.name in _WRITTEN_OUT for curve in curves) or len(between) > _MOST_BETWEEN:
        return False
    if any(curve.name == "hardswish" and abs(curve.parameters[1]) > _LARGEST_OFFSET for curve in curves):
        return False
    if any(kind not in _BETWEEN for kind, _, _ in between):
        return False
    added = [(constants, values) for kind, constants, values in between if kind == "Add"]
    several = [values for constants, values in added if not constants]
    return len(added) - len(several) <= 1 and len(several) <= all(c.name == "gelu_tanh" for c in curves)


def any_infinity_vanishes(divided: Sequence[bool]) -> bool:
    """Whether exponentials that are infinite leave 0, given for every way to one whether it stands in a denominator.

    With two ways infinity would meet infinity, or the 0 that the other one became.
    """
    return not divided or list(divided) == [True]
