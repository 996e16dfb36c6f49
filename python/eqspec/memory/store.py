"""The store: two kinds of entries by key, results (small, JSON) and stopped searches (bytes, one owner at a time).

Nothing that goes wrong here may stop a run or change a verdict: a file that does not read back is told about, removed
and as good as absent; a disk that is full or cannot be written is told about once, and the run goes on without.

Several processes may use a store at once. Entries are replaced whole, so the worst that can happen is that one of two
equally true entries stays. A stopped search belongs to the process that holds its lock, which the system releases
however that process ends.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from eqspec.errors import InputError
from eqspec.memory.sealed import TEMPORARY, BrokenError, head, opened, replace_file

LIMIT = 2 << 30
"""Bytes a store may take before the entries that were not used for longest go."""
_OLD = 86400.0
"""Seconds after which a file that somebody began to write is surely abandoned."""
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Results that eqspec keeps; they can be deleted at any time.\n"

Kind = Literal["result", "search"]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Usage:
    """What a store holds."""

    results: int
    searches: int
    bytes: int


class Store:
    """Entries below a folder, which is made when the first is written."""

    def __init__(self, folder: Path, *, limit: int = LIMIT, tell: Tell | None = None) -> None:
        self.folder, self._limit = folder, limit
        self._tell = tell or logging.getLogger("eqspec").warning
        self._failed = False
        self._written = False
        self._lock = threading.Lock()

    def require(self) -> None:
        """InputError unless the folder is there, or can be made, and can be written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / "CACHEDIR.TAG", _TAG)
        except OSError as error:
            raise InputError(f"cannot keep results in {self.folder}: {error.strerror or error}") from None

    def read(self, kind: Kind, key: str) -> bytes | None:
        """What was kept under a key; None if nothing was, or if it cannot be trusted."""
        path = self._path(kind, key)
        try:
            content = opened(kind, key, path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            self._cannot(error)
            return None
        except BrokenError as broken:
            self.forget(kind, key, str(broken))
            return None
        with suppress(OSError):
            os.utime(path)  # used just now
        return content

    def write(self, kind: Kind, key: str, *parts: bytes) -> bool:
        """Keep the parts, one after the other, instead of what was there. Whether they are on disk now."""
        path = self._path(kind, key)
        if sum(map(len, parts)) > self._limit / 2:
            self._tell(f"what is left of a search is not kept: it would fill half of {self.folder}")
            return False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, head(kind, key, *parts), *parts)
        except OSError as error:
            self._cannot(error)
            return False
        self._written = True
        return True

    def forget(self, kind: Kind, key: str, why: str | None = None) -> None:
        """Remove an entry; say so if there is a reason to."""
        path = self._path(kind, key)
        if why is not None:
            self._tell(f"{path} is not used and removed: {why}")
        with suppress(OSError):
            path.unlink(missing_ok=True)

    @contextmanager
    def search(self, key: str) -> Iterator[SavedSearch | None]:
        """The stopped search of a key; None while another process or thread has it in the same context."""
        path = self._path("search", key)
        lock = FileLock(path.with_suffix(".lock"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            yield None
            return
        except OSError as error:
            self._cannot(error)
            yield None
            return
        saved = SavedSearch(self, key)
        try:
            yield saved
        finally:
            if not path.exists():
                with suppress(OSError):
                    path.with_suffix(".lock").unlink()
            lock.release()

    def usage(self) -> Usage:
        """How much is kept."""
        files = list(self._files())
        results = sum(path.suffix == ".result" for path, _ in files)
        searches = sum(path.suffix == ".search" for path, _ in files)
        return Usage(results, searches, sum(stat.st_size for _, stat in files))

    def clear(self) -> None:
        """Forget everything. OSError if something cannot be removed."""
        for path, _ in list(self._files()):
            path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """If anything was written: make room, longest unused first, and sweep up what crashed runs left behind."""
        if not self._written:
            return
        self._written = False
        with suppress(OSError):
            files = list(self._files())
            for path, stat in files:
                if path.suffix == TEMPORARY and stat.st_mtime < time() - _OLD:
                    path.unlink(missing_ok=True)
            total = sum(stat.st_size for _, stat in files)
            for path, stat in sorted(files, key=lambda file: file[1].st_mtime):
                if total <= self._limit:
                    break
                if path.suffix not in (".lock", TEMPORARY):
                    path.unlink(missing_ok=True)
                    total -= stat.st_size

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Everything in the store; what another process removes meanwhile is passed over."""
        for part in get_args(Kind):
            for folder, _, names in os.walk(self.folder / part):
                for name in names:
                    path = Path(folder, name)
                    with suppress(FileNotFoundError):
                        yield path, path.stat()

    def _path(self, kind: Kind, key: str) -> Path:
        return self.folder / kind / key[:2] / f"{key}.{kind}"

    def _cannot(self, error: OSError) -> None:
        with self._lock:
            if not self._failed:
                self._tell(f"cannot keep results in {self.folder}: {error.strerror or error}; the run goes on without")
            self._failed = True


class SavedSearch:
    """A stopped search in the hands of its owner."""

    def __init__(self, store: Store, key: str) -> None:
        self._store, self._key = store, key

    def load(self) -> tuple[dict[str, Any], bytes] | None:
        """What is known about it, and its state; None if there is none that can be trusted."""
        content = self._store.read("search", self._key)
        if content is None:
            return None
        about, _, state = content.partition(b"\n")
        try:
            return dict(json.loads(about)), state
        except (ValueError, TypeError):
            self.drop("it is not from this version of eqspec")
            return None

    def keep(self, about: dict[str, Any], state: bytes) -> bool:
        """Replace the state. Whether it is on disk now."""
        return self._store.write("search", self._key, json.dumps(about, allow_nan=False).encode() + b"\n", state)

    def drop(self, why: str | None = None) -> None:
        """It is decided, or cannot be used for a reason."""
        self._store.forget("search", self._key, why)
