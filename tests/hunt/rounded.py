"""Both networks as some float32 runtime may compute them: what `arithmetic float32` proves must hold for all of it.

Numpy's float32, sums in random orders: one term after the other or as a tree, the bias anywhere among them, also summed
up in double precision, and tiny numbers kept or flushed to zero. It knows nothing of radii.

Shapes: S inputs, x (S, I), outputs (S, O).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hunt.cases import Case
from oracle.evaluate import breaks
from oracle.pairs import Pair, Random
from oracle.pieces import Layers
from oracle.polytope import coordinates

Single = NDArray[np.float32]
Point = Sequence[Fraction]

TINY = np.float32(2.0**-126)
INPUTS, RUNS = 12, 3


def breach(case: Case, seen: Pair) -> str | None:
    """What a runtime does to a claim that was proved; None if nothing was found."""
    rng = np.random.default_rng([case.mode.seed, 4])
    points = [point for point in _points(case, seen, rng) if _inside(seen, point)]
    if not points:
        return None
    x = np.array([[float(number) for number in point] for point in points], np.float32)
    for _ in range(RUNS):
        f, g = (evaluate(layers, x, rng) for layers in (seen.reference, seen.candidate))
        if not (np.isfinite(f).all() and np.isfinite(g).all()):
            return "proved in float32, but it overflows"
        for point, *scores in zip(points, f.tolist(), g.tolist(), strict=True):
            of_f, of_g = ([Fraction(score) for score in row] for row in scores)
            if breaks(case.claim, of_f, of_g, lowest_wins=seen.decide == "min"):
                return f"proved in float32, but a runtime breaks it at {[str(number) for number in point]}"
    return None


def evaluate(layers: Layers, x: Single, rng: Random) -> Single:
    """The outputs, by orders and habits drawn for this evaluation."""
    flushes, wide = rng.random() < 0.3, rng.random() < 0.2
    x = _kept(x, flushes=flushes)
    with np.errstate(all="ignore"):
        for number, (weight, bias) in enumerate(layers):
            w, b = (_kept(numbers.astype(np.float32), flushes=flushes) for numbers in (weight, bias))
            products = _kept(x[:, None, :] * w, flushes=flushes)
            terms = np.concatenate([products, np.broadcast_to(b[None, :, None], (*products.shape[:2], 1))], axis=-1)
            x = _total(terms, rng, wide=wide, flushes=flushes)
            if number + 1 < len(layers):
                x = np.maximum(x, np.float32(0))
    return x


def _total(terms: Single, rng: Random, *, wide: bool, flushes: bool) -> Single:
    """Sums over the last axis, each in an order of its own."""
    terms = rng.permuted(terms, axis=-1)
    if wide:
        return _kept(np.sum(terms.astype(np.float64), axis=-1).astype(np.float32), flushes=flushes)
    while (size := terms.shape[-1]) > 1:
        pairs = size // 2 if rng.random() < 0.5 else 1
        joined = _kept(terms[..., :pairs] + terms[..., pairs : 2 * pairs], flushes=flushes)
        terms = np.concatenate([joined, terms[..., 2 * pairs :]], axis=-1)
    return terms[..., 0]


def _kept(numbers: Single, *, flushes: bool) -> Single:
    return np.where(np.abs(numbers) < TINY, np.float32(0), numbers) if flushes else numbers


def _points(case: Case, seen: Pair, rng: Random) -> list[Point]:
    """Corners of linear pieces, where claims are closest to breaking, and of the box; and points between."""
    found: list[Point] = []
    if seen is case.pair and case.oracle.pieces:
        for _ in range(INPUTS // 2):
            corners = case.oracle.pieces[int(rng.integers(len(case.oracle.pieces)))].polytope.points
            found.append(coordinates(corners[int(rng.integers(len(corners)))]))
    while len(found) < INPUTS:
        steps = 1 if rng.random() < 0.5 else 64
        shares = [Fraction(int(n), steps) for n in rng.integers(0, steps + 1, len(seen.lower))]
        found.append([a + s * (b - a) for a, s, b in zip(seen.lower, shares, seen.upper, strict=True)])
    return found


def _inside(seen: Pair, point: Point) -> bool:
    for constraint in seen.constraints:
        value = sum((c * x for c, x in zip(constraint.coefficients, point, strict=True)), Fraction(0))
        if value > constraint.bound or (constraint.strict and value == constraint.bound):
            return False
    return True
