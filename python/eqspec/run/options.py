"""How tasks are run: limits, and which means the search may use."""

from __future__ import annotations

import os
from dataclasses import replace
from math import inf
from numbers import Integral, Real
from pathlib import Path
from time import perf_counter
from typing import Any

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.run import core
from eqspec.run.certifier import Certifier
from eqspec.run.result_cache import Effort
from eqspec.tasks.task import Domain, Task


def cores() -> int:
    """Cores this process may use, in a container no more than its share of the processors."""
    return core.processors()


THREADS_PER_CORE = 4
"""More threads only wait for one another: a thousand on two cores took half a minute for the search of a second."""


def at_most(threads: int) -> int:
    """Of so many threads those that are of use on this machine."""
    return min(threads, THREADS_PER_CORE * cores())


_LEAST_SECONDS = 0.5
"""What a search is given where the stages before it took the time: enough to find what is easily found."""

MEMORY = 2 << 30
"""The limit on memory in bytes where none is given; it is the default of the core."""


@dataclass(frozen=True)
class Options:
    """How to run. What is not None replaces the budget of every task: `timeout` in seconds, `threads` for each task, of
    which `at_most` are started, `memory` in bytes, for its open boxes and as much for the zonotopes of each thread.

    `boxes` stops each task after so many boxes; None for no limit. `certifier` is given every verdict. `milp` asks a
    mixed-integer solver, as a last resort, about what splitting does not settle; what rests on its word stays unknown.
    With `simplify`, a witness differs from the base of its region in few features; without, it only breaks the claim
    clearly.
    `since` is a folder of results of an earlier run, whose proofs are hints for those of this one.
    With `weaken`, slightly weaker claims are tried where a task is undecided because of rounding alone.
    `ends` is when the time of the task that runs is over, None before it is begun; on the clock of `perf_counter`.
    """

    timeout: float | None = None
    threads: int | None = None
    memory: int | None = None
    domain: Domain = "shared"
    lp: bool = True
    milp: bool = False
    boxes: int | None = None
    certifier: Certifier | None = None
    simplify: bool = True
    weaken: bool = True
    since: str | os.PathLike[str] | None = None
    ends: float | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not (isinstance(self.timeout, Real) and self.timeout >= 0):
            raise InputError(f"timeout = {self.timeout!r} is not a time; give seconds, 0 or more")
        if self.threads is not None and not (isinstance(self.threads, Integral) and 1 <= self.threads <= 1024):
            raise InputError(f"threads = {self.threads!r}; give a number from 1 to 1024, or none for one per core")
        if self.memory is not None and not (isinstance(self.memory, Integral) and 1 <= self.memory < 1 << 62):
            raise InputError(f"memory = {self.memory!r}; give bytes, 1 or more, or none for the default")
        if self.boxes is not None and not (isinstance(self.boxes, Integral) and self.boxes >= 1):
            raise InputError(f"boxes = {self.boxes!r}; give a limit of 1 or more, or none")
        if self.since is not None and not Path(self.since).is_dir():
            what = "it is not a folder" if Path(self.since).exists() else "there is no such folder"
            raise InputError(
                f"since = {self.since}: {what}; name the cache of an earlier run, or where it wrote its certificates"
            )
        if self.domain not in ("shared", "paper", "naive"):
            raise InputError(f"unknown domain {self.domain!r}; one of shared, paper, naive")

    def share(self, threads: int | None, jobs: int) -> Options:
        """The options for one of `jobs` tasks at once. Without a number of threads it gets its share of the cores."""
        return self if self.threads or threads else replace(self, threads=max(1, cores() // jobs))

    def workers(self, task: Task) -> int:
        """The threads that a task may use."""
        return self.threads or task.budget.threads or cores()

    def settings(self, task: Task) -> core.Settings:
        """The core's settings for a task on this machine."""
        chosen = self.chosen(task)
        if "threads" in chosen:
            chosen["threads"] = at_most(chosen["threads"])
        return core.Settings(**chosen)

    def chosen(self, task: Task) -> dict[str, Any]:
        """The settings for a task by name; with a certifier also a new file for the record of its proof."""
        budget = task.budget
        chosen: dict[str, Any] = {"domain": self.domain, "lp": self.lp, "timeout": self.left(task)}
        if threads := self.threads or budget.threads:
            chosen["threads"] = threads
        if memory := self.memory or budget.memory:
            chosen["memory"] = chosen["zonotope_memory"] = memory
        if self.milp:
            chosen["milp"] = True
        if self.boxes is not None:
            chosen["boxes"] = self.boxes
        if self.certifier is not None and (record := self.certifier.record(task)) is not None:
            chosen["record"] = record
        return chosen

    def seconds(self, task: Task) -> float:
        """What a task may take; inf for no limit."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        return inf if timeout is None else timeout

    def begun(self, task: Task) -> Options:
        """These options with the time of a task running, unless it runs already."""
        return self if self.ends is not None else replace(self, ends=perf_counter() + self.seconds(task))

    def left(self, task: Task) -> float:
        """What is left of the time of a task; a little always, where it has any."""
        whole = self.seconds(task)
        return whole if self.ends is None else max(self.ends - perf_counter(), min(whole, _LEAST_SECONDS))

    def seconds_of_writing(self, task: Task) -> float:
        """What writing the certificate of a task may take: as long as the task, but a minute at least, because reading
        both networks exactly takes as long for a task of a second as for one of an hour.
        """
        return max(self.seconds(task), 60.0)

    def effort(self, task: Task) -> Effort:
        """The limits on a task, as the cache compares them."""
        memory = self.memory or task.budget.memory or MEMORY
        boxes = inf if self.boxes is None else self.boxes
        return Effort(self.seconds(task), self.workers(task), boxes, memory)

    def record(self, task: Task) -> dict[str, Any]:
        """These options as the `settings` of a result. None stands for no limit, or one thread per core."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        return {
            "domain": self.domain,
            "lp": self.lp,
            "milp": self.milp,
            "timeout": timeout,
            "threads": self.threads or task.budget.threads,
            "memory": self.memory or task.budget.memory,
            "boxes": self.boxes,
        }
