"""Functions that are computed on the workers of a cluster, each until an answer of it is taken.

An answer counts only if whoever asked takes it. One that is lost, refused or an exception changes nothing: the job is
sent again, and given up after the third time. Where nothing waits and a worker is idle, it is given what has been
out for very long, too, since another worker may hang; the first answer that is taken counts.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import field
from time import monotonic

from eqspec.cluster.transport import GoneError, LostError, Transport
from eqspec.cluster.worker_builds import WorkerBuilds
from eqspec.errors import ResourceError
from eqspec.lazy_dataclass import dataclass

_LOOK = 1.0
"""Seconds between two looks at who is there."""
_PATIENCE = 10.0
"""Seconds that the cluster may be out of reach."""
_MOST_LOST = 3
_LONG = 10.0
"""Seconds after which a job may be given to a second worker, beside twice what the longest one took."""

Take = Callable[[object], "str | None"]
"""Takes an answer, or says why it is none."""


@dataclass(eq=False)
class _Job:
    material: object
    function: Callable[..., object]
    arguments: tuple[object, ...]
    take: Take
    fail: Callable[[str], None]
    seconds: float
    lost: int = 0
    over: bool = False
    out: dict[str, float] = field(default_factory=dict)
    """When it was sent, by the names under which it is out."""


class Jobs:
    """What is to be computed, and by whom. `tell` is given what a user should know. Not to be shared by threads."""

    def __init__(self, transport: Transport, tell: Callable[[str], None]) -> None:
        self._transport, self._tell = transport, tell
        self._builds = WorkerBuilds(transport, tell)
        self._free: dict[str, int] = {}
        self._waiting: deque[_Job] = deque()
        self._out: dict[str, tuple[_Job, str]] = {}
        self._shipped: dict[tuple[int, str], object] = {}
        self._material: dict[int, tuple[object, int]] = {}
        self._run_id, self._number = uuid.uuid4().hex[:8], 0
        self._longest = 0.0
        self._looked, self._unreached = -_LOOK, None  # type: float, float | None
        self._began, self._told = monotonic(), False

    @property
    def slots(self) -> int:
        """How many jobs are computed at once; 0 before the first worker is known."""
        return sum(self._builds.threads.get(worker, 0) for worker in self._free)

    @property
    def outstanding(self) -> int:
        """Jobs that wait or are out."""
        return len(self._waiting) + len({id(job) for job, _ in self._out.values() if not job.over})

    def add(
        self,
        material: object,
        function: Callable[..., object],
        arguments: tuple[object, ...],
        take: Take,
        fail: Callable[[str], None],
        seconds: float,
    ) -> Callable[[], None]:
        """Have `function(material, *arguments)` computed, in so many seconds at most; what withdraws it again.

        The material goes to each worker once, and has to be pickled, as arguments and answers do. `take` is given
        answers until it takes one, for which it returns None, and else why it does not; if none comes, `fail` is told
        why. Both are called by `turn`, in its thread.
        """
        job = _Job(material, function, arguments, take, fail, seconds)
        self._material[id(material)] = material, self._material.get(id(material), (None, 0))[1] + 1
        self._waiting.append(job)
        return lambda: self._end(job)

    def turn(self, seconds: float) -> None:
        """Do what there is to do, waiting so long for an answer at most. ResourceError if the cluster is of no use."""
        try:
            self._turn(seconds)
            self._unreached = None
        except LostError as problem:
            now = monotonic()
            self._unreached = self._unreached or now
            if now - self._unreached > _PATIENCE:
                raise ResourceError(f"the cluster is out of reach: {problem}") from None

    def _turn(self, seconds: float) -> None:
        for name, came in self._transport.arrivals(seconds):
            if name in self._builds:
                if self._builds.accepts(name, came):
                    self._free[name] = self._builds.threads[name]
            elif name in self._out:
                self._arrived(name, came)
        now = monotonic()
        if now - self._looked >= _LOOK:
            self._looked = now
            self._look(now)
        while (worker := next((w for w, free in self._free.items() if free), None)) is not None:
            job = self._next(now, worker)
            if job is None:
                break
            self._send(job, worker, now)

    def _look(self, now: float) -> None:
        for gone in self._builds.refresh():
            self._free.pop(gone, None)
            for key in [key for key in self._shipped if key[1] == gone]:
                del self._shipped[key]
            for name in [name for name, (_, worker) in self._out.items() if worker == gone]:
                self._lose(name, f"{self._builds.place(gone)} is gone")
        if self._builds.none_usable:
            raise ResourceError("the cluster has no worker that can be used, see above")
        if not self._free and not self._told and now - self._began > _PATIENCE:
            self._told = True
            self._tell("the cluster has no workers yet; work begins when the first one comes")
        for name, (job, worker) in list(self._out.items()):
            if now - job.out.get(name, now) > job.seconds:
                place = self._builds.place(worker)
                self._tell(f"{place} does not answer; it is given nothing more")
                self._free[worker] = 0
                self._lose(name, f"{place} did not answer in time")

    def _next(self, now: float, worker: str) -> _Job | None:
        """What waits longest, else what has been out for very long with one other worker."""
        while self._waiting:
            job = self._waiting.popleft()
            if not job.over:
                return job
        late = [
            (sent, name)
            for name, (job, other) in self._out.items()
            if not job.over and len(job.out) == 1 and other != worker
            if now - (sent := job.out[name]) > _LONG + 2 * self._longest
        ]
        return self._out[min(late)[1]][0] if late else None

    def _send(self, job: _Job, worker: str, now: float) -> None:
        self._number += 1
        name, key = f"eqspec-{self._run_id}-{self._number}", (id(job.material), worker)
        try:
            if key not in self._shipped:
                self._shipped[key] = self._transport.ship(job.material, worker)
            self._transport.run(name, worker, job.function, self._shipped[key], *job.arguments)
        except LostError:
            self._waiting.appendleft(job)
            raise
        self._out[name] = job, worker
        job.out[name] = now
        self._free[worker] -= 1

    def _arrived(self, name: str, came: object) -> None:
        job, worker = self._out.pop(name)
        took = monotonic() - job.out.pop(name, monotonic())
        if worker in self._free:
            self._free[worker] = min(self._free[worker] + 1, self._builds.threads[worker])
        if job.over:
            return
        place = self._builds.place(worker)
        if isinstance(came, GoneError):
            self._shipped.pop((id(job.material), worker), None)
            why: str | None = f"{place} gave it up: {came}"
        elif isinstance(came, Exception):
            why = f"{place}: {type(came).__name__}: {came}"
        elif (why := job.take(came)) is not None:
            why = f"the answer of {place} is refused: {why}"
        if why is not None:
            self._again(job, why)
            return
        self._longest = max(self._longest, took)
        self._end(job)

    def _lose(self, name: str, why: str) -> None:
        job, _ = self._out.pop(name)
        job.out.pop(name, None)
        self._transport.drop(name)
        if not job.over:
            self._again(job, why)

    def _again(self, job: _Job, why: str) -> None:
        job.lost += 1
        if job.lost >= _MOST_LOST:
            self._end(job)
            job.fail(f"it failed on every worker that was given it; the last time {why}")
        elif not job.out:
            self._waiting.appendleft(job)

    def _end(self, job: _Job) -> None:
        """Nothing more is wanted of a job; its material is forgotten with the last one that needs it."""
        if job.over:
            return
        job.over = True
        with_it = id(job.material)
        material, needed = self._material.pop(with_it)
        if needed > 1:
            self._material[with_it] = material, needed - 1
            return
        for key in [key for key in self._shipped if key[0] == with_it]:
            del self._shipped[key]
