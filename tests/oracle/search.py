"""Asks eqspec, on a small budget that is counted in boxes, so that answers do not depend on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from eqspec import _core
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from oracle.evaluate import breaks, outputs
from oracle.queries import Query


@dataclass(frozen=True)
class Bounded(Options):
    """Options with a limit on boxes. With `contract_above` 0 every box is contracted, however few its inputs; without
    `dual` every program goes to the solver."""

    boxes: int = 1000
    contract_above: int = 8
    dual: bool = True
    back_substitution: bool = True
    singles: bool = True

    def settings(self, task: Task) -> _core.Settings:
        return _core.Settings(
            domain=self.domain,
            threads=self.threads or 1,
            lp=self.lp,
            boxes=self.boxes,
            timeout=60.0,
            contract_above=self.contract_above,
            dual=self.dual,
            back_substitution=self.back_substitution,
            singles=self.singles,
            milp=self.milp,
        )


@cache
def runner(options: Bounded) -> Runner:
    """One runner for all tasks with the same options, as in a run of many tasks."""
    return Runner(options)


def is_witness(asked: Query, point: Sequence[Fraction]) -> bool:
    """Whether the point lies in the region and breaks the claim there, by the definitions."""
    pair = asked.pair
    inside = all(low <= x <= high for low, x, high in zip(pair.lower, point, pair.upper, strict=True))
    for constraint in pair.constraints:
        value = sum((c * x for c, x in zip(constraint.coefficients, point, strict=True)), Fraction(0))
        inside &= value < constraint.bound or (not constraint.strict and value == constraint.bound)
    f, g = outputs(pair.reference, point), outputs(pair.candidate, point)
    return inside and breaks(asked.claim, f, g, lowest_wins=pair.decide == "min")


def contradiction(result: Result, truth: bool | None, *, vacuous: bool | None, confirmed: bool) -> str | None:
    """What is wrong about a result, given whether the claim breaks, and whether its guard is never met."""
    match result.verdict:
        case Verdict.EQUIVALENT if truth is True:
            return "proved, but it breaks"
        case Verdict.DIFFERENT if truth is False:
            return "refuted, but it holds"
        case Verdict.DIFFERENT if not confirmed:
            return "the witness is none"
    if result.vacuous and (vacuous is False or result.verdict is not Verdict.EQUIVALENT):
        return "called vacuous, but its guard is met"
    if not 0.0 <= result.certified_fraction <= 1.0:
        return f"{result.certified_fraction} of the region is proved"
    return None
