"""Whether one task's claim follows from another's: the order that makes a search for the best value meaningful.

A task is weaker if it allows more (a larger distance, a stronger guard, a larger bound) on a region that lies inside.
This compares two tasks. That each task of a search follows from every harder one, for all values of its range, is
decided in `eqspec.compile.direction`; here it is only looked at once more, at both ends.
"""

from __future__ import annotations

from eqspec.compile.seen_region import largest
from eqspec.property import (
    Confidence,
    Decision,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Property,
    Top1,
    exact,
)
from eqspec.tasks.task import LinearConstraint, Task


def follows(easy: Task, hard: Task) -> bool:
    """Whether what `easy` claims follows from what `hard` claims."""
    return claim_follows(easy.property, hard.property) and region_inside(easy, hard)


def claim_follows(easy: Property, hard: Property) -> bool:
    """Whether a claim follows from another on the same region."""
    match hard:
        case Epsilon(eps, norm, outputs):
            if not isinstance(easy, Epsilon) or (easy.norm, easy.outputs) != (norm, outputs):
                return False
            return exact(easy.eps) >= exact(eps)
        case Top1():
            return isinstance(easy, Decision)
        case Margin(margin):
            return isinstance(easy, Margin) and exact(easy.margin) >= exact(margin)
        case Confidence(delta):
            return isinstance(easy, Confidence) and exact(easy.delta) >= exact(delta)
        case Linear(candidate, reference, bound, strict):
            if not isinstance(easy, Linear) or (easy.candidate, easy.reference) != (candidate, reference):
                return False
            return (exact(easy.bound), not easy.strict) >= (exact(bound), not strict)
        case NeverWraps() | NeverSaturates():
            return easy == hard


def region_inside(inner: Task, outer: Task) -> bool:
    """Whether a region lies inside another, by its box, constraints with the same coefficients and the same grids."""
    box = all(
        low >= outer_low and high <= outer_high
        for low, high, outer_low, outer_high in zip(
            inner.lower_exact, inner.upper_exact, outer.lower_exact, outer.upper_exact, strict=True
        )
    )
    same_grid = inner.lattices == outer.lattices or not outer.lattices
    return same_grid and box and all(_implied(constraint, inner) for constraint in outer.constraints)


def _implied(constraint: LinearConstraint, inner: Task) -> bool:
    """Whether a constraint holds in a region: one with the same coefficients says so, or its box by itself."""
    if any(g.coefficients == constraint.coefficients and g.bound <= constraint.bound for g in inner.constraints):
        return True
    return largest(constraint, inner.lower_exact, inner.upper_exact) < constraint.bound
