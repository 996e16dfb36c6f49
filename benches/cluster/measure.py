"""What dealing a search out costs on this machine: `PYTHONPATH=python:tests:. python -m
benches.cluster.measure SPEC[:TASK]`, where a family of tests/acceptance/families.py may stand for a spec, as in
`'acas-0.5:1_1 prop_7[eps=0.5]'`.

Each task is asked from the beginning, and cut off after so many boxes if it is not decided: by one thread of this
process, by a cluster of one worker with one thread, and by a cluster of two. Scheduler, workers and coordinator share
the cores of this machine, so that seconds of the clock say something only if nothing else runs; the load is printed,
and seconds of processors beside them: those of the thread, or of all workers together. Last comes the processor time
that the coordinator takes for a leg, from a search in tiny legs.
"""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

from distributed import Client, LocalCluster

import eqspec
from acceptance.families import FAMILIES
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.policy import Limits
from eqspec.cluster.transport import DaskTransport
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from small_tasks import undecided_task

PLAIN = Options(threads=1, weaken=False)


class Timed(Coordinator):
    """Measures the processor time of its own thread."""

    seconds = 0.0
    legs = 0

    def _turn(self) -> None:
        began = thread_time()
        super()._turn()
        self.seconds += thread_time() - began

    def _send(self, action: Any) -> None:
        self.legs += 1
        super()._send(action)


@dataclass(frozen=True)
class Run:
    """What a search took: seconds of the clock, of the processors that searched, and of the coordinator."""

    verdict: str
    boxes: int
    seconds: float
    searching: float
    coordinator: float = 0.0
    legs: int = 0

    def __str__(self) -> str:
        legs = f", {self.legs} legs" if self.legs else ""
        times = f"{self.seconds:.2f} s, {self.searching:.2f} s of processors"
        return f"{self.verdict}, {self.boxes} boxes, {times}{legs}"


def measured(task: Task, workers: int, limits: Limits, options: Options) -> Run:
    """A search by so many workers; by none, by a thread of this process."""
    with ExitStack() as stack:
        coordinator = None
        if workers:
            local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
            client = stack.enter_context(Client(stack.enter_context(local)))
            coordinator = stack.enter_context(Timed(DaskTransport(client), limits=limits))
            coordinator.wait_for_workers(60)
            while coordinator.workers < workers:
                sleep(0.01)
        runner = Runner(options, engine=None if coordinator is None else ClusterEngine(coordinator))

        def spent() -> float:
            return process_time() if coordinator is None else sum(client.run(process_time).values())

        began, before = perf_counter(), spent()
        result = runner.run(task)
        seconds, searching = perf_counter() - began, spent() - before
        found = result.verdict.value, result.boxes, seconds, searching
        return Run(*found) if coordinator is None else Run(*found, coordinator.seconds, coordinator.legs)


def _tasks(name: str) -> list[tuple[str, Task]]:
    """The tasks of a spec, or the queries of a family, each with its name."""
    if name in FAMILIES:
        return [(query.name, query.task) for query in FAMILIES[name].queries()]
    return [(task.id, task) for task in eqspec.load(name).tasks]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", metavar="SPEC[:TASK]")
    parser.add_argument("--boxes", type=int, help="cut each search off after so many boxes")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    options = replace(PLAIN, boxes=arguments.boxes, timeout=arguments.timeout)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for asked in arguments.specs:
        path, _, wanted = asked.partition(":")
        for name, task in _tasks(path):
            if wanted and name != wanted:
                continue
            for workers in (0, 1, 2):
                runs = [measured(task, workers, Limits(), options) for _ in range(arguments.repeat)]
                best = min(runs, key=lambda run: run.seconds)
                print(f"{name}, {workers} workers: {best} (load {os.getloadavg()[0]:.1f})", flush=True)
    tiny = measured(undecided_task(), 1, Limits(boxes=2), replace(PLAIN, domain="paper", timeout=60))
    print(f"the coordinator takes {1e3 * tiny.coordinator / max(1, tiny.legs):.2f} ms a leg, of {tiny.legs} legs")


if __name__ == "__main__":
    main()
