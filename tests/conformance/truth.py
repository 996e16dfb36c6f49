"""Comparisons, truth values and what is chosen by them, of values that depend on the input or not."""

from __future__ import annotations

import numpy as np

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import Generator, partner, sample_of


def _flag(g: Builder) -> Value:
    """A truth value: a comparison of what is at hand, or a constant."""
    v = g.operand(floats=True)
    if g.chance(0.2):
        return g.constant(g.rng.integers(0, 2, partner(g, sample_of(v).shape)).astype(bool))
    return add(g, g.one(["Greater", "Less"]), [v, g.constant(g.floats(partner(g, sample_of(v).shape)))])[0]


def comparison(kind: str) -> Generator:
    """A comparison with a constant, with another value, or with itself, used as numbers or as a choice."""

    def make(g: Builder) -> None:
        v = g.operand(floats=True)
        other = v if g.chance(0.1) else g.operand(floats=True) if g.chance(0.2) else None
        other = other or g.constant(g.floats(partner(g, sample_of(v).shape)))
        (made,) = add(g, kind, [v, other] if g.chance(0.7) else [other, v])
        if made.sample is not None and g.opset >= 9 and g.chance(0.5):
            add(g, "Where", [made, v, g.constant(g.floats(partner(g, sample_of(v).shape)))])

    return make


def logic(kind: str, operands: int) -> Generator:
    """An operator on truth values."""

    def make(g: Builder) -> None:
        given = [_flag(g) for _ in range(operands)]
        if all(v.sample is not None for v in given):
            add(g, kind, given)

    return make


def cumulative(g: Builder) -> None:
    v = g.operand(floats=True)
    rank = sample_of(v).ndim
    if rank:
        axis = g.whole(-rank, rank - 1)
        kind = g.one([np.int32, np.int64])
        chosen = {key: g.whole(0, 1) for key in ("exclusive", "reverse") if g.chance(0.4)}
        add(g, "CumSum", [v, g.constant(np.array(axis, kind))], **chosen)


TRUTH: dict[str, Generator] = {
    "And": logic("And", 2),
    "CumSum": cumulative,
    "Equal": comparison("Equal"),
    "Greater": comparison("Greater"),
    "GreaterOrEqual": comparison("GreaterOrEqual"),
    "Less": comparison("Less"),
    "LessOrEqual": comparison("LessOrEqual"),
    "Not": logic("Not", 1),
    "Or": logic("Or", 2),
    "Xor": logic("Xor", 2),
}
