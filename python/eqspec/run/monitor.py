"""What is told while tasks run: override the methods to show it. None of them may change what happens."""

from __future__ import annotations

from typing import Protocol

from eqspec.tasks.result import Result
from eqspec.tasks.task import Task


class Progress(Protocol):
    """What the search knows so far."""

    @property
    def certified(self) -> float:
        """Share of the region proved, 0 to 1."""
        ...

    @property
    def boxes(self) -> int:
        """Boxes bounded so far."""
        ...

    @property
    def open_boxes(self) -> int:
        """Boxes that wait."""
        ...

    @property
    def seconds(self) -> float:
        """Since the search began."""
        ...


class Monitor:
    """Hears of tasks as they run, possibly from several threads at once. This one does nothing."""

    def started(self, task: Task) -> None:
        """A task begins."""

    def progress(self, task: Task, progress: Progress) -> None:
        """About ten times a second while it runs."""

    def finished(self, task: Task, result: Result) -> None:
        """It is done, whatever the outcome."""

    def tried(self, task: Task, result: Result) -> None:
        """It is done and was one value of a search: no result of the run, so it does not count as one."""

    def decided(self, result: Result) -> None:
        """What a run will report of a task, or of a search with all its tasks, is known."""
