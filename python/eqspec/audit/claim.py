"""What is claimed: a region, and obligations, each a violation that must not happen where its guard holds.

Everything is read from the exact numbers of the task; floats are rounded so that the claim only becomes stronger. The
order of guards and obligations is that of the certificate's hints.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import Any

import numpy as np

from .rounding import Array, Refused, float_above, float_below, log_odds_below


@dataclass(frozen=True)
class Guard:
    """rows . f1 + constants >= 0; those in `exact` stand for z_k - LSE(z_l) >= t together."""

    rows: Array
    constants: Array
    exact: slice


@dataclass(frozen=True)
class Obligation:
    """a.f1 + b.f2 + constant must not be positive (nor 0 if strict) where its guard holds.

    `writings` (N, 3 O) are this functional over f1, f2 and f1 - f2. Without any, a norm of f1 - f2 over `outputs` must
    not exceed -constant.
    """

    guard: int | None
    writings: Array
    constant: float
    strict: bool = False
    norm: str = ""
    outputs: tuple[int, ...] = ()

    def excluded_by(self, upper: Array) -> Array:
        """Where upper bounds rule the violation out; not a number never does."""
        return np.asarray(upper < 0.0 if self.strict else upper <= 0.0)


def _writings(a: Array, b: Array) -> Array:
    """a.f1 + b.f2 = (a + b).f1 - b.(f1 - f2) = (a + b).f2 + a.(f1 - f2), where a + b is exact."""
    total, none = a + b, 0.0 * a
    found = [(a, b, none), (total, none, -b), (none, total, a)]
    if any(Fraction(t) != Fraction(x) + Fraction(y) for t, x, y in zip(total, a, b, strict=True)):
        found = found[:1]
    return np.array(found).reshape(-1, 3 * len(a))


def obligations(task: dict[str, Any], outputs: int) -> tuple[list[Guard], list[Obligation]]:
    """The claim of a task."""
    claim, one, none = task["property"], np.eye(outputs), np.zeros(outputs)
    if claim["kind"] == "epsilon":
        return [], _epsilon(claim, outputs)
    if claim["kind"] == "linear":
        return [], [_linear(claim)]
    if claim["kind"] != "top1":
        raise Refused(f"unknown kind of claim {claim['kind']!r}")
    least, confident = 0.0, False
    if (guard := claim["guard"]) is not None:
        threshold = Fraction(guard["threshold"])
        if guard["kind"] == "margin":
            least = float_below(threshold)
        elif guard["kind"] != "confidence":
            raise Refused(f"unknown guard {guard['kind']!r}")
        elif threshold * outputs > 1:  # else some class always reaches it
            least, confident = log_odds_below(threshold), True
    guards = []
    for k in range(outputs):
        rows = np.array([one[k] - one[j] for j in range(outputs) if j != k]).reshape(-1, outputs)
        constants, exact = np.full(len(rows), -max(least, 0.0)), slice(0, len(rows) if confident else 0)
        if confident and least < 0.0:  # k is the largest in any case
            rows, exact = np.concatenate([rows, rows]), slice(len(rows), 2 * len(rows))
            constants = np.concatenate([constants, np.full(len(constants), -least)])
        guards.append(Guard(rows, constants, exact))
    pairs = [(k, j) for k in range(outputs) for j in range(outputs) if j != k]
    return guards, [Obligation(k, _writings(none, one[j] - one[k]), 0.0) for k, j in pairs]


def _epsilon(claim: dict[str, Any], outputs: int) -> list[Obligation]:
    eps, norm = float_below(Fraction(claim["eps"])), claim["norm"]
    chosen = range(outputs) if claim["outputs"] is None else claim["outputs"]
    if not chosen or not set(chosen) <= set(range(outputs)) or norm not in ("linf", "l1", "l2"):
        raise Refused("the claim names outputs or a norm that do not exist")
    if norm == "linf":
        signs = [{o: s} for o in chosen for s in (1.0, -1.0)]
    elif norm == "l1" and len(chosen) <= 6:
        signs = [dict(zip(chosen, reversed(s), strict=True)) for s in product((-1.0, 1.0), repeat=len(chosen))]
    else:
        return [Obligation(None, np.zeros((0, 3 * outputs)), -eps, norm=norm, outputs=tuple(chosen))]
    rows = [np.array([sign.get(o, 0.0) for o in range(outputs)]) for sign in signs]
    return [Obligation(None, _writings(row, -row)[[2, 0]], -eps) for row in rows]


def _linear(claim: dict[str, Any]) -> Obligation:
    every = [Fraction(c) for role in ("reference", "candidate") for c in claim[role]]
    whole = lcm(*(c.denominator for c in every))
    factor = Fraction(whole, gcd(*(int(c * whole) for c in every)) or 1)
    row, bound = np.array([float(c * factor) for c in every]), Fraction(claim["bound"]) * factor
    if [Fraction(c) for c in row] != [c * factor for c in every]:
        raise Refused("the coefficients of the claim are not exact as floats")
    constant, (a, b) = -float_below(bound), np.split(row, 2)
    return Obligation(None, _writings(a, b), constant, bool(claim["strict"]) and Fraction(-constant) == bound)


class Region:
    """The region of a task, and a box and constraints A x <= b in floats that contain it."""

    def __init__(self, task: dict[str, Any], inputs: int) -> None:
        region = task["region"]
        self.low, self.high = ([Fraction(x) for x in region[name]] for name in ("lo_exact", "hi_exact"))
        if len(self.low) != inputs or len(self.high) != inputs:
            raise Refused("the box has another number of sides than the networks have inputs")
        self.lower, self.upper = np.array([*map(float_below, self.low)]), np.array([*map(float_above, self.high)])
        texts = zip(region["A"], region["b"], region["strict"], strict=True)
        self.constraints = [([Fraction(a) for a in row], Fraction(b), bool(s)) for row, b, s in texts]
        largest = [max(abs(a), abs(b)) for a, b in zip(self.low, self.high, strict=True)]
        rows, bounds = [], []
        for exact, bound, _ in self.constraints:
            row = [float(a) for a in exact]
            off = (abs(Fraction(f) - a) * size for f, a, size in zip(row, exact, largest, strict=True))
            rows.append(row)
            bounds.append(float_above(bound + sum(off, Fraction(0))))
        self.rows, self.bounds = np.array(rows).reshape(-1, inputs), np.array(bounds)

    def contains(self, point: list[Fraction]) -> bool:
        """Whether an exact point lies in the region itself."""
        inside = all(a <= x <= b for a, x, b in zip(self.low, point, self.high, strict=True))
        sums = [(sum(a * x for a, x in zip(row, point, strict=True)), b, s) for row, b, s in self.constraints]
        return inside and all(value < b or (value == b and not strict) for value, b, strict in sums)

    def shrink(self, lower: Array, upper: Array) -> tuple[Array, Array] | None:
        """What the constraints leave of a box; None if that is nothing."""
        for row, bound in zip(self.rows, self.bounds, strict=True):
            used = row != 0.0
            least = np.where(row > 0.0, row * lower, row * upper)
            size = np.abs(least).sum() + abs(bound)
            # a x_i <= bound - least of the others; a sum of n + 2 rounded terms is off by gamma(n + 4) of their size
            slack = 2.0 * (len(row) + 8) * 2.0**-52 * size + 2.0**-1000
            room = bound - (least.sum() - least) + slack
            with np.errstate(all="ignore"):
                limit = room / row
                wide = 4.0 * 2.0**-52 * np.abs(limit) + 2.0**-1000
            upper = np.where(used & (row > 0.0), np.minimum(upper, limit + wide), upper)
            lower = np.where(used & (row < 0.0), np.maximum(lower, limit - wide), lower)
            if least.sum() - slack > bound or (lower > upper).any():
                return None
        return lower, upper
