"""A monitor is told about tasks while they run; its methods are overridden to show that. None may change a result."""

from __future__ import annotations

from typing import Protocol

from eqspec.tasks.result import Result
from eqspec.tasks.task import Task


class Progress(Protocol):
    """The state of a running search."""

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
        """Boxes that are not decided yet."""
        ...

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        ...


class Monitor:
    """Is told about tasks as they run, possibly by several threads at once. This one does nothing."""

    def started(self, task: Task) -> None:
        """Called when a task begins."""

    def progress(self, task: Task, progress: Progress) -> None:
        """About ten times a second while it runs."""

    def finished(self, task: Task, result: Result) -> None:
        """A task is done, whatever its outcome."""

    def tried(self, task: Task, result: Result) -> None:
        """One value of a search was tried. This is no result of the run, so it does not count as one."""

    def decided(self, result: Result) -> None:
        """The result of a task, or of a search with all its tasks, is known."""
