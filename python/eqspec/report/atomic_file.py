"""Files with results: whole, or not there. Half a report could be taken for all of it.

They are never called like a spec, a query or a network, which a slip of the command line would write over.
"""

from __future__ import annotations

import os
from errno import EISDIR
from pathlib import Path
from tempfile import TemporaryFile

from eqspec.cache import replace_file
from eqspec.errors import InputError, unwritten

_SOURCES = (".eqspec", ".nnet", ".onnx", ".vnnlib")


def write_file(path: Path, text: str) -> None:
    """Put the text at `path`, at once. An error, with the old content still there, if that fails."""
    # Names of files may hold bytes that are no text; escaped so, they are good JSON too.
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_source(path: Path, content: bytes) -> None:
    """Put a spec or a network that was made at `path`, which may well be called like one."""
    _put(path, content)


def write_bytes(path: Path, content: bytes) -> None:
    """The same as `write_file` for what is not text."""
    _refuse_source(path)
    _put(path, content)


def _put(path: Path, content: bytes) -> None:
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():  # a pipe or a device takes what comes
            path.write_bytes(content)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_mask()
        replace_file(target, content)
        target.chmod(mode)
    except OSError as error:
        raise unwritten(path, error) from None


def refuse_unwritable(path: Path) -> None:
    """An error, before hours of work, where `write_file` could not put anything there; nothing is left behind."""
    _refuse_source(path)
    try:
        target = path.resolve()
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not target.exists() or target.is_file():
            with TemporaryFile(dir=target.parent):  # as a new file takes the place of an old one
                return
    except OSError as error:
        raise unwritten(path, error) from None


def _refuse_source(path: Path) -> None:
    if path.suffix.lower() in _SOURCES:
        raise InputError(f"results are not written over {path}; name a file for them, such as results.json")


def _mask() -> int:
    """What the user takes from the permissions of new files; there is no other way to ask."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
