"""Runs tasks: the one place where the core is called.

A `Runner` keeps what tasks share: aligned pairs, the LP solver of each thread, sessions of onnxruntime. Budgets
come from the task; options given here replace them. Running out of a budget is a verdict, never an exception.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any

from eqspec.errors import InputError
from eqspec.lp import HighsSolver
from eqspec.networks import Network
from eqspec.tasks import core, document
from eqspec.tasks.lowering import Pairs, lower_constraints, lower_property
from eqspec.tasks.monitor import Monitor, Progress
from eqspec.tasks.property import validate
from eqspec.tasks.replay import Replay
from eqspec.tasks.result import Reason, Result, Verdict
from eqspec.tasks.runtime import RuntimeReplay
from eqspec.tasks.task import Domain, Task
from eqspec.tasks.words import claim_in_words

__version__ = core.__version__


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Options:
    """How to run. What is not None replaces the budget of every task: `timeout` in seconds, `threads` for each task.

    `boxes` stops each task after so many boxes; None for no limit.
    """

    timeout: float | None = None
    threads: int | None = None
    domain: Domain = "shared"
    lp: bool = True
    boxes: int | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout >= 0:
            raise InputError(f"timeout = {self.timeout} is no time; give seconds, 0 or more")
        if self.threads is not None and not 1 <= self.threads <= 1024:
            raise InputError(f"threads = {self.threads}; give a number from 1 to 1024, or none for one per core")
        if self.boxes is not None and self.boxes < 1:
            raise InputError(f"boxes = {self.boxes}; give a limit of 1 or more, or none")
        if self.domain not in ("shared", "paper", "naive"):
            raise InputError(f"unknown domain {self.domain!r}; one of shared, paper, naive")

    def share(self, threads: int | None, jobs: int) -> Options:
        """The same for one of `jobs` tasks at once: if nobody says how many threads, it gets its share of the cores."""
        return self if self.threads or threads else replace(self, threads=max(1, cores() // jobs))

    def settings(self, task: Task) -> core.Settings:
        """The core's settings for a task."""
        budget = task.budget
        timeout = budget.timeout if self.timeout is None else self.timeout
        chosen: dict[str, Any] = {"domain": self.domain, "lp": self.lp, "timeout": inf if timeout is None else timeout}
        if threads := self.threads or budget.threads:
            chosen["threads"] = threads
        if budget.memory is not None:
            chosen["memory"] = budget.memory
        if self.boxes is not None:
            chosen["boxes"] = self.boxes
        return core.Settings(**chosen)

    def record(self, task: Task) -> dict[str, Any]:
        """The same for the result's `settings`; None stands for no limit, or one per core."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        return {
            "domain": self.domain,
            "lp": self.lp,
            "timeout": timeout,
            "threads": self.threads or task.budget.threads,
            "memory": task.budget.memory,
            "boxes": self.boxes,
        }


class Runner:
    """Runs tasks with the same options, from any number of threads."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._pairs = Pairs()
        self._runtime = RuntimeReplay()
        self._local = threading.local()
        self._lock = threading.Lock()

    def run(
        self,
        task: Task,
        monitor: Monitor | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        options: Options | None = None,
    ) -> Result:
        """Decide one task.

        Running out of time or memory, or Ctrl-C, gives a result with what is known by then; so does `stop`, asked
        about ten times a second, by answering True. `options` replaces the runner's own. Raises InputError if the
        claim makes no sense for the networks.
        """
        began = perf_counter()
        options = options or self.options
        validate(task.property, task.reference.output_size)
        settings = options.settings(task)
        with self._lock:
            pair = self._pairs.of(task)
        replay = self.replay(task)

        def progress(state: Progress) -> None:
            if stop is not None and stop():
                raise KeyboardInterrupt
            if monitor is not None:
                monitor.progress(task, state)

        solution = core.solve(
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
        return _result(task, options, solution, replay, perf_counter() - began)

    def replay(self, task: Task) -> Replay:
        """The replay of a task's candidates, onnxruntime included."""
        return Replay(task, self._runtime)

    def _solver(self) -> HighsSolver:
        if not hasattr(self._local, "solver"):
            self._local.solver = HighsSolver()
        solver: HighsSolver = self._local.solver
        return solver


def _result(task: Task, options: Options, solution: core.Solution, replay: Replay, seconds: float) -> Result:
    verdict = Verdict(solution.verdict)
    reason = Reason(solution.reason) if verdict is Verdict.UNKNOWN and solution.reason else None
    if verdict is Verdict.DIFFERENT and replay.witness is None:
        raise RuntimeError("the core reports a difference that no replay confirmed")
    if verdict is Verdict.EQUIVALENT and replay.witness is not None:
        # A net under everything else: an input that exactly violates the claim refutes any proof of it.
        raise RuntimeError("the core reports a proof, and a replayed input contradicts it; please report this")
    return describe(
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


def describe(task: Task, options: Options, verdict: Verdict, seconds: float, **found: Any) -> Result:
    """A result: what is known of the task beforehand, and what was found; with a witness, the task to replay it on."""
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
        engine_version=__version__,
        source=str(task.source) if task.source else None,
        task=document.to_json(task) if found.get("witness") is not None else None,
        **found,
    )


def _network_record(name: str, network: Network) -> dict[str, str]:
    return {"name": name, "path": network.source, "sha256": network.sha256}
