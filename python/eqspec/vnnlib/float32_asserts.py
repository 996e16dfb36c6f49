"""Asserts about float32 tensors: which numbers of a file float32 does not hold, and how they are taken.

The entries of tensors are float32 numbers. Sums and products of asserts are exact, as they are in the language of real
numbers. A literal that float32 does not hold, such as 0.1, may be meant as it is written or as the float32 next to it,
and readers differ. So nothing rests on it: what is proved covers both (`widened`), and an assignment has to meet both
(`demanding`), but for equations, which no float32 meets as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from eqspec.errors import InputError
from eqspec.tasks.phrasing import approximately
from eqspec.vnnlib.query import All, Assertion, Comparison, Formula, Query, Some, compare

Point = Sequence[Fraction]


def float32(number: Fraction) -> Fraction:
    """The float32 next to a number. InputError where it is beyond the range."""
    with np.errstate(over="ignore"):
        near = np.float32(_to_odd(number))
    if not np.isfinite(near):
        raise InputError(f"the number {approximately(number):.3e} of an assert is beyond the range of float32")
    return Fraction(float(near))


def is_float32(number: Fraction) -> bool:
    """Whether float32 holds a number."""
    with np.errstate(over="ignore"):
        return Fraction(float(np.float32(float(number)))) == number if abs(number) < Fraction(2) ** 128 else False


def _to_odd(number: Fraction) -> float:
    """The float64 from which rounding to float32 gives what rounding the number itself would: rounded to odd."""
    try:
        near = float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    if not np.isfinite(near) or Fraction(near) == number or int(np.float64(near).view(np.int64)) & 1:
        return near
    return float(np.nextafter(near, np.inf if number > Fraction(near) else -np.inf))


def widened(query: Query) -> Query:
    """The query with bounds moved out to where a literal may lie: it is met wherever the other one is, however read."""

    def wider(comparison: Comparison) -> Formula:
        if is_float32(comparison.bound):
            return comparison
        near = float32(comparison.bound)
        ends = sorted((near, comparison.bound))
        above = compare(dict(comparison.terms), "<=", ends[1], comparison.span)
        if comparison.relation != "==":
            return compare(dict(comparison.terms), comparison.relation, ends[1], comparison.span)
        turned = {m: -c for m, c in comparison.terms}
        return All((above, compare(turned, "<=", -ends[0], comparison.span)))

    return _with(query, wider)


def demanding(query: Query) -> Query:
    """The query as it has to be met by an assignment, whichever way its literals are read."""

    def both(comparison: Comparison) -> Formula:
        rounded = compare(dict(comparison.terms), comparison.relation, float32(comparison.bound), comparison.span)
        return rounded if comparison.relation == "==" else All((comparison, rounded))

    return _with(query, both)


def inside(query: Query, network: int, point: Point) -> list[Fraction]:
    """The point of float32 numbers next to this one that meets what a demanding query says of single inputs."""
    made = [float32(x) for x in point]
    for comparison in (c for assertion in query.assertions for c in _together(assertion.formula)):
        elements = comparison.coefficients if comparison.linear else {}
        if len(elements) != 1 or not comparison.linear:
            continue
        ((element, coefficient),) = elements.items()
        if element.output or element.network != network:
            continue
        i, bound = element.entry, comparison.bound / coefficient
        if comparison.relation == "==":
            made[i] = bound
        elif (coefficient > 0 and made[i] > bound) or (coefficient < 0 and made[i] < bound):
            made[i] = _within(bound, below=coefficient > 0)
    return made


def _within(bound: Fraction, *, below: bool) -> Fraction:
    """The float32 next to a bound that does not lie beyond it."""
    near = float32(bound)
    if near == bound or (near < bound) == below:
        return near
    return Fraction(float(np.nextafter(np.float32(float(near)), np.float32(-np.inf if below else np.inf))))


def _together(formula: Formula) -> list[Comparison]:
    if isinstance(formula, All):
        return [c for part in formula.parts for c in _together(part)]
    return [formula] if isinstance(formula, Comparison) else []


def _with(query: Query, change: Callable[[Comparison], Formula]) -> Query:
    def changed(formula: Formula) -> Formula:
        match formula:
            case All(parts):
                return All(tuple(changed(part) for part in parts))
            case Some(parts):
                return Some(tuple(changed(part) for part in parts))
            case Comparison():
                return change(formula)

    return replace(query, assertions=tuple(Assertion(changed(a.formula), a.span) for a in query.assertions))
