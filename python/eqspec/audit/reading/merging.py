"""Programs of steps without the ReLUs that change nothing: those in front of functions that are constant up to 0.

A ReLU in front of another one stays, as layers of chains are counted by their ReLUs. Behind one that is left out a clip
or a quantiser is bounded by what its argument was before, of which bounds keep more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..functions import BENT, RELU, Curve
from .number import exact
from .program import Step
from .value import Value


def merged(steps: Sequence[Step]) -> list[Step]:
    """Without ReLUs in front of functions that give to all numbers below 0 what they give to 0."""
    found = list(steps)
    for number, step in enumerate(steps):
        if step.curves and step.curves != BENT and all(map(_flat_below_0, step.curves)):
            source = _copied_step(step)
            if source is not None and steps[source].curves == BENT:
                found[number] = Step(steps[source].value.taken(step.value.parts[0].index[:, 0]), step.curves)
    while True:
        read = {part.source for step in found for part in step.value.parts} | {len(found) - 1}
        rest = next((number for number in range(len(found)) if number not in read), None)
        if rest is None:
            return found
        found = [Step(_moved(step.value, rest), step.curves) for n, step in enumerate(found) if n != rest]


def _flat_below_0(curve: Curve) -> bool:
    """Whether it is constant up to 0.

    A quantiser is where its least level is no less than its zero point: every number up to 0 is rounded to that level
    or less, and so has it.
    """
    given = curve.parameters
    if curve.name == "pieces":
        return given[1] >= 0.0 and given[int(given[0]) + 1] == 0.0
    return curve == RELU or (curve.name == "levels" and given[2] >= given[1])


def _copied_step(step: Step) -> int | None:
    """The step whose entries are those of this one before its functions, in any order."""
    if len(step.value.parts) != 1:
        return None
    (part,) = step.value.parts
    whole = part.index.shape == (step.value.size, 1) and (part.index >= 0).all()
    ordered = part.rows.tolist() == list(range(step.value.size))
    ones = all(exact(part.kernels[kind][0]) == 1 for kind in set(part.kind.tolist()))
    return part.source if part.source >= 0 and whole and ordered and ones else None


def _moved(value: Value, rest: int) -> Value:
    """What reads later steps than this one, which is left out."""
    return Value(value.shape, tuple(replace(part, source=part.source - (part.source > rest)) for part in value.parts))
