"""The coordinator: a thread that does what the policy says, with the ledgers of the searches and the workers there are.

What it takes on trust is that a worker of its own build of eqspec has computed what it answers. Everything else it sees
to itself: an answer counts only if the ledger takes it, which recomputes what is proved from the boxes, and an input
only if the search's own thread has replayed it. A leg that is lost, late, refused or answered with an exception changes
nothing; its boxes are sent again, and after the third time the search is given up with what it has.
"""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Self

from eqspec.cluster.leg import Order, Report, Shipped
from eqspec.cluster.policy import Drop, Finish, Limits, Policy, Recall, Send
from eqspec.cluster.transport import GoneError, LostError, Transport
from eqspec.cluster.worker_builds import WorkerBuilds
from eqspec.errors import ResourceError, SavedStateError
from eqspec.lazy_dataclass import dataclass
from eqspec.run import core
from eqspec.run.engine import Array

_LOOK = 1.0
"""Seconds between two looks at who is there."""
_PATIENCE = 10.0
"""Seconds that the cluster may be out of reach before searches are given up."""
LONGEST_TRAIL = 24 << 20
"""Bytes beyond which a trail is given up, as by one machine (rust/src/search/record.rs)."""


@dataclass(frozen=True)
class Candidate:
    """An input (I,) that a worker calls a witness, or that breaks the claim beside the grid."""

    input: Array
    beside: bool
    leg: int
    boxes: int


@dataclass(frozen=True)
class Answered:
    """An answer was taken."""


@dataclass(frozen=True)
class Over:
    """A search is over: closed, or undecided for a reason; `lost` says that the cluster is out of reach."""

    reason: str | None
    message: str | None = None
    lost: bool = False


Event = Candidate | Answered | Over


@dataclass(eq=False)
class Trail:
    """What a search did, joined of what its legs did: of those whose answers count, each once."""

    events: bytearray | None = field(default_factory=bytearray)
    """None as soon as something is missing, or it is longer than is of use."""

    @property
    def wanted(self) -> bool:
        """Whether there is still something to be joined to."""
        return self.events is not None

    def join(self, part: bytes | None) -> None:
        """Join what one leg did; None: it is not known."""
        if self.events is not None and part is not None and len(self.events) + len(part) < LONGEST_TRAIL:
            self.events += part
        else:
            self.events = None


@dataclass(eq=False)
class Searching:
    """A search that is dealt out, as its own thread sees it."""

    number: int
    inputs: int
    """How many numbers a candidate has."""
    ledger: core.Ledger
    shipped: Shipped
    threads: int | None
    record: Path | None
    events: queue.SimpleQueue[Event] = field(default_factory=queue.SimpleQueue)
    questions: dict[str, Any] = field(default_factory=dict)
    """The question as it was shipped to each worker."""
    trouble: str | None = None
    trail: Trail | None = None
    """What the proof did, if that is wanted."""


@dataclass(frozen=True)
class _Sent:
    searching: Searching
    share: bytes
    """The name of the share."""
    worker: str
    name: str


class Coordinator:
    """A context manager, whose thread runs as long as it does. `tell` is given what a user should know."""

    def __init__(
        self, transport: Transport, tell: Callable[[str], None] | None = None, limits: Limits | None = None
    ) -> None:
        self._transport, self._tell = transport, tell or (lambda _: None)
        self._policy = Policy(limits)
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._builds = WorkerBuilds(transport, self._tell)
        self._searches: dict[int, Searching] = {}
        self._legs: dict[int, _Sent] = {}
        self._by_name: dict[str, int] = {}
        self._lost_shares: dict[int, bytes] = {}
        self._without_worker: dict[int, tuple[float, float]] = {}
        """Seconds and boxes of the searches that wait for the first worker, whose time does not run yet."""
        self._run_id = uuid.uuid4().hex[:8]
        self._number = 0
        self._looked = -_LOOK
        self._unreached: float | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eqspec coordinator", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join(timeout=10)

    @property
    def workers(self) -> int:
        """Workers that take legs."""
        return self._policy.workers

    def wait_for_workers(self, seconds: float) -> None:
        """Wait for the first worker that can be used.

        ResourceError if the cluster cannot be reached, or all of its workers are refused. If there is none, a word that
        they are waited for, since they may come later.
        """
        end = monotonic() + seconds
        while not self.workers:
            if self._unreached is not None:
                raise ResourceError("the cluster is out of reach; is its scheduler running?")
            if self._builds.none_usable:
                raise ResourceError("the cluster has no worker that can be used, see above")
            if monotonic() > end:
                self._tell("the cluster has no workers yet; searches, and their time, begin when the first one comes")
                return
            self._closing.wait(0.02)

    def begin(self, searching: Searching, seconds: float, boxes: float) -> None:
        """Deal a search out, for so many seconds from when there is a worker for it, and so many boxes."""
        self._inbox.put(partial(self._begin, searching, seconds, boxes))

    def end(self, searching: Searching, reason: str | None) -> None:
        """End a search: for a reason, when its legs have returned what they have; without one, at once."""
        self._inbox.put(partial(self._end, searching, reason))

    def refuse(self, searching: Searching, leg: int) -> None:
        """What a worker called a witness is none: count its leg as failed."""
        self._inbox.put(partial(self._failed, leg, "it called an input a witness that is none"))
        del searching

    def _begin(self, searching: Searching, seconds: float, boxes: float) -> None:
        self._searches[searching.number] = searching
        if self.workers:
            self._policy.begin(searching.number, searching.ledger.waiting, monotonic() + seconds, boxes)
        else:
            self._without_worker[searching.number] = (seconds, boxes)

    def _joined(self, worker: str) -> None:
        """A worker can be given legs; what waited for the first one begins now."""
        self._policy.joined(worker)
        waited, self._without_worker = self._without_worker, {}
        for number, (seconds, boxes) in waited.items():
            self._begin(self._searches[number], seconds, boxes)

    def _end(self, searching: Searching, reason: str | None) -> None:
        if searching.number not in self._searches:
            return
        begun = self._without_worker.pop(searching.number, None) is None
        if reason is not None and not begun:
            self._finish(searching.number, reason)
            return
        if reason is not None:
            self._policy.stop(searching.number, reason, monotonic())
            return
        searching.questions.clear()
        legs = self._policy.forget(searching.number)
        self._call_back(legs)
        del self._searches[searching.number]

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._turn()
            except LostError as problem:
                self._out_of_reach(str(problem))
            except Exception as problem:  # a defect of ours must not leave searches waiting for ever
                self._give_all_up(f"{type(problem).__name__}: {problem}", lost=False)

    def _turn(self) -> None:
        for name, came in self._transport.arrivals(0.02):
            self._arrived(name, came)
        while not self._inbox.empty():
            self._inbox.get()()
        if monotonic() - self._looked >= _LOOK:
            self._looked = monotonic()
            self._look()
            self._unreached = None
        for action in self._policy.next(monotonic()):
            match action:
                case Send():
                    self._send(action)
                case Recall(legs):
                    self._call_back(list(legs))
                case Drop(leg):
                    self._dropped(leg)
                case Finish(number, reason):
                    self._finish(number, reason)

    def _look(self) -> None:
        """Workers that came and went since the last time."""
        for gone in self._builds.refresh():
            for searching in self._searches.values():
                searching.questions.pop(gone, None)
            for leg in self._policy.left(gone):
                self._lose(leg, f"{self._builds.place(gone)} is gone")
        if self._builds.none_usable and not self._legs:  # those that came after all, or came back
            self._give_all_up("none of its workers can be used, see above", lost=True)

    def _arrived(self, name: str, came: object) -> None:
        if name in self._builds:
            if self._builds.accepts(name, came):
                self._joined(name)
            return
        leg = self._by_name.pop(name, None)
        if leg is None:
            return
        sent = self._legs.get(leg)
        if sent is None:  # it was given up, and its boxes were sent to another worker
            self._policy.returned(leg)
            return
        if sent.searching.number not in self._searches:
            self._legs.pop(leg)
            self._policy.returned(leg)
        elif isinstance(came, Report):
            self._reported(leg, sent, came)
        elif isinstance(came, GoneError):
            self._look()
            if leg in self._legs:  # another one is there in its place, which knows nothing
                sent.searching.questions.pop(sent.worker, None)
                self._lose(leg, f"{self._builds.place(sent.worker)} gave it up: {came}")
        else:
            self._lose(leg, f"{self._builds.place(sent.worker)}: {type(came).__name__}: {came}")

    @property
    def refused(self) -> Mapping[str, str]:
        """Workers that are not used, and why."""
        return self._builds.refused

    def _send(self, action: Send) -> None:
        searching = self._searches[action.search]
        again = None if action.again is None else self._lost_shares.pop(action.again)
        dealt = searching.ledger.deal(action.boxes) if again is None else searching.ledger.deal_again(again)
        if dealt is None:  # the policy counts boxes as the ledger does
            raise RuntimeError("a share was to be sent, and no box waits")
        name = f"eqspec-{self._run_id}-{action.leg}"
        order = Order(
            leg=name,
            share=dealt[1],
            seconds=action.seconds,
            boxes=action.limit,
            threads=searching.threads or self._builds.threads[action.worker],
            record=searching.record is not None,
            trail=searching.trail is not None and searching.trail.wanted,
        )
        self._legs[action.leg] = _Sent(searching, dealt[0], action.worker, name)
        self._by_name[name] = action.leg
        try:
            if action.worker not in searching.questions:
                searching.questions[action.worker] = self._transport.ship(searching.shipped, action.worker)
            self._transport.send(action.worker, searching.questions[action.worker], order)
        except LostError:
            self._withdraw(action.leg)
            self._looked = -_LOOK  # is it gone, or is everything?

    def _reported(self, leg: int, sent: _Sent, report: Report) -> None:
        searching = sent.searching
        if not report.is_well_formed(searching.inputs):
            self._lose(leg, f"what {self._builds.place(sent.worker)} answers is no report of a leg")
            return
        if report.beside is not None:
            searching.events.put(Candidate(report.beside, beside=True, leg=leg, boxes=report.boxes))
        if report.witness is not None:
            # The leg stays under way until the search's own thread has replayed it.
            searching.events.put(Candidate(report.witness, beside=False, leg=leg, boxes=report.boxes))
            return
        before = searching.ledger.progress().boxes
        try:
            if report.answer is None or searching.ledger.accept(report.answer) != sent.share:
                raise SavedStateError("it answers another share")  # noqa: TRY301 - as the ledger does
        except SavedStateError as problem:
            self._lose(leg, f"the answer of {self._builds.place(sent.worker)} is refused: {problem}")
            return
        if searching.record is not None and report.record is not None:
            with searching.record.open("ab") as file:
                file.write(report.record)
        if searching.trail is not None:
            searching.trail.join(report.trail)
        self._legs.pop(leg)
        self._policy.answered(leg, searching.ledger.waiting, searching.ledger.progress().boxes - before, monotonic())
        searching.events.put(Answered())

    def _failed(self, leg: int, why: str) -> None:
        if leg in self._legs:
            self._lose(leg, why)

    def _lose(self, leg: int, why: str) -> None:
        sent = self._legs.pop(leg)
        self._by_name.pop(sent.name, None)
        self._transport.drop(sent.name)
        sent.searching.trouble = why
        self._lost_shares[leg] = sent.share
        self._policy.lost(leg)

    def _withdraw(self, leg: int) -> None:
        """A leg that could not be sent."""
        sent = self._legs.pop(leg)
        self._by_name.pop(sent.name, None)
        self._lost_shares[leg] = sent.share
        self._policy.withdrawn(leg)

    def _dropped(self, leg: int) -> None:
        """A leg that is late: its worker is given nothing more until it is gone or comes back."""
        sent = self._legs.pop(leg)
        where = self._builds.place(sent.worker)
        sent.searching.trouble = f"{where} did not answer in time"
        self._lost_shares[leg] = sent.share
        self._tell(f"{where} does not answer; it is given nothing before it does")

    def _call_back(self, legs: list[int]) -> None:
        sent = {self._legs[leg].name: self._legs[leg].worker for leg in legs if leg in self._legs}
        if sent:
            self._transport.call_back(sent)

    def _finish(self, number: int, reason: str | None) -> None:
        searching = self._searches.pop(number)
        searching.questions.clear()
        searching.events.put(Over(reason, searching.trouble if reason == "error" else None))

    def _out_of_reach(self, why: str) -> None:
        now = monotonic()
        self._unreached = self._unreached or now
        if now - self._unreached > _PATIENCE:
            self._give_all_up(why, lost=True)
        self._closing.wait(0.5)

    def _give_all_up(self, why: str, *, lost: bool) -> None:
        self._without_worker.clear()
        for number in list(self._searches):
            self._policy.forget(number)
            searching = self._searches.pop(number)
            searching.events.put(Over("error", why, lost=lost))
