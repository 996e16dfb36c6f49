"""The outputs of a plan at one point, number by number in fractions, by the definition of every block.

What hunts use is `graph_values`, which takes all points at once; tests hold it against this.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hunt import smooth
from hunt.graph_plans import SMOOTH, Array, Block, Plan

Exact = NDArray[Any]
"""Of fractions."""


def by_definition(plan: Plan, point: list[Fraction]) -> list[Fraction]:
    """The outputs at a point, exactly (see `Plan.exact`), by the definition of every block."""
    values: list[Exact] = [np.array(point, object).reshape(plan.shape)]
    for block in plan.blocks:
        values.append(_value(block, [values[i] for i in block.reads]))
    return list(values[-1].ravel())


def _value(block: Block, given: list[Exact]) -> Exact:
    x, a = given[0], {name: _rational(array) for name, array in block.arrays.items()}
    match block.kind:
        case "conv":
            return _convolved(block, x, a["weight"], a["bias"])
        case "dense":
            return np.asarray(a["weight"] @ x.ravel() + a["bias"])
        case "norm":
            return np.asarray(x * a["scale"][:, None, None] + a["shift"][:, None, None])
        case "add":
            return np.asarray(x + given[1])
        case "subtract":
            return np.asarray(x - given[1])
        case "concat":
            return np.concatenate(given)
        case "maxpool" | "meanpool":
            return _pooled(block, x)
    zero = Fraction(0)
    functions = {
        "relu": lambda v, _: max(v, zero),
        "leaky": lambda v, _: v if v > 0 else a["alpha"].item() * v,
        "prelu": lambda v, c: v if v > 0 else a["slopes"][c] * v,
        "clip": lambda v, _: min(max(v, a["ends"][0]), a["ends"][1]),
        "levels": lambda v, _: min(max(round(v / a["scale"].item()), a["ends"][0]), a["ends"][1]) * a["scale"].item(),
        "abs": lambda v, _: abs(v),
        "floor": lambda v, c: max(v, a["least"][c]),
        "hard": lambda v, _: min(max(a["line"][0] * v + a["line"][1], zero), Fraction(1)),
    }
    made = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        if block.kind in SMOOTH:
            made[place] = smooth.value(block.kind, x.item(place))
        else:
            made[place] = functions[block.kind](x[place], place[0])  # type: ignore[no-untyped-call]
    return made


def _rational(array: Array) -> Exact:
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(np.asarray(array, object)), object)


def _convolved(block: Block, x: Exact, weight: Exact, bias: Exact) -> Exact:
    pad, kernel = block.pad, weight.shape[2]
    wide = np.full((x.shape[0], x.shape[1] + 2 * pad, x.shape[2] + 2 * pad), Fraction(0), object)
    wide[:, pad : pad + x.shape[1], pad : pad + x.shape[2]] = x
    made = np.empty(block.shape, object)
    for o, i, j in np.ndindex(block.shape):
        part = wide[:, i * block.stride : i * block.stride + kernel, j * block.stride : j * block.stride + kernel]
        made[o, i, j] = (weight[o] * part).sum() + bias[o]
    return made


def _pooled(block: Block, x: Exact) -> Exact:
    made = np.empty(block.shape, object)
    for c, i, j in np.ndindex(block.shape):
        part = x[c, i * block.stride : i * block.stride + 2, j * block.stride : j * block.stride + 2].ravel()
        made[c, i, j] = max(part) if block.kind == "maxpool" else part.sum() / len(part)
    return made
