"""Does a claim hold for a pair of outputs? Decided exactly, for all numbers within given enclosures.

The other side of `violation`: yes only if *no* outputs within the enclosures break the claim. Where the enclosures are
points, one of the two says yes, unless it is a confidence that thousands of digits do not tell from its limit.

Shapes: enclosures as in `violation`; `surely` takes arrays (O, N) of floats, and says of many points which of them need
no further look. What is rounded there is rounded to the side where the claim holds for less: a difference of two floats
lies below the float above the one it is rounded to.
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
from eqspec.tasks.directed_rounding import float_below, log_odds_below

Array = NDArray[np.float64]
Ends = tuple[Array, Array]
_SMALL, _TINY = 1e-290, 1e-300
"""Coefficients below lose digits; more than underflow takes away from a product."""


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
    with np.errstate(all="ignore"):
        match claim:
            case Epsilon(eps, norm, outputs):
                chosen = slice(None) if outputs is None else list(outputs)
                f, g = (tuple(end[chosen] for end in ends) for ends in (reference, candidate))
                gaps = _above(np.maximum(f[1] - g[0], g[1] - f[0]))
                same = np.asarray((f[0] == f[1]) & (g[0] == g[1]) & (f[0] == g[0]))
                return _norm_within(np.where(same, 0.0, gaps), norm, float_below(exact(eps)))
            case Linear():
                return _surely_bounded(claim, reference, candidate)
            case NeverWraps() | NeverSaturates():
                return np.zeros(reference[0].shape[1], bool)
            case Top1() | Margin() | Confidence():
                if lowest_wins:
                    reference, candidate = ((-high, -low) for low, high in (reference, candidate))
                return _surely_same_class(claim, reference, candidate)


def _above(sizes: Array) -> Array:
    """Floats at or above exact results that are rounded to these."""
    return np.asarray(np.nextafter(sizes, np.inf))


def _norm_within(gaps: Array, norm: str, eps: float) -> NDArray[np.bool_]:
    """Where upper bounds (O, N) of differences have at most this norm; sums of n are rounded by less than 2 n u."""
    more = 1.0 + (len(gaps) + 4) * 2.0**-51
    match norm:
        case "l1":
            return np.asarray(gaps.sum(axis=0) * more <= eps)
        case "l2":
            squares = (gaps * gaps).sum(axis=0) * more + _TINY
            below = (squares <= eps * eps * (1.0 - 2.0**-50)) & np.isfinite(squares)
            return np.asarray(below | (gaps == 0.0).all(axis=0))
        case _:
            return np.asarray(gaps.max(axis=0, initial=0.0) <= eps)


def _surely_bounded(claim: Linear, reference: Ends, candidate: Ends) -> NDArray[np.bool_]:
    """Where a sum stays below the bound by more than it, and its coefficients, are rounded."""
    numbers = [exact(c) for c in (*claim.candidate, *claim.reference)]
    low, high = (np.concatenate([candidate[end], reference[end]]) for end in (0, 1))
    try:
        row = np.array([[float(c)] for c in numbers])
        bound = float_below(exact(claim.bound))
    except OverflowError:
        return np.zeros(low.shape[1], bool)
    if any(c and abs(x) < _SMALL for c, x in zip(numbers, row[:, 0].tolist(), strict=True)):  # of few digits
        return np.zeros(low.shape[1], bool)
    ends = np.where(row >= 0.0, high, low)
    sizes = (np.abs(row) * np.abs(ends)).sum(axis=0)
    slack = (len(row) + 8) * 2.0**-51 * (sizes + abs(bound)) + len(row) * _TINY
    return np.asarray((row * ends).sum(axis=0) + slack < bound)


def _surely_same_class(claim: Decision, reference: Ends, candidate: Ends) -> NDArray[np.bool_]:
    """Where every class that the reference may decide for, with the guard of the claim, is one of the candidate's."""
    may_win = reference[1] >= reference[0].max(axis=0)
    least = _least_lead(claim)
    if least is not None and len(reference[0]) > 1:
        may_win &= ~(_above(reference[1] - _best_other(reference[0])) < least)
    return np.asarray((~may_win | (candidate[0] >= _best_other(candidate[1]))).all(axis=0))


def _least_lead(claim: Decision) -> float | None:
    """How far one score must be above all others where the guard is met, or a little less; None without a guard."""
    if isinstance(claim, Margin):
        return float_below(exact(claim.margin))
    if isinstance(claim, Confidence) and 0 < exact(claim.delta) < 1:
        # Where the share of one class is delta, those of all others are 1 - delta together.
        return log_odds_below(exact(claim.delta))
    return None


def _best_other(scores: Array) -> Array:
    """For each row (O, N) the largest of all others."""
    if len(scores) == 1:
        return np.full_like(scores, -np.inf)
    order = np.argsort(scores, axis=0)
    best, second = (np.take_along_axis(scores, order[k][None], axis=0) for k in (-1, -2))
    found = np.repeat(best, len(scores), axis=0)
    np.put_along_axis(found, order[-1][None], second, axis=0)
    return found
