"""A cluster in this process, whose workers fail on demand: for tests of the coordinator and the policy without Dask."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from eqspec.cluster import leg
from eqspec.cluster.leg import Order, Report, WorkerIdentity

Fault = Callable[[str, Order, Callable[[], Report]], object]
"""What a worker does with an order, given a way to do it honestly."""
Twist = Callable[[str, tuple[Any, ...], Callable[[], object]], object]
"""The same for a function with its arguments."""


class Silence(Exception):  # noqa: N818 - no error, but no answer at all
    """The worker never answers."""


class LocalTransport:
    """Legs are run by threads, one after the other; `fault` stands between a worker and its answer."""

    def __init__(self, workers: int, fault: Fault | None = None, twist: Twist | None = None) -> None:
        self.there = {f"worker-{i}": 1 for i in range(workers)}
        self.builds = dict[str, str]()
        self.fault, self.twist = fault, twist
        self.sent = list[Order]()
        self.reached: Exception | None = None
        self._back: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
        self._dropped = set[str]()

    def workers(self) -> Mapping[str, int]:
        if self.reached is not None:
            raise self.reached
        return dict(self.there)

    def identify(self, worker: str) -> None:
        build = self.builds.get(worker, leg.identify().build)
        self._back.put((worker, WorkerIdentity(build, f"host of {worker}")))

    def ship(self, shipped: object, worker: str) -> object:
        return shipped

    def send(self, worker: str, question: Any, order: Order) -> None:
        self.sent.append(order)

        def honestly() -> Report:
            return leg.work(question, order)

        fault = self.fault
        self._start(order.leg, honestly if fault is None else lambda: fault(worker, order, honestly))

    def run(self, name: str, worker: str, function: Callable[..., object], *arguments: Any) -> None:
        def honestly() -> object:
            return function(*arguments)

        twist = self.twist
        self._start(name, honestly if twist is None else lambda: twist(worker, arguments, honestly))

    def _start(self, name: str, work: Callable[[], object]) -> None:
        def run() -> None:
            try:
                came = work()
            except Silence:
                return
            except Exception as problem:
                came = problem
            self._back.put((name, came))

        threading.Thread(target=run, daemon=True).start()

    def call_back(self, legs: Mapping[str, str]) -> None:
        for name in legs:
            leg._called_back.setdefault(name, threading.Event()).set()

    def drop(self, name: str) -> None:
        self._dropped.add(name)

    def arrivals(self, seconds: float) -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = []
        end = monotonic() + seconds
        while True:
            try:
                name, came = self._back.get(timeout=0 if found else max(0.0, end - monotonic()))
            except queue.Empty:
                return found
            if name not in self._dropped:
                found.append((name, came))
