"""JSON Lines while a run goes on: each result is on disk, or in the pipe, before the next task ends."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import IO

from eqspec.errors import unwritten
from eqspec.report import json
from eqspec.tasks.result import Result


class Lines:
    """Writes a line per result. A disk that is full stops nothing; `close` says so in the end."""

    def __init__(self, target: IO[str] | Path) -> None:
        self._file: IO[str]
        if isinstance(target, Path):
            self._name, self._own = str(target), True
            self._file = target.open("w", encoding="utf-8", errors="backslashreplace")
            self._sync = target.is_file()
        else:
            self._name, self._own, self._file, self._sync = "the output", False, target, False
        self._failure: OSError | None = None
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Write a result, now. After a failure nothing more is written, so that no line follows a broken one."""
        with self._lock:
            if self._failure is not None:
                return
            try:
                self._file.write(json.to_lines([result]) + "\n")
                self._file.flush()
                if self._sync:
                    os.fsync(self._file.fileno())
            except BrokenPipeError:
                raise
            except OSError as failure:
                self._failure = failure

    def close(self) -> None:
        """An error if not every line could be written."""
        if self._own:
            try:
                self._file.close()
            except OSError as failure:
                self._failure = self._failure or failure
        if self._failure is not None:
            raise unwritten(self._name, self._failure, "; lines are missing at its end")
