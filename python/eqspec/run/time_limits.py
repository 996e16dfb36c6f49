"""What a stage before a search may take of the time of its task, and what ends it then.

A stage asks `check` now and then. It raises KeyboardInterrupt where the user stops and TooLateError where the stage's
share of what is left is over, so that a time limit holds in stages that are no search.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from eqspec.run.options import Options
from eqspec.tasks.task import Task

Check = Callable[[], None]


class TooLateError(Exception):
    """The share of a stage is used up."""


def within(task: Task, options: Options, share: float, stop: Callable[[], bool] | None = None) -> Check:
    """The check of a stage that may take this share of what is left for the task; `stop` is asked, too."""
    deadline = perf_counter() + share * options.left(task)

    def check() -> None:
        if stop is not None and stop():
            raise KeyboardInterrupt
        if perf_counter() > deadline:
            raise TooLateError

    return check
