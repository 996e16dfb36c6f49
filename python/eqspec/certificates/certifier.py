"""A certificate for each verdict of a run, in a folder.

The auditor reads the networks exactly, which takes longer than many a proof: so it begins when the search does. The
writer reads them only once there is a proof to be written, since the certificate of a counterexample needs neither.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from math import inf
from pathlib import Path
from time import time
from types import TracebackType
from typing import TypeAlias

from eqspec.certificates.auditor import Auditor
from eqspec.certificates.models import KeptModels
from eqspec.certificates.writer import Certificate, unwritten_certificate, write_certificate
from eqspec.errors import unwritten
from eqspec.tasks import file_names, serialisation
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

SUFFIX = ".eqcert"
RECORDS = ".record-"
"""How the name of a run's own folder begins, in which its searches keep their records."""
ABANDONED = 86400.0
"""Seconds without a change after which such a folder, or a part of a file, is one of a run that was killed."""

_DIGITS = 16
"""Of a digest, in the name of a certificate."""


TaskName: TypeAlias = tuple[str, str]
"""The spec file of a task, empty for one of no spec, and its id: specs of one run may have checks of one name."""


def name_of(task: Task) -> TaskName:
    """What tells a task from all others of a run."""
    return "" if task.source is None else task.source.source.name, task.id


class Certifier:
    """A context manager. `made` are the certificates by task, also those that could not be made, with the reason."""

    def __init__(self, folder: Path, auditor: Auditor | None = None, *, by_claim: bool = False) -> None:
        """With an auditor of one's own, which is then left running. `by_claim`: ids name no claims, as those of other
        runs are the same; certificates are named by what decides the verdict, too. Raises InputError if nothing can be
        written.
        """
        self.made: dict[TaskName, Certificate] = {}
        self.folder = folder
        self._auditor, self._lent = auditor or Auditor(), auditor is not None
        self._ahead = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
        self._reading: dict[Task, Future[None]] = {}
        self._lock = threading.Lock()
        self._records: dict[Task, Path] = {}
        self._by_claim = by_claim
        self._count = 0
        self._models = KeptModels(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _sweep(folder)
            self._temporary = tempfile.TemporaryDirectory(dir=folder, prefix=RECORDS)
        except OSError as error:
            raise unwritten(folder, error, "; name another folder for certificates") from None

    def __enter__(self) -> Certifier:
        self._auditor.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ahead.shutdown(wait=kind is None, cancel_futures=True)
        if not self._lent:
            self._auditor.__exit__(kind, error, trace)
        with suppress(OSError):
            self._models.tidy()
        with suppress(OSError):
            self._temporary.cleanup()

    @property
    def missing(self) -> dict[str, str]:
        """Why there is no certificate of a task, by its id, with its spec in front where others have this id."""
        with self._lock:
            specs = Counter(task for _, task in self.made)
            return {
                f"{spec}: {task}" if specs[task] > 1 else task: made.reason
                for (spec, task), made in self.made.items()
                if made.reason is not None
            }

    @property
    def without_room(self) -> bool:
        """Whether there is no certificate of some task because the machine did not give what was needed for it."""
        with self._lock:
            return any(made.no_room for made in self.made.values())

    def record(self, task: Task) -> Path | None:
        """A new file for the search of a task; None if none can be written, which `certify` gives as the reason."""
        with self._lock:
            self._count += 1
            path = self._records[task] = Path(self._temporary.name) / str(self._count)
        try:
            path.touch()
            filed = self._filed(task)
        except OSError:
            return None
        reading = self._ahead.submit(self._auditor.read, serialisation.to_json(filed), Path.cwd())
        with self._lock:
            self._reading[task] = reading
        return path

    def certify(self, task: Task, result: Result, seconds: float = inf) -> Result:
        """Write the certificate of a decided task, and have it audited: the result, with its path or the reason.

        After so many seconds a proof that is not yet as the auditor takes it is given up, which is then the reason.

        A task of which there is no `record` was decided by exact integers, or by a witness that they led to.
        """
        if (reading := self._reading.pop(task, None)) is not None:
            wait([reading])  # if it failed, the same is about to fail again, and is told there
        with self._lock:
            record = self._records.pop(task, None)
            if result.verdict is Verdict.UNKNOWN:
                path = None
            else:
                name = name_of(task)  # kept for it from now on
                path = self._path(task)
                self.made[name] = Certificate(path, "the run was stopped while it was written")
        try:
            if path is None:
                return result
            made = self._written(task, result, record, path, seconds)
            with self._lock:
                self.made[name_of(task)] = made
                if made.reason is None:
                    self._models.need(task)
            return replace(result, certificate=None if made.reason else str(path), uncertified=made.reason)
        finally:
            if record is not None:
                with suppress(OSError):
                    record.unlink(missing_ok=True)

    def _filed(self, task: Task) -> Task:
        with self._lock:
            return self._models.filed(task)

    def _written(self, task: Task, result: Result, record: Path | None, path: Path, seconds: float) -> Certificate:
        try:
            filed = self._filed(task)
        except OSError as error:
            return unwritten_certificate(path, error)
        return write_certificate(filed, result, record, path, self._auditor, seconds)

    def _path(self, task: Task) -> Path:
        """A path that no other task of this run was given; ids that differ in odd characters only, and those that
        several specs have, get a number.
        """
        name = name_of(task)
        stem = file_names.stem(name[1])
        if self._by_claim:
            stem = f"{stem}-{serialisation.to_json(task)['sha256'][:_DIGITS]}"
        taken = {c.path for i, c in self.made.items() if i != name}
        path, number = self.folder / (stem + SUFFIX), 2
        while path in taken:
            path, number = self.folder / f"{stem}-{number}{SUFFIX}", number + 1
        return path


def _sweep(folder: Path) -> None:
    """Remove what killed runs have left: records, which may be large, and parts of certificates and models."""
    before = time() - ABANDONED
    left = f"{RECORDS}*", f"*{SUFFIX}.*.part", "*.onnx.*.part"
    for path in chain.from_iterable(map(folder.glob, left)):
        with suppress(OSError):
            if path.is_symlink():
                continue
            inner = [*path.iterdir()] if path.is_dir() else []
            if max(one.lstat().st_mtime for one in (path, *inner)) < before:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
