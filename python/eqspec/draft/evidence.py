"""What a table says about what a network takes: how well it answers the labels, for every way to normalise.

For classes that is the share of rows in which the output that decides is the one of their class, with outputs and
classes matched one to one as most rows agree with; so no order of the classes is assumed. For a quantity it is the
share of its variance that the output explains. None of this proves anything; it decides what is taken without asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.first_row import DECIMAL
from eqspec.draft.assignment import best_matching, interval, unclear
from eqspec.draft.data import Data
from eqspec.draft.scalings import Scaling
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network
from eqspec.spec import numbers

ENOUGH = 0.9
"""The share of labels that the reference must answer correctly; with less the normalisation may be the wrong one."""
MOST_CLASSES = 200
MOST_ROWS = 5000
"""Rows at which the reference is evaluated, evenly spread."""
_SURELY = 3.0
"""How many standard errors a mean must lie away from zero to count as different from it."""

Floats = NDArray[np.float64]
Kind = Literal["classes", "sign", "quantity"]


@dataclass(frozen=True)
class Labels:
    """What the column beside the inputs holds, at the rows that have a label.

    For classes: `texts` of them, sorted, whole numbers by size, and the class of each row in `codes`. For a quantity:
    `values`. `places` are the rows of the table's values.
    """

    kind: Kind
    places: NDArray[np.int64]
    texts: tuple[str, ...] = ()
    codes: NDArray[np.int64] | None = None
    values: Floats | None = None

    @property
    def numbered(self) -> bool:
        """Whether the classes are called 0, 1, 2, ... as outputs are counted."""
        return self.kind == "classes" and all(text.isdecimal() for text in self.texts)


@dataclass(frozen=True)
class Evidence:
    """How well the labels are answered with one normalisation: a share, its interval, and what tells two of them apart.

    For classes `counts` (classes, outputs) says which output decides how often, and `matching` gives each class its
    output. For a quantity `losses` are the squared errors of the rows; where the output was fitted to it first, as that
    of a network trained on standardised targets, `line` are the factor and the constant. `probabilities` says of a
    single output whether all of its values lie between 0 and 1.
    """

    scaling: Scaling
    share: float
    low: float
    high: float
    rows: int
    counts: NDArray[np.int64] | None = None
    matching: tuple[int, ...] = ()
    losses: Floats | None = None
    line: tuple[float, float] | None = None
    probabilities: bool = False

    def surpasses(self, other: Evidence) -> bool:
        """Whether this way answers better by more than chance."""
        if self.losses is None or other.losses is None:
            return self.low > other.high
        gain = other.losses - self.losses
        if not np.isfinite(gain).all():
            return bool(np.isfinite(self.losses).all())
        return len(gain) >= 10 and float(gain.mean()) > _SURELY * float(gain.std()) / len(gain) ** 0.5

    def in_doubt(self) -> list[int]:
        """The classes whose output the rows do not tell."""
        return [] if self.counts is None else unclear(self.counts, list(self.matching))


def labels_of(data: Data, outputs: int) -> Labels | None:
    """What the labels of a table are for networks with so many outputs; None if they say nothing of them."""
    if data.labels is None:
        return None
    places = np.array([i for i, text in enumerate(data.labels) if text], np.int64)
    texts = [data.labels[i] for i in places]
    distinct = sorted(set(texts))
    if len(distinct) < 2:
        return None
    if (whole := _whole(distinct)) is not None:
        texts = [whole[text] for text in texts]
        distinct = sorted(set(texts), key=int)
        if len(distinct) < 2:
            return None
    numeric = all(map(_is_number, distinct))
    if len(distinct) <= min(outputs, MOST_CLASSES) and (not numeric or whole is not None):
        return _classes("classes", places, texts, distinct)
    if outputs == 1 and len(distinct) == 2:
        return _classes("sign", places, texts, distinct)
    if outputs == 1 and numeric:
        return Labels("quantity", places, values=np.array([float(text) for text in texts]))
    return None


def may_decide(data: Data | None, outputs: int) -> bool:
    """Whether nothing that is known of the rows speaks against one output that decides between two classes."""
    if outputs != 1 or data is None or data.labels is None:
        return outputs == 1
    found = labels_of(data, 2)
    return found is not None and found.kind == "classes"


def are_quantities(data: Data, outputs: int) -> bool:
    """Whether the column beside the inputs holds numbers that are no classes of so many outputs."""
    if data.labels is None or labels_of(data, outputs) is not None:
        return False
    return all(map(_is_number, filter(None, data.labels))) and any(data.labels)


def weigh(
    network: Network, data: Data, labels: Labels, ways: Sequence[Scaling], *, lowest: bool, fitted: bool = False
) -> list[Evidence]:
    """How well the network answers under each of the ways, the best first; quantities `fitted` in a unit of its own."""
    chosen = np.linspace(0, len(labels.places) - 1, min(len(labels.places), MOST_ROWS)).astype(np.int64)
    raw = data.values[labels.places[chosen]]
    found = []
    for way in ways:
        with np.errstate(all="ignore"):
            scores = network.evaluate(way.normalised(raw))
        if labels.kind == "quantity":
            assert labels.values is not None
            found.append(_of_quantity(way, scores[:, 0], labels.values[chosen], fitted=fitted))
        else:
            assert labels.codes is not None
            counts = np.zeros((len(labels.texts), max(scores.shape[1], 2)), np.int64)
            evidence = _of_classes(way, _decisions(scores, labels.kind, lowest), labels.codes[chosen], counts)
            found.append(replace(evidence, probabilities=_are_probabilities(scores)))
    return sorted(found, key=lambda evidence: -evidence.share)


def decided(weighed: Sequence[Evidence], labels: Labels) -> Evidence | None:
    """The way that is better than all others by more than chance, and good enough; None if there is none."""
    best = weighed[0]
    if not decisive(best, labels):
        return None
    return best if all(best.surpasses(other) for other in weighed[1:]) else None


def decisive(evidence: Evidence, labels: Labels) -> bool:
    """Whether the labels are answered well, and better than by always saying the largest class."""
    return evidence.share >= ENOUGH and evidence.low > _share_of_the_largest(labels)


def _share_of_the_largest(labels: Labels) -> float:
    """What a network answers that always decides for the largest class."""
    return 0.0 if labels.codes is None else float(np.bincount(labels.codes).max() / len(labels.codes))


def _classes(kind: Kind, places: NDArray[np.int64], texts: Sequence[str], distinct: Sequence[str]) -> Labels:
    code = {text: i for i, text in enumerate(distinct)}
    return Labels(kind, places, tuple(distinct), np.array([code[text] for text in texts], np.int64))


def _decisions(scores: Floats, kind: Kind, lowest: bool) -> NDArray[np.int64]:
    """The output that decides in each row; -1 where scores tie or are not finite.

    A single output decides by its sign, or, if it is a probability, by whether it is above a half.
    """
    if kind == "sign":
        scores = np.hstack([np.full_like(scores, 0.5 if _are_probabilities(scores) else 0.0), scores])
    if lowest:
        scores = -scores
    best = scores.max(axis=1, keepdims=True)
    alone = np.isfinite(scores).all(axis=1) & ((scores == best).sum(axis=1) == 1)
    return np.where(alone, scores.argmax(axis=1), -1)


def _are_probabilities(scores: Floats) -> bool:
    return bool(np.all((scores >= 0) & (scores <= 1)))


def _of_classes(
    way: Scaling, decisions: NDArray[np.int64], codes: NDArray[np.int64], counts: NDArray[np.int64]
) -> Evidence:
    answered = decisions >= 0
    np.add.at(counts, (codes[answered], decisions[answered]), 1)
    matching = best_matching(counts)
    agreed = int(counts[np.arange(len(matching)), matching].sum())
    low, high = interval(agreed, len(codes))
    # A row without a decision counts against the class it belongs to: it goes to an output of its own.
    unanswered = np.bincount(codes[~answered], minlength=len(counts))
    counts = np.hstack([counts, unanswered[:, None]])
    return Evidence(way, agreed / len(codes), low, high, len(codes), counts, tuple(matching))


def _of_quantity(way: Scaling, answers: Floats, values: Floats, *, fitted: bool) -> Evidence:
    line = None
    with np.errstate(all="ignore"):
        if fitted:
            line = _line(answers, values)
            answers = line[0] * answers + line[1]
        losses = np.square(answers - values)
        variance = float(np.var(values))
        share = 1 - float(losses.mean()) / variance if variance > 0 else 0.0
    share = max(0.0, share) if np.isfinite(share) else 0.0
    return Evidence(way, share, share, share, len(values), losses=losses, line=line)


def _line(answers: Floats, values: Floats) -> tuple[float, float]:
    """Factor and constant by least squares. A factor below zero is none: targets are not scaled by one."""
    spread = float(np.var(answers))
    slope = float(np.mean((answers - answers.mean()) * (values - values.mean()))) / spread if spread > 0 else 0.0
    if not (np.isfinite(slope) and slope > 0):
        return 0.0, float(values.mean())
    return slope, float(values.mean() - slope * answers.mean())


def _whole(texts: Sequence[str]) -> dict[str, str] | None:
    """Labels such as 0, 1.0 or 2e0 as whole numbers; None if one is something else."""
    found = {}
    for text in texts:
        if not _is_number(text):
            return None
        value = _exact(text)
        if value.denominator != 1 or abs(value) >= 10**9:
            return None
        found[text] = str(value.numerator)
    return found


def _is_number(text: str) -> bool:
    try:
        return DECIMAL.fullmatch(text) is not None and abs(_exact(text)) < 10**300
    except numbers.NumberError:
        return False


def _exact(text: str) -> Fraction:
    return numbers.literal(text)
