"""Whether a region, and a condition on it, are met by any input: a claim about none is true and says nothing.

Each question has three answers. True comes with an input that was looked at exactly or with an enclosure, False from an
enclosure of the whole region, None if neither was found. No proof rests on any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice
from random import Random
from typing import Any

import numpy as np

from .claim import FIRST, Obligation, Region, claim
from .functions import Relaxation
from .grids.atoms import Atoms, combined
from .grids.decision import Parts, on_all_parts, on_part, whole
from .opening import Question, refuse_if_late
from .proof import Node, Proof
from .reading import FIRST as OF_FIRST
from .reading import INPUTS, File, Pair
from .rounding import Array, Refused, float_above, float_below
from .witness import confident, contains

TRIED = 64
"""Inputs at random, beside the middle of the region."""
STEPS = 5
"""Corners, for each class."""
PARTS = 512
"""Parts of a region that lies on grids."""
Point = list[Fraction]


def region_inhabited(proof: Proof) -> bool | None:
    """Whether any input lies in the region."""
    region = proof.region
    if any(a > b for a, b in zip(region.low, region.high, strict=True)) or proof.root().infeasible:
        return False
    return True if not region.constraints or any(True for _ in _points(proof)) else None


def condition_met(proof: Proof) -> bool | None:
    """Whether the condition of a claim about the first class is met by any input of the region."""
    ways = list({_rows(one): one for one in proof.obligations}.values())  # one for each class of the reference
    reached = proof.reach(proof.root(), bounds_alone=True)
    if reached.empty[0] or not any(_possible(one, reached.last()[1][FIRST, :, 0]) for one in ways):
        return False
    points, count = _points(proof), 1  # mostly the middle meets it
    while some := list(islice(points, count)):
        count = min(8 * count, proof.batch)
        low = proof.reach(*(_at(proof, point) for point in some), bounds_alone=True).last()[0][FIRST]
        if any(_shown(one, low[:, b]) for b in range(len(some)) for one in ways):
            return True
    return None


def met_on_grids(asked: Question, file: File, until: float) -> bool | None:
    """Whether any input meets the constraints and the condition of a claim that exact integers show.

    It is looked on parts of the region, by forms of the reference, which stand for all of a part.
    """
    task, met = dict(asked), False
    region, guarded = Region(task, len(file.scale)), bool(task["property"].get("guard"))

    def late() -> None:
        refuse_if_late(until)

    def unmet(part: Parts, atoms: Atoms) -> bool:
        nonlocal met
        late()
        inside, outside = _constrained(region, part)
        if met or outside:
            return True
        shown, possible = _conditioned(task, file, part, atoms, late) if guarded else (True, True)
        met = inside and shown
        return met or not possible

    try:
        nowhere = on_all_parts(whole(region), unmet, PARTS)
    except Refused:  # for the time, or for numbers that are too fine
        return None
    return True if met else False if nowhere else None


def _constrained(region: Region, part: Parts) -> tuple[bool, bool]:
    """Whether all of a part meets the constraints, and whether nothing of it does."""
    inside, outside = True, False
    for row, bound, strict in region.constraints:
        ends = [sorted((a * grid.low, a * grid.high)) for a, grid in zip(row, part, strict=True)]
        low, high = (sum((pair[end] for pair in ends), Fraction(0)) for end in (0, 1))
        inside = inside and (high < bound or (high == bound and not strict))
        outside = outside or low > bound or (low == bound and strict)
    return inside, outside


def _conditioned(
    task: dict[str, Any], file: File, part: Parts, atoms: Atoms, late: Callable[[], None]
) -> tuple[bool, bool]:
    """Whether a condition is met on all of a part, and whether it may be anywhere on it."""
    forms = on_part(file, part, atoms, late).outputs
    rows, _, obligations = claim(task, len(forms))
    known = [atoms.grid(combined(list(row.values()), [forms[k] for k in row])) for row in rows]
    low, high = np.array([float_below(g.low) for g in known]), np.array([float_above(g.high) for g in known])
    return any(_shown(one, low) for one in obligations), any(_possible(one, high) for one in obligations)


def _rows(one: Obligation) -> tuple[int, ...]:
    return tuple(row for kind, row, *_ in one.conditions if kind == FIRST)


def _possible(one: Obligation, high: Array) -> bool:
    """Whether upper bounds of the rows leave the condition of an obligation open; NaN does."""
    least = [(row, float_below(limit)) for kind, row, _, limit in one.conditions if kind == FIRST]
    least += [(row, one.log_odds) for row in one.exact]
    return not any(high[row] < limit for row, limit in least)


def _shown(one: Obligation, low: Array) -> bool:
    """Whether lower bounds of the rows show the condition of an obligation."""
    rows = [(row, limit) for kind, row, _, limit in one.conditions if kind == FIRST]
    if not all(np.isfinite(low[row]) and Fraction(low[row]) >= limit for row, limit in rows):
        return False
    return not one.exact or confident(one, [Fraction(low[row]) for row in one.exact])


def _points(proof: Proof) -> Iterator[Point]:
    """Some inputs that lie in the region, exactly. Refused if the time is over: many constraints take long."""
    region, random, root = proof.region, Random(0), proof.root()
    low, high = root.low[: proof.pair.inputs], root.high[: proof.pair.inputs]
    ends = zip(region.low, region.high, low, high, strict=True)
    shrunk = [(max(a, Fraction(least)), min(b, Fraction(most))) for a, b, least, most in ends]
    shares: Iterator[list[Fraction]] = chain(
        [[Fraction(1, 2)] * len(shrunk)],
        ([Fraction(random.randrange(17), 16) for _ in shrunk] for _ in range(TRIED)),
        ([Fraction(int(share)) for share in row] for row in _corners(proof)),
    )
    for row in shares:
        refuse_if_late(proof.until)
        point = [a + t * (b - a) for t, (a, b) in zip(row, shrunk, strict=True)]
        if contains(region, point):
            yield point


def _corners(proof: Proof) -> Iterator[Array]:
    """Corners of the box, 0 or 1 for each input, at which a class leads by much: a few steps along slopes."""
    low, high = proof.region.lower, proof.region.upper
    for rows in {_rows(one) for one in proof.obligations}:
        x = low + 0.5 * (high - low)
        for _ in range(STEPS):
            slope = _slope(proof.pair, x, rows)
            yield slope > 0.0
            x = np.where(slope > 0.0, high, low)


def _slope(pair: Pair, point: Array, rows: tuple[int, ...]) -> Array:
    """How the sum of these rows of the reference grows with each input, near a point."""
    values, on = {INPUTS: point}, {}
    for number, step in enumerate(pair.steps):
        total = step.bias[: step.width, 0].copy()
        for link in step.links:
            for tile in link.tiles if (OF_FIRST, OF_FIRST) in link.pairs else ():
                some = np.append(values[link.source], 0.0)[tile.index]
                np.add.at(total, tile.rows, np.swapaxes(some @ np.swapaxes(tile.near, 1, 2), 1, 2))
        near = Relaxation(step.curves, len(total)) if step.curves else None
        on[number] = near.near(total[:, None], slope=True)[:, 0] if near else np.ones(len(total))
        values[number] = near.near(total[:, None])[:, 0] if near else total
    slopes = {source: np.zeros(len(value) + 1) for source, value in values.items()}
    np.add.at(slopes[number], list(rows), 1.0)
    for number, step in reversed(list(enumerate(pair.steps))):
        below = slopes[number][:-1] * on[number]
        for link in step.links:
            for tile in link.tiles if (OF_FIRST, OF_FIRST) in link.pairs else ():
                back = np.swapaxes(below[tile.rows], 1, 2) @ tile.near
                np.add.at(slopes[link.source], tile.index, back)
    return slopes[INPUTS][:-1]


def _at(proof: Proof, point: Point) -> Node:
    """The smallest box of floats around a point."""
    node = proof.root()
    low, high, n = node.low.copy(), node.high.copy(), proof.pair.inputs
    low[:n], high[:n] = [float_below(x) for x in point], [float_above(x) for x in point]
    return Node(low, high, ())
