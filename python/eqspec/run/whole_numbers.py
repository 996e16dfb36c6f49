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
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from eqspec.replay.improving import improve
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.run.search_result import DEFAULT_SECONDS, search_result
from eqspec.tasks.bracket import Bracket, Gap, Probe
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

_PATIENCE = 2.0
"""An undecided value is tried again only with at least this multiple of the time it had before."""
_FIRST_SHARE = 0.2
"""The share of the time for the easy end, which decides how the search goes on."""
_LEAST_SECONDS = 1.0
"""A value gets at least so much, if there is as much left."""


def try_whole_numbers(
    runner: Runner,
    search: Search,
    monitor: Monitor | None = None,
    *,
    stop: Callable[[], bool] | None = None,
    options: Options | None = None,
) -> tuple[Result, bool]:
    """The answer as a result with `find`, and whether it was interrupted. The budget is for the whole search."""
    return _WholeNumbers(runner, search, monitor or Monitor(), stop, options or runner.options).run()


class _WholeNumbers:
    """One search under way. Values are known by their place on the way from the hard end to the easy one."""

    def __init__(
        self, runner: Runner, search: Search, monitor: Monitor, stop: Callable[[], bool] | None, options: Options
    ) -> None:
        self._runner, self._search, self._monitor, self._stop, self._options = runner, search, monitor, stop, options
        limit = search.budget.timeout if options.timeout is None else options.timeout
        self._began = perf_counter()
        self._deadline = self._began + (DEFAULT_SECONDS if limit is None else limit)
        step = 1 if search.easy > search.hard else -1
        self._values = [search.hard + step * k for k in range(int(abs(search.easy - search.hard)) + 1)]
        self._proved: int | None = None
        self._refuted: dict[int, Witness] = {}
        self._undecided: dict[int, float] = {}
        self._results: list[Result] = []
        self._probes: list[Probe] = []
        self._interrupted = False

    def run(self) -> tuple[Result, bool]:
        """One value after the other, as long as there is time and a value that could change the answer."""
        while not self._interrupted and self._time_left() > 0 and (chosen := self._next()) is not None:
            self._try(*chosen)
        return self._result(), self._interrupted

    def _next(self) -> tuple[int, float] | None:
        """Which value to try and for how long, if any."""
        left, untried = self._time_left(), self._untried()
        if not untried:
            again = [place for place in reversed(self._open()) if left >= _PATIENCE * self._undecided[place]]
            return (again[0], max(_PATIENCE * self._undecided[again[0]], left / len(again))) if again else None
        if self._proved is None:
            first = not self._results
            return untried[-1], max(self._share(left, len(untried)), _FIRST_SHARE * left if first else 0.0)
        nearest = max((place for place in self._refuted if place < self._proved), default=-1)
        between = [place for place in untried if place > nearest]
        if not between:
            return untried[-1], self._share(left, len(untried))
        steps = math.ceil(math.log2(len(between) + 1)) + len(untried) - len(between)
        return between[len(between) // 2], self._share(left, steps)

    def _share(self, left: float, steps: int) -> float:
        return max(left / (steps + 1), min(left, _LEAST_SECONDS))

    def _open(self) -> list[int]:
        """The values that could change the answer: not refuted, and better than the best one proved."""
        end = len(self._values) if self._proved is None else self._proved
        return [place for place in range(end) if place not in self._refuted]

    def _untried(self) -> list[int]:
        return [place for place in self._open() if place not in self._undecided]

    def _try(self, place: int, seconds: float) -> None:
        task = self._search.task_at(self._values[place])
        self._monitor.started(task)
        options = replace(
            self._options, timeout=max(0.0, min(seconds, self._time_left())), simplify=False, weaken=False
        )  # the more clearly an input breaks the claim, the more values it refutes
        result = self._runner.run(task, self._monitor, stop=self._stop, options=options)
        self._monitor.tried(task, result)
        self._results.append(result)
        reason = result.reason.value if result.reason else None
        self._probes.append(Probe(self._values[place], result.verdict.value, reason, result.seconds, result.boxes))
        match result.verdict:
            case Verdict.EQUIVALENT:
                self._proved = place  # what is tried is always better than the best one proved before
            case Verdict.DIFFERENT if result.witness is not None:
                self._refuted[place] = result.witness
                self._refute_others(result.witness)
            case _:
                spent = result.seconds if result.reason is Reason.TIMEOUT else math.inf  # more time would not help
                self._undecided[place] = self._undecided.get(place, 0.0) + spent
                self._interrupted = result.reason is Reason.INTERRUPTED

    def _refute_others(self, witness: Witness) -> None:
        """Every other open value at which the same input breaks the claim."""
        for place in reversed(self._open()):
            if self._time_left() <= 0:
                return
            again = self._runner.replay(self._search.task_at(self._values[place])).replay(witness.normalised)
            if again is not None:
                self._refuted[place] = again
                self._probes.append(Probe(self._values[place], Verdict.DIFFERENT.value, None, 0.0, 0))

    def _time_left(self) -> float:
        return self._deadline - perf_counter()

    def _why_open(self) -> Reason:
        """Why some value is not decided: the time, or what kept it from being decided."""
        if self._interrupted:
            return Reason.INTERRUPTED
        if self._untried():
            return Reason.TIMEOUT
        reasons = [r.reason for r in self._results if r.reason is not None and r.reason is not Reason.TIMEOUT]
        return reasons[-1] if reasons else Reason.TIMEOUT

    def _result(self) -> Result:
        search = self._search
        gap: Gap = "budget" if self._open() else "closed"
        verdict, reason = Verdict.EQUIVALENT, None
        if gap == "budget":  # a better value may still hold, whatever the bracket says so far
            verdict, reason = Verdict.UNKNOWN, self._why_open()
        elif self._proved is None:
            verdict = Verdict.DIFFERENT
        end = len(self._values) if self._proved is None else self._proved
        nearest = max((place for place in self._refuted if place < end), default=None)
        refuted, witness = None, None
        if nearest is not None:
            refuted = self._values[nearest]
            task = search.task_at(refuted)
            seconds = perf_counter() - self._began
            witness = improve(task, self._runner.replay(task), self._refuted[nearest], seconds)
        bracket = Bracket(
            variable=search.variable,
            direction=search.direction,
            low=search.low,
            high=search.high,
            width=None,
            proved=None if self._proved is None else self._values[self._proved],
            refuted=refuted,
            gap=gap,
            probes=tuple(self._probes),
            witness=witness,
            whole=True,
        )
        seconds = perf_counter() - self._began
        return search_result(search, bracket, verdict, reason, self._results, seconds, self._options)
