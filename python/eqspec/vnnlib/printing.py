"""Formulas as VNN-LIB text. Exact: where a coefficient does not end as a decimal, the comparison is multiplied up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm

from eqspec.vnnlib import decimals
from eqspec.vnnlib.query import All, Comparison, Element, Formula, Monomial, Some

Names = Callable[[Element], str]


def printed(formula: Formula, names: Names, *, closed: bool = False) -> str:
    """One line; `closed` writes < as <=."""
    match formula:
        case Comparison():
            return _comparison(formula, names, closed=closed)
        case All(parts) if len(parts) == 1:
            return printed(parts[0], names, closed=closed)
        case All(parts) | Some(parts):
            word = "and" if isinstance(formula, All) else "or"
            return f"({word} {' '.join(printed(part, names, closed=closed) for part in parts)})"


def alternatives(formula: Formula, names: Names, *, closed: bool = False) -> Iterator[str]:
    """The parts of an `or` at the top, one line each, or the formula itself."""
    for part in formula.parts if isinstance(formula, Some) else (formula,):
        yield printed(part, names, closed=closed)


def _comparison(comparison: Comparison, names: Names, *, closed: bool) -> str:
    """What is added on one side, what is taken away on the other."""
    terms, bound = list(comparison.terms), comparison.bound
    if any(decimals.plain(number) is None for number in (bound, *(c for _, c in terms))):
        whole = lcm(bound.denominator, *(c.denominator for _, c in terms))
        terms, bound = [(m, c * whole) for m, c in terms], bound * whole
    left = [(m, c) for m, c in terms if c > 0]
    right = [(m, -c) for m, c in terms if c < 0]
    relation = "<=" if closed and comparison.relation == "<" else comparison.relation
    if not left:
        turned = {"<": ">", "<=": ">=", "==": "=="}[relation]
        return f"({turned} {_sum(right, Fraction(0), names)} {_number(-bound)})"
    if right:
        return f"({relation} {_sum(left, Fraction(0), names)} {_sum(right, bound, names)})"
    return f"({relation} {_sum(left, Fraction(0), names)} {_number(bound)})"


def _sum(terms: list[tuple[Monomial, Fraction]], constant: Fraction, names: Names) -> str:
    parts = [_multiple(monomial, coefficient, names) for monomial, coefficient in terms]
    if not parts:
        return _number(constant)
    added = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    if constant > 0:
        return f"(+ {added} {_number(constant)})"
    return f"(- {added} {_number(-constant)})" if constant < 0 else added


def _multiple(monomial: Monomial, coefficient: Fraction, names: Names) -> str:
    factors = [names(element) for element in monomial]
    if coefficient != 1:
        factors.insert(0, _number(coefficient))
    return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"


def _number(value: Fraction) -> str:
    """Exact: what does not end was multiplied up, so only size is left."""
    return decimals.plain(value) or f"{value.numerator}.0"
