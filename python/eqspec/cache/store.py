"""The store: four kinds of entries by key, results (small, JSON), stopped searches (bytes, one owner at a time), trails
(bytes), which are hints that a proof leaves for the next one, and agreements (a word): files that were compared.

Nothing that goes wrong here may stop a run or change a verdict: a result that does not read back is told about, removed
and as good as absent; a disk that is full or cannot be written is told about once, and the run goes on without.

Entries lie apart by the key that seals them, as folder/kind/id of the key/entry. So users and machines with
different keys neither use nor replace what the others keep.

Several processes may use a store at once. Entries are replaced whole, so the worst that can happen is that one of two
equally true entries stays. A stopped search belongs to the process that holds its lock, which the system releases
however that process ends.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import time
from typing import Literal, get_args

from eqspec.cache.files import TEMPORARY, BrokenError, open_plain, private_folder, read_file, replace_file
from eqspec.cache.key import KEY_ENVIRONMENT, Key, given_key, user_key
from eqspec.cache.saved_search import SavedSearch
from eqspec.cache.sealed import head, opened
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass

LIMIT = 2 << 30
"""Bytes a store may take before the entries that were not used for longest go."""
TRAILS = 0.25
"""The share of the limit for trails of proofs, which are larger than results and of less use."""
_OLD = 86400.0
"""Seconds after which a partly written file counts as abandoned."""
_HEAD = 4096
"""Bytes that the first line of an entry may take, and more."""
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Results that eqspec keeps; they can be deleted at any time.\n"

_NOTHING_SAID = (OSError, BrokenError, ValueError, LookupError, AttributeError, RecursionError)
"""What may come of reading about a search that anybody may have put there."""

Kind = Literal["result", "search", "trail", "agreement"]
Tell = Callable[[str], None]

_OURS = re.compile(r"[0-9a-f]{32,64}\.(result|search|trail|agreement|lock|unusable)|\.[0-9a-f]{32,64}\..*\.part")
"""Names of files that a store makes. Others below its folder are somebody else's, and are never touched."""


@dataclass(frozen=True)
class Usage:
    """What a store holds; `foreign` are the results and searches that another key seals, which are not used."""

    results: int
    searches: int
    bytes: int
    foreign: int = 0


class Store:
    """Entries below a folder, which is made when the first is written.

    `key` seals them: by default that of the environment, else that of the user, which is looked for when it is needed.
    InputError if the environment has one that can be guessed.
    """

    def __init__(self, folder: Path, *, limit: int = LIMIT, tell: Tell | None = None, key: Key | None = None) -> None:
        self.folder, self._limit = folder, limit
        self._tell = tell or logging.getLogger("eqspec").warning
        self._key = key or given_key()
        self._failed = self._foreign_seen = self._other_builds_seen = False
        self._written = False
        self._lock = threading.Lock()

    @property
    def key(self) -> Key:
        """What seals the entries. NoKeyError (an OSError) if there is none to be had."""
        with self._lock:
            if self._key is None:
                self._key = user_key()
            return self._key

    def require(self) -> None:
        """InputError unless the folder is there, or can be made, and can be written to, and there is a key."""
        try:
            private_folder(self.folder, self.folder)
            replace_file(self.folder / "CACHEDIR.TAG", _TAG)
            private_folder(self._path("result", "00" * 32).parent, self.folder)
        except OSError as error:
            raise InputError(f"cannot keep results in {self.folder}: {error.strerror or error}") from None

    def read(self, kind: Kind, key: str) -> bytes | None:
        """What was kept under a key; None if nothing was, or if it cannot be trusted."""
        try:
            return self._read(kind, key)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._cannot(error)
            return None
        except BrokenError as broken:
            self.remove(kind, key, str(broken))
            return None

    def _read(self, kind: Kind, key: str) -> bytes:
        try:
            return opened(self.key, kind, key, read_file(self._path(kind, key), self._limit + _HEAD))
        except FileNotFoundError:
            self._look_for_foreign(kind, key)
            raise

    def write(self, kind: Kind, key: str, *parts: bytes) -> bool:
        """Keep the parts, one after the other, instead of what was there. Whether they are on disk now."""
        if sum(map(len, parts)) > self._limit / 2:
            self._tell(f"what is left of a search is not kept: it would fill half of {self.folder}")
            return False
        try:
            path = self._path(kind, key)
            private_folder(path.parent, self.folder)
            replace_file(path, head(self.key, kind, key, *parts), *parts)
        except OSError as error:
            self._cannot(error)
            return False
        self._written = True
        return True

    def remove(self, kind: Kind, key: str, why: str | None = None) -> None:
        """Remove an entry; say so if there is a reason to."""
        with suppress(OSError):
            path = self._path(kind, key)
            if why is not None:
                self._tell(f"{path} is not used and removed: {why}")
            path.unlink(missing_ok=True)

    @contextmanager
    def search(self, key: str) -> Iterator[SavedSearch | None]:
        """The stopped search of a key; None while another process or thread has it in the same context."""
        from filelock import FileLock, Timeout  # it imports asyncio, and what is decided is only read

        try:
            path = self._path("search", key)
            # What comes after a search may be done by another thread than began it.
            lock = FileLock(path.with_suffix(".lock"), mode=0o600, thread_local=False)
            private_folder(path.parent, self.folder)
            if path.with_suffix(".lock").is_symlink():  # which would be emptied
                path.with_suffix(".lock").unlink()
            lock.acquire(blocking=False)
        except Timeout:
            yield None
            return
        except OSError as error:
            self._cannot(error)
            yield None
            return
        try:
            read, write = partial(self._read, "search", key), partial(self.write, "search", key)
            yield SavedSearch(path, read, write, self._tell)
        finally:
            if not path.exists():
                with suppress(OSError):
                    path.with_suffix(".lock").unlink()
            lock.release()

    def tell_of_other_builds(self, build: str) -> None:
        """Say once that there are stopped searches of another version of eqspec: whoever wants to go on should know.

        Their seals are not looked at, since nothing but this message comes of them.
        """
        if self._other_builds_seen:
            return
        self._other_builds_seen, count = True, 0
        with suppress(OSError):
            for path in self._path("search", "00" * 32).parent.glob("*.search"):
                with suppress(*_NOTHING_SAID), open_plain(path, follow=False) as file:
                    about = json.loads(file.read(2 * _HEAD).split(b"\n")[1])
                    count += about.get("build") != build
        if count:
            self._tell(
                f"{self.folder} has stopped searches of another version of eqspec ({count}), which this one does not "
                "go on with; what they looked into is begun anew"
            )

    def usage(self) -> Usage:
        """How much is kept. Without a key to tell whose it is, none of it is ours."""
        files = list(self._files())
        mine = None
        with suppress(OSError):
            mine = self.key.id if files else None
        entries = [(path.suffix, path.parts[-2] == mine) for path, _ in files if path.suffix in (".result", ".search")]
        return Usage(
            results=entries.count((".result", True)),
            searches=entries.count((".search", True)),
            bytes=sum(stat.st_size for _, stat in files),
            foreign=sum(not own for _, own in entries),
        )

    def clear(self) -> None:
        """Remove every entry, whoever sealed it. OSError if something cannot be removed."""
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
            trails = [(path, stat) for path, stat in files if path.suffix == ".trail"]
            gone = _make_room(trails, TRAILS * self._limit)
            _make_room([file for file in files if file[0] not in gone], self._limit)

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Everything in the store that is ours; what another process removes meanwhile is passed over."""
        for part in get_args(Kind):
            if (self.folder / part).is_symlink():
                continue
            for folder, _, names in os.walk(self.folder / part):
                for name in filter(_OURS.fullmatch, names):
                    path = Path(folder, name)
                    with suppress(FileNotFoundError):
                        yield path, path.lstat()

    def _path(self, kind: Kind, key: str) -> Path:
        return self.folder / kind / self.key.id / f"{key}.{kind}"

    def _look_for_foreign(self, kind: Kind, key: str) -> None:
        """Say once that there are entries which another key seals: whoever expects them should know."""
        own = self._path(kind, key)
        if not self._foreign_seen and any(other != own for other in own.parents[1].glob(f"*/{own.name}")):
            self._foreign_seen = True
            self._tell(
                f"results in {self.folder} that were sealed with another key, as by another user or machine, are not "
                f"used; machines that give {KEY_ENVIRONMENT} the same value share them"
            )

    def _cannot(self, error: OSError) -> None:
        with self._lock:
            if not self._failed:
                self._tell(f"cannot keep results in {self.folder}: {error.strerror or error}; the run goes on without")
            self._failed = True


def _make_room(files: list[tuple[Path, os.stat_result]], limit: float) -> set[Path]:
    """Remove what was not used for longest, until the rest is within a limit; what was removed."""
    total, gone = sum(stat.st_size for _, stat in files), set[Path]()
    for path, stat in sorted(files, key=lambda file: file[1].st_mtime):
        if total <= limit:
            break
        if path.suffix not in (".lock", TEMPORARY):
            path.unlink(missing_ok=True)
            gone.add(path)
            total -= stat.st_size
    return gone
