"""The last touches to the steps of a firmware: functions joined to the sums in front of them, and outputs at the end.

A layer's sums and the assignment of its result are two steps while the project is read, since another layer might read
the sums. A step with the identity that one other step reads, all rows in their order and nothing else, becomes one with
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks.firmware.builder import Builder, Value
from eqspec.networks.network import Cast
from eqspec.networks.program import INPUTS, Step, Term, Tile, copied_step, needed, renumbered


def finished(builder: Builder, outputs: Value) -> tuple[tuple[Step, ...], tuple[Cast, ...]]:
    """The program whose last step gives the outputs in their order, and what its rows are assignments to."""
    steps = list(builder.steps)
    last = steps[outputs.step]
    in_order = outputs.size == last.rows and (outputs.rows == np.arange(last.rows)).all()
    if outputs.step != len(steps) - 1 or last.function != "identity" or not in_order:
        term = Term(outputs.step, Tile.rearranged(outputs.rows))
        steps.append(Step((term,), np.zeros(outputs.size), None, "identity"))
    return _joined(needed(steps), steps, builder.casts)


def _joined(
    is_needed: Sequence[bool], steps: Sequence[Step], casts: Sequence[Cast]
) -> tuple[tuple[Step, ...], tuple[Cast, ...]]:
    kept = [number for number, there in enumerate(is_needed) if there]
    readers = Counter(source for number in kept for source in steps[number].sources)
    inner: dict[int, int] = {}
    """The step that becomes one with another, by that other one."""
    for number in kept:
        source = copied_step(steps[number], steps)
        if source is not None and readers[source] == 1 and steps[source].function == "identity":
            inner[number] = source
    made = list[Step]()
    place = {INPUTS: INPUTS}
    for number in kept:
        if number in inner.values():
            continue
        sums = number
        while sums in inner:
            sums = inner[sums]
        place[number] = len(made)
        made.append(renumbered(replace(steps[sums], function=steps[number].function), place))
    return tuple(made), tuple(replace(cast, step=place[cast.step]) for cast in casts if cast.step in place)
