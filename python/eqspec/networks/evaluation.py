"""A program of steps at many points at once, in floats: for attacks, samples and comparisons, never for a proof.

Shapes: inputs (N, I), outputs (N, O); within, points are columns, (rows, N) for each step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks.program import INPUTS, Array, Step, last_readers

_MOST_GATHERED = 1 << 22
"""Numbers that a step may gather at once; points are evaluated in parts that keep below it."""


def evaluate(steps: Sequence[Step], inputs: Array) -> Array:
    """Outputs (N, O) in float64 at inputs (N, I)."""
    widest = max(max(term.tile.index.size for term in step.terms) if step.terms else 1 for step in steps)
    together = max(1, _MOST_GATHERED // widest)
    parts = [inputs[start : start + together] for start in range(0, len(inputs), together)]
    outputs = [values_of_steps(steps, part.T)[-1] for part in parts]
    made: Array = np.concatenate([np.zeros((steps[-1].rows, 0)), *(o for o in outputs if o is not None)], axis=1)
    return np.ascontiguousarray(made.T)


def values_of_steps(steps: Sequence[Step], inputs: Array, *, keep: bool = False) -> list[Array | None]:
    """What steps compute at inputs (I, N), (rows, N) each, before their function where all are kept.

    Without `keep` only the outputs are there; every other value is dropped after its last reader.
    """
    before: list[Array | None] = []
    after: list[Array | None] = []
    last = last_readers(steps)
    for number, step in enumerate(steps):
        total = np.repeat(step.bias[:, None], inputs.shape[1], axis=1)
        for term in step.terms:
            given = inputs if term.source == INPUTS else after[term.source]
            assert given is not None
            total += term.tile.apply(given)
        before.append(total if keep or number == len(steps) - 1 else None)
        after.append(np.maximum(total, 0.0) if step.function == "relu" else total)
        for source in step.sources:
            if source >= 0 and last[source] == number:
                after[source] = None
    return before
