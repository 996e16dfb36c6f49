"""The auditor of certificates in the process that writes them, for hunts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eqspec.audit import Refused, audit
from eqspec.audit.opening import question
from eqspec.audit.proof import Proof
from eqspec.certificates import Auditor

SECONDS = 20.0


class AuditorHere(Auditor):
    """Networks that the writer of a certificate has read as the auditor does are not read once more, and nobody waits
    for a pipe. Time is only looked at between leaves, and memory is not held to a limit.
    """

    def begin(self) -> None:
        """There is nothing to start."""

    def _exchange(self, request: dict[str, Any], about: str) -> dict[str, Any]:
        folder = Path(request["folder"])
        try:
            if "task" in request:
                Proof(question(request["task"]), folder)
                return {}
            answer = audit(Path(request["path"]), folder, SECONDS, request["part"], request["draft"])
        except Refused as reason:
            return {"refused": str(reason), "unproved": reason.unproved}
        return vars(answer)
