"""What is claimed, as what a violation would be: rows of f1 and f2, and bounds that they have where the claim breaks.

A row r is x = a.f1, y = b.f2 and d = x - y; the first rows are the outputs themselves. An obligation is a box of these
quantities that must not be reached (or a norm of outputs' d that must not be). Numbers are exact, as in the task, until
`Obligation.box` rounds them outward; so one text says what a proof must exclude and what a witness must show.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from .functions.confidence import log_odds_below
from .rounding import Array, Refused, float_above, float_below, gamma, up

Rows = list[dict[int, Fraction]]
FIRST, SECOND, DIFFERENCE = range(3)


@dataclass(frozen=True)
class Obligation:
    """What must not be: (kind, row, sign, least), sign times x, y or d of a row being at least that; all together.

    The first one is the violation, which is more than `least`, or with `at_limit` also `least` itself. The others are
    the guard. `exact` rows of a guard say together that a confidence is reached: x_r >= log_odds, and more (see
    bounds.py). With a norm, and no conditions, that norm of d of the rows is more than `limit`.
    """

    conditions: tuple[tuple[int, int, int, Fraction], ...]
    at_limit: bool = False
    exact: tuple[int, ...] = ()
    confidence: Fraction = Fraction(0)
    norm: str = ""
    rows: tuple[int, ...] = ()
    limit: Fraction = Fraction(0)

    def box(self, rows: int) -> tuple[Array, Array]:
        """Bounds (3, rows, 1) of all quantities where the claim breaks in this way."""
        low, high = np.full((3, rows, 1), -np.inf), np.full((3, rows, 1), np.inf)
        for kind, row, sign, least in self.conditions:
            if sign > 0:
                low[kind, row] = max(low[kind, row], float_below(least))
            else:
                high[kind, row] = min(high[kind, row], -float_below(least))
        for row in self.exact:
            low[FIRST, row] = max(low[FIRST, row], self.log_odds)
        return low, high

    @property
    def log_odds(self) -> float:
        """At most what each row of an exact guard is."""
        return log_odds_below(self.confidence)

    def excluded(self, low: Array, high: Array) -> Array:
        """Where bounds (3, R, B) of all that is known, this box included, leave nothing; not a number never does."""
        none = (low > high).any(axis=(0, 1))
        if self.norm:
            size = np.maximum(-low[DIFFERENCE], high[DIFFERENCE])[list(self.rows)]
            total = up((size * size if self.norm == "l2" else size).sum(0) * (1.0 + gamma(len(size) + 2)))
            return np.asarray(none | ((up(np.sqrt(total)) if self.norm == "l2" else total) <= float_below(self.limit)))
        kind, row, sign, least = self.conditions[0]
        most = high[kind, row] if sign > 0 else -low[kind, row]
        return np.asarray(none | (most <= float_below(least) if not self.at_limit else False))


def claim(task: dict[str, Any], outputs: int) -> tuple[Rows, Rows, list[Obligation]]:
    """Rows of f1, rows of f2, and the obligations in the order of the certificate."""
    said, one = task["property"], Fraction(1)
    rows: Rows = [{o: one} for o in range(outputs)]
    if said["kind"] == "epsilon":
        eps, norm = Fraction(said["eps"]), said["norm"]
        chosen = list(range(outputs)) if said["outputs"] is None else said["outputs"]
        if not chosen or not set(chosen) <= set(range(outputs)) or norm not in ("linf", "l1", "l2"):
            raise Refused("the claim names outputs or a norm that do not exist")
        if norm == "l2" or (norm == "l1" and len(chosen) > 6):
            return rows, rows, [Obligation((), norm=norm, rows=tuple(chosen), limit=eps)]
        if norm == "l1":
            signs = product((-one, one), repeat=len(chosen))
            chosen = range(outputs, outputs + 2 ** len(chosen))
            rows = [*rows, *(dict(zip(said["outputs"] or range(outputs), reversed(s), strict=True)) for s in signs)]
        either = (1, -1) if norm == "linf" else (1,)
        return rows, rows, [Obligation(((DIFFERENCE, row, sign, eps),)) for row in chosen for sign in either]
    if said["kind"] == "linear":
        a, b = ({o: Fraction(c) for o, c in enumerate(said[role])} for role in ("reference", "candidate"))
        if len(a) != outputs or len(b) != outputs:
            raise Refused("the claim has another number of coefficients than the networks have outputs")
        broken = Obligation(((DIFFERENCE, outputs, 1, Fraction(said["bound"])),), at_limit=said["strict"])
        return [*rows, a], [*rows, {o: -c for o, c in b.items()}], [broken]
    if said["kind"] != "top1":
        raise Refused(f"unknown kind of claim {said['kind']!r}")
    pairs = [(k, j) for k in range(outputs) for j in range(outputs) if j != k]
    rows = [*rows, *({k: one, j: -one} for k, j in pairs)]
    guard = said["guard"] or {"kind": "margin", "threshold": 0}
    threshold, confident = Fraction(guard["threshold"]), guard["kind"] == "confidence"
    if guard["kind"] not in ("margin", "confidence"):
        raise Refused(f"unknown guard {guard['kind']!r}")
    exact = confident and threshold * outputs > 1  # else some class always reaches it
    obligations = []
    for number, (k, _) in enumerate(pairs):
        own = [outputs + r for r, pair in enumerate(pairs) if pair[0] == k]
        margin = [(FIRST, r, 1, Fraction(0) if confident else max(threshold, Fraction(0))) for r in own]
        conditions = ((SECOND, outputs + number, -1, Fraction(0)), *margin)
        obligations.append(Obligation(conditions, exact=tuple(own) if exact else (), confidence=threshold))
    return rows, rows, obligations


class Region:
    """The region of a task, and a box and constraints A x <= b in floats that contain it.

    `lattices` are origin and step of those inputs that lie on a grid, None for others.
    """

    def __init__(self, task: dict[str, Any], inputs: int) -> None:
        region = task["region"]
        self.low, self.high = ([Fraction(x) for x in region[name]] for name in ("lo_exact", "hi_exact"))
        if len(self.low) != inputs or len(self.high) != inputs:
            raise Refused("the box has another number of sides than the networks have inputs")
        self.lower, self.upper = np.array([*map(float_below, self.low)]), np.array([*map(float_above, self.high)])
        grids = region.get("grid") or [None] * inputs
        self.lattices = [None if g is None else (Fraction(g["origin"]), Fraction(g["step"])) for g in grids]
        texts = zip(region["A"], region["b"], region["strict"], strict=True)
        self.constraints = [([Fraction(a) for a in row], Fraction(b), bool(s)) for row, b, s in texts]
        largest = [max(abs(a), abs(b)) for a, b in zip(self.low, self.high, strict=True)]
        self.rows, self.bounds = np.zeros((len(self.constraints), inputs)), np.zeros(len(self.constraints))
        for i, (exact, bound, _) in enumerate(self.constraints):
            # Near the ends of the floats times a power of two, as in the search: no sum in the box exceeds n 2^257.
            m = max((abs(a) * max(s, Fraction(1)) for a, s in zip(exact, largest, strict=True)), default=Fraction(0))
            unit = Fraction(2) ** -(e if abs(e := m.numerator.bit_length() - m.denominator.bit_length()) > 256 else 0)
            self.rows[i] = row = [float(a * unit) for a in exact]
            off = (float_above(abs(Fraction(f) - a * unit) * s) for f, a, s in zip(row, exact, largest, strict=True))
            self.bounds[i] = float_above(min(bound * unit, inputs * Fraction(2) ** 257) + sum(map(Fraction, off)))

    def shrink(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """What the constraints leave of a box (n,); lower > upper if that is nothing."""
        for row, bound in zip(self.rows, self.bounds, strict=True):
            least = np.where(row > 0.0, row * lower, row * upper)
            # a x_i <= bound - least of the others; a sum of n + 2 rounded terms is off by gamma(n + 4) of their size
            slack = 2.0 * (len(row) + 8) * 2.0**-52 * (np.abs(least).sum() + abs(bound)) + 2.0**-1000
            limit = (bound - (least.sum() - least) + slack) / row
            wide = 4.0 * 2.0**-52 * np.abs(limit) + 2.0**-1000
            upper = np.where(row > 0.0, np.minimum(upper, limit + wide), upper)
            lower = np.where(row < 0.0, np.maximum(lower, limit - wide), lower)
            if least.sum() - slack > bound:
                return np.full_like(lower, np.inf), upper
        return lower, upper
