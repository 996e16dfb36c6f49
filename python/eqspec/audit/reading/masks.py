"""Minus infinity in front of a Softmax, where it hides entries: their shares are 0, and the others share 1.

A mask is a constant that is added to scores or takes their place by a constant condition. What it hides is told beside
the scores (`Hidden`), which nothing but a Softmax reads. Where all entries are hidden there is no Softmax.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rounding import Array, Refused
from . import statistics
from .program import Given, Operand, Program
from .value import Value


@dataclass(frozen=True, eq=False)
class Hidden:
    """Scores, and which of them are minus infinity, whatever the scores have there."""

    value: Value
    hidden: Array  # of truth values, in the shape of the scores


def computed(program: Program, operator: str, opset: int, operands: Any, attributes: Given) -> Hidden | Value | None:
    """The result of an operator that has to do with minus infinity in values that vary; None of all others."""
    if not any(map(_masks, operands)) or (operator == "Clip" and not isinstance(operands[0], Hidden)):
        return None
    if operator == "Softmax":
        (scores, hidden), axis = _parts(operands[0]), attributes.get("axis", 1 if opset < 13 else -1)
        return statistics.softmax(program, program.value(scores), axis, opset, logarithm=False, hidden=hidden)
    if operator == "Identity":
        return operands[0]  # type: ignore[no-any-return]
    if operator != "Add" and not any(isinstance(one, Value | Hidden) for one in operands):
        return None
    if operator == "Add":
        (a, first), (b, second) = map(_parts, operands)
        value = program.added(program.value(a), b)
        return Hidden(value, np.broadcast_to(first | second, value.shape))
    condition = operands[0]
    if operator != "Where" or isinstance(condition, Value | Hidden) or condition.dtype != bool:
        raise Refused(f"a mask of minus infinity goes into {operator}; read are Add, Where and Softmax")
    (a, first), (b, second) = map(_parts, operands[1:])
    values, shape = [program.value(a), program.value(b)], np.broadcast_shapes(condition.shape, a.shape, b.shape)
    program.effort.name(*shape)
    places = np.where(condition, values[0].places, values[1].places + values[0].size)
    made = program.taken(program.stacked(values), places)
    return Hidden(made, np.broadcast_to(np.where(condition, first, second), shape))


def _masks(one: Any) -> bool:
    stored = isinstance(one, np.ndarray) and one.dtype == float
    return isinstance(one, Hidden) or bool(stored and np.isneginf(one).any())


def _parts(one: Any) -> tuple[Operand, Array]:
    """An operand with 0 where it is hidden, and where that is."""
    if isinstance(one, Hidden):
        return one.value, one.hidden
    if isinstance(one, np.ndarray) and one.dtype == float:
        return np.where(np.isneginf(one), 0.0, one), np.isneginf(one)
    if one is None or not (isinstance(one, Value) or one.dtype == object):
        raise Refused("a mask of minus infinity beside integers, or what is left out")
    return one, np.zeros(one.shape, bool)
