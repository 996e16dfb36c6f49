"""Undecided because of rounding alone: the claim is not proved, but one that allows slightly more is.

Where two networks are one function but for rounding (a normalisation that an exporter folded, against the same one as
an operator), two tied classes cannot be told apart, and `unknown` would say nothing of how near the claim is. The rule:
a result is *undecided because of rounding alone* if a claim that allows at most `SLACK` of the largest output more has
been proved, by a search of its own: a margin or a confidence that is larger by so much, or a distance or bound. What is
named is the smallest of these slacks, 1 or 3 times a power of ten, that was proved in a small share of the time.

The verdict stays `unknown`, and so does its reason. Sound because what is named is proved like any claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor, isfinite, log10
from time import perf_counter
from typing import Any, Literal

from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1, exact
from eqspec.tasks.phrasing import claim_in_words
from eqspec.tasks.result import Nearly, Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

SLACK = 1e-5
"""The largest slack, relative to the largest output: eighty times the rounding error of float32."""
_SHARE, _LEAST, _MOST = 0.1, 0.5, 2.0
"""The share of the time that the search took, at least and at most so many seconds."""
_STEPS = 12

Name = Literal["margin", "confidence", "eps", "bound"]


def nearly(task: Task, result: Result, size: float, proves: Callable[[Task, float], bool]) -> Nearly | None:
    """The closest claim that is proved, if the task is undecided because of rounding alone.

    `size` is the largest absolute output; `proves` says whether a task is proved within some seconds.
    """
    if result.verdict is not Verdict.UNKNOWN or result.reason in (Reason.ERROR, Reason.INTERRUPTED, Reason.MEMORY):
        return None
    worst = None if result.worst_open is None else result.worst_open.get("bound")
    limit = SLACK if isinstance(task.property, Confidence) else SLACK * size
    if worst is None or not (limit > 0.0 and isfinite(limit) and worst <= SLACK * size):
        return None  # some box is open because of more than rounding
    deadline = perf_counter() + min(_MOST, max(_LEAST, _SHARE * result.seconds))
    found: Nearly | None = None
    slacks = list(_slacks(limit))
    proved, unproved = -1, len(slacks)  # of the slacks, which fall: what is proved for one is so for all before it
    while proved + 1 < unproved and (left := deadline - perf_counter()) > 0:
        middle = 0 if proved < 0 else (proved + unproved) // 2
        weaker = weakened(task.property, slacks[middle])
        if weaker is None:
            break
        easier = replace(task, property=weaker[0])
        if proves(easier, left if proved < 0 else left / 2):
            proved, found = middle, Nearly(claim_in_words(easier), weaker[1], weaker[2])
        elif proved < 0:
            break
        else:
            unproved = middle
    return found


def weakened(claim: Property, slack: Fraction) -> tuple[Property, Name, Fraction] | None:
    """The claim weakened by `slack`, the name of the number that was changed and its new value; or None."""
    match claim:
        case Top1():
            return Margin(slack), "margin", slack
        case Margin(margin):
            return Margin(most := max(exact(margin), Fraction(0)) + slack), "margin", most
        case Confidence(delta):
            return (Confidence(most), "confidence", most) if (most := exact(delta) + slack) < 1 else None
        case Epsilon(eps):
            return replace(claim, eps=(most := exact(eps) + slack)), "eps", most
        case NeverWraps() | NeverSaturates():
            return None
        case Linear(bound=bound):
            return replace(claim, bound=(most := exact(bound) + slack)), "bound", most


def _slacks(limit: float) -> Iterator[Fraction]:
    """3, 1, 0.3, ... times a power of ten, from the first that is not above the limit on."""
    power = floor(log10(limit))
    every: Any = (Fraction(digit) * Fraction(10) ** (power - k) for k in range(_STEPS) for digit in (3, 1))
    yield from (slack for slack in every if slack <= limit)
