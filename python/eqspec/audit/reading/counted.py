"""Integers that depend on the input: integer inputs, what is cast to integers, places of the largest entries.

A Cast of a real number x is floor(u) - floor(v) with u and v = x and -x between 1/2 and 2^31 - 1; truth values and what
Floor gives are whole already. All of them lie between two bounds below 2^31 (`Counted`), beyond which the nearest one
stands, as runtimes differ there. Nothing is read of them but what stands here and in `lookups`: so no sum wraps, and no
quotient of integers is one of real numbers.
"""

from __future__ import annotations

import operator as arithmetic
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ..functions import Curve, clip
from ..functions.levels import HALF_EVEN
from ..rounding import Refused
from . import affine, bends, quantisers, truth, unary, windowed
from .integers import held
from .plain import FLOATS, WHOLE
from .program import Given, Operand, Program
from .shape_operators import MOVING, moved
from .value import Value

MOST = 2**31 - 1
KINDS = {np.dtype(np.int32), np.dtype(np.int64)}
_BOUNDS = {"Add": arithmetic.add, "Mul": arithmetic.mul, "Sub": arithmetic.sub}


@dataclass(frozen=True, eq=False)
class Counted:
    """Integers `value` of a type, none of which is beyond its bounds."""

    value: Value
    low: int
    high: int
    kind: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor."""
        return self.value.shape


def nearest(program: Program, x: Value, kind: np.dtype[Any]) -> Counted:
    """The nearest integers to real numbers, ties to even."""
    one = np.ones(x.shape)
    made = quantisers.rounded(program, x, one, 0.0 * one, (-MOST * one, MOST * one), HALF_EVEN)
    return Counted(program.value(made), -MOST, MOST, kind)


def cast(program: Program, x: Value, to: int, maker: str) -> Value | Counted:
    """What an operator makes, as integers, or as truth values: whether it is not 0."""
    if program.kind.rounds:
        raise Refused("the auditor does not read a Cast to integers in float32")
    kind, most = np.dtype(WHOLE[to]), float(MOST)
    if maker in truth.COMPARING | truth.NEVER:
        return x if to == TensorProto.BOOL else Counted(x, 0, 1, kind)
    if to == TensorProto.BOOL:
        return bends.absolute(program, unary.applied(program, x, Curve("sign")))
    program.said.append("a Cast to integers is read below 2^31; beyond, the last of them stands for what runtimes have")
    if maker in ("Ceil", "Floor", "Round", "Sign"):
        return Counted(program.step(x, (clip(-most, most),)), -MOST, MOST, kind)
    sides = (program.step(side, (clip(0.5, most),)) for side in (x, program.negative(x)))
    x = program.apart(*(unary.applied(program, side, Curve("floor")) for side in sides))
    return Counted(x, -MOST, MOST, kind)


def computed(program: Program, node: onnx.NodeProto, opset: int, operands: Any, given: Given) -> list[Any]:
    """The results of an operator of which an operand is such integers."""
    operator, (first, *rest) = node.op_type, operands
    if operator == "Cast" and given["to"] in FLOATS:
        program.held.update(range(first.low, first.high + 1) if first.high - first.low < 512 else ())
        return [first.value]
    if operator == "Cast" and np.dtype(WHOLE.get(given["to"], bool)) in KINDS:
        return [replace(first, kind=np.dtype(WHOLE[given["to"]]))]
    if operator in truth.COMPARING - {"And", "Not", "Or", "Xor"}:
        return [truth.compared(program, operator, [real(one) for one in operands])]
    alone = isinstance(first, Counted) and not any(isinstance(one, Value | Counted) for one in rest)
    if operator in MOVING - {"Concat", "Pad"} and alone:
        made = moved(node, opset, [first.value, *rest], given, program)
        return [replace(first, value=one) if isinstance(one, Value) else one for one in made]
    kinds = {kind_of(one) for one in (operands if operator != "ReduceSum" else [first]) if one is not None}
    if operator not in {*_BOUNDS, "Clip", "ReduceSum"} or len(kinds) != 1 or not kinds <= KINDS:
        raise Refused(f"the auditor does not read {operator} {node.name!r} of integers that depend on the input")
    done, *ends = _arithmetic(program, operator, opset, operands, given)
    if max(-min(ends), max(ends)) > MOST:
        raise Refused(f"a {operator} of integers that may be beyond 2^31")
    return [Counted(program.value(done), min(ends), max(ends), kinds.pop())]


def kind_of(one: Any) -> Any:
    """The type of stored integers, or of those that depend on the input."""
    return one.kind if isinstance(one, Counted) else getattr(one, "dtype", None)


def real(one: Any) -> Operand:
    """Integers as real numbers."""
    if isinstance(one, np.ndarray) and one.dtype.kind in "iu":
        return held(one).astype(np.float64)
    if not isinstance(one, Counted):
        raise Refused("integers that depend on the input beside what is no integer")
    return one.value


def _arithmetic(program: Program, operator: str, opset: int, operands: Any, given: Given) -> list[Any]:
    """The result of integers of one type, and numbers between which it lies."""
    x, *rest = operands
    if operator == "ReduceSum":
        made = windowed.computed(program, operator, opset, [x.value, *rest], dict(given))
        count = prod(x.shape) // max(1, prod(made.shape))
        return [made, x.low * count, x.high * count]
    if operator == "Clip" and isinstance(x, Counted):
        low, high, *_ = [*(None if one is None else int(held(one).reshape(())) for one in rest), None, None]
        low, high = -MOST if low is None else low, MOST if high is None else high
        made = bends.clipped(program, x.value, float(low), float(high))
        return [made, *(min(max(end, low), high) for end in (x.low, x.high))]
    made = affine.elementwise(program, operator, [real(one) for one in operands])
    sides = [(x.low, x.high) if isinstance(x, Counted) else (int(x.min()), int(x.max())) for x in operands]
    return [made, *(_BOUNDS[operator](a, b) for a, b in product(*sides))]
