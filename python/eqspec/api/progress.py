"""The monitor that shows progress where the caller gives none: in the notebook's cell, or on the terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from eqspec.report.live import LiveMonitor
from eqspec.report.notebook_monitor import NotebookMonitor, in_notebook
from eqspec.report.terminal import Terminal
from eqspec.run.monitor import Monitor


def shown(progress: bool | None, total: int) -> AbstractContextManager[Monitor | None]:
    """A monitor for `total` tasks. None: in notebooks only; True: on a terminal, too; False: nowhere."""
    if progress is not False and in_notebook():
        return NotebookMonitor(total)
    return LiveMonitor(Terminal(stderr=True), total) if progress else nullcontext()
