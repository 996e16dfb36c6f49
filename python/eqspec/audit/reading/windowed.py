"""Operators that most networks are made of: convolutions, pools and reductions, and piecewise linear functions."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..functions import BENT
from ..rounding import Refused
from . import affine, bends
from .number import Number
from .program import Given, Operand, Operands, Program, constants, optional, real
from .shape_operators import reduced
from .value import Value
from .windows import AROUND, windows

_POOLS = {"AveragePool", "MaxPool"}
_GLOBAL = {"GlobalAveragePool": "AveragePool", "GlobalMaxPool": "MaxPool"}
_REDUCED = {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"}
_BENDS = {"Abs", "Clip", "HardSigmoid", "LeakyRelu", "Max", "Min", "PRelu", "Relu"}
OPERATORS = {"Conv", *_POOLS, *_GLOBAL, *_REDUCED, *_BENDS}


def computed(program: Program, operator: str, opset: int, operands: Operands, attributes: Given) -> Operand:
    """The result of one of OPERATORS."""
    if operator in ("Max", "Min"):
        every = [real(operands, i) for i in range(len(operands))]
        if not any(isinstance(one, Value) for one in every):
            raise Refused(f"a {operator} of constants")
        every.sort(key=lambda one: not isinstance(one, Value))  # a value is there from the first comparison on
        return reduce(lambda a, b: bends.larger(program, a, b, operator == "Min"), every)
    given = real(operands, 0)
    if operator in ("Relu", "Abs") and not isinstance(given, Value) and given.dtype != object:
        return np.maximum(given, 0.0) if operator == "Relu" else np.abs(given)
    x = program.value(given)
    if operator == "Conv":
        return affine.convolved(program, x, constants(operands, 1), optional(operands, 2), attributes)
    if operator == "Relu":
        return program.step(x, BENT)
    if operator == "LeakyRelu":
        return bends.leaky(program, x, np.array(attributes.get("alpha", float(np.float32(0.01)))))
    if operator == "PRelu":
        slope = constants(operands, 1)
        if np.broadcast_shapes(x.shape, slope.shape) != x.shape:
            raise Refused("slopes of more entries than their value")
        return bends.leaky(program, x, slope)
    if operator == "Abs":
        return bends.absolute(program, x)
    if operator == "HardSigmoid":
        rise, shift = (float(attributes.get(n, np.float32(v))) for n, v in (("alpha", 0.2), ("beta", 0.5)))
        return bends.clipped(program, program.added(program.scaled(x, np.array(rise)), np.array(shift)), 0.0, 1.0)
    if operator == "Clip":
        ends = [attributes.get("min", -np.inf), attributes.get("max", np.inf)]
        for i in (i for i in range(1, len(operands)) if operands[i] is not None):
            (ends[i - 1],) = constants(operands, i).ravel()
        if any(isinstance(end, Number) for end in ends):
            raise Refused("a Clip between numbers that are computed")
        return bends.clipped(program, x, *map(float, ends))
    if operator in _REDUCED:
        taps = reduced(x, operator, opset, operands, attributes)
    else:
        if len(x.shape) < 3:
            raise Refused("a pooling without axes of space")
        kernel = list(x.shape[2:]) if operator in _GLOBAL else attributes["kernel_shape"]
        seen, beyond = windows(x.places, kernel, {n: v for n, v in attributes.items() if n in AROUND}, pooling=True)
        taps = seen.reshape(*seen.shape[: -len(kernel)], -1)
        if attributes.get("count_include_pad") and beyond.any():
            raise Refused("an average over windows that reach beyond the padding, which runtimes count in two ways")
    program.effort.name(*taps.shape)
    if operator in ("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin"):
        return bends.extreme(program, x, taps, operator == "ReduceMin")
    padded = attributes.get("count_include_pad") or operator == "ReduceSum"
    return affine.averaged(program, x, taps, bool(padded), operator == "ReduceSum")
