"""A program of steps at many points at once, in floats: for attacks, samples and comparisons, never for a proof.

Shapes: inputs (N, I), outputs (N, O); within, points are columns, (rows, N) for each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from eqspec.networks import curve_values
from eqspec.networks.curves import Curves
from eqspec.networks.program import INPUTS, Array, Step, last_readers

_MOST_GATHERED = 1 << 22
"""Numbers that a term may gather at once; points are taken in parts that keep below it."""


def together(steps: Sequence[Step]) -> int:
    """How many points are taken at once."""
    widest = max((term.tile.index.size for step in steps for term in step.terms), default=1)
    return max(1, _MOST_GATHERED // widest)


def evaluate(steps: Sequence[Step], inputs: Array) -> Array:
    """Outputs (N, O) at inputs (N, I). Every value is dropped after its last reader."""
    some = together(steps)
    parts = [_outputs(steps, inputs[start : start + some].T) for start in range(0, len(inputs), some)]
    return np.ascontiguousarray(np.concatenate([np.zeros((steps[-1].rows, 0)), *parts], axis=1).T)


def _outputs(steps: Sequence[Step], inputs: Array) -> Array:
    total = np.zeros((0, inputs.shape[1]))
    for sums in each_sum(steps, inputs):
        total = sums
    return _activated(steps[-1], total)


def each_sum(steps: Sequence[Step], inputs: Array) -> Iterator[Array]:
    """What every step computes before its function (rows, N), in order, at inputs (I, N).

    What a step gives is dropped after its last reader.
    """
    after: list[Array | None] = []
    last = last_readers(steps)
    for number, step in enumerate(steps):
        total = _sums(step, inputs, after)
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


def _sums(step: Step, inputs: Array, after: Sequence[Array | None]) -> Array:
    total: Array = np.repeat(step.bias[:, None], inputs.shape[1], axis=1)
    for term in step.terms:
        given = inputs if term.source == INPUTS else after[term.source]
        assert given is not None
        total += term.tile.apply(given)
    return total


def _activated(step: Step, sums: Array) -> Array:
    if isinstance(step.function, Curves):
        return curve_values.value(step.function, sums)
    return np.maximum(sums, 0.0) if step.function == "relu" else sums
