"""The program `eqspec-kernel`: where it is, and what it answers to a stream."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from eqspec.audit.opening import limits
from eqspec.audit.opening.process import hold
from eqspec.errors import EqspecError
from eqspec.lazy_dataclass import dataclass

NAME, VARIABLE = "eqspec-kernel", "EQSPEC_KERNEL"
HOW = (
    "build it with 'make -C kernel' in a clone of the repository (Debian: apt install ocaml-nox ocaml-findlib"
    " libzarith-ocaml-dev), and put it on PATH or name it in the environment variable"
    f" {VARIABLE}; or build a wheel there with 'make -C kernel wheel', and pip install kernel/dist/*.whl"
)


POSIX = os.name == "posix"


class BinaryError(EqspecError):
    """The program is not there, or did not answer."""


@dataclass(frozen=True)
class Answer:
    """Whether it accepts, why not, and the fields that it tells."""

    refused: str | None
    fields: dict[str, str]


def find() -> Path:
    """The program: where EQSPEC_KERNEL says, beside this Python, on PATH, or as `make` leaves it in a clone."""
    if (named := os.environ.get(VARIABLE)) is not None:
        if not os.access(named, os.X_OK) or not Path(named).is_file():
            raise BinaryError(f"there is no program at {named}, which {VARIABLE} names; {HOW}")
        return Path(named)
    built = Path(__file__).resolve().parents[3] / "kernel" / NAME
    beside = shutil.which(NAME, path=sysconfig.get_path("scripts"))  # where pip puts it, also without activation
    found = beside or shutil.which(NAME) or (str(built) if os.access(built, os.X_OK) else None)
    if found is None:
        raise BinaryError(f"the program {NAME} is not installed; {HOW}")
    return Path(found)


def _hold() -> None:
    """Where the system can, the program has as much memory as the auditor."""
    hold(limits.MEMORY)


def stream(pair: str, question: str, commands: Iterable[str]) -> bytes:
    """What it reads: two sections with their digests, then the commands."""
    parts = []
    for name, text in (("pair", pair), ("question", question)):
        data = text.encode("ascii")
        parts += [f"{name} {hashlib.sha256(data).hexdigest()} {len(data)}\n".encode(), data]
    return b"".join([*parts, "\n".join([*commands, ""]).encode("ascii")])


def ask(binary: Path, data: bytes, seconds: float | None = None, records: Path | None = None) -> Answer:
    """Run it on a stream; with `records` it writes there what the kernel took."""
    command = [str(binary), *(["--records", str(records)] if records else [])]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=seconds, check=False, preexec_fn=_hold if POSIX else None
        )
    except subprocess.TimeoutExpired:
        return Answer(f"the kernel took longer than {seconds:g} seconds", {})
    except OSError as problem:
        raise BinaryError(f"{binary} cannot be run: {problem}") from None
    said = done.stdout.decode("ascii", "replace").splitlines()
    if done.returncode == 0 and said and said[0] == "accepted":
        return Answer(None, dict(line.split(" ", 1) for line in said[1:] if " " in line))
    if done.returncode == 1 and len(said) > 1 and said[0] == "refused":
        return Answer(said[1], {})
    raise BinaryError(
        f"{binary} ended with {done.returncode} and said {done.stderr.decode('ascii', 'replace')[:300]!r}"
    )
