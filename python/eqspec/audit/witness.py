"""`different`, checked: one exact input of the region at which the claim breaks in exact arithmetic."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from .ball import Ball, rational
from .claim import Region
from .networks import File
from .rounding import Refused


def breaks(task: dict[str, Any], region: Region, first: File, second: File, texts: list[str]) -> None:
    """Refused unless the point, in network units, is a violation."""
    point = [Fraction(text) for text in texts]
    if len(point) != len(region.low) or not region.contains(point):
        raise Refused("the input lies outside of the region")
    f, g = first.at(point), second.at(point)
    if not _violated(task["property"], f, g):
        raise Refused("the claim holds at this input")


def _violated(claim: dict[str, Any], f: Ball, g: Ball) -> bool:
    """For all numbers within the balls, which are exact but for square roots."""
    if claim["kind"] == "epsilon":
        chosen = list(range(len(f.c)) if claim["outputs"] is None else claim["outputs"])
        sizes, eps = [max(s, Fraction(0)) for s in (abs(f.c - g.c) - f.r - g.r)[chosen]], Fraction(claim["eps"])
        if claim["norm"] == "l2":
            return bool(sum(s * s for s in sizes) > eps * eps)
        return bool((max(sizes) if claim["norm"] == "linf" else sum(sizes)) > eps)
    if claim["kind"] == "linear":
        sides = [(rational(claim[role]), values) for role, values in (("reference", f), ("candidate", g))]
        value, bound = sum((c @ v.c - abs(c) @ v.r) for c, v in sides), Fraction(claim["bound"])
        return bool(value > bound or (claim["strict"] and value == bound))
    best = [k for k in range(len(f.c)) if all(d <= 0 for d in _behind(f, k))]
    return any((g.c[k] + g.r[k] < g.c - g.r).any() and _guarded(claim["guard"], f, k) for k in best)


def _behind(f: Ball, k: int) -> list[Fraction]:
    """The most by which the other outputs may exceed output k."""
    return [f.c[j] - f.c[k] + f.r[j] + f.r[k] for j in range(len(f.c)) if j != k]


def _guarded(guard: dict[str, Any] | None, f: Ball, k: int) -> bool:
    if guard is None:
        return True
    threshold, differences, context = Fraction(guard["threshold"]), _behind(f, k), Context(prec=60)
    if guard["kind"] == "margin":
        return all(-d >= threshold for d in differences)
    if threshold * len(f.c) <= 1:  # the largest share is at least that
        return True
    # softmax >= delta iff the others' exponentials, relative to k's, sum to at most (1 - delta) / delta
    if not any(differences):
        return len(differences) <= (1 - threshold) / threshold
    total, error = Fraction(0), Fraction(1, 10**50)
    for d in differences:  # e^d is monotone, d <= 0, and `decimal` rounds correctly: far below the error
        power = context.exp(context.divide(Decimal(d.numerator), Decimal(d.denominator))) if d > -1000 else Decimal(0)
        total += Fraction(power) * (1 + error * (1 + abs(d))) + error
    return total <= (1 - threshold) / threshold
