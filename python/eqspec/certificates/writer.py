"""From the record of a search to a certificate, which counts only once the auditor has accepted it."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit import Refused
from eqspec.audit.certificate import FORMAT
from eqspec.audit.opening import Bounded, limits
from eqspec.audit.proof import Proof
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.drafting import Draft, Early
from eqspec.certificates.record import IncompleteError, Record
from eqspec.tasks import document
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.task import Task

P = TypeVar("P", bound=Proof)
BITS = (15, 15, 24, 53)
"""To how many bits multipliers are rounded, attempt by attempt: the smallest first."""


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
        data = document.to_json(task)
        if result.verdict is Verdict.EQUIVALENT:
            answer = _proved(data, _header(data, result), record, part, auditor)
        else:
            _write(part, _header(data, result))
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


def _header(data: dict[str, Any], result: Result) -> bytes:
    header: dict[str, Any] = {"format": FORMAT, "verdict": result.verdict.value, "task": data}
    header["engine_version"] = result.engine_version
    if result.witness is not None:
        header["witness"] = [str(x) for x in result.witness.normalised]
    return json.dumps(header, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _proved(data: dict[str, Any], header: bytes, record: Path, part: Path, auditor: Auditor) -> Answer:
    """Written in the first way that is accepted.

    First all is left to the leaves; what they do not show is then proved where the search did, and at last everything.
    """
    early: Early = set()
    with Record(record) as events:
        for attempt, bits in enumerate(BITS):
            if attempt == 1 and not early:
                continue
            every = attempt + 1 == len(BITS)
            with np.errstate(all="ignore"), tempfile.TemporaryFile(dir=record.parent) as file:  # as the auditor does
                rounds = cast(BinaryIO, file)
                draft = Draft(events, _proof(Proof, data), rounds, bits, None if every else early)
                _write(part, header, draft.drawn(), rounds)
            answer = auditor.ask(part, Path.cwd())
            if answer.refused is None:
                break
            if attempt == 0:
                early = draft.proved_above(_open(data, part))
    return answer


def _proof(kind: type[P], data: dict[str, Any]) -> P:
    try:
        return kind(data, Path.cwd())
    except Refused:
        raise
    except Exception as problem:  # as when it reads a certificate: whatever goes wrong there is a refusal
        raise Refused(f"the auditor cannot read the task: {type(problem).__name__}: {problem}") from problem


class _Survey(Proof):
    """A proof read to its end; `failed` are the leaves, numbered in order, with what they do not exclude."""

    def __init__(self, task: dict[str, Any], folder: Path) -> None:
        super().__init__(task, folder)
        self.failed: list[tuple[int, int]] = []

    def unproved(self, leaf: int, o: int) -> None:
        self.failed.append((leaf, o))


def _open(data: dict[str, Any], part: Path) -> list[tuple[int, int]]:
    """What the leaves of a certificate leave open."""
    survey = _proof(_Survey, data)
    with suppress(Refused), np.errstate(all="ignore"), part.open("rb") as file:
        whole = Bounded(file)
        whole.readline(limits.HEADER)
        survey.check(whole)
    return survey.failed


def _write(path: Path, header: bytes, tree: NDArray[Any] | None = None, rounds: BinaryIO | None = None) -> None:
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) as file:
        file.write(header)
        if tree is not None and rounds is not None:
            npy.write_array(file, tree, allow_pickle=False)
            rounds.seek(0)
            shutil.copyfileobj(rounds, file, 1 << 20)
