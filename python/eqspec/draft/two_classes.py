"""A single output that decides between two classes: by its sign, or, if it is a probability, at 1/2.

The language has no sentence about the decision of one output, but a distance says as much: if |g - f| <= eps
everywhere, then g lies on the same side of the border as f wherever f is more than eps away from it. So the distance is
chosen from the confidences at which decisions are claimed of other classifiers: a logit z with |z| = ln(d / (1 - d))
stands for a confidence of d, and a probability p for max(p, 1 - p).
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor, log

import numpy as np
from numpy.typing import NDArray

from eqspec.draft.evidence import Evidence, Labels, decisive
from eqspec.draft.observed_pair import THRESHOLDS
from eqspec.lazy_dataclass import dataclass

Floats = NDArray[np.float64]
_ROOM = 2.0
"""The claimed distance is this multiple of the largest one seen, where that is possible."""
_USUAL = 0.9
"""The confidence whose distance is claimed where outputs were seen to differ by more than any."""


@dataclass(frozen=True)
class TwoClasses:
    """The class that is answered below the border and the one above; the border is 0, or a half for probabilities."""

    below: str
    above: str
    probability: bool

    @property
    def words(self) -> str:
        """What the output is, in a sentence."""
        kind = "a probability" if self.probability else "a score"
        return (
            f"The one output is {kind} that decides between two classes: '{self.above}' above {self.border}, "
            f"'{self.below}' below."
        )

    @property
    def border(self) -> str:
        """The output at which the decision changes."""
        return "1/2" if self.probability else "0"

    def distance(self, confidence: float) -> Fraction:
        """How far an output of this confidence is from the border, rounded down to three decimals."""
        exact = confidence - 0.5 if self.probability else log(confidence / (1 - confidence))
        return Fraction(floor(exact * 1000 + 1e-9 * self.probability), 1000)

    def confidence(self, distance: float) -> float:
        """The confidence of an output so far from the border."""
        return min(1.0, 0.5 + distance) if self.probability else 1 / (1 + exp(-distance))

    def claimed(self, seen: float) -> Fraction:
        """The distance to claim where outputs were seen to differ by `seen`.

        If no confidence is that high, it is the usual one: it does not hold where `seen` was, but may on a smaller
        region.
        """
        distances = [self.distance(confidence) for confidence in THRESHOLDS]
        for wanted in (_ROOM * seen, seen):
            found = next((d for d in distances if d >= wanted), None)
            if found is not None:
                return found
        return self.distance(_USUAL)

    def logits(self, scores: Floats) -> Floats:
        """The outputs (N, 1) as two scores (N, 2) that decide alike, with the same confidence."""
        if self.probability:
            with np.errstate(divide="ignore"):
                inside = np.clip(scores, 0.0, 1.0)
                scores = np.log(inside) - np.log1p(-inside)
        return np.hstack([np.zeros_like(scores), np.clip(scores, -700, 700)])


def two_classes(labels: Labels | None, evidence: Evidence | None, *, lowest: bool) -> TwoClasses | None:
    """What the labels show a single output to be; None where they are no two classes, or it does not answer them."""
    if labels is None or labels.kind != "sign" or evidence is None or not decisive(evidence, labels):
        return None
    higher = evidence.matching.index(0 if lowest else 1)
    return TwoClasses(labels.texts[1 - higher], labels.texts[higher], evidence.probabilities)
