"""Runs many tasks and searches: in order or several at once, none of them able to take the others with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import field
from time import perf_counter

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.run.best_value import run_search
from eqspec.run.description import describe
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

Stop = Callable[[], bool]


@dataclass
class Outcome:
    """What became of several tasks: results in their order, without those that never ran. `failures` are exceptions."""

    results: list[Result] = field(default_factory=list)
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    interrupted: bool = False


@dataclass(frozen=True)
class _Done:
    result: Result
    failure: Exception | None
    interrupted: bool


def run_all(
    runner: Runner,
    items: Sequence[Task | Search],
    monitor: Monitor | None = None,
    jobs: int = 1,
    *,
    stop: Stop | None = None,
) -> Outcome:
    """Decide all tasks and answer all searches, `jobs` at a time.

    An exception in one becomes its result, unknown with its message, and the others go on. Ctrl-C stops those that run,
    keeps what is known of them, and leaves out the rest; so does `stop`, asked a few times a second, by answering True.
    """
    if jobs < 1:
        raise InputError(f"jobs = {jobs}; give 1 or more")
    batch = _Batch(runner, monitor or Monitor(), jobs if len(items) > 1 else 1)
    return batch.one_by_one(items, stop) if batch.jobs == 1 else batch.several_at_once(items, stop)


class _Batch:
    def __init__(self, runner: Runner, monitor: Monitor, jobs: int) -> None:
        self.runner, self.monitor, self.jobs = runner, monitor, jobs

    def one_by_one(self, items: Sequence[Task | Search], stop: Stop | None = None) -> Outcome:
        outcome = Outcome()
        try:
            for item in items:
                done = self._run(item, self.runner.options, stop)
                _add(outcome, item, done)
                if done.interrupted:
                    break
        except KeyboardInterrupt:
            outcome.interrupted = True
        return outcome

    def several_at_once(self, items: Sequence[Task | Search], stop: Stop | None = None) -> Outcome:
        """Python delivers Ctrl-C to the main thread alone, so that only waits, and is the one that asks `stop`; the
        tasks' own callbacks stop them.
        """
        outcome = Outcome()
        stopped = threading.Event()

        def work(item: Task | Search) -> _Done | None:
            options = self.runner.options
            if self.runner.engine.at_once is None:
                options = options.share(item.budget.threads, self.jobs)
            return None if stopped.is_set() else self._run(item, options, stopped.is_set)

        with ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(work, item) for item in items]
            pending = set(futures)
            while pending:
                try:
                    pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED).not_done
                    stopping = stop is not None and not stopped.is_set() and stop()
                except KeyboardInterrupt:
                    stopping = True
                if stopping:
                    stopped.set()
                    outcome.interrupted = True
        for item, future in zip(items, futures, strict=True):
            if (done := future.result()) is not None:
                _add(outcome, item, done)
        return outcome

    def _run(self, item: Task | Search, options: Options, stop: Stop | None) -> _Done:
        """Decide one task or search, and tell the monitor at once."""
        done = self._decide(item, options, stop)
        self.monitor.decided(done.result)
        return done

    def _decide(self, item: Task | Search, options: Options, stop: Stop | None) -> _Done:
        """Decide one task or search. An exception is kept as a failure and never becomes a proof."""
        began = perf_counter()
        try:
            if not isinstance(item, Task):
                result, interrupted = run_search(self.runner, item, self.monitor, stop=stop, options=options)
                return _Done(result, None, interrupted)
            self.monitor.started(item)
            result = self.runner.run(item, self.monitor, stop=stop, options=options)
            self.monitor.finished(item, result)
            return _Done(result, None, result.reason is Reason.INTERRUPTED)
        except Exception as error:
            result = self._failed(item, options, error, perf_counter() - began)
            if isinstance(item, Task):
                self.monitor.finished(item, result)
            return _Done(result, error, interrupted=False)

    def _failed(self, item: Task | Search, options: Options, error: Exception, seconds: float) -> Result:
        message = f"{type(error).__name__}: {error}"
        if isinstance(item, Task):
            return describe(item, options, Verdict.UNKNOWN, seconds, reason=Reason.ERROR, message=message)
        return Result(
            id=item.id,
            check=item.check,
            parameters=dict(item.parameters),
            verdict=Verdict.UNKNOWN,
            reason=Reason.ERROR,
            message=message,
            seconds=seconds,
            tags=item.tags,
            source=str(item.source) if item.source else None,
        )


def _add(outcome: Outcome, item: Task | Search, done: _Done) -> None:
    outcome.results.append(done.result)
    outcome.interrupted |= done.interrupted
    if done.failure is not None:
        outcome.failures.append((item.id, done.failure))
