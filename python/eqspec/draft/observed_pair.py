"""How a pair behaves where somebody looked: the numbers that a first spec starts from. Nothing here proves anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.task import Task

THRESHOLDS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
"""Confidences that are suggested."""
AsScores: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
_USUAL = 0.9
_ENOUGH = 0.1
"""The share of inputs that a guard should admit."""
_MOST_ROWS, _FEWEST_ROWS, _DRAWN = 5000, 24, 1000
"""The most rows of a table that are looked at, the fewest of any network, and points where there is no table."""
_MOST_PRODUCTS = 1 << 31
"""How many products the evaluations may take, a few seconds: large networks are looked at at fewer points."""


@dataclass(frozen=True)
class Observed:
    """At N points: the distance of the outputs, the confidence of the reference, its margin, by which its best score
    leads, and whether both decide the same.
    """

    distance: NDArray[np.float64]
    confidence: NDArray[np.float64]
    margin: NDArray[np.float64]
    agree: NDArray[np.bool_]

    @property
    def agreement(self) -> float:
        """The share of points where both decide the same."""
        return float(self.agree.mean())

    @property
    def surest_difference(self) -> float:
        """The highest confidence at which they decide differently; 0 if they never do."""
        return float(self.confidence[~self.agree].max(initial=0.0))

    def threshold(self) -> float:
        """A confidence above every difference seen: the usual one, or less where hardly any point is that sure."""
        free = [t for t in THRESHOLDS if t > self.surest_difference]
        wanted = next((t for t in free if t >= _USUAL), THRESHOLDS[-1])
        if self.share_above(wanted) >= _ENOUGH:
            return wanted
        return next((t for t in reversed(free) if t < wanted and self.share_above(t) >= _ENOUGH), wanted)

    def least_margin(self) -> float | None:
        """A margin of one digit above every difference seen that some points have; None where there is none.

        Where no difference was seen, one that nine of ten points have.
        """
        largest = float(self.margin[~self.agree].max(initial=0.0))
        wanted = largest if largest > 0.0 else float(np.quantile(self.margin, _ENOUGH))
        if not (np.isfinite(wanted) and wanted > 0.0):
            return None
        step = 10.0 ** np.floor(np.log10(wanted))
        margin = float(f"{(np.floor(wanted / step) + (largest > 0.0)) * step:.0e}")
        return margin if (self.margin >= margin).any() else None

    def share_above(self, threshold: float) -> float:
        """The share of points where the reference is at least so confident."""
        return float(np.mean(self.confidence >= threshold))

    def share_leading(self, margin: float) -> float:
        """The share of points where the best score of the reference leads by at least so much."""
        return float(np.mean(self.margin >= margin))

    def tolerance(self) -> float:
        """Twice the largest distance seen, rounded up to one digit; a millionth if there was none."""
        largest = 2 * float(self.distance.max())
        if largest == 0:
            return 1e-6
        step = 10.0 ** np.floor(np.log10(largest))
        return float(f"{np.ceil(largest / step) * step:.0e}")


def observe(task: Task, raw: NDArray[np.float64] | None, as_scores: AsScores | None = None) -> Observed:
    """Both networks at rows (N, I) in raw units, or, without any, at points drawn from the box of the task.

    `as_scores` makes scores of two classes of a single output that decides between them. InputError where a network has
    no finite value at one of these.
    """
    if raw is None:
        some = len(row_places(_DRAWN, task))
        drawn = np.random.default_rng(0).uniform(size=(some, len(task.lower)))
        points = task.lower + drawn * (task.upper - task.lower)
    else:
        centre, scale = (np.array([float(x) for x in numbers]) for numbers in (task.space.centre, task.space.scale))
        points = (raw[row_places(len(raw), task)] - centre) / scale
    seen = observed(task, np.ascontiguousarray(points), as_scores)
    if lost := int((~np.isfinite(seen.distance)).sum()):
        message = f"the networks have no finite output at {lost} of the {len(points)} inputs that were looked at"
        raise InputError(f"{message}; give a table of inputs at which they have (--data)")
    return seen


def row_places(rows: int, task: Task) -> NDArray[np.intp]:
    """Of so many rows those at which the networks of a task are looked at."""
    at_one = task.reference.products + task.candidate.products
    most = max(_FEWEST_ROWS, min(_MOST_ROWS, _MOST_PRODUCTS // max(1, at_one)))
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.intp)


def observed(task: Task, points: NDArray[np.float64], as_scores: AsScores | None = None) -> Observed:
    """Both networks at points (N, I) in network units."""
    reference, candidate = task.reference.evaluate(points), task.candidate.evaluate(points)
    distance = np.abs(candidate - reference).max(axis=1)
    if as_scores is not None:
        reference, candidate = as_scores(reference), as_scores(candidate)
    if task.space.decide == "min":
        reference, candidate = -reference, -candidate
    weights = np.exp(reference - reference.max(axis=1, keepdims=True))
    agree = np.argmax(reference, axis=1) == np.argmax(candidate, axis=1)
    best = np.partition(reference, -2, axis=1)[:, -2:] if reference.shape[1] > 1 else np.hstack([reference, reference])
    return Observed(distance, 1 / weights.sum(axis=1), best[:, 1] - best[:, 0], agree)
