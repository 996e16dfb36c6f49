"""A stopped search in the hands of its owner: the one process and thread that holds its lock.

It may be hours of work, so it is replaced by a later state of the same search, removed once its task is decided and
that is kept, and put aside, not deleted, where it is shown to be unusable. Anything else that goes wrong leaves it
where it is: a state that cannot be read at the moment is neither used nor replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from eqspec.cache.files import BrokenError

ASIDE = ".unusable"

Read = Callable[[], bytes]
Write = Callable[[bytes, bytes], bool]
Tell = Callable[[str], None]


class SavedSearch:
    """The saved state of one search, at `path`; `read` and `write` check and make its seal."""

    def __init__(self, path: Path, read: Read, write: Write, tell: Tell) -> None:
        self._path, self._read, self._write, self._tell = path, read, write, tell
        self._unreadable = False

    def load(self) -> tuple[dict[str, Any], bytes] | None:
        """What is known about it, and its state; None if there is none that can be trusted."""
        try:
            content = self._read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._unreadable = True
            self._tell(
                f"the stopped search {self._path} cannot be read: {error.strerror or error}; "
                "it stays as it is, and this run keeps none of its own"
            )
            return None
        except BrokenError as broken:
            self.put_aside(str(broken))
            return None
        about, _, state = content.partition(b"\n")
        try:
            return dict(json.loads(about)), state
        except (ValueError, TypeError):
            self.put_aside("it is not from this version of eqspec")
            return None

    def keep(self, about: dict[str, Any], state: bytes) -> bool:
        """Replace the state. Whether it is on disk now."""
        if self._unreadable:
            return False
        return self._write(json.dumps(about, allow_nan=False).encode() + b"\n", state)

    def put_aside(self, why: str) -> None:
        """Rename a state that proved unusable, so that no run looks for it again, and report the reason."""
        aside = self._path.with_suffix(ASIDE)
        try:
            self._path.replace(aside)
        except OSError as error:
            self._unreadable = True
            self._tell(f"{self._path} is not used: {why}. It stays where it is: {error.strerror or error}")
            return
        self._tell(f"{self._path} is not used, and is now {aside.name} beside it: {why}")

    def drop(self) -> None:
        """Its task is decided: nobody needs it any more, nor what was put aside of it."""
        if self._unreadable:
            return
        for path in (self._path, self._path.with_suffix(ASIDE)):
            with suppress(OSError):
                path.unlink(missing_ok=True)
