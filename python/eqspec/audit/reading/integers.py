"""Arithmetic of constant integers and truth values, by which files compute sizes, places and masks.

Read are truth values, and signed integers of 32 and 64 bits below 2^31 before and after every operation: then nothing
wraps, and all runtimes agree. A quotient is rounded towards zero, a remainder has the sign of the divisor.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..rounding import Array, Refused
from .program import Given, Operands, Program
from .shape_operators import whole
from .value import Value

_REDUCED: dict[str, Any] = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod, "ReduceSum": np.sum}
_TRUTH: dict[str, Any] = {"And": np.logical_and, "Not": np.logical_not, "Or": np.logical_or, "Xor": np.logical_xor}
_EITHER: dict[str, Any] = {"Equal": np.equal, "NonZero": lambda a: np.array(np.nonzero(a)), "Where": np.where}
OPERATORS: dict[str, Any] = {
    "Abs": np.abs, "Add": np.add, "Clip": lambda a, low, high: np.minimum(np.maximum(a, low), high),
    "Div": lambda a, b: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)),
    "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less, "LessOrEqual": np.less_equal,
    "Max": lambda *every: reduce(np.maximum, every), "Min": lambda *every: reduce(np.minimum, every), "Mod": np.mod,
    "Mul": np.multiply, "Neg": np.negative, "Range": range, "Sub": np.subtract, **_EITHER, **_REDUCED, **_TRUTH,
}  # fmt: skip


def computed(program: Program, operator: str, operands: Operands, attributes: Given) -> Array | None:
    """The result of one of OPERATORS of such constants alone; None where an operand is something else."""
    given = [one for one in operands if one is not None and not isinstance(one, Value)]
    clip = operator == "Clip"  # also of weights of 8 bits, which stay in their type
    known = [one.dtype in (bool, np.int32, np.int64) or (clip and one.dtype.kind in "iu") for one in given]
    if not given or len(given) < len(operands) or not all(known) or (clip and len(given) != 3):
        return None
    same = given[1:] if operator == "Where" else given[:1] if operator in _REDUCED else given
    (kind, *others), whole_ = {one.dtype for one in same}, [one if one.dtype == bool else held(one) for one in given]
    if others or (operator not in _EITHER and (operator in _TRUTH) != (kind.kind == "b")):
        raise Refused(f"{operator} of integers of several types, or of truth values")
    if operator in ("Div", "Mod") and (not whole_[1].all() or attributes.get("fmod", 0)):
        raise Refused(f"a {operator} by zero, or in a way that the auditor does not read")
    if operator in _REDUCED:
        made: Any = _reduced(operator, given, attributes)
    elif operator == "Range":
        begin, end, step = (int(one.reshape(())) for one in whole_)
        program.effort.name(len(range(begin, end, step)))  # refuses a step of 0
        made = np.array(range(begin, end, step), np.int64)
    else:
        program.effort.name(*np.broadcast_shapes(*(one.shape for one in given)))
        made = np.asarray(OPERATORS[operator](*whole_))
    return made if made.dtype == bool or operator == "NonZero" else held(made).astype(kind)


def held(one: Array) -> Array:
    """Integers that are small enough."""
    if one.size and max(-int(one.min()), int(one.max())) >= 2**31:
        raise Refused("the auditor computes with integers below 2^31 alone")
    return one.astype(np.int64)


def _reduced(operator: str, given: list[Array], attributes: Given) -> Array:
    axes = whole(given, 1) if len(given) > 1 else attributes.get("axes")
    every = not attributes.get("noop_with_empty_axes", 0) if axes is None else list(axes) in ([0], [-1])
    if given[0].ndim != 1 or not every or not given[0].size:
        raise Refused(f"a {operator} of integers along several axes, or of none")
    total = OPERATORS[operator](given[0].astype(object))
    return np.array([total] if attributes.get("keepdims", 1) else total, object)
