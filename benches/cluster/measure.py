"""What dealing a search out costs on this machine: `PYTHONPATH=python:tests:. python -m
benches.cluster.measure SPEC[:TASK]`, where a family of tests/acceptance/families.py may stand for a spec, as in
`'acas-0.5:1_1 prop_7[eps=0.5]'`.

Each task is asked from the beginning, and cut off after so many boxes if it is not decided: by one thread of this
process, by a cluster of one worker with one thread, and by a cluster of two. In the same minutes two processes that
know nothing of each other ask it whole: how much longer that takes than one of them says what a second processor is
worth here, and so what two workers can bring at most. Scheduler, workers and coordinator share the cores of this
machine, so that seconds of the clock say something only if nothing else runs; the load is printed, and seconds of
processors beside them: those of the thread, or of all workers together. Last comes the processor time that the
coordinator takes for a leg, from a search in tiny legs.
"""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from multiprocessing import get_context
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

import eqspec
from acceptance.families import FAMILIES
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.opening import local
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
            client = stack.enter_context(local(workers))
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


def apart(name: str, wanted: str, options: Options) -> tuple[float, float]:
    """Two processes, each with one thread, ask the same task alone and at once: seconds of the clock until both are
    done, and of both their processors."""
    context = get_context("spawn")
    start, spent = context.Barrier(3), context.SimpleQueue()
    both = [context.Process(target=_alone, args=(name, wanted, options, start, spent)) for _ in range(2)]
    for process in both:
        process.start()
    start.wait()
    began = perf_counter()
    searching = spent.get() + spent.get()
    seconds = perf_counter() - began
    for process in both:
        process.join()
    return seconds, searching


def _alone(name: str, wanted: str, options: Options, start: Any, spent: Any) -> None:
    task = next(task for found, task in _tasks(name) if found == wanted)
    start.wait()
    before = process_time()
    Runner(options).run(task)
    spent.put(process_time() - before)


def _tasks(name: str) -> list[tuple[str, Task]]:
    """The tasks of a spec, or the queries of a family, each with its name."""
    if name in FAMILIES:
        return [(query.name, query.task) for query in FAMILIES[name].queries()]
    return [(task.id, task) for task in eqspec.load(name).tasks]


def compare(path: str, name: str, task: Task, options: Options, repeat: int) -> None:
    """Print every run, made in turns for a load that changes, and what the best of each kind say."""
    best = dict[int, Run]()
    together = alone = inf
    for _, workers in product(range(repeat), (0, 1, 2)):
        run = measured(task, workers, Limits(), options)
        print(f"{name}, {workers} workers: {run} (load {os.getloadavg()[0]:.1f})", flush=True)
        best[workers] = min(run, best.get(workers, run), key=lambda run: run.seconds)
        if not workers:
            seconds, searching = apart(path, name, options)
            print(f"{name}, two processes apart: {seconds:.2f} s, {searching:.2f} s of processors", flush=True)
            together, alone = min(together, seconds), min(alone, searching)
    none, one, two = (best[workers] for workers in (0, 1, 2))
    bring, can = none.seconds / two.seconds, 2 * none.seconds / together
    print(
        f"one worker costs {one.seconds / none.seconds - 1:.1%}, {one.searching / none.searching - 1:.1%} of processors"
    )
    print(f"two bring {bring:.2f}, and this machine can give {can:.2f}: {bring / can:.0%} of it")
    print(
        f"a box takes {two.searching / alone * 2:.2f} times the processor that it takes two processes apart", flush=True
    )


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
            compare(path, name, task, options, arguments.repeat)
    tiny = measured(undecided_task(), 1, Limits(boxes=2), replace(PLAIN, domain="paper", timeout=60))
    print(f"the coordinator takes {1e3 * tiny.coordinator / max(1, tiny.legs):.2f} ms a leg, of {tiny.legs} legs")


if __name__ == "__main__":
    main()
