"""The interface through which a runner has certificates made."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Protocol

from eqspec.tasks.result import Result
from eqspec.tasks.task import Task


class Certifier(Protocol):
    """Names a file for the record of each search and makes a certificate of it. Called from any thread."""

    def record(self, task: Task) -> Path | None:
        """A new file for the search of a task; None if none can be written."""

    def certify(self, task: Task, result: Result, seconds: float = inf) -> Result:
        """The result of a search that is over, or of what was decided before any: with the certificate that was made of
        it, or why there is none. `seconds` is what writing a proof may take, without its audit."""
