"""Parts of a proof that are audited elsewhere: what travels, and what is said of a part.

The auditor is the same one, in a process of its own beside the worker. It reads the whole certificate, and bounds the
leaves of its part alone.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eqspec.audit.opening import content, limits
from eqspec.audit.reading import network
from eqspec.certificates.auditor import Answer, Auditor
from eqspec.errors import EqspecError
from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Sheet:
    """A certificate with its networks, as it travels; networks by the names under which an auditor looks for them.

    `digest` is that of the file, `question` that of what it is to be audited against.
    """

    digest: str
    question: str
    certificate: bytes
    networks: Mapping[str, bytes]

    @classmethod
    def of(cls, path: Path, answer: Answer, folder: Path | None) -> Sheet:
        """A certificate of which an auditor has read everything but the leaves. Refused if it changed meanwhile."""
        whole = content(path, limits.CERTIFICATE)
        files = {}
        for role in ("reference", "candidate"):
            found = network(dict(answer.question), role, folder or path.parent)
            for name, data in found.files:
                files[f"{answer.question[role]['sha256']}/{name}"] = data
        return cls(hashlib.sha256(whole).hexdigest(), digest_of(answer.question), whole, files)


@dataclass(frozen=True)
class Checked:
    """What an auditor says of the leaves from the first to before the last, of so many in all, of a certificate.

    `refused` is None if they are proved; `rounds` are those that count with these leaves. `leaf` is as in `Answer`.
    `digest` is that of the file, `question` that of what it was audited against.
    """

    digest: str
    question: str
    part: tuple[int, int, int]
    rounds: int
    refused: str | None = None
    leaf: int | None = None


class _Desk:
    """The auditors of this process, each of which does one thing at a time, and the networks that they have seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Auditor] = []
        self._networks = tempfile.TemporaryDirectory(prefix="eqspec-audit-")

    def check(self, sheet: Sheet, part: tuple[int, int, int], seconds: float | None) -> Checked:
        folder = Path(self._networks.name)
        with self._lock:
            auditor = self._idle.pop() if self._idle else Auditor()
            for name, data in sheet.networks.items():
                if not (folder / name).exists():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(data)
        try:
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".eqcert") as file:
                file.write(sheet.certificate)
                file.flush()
                return _checked(auditor, Path(file.name), folder, sheet.digest, sheet.question, part, seconds)
        finally:
            with self._lock:
                self._idle.append(auditor)


def _checked(
    auditor: Auditor,
    path: Path,
    folder: Path,
    digest: str,
    asked: str,
    part: tuple[int, int, int],
    seconds: float | None,
) -> Checked:
    first, last, _ = part
    try:
        answer = auditor.ask(path, folder, seconds, (first, last))
    except EqspecError as problem:  # the process of the auditor ended
        return Checked(digest, asked, part, 0, str(problem))
    if answer.refused is not None:
        return Checked(digest, asked, part, 0, answer.refused, answer.leaf)
    if answer.verdict != "part" or answer.part is None or answer.leaves != last - first:
        raise EqspecError("the auditor answered something else than it was asked; please report this")
    begins, ends, leaves = answer.part
    return Checked(digest, digest_of(answer.question), (begins, ends, leaves), answer.rounds)


def digest_of(question: Mapping[str, Any]) -> str:
    """The sha256 of a question."""
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()


_desk: _Desk | None = None
_making = threading.Lock()


def check(sheet: Sheet, part: tuple[int, int, int], seconds: float | None) -> Checked:
    """Audit some of the leaves of a certificate. Run on a worker, in as many threads as it has."""
    global _desk  # auditors outlive what they are asked: they have read the networks
    with _making:
        _desk = _desk or _Desk()
    return _desk.check(sheet, part, seconds)
