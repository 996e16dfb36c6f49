"""From the record of a search to a certificate, which counts only once the auditor has accepted it."""

from __future__ import annotations

import io
import json
import tempfile
import zlib
from contextlib import suppress
from math import inf
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit import Refused
from eqspec.audit.certificate import FORMAT, GRIDS
from eqspec.audit.opening import Balances
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.certificates.cached_proof import CachedProof
from eqspec.certificates.deadline import Deadline
from eqspec.certificates.proof_construction import Doubts, ProofConstruction
from eqspec.certificates.record import CutOffError, IncompleteError, Record
from eqspec.certificates.session import Session
from eqspec.errors import FULL, SCARCE
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.balancing import Balance, balanced
from eqspec.networks.derived import DerivedNetwork
from eqspec.run.balances import balances_in
from eqspec.tasks import serialisation
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

DRAFTS = 4
"""What leaves of one draft do not show, the next one settles."""
LEVEL = 4
"""Of the compression: 6 takes more than twice as long, and saves a thirtieth. Multipliers have no strings in common:
looking for runs alone takes a third of the time, and saves a thirtieth too.
"""
GZIP = 16 + zlib.MAX_WBITS
"""A stream of zlib's as a gzip file, without a name or a time."""


@dataclass(frozen=True)
class Certificate:
    """What became of a certificate: where it is (or would be), and why it is not there (`reason`).

    `size` in bytes; what the auditor checked, and how long it took. `no_room` where the machine did not give what was
    needed to write it.
    """

    path: Path
    reason: str | None = None
    size: int = 0
    leaves: int = 0
    rounds: int = 0
    seconds: float = 0.0
    no_room: bool = False


def unwritten_certificate(path: Path, error: OSError) -> Certificate:
    """One that could not be written, and why."""
    reason = f"cannot write {error.filename or path}: {error.strerror or error}"
    return Certificate(path, reason, no_room=error.errno in (*FULL, *SCARCE))


def write_certificate(
    task: Task, result: Result, record: Path | None, path: Path, auditor: Auditor, seconds: float = inf
) -> Certificate:
    """Write the certificate of a decided task from what the core recorded; without a record, of one decided exactly.

    The file appears under its name only when the auditor has accepted it, and what had that name is gone; before it is
    called `.part`, after a token of its own, as another run may write a certificate of this name at the same time.
    `seconds` is what may be spent on a proof until it is as the auditor takes it, without the audit.
    """
    for name, network in ((task.reference_name, task.reference), (task.candidate_name, task.candidate)):
        if isinstance(network, DerivedNetwork):
            return Certificate(path, f"'{name}' is derived in the spec, and the auditor reads files alone")
    part = path.with_name(f"{path.name}.{token_hex(4)}.part")
    try:
        path.unlink(missing_ok=True)
        data = serialisation.to_json(task)
        if result.verdict is Verdict.EQUIVALENT and record is None:
            _write(part, _header(data, result, decision=GRIDS))
            answer = auditor.ask(part, Path.cwd())
        elif result.verdict is Verdict.EQUIVALENT and record is not None:
            balances = balances_in(task, task.reference, task.candidate)
            first, second = (tuple(tuple(k.tolist()) for k in one) for one in balances)
            told: Balances = (first, second)
            header = _header(data, result, **({"balances": told} if any(told) else {}))
            answer = _proved(data, bent(task, balances), told, header, record, part, auditor, seconds)
        else:
            _write(part, _header(data, result))
            answer = auditor.ask(part, Path.cwd())
        if answer.refused is None:
            part.replace(path)
            return Certificate(path, None, path.stat().st_size, answer.leaves, answer.rounds, answer.seconds)
        return Certificate(path, answer.refused)
    except (Refused, IncompleteError) as reason:
        return Certificate(path, str(reason), no_room=isinstance(reason, CutOffError))
    except OSError as error:
        return unwritten_certificate(path, error)
    except Exception as problem:  # a certificate that cannot be made takes nothing from the verdict
        return Certificate(path, f"it could not be written: {type(problem).__name__}: {problem}")
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _header(data: dict[str, Any], result: Result, **more: Any) -> bytes:
    header: dict[str, Any] = {"format": FORMAT, "verdict": result.verdict.value, **more, "task": data}
    header["engine_version"] = result.engine_version
    if result.witness is not None:
        header["witness"] = [str(x) for x in result.witness.normalised]
    return json.dumps(header, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def bent(task: Task, balances: tuple[Balance, Balance] = ((), ())) -> list[bool] | None:
    """Which steps of the search have a function, where both networks have the same ones; None for chains."""
    found = [
        [step.function != "identity" for step in balanced(network, one, by_factors=False).steps]
        for network, one in zip((task.reference, task.candidate), balances, strict=True)
    ]
    return found[0] if found[0] and found[0] == found[1] else None


def _proved(
    data: dict[str, Any],
    bent: list[bool] | None,
    balances: Balances,
    header: bytes,
    record: Path,
    part: Path,
    auditor: Auditor,
    seconds: float,
) -> Answer:
    """Written until it is accepted: each draft settles what leaves of the one before do not show."""
    doubts: Doubts = set()
    deadline, session = Deadline(seconds), Session(auditor, data, Path.cwd(), balances)
    with Record(record) as events:
        for number in range(1, DRAFTS + 1):
            with np.errstate(all="ignore"), tempfile.TemporaryFile(dir=record.parent) as file:  # as the auditor does
                rounds = cast(BinaryIO, file)
                draft = ProofConstruction(events, _proof(data, bent, balances, session), rounds, doubts, deadline)
                tree = draft.build()
                if draft.doubts == doubts or number == DRAFTS:
                    _write(part, header, tree, rounds)
                    answer = auditor.ask(part, Path.cwd(), draft=True)
                    if answer.refused is None:
                        break
                    draft.doubt(answer.unproved)
                doubts = draft.doubts
    return answer


def _proof(data: dict[str, Any], bent: list[bool] | None, balances: Balances, session: Session) -> CachedProof:
    try:
        return CachedProof(data, Path.cwd(), bent, balances, session)
    except Refused:
        raise
    except Exception as problem:  # as when it reads a certificate: whatever goes wrong there is a refusal
        raise Refused(f"the auditor cannot read the task: {type(problem).__name__}: {problem}") from problem


def _write(path: Path, header: bytes, tree: NDArray[Any] | None = None, rounds: BinaryIO | None = None) -> None:
    records = io.BytesIO()
    if tree is not None and rounds is not None:
        npy.write_array(records, tree, allow_pickle=False)
        rounds.seek(0)
    multipliers = rounds is not None and rounds.read(1) != b""
    kind = zlib.Z_RLE if multipliers else zlib.Z_DEFAULT_STRATEGY
    packing = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP, zlib.DEF_MEM_LEVEL, kind)
    with path.open("wb") as file:
        for part in (header, records.getvalue()):
            file.write(packing.compress(part))
        if rounds is not None:
            rounds.seek(0)
            while part := rounds.read(1 << 20):
                file.write(packing.compress(part))
        file.write(packing.flush())
