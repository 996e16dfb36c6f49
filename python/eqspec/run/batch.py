"""Runs many tasks and searches: in order or several at once, none of them able to take the others with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import field
from functools import partial
from time import perf_counter

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.run.best_value import run_search
from eqspec.run.description import describe
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Rest, Runner
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

Stop = Callable[[], bool]
Item = Task | Search

_LEFT = 1
"""So many results may still be made ready when the next search ends; with more, Ctrl-C would wait longer for them."""


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
    items: Sequence[Item],
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

    def one_by_one(self, items: Sequence[Item], stop: Stop | None = None) -> Outcome:
        """One search at a time, in this thread.

        What is left of a result when its search is over, another thread does while the next search runs. It tells the
        results in their order.
        """
        outcome = Outcome()
        left: list[tuple[Item, Future[_Done]]] = []

        def add(most: int) -> None:
            """Add results until at most so many are left."""
            while len(left) > most:
                wait([left[0][1]])  # Ctrl-C may come here, and loses no result
                item, done = left.pop(0)
                _add(outcome, item, done.result())

        with ThreadPoolExecutor(1) as behind:
            try:
                for item in items:
                    begun = self._begun(item, self.runner.options, stop)
                    left.append((item, behind.submit(self._ended, item, self.runner.options, begun)))
                    if isinstance(begun, _Done) and begun.interrupted:
                        break
                    add(_LEFT)
                add(0)
            except KeyboardInterrupt:
                outcome.interrupted = True
        add(0)
        return outcome

    def several_at_once(self, items: Sequence[Item], stop: Stop | None = None) -> Outcome:
        """Python delivers Ctrl-C to the main thread alone, so that only waits, and is the one that asks `stop`; the
        tasks' own callbacks stop them.
        """
        outcome = Outcome()
        stopped = threading.Event()

        def work(item: Item) -> _Done | None:
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

    def _run(self, item: Item, options: Options, stop: Stop | None) -> _Done:
        """Decide one task or search, and tell the monitor at once."""
        return self._ended(item, options, self._begun(item, options, stop))

    def _begun(self, item: Item, options: Options, stop: Stop | None) -> _Done | Callable[[], _Done]:
        """Decide one task or search, but for what another thread may do.

        An exception is kept as a failure and never becomes a proof.
        """
        began = perf_counter()
        try:
            if not isinstance(item, Task):
                result, interrupted = run_search(self.runner, item, self.monitor, stop=stop, options=options)
                return _Done(result, None, interrupted)
            self.monitor.started(item)
            found = self.runner.begin(item, self.monitor, stop=stop, options=options)
        except Exception as error:
            return self._failed(item, options, error, perf_counter() - began)
        if isinstance(found, Result):
            return _Done(found, None, found.reason is Reason.INTERRUPTED)
        return partial(self._rest, item, options, found, began)

    def _rest(self, item: Task, options: Options, rest: Rest, began: float) -> _Done:
        try:
            return _Done(rest(), None, interrupted=False)
        except Exception as error:
            return self._failed(item, options, error, perf_counter() - began)

    def _ended(self, item: Item, options: Options, begun: _Done | Callable[[], _Done]) -> _Done:
        """What became of an item, with what is left of it done. The monitor is told, or that it could not be."""
        done = begun if isinstance(begun, _Done) else begun()
        if isinstance(item, Task):
            try:
                self.monitor.finished(item, done.result)
            except Exception as error:
                done = self._failed(item, options, error, done.result.seconds)
                self.monitor.finished(item, done.result)
        self.monitor.decided(done.result)
        return done

    def _failed(self, item: Item, options: Options, error: Exception, seconds: float) -> _Done:
        return _Done(self._failure(item, options, error, seconds), error, interrupted=False)

    def _failure(self, item: Item, options: Options, error: Exception, seconds: float) -> Result:
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


def _add(outcome: Outcome, item: Item, done: _Done) -> None:
    outcome.results.append(done.result)
    outcome.interrupted |= done.interrupted
    if done.failure is not None:
        outcome.failures.append((item.id, done.failure))
