"""Functions of one variable that are others put together, over the reals.

sinh(x) = (e^x - e^-x) / 2        cosh(x) = (e^x + e^-x) / 2        tan(x) = sin(x) / cos(x)
asin(x) = 2 atan(x / (1 + r))     acos(x) = 2 atan(r / (1 + x))     r = sqrt(1 - x^2)
asinh(x) = a(max(x, 0)) - a(max(-x, 0)),   a(u) = ln(u + sqrt(u^2 + 1))
acosh(x) = ln(x + sqrt(x^2 - 1))  atanh(x) = (ln(1 + x) - ln(1 - x)) / 2
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..functions import BENT, Curve
from ..rounding import Refused
from . import unary
from .number import Number
from .program import Program
from .value import Value

_ONE, _HALF, _TWO = np.array(1.0), np.array(0.5), np.array(2.0)


def computed(program: Program, operator: str, x: Value) -> Value:
    """The result of one of OPERATORS, of a value that varies."""
    if program.kind is not Number:
        raise Refused(f"the auditor does not read {operator} in float32")
    return OPERATORS[operator](program, x)


def _of(program: Program, name: str, x: Value) -> Value:
    return unary.applied(program, x, Curve(name))


def _hyperbolic(program: Program, x: Value, sign: float) -> Value:
    rising, falling = _of(program, "exp", x), _of(program, "exp", program.negative(x))
    return program.scaled(program.added(rising, program.scaled(falling, np.array(sign))), _HALF)


def _tangent(program: Program, x: Value) -> Value:
    sine, cosine = _of(program, "sin", x), _of(program, "cos", x)
    return unary.quotient(program, sine, cosine)


def _root(program: Program, x: Value, sign: float, more: float) -> Value:
    """sqrt(sign x^2 + more)."""
    square = program.scaled(_of(program, "square", x), np.array(sign))
    return _of(program, "sqrt", program.added(square, np.array(more)))


def _arc(program: Program, x: Value, cosine: bool) -> Value:
    root = _root(program, x, -1.0, 1.0)
    top, other = (root, x) if cosine else (x, root)
    ratio = unary.quotient(program, top, program.added(other, _ONE))
    return program.scaled(_of(program, "atan", ratio), _TWO)


def _area_sine(program: Program, x: Value) -> Value:
    sides = []
    for side in (x, program.negative(x)):
        u = program.step(side, BENT)
        sides.append(_of(program, "log", program.added(u, _root(program, u, 1.0, 1.0))))
    return program.apart(sides[0], sides[1])


def _area_cosine(program: Program, x: Value) -> Value:
    return _of(program, "log", program.added(x, _root(program, x, 1.0, -1.0)))


def _area_tangent(program: Program, x: Value) -> Value:
    ends = [_of(program, "log", program.added(one, _ONE)) for one in (x, program.negative(x))]
    return program.scaled(program.apart(ends[0], ends[1]), _HALF)


OPERATORS: dict[str, Callable[[Program, Value], Value]] = {
    "Acos": lambda program, x: _arc(program, x, cosine=True),
    "Acosh": _area_cosine,
    "Asin": lambda program, x: _arc(program, x, cosine=False),
    "Asinh": _area_sine,
    "Atanh": _area_tangent,
    "Cosh": lambda program, x: _hyperbolic(program, x, 1.0),
    "Sinh": lambda program, x: _hyperbolic(program, x, -1.0),
    "Tan": _tangent,
}
