"""From a task to what the core takes: floats instead of rationals, every one rounded so that a proof covers the task.

Shapes: I inputs, O outputs, q constraints. Sound because the core is given no more than it may assume and asked for
no less than is claimed: the box and the constraints contain the region, allowed distances, margins and thresholds
are rounded down, and the coefficients of a linear claim are exact, because the claim is multiplied until they are
integers. The networks are in `pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, isfinite, lcm

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError, InternalError
from eqspec.property import (
    Confidence,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Property,
    Top1,
    exact,
)
from eqspec.run import core
from eqspec.tasks.directed_rounding import float_above, float_below, log_odds_below
from eqspec.tasks.task import LinearConstraint, Task

Array = NDArray[np.float64]

_MOST_EXPONENT = 256
"""Beyond 2 to this power, or below 2 to minus this, products of two numbers come near the ends of the floats."""


def lower_property(claim: Property, outputs: int) -> core.Property:
    """The claim for the core. InputError if a linear claim has coefficients that no common factor makes exact."""
    match claim:
        case Epsilon(eps, norm, chosen):
            return core.Property.epsilon(
                float_below(exact(eps)), norm, list(range(outputs)) if chosen is None else list(chosen)
            )
        case Top1():
            return core.Property.top1(None)
        case Margin(margin):
            return core.Property.top1(float_below(exact(margin)))
        case Confidence(delta):
            delta = exact(delta)
            if delta * outputs <= 1:  # the largest of O shares is always at least 1 / O
                return core.Property.top1(None)
            return core.Property.confidence(log_odds_below(delta), float_below(delta))
        case Linear():
            return _lower_linear(claim)
        case NeverWraps() | NeverSaturates():
            raise InternalError("the core decides no claims about what a network computes on the way")


def _lower_linear(claim: Linear) -> core.Property:
    coefficients = [exact(c) for c in (*claim.candidate, *claim.reference)]
    whole = lcm(*(c.denominator for c in coefficients))
    factor = Fraction(whole, gcd(*(int(c * whole) for c in coefficients)) or 1)
    floats = [_nearest(c * factor) for c in coefficients]
    if any(Fraction(f) != c * factor for f, c in zip(floats, coefficients, strict=True)):
        cause = "over their common denominator they have more digits than a float holds"
        raise InputError(f"the coefficients of a linear claim cannot be made exact: {cause}; round them")
    bound = exact(claim.bound) * factor
    below = float_below(bound)
    size = len(claim.candidate)
    return core.Property.linear(
        np.array(floats[:size], np.float64),
        np.array(floats[size:], np.float64),
        below,
        claim.strict and isfinite(below) and Fraction(below) == bound,  # v <= below < bound is more than v < bound
    )


def lower_constraints(task: Task) -> tuple[Array, Array] | None:
    """A (q, I) and b (q,) with {x in the box: A x <= b} around the region; None without constraints.

    With coefficients a' instead of a, a'.x = a.x + (a' - a).x <= bound + sum |a'_i - a_i| |x_i|, and |x_i| is
    bounded by the box. Near the ends of the floats, where sums would leave them and what is small would be lost, a
    constraint is multiplied by a power of two first. A bound beyond the floats becomes what a'.x cannot exceed in the
    box. The auditor does the same, so that the multipliers of a proof fit its numbers.
    """
    if not task.constraints:
        return None
    largest = [max(abs(low), abs(high)) for low, high in zip(task.lower_exact, task.upper_exact, strict=True)]
    rows = [_lower_constraint(constraint, largest) for constraint in task.constraints]
    return np.array([row for row, _ in rows], np.float64), np.array([bound for _, bound in rows], np.float64)


def _lower_constraint(constraint: LinearConstraint, largest: Sequence[Fraction]) -> tuple[list[float], float]:
    exact_row, bound, one = constraint.coefficients, constraint.bound, Fraction(1)
    most = max((abs(a) * max(size, one) for a, size in zip(exact_row, largest, strict=True)), default=Fraction(0))
    exponent = most.numerator.bit_length() - most.denominator.bit_length()
    if most and abs(exponent) > _MOST_EXPONENT:
        factor = Fraction(2) ** -exponent
        exact_row, bound = tuple(a * factor for a in exact_row), bound * factor
    row = [_nearest(a) for a in exact_row]
    slack = sum((abs(Fraction(f) - a) * size for f, a, size in zip(row, exact_row, largest, strict=True)), Fraction(0))
    above = float_above(bound + slack)
    if isfinite(above):
        return row, above
    return row, float_above(sum((abs(Fraction(f)) * size for f, size in zip(row, largest, strict=True)), Fraction(0)))


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        raise InputError(f"a coefficient of about 1e{len(str(abs(int(number)))) - 1} is beyond the floats") from None
