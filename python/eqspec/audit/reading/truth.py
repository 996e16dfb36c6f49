"""Comparisons and truth values, 0 or 1, of values that vary; Round, which jumps as they do.

    u > v: relu(sign(u - v))    u = v: 1 - |sign(u - v)|    and: relu(a + b - 1)    xor: |a - b|
    round(x) = floor(x / 2 + 1/4) - floor(1/4 - x / 2): ties go to the even number on either side

What float32 makes of a comparison near its threshold is not described, so there none of them is read.
"""

from __future__ import annotations

import numpy as np

from ..functions import BENT, Curve
from ..rounding import Refused
from . import affine, bends, unary
from .program import Operand, Operands, Program
from .value import Value

COMPARING = {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or", "Xor"}
NEVER = {"IsInf", "IsNaN"}
"""Of real numbers; where the value is none, as a logarithm below 0, neither is that of the network (`with_asked`)."""


def with_asked(program: Program, result: Value) -> Value:
    """The outputs and, without weight, the values of which the file asked whether they are numbers."""
    one = np.zeros(1, int)
    asked = (program.sums(v, v.places.reshape(1, -1), one, np.zeros((1, v.size))) for v in program.asked)
    return program.added(result, *asked) if program.asked else result


def compared(program: Program, operator: str, operands: Operands) -> Value:
    """An operator of COMPARING, of which one operand varies at least."""
    if program.kind.rounds:
        raise Refused("the auditor does not read comparisons in float32")
    given = [_numbers(one) for one in operands]
    if operator == "Not":
        return _opposite(program, program.value(given[0]))
    a, b = given
    if operator in ("Less", "GreaterOrEqual"):
        a, b = b, a
    if operator in ("Greater", "Less"):
        made = above(program, a, b)
        program.origins[made] = ("Greater", (a, b))
        return made
    if operator in ("GreaterOrEqual", "LessOrEqual"):
        return _opposite(program, above(program, a, b))
    if operator == "Equal":
        return _opposite(program, bends.absolute(program, _sign(program, a, b)))
    if operator == "Xor":
        return bends.absolute(program, program.apart(a, b))
    if operator == "And":
        return _both(program, program.value(a), program.value(b))
    return _opposite(program, _both(program, *(_opposite(program, program.value(one)) for one in (a, b))))


def chosen(program: Program, condition: Value, a: Operand, b: Operand) -> Value:
    """Where: b + condition (a - b), or where one of them is constant condition a + (1 - condition) b."""
    if program.kind.rounds:
        raise Refused("the auditor does not read choices in float32")
    if (guarded := _guarded(program, condition, a, b)) is not None:
        return guarded
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    if isinstance(a, Value) == isinstance(b, Value):
        terms = [(condition, affine.elementwise(program, "Sub", [a, b])), (None, b)]
    else:
        terms = [(condition, a), (_opposite(program, condition), b)]
    found = program.added(*(_share(program, share, x) for share, x in terms))
    return program.taken(found, np.broadcast_to(found.places, shape))


def _guarded(program: Program, condition: Value, a: Operand, b: Operand) -> Value | None:
    """Where(x > c, x, softplus(x)), as torch writes Softplus, as one function; None of all else."""
    operator, compared = program.origins.get(condition, ("", ()))
    if operator != "Greater" or compared[0] is not a or not (isinstance(a, Value) and isinstance(b, Value)):
        return None
    limit, alike = compared[1], condition.shape == a.shape == b.shape and len(b.parts) == 1
    step = unary.whole(program, b.parts[0], b.size) if alike else None
    if step is None or isinstance(limit, Value) or limit.dtype == object or limit.size != 1:
        return None
    if unary.only(b.parts[0], b.size) != 1 or step.curves != (Curve("softplus"),) or not unary.same(step.value, a):
        return None
    return unary.applied(program, a, Curve("guarded", (float(limit.reshape(())),)))


def _share(program: Program, share: Value | None, x: Operand) -> Operand:
    if share is None:
        return x
    return unary.product(program, share, x) if isinstance(x, Value) else program.scaled(share, x)


def rounded(program: Program, x: Value) -> Value:
    """Round."""
    if program.kind.rounds:
        raise Refused("the auditor does not read Round in float32")
    half, quarter = program.scaled(x, np.array(0.5)), np.array(0.25)
    sides = (program.added(one, quarter) for one in (half, program.negative(half)))
    return program.apart(*(unary.applied(program, side, Curve("floor")) for side in sides))


def _numbers(one: Operand | None) -> Operand:
    if one is None or not (isinstance(one, Value) or one.dtype.kind in "fOb"):
        raise Refused("the auditor does not read comparisons of integers, or of what is left out")
    return one.astype(np.float64) if not isinstance(one, Value) and one.dtype.kind == "b" else one


def _sign(program: Program, a: Operand, b: Operand) -> Value:
    return unary.applied(program, program.apart(a, b), Curve("sign"))


def above(program: Program, a: Operand, b: Operand) -> Value:
    """Whether a > b: 0 or 1."""
    return program.step(_sign(program, a, b), BENT)


def _both(program: Program, a: Value, b: Value) -> Value:
    return program.step(program.added(a, b, np.array(-1.0)), BENT)


def _opposite(program: Program, x: Value) -> Value:
    return program.added(program.scaled(x, np.array(-1.0)), np.array(1.0))
