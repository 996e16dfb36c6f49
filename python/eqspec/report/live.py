"""What runs right now, on a terminal: one line per task with its certified share, boxes, boxes per second and time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console, RenderableType
from rich.text import Text

from eqspec.report.numbers import count, duration, share
from eqspec.report.table import STYLES
from eqspec.run.monitor import Monitor
from eqspec.run.monitor import Progress as State
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SECONDS_TO_TELL = 3.0
_SHARE_TO_TELL = 0.02
"""The proved share from which on the remaining time is estimated."""
_LAST = 5
"""How many tasks that are done are shown above those that run, where a table follows."""
_WIDE = 80
"""Columns below which there is no bar: the share says the same."""


def time_left(progress: State) -> str:
    """How long it takes at this rate, where enough was proved to tell; it often takes longer towards the end."""
    if progress.seconds < _SECONDS_TO_TELL or not _SHARE_TO_TELL <= progress.certified < 1.0:
        return ""
    seconds = progress.seconds * (1.0 - progress.certified) / progress.certified
    if seconds < 60:
        return f"~{max(1, round(seconds))} s left"
    if seconds < 3600:
        return f"~{round(seconds / 60)} min left"
    return f"~{round(seconds / 3600)} h left" if seconds < 100 * 3600 else "days left"


def _display(console: Console, done: Sequence[Text]) -> Progress:
    """The lines of a terminal, which show nothing yet but what is `done`; all of them are taken away in the end."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # half as long as the rest of rich
    from rich.table import Column

    class Display(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from done
            yield from super().get_renderables()

    wide = console.width >= _WIDE
    return Display(
        TextColumn(
            "{task.fields[name]}", markup=False, table_column=Column(ratio=3, no_wrap=True, overflow="ellipsis")
        ),
        *([BarColumn(bar_width=None, table_column=Column(ratio=2, max_width=24))] if wide else []),
        TextColumn("{task.fields[share]}", table_column=Column(no_wrap=True, justify="right", min_width=7)),
        TextColumn("{task.fields[boxes]}", table_column=Column(no_wrap=True, justify="right")),
        TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True, justify="right")),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        expand=True,
    )


class LiveMonitor(Monitor):
    """Lines on a terminal that are redrawn; without a terminal, one line per task that is done.

    Of `total` tasks and searches each counts once: a search when it is answered, not with every value that it tries.
    `each` is given every result of the run as soon as it is known. Where a table of all results follows on the same
    terminal (`told_again`), only the last tasks that are done are shown, and no line of them stays.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        each: Callable[[Result], None] | None = None,
        *,
        told_again: bool = False,
    ) -> None:
        self._console, self._total, self._done = console, total, 0
        self._each = each
        self._counted: set[str] = set()
        self._lines: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self._last: deque[Text] | None = deque(maxlen=_LAST) if told_again and console.is_terminal else None
        self._display = _display(console, () if self._last is None else self._last) if console.is_terminal else None

    def decided(self, result: Result) -> None:
        """Leave a line of a search, whose tasks did not count, and hand every result on."""
        if result.id not in self._counted:
            self._count(result.id, result)
        if self._each is not None:
            self._each(result)

    def __enter__(self) -> Self:
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            self._display.stop()

    def started(self, task: Task) -> None:
        """Open a line."""
        if self._display is None:
            return
        with self._lock:
            self._lines[task.id] = self._display.add_task("", total=1.0, name=task.id, share="0 %", boxes="", left="")

    def progress(self, task: Task, progress: State) -> None:
        """Redraw the line."""
        line = self._lines.get(task.id)
        if line is None or self._display is None:
            return
        rate = progress.boxes / progress.seconds if progress.seconds > 0 else 0.0
        speed = count(round(rate)) if rate >= 10 else f"{rate:.1f}"
        workers = getattr(progress, "workers", None)
        boxes = f"{count(progress.boxes)} {'box' if progress.boxes == 1 else 'boxes'}, {speed}/s"
        if workers is not None:
            boxes += f", {workers} worker{'s' * (workers != 1)}"
        self._display.update(
            line, completed=progress.certified, share=share(progress.certified), boxes=boxes, left=time_left(progress)
        )

    def finished(self, task: Task, result: Result) -> None:
        """Close the line; leave one that stays."""
        self._close(task)
        self._count(task.id, result)

    def tried(self, task: Task, result: Result) -> None:
        """The same for a value of a search; it does not count."""
        self._close(task)
        self._leave("tried", task.id, result)

    def _close(self, task: Task) -> None:
        if self._display is None:
            return
        with self._lock:
            if (line := self._lines.pop(task.id, None)) is not None:
                self._display.remove_task(line)
                self._display.refresh()

    def _count(self, name: str, result: Result) -> None:
        with self._lock:
            self._counted.add(name)
            self._done += 1
            done = f"{self._done}/{self._total}" if self._total else f"{self._done}"
        self._leave(done, name, result)

    def _leave(self, before: str, name: str, result: Result) -> None:
        verdict = (result.verdict.value, STYLES[result.verdict])
        message = Text.assemble(f"{before} ", (name, "bold"), " ", verdict, f" in {duration(result.seconds)}")
        if self._last is None:
            self._console.print(message, highlight=False, soft_wrap=True)
        else:
            message.no_wrap, message.overflow = True, "ellipsis"
            self._last.append(message)
