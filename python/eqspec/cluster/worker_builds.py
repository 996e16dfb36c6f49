"""Which workers may compute: each is asked once which build of eqspec it has, and only the same build may."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eqspec.cluster.leg import WorkerIdentity
from eqspec.cluster.transport import GoneError, Transport
from eqspec.run.cache_key import build


class WorkerBuilds:
    """The workers that were asked, where each runs, and why some are not used.

    `tell` is called with what a user should know.
    """

    def __init__(self, transport: Transport, tell: Callable[[str], None]) -> None:
        self._transport, self._tell = transport, tell
        self._asked: set[str] = set()
        self._places: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self.threads: dict[str, int] = {}

    def __contains__(self, worker: str) -> bool:
        """Whether it is there and was asked."""
        return worker in self._asked

    @property
    def refused(self) -> Mapping[str, str]:
        """Workers that are not used, and why."""
        return self._refused

    @property
    def none_usable(self) -> bool:
        """Whether there are workers, and none that can be used."""
        return bool(self._refused) and self._asked <= self._refused.keys()

    def place(self, worker: str) -> str:
        """A worker in words."""
        return self._places.get(worker, worker)

    def refresh(self) -> list[str]:
        """Ask those that came; those that are gone since the last time. LostError if the cluster is out of reach."""
        there = self._transport.workers()
        gone = [worker for worker in self._asked if worker not in there]
        for worker in gone:
            self._asked.discard(worker)
            self._refused.pop(worker, None)
            self._transport.drop(worker)
        for worker, threads in there.items():
            self.threads[worker] = threads
            if worker not in self._asked:
                self._asked.add(worker)
                self._transport.identify(worker)
        return gone

    def accepts(self, worker: str, came: object) -> bool:
        """Whether a worker that has answered can be used: only one of this very build computes."""
        if isinstance(came, GoneError):
            self._asked.discard(worker)  # it is asked again if it is still there
            return False
        if isinstance(came, WorkerIdentity):
            self._places[worker] = f"worker {worker} ({came.place})"
            if came.build == build():
                return True
            self._refuse(worker, difference(came.build))
            return False
        self._places[worker] = f"worker {worker}"
        cause = f"{type(came).__name__}: {came}"
        missing = isinstance(came, ModuleNotFoundError) or "No module named" in cause
        fix = "install this version of eqspec there" if missing else "look at its log"
        self._refuse(worker, f"it cannot run eqspec: {cause}; {fix}")
        return False

    def _refuse(self, worker: str, why: str) -> None:
        if self._refused.get(worker) != why:
            self._refused[worker] = why
            self._tell(f"{self._places[worker]} is not used: {why}")


def difference(other: str) -> str:
    """What makes a build another one, and what to do."""
    mine, theirs = build().split(), other.split()
    parts = [f"{a} here, {b} there" for a, b in zip(mine[:-1], theirs[:-1], strict=False) if a != b]
    what = "; ".join(parts) if parts else "files of eqspec differ"
    return f"it has another build of eqspec ({what}), and proofs of two builds are not mixed; install the same there"
