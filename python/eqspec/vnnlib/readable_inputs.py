"""Inputs of an answer, moved so that the printed digits meet the equations of the asserts.

A point that meets `X_0 + X_1 == 0.3` exactly may need more digits than are printed, and even exact decimals may miss
the equation by a last digit when their sum is formed in floats. So decimals with few digits close by are tried: one
input of every equation follows from the others. The asserts must hold there exactly, as of any other answer. Where no
such decimals are found, as for `7 X_0 == 1`, the point stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from eqspec.vnnlib import decimals
from eqspec.vnnlib.assignments import Assignment, at
from eqspec.vnnlib.query import All, Comparison, Element, Formula

Inputs = Sequence[Sequence[Fraction]]
_MOST_DIGITS = 15
"""Decimals with more are no longer told apart as floats."""


def readable(found: Assignment) -> Assignment:
    """The answer, or one close by whose printed inputs meet the equations between inputs in exact and float sums."""
    equations = [part for a in found.subject.query.assertions for part in _equations(a.formula)]
    if not equations or _reads(found.inputs, equations):
        return found
    for inputs in _close_by(found.inputs, equations):
        if _reads(inputs, equations):
            moved = at(found.subject, inputs)
            if moved.satisfies:
                return moved
    return found


def _equations(formula: Formula) -> Iterator[Comparison]:
    """The linear equations between inputs that hold in every case."""
    match formula:
        case All(parts):
            for part in parts:
                yield from _equations(part)
        case Comparison(relation="==") if formula.linear and not any(e.output for e in formula.elements):
            yield formula
        case _:
            return


def _reads(inputs: Inputs, equations: Sequence[Comparison]) -> bool:
    """Whether every input is printed exactly, and sums of floats meet the equations too."""
    if any(decimals.plain(x) is None for point in inputs for x in point):
        return False
    return all(_in_floats(inputs, equation) for equation in equations)


def _in_floats(inputs: Inputs, equation: Comparison) -> bool:
    """With whole coefficients: the file may have written others, of which no more is known."""
    terms = equation.coefficients.items()
    by = lcm(equation.bound.denominator, *(c.denominator for _, c in terms))
    try:
        return sum(float(c * by) * float(_value(inputs, e)) for e, c in terms) == float(equation.bound * by)
    except OverflowError:  # numbers that no float holds
        return False


def _value(inputs: Inputs, element: Element) -> Fraction:
    return inputs[element.network][element.entry]


def _close_by(inputs: Inputs, equations: Sequence[Comparison]) -> Iterator[list[list[Fraction]]]:
    """Inputs rounded to more and more decimals, but for one of each equation, which it gives."""
    for digits in range(1, _MOST_DIGITS + 1):
        moved = [[round(x, digits) for x in point] for point in inputs]
        given: set[Element] = set()
        for equation in equations:
            free = [e for e in equation.coefficients if e not in given]
            if not free:
                continue
            last = free[-1]
            others = sum(c * _value(moved, e) for e, c in equation.coefficients.items() if e != last)
            moved[last.network][last.entry] = (equation.bound - others) / equation.coefficients[last]
            given.add(last)
        yield moved
