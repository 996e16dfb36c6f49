"""Whether files on disk have changed, by looking at them again and again: size, time, number of the inode.

Looking is the same on every system and disk, shows a file that another one was renamed to, and needs no library.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

PAUSE = 0.25
"""The fewest seconds between two looks at the files."""
_SHARE = 20
"""Looking at the files may take at most 1 / _SHARE of the time."""
_QUIET = 0.2
"""Seconds without a change after which a file counts as completely written."""
_MISSING = 1.0
"""Seconds to wait for a file that is gone, since an editor may be about to replace it."""
_PATIENCE = 30.0
"""Seconds after which a change is acted on although files are still changing."""

State: TypeAlias = tuple[int, int, int] | None
"""Size, time in nanoseconds and inode of a file; None where there is none."""
Look: TypeAlias = Mapping[Path, State]


def look_at(paths: Iterable[Path]) -> Look:
    """The present state of each file."""
    return {path: _state(path) for path in paths}


def _state(path: Path) -> State:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def changed(look: Look) -> set[Path]:
    """The files whose state differs from that of an earlier look."""
    return {path for path, state in look.items() if _state(path) != state}


def pause(looked_for: float) -> None:
    """Wait until the next look is due; the last one took `looked_for` seconds."""
    time.sleep(max(PAUSE, _SHARE * looked_for))


def settle(look: Look) -> None:
    """Wait until files are written completely: nothing changes any more, and no file of the earlier look is missing.

    Programs save by writing a file anew, or by renaming another one to it, between which it may be missing.
    """
    began, last = time.monotonic(), look_at(look)
    while (spent := time.monotonic() - began) < _PATIENCE:
        time.sleep(_QUIET)
        now = look_at(look)
        missing = any(now[path] is None and state is not None for path, state in look.items())
        if now == last and (not missing or spent > _MISSING):
            return
        last = now


class Outdated:
    """Whether any file has changed since some looks. It may be called often; it looks at the disk only now and then."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self._looks, self._next, self.found = looks, 0.0, False

    def __call__(self) -> bool:
        """True once a change was found, and ever after."""
        if not self.found and time.monotonic() >= self._next:
            began = time.monotonic()
            self.found = any(changed(look) for look in self._looks)
            now = time.monotonic()
            self._next = now + max(PAUSE, _SHARE * (now - began))
        return self.found
