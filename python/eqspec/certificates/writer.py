"""From the record of a search to a certificate, which counts only once the auditor has accepted it."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit import Refused
from eqspec.audit.certificate import FORMAT
from eqspec.audit.proof import Proof
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.drafting import Draft
from eqspec.certificates.record import IncompleteError, Record
from eqspec.tasks import document
from eqspec.tasks.result import Result, Verdict
from eqspec.tasks.task import Task

ATTEMPTS = [(False, 15), (False, 24), (True, 53)]
"""Whether to prove where the search did, and to how many bits multipliers are rounded: the smallest first."""


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
        data = document.to_json(task)
        for whole, bits in ATTEMPTS if result.verdict is Verdict.EQUIVALENT else ATTEMPTS[:1]:
            with tempfile.TemporaryFile(dir=record.parent) as file:
                rounds = cast(BinaryIO, file)
                tree = _drawn(data, record, rounds, bits, whole=whole) if result.verdict is Verdict.EQUIVALENT else None
                _write(part, _header(data, result), tree, rounds)
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


def _drawn(data: dict[str, Any], record: Path, rounds: BinaryIO, bits: int, *, whole: bool) -> NDArray[Any]:
    with np.errstate(all="ignore"):  # as the auditor does: what overflows proves nothing
        try:
            proof = Proof(data, Path.cwd())
        except Refused:
            raise
        except Exception as problem:  # as when it reads a certificate: whatever goes wrong there is a refusal
            raise Refused(f"the auditor cannot read the task: {type(problem).__name__}: {problem}") from problem
        with Record(record) as events:
            return Draft(events, proof, rounds, bits, whole=whole).drawn()


def _write(path: Path, header: bytes, tree: Any, rounds: BinaryIO) -> None:
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) as file:
        file.write(header)
        if tree is not None:
            npy.write_array(file, tree, allow_pickle=False)
            rounds.seek(0)
            shutil.copyfileobj(rounds, file, 1 << 20)
