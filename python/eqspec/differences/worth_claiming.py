"""Which claims nothing that was seen speaks against: the first distance and the first confidence worth trying to prove.

A distance below the largest one that was found does not hold, and one just above it takes long to prove, as bounds are
never sharp; so twice the largest is suggested, rounded up to one digit. Where one of the networks rounds, no bound
proves less than its noise floor (`networks.noise_floor`) unless the search tells levels apart, so it is at least that.
No distance is suggested that any two networks with outputs of the same range keep, as 1 between probabilities.
A confidence is the first usual one at which neither the points nor a short attack find another decision. Where the
reference has no such confidence at any point, as where its scores lie close together, a margin of its scores is.

What is suggested is tried for a moment, and if it is not proved, so is what is easier. What is then said to be proved
is, by the search that `eqspec verify` runs, on all of the region; what was not proved is still suggested, and said so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, isfinite, log10
from time import perf_counter

import numpy as np

from eqspec.differences.outputs import Outputs
from eqspec.differences.places import Place
from eqspec.draft.observed_pair import THRESHOLDS
from eqspec.lazy_dataclass import dataclass
from eqspec.property import Confidence, Epsilon, Margin
from eqspec.replay.ascent import climb
from eqspec.replay.excess import Excess
from eqspec.run.options import Options
from eqspec.run.rounding import noise_floor
from eqspec.run.runner import Runner
from eqspec.tasks.score_meaning import says_nothing
from eqspec.tasks.verdict import Verdict

_SMALLEST = 1e-6
"""The least distance that is suggested: below it runtimes round."""
_SECONDS = 0.3
"""The time for the attack on all confidences."""
_EASIER = (2.5, 10)
"""Multiples of the first distance, or margin, that are tried after it."""
_TRIAL, _TRIALS = 0.25, 0.5
"""Seconds for proving one claim, and for all claims of a kind."""


@dataclass(frozen=True)
class Claims:
    """What is worth claiming: `eps`, and for classes the `confidence` of the reference, or else its `margin`; None
    where nothing is.

    `floor` is the noise floor of the one network that rounds, None where none or both do; `by_floor` says that it is
    what the distance follows from. `eps_proved`, `confidence_proved` and `margin_proved` say whether a short search
    proved it on all of the region, `first_eps` and so on what it could not prove before that, or None.
    """

    eps: float | None
    confidence: float | None
    margin: float | None
    floor: float | None
    by_floor: bool
    eps_proved: bool
    confidence_proved: bool
    margin_proved: bool
    first_eps: float | None
    first_confidence: float | None
    first_margin: float | None

    @property
    def any_proved(self) -> bool:
        """Whether one of them was proved."""
        return self.eps_proved or self.confidence_proved or self.margin_proved


@dataclass(frozen=True)
class _Chosen:
    """The one of several claims to be made, whether it is proved, and the first one if that is another."""

    value: float | None
    proved: bool
    first: float | None


def worth_claiming(place: Place, outputs: Outputs, *, decides: bool) -> Claims:
    """The claims; with `decides` the outputs are scores of classes."""
    most = outputs.worst.difference
    least = noise_floor(replace(place.task, property=Epsilon(Fraction(0))))
    seen = max(_SMALLEST, _rounded_up(2 * most)) if isfinite(most) else None
    of_rounding = 0.0 if least is None else _rounded_up(least)
    several = decides and outputs.apart.shape[1] > 1
    eps = confidence = margin = _Chosen(None, False, None)
    if seen is not None:
        first = max(seen, of_rounding)
        eps = _chosen(place, Epsilon, _that_say_something(place, first))
        if several and (start := _confidence(place, outputs)) is not None:
            surer = [t for t in THRESHOLDS if t >= start and outputs.seen.share_above(t)]
            confidence = _chosen(place, Confidence, surer)
        if several and confidence.value is None and (least_margin := outputs.seen.least_margin()) is not None:
            wider = [least_margin, *(_rounded_up(factor * least_margin) for factor in _EASIER)]
            margin = _chosen(place, Margin, [value for value in wider if outputs.seen.share_leading(value)])
    return Claims(
        eps.value,
        confidence.value,
        margin.value,
        least,
        seen is not None and of_rounding > seen,
        eps.proved,
        confidence.proved,
        margin.proved,
        eps.first,
        confidence.first,
        margin.first,
    )


def _that_say_something(place: Place, first: float) -> list[float]:
    """The first distance and those that are easier to prove, as far as they say something of the two networks."""
    compared = [place.task.reference, place.task.candidate]
    distances = [first, *(_rounded_up(factor * first) for factor in _EASIER)]
    return [eps for eps in distances if not says_nothing(Epsilon(Fraction(str(eps))), compared)]


def _chosen(place: Place, claim: type[Epsilon | Confidence | Margin], values: Sequence[float]) -> _Chosen:
    """The first of the values that is proved in the time there is; else the first that is not refuted."""
    ends, open_ones, refuted = perf_counter() + _TRIALS, list[float](), set[float]()
    for value in values:
        seconds = min(_TRIAL, ends - perf_counter())
        if seconds <= 0.0:
            break
        task = replace(place.task, property=claim(Fraction(str(value))))
        found = Runner(Options(timeout=seconds, simplify=False, weaken=False)).run(task)
        if found.verdict is Verdict.EQUIVALENT and not found.vacuous:
            return _Chosen(value, True, next(iter(open_ones), None))
        if found.verdict is Verdict.DIFFERENT:
            refuted.add(value)
        else:
            open_ones.append(value)
    return _Chosen(next((value for value in values if value not in refuted), None), False, None)


def _confidence(place: Place, outputs: Outputs) -> float | None:
    """The first one at which nothing is found; None if there is none that the reference has at any point."""
    ends = perf_counter() + _SECONDS
    for threshold in THRESHOLDS:
        if threshold <= outputs.seen.surest_difference:
            continue
        if not outputs.seen.share_above(threshold):
            return None
        task = replace(place.task, property=Confidence(Fraction(str(threshold))))
        excess = Excess(task)
        start = place.points[int(np.argmax(excess.at(place.points)))]
        if not climb(task, excess, start, lambda: perf_counter() > ends):
            return threshold
    return None


def _rounded_up(number: float) -> float:
    """The number rounded up to one digit."""
    if number <= 0.0:
        return 0.0
    digits = floor(log10(number))
    return float(f"{ceil(number / 10.0**digits)}e{digits}")
