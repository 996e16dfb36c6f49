"""Files, opened only if they are ordinary and not too large: a device or a pipe may never end, or never begin."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from ..rounding import Refused
from . import limits
from .printable import label


def opened(path: Path, most: int) -> BinaryIO:
    """An ordinary file of at most so many bytes, to be read. Whether it is one is asked before it is opened, and after.

    It is opened without waiting, so that a pipe which takes its place in between cannot hold us up.
    """
    try:
        _ordinary(path, path.stat(), most)
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise Refused(f"cannot read {label(str(path), 500)}: {error.strerror}") from None
    except ValueError:  # a zero in the path
        raise Refused(f"cannot read {label(str(path), 500)}: no file can have this name") from None
    file = os.fdopen(number, "rb")
    try:
        _ordinary(path, os.fstat(number), most)
    except Refused:
        file.close()
        raise
    return file


def exists(path: Path) -> bool:
    """Whether there is anything at a path, also one that is no path."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def content(path: Path, most: int) -> bytes:
    """All of an ordinary file."""
    with opened(path, most) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            found = file.read(size + 1)
        except OSError as error:
            raise Refused(f"cannot read {label(str(path), 500)}: {error.strerror}") from None
    if len(found) != size:
        raise Refused(f"cannot read {label(str(path), 500)}: it changes while it is read")
    return found


def _ordinary(path: Path, found: os.stat_result, most: int) -> None:
    name = label(str(path), 500)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device, a pipe or a socket"
        raise Refused(f"cannot read {name}: it is {kind}, not an ordinary file")
    if found.st_size > most:
        raise Refused(f"{name} has {found.st_size} bytes, and the auditor reads files of at most {most}")
    if found.st_size == 0:
        raise Refused(f"cannot read {name}: it is empty")


class Bounded:
    """What comes out of a file packed by gzip, at most so many bytes of it in all."""

    def __init__(self, file: BinaryIO, most: int = limits.INFLATED) -> None:
        self._file, self._left = cast(BinaryIO, gzip.GzipFile(fileobj=file)), most

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end."""
        return self._counted(self._file.read, size)

    def readline(self, size: int) -> bytes:
        """A line, or so many bytes of it."""
        return self._counted(self._file.readline, size)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            found = read(size)
        except (EOFError, OSError, zlib.error) as problem:
            raise Refused(f"it is not a certificate (those are packed by gzip), or it is damaged: {problem}") from None
        self._left -= len(found)
        if self._left < 0:
            raise Refused("more comes out of the file than the auditor takes from one")
        return found
