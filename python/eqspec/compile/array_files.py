"""Arrays in npy and npz files, looked at before they are read.

A header says type and shape of an array. Both are compared with the bytes that are there and with `file_limits`
before memory is allocated. An array is unpacked only when it is used, and never beyond the size that its header claims.
An array of objects, whose loading could run code, is refused by its type.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.compile import file_limits
from eqspec.compile.file_limits import amount, require_file_size, too_large
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import Fault, error

_CHUNK = file_limits.MIB
_MOST_AT_ONCE = 4 * file_limits.MIB
"""The most bytes that a zip reader may read at once; it reads the list of members in one piece."""
_SMALLER = "save the rows that are needed, or fewer columns"


@dataclass(frozen=True)
class Heading:
    """Type and shape of an array, and whether its columns lie one after the other."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @property
    def size(self) -> int:
        """How many entries it has."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes it takes."""
        return self.size * self.dtype.itemsize


@dataclass(frozen=True)
class Arrays:
    """The arrays of a file by name; that of an npy file is called ''."""

    path: Path
    written: str
    span: Span
    headings: dict[str, Heading]

    def read(self, name: str) -> NDArray[Any]:
        """One array. Fault E144 where the file does not hold what its header claims, or too much."""
        heading = self.headings[name]
        if heading.bytes > file_limits.MOST_ARRAY_BYTES:
            called = f"array '{name}'" if name else "the array"
            what = f"{called} of shape {list(heading.shape)} has {amount(heading.bytes)}"
            raise too_large(self.written, what, amount(file_limits.MOST_ARRAY_BYTES), self.span, _SMALLER)
        with _refusing(self.written, self.span), _opened(self.path, name) as file:
            _heading(file)
            return _content(file, heading)


def open_arrays(path: Path, written: str, span: Span) -> Arrays:
    """What an npy or npz file holds, by its headers alone; Fault E144 if it holds anything else than arrays."""
    require_file_size(path, written, file_limits.MOST_ARRAY_BYTES + _MOST_AT_ONCE, span, _SMALLER)
    with _refusing(written, span):
        names = _names(path)
        headings = {}
        for name in names:
            with _opened(path, name) as file:
                headings[name] = _heading(file)
        return Arrays(path, written, span, headings)


def number_kind(dtype: np.dtype[Any]) -> bool:
    """Whether a type is one of real numbers that floats or integers stand for exactly."""
    return dtype.kind in "biu" or dtype.newbyteorder("=") in (np.float16, np.float32, np.float64)


class _NotAnArrayError(Exception):
    """The file, or a part of it, is not what its name says."""


class _Cautious(io.RawIOBase):
    """A file that gives only so much in one read, so that a false size in a header allocates little."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(_MOST_AT_ONCE + 1 if size < 0 else min(size, _MOST_AT_ONCE + 1))
        if len(content) > _MOST_AT_ONCE:
            raise _NotAnArrayError("its list of members is too long")
        return content

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


@contextmanager
def _refusing(written: str, span: Span) -> Iterator[None]:
    """Within this context the errors that numpy and Python raise over a broken file become findings."""
    try:
        yield
    except Fault:
        raise
    except Exception as problem:
        reason = " ".join(str(problem).split())[:120] or type(problem).__name__
        message = f"cannot read '{written}': {reason}"
        raise Fault(error("E144", message, span, help="save plain arrays with numpy.save or numpy.savez")) from None


def _names(path: Path) -> list[str]:
    with path.open("rb") as file:
        start = file.read(4)
        if start[:2] != b"PK":
            return [""]
        with zipfile.ZipFile(_Cautious(file)) as archive:
            members = archive.namelist()
    if len(members) > file_limits.MOST_ARRAYS:
        raise _NotAnArrayError(f"it has {len(members)} members; at most {file_limits.MOST_ARRAYS} are read")
    names = [name.removesuffix(".npy") for name in members]
    if len(set(names)) < len(names):
        raise _NotAnArrayError("two of its arrays have one name")
    return names


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    """The bytes of an array with its header; they are unpacked as they are read."""
    with path.open("rb") as file:
        if not name:
            yield file
            return
        with zipfile.ZipFile(_Cautious(file)) as archive:
            members = archive.namelist()
            member = archive.getinfo(f"{name}.npy" if f"{name}.npy" in members else name)
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _NotAnArrayError(f"array '{name[:40]}' is packed in a way that numpy does not use")
            with archive.open(member) as content:
                yield content


def _heading(file: IO[bytes]) -> Heading:
    """What stands in front of an array; the file is left where its entries begin."""
    version = npy.read_magic(file)
    width = {(1, 0): 2, (2, 0): 4}.get(version)
    if width is None:
        raise _NotAnArrayError(f"arrays of version {version[0]}.{version[1]} are not read")
    length = file.read(width)
    if len(length) < width or int.from_bytes(length, "little") > file_limits.MOST_HEADER_BYTES:
        raise _NotAnArrayError(f"the header of an array has more than {file_limits.MOST_HEADER_BYTES} bytes")
    whole = io.BytesIO(length + file.read(int.from_bytes(length, "little")))
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(whole)
    if dtype.hasobject:
        raise _NotAnArrayError("it holds objects, and loading them would run code")
    if dtype.itemsize == 0 or any(isinstance(size, bool) or size < 0 for size in shape):
        raise _NotAnArrayError(f"an array of {dtype} of shape {list(shape)}")
    return Heading(tuple(shape), dtype, by_columns)


def _content(file: IO[bytes], heading: Heading) -> NDArray[Any]:
    """The entries behind a header, which must be as many as it says."""
    content = bytearray()
    while len(content) < heading.bytes:
        piece = file.read(min(_CHUNK, heading.bytes - len(content)))
        if not piece:
            raise _NotAnArrayError(f"it ends before the {heading.size} entries that its header claims")
        content += piece
    if file.read(1):  # in a zip file this compares the checksum as well
        raise _NotAnArrayError(f"it holds more than the {heading.size} entries that its header claims")
    flat = np.frombuffer(content, heading.dtype, count=heading.size) if heading.bytes else np.zeros(0, heading.dtype)
    return flat.reshape(heading.shape, order="F" if heading.by_columns else "C")
