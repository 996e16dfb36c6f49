"""A program of steps at many points at once, in floats: for attacks, samples and comparisons, never for a proof.

Shapes: inputs (N, I), outputs (N, O); within, points are columns, (rows, N) for each step.

Products, which a program has as differences of squares, are evaluated as products of their factors (`factors`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np

from eqspec.networks import curve_values
from eqspec.networks.curves import Curves
from eqspec.networks.factors import Product, factored
from eqspec.networks.program import INPUTS, Array, Step, last_readers

_MOST_GATHERED = 1 << 22
"""Numbers that a term may gather at once; points are taken in parts that keep below it."""


def together(steps: Sequence[Step]) -> int:
    """How many points are taken at once."""
    widest = max((term.tile.index.size for step in steps for term in step.terms), default=1)
    return max(1, _MOST_GATHERED // widest)


def evaluate(steps: Sequence[Step], inputs: Array) -> Array:
    """Outputs (N, O) at inputs (N, I). Every value is dropped after its last reader."""
    some, products = together(steps), factored(steps)
    parts = [_outputs(steps, inputs[start : start + some].T, products) for start in range(0, len(inputs), some)]
    return np.ascontiguousarray(np.concatenate([np.zeros((steps[-1].rows, 0)), *parts], axis=1).T)


def _outputs(steps: Sequence[Step], inputs: Array, products: Sequence[Product]) -> Array:
    total = np.zeros((0, inputs.shape[1]))
    for sums in each_sum(steps, inputs, products):
        total = sums
    return _activated(steps[-1], total)


def each_sum(steps: Sequence[Step], inputs: Array, products: Sequence[Product] | None = None) -> Iterator[Array]:
    """What every step computes before its function (rows, N), in order, at inputs (I, N).

    What a step gives is dropped after its last reader. `products` are those of the steps, if they are known already.
    """
    after: list[Array | None] = []
    last = last_readers(steps)
    products = factored(steps) if products is None else products
    of_s = {product.s: product for product in products}
    halved = dict[int, Array]()
    nothing = {product.t for product in products}
    for number, step in enumerate(steps):
        if number in halved:
            yield halved.pop(number)
            after.append(None)
        elif (product := of_s.get(number)) is not None:
            u, v = (_sums(factor, inputs, after, nothing) for factor in (product.u, product.v))
            halved[product.t] = (u - v) / 2
            yield (u + v) / 2
            with np.errstate(all="ignore"):
                after.append(u * v)
        else:
            total = _sums(step, inputs, after, nothing)
            yield total
            after.append(_activated(step, total) if last[number] > number else None)
        for source in step.sources:
            if source >= 0 and last[source] == number:
                after[source] = None


def values(steps: Sequence[Step], inputs: Array) -> list[Array]:
    """What every step computes before its function (rows, N), at inputs (I, N)."""
    return list(each_sum(steps, inputs))


def gradient(steps: Sequence[Step], before: Sequence[Array], change: Array, inputs: int) -> Array:
    """Derivatives (I, N) of change . outputs, change (O, N), with respect to the inputs.

    Of a function with a kink there it is one-sided: 0 where a ReLU is 0.

    `before` are the `values` at the points.
    """
    return dict(derivatives(steps, before, change, inputs))[INPUTS]


def derivatives(
    steps: Sequence[Step], before: Sequence[Array], change: Array, inputs: int
) -> Iterator[tuple[int, Array]]:
    """Of change . outputs with respect to what every step gives (rows, N), the last step first, the inputs at the end.

    As in `gradient`; a quantiser counts as the line that it follows in steps.
    """
    total = np.zeros((inputs, change.shape[1]))
    of_step: list[Array | None] = [None] * (len(steps) - 1) + [change]
    for number in reversed(range(len(steps))):
        step, now, of_step[number] = steps[number], of_step[number], None
        if now is None:
            continue
        yield number, now
        if isinstance(step.function, Curves):
            now = np.nan_to_num(curve_values.slope(step.function, before[number]) * now, posinf=0.0, neginf=0.0)
        elif step.function == "relu":
            now = np.where(before[number] > 0.0, now, 0.0)
        for term in step.terms:
            if term.source == INPUTS:
                total += term.tile.pull_back(now, inputs)
                continue
            pulled = term.tile.pull_back(now, steps[term.source].rows)
            known = of_step[term.source]
            of_step[term.source] = pulled if known is None else known + pulled
    yield INPUTS, total


def _sums(step: Step, inputs: Array, after: Sequence[Array | None], nothing: Container[int]) -> Array:
    """The sums of a step of what others gave, without the terms of those that give nothing.

    What adding one term to the others rounds off is added at the end, since a small one may be all that large ones
    leave, as of 3 + 1e-12 - 3.
    """
    total: Array = np.repeat(step.bias[:, None], inputs.shape[1], axis=1)
    rounded_off: Array | None = None
    with np.errstate(invalid="ignore", over="ignore"):
        for term in step.terms:
            if term.source in nothing:
                continue
            given = inputs if term.source == INPUTS else after[term.source]
            assert given is not None
            added = term.tile.apply(given)
            before, total = total, total + added
            if len(step.terms) > 1:
                of_added = total - before
                lost = (before - (total - of_added)) + (added - of_added)  # TwoSum
                rounded_off = lost if rounded_off is None else rounded_off + lost
    if rounded_off is not None:
        total += np.nan_to_num(rounded_off, copy=False, posinf=0.0, neginf=0.0)
    return total


def _activated(step: Step, sums: Array) -> Array:
    if isinstance(step.function, Curves):
        return curve_values.value(step.function, sums)
    return np.maximum(sums, 0.0) if step.function == "relu" else sums
