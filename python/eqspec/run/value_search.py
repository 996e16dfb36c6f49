"""What both ways to answer a `find` have in common: values are tried one after the other, within one limit of time.

Each try is a task of its own, run with a share of the time that is left. An input that breaks the claim at one value is
replayed at others, which costs two exact evaluations where a search may cost minutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
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

PATIENCE = 2.0
"""An undecided value is tried again only with at least this multiple of the time it had before."""


class ValueSearch:
    """A search under way: what was tried and what came of it."""

    def __init__(
        self,
        runner: Runner,
        search: Search,
        monitor: Monitor | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        options: Options | None = None,
    ) -> None:
        self._runner, self._stop = runner, stop
        self._monitor, self._options = monitor or Monitor(), options or runner.options
        self.search = search
        limit = search.budget.timeout if self._options.timeout is None else self._options.timeout
        self._began = perf_counter()
        self._deadline = self._began + (DEFAULT_SECONDS if limit is None else limit)
        self._results: list[Result] = []
        self._probes: list[Probe] = []
        self._vacuous: set[Fraction] = set()
        self.interrupted = False

    @property
    def time_left(self) -> float:
        """Seconds; below 0 once the limit is passed."""
        return self._deadline - perf_counter()

    @property
    def tried(self) -> Sequence[Result]:
        """The results so far, in their order."""
        return self._results

    def run(self, value: Fraction, seconds: float) -> Result:
        """The result of the task at a value, within `seconds` and the time that is left."""
        task = self.search.task_at(value)
        self._monitor.started(task)
        # Witnesses are not simplified: the more clearly an input breaks the claim, the more values it refutes.
        timeout = max(0.0, min(seconds, self.time_left))
        options = replace(self._options, timeout=timeout, simplify=False, weaken=False)
        result = self._runner.run(task, self._monitor, stop=self._stop, options=options)
        self._monitor.tried(task, result)
        self._results.append(result)
        if result.vacuous:
            self._vacuous.add(value)
        reason = result.reason.value if result.reason else None
        self._probes.append(Probe(value, result.verdict.value, reason, result.seconds, result.boxes))
        self.interrupted = result.verdict is Verdict.UNKNOWN and result.reason is Reason.INTERRUPTED
        return result

    def replayed(self, value: Fraction, witness: Witness) -> Witness | None:
        """The same input at another value, if it breaks the claim there; that value counts as tried then."""
        again = self._runner.replay(self.search.task_at(value)).replay(witness.normalised)
        if again is not None:
            self._probes.append(Probe(value, Verdict.DIFFERENT.value, None, 0.0, 0))
        return again

    def why_open(self, *, out_of_time: bool) -> Reason:
        """The reason why there is no answer: the time ran out, or whatever kept single values undecided."""
        if self.interrupted:
            return Reason.INTERRUPTED
        if out_of_time:
            return Reason.TIMEOUT
        reasons = [r.reason for r in self._results if r.reason is not None and r.reason is not Reason.TIMEOUT]
        return reasons[-1] if reasons else Reason.TIMEOUT

    def result(
        self, proved: Fraction | None, refuted: Fraction | None, witness: Witness | None, reason: Reason | None
    ) -> Result:
        """The answer. With a `reason` the question has none yet, whatever the bracket says so far."""
        search = self.search
        if refuted is not None and witness is not None:
            task = search.task_at(refuted)
            witness = improve(task, self._runner.replay(task), witness, perf_counter() - self._began)
        gap: Gap = "closed" if reason is None else "budget"
        bracket = Bracket(
            variable=search.variable,
            direction=search.direction,
            low=search.low,
            high=search.high,
            width=search.width,
            proved=proved,
            refuted=refuted,
            gap=gap,
            probes=tuple(self._probes),
            witness=witness,
            whole=search.whole,
        )
        verdict = Verdict.EQUIVALENT if proved is not None else Verdict.DIFFERENT
        verdict = Verdict.UNKNOWN if reason is not None else verdict
        seconds = perf_counter() - self._began
        made = search_result(search, bracket, verdict, reason, self._results, seconds, self._options)
        return replace(made, vacuous=verdict is Verdict.EQUIVALENT and proved in self._vacuous)


def time_spent(result: Result) -> float:
    """How long an undecided value took; infinite where more time would not help."""
    return result.seconds if result.reason is Reason.TIMEOUT else math.inf
