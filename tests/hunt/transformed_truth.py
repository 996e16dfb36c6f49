"""What is known of a pair at points of a box, and claims around the largest difference that was found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hunt.onnx_values import given, is_smooth
from hunt.transformed_files import Pair
from hunt.transformed_questions import Claim, Point
from hunt.transformed_rewritings import Edited, Model
from oracle.pairs import Random

Array = NDArray[Any]
FACTORS = (Fraction(9, 10), Fraction(99, 100), Fraction(101, 100), Fraction(6, 5), Fraction(3))
ROOM = 1e-9
"""What float64 may round, relative to the size of outputs."""


@dataclass(frozen=True)
class Truth:
    """Both networks at points, by the definition of their operators. Scores in front of a Softmax are what they give,
    unless `soft`.
    """

    f: Model
    g: Model
    soft: bool

    @property
    def smooth(self) -> bool:
        """Whether values are known in float64 alone."""
        return self.soft or is_smooth(self.f) or is_smooth(self.g)

    def excess(self, claim: Claim, points: Sequence[Point] | Array, exact: bool) -> Array:
        """By how much the points break a claim, above 0 where they do; minus infinity where it says nothing of them."""
        f, g = given(self.f, points, exact), given(self.g, points, exact)
        first, second = f.rows, g.rows
        if self.soft:
            first, second = (_softmax(rows) for rows in (first, second))
        if claim.kind == "saturates":
            return np.where(g.saturated, 1.0, -1.0)
        return np.array([excess(claim, a, b) for a, b in zip(first, second, strict=True)])

    def breaks(self, claim: Claim, point: Point) -> bool | None:
        """Whether a point breaks a claim; None where rounding or a tie leaves it open."""
        if not self.smooth:
            by = self.excess(claim, [point], claim.kind != "confidence")[0]
            if claim.kind not in ("confidence", "distance") or claim.norm == "linf":
                return bool(by > 0) if claim.kind != "confidence" else _sure(float(by))
            return bool(by > 0) if claim.norm == "l1" else _sure(float(by))
        return _sure(float(self.excess(claim, np.array([[float(x) for x in point]]), exact=False)[0]))


def _sure(by: float) -> bool | None:
    return None if abs(by) <= ROOM else by > 0


def _softmax(rows: Array) -> Array:
    found = np.exp(rows - rows.max(axis=1, keepdims=True))
    shares: Array = found / found.sum(axis=1, keepdims=True)
    return shares


def excess(claim: Claim, f: Array, g: Array) -> Any:
    """By how much outputs break a claim, above 0 where they do."""
    number = Fraction if f.dtype == object else float
    bound = number(claim.bound)
    match claim.kind:
        case "equal":
            return max(abs(f - g))
        case "distance":
            apart = abs(f - g)
            if claim.norm == "l2":
                return float(np.sqrt(float(sum(apart * apart)))) - float(claim.bound)
            return (max(apart) if claim.norm == "linf" else sum(apart)) - bound
        case "linear":
            return g[claim.outputs[0]] - f[claim.outputs[1]] - bound
    return _of_decision(claim, f, g, bound)


def _of_decision(claim: Claim, f: Array, g: Array, bound: Any) -> Any:
    """Of all best classes of f that the guard is met for, by how much g puts another one above the worst of them."""
    found: Any = -np.inf
    for k in range(len(f)):
        if f[k] < max(f):
            continue
        lead = f[k] - max(f[j] for j in range(len(f)) if j != k)
        if claim.kind == "margin" and lead < bound:
            continue
        if claim.kind == "confidence":
            scores = f.astype(float)
            if 1 / np.exp(scores - scores[k]).sum() < float(bound) + ROOM:
                continue
        found = max(found, max(g) - g[k])
    return found


def without_softmax(model: Model) -> Model:
    """The file with what stands in front of its Softmax."""
    edited = Edited(model)
    for node in edited.nodes("Softmax"):
        node.op_type = "Identity"
        del node.attribute[:]
    return edited.model


@dataclass(frozen=True)
class Points:
    """Points of a box, as floats that are exact, and the box."""

    rows: Array

    def exact(self, number: int) -> Point:
        """One of them."""
        return [Fraction(float(x)) for x in self.rows[number]]


def sampled(rng: Random, truth: Truth, claim: Claim, box: tuple[Point, Point], count: int = 384) -> Points:
    """Points of a box on a grid of 64ths, corners among them, and those that a search for a large excess met."""
    low, high = (np.array([float(x) for x in end]) for end in box)
    wide = high - low
    shares = rng.integers(0, 65, (count, len(low)))
    shares[: count // 4] = 64 * rng.integers(0, 2, (count // 4, len(low)))
    all_shares = shares
    for reach in (24, 8, 3):
        by = truth.excess(claim, low + wide * all_shares / 64, exact=False)
        best = all_shares[np.argsort(by)[-6:]]
        near = best.repeat(16, axis=0)
        moved = np.where(rng.random(near.shape) < 0.5, rng.integers(-reach, reach + 1, near.shape), 0)
        all_shares = np.concatenate([all_shares, np.clip(near + moved, 0, 64)])
    return Points(low + wide * all_shares / 64)


def _rounded(number: float) -> Fraction:
    """To twenty digits behind the point, in base two."""
    return Fraction(round(number * 2**20), 2**20)


def claim_of(rng: Random, pair: Pair, truth: Truth, box: tuple[Point, Point]) -> tuple[Claim, Points, str]:
    """A claim near where it turns, points of the box, and how near."""
    kinds = ["distance", "distance", "distance", "linear", "linear", "top1", "margin", "confidence"]
    kinds += ["saturates", "equal"] if pair.kind in ("int8", "int8 convolution", "qonnx") else ["equal"]
    kind = str(rng.choice(kinds))
    norm = str(rng.choice(["linf", "linf", "l1", "l2"]))
    factor = FACTORS[int(rng.integers(len(FACTORS)))]
    if kind == "distance" or kind == "linear":
        outputs = tuple(int(n) for n in rng.integers(0, pair.outputs, 2))
        claim = Claim(kind, Fraction(0), norm, (outputs[0], outputs[1]))
        points = sampled(rng, truth, claim, box)
        by = truth.excess(claim, points.rows, exact=False)
        most, spread = float(by.max()), float(by.max() - by.min())
        bound = _rounded(most * float(factor)) if kind == "distance" else _rounded(most + spread * float(factor - 1))
        if kind == "distance":
            bound = max(bound, Fraction(1, 2**20))
        return replace(claim, bound=bound), points, f"factor {float(factor)}"
    claim = Claim("top1" if kind in ("margin", "confidence") else kind)
    points = sampled(rng, truth, claim, box)
    if kind not in ("margin", "confidence"):
        return claim, points, kind
    f = given(truth.f, points.rows, exact=False).rows
    f = _softmax(f) if truth.soft or kind == "confidence" else f
    ordered = np.sort(f, axis=1)
    lead = ordered[:, -1] - ordered[:, -2] if kind == "margin" else ordered[:, -1]
    broken = truth.excess(claim, points.rows, exact=False) > 0
    most = float(lead[broken].max()) if broken.any() else float(np.median(lead))
    if kind == "margin":
        return Claim(kind, max(_rounded(most * float(factor)), Fraction(1, 2**20))), points, f"factor {float(factor)}"
    delta = min(_rounded(most * min(float(factor), 1.2)), Fraction(2**20 - 1, 2**20))
    return Claim(kind, max(delta, Fraction(1, pair.outputs) + Fraction(1, 64))), points, f"factor {float(factor)}"
