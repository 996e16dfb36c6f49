"""Certificates, opened: gzip of a JSON line with format, verdict and task, a witness in it or a proof behind it."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .proof import Proof
from .rounding import Refused
from .witness import check

FORMAT = "eqspec-certificate/3"


@dataclass(frozen=True)
class Audit:
    """What a certificate shows: the verdict, the claim in words, and how much was checked."""

    verdict: str
    claim: str
    leaves: int = 0
    rounds: int = 0


def audit(path: Path, folder: Path | None = None) -> Audit:
    """Check a certificate, with the networks where the task says, or in `folder`. Refused if it does not hold."""
    try:
        with np.errstate(all="ignore"), gzip.open(path, "rb") as file:
            return _audit(file, folder or path.parent)  # type: ignore[arg-type]
    except Refused:
        raise
    except Exception as problem:  # whatever went wrong, nothing is shown
        raise Refused(f"this is no certificate: {type(problem).__name__}: {problem}") from None


def _audit(file: BinaryIO, folder: Path) -> Audit:
    header = json.loads(file.readline(1 << 28))
    verdict, task = header["verdict"], header["task"]
    if header["format"] != FORMAT or task["schema"] != "eqspec-task/1":
        raise Refused("this is no certificate of a format that this auditor reads")
    if np.float64(2.0**-1074) == 0.0 or 1.0 + 2.0**-53 != 1.0 or np.float64(2.0**-1074) / 2.0 != 0.0:
        raise Refused("this processor does not round as binary64 asks")
    if verdict == "different":
        check(task, folder, header["witness"])
        found = Audit(verdict, task["claim"])
    elif verdict == "equivalent":
        found = Audit(verdict, task["claim"], *Proof(task, folder).check(file))
    else:
        raise Refused(f"{verdict!r} is nothing that can be certified")
    if file.read(1):  # at the end, gzip compares its sum
        raise Refused("it goes on after its end")
    return found
