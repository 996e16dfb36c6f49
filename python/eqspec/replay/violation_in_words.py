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
_DIGITS = (6, 9, 12, 17)
"""Significant digits that are tried until a number is seen to be beyond a bound."""


def violation_in_words(task: Task, found: Violation, confidence: float | None) -> str:
    """How the claim is broken."""
    reference, candidate = task.reference_name, task.candidate_name
    outputs = [f"output {name}" if name.isdecimal() else name for name in task.space.outputs]
    match found:
        case TooFar(norm, distance, index):
            size = math.sqrt(approximately(distance)) if norm == "l2" else approximately(distance)
            where = "" if index is None else f" in {outputs[index]}"
            summed_up = "" if norm == "linf" else f" in {norm}"
            by = _told(size, _bound(task))
            return f"{candidate} and {reference} differ by {by}{where}{summed_up}{_against(task)}"
        case BeyondBound(value):
            strict = isinstance(task.property, Linear) and task.property.strict
            side = _told(approximately(value), _bound(task), reached=strict)
            return f"the left side is {side}{_against(task)}"
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
            sure = "" if confidence is None else f" with confidence {_told(confidence, _bound(task), reached=True)}"
            better = "lower" if task.space.decide == "min" else "higher"
            return (
                f"{reference} decides {outputs[kept]}{sure}, "
                f"but {candidate} has {outputs[preferred]} {better} by {approximately(lead):.6g}"
            )


def _told(number: float, bound: Fraction | None, *, reached: bool = False) -> str:
    """A number with six digits, or as many more as show that it is beyond the bound (or has `reached` it)."""
    for digits in _DIGITS:
        text = f"{number:.{digits}g}"
        if bound is None or not math.isfinite(number) or (at := Fraction(text)) > bound or (reached and at == bound):
            return text
    return f"{number:.6g} and less than floats tell"


def _bound(task: Task) -> Fraction | None:
    """The number that what breaks the claim is beyond; of a confidence the least that counts."""
    match task.property:
        case Epsilon(eps):
            return exact(eps)
        case Linear(_, _, bound):
            return exact(bound)
        case Confidence(delta):
            return exact(delta)
        case Top1() | Margin() | NeverWraps() | NeverSaturates():
            return None


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
