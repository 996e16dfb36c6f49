"""Whether the candidate takes and answers the same as the reference, as far as the labels of a table tell.

A pair whose candidate takes other inputs, or has its outputs in another order or unit, can be compared and even be
proved to differ; what comes out says nothing of what was meant. So the candidate is held against the same labels.
"""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.draft.data import Data
from eqspec.draft.evidence import ENOUGH, Evidence, Labels, weigh
from eqspec.draft.named_pair import Pair
from eqspec.draft.scalings import Scaling
from eqspec.lazy_dataclass import dataclass

_SOME = 0.5
"""A share of the variance from which on an output is taken for the quantity of the table."""
_FACTOR = 1.5
"""Outputs whose units differ by more are not compared without saying so."""


@dataclass(frozen=True)
class Judged:
    """What is to be said of the candidate; `takes` is the way to normalise that it alone takes, if it takes another."""

    said: tuple[str, ...] = ()
    takes: Scaling | None = None


def judged(
    pair: Pair, data: Data, labels: Labels, ways: Sequence[Scaling], taken: Evidence, *, said: bool, lowest: bool
) -> Judged:
    """The candidate at the rows of the table. `taken` is what the reference takes, and both if that was `said`."""
    fitted = taken.line is not None
    (mine,) = weigh(pair.candidate, data, labels, [taken.scaling], lowest=lowest, fitted=fitted)
    name, other = pair.candidate_name, pair.reference_name
    seen = (*_order(pair, labels, taken, mine), *_kinds(pair, labels, taken, mine), *_units(pair, taken, mine))
    enough = ENOUGH * taken.share
    if mine.share >= enough or not taken.surpasses(mine):
        return Judged(seen)
    weighed = weigh(pair.candidate, data, labels, ways, lowest=lowest, fitted=fitted)
    best = weighed[0]
    if best.share < enough or not best.surpasses(mine):
        low = f"careful: {name} answers {mine.share:.1%} of the labels, {other} {taken.share:.1%}; taking what is"
        return Judged((f"{low} normalised otherwise would not help", *seen))
    found = (
        f"{name} answers {mine.share:.1%} of the labels taking what {other} takes, and {best.share:.1%} taking "
        f"{best.scaling.words}"
    )
    if said:
        return Judged((f"careful: {found}; it was said what both take, so both are given that",))
    if "raw" not in (best.scaling.option, taken.scaling.option):
        return Judged((f"careful: {found}; a spec has one normalisation, so export one of them with its own inside",))
    return Judged((f"{found}: that is what it is given", *_order(pair, labels, taken, best)), best.scaling)


def _order(pair: Pair, labels: Labels, reference: Evidence, candidate: Evidence) -> list[str]:
    """A warning where the outputs of the two surely answer different classes."""
    if labels.kind != "classes" or reference.in_doubt() or candidate.in_doubt():
        return []
    return [
        f"careful: rows of {text} are decided by output {r} of {pair.reference_name} and by output {c} of "
        f"{pair.candidate_name}: their outputs are in different orders, so the claim compares different classes"
        for text, r, c in zip(labels.texts, reference.matching, candidate.matching, strict=True)
        if r != c
    ][:1]


def _kinds(pair: Pair, labels: Labels, reference: Evidence, candidate: Evidence) -> list[str]:
    """A warning where one of two single outputs is a probability and the other one a score."""
    if labels.kind != "sign" or reference.probabilities == candidate.probabilities:
        return []
    names = pair.reference_name, pair.candidate_name
    first, second = names if reference.probabilities else names[::-1]
    return [
        f"careful: the output of {first} is a probability at all rows of the table, that of {second} a score, so a "
        "distance between them says nothing; export both with their Sigmoid, or both without"
    ]


def _units(pair: Pair, reference: Evidence, candidate: Evidence) -> list[str]:
    """A warning where the outputs of the two are the same quantity in different units."""
    if reference.line is None or candidate.line is None or candidate.share < _SOME:
        return []
    slopes = sorted((reference.line[0], candidate.line[0]))
    if slopes[0] > 0 and slopes[1] <= _FACTOR * slopes[0]:
        return []
    return [
        f"careful: the table's quantity is {reference.line[0]:.4g} times the output of {pair.reference_name}, and "
        f"{candidate.line[0]:.4g} times that of {pair.candidate_name}, beside constants: they answer in different units"
    ]
