"""Numbers that a value of a graph takes on whole regions: ends of a Clip, and what operators that move entries keep.

A runtime divides in float32 where it quantises, and so may take another level than the rational quotient has. That
happens at ties alone, which are single points as a rule. But behind a Clip whole regions have one value, its end, and
where the end lies at a tie, as one that is 127.5 times the scale, the network is a level off on the whole region. A
quantiser right behind the Clip takes the level of the float32 quotient (`quantising`). This file tells quantisers of
ends that other operators have moved since, and of the numbers at which Max, Min and others hold values.

The numbers are kept for all entries of a value together. If there are more than an entry is really held at, a file may
be refused that need not be, and nothing else goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.operators import isolated_values
from eqspec.networks.operators.operator_call import OperatorCall, Value

_HOLDING = {"Clip", "Concat", "Max", "Min", "Pad", "Where"}
"""Operators that give constants among their inputs where something else does not come through."""

_KEEPING = isolated_values.MOVING | {
    "AveragePool", "Elu", "GlobalAveragePool", "GlobalMaxPool", "LeakyRelu", "MaxPool", "PRelu", "ReduceMax",
    "ReduceMean", "ReduceMin", "Relu", "Resize", "TopK", "Upsample",
}  # fmt: skip
"""Operators that give entries as they are, at least some of them, or as their means."""

_ENDS = {"HardSigmoid", "Sigmoid", "Sign", "Tanh", "Erf"}
"""Operators that runtimes have at 1 or -1 on whole regions."""

_TRUTHS = {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or", "Xor"}
"""Operators that give 0 or 1."""

_COMPUTING = {"Add": np.add, "Div": np.divide, "Mul": np.multiply, "Sub": np.subtract}
"""Operators of such a number and a constant, whose result runtimes round to float32."""

_MOST_COMPUTED = 512
"""Numbers that follow so; of more, none is kept."""

_MOST = 4096
"""Constants of a tensor that are looked at; beyond, it is no bound but a table."""

_NEAR = 2.0**-20
"""Float32 quotients, which are off by 2^-24 of themselves, decide on another side only of ties that are nearer."""


def remember(call: OperatorCall, results: Sequence[Value]) -> None:
    """Keep what numbers the results of an operator are held at."""
    kind = call.node.op_type
    values = [value for value in call.inputs if isinstance(value, Affine)]
    known = [value for value in call.inputs if isinstance(value, Enclosure)]
    for result in results:
        if isinstance(result, Affine):
            isolated_values.remember(kind, values, known, result)
    if kind in _ENDS:
        held = {-1.0, 1.0}
    elif kind in _TRUTHS:
        held = {0.0, 1.0}
    elif kind in ("Abs", "Neg"):
        held = {sign * number for value in values for number in value._held for sign in (1.0, -1.0)}
    elif kind in _COMPUTING and len(values) == 1:
        held = _computed(call)
    elif kind in _HOLDING or kind in _KEEPING:
        held = {number for value in values for number in value._held}
    else:
        return
    if kind in _HOLDING:
        constants = [v.value for v in call.inputs if isinstance(v, Enclosure) and v.value.size <= _MOST]
        held.update(float(number) for one in constants for number in np.unique(one) if np.isfinite(number))
        if kind == "Clip" and call.opset < 11:
            held.update(end.f for end in map(call.attribute, ("min", "max")) if end is not None)
    for result in results:
        if isinstance(result, Affine):
            result._held.update(held)


def _computed(call: OperatorCall) -> set[float]:
    """What an operator of _COMPUTING makes of held numbers and of constants, before a runtime rounds it."""
    sides = [
        np.array(sorted(value._held)) if isinstance(value, Affine) else np.unique(value.value)
        for value in call.inputs
        if isinstance(value, Affine | Enclosure)
    ]
    if len(sides) != 2 or not 0 < sides[0].size * sides[1].size <= _MOST_COMPUTED:
        return set()
    with np.errstate(all="ignore"):
        made = _COMPUTING[call.node.op_type].outer(*sides)
    return {float(number) for number in made.flat if np.isfinite(number)}


def level_differs(held: Iterable[float], scale: Array, low: Array, high: Array) -> float | None:
    """A number among these that has another level as a float32 quotient than as a rational one; None if there is none.

    A number that is no float32 number was computed, perhaps in several steps, each of them rounded. Next to a tie it
    may have either level.
    Scale, lowest and highest level are flat arrays, by entry of what is quantised.
    """
    numbers = np.array(sorted(held))
    kinds = np.unique(np.stack(np.broadcast_arrays(scale, low, high)), axis=1) if len(numbers) else np.zeros((3, 0))
    with np.errstate(all="ignore"):
        near = numbers[:, None] / kinds[0]
        short = numbers.astype(np.float32) == numbers
        computed = np.rint(numbers.astype(np.float32)[:, None] / kinds[0].astype(np.float32)).astype(float)
    for i, k in np.argwhere(np.abs(np.abs(near - np.trunc(near)) - 0.5) <= _NEAR * (1.0 + np.abs(near))):
        exact = round(Fraction(float(numbers[i])) / Fraction(float(kinds[0, k])))
        ends = kinds[1:, k]
        levels = (computed[i, k], float(exact)) if short[i] else (np.floor(near[i, k]), np.ceil(near[i, k]))
        if np.clip(levels[0], *ends) != np.clip(levels[1], *ends):
            return float(numbers[i])
    return None
