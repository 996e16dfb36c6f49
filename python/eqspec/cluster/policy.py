"""What a coordinator does next: which share goes to whom, how long a leg is, when one is called back or given up.

No clock, no network and no boxes here: events and the time come in as arguments, actions go out, so that the same code
runs against a cluster and in the simulation. Nothing here can make a proof. A poor choice costs time; what is proved is
kept by the ledger of each search.

How it works: a worker has one leg at a time. Of all searches that have boxes to give, the one with the fewest legs is
served first, so that many tasks get one worker each, and a few get many. A share is a part of the boxes that wait, the
hardest first, small enough that every worker has another one coming. A leg goes on until its share is closed or its
time is over; while workers are idle, the legs that have run longest are called back before that, and bring boxes to
share. A search that cannot be divided is called back less and less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import ceil, inf
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits:
    """How long legs and waits are, in seconds.

    A leg lasts up to `longest`. With many legs under way each should last `each` times their number, or the coordinator
    would not keep up: shares are made as large, and no more than one leg is called back in `each`, apart from a burst.
    One may be called back after `recall`, and the first one of a search after `first`, since all other workers wait for
    it. One that is `grace` late is given up, and one whose search ends after
    `patience`. A share that was lost `deaths` times ends its search. `shares` are made for each worker of what waits. A
    leg bounds up to `boxes` boxes, or as many as it can.
    """

    longest: float = 30.0
    each: float = 0.01
    first: float = 0.1
    recall: float = 0.5
    grace: float = 300.0
    patience: float = 10.0
    deaths: int = 3
    shares: int = 2
    boxes: int | None = None


@dataclass(frozen=True)
class Send:
    """Send `boxes` boxes of a search to a worker, or once more those of a lost leg."""

    search: int
    worker: str
    leg: int
    boxes: int
    seconds: float
    limit: int | None
    """Boxes that may be bounded in this leg; None: any number."""
    again: int | None = None


@dataclass(frozen=True)
class Recall:
    """Ask legs to return what they have."""

    legs: tuple[int, ...]


@dataclass(frozen=True)
class Drop:
    """Wait no longer for a leg; its boxes will be sent again."""

    leg: int


@dataclass(frozen=True)
class Finish:
    """A search is over: closed (no reason), or undecided for this reason."""

    search: int
    reason: str | None


_FOLLOW = 0.1
"""How far one leg changes what is expected of the next."""

_BURST = 1.0
"""Seconds of the coordinator that may be spent at once on legs that are called back."""

_LATE = 0.2
"""Seconds between two looks for legs that are late."""

Action: TypeAlias = Send | Recall | Drop | Finish


@dataclass
class _Leg:
    search: int
    worker: str
    boxes: int
    sent: float
    seconds: float
    limit: int | None
    deaths: int
    recalled: bool = False


@dataclass
class _Search:
    waiting: int
    deadline: float
    left: float
    """Boxes that may still be bounded."""
    legs: set[int] = field(default_factory=set)
    lost: list[tuple[int, int, int]] = field(default_factory=list)
    """Shares to be sent again: number of the lost leg, boxes, and how often they were lost."""
    recall: float = 0.0
    pace: float = 0.0
    """Seconds that a leg lasts for each box that was sent with it, of late."""
    reason: str | None = None
    """Why it ends as soon as its legs are back."""
    ended: float = inf


class Policy:
    """The policy for all searches of a cluster. Times are seconds of any clock that only goes on."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._workers: dict[str, int | None] = {}
        self._free: dict[str, None] = {}
        self._searches: dict[int, _Search] = {}
        self._legs: dict[int, _Leg] = {}
        self._stuck: dict[int, str] = {}
        self._number = 0
        self._next_overdue = 0.0
        self._credit, self._credited = _BURST, 0.0
        """Seconds of the coordinator that may be spent on calling legs back, and as of when."""

    @property
    def workers(self) -> int:
        """Workers that take legs."""
        return len(self._workers)

    def begin(self, search: int, waiting: int, deadline: float = inf, boxes: float = inf) -> None:
        """A search with so many boxes that wait, until a time of the clock and until so many boxes are bounded."""
        first = min(self.limits.first, self.limits.recall)
        self._searches[search] = _Search(waiting, deadline, boxes, recall=first)

    def stop(self, search: int, reason: str, now: float) -> None:
        """Let a search end: its legs are called back."""
        if (found := self._searches.get(search)) is not None and found.reason is None:
            found.reason, found.ended = reason, now

    def forget(self, search: int) -> list[int]:
        """A search is over, or was decided: its legs that are under way, of which nothing is needed any more."""
        found = self._searches.pop(search, None)
        return [] if found is None else sorted(found.legs)

    def joined(self, worker: str) -> None:
        """A worker can be given legs."""
        if worker not in self._workers:
            self._workers[worker] = None
            self._free[worker] = None

    def left(self, worker: str) -> list[int]:
        """A worker is gone: the legs that are lost with it, each to be told by `lost`."""
        self._workers.pop(worker, None)
        self._free.pop(worker, None)
        self._stuck = {leg: on for leg, on in self._stuck.items() if on != worker}
        return [number for number, leg in self._legs.items() if leg.worker == worker]

    def answered(self, leg: int, waiting: int, boxes: int, now: float) -> None:
        """A leg is back at a time, and has bounded so many boxes; `waiting` is how many of its search wait now."""
        found = self._end(leg)
        if found is None or (search := self._searches.get(found.search)) is None:
            return
        brought = waiting - search.waiting
        took = max(now - found.sent, 0.0) / found.boxes
        search.pace += _FOLLOW * (took - search.pace)
        search.waiting = waiting
        search.left += (found.limit or 0) - boxes
        if found.recalled:
            divided = brought >= 2
            search.recall = self.limits.recall if divided else min(2 * search.recall, self.limits.longest)

    def lost(self, leg: int) -> None:
        """A leg will not come back: its worker died or failed, or its answer was refused."""
        found = self._end(leg)
        if found is None or (search := self._searches.get(found.search)) is None:
            return
        search.left += found.limit or 0
        search.lost.append((leg, found.boxes, found.deaths + 1))
        if found.deaths + 1 >= self.limits.deaths:
            search.reason = "error"

    def withdrawn(self, leg: int) -> None:
        """A leg was not begun, through no fault of its share, whose boxes are to be sent again."""
        found = self._end(leg)
        if found is not None and (search := self._searches.get(found.search)) is not None:
            search.left += found.limit or 0
            search.lost.append((leg, found.boxes, found.deaths))

    def returned(self, leg: int) -> None:
        """A leg that was given up, or whose search was forgotten, has ended after all; its worker is free again."""
        worker = self._stuck.pop(leg, None)
        if worker is not None and worker in self._workers:
            self._free[worker] = None
        else:
            self._end(leg)

    def _end(self, number: int) -> _Leg | None:
        leg = self._legs.pop(number, None)
        if leg is None:
            return None
        if self._workers.get(leg.worker, -1) == number:
            self._workers[leg.worker] = None
            self._free[leg.worker] = None
        if (search := self._searches.get(leg.search)) is not None:
            search.legs.discard(number)
        return leg

    def next(self, now: float) -> list[Action]:
        """What to do at a time, in this order: give up what is late, call back what ends, send, and finish."""
        actions: list[Action] = [*self._overdue(now)]
        actions += self._stops(now)
        while self._free and (chosen := self._next_search(now)) is not None:
            actions.append(self._send(chosen, now))
        if self._free:
            actions += self._recalls(now)
        actions += self._finished(now)
        return actions

    def _next_search(self, now: float) -> int | None:
        able = [
            (len(search.legs), number)
            for number, search in self._searches.items()
            if search.reason is None and search.deadline > now and search.left >= 1 and (search.waiting or search.lost)
        ]
        return min(able)[1] if able else None

    def _share_of_workers(self) -> int:
        return max(1, ceil(len(self._workers) / max(1, len(self._searches))))

    def _send(self, number: int, now: float) -> Send:
        search, limits = self._searches[number], self.limits
        worker = next(iter(self._free))
        again: int | None = None
        deaths = 0
        workers = self._share_of_workers()
        # Those that have legs have their parts of the boxes that may be bounded.
        able = min(workers, len(self._free))
        if search.lost:
            again, boxes, deaths = search.lost.pop(0)
        else:
            boxes = self._boxes(search, workers)
            search.waiting -= boxes
        longest = max(limits.longest, limits.each * len(self._workers))
        allowed = min(search.left / able, inf if limits.boxes is None else limits.boxes)
        limit = None if allowed == inf else max(1, int(allowed))
        search.left -= limit or 0
        self._number += 1
        leg = _Leg(number, worker, boxes, now, min(longest, search.deadline - now), limit, deaths)
        self._legs[self._number] = leg
        search.legs.add(self._number)
        self._workers[worker] = self._number
        del self._free[worker]
        return Send(number, worker, self._number, boxes, leg.seconds, limit, again)

    def _boxes(self, search: _Search, workers: int) -> int:
        """A share of what waits: enough for the leg to be worth sending, if that leaves no worker without one."""
        boxes = ceil(search.waiting / (self.limits.shares * workers))
        worth = self.limits.each * (len(self._legs) + 1)
        if search.pace > 0:
            boxes = max(boxes, min(ceil(worth / search.pace), search.waiting // len(self._free)))
        return max(1, boxes)

    def _recalls(self, now: float) -> list[Action]:
        """The legs that have run longest, one for each idle worker, as far as the coordinator keeps up."""
        able = len(self._free)
        if self.limits.each > 0:
            self._credit = min(_BURST, self._credit + now - self._credited)
            self._credited = now
            able = min(able, int(self._credit / self.limits.each))
        chosen: list[int] = []
        for number, leg in self._legs.items():  # in the order in which they were sent
            if len(chosen) >= able or now - leg.sent < min(self.limits.first, self.limits.recall):
                break
            search = self._searches.get(leg.search)
            if not leg.recalled and search is not None and now - leg.sent >= search.recall:
                chosen.append(number)
        self._credit -= self.limits.each * len(chosen)
        return self._recall(chosen)

    def _recall(self, legs: list[int]) -> list[Action]:
        for number in legs:
            self._legs[number].recalled = True
        return [Recall(tuple(legs))] if legs else []

    def _stops(self, now: float) -> list[Action]:
        for search in self._searches.values():
            if search.reason is None and now >= search.deadline:
                search.reason = "timeout"
            elif search.reason is None and search.left < 1 and not search.legs:
                search.reason = "boxes"
            if search.reason is not None:
                search.ended = min(search.ended, now)
        over = [n for s in self._searches.values() if s.reason for n in s.legs if not self._legs[n].recalled]
        return self._recall(over)

    def _overdue(self, now: float) -> list[Action]:
        late: list[Action] = []
        if now < self._next_overdue:
            return late
        self._next_overdue = now + _LATE
        for number, leg in list(self._legs.items()):
            search = self._searches.get(leg.search)
            end = leg.sent + leg.seconds + self.limits.grace
            if search is not None and search.reason is not None:
                end = min(end, search.ended + self.limits.patience)
            if now > end:
                late.append(Drop(number))
                self._stuck[number] = leg.worker
                self.lost(number)
                # Whoever holds it is given nothing more before it has answered.
                self._free.pop(leg.worker, None)
        return late

    def _finished(self, now: float) -> list[Action]:
        done: list[Action] = []
        for number, search in list(self._searches.items()):
            if search.legs:
                continue
            closed = not search.waiting and not search.lost
            if closed or search.reason is not None or now >= search.deadline:
                done.append(Finish(number, None if closed else search.reason or "timeout"))
                del self._searches[number]
        return done

    def running(self) -> Mapping[int, str]:
        """The legs under way, and their workers."""
        return {number: leg.worker for number, leg in self._legs.items()}
