"""Holds what eqspec answers against the truth, says what is wrong, if anything, and what the case was an example of.

What must never be: a proof of what breaks, or of what some float32 runtime breaks where that was asked; a witness that
is none; a counterexample to what holds; a guard called unmet that is met; a share of the region that is none; a
certificate that the auditor refuses; an answer from the cache to another question; an exception. `unknown` is never
wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eqspec.property import Epsilon
from eqspec.tasks.stages import Stage
from hunt.caching import Asked, ask_again
from hunt.cases import Case
from hunt.deciding import EMPTY, Answer, decide, seen_by
from hunt.rounded import breach
from oracle.pairs import Pair
from oracle.queries import Query
from oracle.search import is_witness

STAGES: tuple[str, ...] = tuple(Stage)


@dataclass(frozen=True)
class Judgement:
    """What is wrong (None: nothing), and of what the case was an example."""

    complaint: str | None
    traits: list[str]


def judge(case: Case) -> Judgement:
    """Decide a case and hold the answer against the truth."""
    try:
        asked = list(_ask(case))
    except Exception as error:  # a crash is a finding like any other
        if case.mode.arithmetic == "float32" and any(words in str(error) for words in _BEYOND_FLOAT32):
            return Judgement(None, ["float32 refused"])
        return Judgement(f"{type(error).__name__}: {error}", ["raised"])
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what pyo3 makes of a panic is no Exception
            raise
        return Judgement(f"panic: {error}", ["raised"])
    complaints = (_complaint(*one) for one in asked)
    more = [trait for *_, answer in asked[1:] for trait in answer.also]
    return Judgement(next(filter(None, complaints), None), [*_traits(*asked[0]), *more])


def _ask(case: Case) -> Iterable[Asked]:
    if case.mode.channel == "cached":
        return ask_again(case)
    seen = seen_by(case)
    return [(case, seen, _decide(case, seen))]


_decide = decide
_BEYOND_FLOAT32 = ("float32 might overflow", "beyond the range of float32")
"""How a pair or a region is refused that float32 cannot hold."""


def _complaint(case: Case, seen: Pair, answer: Answer) -> str | None:
    if answer.trouble:
        return answer.trouble
    if answer.verdict == "equivalent" and case.breaks is True:
        return "proved, but it breaks"
    if answer.verdict == "different":
        if case.breaks is False:
            return "refuted, but it holds"
        asked = Query(seen, case.oracle, case.claim, case.breaks, None, "shared", 1, True)
        if answer.witness is None or not is_witness(asked, answer.witness):
            return "the witness is none"
        if case.mode.channel == "refusing":
            return "different, though no witness was believed"
    if answer.vacuous and answer.verdict != "equivalent":
        return "called vacuous, but not proved"
    if answer.vacuous and _is_vacuous(case) is False:
        return "called vacuous, but its guard is met"
    if not 0.0 <= answer.certified <= 1.0:
        return f"{answer.certified} of the region is proved"
    if answer is EMPTY:
        return "called empty, but it is not" if case.oracle.pieces else None
    if answer.verdict == "equivalent" and (answer.certified < 1.0 or answer.open_boxes):
        return f"proved with {answer.certified} certified and {answer.open_boxes} boxes open"
    if answer.verdict == "unknown" and answer.reason is None:
        return "unknown without a reason"
    if case.mode.arithmetic == "float32" and answer.verdict == "equivalent" and (found := breach(case, seen)):
        return found
    if isinstance(case.claim, Epsilon) and answer.initial_bound is not None and case.claim.norm == "linf":
        greatest = case.oracle.greatest_distance("linf", case.claim.outputs)
        bound = answer.initial_bound
        if greatest is not None and np.isfinite(bound) and Fraction(bound) < greatest.value and _first_is_whole(answer):
            return f"the first bound is {bound}, but a difference of {float(greatest.value)} occurs"
    return None


def _is_vacuous(case: Case) -> bool | None:
    try:
        return case.oracle.is_vacuous(case.claim)
    except ArithmeticError:
        return None


def _first_is_whole(answer: Answer) -> bool:
    """Whether the first box was bounded at all; else there is no first bound."""
    return answer.boxes > 0 and not answer.stages["overflow"] and not answer.stages["outside"]


def _traits(case: Case, seen: Pair, answer: Answer) -> list[str]:
    mode, kind = case.mode, type(case.claim).__name__
    traits = [
        *mode.words(),
        kind,
        answer.verdict,
        f"{kind} {answer.verdict}",
        f"{mode.domain} {answer.verdict}",
        f"breaks {case.breaks}",
        *([f"because {answer.reason}"] if answer.reason else []),
        *(f"stage {name}" for name, count in answer.stages.items() if count),
        *(["splits"] if answer.splits else []),
        *(["vacuous"] if answer.vacuous else []),
        *([f"float32 {answer.verdict}"] if mode.arithmetic == "float32" else []),
        *answer.also,
        *(["constraints"] if seen.constraints else []),
        *(["lowest wins"] if seen.decide == "min" else []),
        *([f"norm {case.claim.norm}"] if isinstance(case.claim, Epsilon) else []),
    ]
    widths = [high - low for low, high in zip(seen.lower, seen.upper, strict=True)]
    if not all(widths):
        traits.append("fixed input" if any(widths) else "a point")
    if case.relaxed and answer.verdict == "equivalent":
        traits.append("exact softmax")
    contracts = mode.contract and mode.domain == "shared"
    if contracts and answer.splits and mode.phases and sum(map(bool, widths)) > 64:
        traits.append("split by phase")
    if contracts and answer.splits and answer.stages["contraction"]:
        traits.append("contracted after a split")
    return traits
