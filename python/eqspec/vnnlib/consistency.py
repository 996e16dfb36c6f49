"""What is wrong with asserts that no sentence says: they agree where they should differ, or nothing can meet them.

E602 is a statement about all numbers, so it is decided exactly: a linear program only suggests multipliers, and what
counts is that they add the comparisons up to 0 < 0, in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import Diagnostic, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.lp import HighsSolver
from eqspec.span import Span
from eqspec.spec.findings import error
from eqspec.tasks.phrasing import approximately
from eqspec.vnnlib.cases import Case
from eqspec.vnnlib.query import Comparison, Element

MOST_COMPARISONS = 2_000
"""The most comparisons of a case that is put to the solver."""


def contradiction(case: Case, *, solve: bool = True) -> list[Comparison]:
    """Comparisons of the case that cannot hold together; none if it is possible, or could not be told.

    Without `solve` only two that bound the same sum are looked for, which costs next to nothing.
    """
    linear = [c for c in case if c.linear and c.relation != "=="]
    if pair := _opposite(linear):
        return pair
    if not solve or not 1 < len(linear) <= MOST_COMPARISONS:
        return []
    multipliers = _suggested(linear)
    return [c for c, y in zip(linear, multipliers, strict=True) if y] if _refutes(multipliers, linear) else []


def _opposite(linear: Sequence[Comparison]) -> list[Comparison]:
    """Two comparisons that bound the same sum from below and above, the wrong way round."""
    below: dict[object, Comparison] = {}
    for comparison in linear:
        known = below.get(comparison.terms)
        if known is None or (comparison.bound, comparison.relation == "<=") < (known.bound, known.relation == "<="):
            below[comparison.terms] = comparison
    for comparison in below.values():
        other = below.get(tuple((m, -c) for m, c in comparison.terms))
        if other is not None and _refutes([Fraction(1)] * 2, [comparison, other]):
            return sorted([comparison, other], key=lambda c: c.span.start)
    return []


def _refutes(multipliers: Sequence[Fraction], linear: Sequence[Comparison]) -> bool:
    """Exactly: whether the sum of y (a.v) <= y b says 0 < 0, or 0 <= something negative."""
    total: dict[Element, Fraction] = {}
    bound, strict = Fraction(0), False
    for y, comparison in zip(multipliers, linear, strict=True):
        if y < 0:
            return False
        for element, coefficient in comparison.coefficients.items():
            total[element] = total.get(element, Fraction(0)) + y * coefficient
        bound += y * comparison.bound
        strict |= y > 0 and comparison.relation == "<"
    return not any(total.values()) and (bound < 0 or (strict and bound == 0))


@dataclass(frozen=True)
class _Farkas:
    """Multipliers y = (1 + e) / 2 in [0, 1] with A^T y = 0 that make y.b small."""

    matrix: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    objectives: NDArray[np.float64]


def _suggested(linear: Sequence[Comparison]) -> list[Fraction]:
    none = [Fraction(0)] * len(linear)
    places = {e: i for i, e in enumerate(sorted({e for c in linear for e in c.elements}))}
    matrix = np.zeros((len(places), len(linear)))
    for column, comparison in enumerate(linear):
        for element, coefficient in comparison.coefficients.items():
            matrix[places[element], column] = approximately(coefficient)
    if not np.isfinite(matrix).all():
        return none
    sides = -matrix.sum(axis=1)
    # a strict comparison is worth a little, so that 0 < 0 is found too
    worth = np.array([-approximately(c.bound) + (1e-3 if c.relation == "<" else 0.0) for c in linear])
    _, points, _ = HighsSolver().answer([_Farkas(matrix, sides, sides, worth[None])])[0]
    if not np.isfinite(points).all():
        return none
    return [Fraction(round(float(y), 9)).limit_denominator(10**6) for y in (1 + points[0]) / 2]


def empty(unsafe: Sequence[Case], span: Span) -> Diagnostic:
    """E602, for cases none of which is possible."""
    if not unsafe:
        return error("E602", "the unsafe set is empty: the asserts are plainly false", span, help="negate them?")
    shown = contradiction(unsafe[0])[:4]
    listed = " and ".join(f"'{_written(c)}'" for c in shown)
    both = "cannot both hold" if len(shown) == 2 else "cannot hold together"
    message = f"the unsafe set is empty: {listed} {both}"
    labels = [Label(c.span, "not with the other" if len(shown) == 2 else "one of them") for c in shown[1:]]
    return error("E602", message, shown[0].span, *labels, help="did you mean (or ...) in place of (and ...)?")


def agreement(unsafe: Sequence[Case]) -> Diagnostic | None:
    """E601 if there is one case, and it keeps differences of outputs between two bounds."""
    if len(unsafe) != 1:
        return None
    bands = [_difference(c) for c in unsafe[0]]
    if None in bands or not bands:
        return None
    sides = {(i, sign) for i, sign, _ in (b for b in bands if b is not None)}
    if any((i, -sign) not in sides for i, sign in sides) or any(b is not None and b[2] < 0 for b in bands):
        return None
    message = "the asserts describe outputs that agree, so 'sat' would only mean they agree somewhere"
    return error("E601", message, unsafe[0][0].span, help="negate them? (or (> Y_g (+ Y_f eps)) (< Y_g (- Y_f eps)))")


def _difference(comparison: Comparison) -> tuple[int, int, Fraction] | None:
    """(i, sign, bound) of sign (y_f[i] - y_g[i]) <= bound."""
    if not comparison.linear or len(comparison.terms) != 2:
        return None
    ((first,), a), ((second,), b) = comparison.terms
    tied = first.entry == second.entry and {first.network, second.network} == {0, 1} and a == -b
    return (first.entry, 1 if a > 0 else -1, comparison.bound) if tied else None


def _written(comparison: Comparison) -> str:
    return " ".join(comparison.span.text.split())
