"""Runs tasks: the one place where the core is called.

A `Runner` keeps what tasks share: aligned pairs, the LP solver of each thread, sessions of onnxruntime. Budgets
come from the task; options given here replace them. Running out of a budget is a verdict, never an exception.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

from eqspec.errors import InputError, InternalError, ResourceError, SavedStateError
from eqspec.lp import HighsSolver, MixedSolver
from eqspec.networks import Network
from eqspec.tasks import core, document
from eqspec.tasks.certifier import Certifier
from eqspec.tasks.history import Recorder
from eqspec.tasks.improving import improve
from eqspec.tasks.lowering import Pairs, lower_constraints, lower_property
from eqspec.tasks.monitor import Monitor, Progress
from eqspec.tasks.nearly import nearly
from eqspec.tasks.observed import Moment
from eqspec.tasks.property import validate
from eqspec.tasks.range import refuse_overflow
from eqspec.tasks.recall import Earlier, Effort, Recall, key_of
from eqspec.tasks.replay import Replay
from eqspec.tasks.result import Nearly, Reason, Result, Verdict, Witness
from eqspec.tasks.runtime import RuntimeReplay
from eqspec.tasks.sampling import largest_output, sample
from eqspec.tasks.scores import left_out
from eqspec.tasks.task import Domain, Task
from eqspec.tasks.undecided import undecided
from eqspec.tasks.words import claim_in_words

__version__ = core.__version__


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Options:
    """How to run. What is not None replaces the budget of every task: `timeout` in seconds, `threads` for each task.

    `boxes` stops each task after so many boxes; None for no limit. `certifier` is given every verdict. `milp` asks a
    mixed-integer solver, as a last resort, about what splitting does not settle; what rests on its word stays unknown.
    A witness has few features apart from the base of its region; without `simplify` it only breaks the claim by much.
    With `weaken`, claims a hair weaker are tried where rounding alone stands in the way, which takes a little longer.
    """

    timeout: float | None = None
    threads: int | None = None
    domain: Domain = "shared"
    lp: bool = True
    milp: bool = False
    boxes: int | None = None
    certifier: Certifier | None = None
    simplify: bool = True
    weaken: bool = True

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
        if self.milp:
            chosen["milp"] = True
        if self.boxes is not None:
            chosen["boxes"] = self.boxes
        if self.certifier is not None and (record := self.certifier.record(task)) is not None:
            chosen["record"] = record
        return core.Settings(**chosen)

    def effort(self, task: Task) -> Effort:
        """What a task may cost."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        threads = self.threads or task.budget.threads or cores()
        return Effort(inf if timeout is None else timeout, threads, inf if self.boxes is None else self.boxes)

    def record(self, task: Task) -> dict[str, Any]:
        """The same for the result's `settings`; None stands for no limit, or one per core."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        return {
            "domain": self.domain,
            "lp": self.lp,
            "milp": self.milp,
            "timeout": timeout,
            "threads": self.threads or task.budget.threads,
            "memory": task.budget.memory,
            "boxes": self.boxes,
        }


class Runner:
    """Runs tasks with the same options, from any number of threads."""

    def __init__(self, options: Options | None = None, recall: Recall | None = None) -> None:
        self.options, self.recall = options or Options(), recall
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
        claim makes no sense for the networks, or if float32 is claimed and could overflow; ResourceError if threads or
        memory are not to be had. Whatever is raised, what is kept of the task from earlier runs stays.
        """
        try:
            return self._run(task, monitor, stop, options or self.options)
        except MemoryError:
            raise ResourceError(f"{task.id}: there is not enough memory; run fewer tasks or threads at once") from None

    def _run(self, task: Task, monitor: Monitor | None, stop: Callable[[], bool] | None, options: Options) -> Result:
        validate(task.property, task.reference.output_size)
        refuse_overflow(task)
        if self.recall is None or options.certifier is not None:  # a certificate needs the whole proof, made now
            return self._search(task, monitor, stop, options, Earlier())
        key, effort = self.key(task, options), options.effort(task)
        blank = describe(task, options, Verdict.UNKNOWN, 0.0)
        if (known := self.recall.result(key, task, blank, effort, self.replay(task))) is not None:
            return known
        with self.recall.search(key) as earlier:
            result = self._search(task, monitor, stop, options, earlier)
            kept = self.recall.keep(key, result, effort)
            if kept and result.verdict is not Verdict.UNKNOWN:  # not before: else a full disk would lose both
                earlier.forget()
        return result

    def key(self, task: Task, options: Options | None = None) -> str:
        """What the result of a task is remembered under."""
        pair, claim = self._lowered(task)
        settings, rows = (options or self.options).settings(task), lower_constraints(task)
        return key_of(task, core.fingerprint(pair, task.lower, task.upper, claim, settings, constraints=rows))

    def _lowered(self, task: Task) -> tuple[core.Pair, core.Property]:
        with self._lock:
            pair = self._pairs.of(task)
        return pair, lower_property(task.property, task.reference.output_size)

    def _search(
        self,
        task: Task,
        monitor: Monitor | None,
        stop: Callable[[], bool] | None,
        options: Options,
        earlier: Earlier,
    ) -> Result:
        began = perf_counter() - earlier.seconds
        pair, claim = self._lowered(task)
        replay = self.replay(task)
        recorder = Recorder()

        def progress(state: Progress) -> None:
            recorder.note(state)
            if stop is not None and stop():
                raise KeyboardInterrupt
            if monitor is not None:
                monitor.progress(task, state)

        solve = partial(
            core.solve,
            pair,
            task.lower,
            task.upper,
            claim,
            options.settings(task),
            constraints=lower_constraints(task),
            answer_lps=self._solver().answer,
            answer_milp=MixedSolver().answer if options.milp else None,
            confirm=replay.confirm,
            progress=progress,
        )
        if earlier.kept and self.recall is not None:
            every = self.recall.keep_every
            solve = partial(solve, keep=lambda state: earlier.keep(state, perf_counter() - began), keep_every=every)
        if earlier.state is not None:
            try:
                solution = solve(state=earlier.state)
            except SavedStateError as problem:  # anything else says nothing about the state, which stays
                earlier.refuse(str(problem))
                began, solution = perf_counter(), solve()
        else:
            solution = solve()
        shown = {
            "resumed": earlier.state is not None,
            "history": recorder.until(
                Moment(solution.seconds, solution.certified_fraction, solution.boxes, solution.open_boxes)
            ),
            "undecided": undecided(task, solution.open_sample),
            "sampled": sample(task, pair),
        }
        witness: Witness | None = solution.witness
        if witness is not None:
            witness = improve(task, replay, witness, perf_counter() - began, simplify=options.simplify)
        result = _result(task, options, solution, witness, perf_counter() - began, shown)
        if options.weaken and result.verdict is Verdict.UNKNOWN:
            result = replace(result, nearly=self._nearly(task, result, pair, stop, options))
        return result if options.certifier is None else options.certifier.certify(task, result)

    def _nearly(
        self, task: Task, result: Result, pair: core.Pair, stop: Callable[[], bool] | None, options: Options
    ) -> Nearly | None:
        def proves(easier: Task, seconds: float) -> bool:
            brief = replace(options, timeout=seconds, milp=False, certifier=None, weaken=False)
            return self._search(easier, None, stop, brief, Earlier()).verdict is Verdict.EQUIVALENT

        return nearly(task, result, largest_output(task, pair), proves)

    def replay(self, task: Task) -> Replay:
        """The replay of a task's candidates, onnxruntime included."""
        return Replay(task, self._runtime)

    def _solver(self) -> HighsSolver:
        if not hasattr(self._local, "solver"):
            self._local.solver = HighsSolver()
        solver: HighsSolver = self._local.solver
        return solver


def _result(
    task: Task,
    options: Options,
    solution: core.Solution,
    witness: Witness | None,
    seconds: float,
    shown: Mapping[str, Any],
) -> Result:
    verdict = Verdict(solution.verdict)
    reason = Reason(solution.reason) if verdict is Verdict.UNKNOWN and solution.reason else None
    if verdict is Verdict.DIFFERENT and witness is None:
        raise InternalError("the core reports a difference that no replay confirmed")
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
        milps=solution.milps,
        rests_on_solver=solution.rests_on_solver,
        initial_bound=solution.initial_bound,
        certified_fraction=solution.certified_fraction,
        open_boxes=solution.open_boxes,
        stages=dict(solution.stages),
        effort=dict(solution.effort),
        worst_open=_plain(solution.worst_open),
        witness=witness,
        **shown,
    )


def _plain(found: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The worst open box in plain numbers."""
    if found is None:
        return None
    return {**found, "lower": found["lower"].tolist(), "upper": found["upper"].tolist()}


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


def _network_record(name: str, network: Network) -> dict[str, Any]:
    return {"name": name, "path": network.source, "sha256": network.sha256, "left_out": left_out(network)}
