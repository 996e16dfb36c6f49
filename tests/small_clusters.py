"""A cluster in this process, whose workers fail on demand: for tests of the coordinator and the policy without Dask."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from eqspec.cluster import leg
from eqspec.cluster.leg import Introduction, Order, Report, Shipped

Arrival = Report | Introduction | Exception
Fault = Callable[[str, Order, Callable[[], Report]], Report]
"""What a worker does with an order, given a way to do it honestly."""


class Silence(Exception):  # noqa: N818 - no error, but no answer at all
    """The worker never answers."""


class LocalTransport:
    """Legs are run by threads, one after the other; `fault` stands between a worker and its answer."""

    def __init__(self, workers: int, fault: Fault | None = None) -> None:
        self.there = {f"worker-{i}": 1 for i in range(workers)}
        self.builds = dict[str, str]()
        self.fault = fault
        self.sent = list[Order]()
        self.reached: Exception | None = None
        self._back: queue.SimpleQueue[tuple[str, Arrival]] = queue.SimpleQueue()
        self._dropped = set[str]()

    def workers(self) -> Mapping[str, int]:
        if self.reached is not None:
            raise self.reached
        return dict(self.there)

    def introduce(self, worker: str) -> None:
        build = self.builds.get(worker, leg.introduce().build)
        self._back.put((worker, Introduction(build, f"host of {worker}")))

    def ship(self, shipped: Shipped, worker: str) -> Shipped:
        return shipped

    def send(self, worker: str, question: Any, order: Order) -> None:
        self.sent.append(order)
        threading.Thread(target=self._work, args=(worker, question, order), daemon=True).start()

    def _work(self, worker: str, question: Shipped, order: Order) -> None:
        def honestly() -> Report:
            return leg.work(question, order)

        try:
            came: Arrival = honestly() if self.fault is None else self.fault(worker, order, honestly)
        except Silence:
            return
        except Exception as problem:
            came = problem
        self._back.put((order.leg, came))

    def call_back(self, legs: Mapping[str, str]) -> None:
        for name in legs:
            leg._called_back.setdefault(name, threading.Event()).set()

    def drop(self, name: str) -> None:
        self._dropped.add(name)

    def arrivals(self, seconds: float) -> list[tuple[str, Arrival]]:
        found: list[tuple[str, Arrival]] = []
        end = monotonic() + seconds
        while True:
            try:
                name, came = self._back.get(timeout=0 if found else max(0.0, end - monotonic()))
            except queue.Empty:
                return found
            if name not in self._dropped:
                found.append((name, came))
