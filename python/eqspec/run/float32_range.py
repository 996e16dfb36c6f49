"""Whether a task about float32 stays within the range of float32. Beyond it the enclosures prove nothing."""

from __future__ import annotations

import numpy as np

from eqspec.errors import InputError
from eqspec.networks import overflow
from eqspec.tasks.directed_rounding import float_above
from eqspec.tasks.task import Task


def refuse_overflow(task: Task) -> None:
    """InputError where a float32 runtime might compute an infinity somewhere in the box."""
    if task.arithmetic == "real":
        return
    ends = list(zip(task.lower_exact, task.upper_exact, strict=True))
    inputs = np.array([float_above(max(abs(low), abs(high))) for low, high in ends])
    space = zip(task.space.centre, task.space.scale, ends, strict=True)
    raw = np.array([float_above(max(abs(c + s * low), abs(c + s * high))) for c, s, (low, high) in space])
    for network, takes_raw in (
        (task.reference, task.reference_takes_raw),
        (task.candidate, task.candidate_takes_raw),
    ):
        where = overflow(network, inputs, raw if takes_raw else inputs, (task.lower, task.upper))
        if where is not None:
            raise InputError(f"float32 might overflow: {where}; narrow the region, or leave 'arithmetic float32' out")
