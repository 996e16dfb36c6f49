"""Whether files on disk have changed, by looking at them again and again: size, time, number of the inode.

Looking is the same on every system and disk, shows a file that another one was renamed to, and needs no library.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

PAUSE = 0.25
"""Seconds between two looks, at least."""
_SHARE = 20
"""Looking may take one part in so many of the time."""
_QUIET = 0.2
"""Seconds without a change after which what was written counts as written whole."""
_MISSING = 1.0
"""Seconds for which a file that is gone may be about to be replaced."""
_PATIENCE = 30.0
"""Seconds after which a change counts though files go on changing."""

State: TypeAlias = tuple[int, int, int] | None
"""Size, time in nanoseconds and inode of a file; None where there is none."""
Look: TypeAlias = Mapping[Path, State]


def look_at(paths: Iterable[Path]) -> Look:
    """How files are now."""
    return {path: _state(path) for path in paths}


def _state(path: Path) -> State:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def changed(look: Look) -> set[Path]:
    """The files of a look that are otherwise now."""
    return {path for path, state in look.items() if _state(path) != state}


def pause(looked_for: float) -> None:
    """Wait until the next look; longer where looking takes long, in seconds."""
    time.sleep(max(PAUSE, _SHARE * looked_for))


def settle(look: Look) -> None:
    """Wait while files are being written: until nothing changes, and nothing is gone that was there in a look.

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
    """Whether any file of some looks is otherwise now; it may be asked often, and looks only now and then."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self._looks, self._next, self.found = looks, 0.0, False

    def __call__(self) -> bool:
        """True from then on where a change was found."""
        if not self.found and time.monotonic() >= self._next:
            began = time.monotonic()
            self.found = any(changed(look) for look in self._looks)
            now = time.monotonic()
            self._next = now + max(PAUSE, _SHARE * (now - began))
        return self.found
