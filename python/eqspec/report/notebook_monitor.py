"""Progress in the output of a notebook's cell."""

from __future__ import annotations

import importlib
import sys
import threading
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from eqspec.report import numbers
from eqspec.run.monitor import Monitor, Progress
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task

_PATIENCE = 0.5
"""Seconds before anything is shown, so that what is quick does not flicker; and between two pictures, half of it."""


def in_notebook() -> bool:
    """Whether this is a notebook: IPython with a kernel, which shows HTML."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


class NotebookMonitor(Monitor):
    """What runs right now, in the output of the cell; it leaves nothing behind."""

    def __init__(self, total: int) -> None:
        self._total, self._counted = total, set[str]()
        self._running: dict[str, Progress | None] = {}
        self._lock = threading.Lock()
        self._handle: Any = None
        self._due = perf_counter() + _PATIENCE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._handle is not None:
                self._show("")

    def started(self, task: Task) -> None:
        """Show a line for a task."""
        with self._lock:
            self._running[task.id] = None

    def progress(self, task: Task, progress: Progress) -> None:
        """A new picture, but not ten times a second."""
        with self._lock:
            self._running[task.id] = progress
            if perf_counter() >= self._due:
                self._show(self._picture())
                self._due = perf_counter() + _PATIENCE / 2

    def finished(self, task: Task, result: Result) -> None:  # noqa: ARG002
        """Remove the line of a task."""
        with self._lock:
            self._counted.add(task.id)
            self._running.pop(task.id, None)

    def tried(self, task: Task, result: Result) -> None:  # noqa: ARG002
        """A line less; a value that a search tries does not count."""
        with self._lock:
            self._running.pop(task.id, None)

    def decided(self, result: Result) -> None:
        """A search counts when it is answered."""
        with self._lock:
            self._counted.add(result.id)

    def _picture(self) -> str:
        from html import escape  # with all entities, of which a terminal needs none

        lines = (
            [f"<div>{len(self._counted)} of {numbers.plural(self._total, 'task')} done</div>"]
            if self._total > 1
            else []
        )
        for name, state in self._running.items():
            if state is not None:
                boxes = f"{numbers.count(state.boxes)} boxes"
                words = f"{numbers.share(state.certified)} proved, {boxes}, {numbers.duration(state.seconds)}"
                bar = f'<progress value="{state.certified}" max="1"></progress>'
                lines.append(f"<div>{escape(name)} {bar} {words}</div>")
        return "".join(lines)

    def _show(self, html: str) -> None:
        page: Any = importlib.import_module("IPython.display")
        if self._handle is None:
            self._handle = page.display(page.HTML(html), display_id=True)
        else:
            self._handle.update(page.HTML(html))
