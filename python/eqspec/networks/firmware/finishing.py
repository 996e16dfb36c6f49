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
from eqspec.networks.program import Step, Term, Tile, renumbered


def finished(builder: Builder, outputs: Value) -> tuple[tuple[Step, ...], tuple[Cast, ...]]:
    """The program whose last step gives the outputs in their order, and what its rows are assignments to."""
    steps = list(builder.steps)
    last = steps[outputs.step]
    in_order = outputs.size == last.rows and (outputs.rows == np.arange(last.rows)).all()
    if outputs.step != len(steps) - 1 or last.function != "identity" or not in_order:
        term = Term(outputs.step, Tile.rearranged(outputs.rows))
        steps.append(Step((term,), np.zeros(outputs.size), None, "identity"))
    return _joined(_needed(steps), steps, builder.casts)


def _needed(steps: Sequence[Step]) -> list[bool]:
    """Which steps the last one depends on."""
    needed = [False] * len(steps)
    needed[-1] = True
    for number in reversed(range(len(steps))):
        if needed[number]:
            for source in steps[number].sources:
                if source >= 0:
                    needed[source] = True
    return needed


def _joined(
    needed: Sequence[bool], steps: Sequence[Step], casts: Sequence[Cast]
) -> tuple[tuple[Step, ...], tuple[Cast, ...]]:
    readers = Counter(s for step, there in zip(steps, needed, strict=True) if there for s in step.sources)
    into: dict[int, int] = {}
    for number, step in enumerate(steps):
        source = _copied(step, steps) if needed[number] else None
        if source is not None and readers[source] == 1 and steps[source].function == "identity":
            into[source] = number
    made = list[Step]()
    place = {-1: -1}
    for number, step in enumerate(steps):
        if not needed[number] or number in into:
            continue
        source = _copied(step, steps)
        sums = step if source is None or into.get(source) != number else steps[source]
        while (further := _copied(sums, steps)) is not None and into.get(further) == _number(steps, sums):
            sums = steps[further]
        place[number] = len(made)
        made.append(renumbered(replace(sums, function=step.function), place))
    kept = (replace(cast, step=place[cast.step]) for cast in casts if cast.step in place)
    return tuple(made), tuple(kept)


def _number(steps: Sequence[Step], step: Step) -> int:
    return next(n for n, one in enumerate(steps) if one is step)


def _copied(step: Step, steps: Sequence[Step]) -> int | None:
    """The step whose rows this one takes as they are, all of them in their order."""
    if len(step.terms) != 1 or step.bias.any():
        return None
    (term,) = step.terms
    tile = term.tile
    if term.source < 0 or tile.taps != 1 or tile.channels != 1 or tile.weight[0, 0, 0] != 1.0:
        return None
    same = tile.rows == steps[term.source].rows and (tile.index.reshape(-1) == np.arange(tile.rows)).all()
    return term.source if same else None
