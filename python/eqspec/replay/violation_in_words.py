"""How a claim is broken, as a sentence for people."""

from __future__ import annotations

import math

from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Top1, exact
from eqspec.replay.violation import BeyondBound, LeavesType, OtherClass, TooFar, Violation
from eqspec.tasks.phrasing import approximately, number_in_words
from eqspec.tasks.task import Task


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
            low, high = (number_in_words(limit) for limit in outside.limits)
            cast = outside.cast(task.candidate)
            of_type = "" if cast is None else f", {cast.type},"
            does = "wraps" if outside.quantiser.wraps else "is cut off"
            return (
                f"{outside.name(task.candidate)}{of_type} should be {number_in_words(outside.meant)} in {candidate}, "
                f"which is outside of {low} .. {high}: it {does} to {number_in_words(outside.stored)}"
            )
        case OtherClass(kept, preferred, lead):
            sure = "" if confidence is None else f" with confidence {confidence:.6g}"
            better = "lower" if task.space.decide == "min" else "higher"
            return (
                f"{reference} decides {outputs[kept]}{sure}, "
                f"but {candidate} has {outputs[preferred]} {better} by {approximately(lead):.6g}"
            )


def _against(task: Task) -> str:
    match task.property:
        case Epsilon(eps):
            return f", more than {number_in_words(eps)}" if exact(eps) else ""
        case Linear(_, _, bound, strict):
            return f", {'not below' if strict else 'more than'} {number_in_words(bound)}"
        case Top1() | Margin() | Confidence() | NeverWraps() | NeverSaturates():
            return ""
