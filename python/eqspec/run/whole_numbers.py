"""Answers `find smallest W in 4 .. 18` where W is a value that a network is made with, such as a number of bits.

Each value gives another network, and nothing says that a claim which holds of one holds of the next: with one bit more
every weight is rounded anew, and what was a sum that wraps may come back. So a value is only said to be proved or
refuted where the claim at that very value was. The smallest value for which the claim holds is known once some value is
proved and every smaller one is refuted; until then the answer says which ones are open. For `largest`, the other way
round.

That widths tend to get better with more bits does guide the search, and nothing else: the easy end comes first, then
the middle of what lies open between a proved and a refuted value, and when they are neighbours what is left on the hard
side. An input that breaks the claim at one value is replayed at all others before anything is searched there, each an
exact evaluation of the network that is asked about.
"""

from __future__ import annotations

import math

from eqspec.run.value_search import PATIENCE, ValueSearch, time_spent
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

_FIRST_SHARE = 0.2
"""The share of the time for the easy end, which decides how the search goes on."""
_LEAST_SECONDS = 1.0
"""The fewest seconds that a value gets, as long as that much time is left."""


class WholeNumbers:
    """One search under way. Values are known by their place on the way from the hard end to the easy one."""

    def __init__(self, values: ValueSearch) -> None:
        self._values, search = values, values.search
        step = 1 if search.easy > search.hard else -1
        self._numbers = [search.hard + step * k for k in range(int(abs(search.easy - search.hard)) + 1)]
        self._proved: int | None = None
        self._refuted: dict[int, Witness] = {}
        self._undecided: dict[int, float] = {}

    def run(self) -> Result:
        """One value after the other, as long as there is time and a value that could change the answer."""
        values = self._values
        while not values.interrupted and values.time_left > 0 and (chosen := self._next()) is not None:
            self._try(*chosen)
        nearest = max((place for place in self._refuted if place < self._end), default=None)
        return values.result(
            None if self._proved is None else self._numbers[self._proved],
            None if nearest is None else self._numbers[nearest],
            None if nearest is None else self._refuted[nearest],
            values.why_open(out_of_time=bool(self._untried())) if self._open() else None,
        )

    def _next(self) -> tuple[int, float] | None:
        """Which value to try and for how long, if any."""
        left, untried = self._values.time_left, self._untried()
        if not untried:
            again = [place for place in reversed(self._open()) if left >= PATIENCE * self._undecided[place]]
            return (again[0], max(PATIENCE * self._undecided[again[0]], left / len(again))) if again else None
        if self._proved is None:
            first = not self._values.tried
            return untried[-1], max(self._share(left, len(untried)), _FIRST_SHARE * left if first else 0.0)
        nearest = max((place for place in self._refuted if place < self._proved), default=-1)
        between = [place for place in untried if place > nearest]
        if not between:
            return untried[-1], self._share(left, len(untried))
        steps = math.ceil(math.log2(len(between) + 1)) + len(untried) - len(between)
        return between[len(between) // 2], self._share(left, steps)

    def _share(self, left: float, steps: int) -> float:
        return max(left / (steps + 1), min(left, _LEAST_SECONDS))

    @property
    def _end(self) -> int:
        """The place behind the values that are better than the best one proved."""
        return len(self._numbers) if self._proved is None else self._proved

    def _open(self) -> list[int]:
        """The values that could change the answer: not refuted, and better than the best one proved."""
        return [place for place in range(self._end) if place not in self._refuted]

    def _untried(self) -> list[int]:
        return [place for place in self._open() if place not in self._undecided]

    def _try(self, place: int, seconds: float) -> None:
        result = self._values.run(self._numbers[place], seconds)
        match result.verdict:
            case Verdict.EQUIVALENT:
                self._proved = place  # what is tried is always better than the best one proved before
            case Verdict.DIFFERENT if result.witness is not None:
                self._refuted[place] = result.witness
                self._refute_others(result.witness)
            case _:
                self._undecided[place] = self._undecided.get(place, 0.0) + time_spent(result)

    def _refute_others(self, witness: Witness) -> None:
        """Every other open value at which the same input breaks the claim."""
        for place in reversed(self._open()):
            if self._values.time_left <= 0:
                return
            again = self._values.replayed(self._numbers[place], witness)
            if again is not None:
                self._refuted[place] = again
