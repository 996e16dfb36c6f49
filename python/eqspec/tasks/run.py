"""Runs tasks: the one place where the core is called.

A `Runner` keeps what tasks share: aligned pairs, the LP solver of each thread, sessions of onnxruntime. Budgets
come from the task; options given here replace them. Running out of a budget is a verdict, never an exception.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any

from eqspec import _core
from eqspec.errors import InputError
from eqspec.lp import HighsSolver
from eqspec.networks import Network
from eqspec.tasks.lowering import Pairs, lower_constraints, lower_property
from eqspec.tasks.monitor import Monitor, Progress
from eqspec.tasks.property import validate
from eqspec.tasks.replay import Replay
from eqspec.tasks.result import Reason, Result, Verdict
from eqspec.tasks.runtime import RuntimeReplay
from eqspec.tasks.task import Domain, Task
from eqspec.tasks.words import claim_in_words

ENGINE_VERSION = _core.__version__


@dataclass(frozen=True)
class Options:
    """How to run. What is not None replaces the budget of every task: `timeout` in seconds, `threads` for each task."""

    timeout: float | None = None
    threads: int | None = None
    domain: Domain = "shared"
    lp: bool = True

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout >= 0:
            raise InputError(f"timeout = {self.timeout} is no time; give seconds, 0 or more")
        if self.threads is not None and not 1 <= self.threads <= 1024:
            raise InputError(f"threads = {self.threads}; give a number from 1 to 1024, or none for one per core")
        if self.domain not in ("shared", "paper", "naive"):
            raise InputError(f"unknown domain {self.domain!r}; one of shared, paper, naive")

    def settings(self, task: Task) -> _core.Settings:
        """The core's settings for a task."""
        budget = task.budget
        timeout = budget.timeout if self.timeout is None else self.timeout
        chosen: dict[str, Any] = {"domain": self.domain, "lp": self.lp, "timeout": inf if timeout is None else timeout}
        if threads := self.threads or budget.threads:
            chosen["threads"] = threads
        if budget.memory is not None:
            chosen["memory"] = budget.memory
        return _core.Settings(**chosen)

    def record(self, task: Task) -> dict[str, Any]:
        """The same for the result's `settings`; None stands for no limit, or one per core."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        return {
            "domain": self.domain,
            "lp": self.lp,
            "timeout": timeout,
            "threads": self.threads or task.budget.threads,
            "memory": task.budget.memory,
        }


@dataclass
class Outcome:
    """What became of several tasks: results in their order, without those that never ran. `failures` are exceptions."""

    results: list[Result] = field(default_factory=list)
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    interrupted: bool = False


class Runner:
    """Runs tasks one after the other, or several at once, with the same options."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._pairs = Pairs()
        self._runtime = RuntimeReplay()
        self._local = threading.local()
        self._lock = threading.Lock()

    def run(self, task: Task, monitor: Monitor | None = None, stop: Callable[[], bool] | None = None) -> Result:
        """Decide one task.

        Running out of time or memory, or Ctrl-C, gives a result with what is known by then; so does `stop`, asked about
        ten times a second, by answering True. Raises InputError if the claim makes no sense for the networks.
        """
        began = perf_counter()
        validate(task.property, task.reference.output_size)
        settings = self.options.settings(task)
        with self._lock:
            pair = self._pairs.of(task)
        replay = Replay(task, self._runtime)

        def progress(state: Progress) -> None:
            if stop is not None and stop():
                raise KeyboardInterrupt
            if monitor is not None:
                monitor.progress(task, state)

        solution = _core.solve(
            pair,
            task.lower,
            task.upper,
            lower_property(task.property, task.reference.output_size),
            settings,
            constraints=lower_constraints(task),
            answer_lps=self._solver().answer,
            confirm=replay.confirm,
            progress=progress,
        )
        return _result(task, self.options, solution, replay, perf_counter() - began)

    def run_all(self, tasks: Sequence[Task], monitor: Monitor | None = None, jobs: int = 1) -> Outcome:
        """Decide all tasks, `jobs` at a time. An exception in one becomes its result, and the others go on.

        Ctrl-C stops the running tasks, whose partial results are kept, and leaves out the rest.
        """
        monitor = monitor or Monitor()
        outcome = Outcome()
        if jobs < 1:
            raise InputError(f"jobs = {jobs}; give 1 or more")
        if jobs == 1 or len(tasks) < 2:
            self._one_by_one(tasks, monitor, outcome)
        else:
            self._several_at_once(tasks, monitor, outcome, jobs)
        return outcome

    def _one_by_one(self, tasks: Sequence[Task], monitor: Monitor, outcome: Outcome) -> None:
        try:
            for task in tasks:
                result, failure = self._guarded(task, monitor, None)
                outcome.results.append(result)
                if failure is not None:
                    outcome.failures.append((task.id, failure))
                if result.reason is Reason.INTERRUPTED:
                    outcome.interrupted = True
                    return
        except KeyboardInterrupt:
            outcome.interrupted = True

    def _several_at_once(self, tasks: Sequence[Task], monitor: Monitor, outcome: Outcome, jobs: int) -> None:
        """Only the main thread hears Ctrl-C, so it does nothing but wait; then the tasks' own callbacks stop them."""
        stopped = threading.Event()

        def work(task: Task) -> tuple[Result, Exception | None] | None:
            return None if stopped.is_set() else self._guarded(task, monitor, stopped.is_set)

        with ThreadPoolExecutor(jobs) as pool:
            futures: list[Future[tuple[Result, Exception | None] | None]] = [pool.submit(work, task) for task in tasks]
            pending = set(futures)
            while pending:
                try:
                    pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED).not_done
                except KeyboardInterrupt:
                    stopped.set()
                    outcome.interrupted = True
        for task, future in zip(tasks, futures, strict=True):
            if (done := future.result()) is not None:
                outcome.results.append(done[0])
                if done[1] is not None:
                    outcome.failures.append((task.id, done[1]))

    def _guarded(
        self, task: Task, monitor: Monitor, stop: Callable[[], bool] | None
    ) -> tuple[Result, Exception | None]:
        began = perf_counter()
        monitor.started(task)
        failure: Exception | None = None
        try:
            result = self.run(task, monitor, stop)
        except Exception as error:  # one task must not take the others with it; it is never taken for a proof
            failure = error
            seconds = perf_counter() - began
            message = f"{type(error).__name__}: {error}"
            result = _describe(task, self.options, Verdict.UNKNOWN, seconds, reason=Reason.ERROR, message=message)
        monitor.finished(task, result)
        return result, failure

    def _solver(self) -> HighsSolver:
        if not hasattr(self._local, "solver"):
            self._local.solver = HighsSolver()
        solver: HighsSolver = self._local.solver
        return solver


def _result(task: Task, options: Options, solution: _core.Solution, replay: Replay, seconds: float) -> Result:
    verdict = Verdict(solution.verdict)
    reason = Reason(solution.reason) if verdict is Verdict.UNKNOWN and solution.reason else None
    if verdict is Verdict.DIFFERENT and replay.witness is None:
        raise RuntimeError("the core reports a difference that no replay confirmed")
    return _describe(
        task,
        options,
        verdict,
        seconds,
        reason=reason,
        vacuous=solution.vacuous,
        boxes=solution.boxes,
        splits=solution.splits,
        lps=solution.lps,
        initial_bound=solution.initial_bound,
        certified_fraction=solution.certified_fraction,
        open_boxes=solution.open_boxes,
        stages=dict(solution.stages),
        witness=replay.witness if verdict is Verdict.DIFFERENT else None,
    )


def _describe(task: Task, options: Options, verdict: Verdict, seconds: float, **found: Any) -> Result:
    """A result with what is known of the task beforehand, and what was found."""
    return Result(
        id=task.id,
        check=task.check,
        parameters=dict(task.parameters),
        verdict=verdict,
        expected=task.expected,
        seconds=seconds,
        claim=claim_in_words(task),
        tags=task.tags,
        settings=options.record(task),
        networks={
            "reference": _network_record(task.reference_name, task.reference),
            "candidate": _network_record(task.candidate_name, task.candidate),
        },
        engine_version=ENGINE_VERSION,
        source=str(task.source) if task.source else None,
        **found,
    )


def _network_record(name: str, network: Network) -> dict[str, str]:
    return {"name": name, "path": network.source, "sha256": network.sha256}
