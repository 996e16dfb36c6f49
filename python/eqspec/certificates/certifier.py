"""A certificate for each verdict of a run, in a folder."""

from __future__ import annotations

import re
import tempfile
import threading
from pathlib import Path
from types import TracebackType

from eqspec.certificates.auditor import Auditor
from eqspec.certificates.writer import Certificate, write_certificate
from eqspec.errors import InputError
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.task import Task

SUFFIX = ".eqcert"


class Certifier:
    """A context manager. `made` are the certificates by task id, also those that could not be made, with the reason."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError if nothing can be written there."""
        self.made: dict[str, Certificate] = {}
        self.folder = folder
        self._auditor = Auditor()
        self._lock = threading.Lock()
        self._records: dict[Task, Path] = {}
        self._count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._temporary = tempfile.TemporaryDirectory(dir=folder, prefix=".record-")
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from None

    def __enter__(self) -> Certifier:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._auditor.__exit__(kind, error, trace)
        self._temporary.cleanup()

    def record(self, task: Task) -> Path:
        """A new file for the search of a task."""
        with self._lock:
            self._count += 1
            self._records[task] = Path(self._temporary.name) / str(self._count)
            return self._records[task]

    def certify(self, task: Task, result: Result) -> None:
        """Write the certificate of a decided task, and have it audited."""
        with self._lock:
            record = self._records.pop(task)
        try:
            if result.verdict is not Verdict.UNKNOWN:
                with self._lock:
                    path = self._path(task.id)
                    self.made[task.id] = Certificate(path)  # keeps the name
                made = write_certificate(task, result, record, path, self._auditor)
                with self._lock:
                    self.made[task.id] = made
        finally:
            record.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        """A path that no other task of this run was given; ids that differ in odd characters only get a number."""
        stem = re.sub(r"[^\w.,=+-]+", "_", name).strip("_") or "task"
        taken = {c.path for i, c in self.made.items() if i != name}
        path, number = self.folder / (stem + SUFFIX), 2
        while path in taken:
            path, number = self.folder / f"{stem}-{number}{SUFFIX}", number + 1
        return path
