"""Certificates taken apart and put together again, so that they can be falsified with a correct sum at the end."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eqspec.audit import certificate
from eqspec.audit.certificate import MAGIC, audit
from eqspec.certificates import Certificate, Certifier
from eqspec.tasks.result import Result
from eqspec.tasks.run import Options, Runner
from eqspec.tasks.task import Task


def certify(task: Task, folder: Path, **options: Any) -> tuple[Result, Certificate | None]:
    """Run a task on one thread and certify it."""
    with Certifier(folder) as certifier:
        result = Runner(Options(threads=1, certifier=certifier, **options)).run(task)
        return result, certifier.made.get(task.id)


def unpack(path: Path) -> tuple[dict[str, Any], bytes]:
    """Header and tree."""
    content = gzip.decompress(path.read_bytes())[len(MAGIC) : -32]
    header, _, tree = content.partition(b"\n")
    return json.loads(header), tree


def pack(path: Path, header: dict[str, Any], tree: bytes) -> Path:
    """A certificate with a sum that fits."""
    content = MAGIC + json.dumps(header).encode() + b"\n" + tree
    path.write_bytes(gzip.compress(content + hashlib.sha256(content).digest()))
    return path


@dataclass(frozen=True)
class Piece:
    """What the auditor read of the tree in one go: where it starts, how much, and as what."""

    start: int
    size: int
    kind: str


def pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Piece]:
    """The tree as the auditor reads it: `record` (a letter), `numbers` or `array` with the type."""
    found: list[Piece] = []
    header = len(MAGIC) + len(gzip.decompress(path.read_bytes())[len(MAGIC) :].partition(b"\n")[0]) + 1
    at = [0]
    reader: Any = certificate._Reader
    wrapped: dict[str, Callable[..., Any]] = {
        name: getattr(reader, name) for name in ("take", "line", "numbers", "array")
    }
    kind = ["record"]

    def take(self: Any, size: int) -> bytes:
        found.append(Piece(at[0] - header, size, kind[0]))
        at[0] += size
        return bytes(wrapped["take"](self, size))

    def line(self: Any) -> bytes:
        data = bytes(wrapped["line"](self))
        at[0] += len(data)
        return data

    def numbers(self: Any, layout: str) -> Any:
        kind[0] = layout
        try:
            return wrapped["numbers"](self, layout)
        finally:
            kind[0] = "record"

    def array(self: Any, of: str, *shape: int) -> Any:
        kind[0] = of
        try:
            return wrapped["array"](self, of, *shape)
        finally:
            kind[0] = "record"

    with monkeypatch.context() as patch:
        for name, function in (("take", take), ("line", line), ("numbers", numbers), ("array", array)):
            patch.setattr(reader, name, function)
        audit(path)
    return [piece for piece in found if piece.start >= 0][:-1]
