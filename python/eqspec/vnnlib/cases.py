"""A formula as alternatives: it holds where all comparisons of one case do (its disjunctive normal form).

The size is bounded, because a short formula can have more cases than any memory holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.vnnlib.query import All, Comparison, Formula, compare

Case: TypeAlias = tuple[Comparison, ...]

MOST_COMPARISONS = 2_000_000
"""The most comparisons in all cases together. Top-1 of 100 classes takes 990 000."""


def cases(formula: Formula, span: Span) -> list[Case]:
    """All cases, each without repetitions; none if the formula cannot hold. Fault E612, at `span`, if they are many."""
    if isinstance(formula, Comparison):
        return [(formula,)]
    if isinstance(formula, All):
        found: list[Case] = [()]
        certain: list[Comparison] = []
        for part in formula.parts:
            if isinstance(part, Comparison):
                certain.append(part)
                continue
            several = cases(part, span)
            sizes = sum(map(len, found)) * len(several) + sum(map(len, several)) * len(found)
            _limit(max(sizes, len(found) * len(several)), span)
            found = [a + b for a in found for b in several]
        _limit(len(found) * len(certain), span)
        return [_distinct((*certain, *case)) for case in found]
    joined: list[Case] = []
    size = 0
    for part in formula.parts:
        several = cases(part, span)
        size += sum(len(case) + 1 for case in several)
        _limit(size, span)
        joined += several
    return joined


def closed(case: Case) -> Case:
    """The same with every equality as two inequalities."""
    parts: list[Comparison] = []
    for comparison in case:
        if comparison.relation != "==":
            parts.append(comparison)
            continue
        terms = dict(comparison.terms)
        for sign in (1, -1):
            half = compare({m: sign * c for m, c in terms.items()}, "<=", sign * comparison.bound, comparison.span)
            assert isinstance(half, Comparison)
            parts.append(half)
    return _distinct(parts)


def _distinct(case: Iterable[Comparison]) -> Case:
    return tuple({comparison.key: comparison for comparison in case}.values())


def _limit(size: int, span: Span) -> None:
    if size > MOST_COMPARISONS:
        message = f"written out as alternatives, the asserts have more than {MOST_COMPARISONS} comparisons"
        raise Fault(error("E612", message, span, help="split the file"))
