"""Whether a task stays where its numbers mean what its files compute: whole numbers within what is read of them, and
those of a task about float32 within its range. Beyond them enclosures prove nothing of the files."""

from __future__ import annotations

import numpy as np

from eqspec.errors import InputError
from eqspec.networks import beyond, overflow
from eqspec.tasks.directed_rounding import float_above
from eqspec.tasks.task import Task


def refuse_out_of_range(task: Task) -> None:
    """InputError where somewhere in the box a whole number may lie beyond what is read of it, or a float32 runtime
    might compute an infinity.
    """
    for network in (task.reference, task.candidate):
        if (said := beyond(network, (task.lower, task.upper))) is not None:
            fix = "narrow the region, or put a Clip in front of it in the file"
            raise InputError(f"{network.source}: {said}, so that beyond it another network would be compared; {fix}")
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
