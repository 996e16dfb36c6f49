"""What two networks are made of, step by step: which steps go together, what changed in each, where differences arise.

The candidate is brought into step with the reference as for a proof (`networks.matching`), so that channels that were
moved or rescaled do not count as changed. Where every step has a partner, the program with one step taken from the
candidate and all others from the reference says what that step alone does to the outputs.

Shapes: points (N, I), of which the first ones are used as far as the work is affordable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import align, evaluation, match
from eqspec.networks.network import Array, Network
from eqspec.networks.program import Function, Step, Term
from eqspec.networks.weight_grids import bits_of
from eqspec.report.tiles_in_words import parameters, tile_in_words

_WORK = 3e8
"""The number of multiplications that replacing one step after the other may take."""
_MOST_VALUES = 1 << 22
"""Values of all steps that are held at a time."""


_ROUNDED = 2.0**-22
"""By how much, relatively, two weights may differ that are one number, stored twice in float32 by different tools."""


@dataclass(frozen=True)
class Side:
    """One network's part of a pair of steps: rows, stored numbers, the share of them that is 0, bits, and function.

    `bits` are those of the weights as multiples of one step, None where they are real numbers.
    """

    rows: int
    weights: int
    zeros: float
    bits: int | None
    function: str


@dataclass(frozen=True)
class Layer:
    """A pair of steps, or a step without a partner (the other side is None); `number` counts pairs from 0.

    `changed` counts the weights that differ by more than float32 rounds; `largest_change` and `bias_change` say by how
    much weights and biases differ at most. All three are None where the weights have not the same shape. `apart` is the
    largest difference of what both compute before the function, as a share of the largest value. `alone` is the largest
    difference of the outputs if only this step is the candidate's.
    """

    number: int
    operator: str
    reference: Side | None
    candidate: Side | None
    changed: int | None = None
    largest_change: float | None = None
    bias_change: float | None = None
    apart: float | None = None
    alone: float | None = None

    @property
    def same(self) -> bool:
        """Whether nothing in it changed."""
        if self.reference is None or self.candidate is None:
            return False
        return self.largest_change == 0.0 == self.bias_change and self.reference.function == self.candidate.function


@dataclass(frozen=True)
class Layers:
    """The steps of a pair in order, what was done to bring them into step, and how many points were used."""

    steps: tuple[Layer, ...]
    matching: str
    points: int


def compare_layers(reference: Network, candidate: Network, points: Array) -> Layers:
    """Compare two networks with the same numbers of inputs and outputs; the points are what their files take."""
    *pair, matching = match(reference, candidate)
    first, second = (network.steps for network in align(*pair))
    rows = sum(step.rows for step in first)
    affordable = _WORK / max(1, len(first) * sum(step.products for step in first))
    some = points[: int(np.clip(min(affordable, _MOST_VALUES / rows), 1, len(points)))]
    with np.errstate(all="ignore"):
        apart = _apart(first, second, some)
        alone = _alone(first, second, some)
    found = []
    as_stored = iter(_stored(candidate, second))
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        sides = _side(a, a), _side(b, next(as_stored) if b.terms else b)
        if sides == (None, None):
            continue
        both = None not in sides
        changed, largest, bias = _changes(a, b) if both else (None, None, None)
        found.append(
            Layer(
                number,
                _operator(a if sides[0] is not None else b),
                *sides,
                changed,
                largest,
                bias,
                apart[number] if both else None,
                alone[number] if alone is not None else None,
            )
        )
    return Layers(tuple(found), str(matching), len(some))


def _stored(network: Network, matched: Sequence[Step]) -> Sequence[Step]:
    """For each step that is no stand-in the one of the file, where that has as many: matching rescales channels."""
    real, own = ([step for step in steps if step.terms] for steps in (matched, network.steps))
    return own if len(own) == len(real) else real


def _side(step: Step, stored: Step) -> Side | None:
    """What a step is made of, with the bits of the stored one; None of what stands in for a missing partner."""
    if not step.terms:
        return None
    tiles = [term.tile for term in step.terms if parameters(term.tile)]
    weights = sum(tile.weight.size for tile in tiles)
    zeros = sum(int((tile.weight == 0.0).sum()) for tile in tiles)
    bits = [bits_of(term.tile) for term in stored.terms if parameters(term.tile)]
    known = [b for b in bits if b is not None]
    return Side(
        step.rows,
        weights,
        zeros / weights if weights else 0.0,
        max(known) if known and len(known) == len(bits) else None,
        _function(step.function),
    )


def _function(function: Function) -> str:
    if isinstance(function, str):
        return {"relu": "ReLU"}.get(function, function)
    return str(function)


def _operator(step: Step) -> str:
    kinds = [tile_in_words(term.tile) if parameters(term.tile) else "rearranged" for term in step.terms]
    return " + ".join(dict.fromkeys(kinds))


def _changes(a: Step, b: Step) -> tuple[int, float, float] | tuple[None, None, None]:
    """How many weights differ, by how much they do, and biases; None where they have not the same shape."""
    if len(a.terms) != len(b.terms) or not all(map(_alike, a.terms, b.terms)):
        return None, None, None
    changed, largest = 0, 0.0
    for x, y in zip(a.terms, b.terms, strict=True):
        difference = np.abs(x.tile.weight - y.tile.weight)
        sizes = np.maximum(np.abs(x.tile.weight), np.abs(y.tile.weight))
        changed += int((difference > _ROUNDED * sizes).sum())
        largest = max(largest, float(difference.max(initial=0.0)))
    return changed, largest, float(np.abs(a.bias - b.bias).max(initial=0.0))


def _alike(x: Term, y: Term) -> bool:
    """Whether two terms differ in their weights alone."""
    return (
        x.source == y.source
        and x.tile.weight.shape == y.tile.weight.shape
        and np.array_equal(x.tile.index, y.tile.index)
    )


def _apart(first: Sequence[Step], second: Sequence[Step], points: Array) -> list[float]:
    """For each step the largest difference of its values, relative to the largest value of the reference."""
    inputs = np.ascontiguousarray(points.T)
    found = []
    for x, y in zip(evaluation.values(first, inputs), evaluation.values(second, inputs), strict=True):
        difference, size = float(np.abs(y - x).max(initial=0.0)), float(np.abs(x).max(initial=0.0))
        found.append(difference / size if size > 0.0 else difference)
    return found


def _alone(first: Sequence[Step], second: Sequence[Step], points: Array) -> list[float] | None:
    """For each step the largest difference of the outputs if it alone is taken from the second program.

    None where a step has no partner: without it the program is no whole one.
    """
    if any((not a.terms) != (not b.terms) for a, b in zip(first, second, strict=True)):
        return None
    outputs = evaluation.evaluate(first, points)
    found = []
    for number, step in enumerate(second):
        mixed = evaluation.evaluate([*first[:number], step, *first[number + 1 :]], points)
        found.append(float(np.abs(mixed - outputs).max(initial=0.0)))
    return found
