"""Files that are whole or not there: written beside their place, brought to disk, renamed; opened only with their seal.

The seal is the SHA-256 of what an entry is, its key and its content. A file cut off, changed in one bit, moved to
another key or written by something else has no valid seal, and reads as nothing.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from tempfile import mkstemp

MARK = b"eqspec-memory/1"
TEMPORARY = ".part"


class BrokenError(ValueError):
    """A file that is not what was written under this key."""


def replace_file(path: Path, *parts: bytes) -> None:
    """Put `parts`, one after the other, at `path`.

    Whoever opens it finds all of the old content or all of the new, also after a crash.
    OSError if that is impossible, as on a full disk; then what was there is still there.
    """
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.", suffix=TEMPORARY)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The rename itself survives a power cut only once the folder is on disk; not every system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def head(kind: str, key: str, *parts: bytes) -> bytes:
    """The first line of an entry: it says what the content behind it is, and seals it."""
    return b" ".join([MARK, kind.encode(), key.encode(), _seal(kind, key, *parts)]) + b"\n"


def opened(kind: str, key: str, data: bytes) -> bytes:
    """The content that was sealed as this kind and key. `BrokenError` if this is no such thing."""
    first, _, content = data.partition(b"\n")
    match first.split(b" "):
        case [mark, *_] if mark != MARK:
            raise BrokenError("it is not from this version of eqspec")
        case [_, k, name, seal] if k == kind.encode() and name == key.encode():
            if seal != _seal(kind, key, content):
                raise BrokenError("it is damaged")
            return content
        case _:
            raise BrokenError("it is damaged, or has been moved")


def _seal(kind: str, key: str, *parts: bytes) -> bytes:
    digest = hashlib.sha256(f"{kind}\0{key}\0".encode())
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode()
