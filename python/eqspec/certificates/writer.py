"""From the record of a search to a certificate, which counts only once the auditor has accepted it.

The tree is written in preorder. What the search proved on the way down is left to the leaves, where it mostly holds as
well and costs the auditor nothing; where that fails, the proofs are written where the search had them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from eqspec.audit.certificate import MAGIC, Proof
from eqspec.audit.networks import Pair, Refused, network
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.record import ROOT, IncompleteError, Record
from eqspec.tasks import document
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.task import Task


@dataclass(frozen=True)
class Certificate:
    """What became of a certificate: where it is (or would be), and why it is not there (`reason`).

    `size` in bytes; what the auditor checked, and how long it took.
    """

    path: Path
    reason: str | None = None
    size: int = 0
    leaves: int = 0
    rounds: int = 0
    seconds: float = 0.0


def write_certificate(task: Task, result: Result, record: Path, path: Path, auditor: Auditor) -> Certificate:
    """Write the certificate of a decided task from what the core recorded.

    The file appears under its name only when the auditor has accepted it; before it is called `.part`, and what had
    that name is gone.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.unlink(missing_ok=True)
        answer = Answer("nothing was written")
        for pieces in _attempts(document.to_json(task), result, record):
            _write(part, pieces)
            answer = auditor.ask(part, Path.cwd())
            if answer.refused is None:
                part.replace(path)
                return Certificate(path, None, path.stat().st_size, answer.leaves, answer.rounds, answer.seconds)
        return Certificate(path, answer.refused)
    except (Refused, IncompleteError) as reason:
        return Certificate(path, str(reason))
    except OSError as error:
        return Certificate(path, f"cannot write {error.filename or path}: {error.strerror}")
    finally:
        part.unlink(missing_ok=True)


def _attempts(data: dict[str, Any], result: Result, record: Path) -> Iterator[Iterator[bytes]]:
    """The contents to try, cheapest for the auditor first."""
    header: dict[str, Any] = {"verdict": result.verdict.value, "engine_version": result.engine_version, "task": data}
    if result.witness is not None:
        header["witness"] = [str(x) for x in result.witness.normalised]
    first = [MAGIC, json.dumps(header, separators=(",", ":"), allow_nan=False).encode() + b"\n"]
    if result.verdict is Verdict.DIFFERENT:
        yield iter(first)
        return
    pair = Pair(network(data, "reference", Path.cwd()), network(data, "candidate", Path.cwd()))
    every = Proof(data, pair).open()
    with Record(record) as events:
        for whole in (False, True):
            yield chain(first, _tree(events, every, whole=whole))


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    digest = hashlib.sha256()
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())


def _tree(events: Record, every: tuple[int, ...], *, whole: bool) -> Iterator[bytes]:
    """The records of the tree in preorder; `whole`: also what was proved on nodes that were halved later."""
    todo: list[tuple[int, tuple[int, ...]] | bytes] = [(ROOT, every)] if every else []
    while todo:
        item = todo.pop()
        if isinstance(item, bytes):
            yield item
            continue
        label, still = item
        yield from (kind + values for kind, values in events.hints(label))
        kinds = events.kinds(label)
        if b"X" in kinds:
            contracted = events.contracted(label)
            yield from _proved(still, tuple(contracted))
            yield b"x"
            later: list[tuple[int, tuple[int, ...]] | bytes] = []
            for o in (o for o in still if o in contracted):
                one = contracted[o]
                later.append(one.rounds + struct.pack("<I", 0) + one.outcome)
                later += [(half, (o,)) for half in one.children]
            todo += reversed(later)
        elif b"L" in kinds:
            yield b"l"
        elif b"C" in kinds:
            cut, halves, left = events.halved(label)
            if whole:
                yield from _proved(still, left)
                still = tuple(o for o in still if o in left)
            yield b"i" + cut
            todo += [(half, still) for half in reversed(halves)]
        else:
            raise IncompleteError("the record of the proof lacks a part of the tree")


def _proved(still: tuple[int, ...], left: tuple[int, ...]) -> Iterator[bytes]:
    here = [o for o in still if o not in left]
    if here:
        yield struct.pack(f"<cH{len(here)}I", b"p", len(here), *here)
