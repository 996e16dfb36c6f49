"""Searches on a cluster, as an engine: a ledger here, legs there.

The thread that asks keeps what belongs to its search: it replays candidates, exactly; it is told progress and can be
stopped; and it keeps the state after answers, as a search on one machine does, so that any number of workers, or none,
can go on from there.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any

from eqspec.cluster.coordinator import Answered, Candidate, Coordinator, Over, Searching, Trail
from eqspec.cluster.leg import Shipped
from eqspec.errors import ResourceError
from eqspec.lazy_dataclass import dataclass
from eqspec.run import core
from eqspec.run.engine import Array, Confirm, Question, Tell
from eqspec.run.monitor import Progress
from eqspec.run.options import Options
from eqspec.run.result_cache import KEEP_EVERY
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

_BACK_OFF = 30.0
"""Keeping a state may cost a thirtieth of the time."""
_TELL = 0.1
_MOST_TASKS = 64
_LAST_EVENT = b"Z"


@dataclass(frozen=True)
class ClusterProgress:
    """What is known of a search, and how many workers there are."""

    certified: float
    boxes: int
    open_boxes: int
    seconds: float
    workers: int


class ClusterEngine:
    """Runs searches by a coordinator, from any number of threads."""

    def __init__(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator
        self._numbers = itertools.count(1)

    @property
    def at_once(self) -> int:
        """A few more tasks than there are workers, so that each has one; their threads here only wait."""
        return min(_MOST_TASKS, self.coordinator.workers + 2)

    def solve(
        self,
        question: Question,
        options: Options,
        *,
        confirm: Confirm,
        progress: Tell,
        state: bytes | None = None,
        keep: Callable[[bytes], None] | None = None,
        keep_every: float = KEEP_EVERY,  # noqa: ARG002 - a state is kept after answers, as often as that is cheap
        hints: bytes | None = None,
        keep_trail: Callable[[bytes], None] | None = None,
    ) -> core.Solution:
        """The solution, as `ThisMachine.solve` gives it; what is passed is called in the thread that asks.

        Boxes, and seconds from when there is a worker, are limited by `options`. `keep` is given a state after answers,
        as often as that takes a thirtieth of the time at most. ResourceError if the cluster is lost, or a share failed
        on every worker that was given it; SavedStateError if `state` is damaged or of another question.
        """
        chosen, number = options.chosen(question.task), next(self._numbers)
        # Of a search that goes on, nobody knows what was done before.
        trail = None if keep_trail is None or state is not None else Trail()
        search = _Search(
            self.coordinator, number, question, chosen, confirm, progress, state, keep, hints=hints, trail=trail
        )
        solution = search.run()
        proved = solution.verdict == Verdict.EQUIVALENT
        if proved and keep_trail is not None and trail is not None and trail.events is not None:
            keep_trail(bytes(trail.events) + _LAST_EVENT)
        return solution


class _Search:
    def __init__(
        self,
        coordinator: Coordinator,
        number: int,
        question: Question,
        chosen: dict[str, Any],
        confirm: Confirm,
        progress: Tell,
        state: bytes | None,
        keep: Callable[[bytes], None] | None,
        *,
        hints: bytes | None,
        trail: Trail | None,
    ) -> None:
        self._coordinator, self._confirm, self._tell, self._keep = coordinator, confirm, progress, keep
        task = question.task
        self._ledger = core.Ledger(
            question.pair,
            task.lower,
            task.upper,
            question.claim,
            core.Settings(**chosen),
            constraints=question.constraints,
            state=state,
            hints=hints,
        )
        self._seconds: float = chosen.get("timeout", inf)
        self._boxes: float = chosen.get("boxes") or inf
        self._searching = Searching(
            number,
            task.lower.size,
            self._ledger,
            Shipped.of(question, chosen),
            chosen.get("threads"),
            chosen.get("record"),
            trail=trail,
        )
        self._next_keep = 0.0

    def run(self) -> core.Solution:
        """Wait for what the coordinator tells, until the search is over. ResourceError as in `ClusterEngine.solve`."""
        boxes = self._boxes - self._ledger.progress().boxes
        self._coordinator.begin(self._searching, self._seconds, boxes)
        try:
            solution = self._listen()
        finally:
            self._coordinator.end(self._searching, None)
        if self._searching.record is not None:
            with self._searching.record.open("ab") as file:
                file.write(_LAST_EVENT)
        return solution

    def _listen(self) -> core.Solution:
        told, stopped = monotonic(), False
        while True:
            try:
                event = self._event()
                match event:
                    case Candidate():
                        if (found := self._replayed(event)) is not None:
                            return self._ledger.solution(witness=found)
                    case Answered():
                        self._keep_state(monotonic())
                    case Over():
                        return self._over(event, stopped=stopped)
                    case None:
                        pass
                if not stopped and monotonic() - told >= _TELL:
                    told = monotonic()
                    self._tell(self._progress())
            except KeyboardInterrupt:
                if stopped:  # a second time: wait for nothing
                    return self._over(Over("interrupted"), stopped=True)
                stopped = True
                self._coordinator.end(self._searching, "interrupted")

    def _event(self) -> Candidate | Answered | Over | None:
        try:
            return self._searching.events.get(timeout=_TELL)
        except queue.Empty:
            return None

    def _replayed(self, candidate: Candidate) -> tuple[Array, Witness, int] | None:
        """The witness that an input is, replayed here; what a worker says of it counts for nothing."""
        witness = self._confirm(candidate.input)
        if witness is not None:
            return candidate.input, witness, candidate.boxes
        if not candidate.beside:
            self._coordinator.refuse(self._searching, candidate.leg)
        return None

    def _over(self, over: Over, *, stopped: bool) -> core.Solution:
        self._keep_state(inf)
        if over.lost:
            cause = f"the cluster is out of reach: {over.message}"
            raise ResourceError(f"{cause}; what was proved is kept, if results are, and --resume goes on with it")
        if over.reason == "error":
            cause = f"a part of the search failed on every worker that was given it; the last time {over.message}"
            raise ResourceError(f"{cause}. What else was proved is kept, if results are; --resume goes on with it")
        return self._ledger.solution("interrupted" if stopped and over.reason is not None else over.reason)

    def _keep_state(self, now: float) -> None:
        """Keep the whole search, unless that would take more than a thirtieth of the time."""
        if self._keep is None or now < self._next_keep:
            return
        began = monotonic()
        if (state := self._ledger.state()) is not None:
            self._keep(state)
        ended = monotonic()
        self._next_keep = ended + _BACK_OFF * (ended - began)

    def _progress(self) -> Progress:
        known = self._ledger.progress()
        workers = self._coordinator.workers
        return ClusterProgress(known.certified, known.boxes, known.open_boxes, known.seconds, workers)
