"""Witnesses, re-checked exactly: an input of the region, in network units, at which the claim breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from .claim import DIFFERENCE, FIRST, Obligation, Region, Rows, claim
from .functions import RELU, behind
from .functions.levels import beyond
from .opening import limits as most
from .reading import INPUTS, File, Step, network
from .reading.tiles import exactly, laid_out, rational
from .reading.value import CONSTANT, Part
from .rounding import Array, Refused, decimal

Interval = tuple[Fraction, Fraction]

UNSEEN = "the auditor cannot show that the claim breaks at this input"
"""What is said where outputs are known between two numbers only, and where it does not look: not that a claim holds."""
FAR = Fraction(20_000)
"""e to the minus this, 1e-8685, stands for all smaller powers."""


def check(task: dict[str, Any], folder: Path, texts: list[str]) -> list[File]:
    """The files; refused unless the input lies in the region and breaks the claim, whatever is rounded."""
    files = [network(task, role, folder) for role in ("reference", "candidate")]
    point, region = [Fraction(text) for text in texts], Region(task, len(files[0].scale))
    if len(point) != len(region.low) or not contains(region, point):
        raise Refused("the input lies outside of the region")
    if task["property"]["kind"] == "never":
        if task["property"]["overflow"] == "wraps" or not saturates(files[1], point):
            raise Refused(UNSEEN)
        return files
    *rows, obligations = claim(task, files[0].outputs)
    f, g = (values_at(file, point) for file in files)
    if not any(breaks(one, f, g, (rows[0], rows[1])) for one in obligations):
        exact = all(low == high for low, high in (*f, *g)) and not any(one.exact for one in obligations)
        raise Refused("the claim holds at this input" if exact else UNSEEN)
    return files


def contains(region: Region, point: Sequence[Fraction]) -> bool:
    """Whether an exact point lies in the region itself."""
    inside = all(a <= x <= b for a, x, b in zip(region.low, point, region.high, strict=True))
    inside &= all(one is None or (x - one[0]) % one[1] == 0 for x, one in zip(point, region.lattices, strict=True))
    rows = np.array([row for row, *_ in region.constraints], object).reshape(-1, len(point))
    sums: Array = _times(rows, np.array(point, object)) if inside and len(rows) else np.zeros(0)
    limits = [(b, strict) for _, b, strict in region.constraints]
    return inside and all(v < b or (v == b and not strict) for v, (b, strict) in zip(sums, limits, strict=False))


def values_at(file: File, point: Sequence[Fraction]) -> list[Interval]:
    """Between which numbers the outputs are at an exact point: over the reals exactly, but for square roots."""
    *_, (_, centre, radius) = _sums_at(file, point)
    return [(c - r, c + r) for c, r in zip(centre, radius, strict=True)]


def saturates(file: File, point: Sequence[Fraction]) -> bool:
    """Whether a quantiser cuts something off at an exact point, for certain."""
    for step, centre, radius in _sums_at(file, point):
        for row, (c, r) in enumerate(zip(centre, radius, strict=True)):
            curve = step.curves[row % len(step.curves)] if step.curves else RELU
            if curve.name == "levels" and beyond(curve.parameters, c - r, c + r):
                return True
    return False


def _sums_at(file: File, point: Sequence[Fraction]) -> Iterator[tuple[Step, Array, Array]]:
    """The sums of every step, in front of its functions: their middle, and at most how far they are from it."""
    centre, radius = np.array(point, object), np.full(len(point), Fraction(0))
    values = {INPUTS: (centre, radius), CONSTANT: (np.array([Fraction(1)], object), np.array([ZERO], object))}
    for number, step in enumerate(file.steps()):
        terms = [_through(part, values[part.source], step.value.size) for part in step.value.parts]
        centre, radius = (_sum([term[side] for term in terms], step.value.size) for side in (0, 1))
        yield step, centre, radius
        if step.curves:
            low, high = behind(step.curves, centre - radius, centre + radius)
            centre, radius = (low + high) / 2, (high - low) / 2
        values[number] = (centre, radius) if not radius.any() else _shortened(centre, radius)


def _through(part: Part, value: tuple[Array, Array], size: int) -> tuple[Array, Array]:
    """What a part adds to a step, and at most how far that is off."""
    exact, missing = exactly(part.kernels)
    if exact.dtype == object:
        exact, missing = _short(*rational(exact, missing))
    centre, radius = value
    off = _product(part, np.abs(exact), radius, size) if radius.any() else np.full(size, Fraction(0))
    if missing is not None and missing.any():
        off = off + _product(part, missing, np.abs(centre) + radius, size)
    return _product(part, exact, centre, size), off


def _product(part: Part, kernels: Array, values: Array, size: int) -> Array:
    """Exactly, in integers: sums of Fractions would be reduced at every step."""
    (weights, p), (column, q) = _whole(kernels), _whole(values)
    total, column = np.zeros(size, object), np.append(column, 0)
    for index, rows, which in laid_out(part, part.kind):
        for g in range(len(index)):
            total[rows[g]] += weights[which[g]] @ column[index[g].T]
    return np.array([Fraction(x, p * q) if x else ZERO for x in total], object)


ZERO, DIGITS = Fraction(0), 400
"""Of binary digits numbers have so many where they are not exact anyway, or would have too many."""


def _shortened(centre: Array, radius: Array) -> tuple[Array, Array]:
    """The same with fewer digits, and with more room for it."""
    scale = 1 << DIGITS
    near = np.array([Fraction(round(c * scale), scale) for c in centre], object)
    return near, np.array([Fraction(-(-(r * scale) // 1) + 1, scale) for r in radius], object)


def _short(exact: Array, missing: Array) -> tuple[Array, Array]:
    """Rationals without a common denominator of a fair size as numbers that have one."""
    common = 1
    for denominator in {c.denominator for c in exact.flat}:
        common = lcm(common, denominator)
        if common.bit_length() > 8 * DIGITS:
            near, off = _shortened(exact.ravel(), missing.ravel())
            return near.reshape(exact.shape), off.reshape(exact.shape)
    if any(missing.flat):
        missing = _shortened(exact.ravel(), missing.ravel())[1].reshape(exact.shape)
    return exact, missing


def _sum(terms: list[Array], size: int) -> Array:
    return np.asarray(sum(terms[1:], terms[0])) if terms else np.full(size, ZERO)


def _times(matrix: Array, vector: Array) -> Array:
    """Their exact product."""
    (rows, p), (column, q) = _whole(matrix), _whole(vector)
    return np.array([Fraction(x, p * q) for x in rows @ column], object)


def _whole(values: Array) -> tuple[Array, int]:
    """Integers, and what they are to be divided by."""
    pairs, common = [x.as_integer_ratio() for x in values.ravel().tolist()], 1
    for denominator in {q for _, q in pairs}:
        common = lcm(common, denominator)
        if common.bit_length() > most.BITS or common.bit_length() * values.size > most.WHOLE:
            raise Refused("its exact numbers have no common denominator of a size that the auditor computes with")
    return np.array([p * (common // q) for p, q in pairs], object).reshape(values.shape), common


def breaks(one: Obligation, x: Sequence[Interval], y: Sequence[Interval], rows: tuple[Rows, Rows]) -> bool:
    """Whether outputs that lie between these numbers break the claim in this way, whatever they are there."""
    ends = [[_between(row, values) for row in part] for part, values in zip(rows, (x, y), strict=True)]
    every = [*ends, [(a - d, b - c) for (a, b), (c, d) in zip(*ends, strict=True)]]
    if one.norm:
        sizes = [max(every[DIFFERENCE][r][0], -every[DIFFERENCE][r][1], Fraction(0)) for r in one.rows]
        return bool(sum(s * s for s in sizes) > one.limit**2 if one.norm == "l2" else sum(sizes) > one.limit)
    least = [(every[kind][row][0 if s > 0 else 1] * s, limit) for kind, row, s, limit in one.conditions]
    held = all(value >= limit for value, limit in least) and (one.at_limit or least[0][0] > least[0][1])
    return held and (not one.exact or confident(one, [every[FIRST][r][0] for r in one.exact]))


def confident(one: Obligation, margins: list[Fraction]) -> bool:
    """softmax >= delta iff the others' exponentials, relative to k's, sum to at most (1 - delta) / delta."""
    limit = (1 - one.confidence) / one.confidence
    if not any(margins):
        return len(margins) <= limit
    total, error, context = Fraction(0), Fraction(1, 10**50), Context(prec=60)
    for d in margins:  # d >= 0, e^-d is monotone, and `decimal` rounds correctly: far below the error, which is of e^-d
        d = min(d, FAR)
        total += Fraction(context.exp(-decimal(d, context))) * (1 + error * (1 + d))
    return total <= limit


def _between(row: dict[int, Fraction], values: Sequence[Interval]) -> Interval:
    """The least and the largest value of a row."""
    ends = [sorted((c * values[j][0], c * values[j][1])) for j, c in row.items()]
    return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))
