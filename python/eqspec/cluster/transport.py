"""What the coordinator needs of Dask, and nothing else: who is there, sending legs, calling them back.

A leg is sent to one worker and no other, so that the coordinator knows what is lost with a worker, and sends it again
itself: nothing is left to Dask's own retries. The question of a search is scattered to each worker before its first
leg, once, and to it alone: what is scattered to one worker and fetched by others takes their legs along when that
worker dies. Legs are called back by a function that is run on their workers beside their tasks; asking the
scheduler ten times a second from every worker would be its undoing.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import Any, Protocol

from distributed import Client, Future

from eqspec.cluster import leg
from eqspec.cluster.leg import Order

_FETCHES = 16
"""Results that are fetched at once."""
_LARGE = 1 << 20
"""Bytes of a share that is not sent with its task."""
Arrival = object
"""What a function gave, or the exception that came of it."""


class LostError(Exception):
    """The cluster cannot be reached."""


class GoneError(Exception):
    """A leg was given up by the cluster, mostly because its worker is gone."""


class Transport(Protocol):
    """How legs get to workers and back."""

    def workers(self) -> Mapping[str, int]:
        """The threads of each worker that is there, by address. LostError if the cluster cannot be reached."""

    def identify(self, worker: str) -> None:
        """Ask a worker who it is; the answer is an arrival of its address."""

    def ship(self, shipped: object, worker: str) -> Any:
        """Make something known to a worker, for `send` and `run`. LostError if it cannot be reached."""

    def send(self, worker: str, question: Any, order: Order) -> None:
        """Send a leg; what comes of it is an arrival of its name."""

    def run(self, name: str, worker: str, function: Callable[..., object], *arguments: object) -> None:
        """Have a function computed; what comes of it is an arrival of this name. LostError as for `ship`."""

    def call_back(self, legs: Mapping[str, str]) -> None:
        """Ask for legs, by name, on their workers."""

    def drop(self, name: str) -> None:
        """Wait no longer for a leg, or for the identity of a worker."""

    def arrivals(self, seconds: float) -> list[tuple[str, Arrival]]:
        """What has come back by now, waiting so long for the first."""


class DaskTransport:
    """A client of Dask, which is neither started nor closed here."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._futures: dict[str, Future] = {}
        self._back: queue.SimpleQueue[tuple[str, Arrival]] = queue.SimpleQueue()
        # A result lies with its worker, and fetching it takes long where that has just died.
        self._fetching = ThreadPoolExecutor(_FETCHES, thread_name_prefix="eqspec fetching")

    def _lost(self, problem: Exception) -> LostError:
        """What a failed call says. A client whose scheduler is gone fails in many ways, of its own parts that are."""
        if self._client.status != "running":
            return LostError("its scheduler does not answer any more")
        return LostError(f"{type(problem).__name__}: {problem}")

    def workers(self) -> Mapping[str, int]:
        """One question to the scheduler."""
        try:
            found: dict[str, int] = dict(self._client.nthreads())
        except Exception as problem:
            raise self._lost(problem) from None
        return found

    def identify(self, worker: str) -> None:
        """A task of its own."""
        self.run(worker, worker, leg.identify)

    def ship(self, shipped: object, worker: str) -> Future:
        """Kept there as long as the future is."""
        try:
            return self._client.scatter(shipped, workers=[worker], hash=False)
        except Exception as problem:
            raise self._lost(problem) from None

    def send(self, worker: str, question: Future, order: Order) -> None:
        """A task that only this worker may run. A large share goes there by itself, not through the scheduler."""
        large = len(order.share) > _LARGE
        self.run(order.leg, worker, leg.work, question, self.ship(order, worker) if large else order)

    def run(self, name: str, worker: str, function: Callable[..., object], *arguments: object) -> None:
        """A task that only this worker may run."""
        try:
            future = self._client.submit(
                function, *arguments, workers=[worker], allow_other_workers=False, pure=False, retries=0
            )
        except Exception as problem:
            raise self._lost(problem) from None
        self._futures[name] = future
        future.add_done_callback(lambda done: self._fetching.submit(self._fetch, name, done))

    def _fetch(self, name: str, future: Future) -> None:
        if name in self._futures:  # not dropped meanwhile
            self._back.put((name, _result(future)))
            with suppress(Exception):
                future.release()

    def call_back(self, legs: Mapping[str, str]) -> None:
        """Beside the tasks of the workers, and without waiting, which for one that is gone would take long."""
        threading.Thread(target=self._call_back, args=(dict(legs),), daemon=True).start()

    def _call_back(self, legs: Mapping[str, str]) -> None:
        with suppress(Exception):  # who cannot be told goes on until its time is over
            self._client.run(leg.call_back, list(legs), workers=list(set(legs.values())), wait=False, on_error="ignore")

    def drop(self, name: str) -> None:
        """Its worker may go on with it; nobody will look at the answer."""
        future = self._futures.pop(name, None)
        if future is not None:
            with suppress(Exception):
                future.cancel()

    def arrivals(self, seconds: float) -> list[tuple[str, Arrival]]:
        """Results, or what was raised, also where Dask gave up."""
        found: list[tuple[str, Arrival]] = []
        end = monotonic() + seconds
        while True:
            try:
                name, came = self._back.get(timeout=0 if found else max(0.0, end - monotonic()))
            except queue.Empty:
                return found
            if self._futures.pop(name, None) is not None:  # else dropped
                found.append((name, came))


def _result(future: Future) -> Arrival:
    if future.status in ("cancelled", "lost"):
        return GoneError("its worker is gone")
    try:
        result: object = future.result(timeout=30)
    except Exception as problem:
        return problem
    except BaseException as problem:  # CancelledError
        return GoneError(f"{type(problem).__name__}: {problem}")
    return result
