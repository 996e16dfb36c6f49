"""Points that meet the equations of a region exactly: a candidate in floats hardly ever does.

An equation is a pair of constraints, a·x <= b and -a·x <= -b. Candidates come from a search in floats; of each equation
one input is computed from the others, in rationals, the one that has the most room within the box. Nothing here has to
be right: what is made is held against region and claim as any other candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.task import Task

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Equation:
    """sum of coefficients times inputs = bound, over the inputs whose coefficients are not zero."""

    coefficients: dict[int, Fraction]
    bound: Fraction


def equations_of(task: Task) -> tuple[Equation, ...]:
    """The constraints that come with their opposite."""
    wide = {(c.coefficients, c.bound) for c in task.constraints if not c.strict}
    found: dict[tuple[tuple[Fraction, ...], Fraction], Equation] = {}
    for coefficients, bound in wide:
        opposite = tuple(-a for a in coefficients), -bound
        if opposite in wide and opposite not in found:
            terms = {i: a for i, a in enumerate(coefficients) if a}
            found[coefficients, bound] = Equation(terms, bound)
    return tuple(found.values())


def onto(task: Task, equations: Sequence[Equation], point: Point) -> Point:
    """The point with one input for each equation computed from the others."""
    moved, solved = list(point), list[tuple[int, Equation]]()
    for equation in equations:
        reduced = _without(equation, solved)
        if not reduced.coefficients:
            continue  # it follows from the others, or contradicts them
        pivot = max(reduced.coefficients, key=lambda i: _room(task, moved, i, reduced.coefficients[i]))
        solved = [(i, _without(other, [(pivot, reduced)])) for i, other in solved]
        solved.append((pivot, reduced))
    for pivot, equation in solved:
        rest = sum((a * moved[i] for i, a in equation.coefficients.items() if i != pivot), Fraction(0))
        moved[pivot] = (equation.bound - rest) / equation.coefficients[pivot]
    return tuple(moved)


def _without(equation: Equation, solved: Sequence[tuple[int, Equation]]) -> Equation:
    """The equation with the inputs that are computed already put in."""
    terms, bound = dict(equation.coefficients), equation.bound
    for pivot, other in solved:
        if not (share := terms.get(pivot, Fraction(0)) / other.coefficients[pivot]):
            continue
        for i, a in other.coefficients.items():
            terms[i] = terms.get(i, Fraction(0)) - share * a
        bound -= share * other.bound
    return Equation({i: a for i, a in terms.items() if a}, bound)


def _room(task: Task, point: Sequence[Fraction], index: int, coefficient: Fraction) -> Fraction:
    """How far the sum may change before this input leaves the box."""
    return abs(coefficient) * min(point[index] - task.lower_exact[index], task.upper_exact[index] - point[index])
