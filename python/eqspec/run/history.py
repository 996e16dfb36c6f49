"""How a search went: the proved share over time, in few points however long it took."""

from __future__ import annotations

import math

from eqspec.run.monitor import Progress
from eqspec.tasks.search_statistics import Moment

_MOST = 100
"""The largest number of points that are kept. When there are more, every second point is removed."""


class Recorder:
    """Keeps moments evenly spread over time, at most a hundred and the last.

    A search tries two ways of halving on some boxes each, both from the whole region on, and goes on with the better
    one. While it tries the second, what the first has proved stays proved, so the share does not fall.
    """

    def __init__(self) -> None:
        self._moments: list[Moment] = []
        self._stride, self._skipped = 1, 0
        self._last = self._proved = 0.0

    def note(self, state: Progress) -> None:
        """Take a report of the search. Once there are many reports, most of them are passed over."""
        if state.seconds < self._last:
            # The clock began again: the claim is decided, and the core now looks for an input that meets its condition.
            self._last = math.inf
            return
        self._last, self._proved = state.seconds, max(self._proved, state.certified)
        self._skipped += 1
        if self._skipped < self._stride:
            return
        self._skipped = 0
        self._moments.append(Moment(state.seconds, self._proved, state.boxes, state.open_boxes))
        if len(self._moments) > _MOST:
            del self._moments[::2]
            self._stride *= 2

    def until(self, end: Moment) -> tuple[Moment, ...]:
        """Everything from the beginning, when nothing was known, to the end."""
        kept = [moment for moment in self._moments if moment.seconds < end.seconds]
        return (Moment(0.0, 0.0, 0, 1), *kept, end)
