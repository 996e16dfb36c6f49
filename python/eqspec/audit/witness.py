"""`different`, checked: one exact input of the region at which the claim breaks in exact arithmetic."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from .claim import Region
from .networks import Exact, Refused


def outputs(layers: Exact, point: list[Fraction]) -> list[Fraction]:
    """The outputs of a network at an exact point."""
    values = list(point)
    for number, (weight, bias) in enumerate(layers):
        used = [(i, v) for i, v in enumerate(values) if v]
        values = [sum((row[i] * v for i, v in used if row[i]), b) for row, b in zip(weight, bias, strict=True)]
        if number + 1 < len(layers):
            values = [max(v, Fraction(0)) for v in values]
    return values


def breaks(task: dict[str, Any], region: Region, first: Exact, second: Exact, texts: list[str]) -> None:
    """Refused unless the point, in network units, is a violation."""
    point = [Fraction(text) for text in texts]
    if len(point) != len(region.low) or not region.contains(point):
        raise Refused("the input lies outside of the region")
    f, g, claim = outputs(first, point), outputs(second, point), task["property"]
    if not _violated(claim, f, g):
        raise Refused("the claim holds at this input")


def _violated(claim: dict[str, Any], f: list[Fraction], g: list[Fraction]) -> bool:
    if claim["kind"] == "epsilon":
        chosen = range(len(f)) if claim["outputs"] is None else claim["outputs"]
        sizes, eps = [abs(f[o] - g[o]) for o in chosen], Fraction(claim["eps"])
        if claim["norm"] == "l2":
            return sum(s * s for s in sizes) > eps * eps
        return (max(sizes) if claim["norm"] == "linf" else sum(sizes)) > eps
    if claim["kind"] == "linear":
        terms = zip([*claim["reference"], *claim["candidate"]], [*f, *g], strict=True)
        value, bound = sum(Fraction(c) * v for c, v in terms), Fraction(claim["bound"])
        return value > bound or (bool(claim["strict"]) and value == bound)
    best = [k for k, v in enumerate(f) if v == max(f)]
    return any(g[k] < max(g) and _guarded(claim["guard"], f, k) for k in best)


def _guarded(guard: dict[str, Any] | None, f: list[Fraction], k: int) -> bool:
    if guard is None:
        return True
    threshold, others = Fraction(guard["threshold"]), [v for j, v in enumerate(f) if j != k]
    if guard["kind"] == "margin":
        return all(f[k] - v >= threshold for v in others)
    if threshold * len(f) <= 1:  # the largest share is at least that
        return True
    # softmax >= delta iff the others' exponentials, relative to k's, sum to at most (1 - delta) / delta
    differences, context = [v - f[k] for v in others], Context(prec=60)
    if not any(differences):
        return len(others) <= (1 - threshold) / threshold
    total, error = Fraction(0), Fraction(1, 10**50)
    for d in differences:  # e^d is monotone, d <= 0, and `decimal` rounds correctly: far below the error
        power = context.exp(context.divide(Decimal(d.numerator), Decimal(d.denominator))) if d > -1000 else Decimal(0)
        total += Fraction(power) * (1 + error * (1 + abs(d))) + error
    return total <= (1 - threshold) / threshold
