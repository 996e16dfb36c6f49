"""The record that the core writes of a search, as an index: which events a node had, and where they are.

Events come in the order in which workers met them, so the file is mapped into memory and read by offset. Their layout
is told in rust/src/search/record.rs.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from eqspec.lazy_dataclass import dataclass

ROOT = 0


class IncompleteError(Exception):
    """The record does not hold a whole proof; the message says why."""


class CutOffError(IncompleteError):
    """The record ends before its end was written, as where a disk is full."""


@dataclass(frozen=True)
class Contracted:
    """An obligation was assumed violated: rounds, then `outcome` (v, o, or s with what was cut) and what is left."""

    obligation: int
    rounds: bytes
    outcome: bytes
    children: tuple[int, ...]


class Record:
    """A finished record; a context manager."""

    def __init__(self, path: Path) -> None:
        self._events: dict[int, list[int]] = {}
        self.met: set[bytes] = set()
        with ExitStack() as opened:
            self._file = opened.enter_context(path.open("rb"))
            try:
                self._data = opened.enter_context(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))
                self._index()
            except (OSError, ValueError, LookupError, struct.error):
                reason = "the record of the proof is empty or damaged; is the disk full?"
                raise CutOffError(reason) from None
            self._opened = opened.pop_all()

    def __enter__(self) -> Record:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def _index(self) -> None:
        data, at, size = self._data, 0, len(self._data)
        while at < size:
            kind = data[at : at + 1]
            if kind == b"Z":
                if at + 1 != size:
                    raise IncompleteError("the record of the proof goes on after its end")
                return
            (label,) = struct.unpack_from("<Q", data, at + 1)
            self._events.setdefault(label, []).append(at)
            self.met.add(kind)
            at = self._end(kind, at)
        raise CutOffError("the record of the proof ends early; is the disk full?")

    def _end(self, kind: bytes, at: int) -> int:
        data, at = self._data, at + 9
        if kind == b"L":
            return at
        if kind == b"C":
            (count,) = struct.unpack_from("<I", data, at + 28)
            return at + 32 + 4 * int(count)
        if kind in (b"M", b"G"):
            (count,) = struct.unpack_from("<I", data, at + 4)
            return at + 8 + 8 * int(count)
        if kind == b"X":
            (length,) = struct.unpack_from("<I", data, at + 4)
            at += 8 + int(length)
            return at + {b"v": 1, b"o": 9, b"s": 34}[data[at : at + 1]]
        raise IncompleteError(f"the record of the proof holds an unknown event {kind!r}")

    def kinds(self, label: int) -> bytes:
        """The kinds of a node's events, in order."""
        return b"".join(self._data[at : at + 1] for at in self._events.get(label, []))

    def hints(self, label: int) -> list[tuple[bytes, bytes]]:
        """Multipliers met on a node: `m` or `g`, and number and values as the certificate writes them."""
        found = []
        for at in self._events.get(label, []):
            kind = self._data[at : at + 1]
            if kind in (b"M", b"G"):
                end = self._end(kind, at)
                found.append((kind.lower(), self._data[at + 9 : at + 13] + self._data[at + 17 : end]))
        return found

    def halved(self, label: int) -> tuple[bytes, tuple[int, int], tuple[int, ...]]:
        """Where a node was halved (input and cut), both halves, and what was open on them."""
        at = next(at for at in self._events[label] if self._data[at : at + 1] == b"C") + 9
        low, high, count = struct.unpack_from("<QQI", self._data, at + 12)
        return self._data[at : at + 12], (low, high), struct.unpack_from(f"<{count}I", self._data, at + 32)

    def above(self) -> dict[int, int]:
        """The nodes that halves come from."""
        cut = [label for label in self._events if b"C" in self.kinds(label)]
        return {half: label for label in cut for half in self.halved(label)[1]}

    def contracted(self, label: int) -> dict[int, Contracted]:
        """The contractions of a node, by obligation."""
        found = {}
        for at in self._events.get(label, []):
            if self._data[at : at + 1] != b"X":
                continue
            obligation, length = struct.unpack_from("<II", self._data, at + 9)
            end = self._end(b"X", at)
            rounds, rest = self._data[at + 17 : at + 17 + length], self._data[at + 17 + length : end]
            count = {b"v": 0, b"o": 1, b"s": 2}[rest[:1]]
            outcome, labels = rest[: len(rest) - 8 * count], rest[len(rest) - 8 * count :]
            found[obligation] = Contracted(obligation, rounds, outcome, struct.unpack(f"<{count}Q", labels))
        return found
