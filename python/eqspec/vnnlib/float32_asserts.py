"""Asserts about float32 tensors: which numbers of a file float32 does not hold, and how they are taken.

The entries of tensors are float32 numbers. Sums and products of asserts are exact, as they are in the language of real
numbers. A literal that float32 does not hold, such as 0.1, may be meant as it is written or as the float32 next to it,
and readers differ. So nothing rests on it: a file is read both ways, what is proved covers both (`widened`), and an
assignment has to meet both (`demanding`), but for equations, which no float32 meets as they are written.

Where both ways differ in bounds alone, one query covers them. Bounds are compared as they come out of the arithmetic of
the file: `(>= (+ X 0.7) 0.9)` is X >= 0.2 as it is written, and X >= 0.19999998807907104, the float32 below the one
next to 0.2, with its literals rounded.
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


def _to_odd(number: Fraction) -> float:
    """The float64 from which rounding to float32 gives what rounding the number itself would: rounded to odd."""
    try:
        near = float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    if not np.isfinite(near) or Fraction(near) == number or int(np.float64(near).view(np.int64)) & 1:
        return near
    return float(np.nextafter(near, np.inf if number > Fraction(near) else -np.inf))


def widened(written: Query, rounded: Query) -> tuple[Query, ...]:
    """Queries one of which is met wherever the file is, whichever of both ways it is read.

    Bounds are moved out to the looser one. That is a single query but where coefficients differ.
    """
    one, other = _pairwise(written, rounded, _wider), _pairwise(rounded, written, _wider)
    return (one,) if one == other else (one, other)


def demanding(written: Query, rounded: Query) -> Query:
    """The query as it has to be met by an assignment, whichever way its literals are read."""
    return _pairwise(written, rounded, _both)


def _wider(one: Formula, other: Formula) -> Formula:
    """The first reading of a comparison, its bound moved out to that of the other; as it is if terms differ."""
    if not isinstance(one, Comparison) or not isinstance(other, Comparison) or one.terms != other.terms:
        return one
    low, high = sorted((one.bound, other.bound))
    if one.relation != "==" or low == high:
        return replace(one, bound=high)
    turned = compare({m: -c for m, c in one.terms}, "<=", -low, one.span)
    return All((replace(one, relation="<=", bound=high), turned))


def _both(written: Formula, rounded: Formula) -> Formula:
    equation = any(isinstance(part, Comparison) and part.relation == "==" for part in (written, rounded))
    return rounded if equation else All((written, rounded))


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
            made[i] = float32(bound)
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


def _pairwise(one: Query, other: Query, join: Callable[[Formula, Formula], Formula]) -> Query:
    """Both readings of a file as one: `join` of every comparison in the first and its other reading.

    A comparison in which nothing varies has become a truth value, perhaps in one reading only.
    """

    def joined(first: Formula, second: Formula) -> Formula:
        match first, second:
            case (All(parts), All(others)) | (Some(parts), Some(others)) if len(parts) == len(others):
                made = tuple(map(joined, parts, others))
                return All(made) if isinstance(first, All) else Some(made)
            case _:
                return join(first, second)

    pairs = zip(one.assertions, other.assertions, strict=True)
    return replace(one, assertions=tuple(Assertion(joined(a.formula, b.formula), a.span) for a, b in pairs))
