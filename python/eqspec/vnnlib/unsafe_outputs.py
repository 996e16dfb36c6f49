"""Claims to unsafe outputs: the formula that holds exactly where a claim does not; the inverse of `sentences`.

One case is not exact. Where a confidence is asked for and there are more than two classes, the softmax is replaced by
the margin it implies, ln(delta / (1 - delta)), rounded down: more points than those that break the claim are unsafe.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Literal

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1, exact
from eqspec.span import Source, Span
from eqspec.tasks.directed_rounding import log_odds_below
from eqspec.vnnlib.query import All, Element, Formula, Monomial, Relation, Some, compare

MOST_SIGNS = 10
"""Outputs whose l1 distance is written out: 2^n patterns of signs."""
REFERENCE, CANDIDATE = 0, 1
_UNIT = 10**15
NOWHERE = Span(Source("<claim>", ""), 0, 0)


@dataclass(frozen=True)
class UnsafeOutputs:
    """Where a claim fails, over outputs of network 0, the reference, and 1; `notes` say where it covers more."""

    formula: Formula
    notes: tuple[str, ...] = ()


def unsafe_outputs(claim: Property, outputs: int, decide: Literal["max", "min"]) -> UnsafeOutputs:
    """The unsafe outputs of a claim. InputError where they cannot be written."""
    match claim:
        case Epsilon(eps, norm, chosen):
            return UnsafeOutputs(_distance(exact(eps), norm, tuple(range(outputs)) if chosen is None else chosen))
        case Top1():
            return UnsafeOutputs(_top1(Fraction(0), outputs, decide))
        case Margin(margin):
            return UnsafeOutputs(_top1(exact(margin), outputs, decide))
        case Confidence(delta):
            return _confident(exact(delta), outputs, decide)
        case Linear(candidate, reference, bound, strict):
            terms: dict[Monomial, Fraction] = {}
            for number, row in ((CANDIDATE, candidate), (REFERENCE, reference)):
                terms |= {(Element(number, True, i),): -exact(c) for i, c in enumerate(row)}
            return UnsafeOutputs(_compare(terms, "<=" if strict else "<", -exact(bound)))
        case NeverWraps() | NeverSaturates():
            word = "wraps" if isinstance(claim, NeverWraps) else "saturates"
            raise InputError(
                f"VNN-LIB speaks of inputs and outputs alone, so it cannot say that a network never {word}"
            )


def _compare(terms: dict[Monomial, Fraction], relation: Relation, bound: Fraction) -> Formula:
    return compare(terms, relation, bound, NOWHERE)


def _distance(eps: Fraction, norm: str, chosen: Sequence[int]) -> Formula:
    if norm == "l2":
        squares: dict[Monomial, Fraction] = {}
        for i in chosen:
            f, g = Element(REFERENCE, True, i), Element(CANDIDATE, True, i)
            squares |= {(f, f): Fraction(-1), (f, g): Fraction(2), (g, g): Fraction(-1)}
        return _compare(squares, "<", -eps * eps)
    if norm == "l1" and len(chosen) > MOST_SIGNS:
        message = f"the l1 distance of {len(chosen)} outputs takes 2^{len(chosen)} alternatives to write"
        raise InputError(f"{message}; up to {MOST_SIGNS} are written: compare fewer, or use linf")
    rows = [((i, sign),) for i in chosen for sign in (1, -1)]
    patterns: Sequence[tuple[tuple[int, int], ...]] = rows
    if norm == "l1":
        patterns = [tuple(zip(chosen, signs, strict=True)) for signs in product((1, -1), repeat=len(chosen))]
    return Some(tuple(_sum_of_gaps(pattern, eps) for pattern in patterns))


def _sum_of_gaps(pattern: Sequence[tuple[int, int]], eps: Fraction) -> Formula:
    """Sum of sign (y_g - y_f) > eps."""
    terms: dict[Monomial, Fraction] = {}
    for i, sign in pattern:
        terms[(Element(REFERENCE, True, i),)], terms[(Element(CANDIDATE, True, i),)] = Fraction(sign), Fraction(-sign)
    return _compare(terms, "<", -eps)


def _top1(margin: Fraction, outputs: int, decide: Literal["max", "min"]) -> Formula:
    """Some class k leads by the margin in f, and some j leads k in g."""
    ahead = 1 if decide == "max" else -1

    def leads(network: int, k: int, other: int, by: Fraction, relation: Relation) -> Formula:
        first, second = (Element(network, True, k),), (Element(network, True, other),)
        return _compare({first: Fraction(-ahead), second: Fraction(ahead)}, relation, -by)

    classes = []
    for k in range(outputs):
        others = [i for i in range(outputs) if i != k]
        guard = tuple(leads(REFERENCE, k, other, margin, "<=") for other in others)
        broken = Some(tuple(leads(CANDIDATE, j, k, Fraction(0), "<") for j in others))
        classes.append(All((*guard, broken)))
    return Some(tuple(classes))


def _confident(delta: Fraction, outputs: int, decide: Literal["max", "min"]) -> UnsafeOutputs:
    margin = Fraction(int(max(Fraction(0), Fraction(log_odds_below(delta))) * _UNIT), _UNIT)  # a short decimal
    if delta * outputs <= 1:
        return UnsafeOutputs(_top1(Fraction(0), outputs, decide))
    formula = _top1(margin, outputs, decide)
    if outputs == 2:
        return UnsafeOutputs(
            formula, ("the confidence is written as a lead of the scores, rounded down",) if margin else ()
        )
    if margin:
        least = delta / (delta * (2 - outputs) + outputs - 1)
        covers = f"which covers confidences down to about {float(least):.6g} too"
        return UnsafeOutputs(
            formula, (f"the confidence is written as the lead of the scores that it implies, {covers}",)
        )
    return UnsafeOutputs(formula, ("the confidence is left out: at most 1/2, it implies no lead of the scores",))
