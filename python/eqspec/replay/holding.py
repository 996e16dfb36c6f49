"""Does a claim hold for a pair of outputs? Decided exactly, for all numbers within given enclosures.

The other side of `violation`: yes only if *no* outputs within the enclosures break the claim. Where the enclosures are
points, one of the two says yes, unless it is a confidence that thousands of digits do not tell from its limit.

Shapes: enclosures as in `violation`; `surely` takes arrays (O, N) of floats, and says of many points which of them need
no further look: comparisons of floats alone, which round nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.property import (
    Confidence,
    Decision,
    Epsilon,
    Guarded,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Property,
    Top1,
    exact,
)
from eqspec.replay.violation import Enclosure, sure_of_less, turned

Array = NDArray[np.float64]
Ends = tuple[Array, Array]


def holds(
    claim: Property, reference: Sequence[Enclosure], candidate: Sequence[Enclosure], *, lowest_wins: bool = False
) -> bool:
    """Whether the claim holds for all outputs in the enclosures; False where that is not known."""
    match claim:
        case Epsilon(eps, norm, outputs):
            chosen = range(len(reference)) if outputs is None else outputs
            gaps = [_largest_gap(reference[i], candidate[i]) for i in chosen]
            limit = exact(eps)
            match norm:
                case "linf":
                    return max(gaps) <= limit
                case "l1":
                    return sum(gaps, Fraction(0)) <= limit
                case "l2":
                    return sum((gap * gap for gap in gaps), Fraction(0)) <= limit * limit
        case Linear():
            return _within_bound(claim, reference, candidate)
        case Top1() | Margin() | Confidence():
            if lowest_wins:
                reference, candidate = turned(reference), turned(candidate)
            return _same_class(claim, reference, candidate)
        case NeverWraps() | NeverSaturates():
            return False  # none about outputs


def _largest_gap(a: Enclosure, b: Enclosure) -> Fraction:
    return max(a[1] - b[0], b[1] - a[0])


def _within_bound(claim: Linear, reference: Sequence[Enclosure], candidate: Sequence[Enclosure]) -> bool:
    value = Fraction(0)
    for coefficients, enclosures in ((claim.candidate, candidate), (claim.reference, reference)):
        for coefficient, (low, high) in zip(map(exact, coefficients), enclosures, strict=True):
            value += coefficient * (high if coefficient >= 0 else low)
    bound = exact(claim.bound)
    return value < bound if claim.strict else value <= bound


def asks_nothing(claim: Decision, reference: Sequence[Enclosure], *, lowest_wins: bool = False) -> bool:
    """Whether the guard of a claim is met by no outputs in the enclosures; False where that is not known."""
    scores = turned(reference) if lowest_wins else reference
    return not any(_may_decide(claim, scores, kept) for kept in range(len(scores)))


def likely_met(claim: Guarded, reference: Array, *, lowest_wins: bool = False) -> bool:
    """Whether floats (O, N) meet the guard of a claim at some of N points, by more than they round; no proof."""
    scores = -reference if lowest_wins else reference
    if not scores.size:
        return False
    best = scores.max(axis=0)
    if isinstance(claim, Margin):
        lead = best - np.sort(scores, axis=0)[-2] if len(scores) > 1 else np.full_like(best, np.inf)
        return bool((lead >= float(exact(claim.margin)) * (1 + 1e-9)).any())
    with np.errstate(all="ignore"):
        confidence = 1.0 / np.exp(scores - best).sum(axis=0)
    return bool((confidence >= float(exact(claim.delta)) * (1 + 1e-9)).any())


def _same_class(claim: Decision, reference: Sequence[Enclosure], candidate: Sequence[Enclosure]) -> bool:
    """Every class that f may decide for, as the claim asks, is a maximum of g for certain."""
    for kept in range(len(reference)):
        if _may_decide(claim, reference, kept) and any(
            top > candidate[kept][0] for index, (_, top) in enumerate(candidate) if index != kept
        ):
            return False
    return True


def _may_decide(claim: Decision, reference: Sequence[Enclosure], kept: int) -> bool:
    """Whether f may decide for a class, and meet the guard."""
    margin = max(exact(claim.margin), Fraction(0)) if isinstance(claim, Margin) else Fraction(0)
    high = reference[kept][1]
    if any(high - low < margin for index, (low, _) in enumerate(reference) if index != kept):
        return False
    return not (isinstance(claim, Confidence) and sure_of_less(reference, kept, exact(claim.delta)))


def surely(claim: Property, reference: Ends, candidate: Ends, *, lowest_wins: bool = False) -> NDArray[np.bool_]:
    """At which points (N,) the claim holds for certain; False where a closer look is needed."""
    none = np.zeros(reference[0].shape[1], bool)
    match claim:
        case Epsilon(_, _, outputs):
            chosen = slice(None) if outputs is None else list(outputs)
            f, g = (tuple(end[chosen] for end in ends) for ends in (reference, candidate))
            return np.asarray((f[0] == f[1]).all(axis=0) & (g[0] == g[1]).all(axis=0) & (f[0] == g[0]).all(axis=0))
        case Linear() | NeverWraps() | NeverSaturates():
            return none
        case Top1() | Margin() | Confidence():
            if lowest_wins:
                reference, candidate = ((-high, -low) for low, high in (reference, candidate))
            may_win = reference[1] >= reference[0].max(axis=0)
            return np.asarray((~may_win | (candidate[0] >= _best_other(candidate[1]))).all(axis=0))


def _best_other(scores: Array) -> Array:
    """For each row (O, N) the largest of all others."""
    if len(scores) == 1:
        return np.full_like(scores, -np.inf)
    order = np.argsort(scores, axis=0)
    best, second = (np.take_along_axis(scores, order[k][None], axis=0) for k in (-1, -2))
    found = np.repeat(best, len(scores), axis=0)
    np.put_along_axis(found, order[-1][None], second, axis=0)
    return found
