"""Files of the cache. They are written whole or not at all, and opened only if they are plain files of limited size.

The folder may be one that others can write to, so nothing here follows a link at the end of a path, waits for a pipe,
or reads without a limit; what is made is for its owner alone.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

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


def read_file(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes, which is marked as used now.

    OSError if it cannot be read; BrokenError if it is larger, or no plain file, which a link is not either.
    """
    with open_plain(path, follow=False) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most else file.read(size + 1)  # room is made for as much as is asked for
        if max(size, len(content)) > most:
            raise BrokenError(f"it is larger than {most} bytes")
        if os.utime in os.supports_fd:
            os.utime(file.fileno())
        return content


def open_plain(path: Path, *, follow: bool) -> BinaryIO:
    """A plain file, open for reading. OSError if it cannot be opened, BrokenError if it is something else.

    A pipe, on which opening would wait, is opened without waiting and then refused.
    """
    flags = os.O_RDONLY
    for more in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY", *(() if follow else ("O_NOFOLLOW",))):
        flags |= getattr(os, more, 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):  # a link, or a socket
            raise BrokenError("it is not a file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BrokenError("it is not a file")
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor


def private_folder(folder: Path, below: Path) -> None:
    """Make `folder`, and every one above it as far as it lies in `below`, for this user alone.

    Where `below` itself lies is the user's choice, links included. OSError where a folder inside is a link or belongs
    to somebody else, who could lead astray what is written there.
    """
    below.mkdir(mode=0o700, parents=True, exist_ok=True)
    step = below
    for name in folder.relative_to(below).parts:
        step /= name
        step.mkdir(mode=0o700, exist_ok=True)
        about = step.lstat()
        if not stat.S_ISDIR(about.st_mode):
            raise OSError(errno.ENOTDIR, f"{step} is not a folder")
        if hasattr(os, "geteuid"):
            if os.geteuid() not in (0, about.st_uid):
                raise OSError(errno.EPERM, f"{step} belongs to another user")
            if about.st_mode & 0o022:
                step.chmod(0o700)


def _sync_folder(folder: Path) -> None:
    """The rename itself survives a power cut only once the folder is on disk; not every system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
