"""Which claims nothing that was seen speaks against: the first distance and the first confidence worth trying to prove.

A distance below the largest one that was found does not hold, and one just above it takes long to prove, as bounds are
never sharp; so twice the largest is suggested, rounded up to one digit. Where one of the networks rounds, no bound
proves less than its noise floor (`networks.noise_floor`) unless the search tells levels apart, so it is at least that.
A confidence is the first usual one at which neither the points nor a short attack find another decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, isfinite, log10
from time import perf_counter

import numpy as np

from eqspec.differences.outputs import Outputs
from eqspec.differences.places import Place
from eqspec.draft.observed_pair import THRESHOLDS
from eqspec.property import Confidence, Epsilon
from eqspec.replay.ascent import climb
from eqspec.replay.excess import Excess
from eqspec.run.rounding import noise_floor

_SMALLEST = 1e-6
"""The least distance that is suggested: below it runtimes round."""
_SECONDS = 0.3
"""For the attack on all confidences."""


@dataclass(frozen=True)
class Claims:
    """What is worth claiming: `eps`, and for classes the `confidence` of the reference; None where nothing is.

    `floor` is the noise floor of the one network that rounds, None where none or both do; `by_floor` says that it is
    what the distance follows from.
    """

    eps: float | None
    confidence: float | None
    floor: float | None
    by_floor: bool


def worth_claiming(place: Place, outputs: Outputs, *, decides: bool) -> Claims:
    """The claims; with `decides` the outputs are scores of classes."""
    most = outputs.worst.difference
    least = noise_floor(replace(place.task, property=Epsilon(Fraction(0))))
    seen = max(_SMALLEST, _rounded_up(2 * most)) if isfinite(most) else None
    of_rounding = 0.0 if least is None else _rounded_up(least)
    several = decides and outputs.apart.shape[1] > 1
    return Claims(
        None if seen is None else max(seen, of_rounding),
        _confidence(place, outputs) if several and seen is not None else None,
        least,
        seen is not None and of_rounding > seen,
    )


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
    """To one digit."""
    if number <= 0.0:
        return 0.0
    digits = floor(log10(number))
    return float(f"{ceil(number / 10.0**digits)}e{digits}")
