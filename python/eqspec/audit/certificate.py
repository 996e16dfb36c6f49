"""Certificates, opened: gzip of a JSON line with format, verdict and task, a witness in it or a proof behind it.

A claim that exact integers decide has neither: `decision` says so, and the auditor decides it once more.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TypeAlias

import numpy as np

from .drafts import Draft
from .grids import decide
from .opening import Bounded, balances, header, limits, opened, plain, question, refuse_if_late, witness
from .proof import Proof
from .rounding import TINY, Refused, U
from .statement import Audit, audited
from .witness import check

Part: TypeAlias = tuple[int, int] | None
FORMAT, GRIDS = "eqspec-certificate/5", "grids"


def audit(
    path: Path, folder: Path | None = None, seconds: float = limits.SECONDS, part: Part = None, draft: bool = False
) -> Audit:
    """Check a certificate, with the networks where the task says, or in `folder`. Refused if it does not hold.

    With a `part`, of a proof only the leaves from its first number up to its last are checked, and the answer shows
    nothing by itself; a certificate without a tree is checked whole. Of a draft all leaves that show too little are
    told, and those that this process has seen to show enough are not bounded again.
    """
    until = monotonic() + seconds
    try:
        with opened(path, limits.CERTIFICATE) as file:
            return _audit(Bounded(file), folder or path.parent, until, part, draft)
    except Refused as reason:
        raise Refused(plain(str(reason)), reason.unproved) from None
    except MemoryError:
        raise Refused("it needs more memory than the auditor may take") from None
    except Exception as problem:  # whatever went wrong, nothing is shown
        raise Refused(plain(f"this is not a certificate: {type(problem).__name__}: {problem}")) from None


@np.errstate(all="ignore")
def _audit(file: Bounded, folder: Path, until: float, part: Part, draft: bool) -> Audit:
    head = header(file)
    verdict, asked = head.get("verdict"), question(head.get("task"))
    if head.get("format") != FORMAT:
        raise Refused(f"this is not a certificate of the format that this auditor reads, {FORMAT}")
    if not (1.0 + U == 1.0 < 1.0 + 1.5 * U and TINY / 2.0 > 0.0):  # variables: Python folds sums of literals
        raise Refused("this processor does not round as binary64 asks")
    if verdict == "different":
        point = witness(head, asked)
        found = audited(head, asked, check(asked, folder, point), witness=point)
    elif verdict == "equivalent" and "decision" in head:
        if head["decision"] != GRIDS or asked["arithmetic"] != "real":
            raise Refused("it was decided in a way that this auditor does not know")
        found = audited(head, asked, decide(asked, folder, lambda: refuse_if_late(until)), until=until)
    elif verdict == "equivalent":
        proof = (Draft if draft else Proof)(asked, folder, until, balances(head))
        found = audited(head, asked, proof.files, proof, *proof.check(file, part), part=part)
    else:
        raise Refused("its verdict is nothing that can be certified")
    if file.read(1):  # at the end, gzip compares its sum
        raise Refused("it goes on after its end")
    return found
