"""Whether one task's claim follows from another's: the order that makes a search for the best value meaningful.

A task is weaker if it allows more (a larger distance, a stronger guard, a larger bound) on a region that lies inside.
This compares two tasks. That each task of a search follows from every harder one, for all values of its range, is
decided in `eqspec.compile.direction`; here it is only looked at once more, at both ends.
"""

from __future__ import annotations

from eqspec.tasks.property import Confidence, Epsilon, Linear, Margin, Property, Top1, exact
from eqspec.tasks.task import LinearConstraint, Task


def weaker(easy: Task, hard: Task) -> bool:
    """Whether what `easy` claims follows from what `hard` claims."""
    return claim_follows(easy.property, hard.property) and region_inside(easy, hard)


def claim_follows(easy: Property, hard: Property) -> bool:
    """Whether a claim follows from another on the same region."""
    match easy, hard:
        case Epsilon(), Epsilon():
            return easy.norm == hard.norm and easy.outputs == hard.outputs and exact(easy.eps) >= exact(hard.eps)
        case Margin(), Margin():
            return exact(easy.margin) >= exact(hard.margin)
        case Confidence(), Confidence():
            return exact(easy.delta) >= exact(hard.delta)
        case ((Top1() | Margin() | Confidence()), Top1()):
            return True
        case Linear(), Linear():
            same = easy.candidate == hard.candidate and easy.reference == hard.reference
            return same and (exact(easy.bound), not easy.strict) >= (exact(hard.bound), not hard.strict)
    return False


def region_inside(inner: Task, outer: Task) -> bool:
    """Whether a region lies inside another, by its box and by constraints with the same coefficients."""
    box = all(
        low >= outer_low and high <= outer_high
        for low, high, outer_low, outer_high in zip(
            inner.lower_exact, inner.upper_exact, outer.lower_exact, outer.upper_exact, strict=True
        )
    )
    return box and all(_implied(constraint, inner.constraints) for constraint in outer.constraints)


def _implied(constraint: LinearConstraint, given: tuple[LinearConstraint, ...]) -> bool:
    return any(g.coefficients == constraint.coefficients and g.bound <= constraint.bound for g in given)
