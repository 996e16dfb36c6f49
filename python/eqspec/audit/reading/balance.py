"""Products of two values, s^2 - t^2, with other squares that give the same.

    (c s + d t)^2 - (d s + c t)^2 = s^2 - t^2,   c = (p + 1/p) / 2,   d = (p - 1/p) / 2,   p = 2^k

holds for every k, since c^2 - d^2 = 1. Which k bounds a product best depends on the box, so a certificate says it for
every row of the products of each network, in the order of their first squares. Whatever it says, the steps that result
are the same function. A product is two steps of squares of which every step that reads one reads the other with the
opposite kernels, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functions import Curve
from ..rounding import Array, Refused
from .number import Number
from .program import Step
from .value import CONSTANT, INPUTS, Part, Value

MOST = 24
"""For exponents from -24 to 24, c and d are floats."""
Balance = tuple[tuple[int, ...], ...]
_SQUARE = (Curve("square"),)


def balanced(steps: Sequence[Step], exponents: Balance) -> list[Step]:
    """The same function, with these exponents for the rows of its products; () leaves the steps as they are."""
    if not exponents:
        return list(steps)
    pairs = products(steps)
    if [len(k) for k in exponents] != [steps[s].value.size for s, _ in pairs]:
        raise Refused("it balances other products than these networks have")
    chosen = {pair: np.array(k) for pair, k in zip(pairs, exponents, strict=True) if any(k)}
    plain = {number for pair in chosen for number in pair}
    made, sums, gives = list[Step](), list[int](), {INPUTS: INPUTS, CONSTANT: CONSTANT}
    for number, step in enumerate(steps):
        parts = tuple(Part(gives[p.source], p.rows, p.index, p.kind, p.kernels) for p in step.value.parts)
        made.append(Step(Value(step.value.shape, parts), () if number in plain else step.curves))
        sums.append(len(made) - 1)
        gives[number] = sums[-1]
        for s, t in [pair for pair in chosen if pair[1] == number]:
            p = np.ldexp(1.0, chosen[s, t])
            c, d = (p + 1.0 / p) / 2.0, (p - 1.0 / p) / 2.0
            for target, factors in ((s, (c, d)), (t, (d, c))):
                both = tuple(_scaled(sums[one], factor) for one, factor in zip((s, t), factors, strict=True))
                made.append(Step(Value((len(p),), both), _SQUARE))
                gives[target] = len(made) - 1
    return made


def products(steps: Sequence[Step]) -> list[tuple[int, int]]:
    """The two steps of squares of each product, in the order of the first ones."""
    readers: dict[int, list[tuple[int, Part]]] = {number: [] for number in range(len(steps))}
    for number, step in enumerate(steps):
        for part in step.value.parts:
            if part.source >= 0:
                readers[part.source].append((number, part))
    left, found = [n for n, step in enumerate(steps) if step.curves == _SQUARE], list[tuple[int, int]]()
    while left:
        s = left.pop(0)
        like = (n for n in left if steps[n].value.size == steps[s].value.size and _opposite(readers[s], readers[n]))
        if (t := next(like, None)) is not None:
            left.remove(t)
            found.append((s, t))
    return found


def _opposite(one: Sequence[tuple[int, Part]], other: Sequence[tuple[int, Part]]) -> bool:
    """Whether the same steps read both, part by part of the same units and with opposite kernels."""
    if [number for number, _ in one] != [number for number, _ in other]:
        return False
    both = [(a, b) for (_, a), (_, b) in zip(one, other, strict=True)]
    alike = all(np.array_equal(a.rows, b.rows) and np.array_equal(a.index, b.index) for a, b in both)
    return alike and all(_opposite_kernels(a, b) for a, b in both)


def _opposite_kernels(a: Part, b: Part) -> bool:
    pairs = {(int(i), int(j)) for i, j in zip(a.kind, b.kind, strict=True)}
    numbers = [two for i, j in pairs for two in zip(a.kernels[i], b.kernels[j], strict=True)]
    sure = not any(isinstance(number, Number) and number.k for two in numbers for number in two)
    return sure and all(_exact(x) + _exact(y) == 0 for x, y in numbers)


def _exact(number: Number | float) -> Any:
    return number.c if isinstance(number, Number) else float(number)


def _scaled(source: int, factors: Array) -> Part:
    """The rows of a step, each times a number of its own."""
    rows = np.arange(len(factors))
    return Part(source, rows, rows[:, None].astype(np.int32), rows, factors[:, None])
