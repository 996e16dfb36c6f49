"""A task's claim, and what breaks it, as sentences with the names the spec gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from eqspec.networks.runtime_functions import ASSUMED, is_assumed
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Number, Top1, exact
from eqspec.tasks import score_meaning
from eqspec.tasks.task import Task


def number_in_words(number: Number) -> str:
    """The number as people write it: 0.05, or 8/255 where that is no short decimal."""
    value = exact(number)
    short = repr(approximately(value)).removesuffix(".0")
    return short if "inf" not in short and Fraction(short) == value else str(value)


def approximately(number: Fraction) -> float:
    """The nearest float, or an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def claim_in_words(task: Task) -> str:
    """The claim, which is to hold everywhere in the region, in the words of a spec."""
    about = score_meaning.of_claim(task.property, (task.reference, task.candidate))
    return sentence(task) + about + _arithmetic(task)


def _arithmetic(task: Task) -> str:
    """The arithmetic that the claim is about, and what is assumed of runtimes."""
    if task.arithmetic == "real":
        return ""
    steps = (step for network in (task.reference, task.candidate) for step in network.steps)
    return f", in {task.arithmetic}" + (f" with {ASSUMED}" if any(is_assumed(s.function) for s in steps) else "")


def sentence(task: Task) -> str:
    """The claim in words, without what its scores are and without the arithmetic."""
    reference, candidate, outputs = task.reference_name, task.candidate_name, task.space.outputs
    match task.property:
        case Epsilon(eps, _, None) if exact(eps) == 0:
            return f"{candidate} equals {reference}"
        case Epsilon(eps, norm, chosen):
            named = "" if chosen is None else f" comparing [{', '.join(_output(outputs, i) for i in chosen)}]"
            return f"{candidate} stays within {number_in_words(eps)} of {reference} in {norm}{named}"
        case Top1():
            return f"{candidate} keeps top1 of {reference}"
        case Margin(margin):
            return f"{candidate} keeps top1 of {reference} when margin >= {number_in_words(margin)}"
        case Confidence(delta):
            return f"{candidate} keeps top1 of {reference} when confidence >= {number_in_words(delta)}"
        case Linear() as claim:
            return f"{candidate} satisfies {inequality(claim, task)}"
        case NeverWraps():
            return f"{candidate} never wraps"
        case NeverSaturates():
            return f"{candidate} never saturates"


def inequality(claim: Linear, task: Task) -> str:
    """A linear claim with the names that a task gives to networks and outputs."""
    outputs = task.space.outputs
    terms = [(c, f"{task.candidate_name}[{name}]") for c, name in zip(claim.candidate, outputs, strict=False)]
    terms += [(c, f"{task.reference_name}[{name}]") for c, name in zip(claim.reference, outputs, strict=False)]
    return f"{_sum_in_words(terms)} {'<' if claim.strict else '<='} {number_in_words(claim.bound)}"


def _output(names: Sequence[str], index: int) -> str:
    """The name of an output. There may be no such output, because refused claims are put into words too."""
    return names[index] if 0 <= index < len(names) else f"output {index}"


def _sum_in_words(terms: Sequence[tuple[Number, str]]) -> str:
    text = ""
    for coefficient, name in terms:
        value = exact(coefficient)
        if value:
            sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
            size = "" if abs(value) == 1 else f"{number_in_words(abs(value))} * "
            text += f"{sign}{size}{name}"
    return text or "0"
