"""Does a pair of outputs break a claim? Decided exactly, for all numbers within given enclosures.

Shapes: O outputs; an enclosure is a pair of rationals lo <= hi around one output. f is the reference, g the
candidate. The answer is a violation only if *all* outputs within the enclosures break the claim; without a doubt,
or not at all.

The one irrational quantity is the softmax: softmax_k(z) >= delta iff the sum over l != k of exp(z_l - z_k) is at
most r = (1 - delta) / delta. Every exp is enclosed in decimal arithmetic and the precision grows until the sum is
clearly on one side of r. That ends: r is rational and, by Lindemann and Weierstrass, a sum of exponentials of
rationals is transcendental, unless all the exponents are 0, when it is their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.containment import Outside
from eqspec.property import (
    Confidence,
    Decision,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Norm,
    Property,
    Top1,
    exact,
)
from eqspec.tasks.directed_rounding import contexts, decimal_enclosure

Enclosure: TypeAlias = tuple[Fraction, Fraction]

_MOST_DIGITS = 2560
"""The most digits of decimal arithmetic. Points that need more are not used as witnesses."""
_NEGLIGIBLE = Decimal(-100_000)
"""Exponents below this are not evaluated: as exp increases, their exp lies between 0 and exp of this one."""


@dataclass(frozen=True)
class TooFar:
    """The distance is at least `distance` (l2: at least its square root), attained at output `index` for linf."""

    norm: Norm
    distance: Fraction
    index: int | None


@dataclass(frozen=True)
class OtherClass:
    """f has its maximum at class `kept`, but g is larger at class `preferred`, by at least `lead`."""

    kept: int
    preferred: int
    lead: Fraction


@dataclass(frozen=True)
class BeyondBound:
    """The left side of a linear claim is at least `value`."""

    value: Fraction


@dataclass(frozen=True)
class LeavesType:
    """The candidate computes a number that its type does not hold."""

    found: Outside


Violation: TypeAlias = TooFar | OtherClass | BeyondBound | LeavesType


def violation(
    claim: Property, reference: Sequence[Enclosure], candidate: Sequence[Enclosure], *, lowest_wins: bool = False
) -> Violation | None:
    """How all outputs in the enclosures break the claim, or None if some do not or it cannot be decided.

    Claims about what is computed on the way are none about outputs; `Replay` decides them by `networks.containment`.
    `lowest_wins` is for networks that decide by their smallest score; it matters to claims about decisions only.
    """
    match claim:
        case Epsilon(eps, norm, outputs):
            chosen = range(len(reference)) if outputs is None else outputs
            return _too_far(exact(eps), norm, chosen, reference, candidate)
        case Linear():
            return _beyond_bound(claim, reference, candidate)
        case Top1() | Margin() | Confidence():
            if lowest_wins:
                reference, candidate = turned(reference), turned(candidate)
            return _other_class(claim, reference, candidate)
        case NeverWraps() | NeverSaturates():
            return None


def _too_far(
    eps: Fraction, norm: Norm, chosen: Sequence[int], reference: Sequence[Enclosure], candidate: Sequence[Enclosure]
) -> TooFar | None:
    gaps = {i: _least_gap(reference[i], candidate[i]) for i in chosen}
    match norm:
        case "linf":
            index = max(gaps, key=lambda i: gaps[i])
            return TooFar(norm, gaps[index], index) if gaps[index] > eps else None
        case "l1":
            total = sum(gaps.values(), Fraction(0))
            return TooFar(norm, total, None) if total > eps else None
        case "l2":
            square = sum((gap * gap for gap in gaps.values()), Fraction(0))
            return TooFar(norm, square, None) if square > eps * eps else None


def _least_gap(a: Enclosure, b: Enclosure) -> Fraction:
    if a[0] is a[1] and b[0] is b[1]:  # two points, for which one difference does
        return abs(a[0] - b[0])
    return max(Fraction(0), a[0] - b[1], b[0] - a[1])


def _beyond_bound(claim: Linear, reference: Sequence[Enclosure], candidate: Sequence[Enclosure]) -> BeyondBound | None:
    value = Fraction(0)
    for coefficients, enclosures in ((claim.candidate, candidate), (claim.reference, reference)):
        for coefficient, (low, high) in zip(map(exact, coefficients), enclosures, strict=True):
            value += coefficient * (low if coefficient >= 0 else high)
    bound = exact(claim.bound)
    return BeyondBound(value) if value > bound or (claim.strict and value == bound) else None


def _other_class(claim: Decision, reference: Sequence[Enclosure], candidate: Sequence[Enclosure]) -> OtherClass | None:
    """Top-1: for some k in Argmax f and some j, g_j > g_k. With a tie in f every class of it counts."""
    margin = exact(claim.margin) if isinstance(claim, Margin) else Fraction(0)
    worst: OtherClass | None = None
    for kept, (low, _) in enumerate(reference):
        others = [high for index, (_, high) in enumerate(reference) if index != kept]
        if any(low - high < max(margin, Fraction(0)) for high in others):
            continue
        if isinstance(claim, Confidence) and not confident(reference, kept, exact(claim.delta)):
            continue
        for preferred, (low_preferred, _) in enumerate(candidate):
            lead = low_preferred - candidate[kept][1]
            if lead > 0 and preferred != kept and (worst is None or lead > worst.lead):
                worst = OtherClass(kept, preferred, lead)
    return worst


def turned(enclosures: Sequence[Enclosure]) -> list[Enclosure]:
    """The scores negated where the lowest one decides, so that the highest does."""
    return [(-high, -low) for low, high in enclosures]


def confident(scores: Sequence[Enclosure], kept: int, delta: Fraction) -> bool:
    """Whether softmax_kept(z) >= delta for all z in the enclosures; `kept` must be a maximum of them all."""
    limit = (1 - delta) / delta
    least = scores[kept][0]
    exponents = [high - least for index, (_, high) in enumerate(scores) if index != kept]
    if not any(exponents):
        return len(exponents) <= limit
    return _at_most(exponents, limit) is True


def sure_of_less(scores: Sequence[Enclosure], kept: int, delta: Fraction) -> bool:
    """Whether softmax_kept(z) < delta for all z in the enclosures; `kept` may be any class. False where in doubt."""
    limit = (1 - delta) / delta
    most = scores[kept][1]
    exponents = [low - most for index, (low, _) in enumerate(scores) if index != kept]
    if any(exponent > 0 and limit < 1 for exponent in exponents):
        return True
    exponents = [min(exponent, Fraction(0)) for exponent in exponents]
    if not any(exponents):
        return len(exponents) > limit
    return _at_most(exponents, limit) is False


def _at_most(exponents: Sequence[Fraction], limit: Fraction) -> bool | None:
    """Whether sum exp(d), d <= 0, is at most `limit`; None where the most digits do not tell."""
    digits = 40
    while digits <= _MOST_DIGITS:
        low, high = _sum_of_exponentials(exponents, digits)
        if high <= limit:
            return True
        if low > limit:
            return False
        digits *= 2
    return None


def _sum_of_exponentials(exponents: Sequence[Fraction], digits: int) -> Enclosure:
    """An enclosure of sum exp(d), d <= 0. exp rounds to nearest in any context; one step outward encloses."""
    down, up = contexts(digits)
    low, high = Decimal(0), Decimal(0)
    for exponent in exponents:
        small, large = decimal_enclosure(exponent, digits)
        if small > _NEGLIGIBLE:
            low = down.add(low, down.next_minus(down.exp(small)))
        high = up.add(high, up.next_plus(up.exp(max(large, _NEGLIGIBLE))))
    return Fraction(low), Fraction(high)


def softmax(scores: Sequence[float], index: int) -> float:
    """softmax_index(z) in floats, for people to read."""
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    return exponentials[index] / sum(exponentials)
