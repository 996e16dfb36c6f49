"""How a claim is broken, as a sentence for people."""

from __future__ import annotations

import math
from fractions import Fraction

from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Top1, exact
from eqspec.replay.violation import BeyondBound, LeavesType, OtherClass, TooFar, Violation
from eqspec.tasks.phrasing import approximately, number_in_words
from eqspec.tasks.task import Task

_SHORT = 15
"""Characters of a number that is shown in its exact form."""


def violation_in_words(task: Task, found: Violation, confidence: float | None) -> str:
    """How the claim is broken."""
    reference, candidate = task.reference_name, task.candidate_name
    outputs = [f"output {name}" if name.isdecimal() else name for name in task.space.outputs]
    match found:
        case TooFar(norm, distance, index):
            size = math.sqrt(approximately(distance)) if norm == "l2" else approximately(distance)
            where = "" if index is None else f" in {outputs[index]}"
            summed_up = "" if norm == "linf" else f" in {norm}"
            return f"{candidate} and {reference} differ by {size:.6g}{where}{summed_up}{_against(task)}"
        case BeyondBound(value):
            return f"the left side is {approximately(value):.6g}{_against(task)}"
        case LeavesType(outside):
            meant, stored, low, high = told_apart(outside.meant, outside.stored, *outside.limits)
            cast = outside.cast(task.candidate)
            of_type = "" if cast is None else f", {cast.type},"
            does = "wraps" if outside.quantiser.wraps else "is cut off"
            return (
                f"{outside.name(task.candidate)}{of_type} should be {meant} in {candidate}, "
                f"which is outside of {low} .. {high}: it {does} to {stored}"
            )
        case OtherClass(kept, preferred, lead):
            sure = "" if confidence is None else f" with confidence {confidence:.6g}"
            better = "lower" if task.space.decide == "min" else "higher"
            return (
                f"{reference} decides {outputs[kept]}{sure}, "
                f"but {candidate} has {outputs[preferred]} {better} by {approximately(lead):.6g}"
            )


def told_apart(*numbers: Fraction) -> list[str]:
    """Numbers as decimals of nine digits where their own form is long, unless two of them would look alike so."""
    whole = [number_in_words(number) for number in numbers]
    short = [form if len(form) <= _SHORT else f"{approximately(n):.9g}" for form, n in zip(whole, numbers, strict=True)]
    return short if len(set(short)) == len(set(whole)) else whole


def _against(task: Task) -> str:
    match task.property:
        case Epsilon(eps):
            return f", more than {number_in_words(eps)}" if exact(eps) else ""
        case Linear(_, _, bound, strict):
            return f", {'not below' if strict else 'more than'} {number_in_words(bound)}"
        case Top1() | Margin() | Confidence() | NeverWraps() | NeverSaturates():
            return ""
