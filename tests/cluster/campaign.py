"""Searches on a cluster whose processes are killed: `python -m cluster.campaign --runs 50`.

Every run asks a question whose answer is known, on workers of this machine, while something is done to them: workers
are killed by SIGKILL at random moments, one is stopped by SIGSTOP, the scheduler is killed, or the coordinator is
killed and another one goes on with a different number of workers, or with none. A run fails if the verdict is another
one, if what is proved does not add up, or if it does not end. Scheduler and workers are processes of their own, as on a
real cluster. Prints a line for each run and a summary; `--keep FILE` writes them.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

from distributed import Client

from eqspec.cache import Store
from eqspec.cluster.coordinator import Coordinator
from eqspec.cluster.engine import ClusterEngine
from eqspec.cluster.policy import Limits
from eqspec.cluster.transport import DaskTransport
from eqspec.errors import ResourceError
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import undecided_task

PLAIN = Options(domain="paper", weaken=False, timeout=120)
SHORT = Limits(longest=2.0, recall=0.2, grace=6.0, deaths=20, boxes=10)


def question(random_: random.Random) -> tuple[Task, Verdict]:
    """One that takes hundreds of boxes and is proved, or one with a witness, found after as many."""
    if random_.random() < 0.2:
        return replace(undecided_task(), property=Epsilon("0.6")), Verdict.DIFFERENT
    return replace(undecided_task(), property=Epsilon("0.66")), Verdict.EQUIVALENT


class Cluster:
    """A scheduler and workers, each a process; workers that are killed are started again."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.file = folder / "scheduler.json"
        self._folder, self._alive = folder, True
        self.scheduler = self._start("scheduler", "--scheduler-file", str(self.file), "--port", "0", "--no-dashboard")
        end = monotonic() + 60
        while not self.file.is_file():
            if monotonic() > end:
                raise TimeoutError("the scheduler does not start")
            sleep(0.05)
        self.workers = [self._worker() for _ in range(workers)]

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdout=log, stderr=log)

    def _worker(self) -> subprocess.Popen[bytes]:
        words = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._start("worker", *words, "--local-directory", str(self._folder))

    def kill(self, which: int) -> None:
        """Kill a worker, and start another one."""
        self.workers[which].kill()
        self.workers[which].wait()
        self.workers[which] = self._worker()

    def close(self) -> None:
        """End everything."""
        for process in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
            process.kill()
            process.wait()


@contextmanager
def cluster_of(workers: int) -> Iterator[Cluster]:
    """A cluster for the length of a run."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder), workers)
        try:
            yield cluster
        finally:
            cluster.close()


def ask(cluster: Cluster, task: Task, cache: ResultCache | None = None) -> Result:
    """The result of a task on a cluster."""
    with (
        Client(scheduler_file=str(cluster.file), timeout=30) as client,
        Coordinator(DaskTransport(client), print, SHORT) as coordinator,
    ):
        coordinator.wait_for_workers(60)
        return Runner(PLAIN, cache, ClusterEngine(coordinator)).run(task)


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Do something again and again in another thread."""
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            act()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def kept(folder: Path, random_: random.Random) -> bool:
    """Whether a search was kept, looked for now and then; a little later than that."""
    sleep(0.1)
    if not any(folder.rglob("*.search")):
        return False
    sleep(random_.uniform(0.0, 1.5))
    return True


def workers_killed(random_: random.Random, task: Task, _: Path) -> Result:
    """Every few seconds a worker is killed."""
    with cluster_of(3) as cluster:

        def act() -> None:
            sleep(random_.uniform(1.0, 8.0))
            cluster.kill(random_.randrange(3))

        with meanwhile(act):
            return ask(cluster, task)


def worker_hangs(random_: random.Random, task: Task, _: Path) -> Result:
    """A worker stops for ever in the middle of a leg."""
    with cluster_of(2) as cluster:
        stopped = threading.Event()

        def act() -> None:
            sleep(random_.uniform(0.5, 3.0))
            if not stopped.is_set():
                os.kill(cluster.workers[0].pid, signal.SIGSTOP)
                stopped.set()

        with meanwhile(act):
            return ask(cluster, task)


def scheduler_killed(random_: random.Random, task: Task, folder: Path) -> Result:
    """The scheduler dies; the search goes on without a cluster from what was kept."""
    cache = ResultCache(Store(folder), resume=True)
    with cluster_of(2) as cluster:

        def act() -> None:
            if kept(folder, random_):
                cluster.scheduler.kill()

        with meanwhile(act), suppress(ResourceError):
            return ask(cluster, task, cache)
    return Runner(PLAIN, cache).run(task)


def coordinator_killed(random_: random.Random, task: Task, folder: Path) -> Result:
    """The process that asked is killed; another one goes on with another number of workers."""
    words = [sys.executable, "-m", "cluster.campaign", "--coordinate", str(folder), str(task.property.eps)]  # type: ignore[union-attr]
    with cluster_of(2) as cluster:
        process = subprocess.Popen([*words, str(cluster.file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not kept(folder, random_):
            pass
        process.kill()
        process.wait()
    cache = ResultCache(Store(folder), resume=True)
    if random_.random() < 0.3:
        return Runner(PLAIN, cache).run(task)
    with cluster_of(random_.choice([1, 3])) as cluster:
        return ask(cluster, task, cache)


FAULTS = (workers_killed, worker_hangs, scheduler_killed, coordinator_killed)


def coordinate(folder: str, eps: str, file: str) -> None:
    """What `coordinator_killed` kills."""
    task = replace(undecided_task(), property=Epsilon(eps))
    cache = ResultCache(Store(Path(folder)), resume=True)
    with (
        Client(scheduler_file=file, timeout=30) as client,
        Coordinator(DaskTransport(client), print, SHORT) as coordinator,
    ):
        coordinator.wait_for_workers(60)
        Runner(PLAIN, cache, ClusterEngine(coordinator)).run(task)


def main() -> int:
    """Run the campaign; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run, to go on where one stopped")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--fault", choices=[fault.__name__ for fault in FAULTS], help="this one alone")
    parser.add_argument("--coordinate", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.coordinate:
        coordinate(*arguments.coordinate)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the processes of its cluster would stay
    lines, outcomes = list[str](), Counter[str]()
    for run in range(arguments.first, arguments.runs):
        random_ = random.Random(f"{arguments.seed} {run}")
        fault = FAULTS[0] if run % 2 == 0 else FAULTS[1 + run // 2 % 3]
        if arguments.fault:
            fault = next(f for f in FAULTS if f.__name__ == arguments.fault)
        task, expected = question(random_)
        began = monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = fault(random_, task, Path(folder))
            except Exception as problem:
                outcome = f"FAILED {type(problem).__name__}: {problem}"
            else:
                whole = result.verdict is not Verdict.EQUIVALENT or result.certified_fraction == 1.0
                right = result.verdict is expected and whole
                said = f"{result.verdict.value} {result.boxes} boxes{', resumed' * result.resumed}"
                outcome = said if right else f"FAILED {said} {result.reason} {result.message}"
        outcomes[f"{fault.__name__}: {'failed' if outcome.startswith('FAILED') else 'right'}"] += 1
        lines.append(f"{run:3} {fault.__name__:18} {outcome} in {monotonic() - began:.1f} s")
        print(lines[-1], flush=True)
    lines += [f"{count:3} {name}" for name, count in sorted(outcomes.items())]
    print("\n".join(lines[-len(outcomes) :]))
    if arguments.keep is not None:
        arguments.keep.write_text("\n".join(lines) + "\n")
    return int(any("failed" in name for name in outcomes))


if __name__ == "__main__":
    sys.exit(main())
