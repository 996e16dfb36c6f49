"""The program `eqspec-kernel`: where it is, and what it answers to a stream."""

from __future__ import annotations

import hashlib
import os
import shutil
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Thread
from typing import IO

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


def ask(
    binary: Path,
    data: bytes,
    seconds: float | None = None,
    records: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Answer:
    """Run it on a stream; with `records` it writes there what the kernel took.

    `progress` is told in another thread, about once a second, how many commands were read and how many leaves closed.
    """
    options = [*(["--progress"] if progress else []), *(["--records", str(records)] if records else [])]
    into, out = os.pipe()
    try:
        with os.fdopen(into, "rb") as errors:
            try:
                running = Popen(
                    [str(binary), *options], stdin=PIPE, stdout=PIPE, stderr=out, preexec_fn=_hold if POSIX else None
                )
            finally:
                os.close(out)
            with running:
                other: list[str] = []
                watch = Thread(target=_watch, args=(errors, progress, other), daemon=True)
                watch.start()
                try:
                    said, _ = running.communicate(data, seconds)
                except BaseException:
                    running.kill()
                    raise
                finally:
                    watch.join()
    except TimeoutExpired:
        return Answer(f"the kernel took longer than {seconds:.4g} seconds", {})
    except OSError as problem:
        raise BinaryError(f"{binary} cannot be run: {problem}") from None
    lines = said.decode("ascii", "replace").splitlines()
    if running.returncode == 0 and lines and lines[0] == "accepted":
        return Answer(None, dict(line.split(" ", 1) for line in lines[1:] if " " in line))
    if running.returncode == 1 and len(lines) > 1 and lines[0] == "refused":
        return Answer(lines[1], {})
    raise BinaryError(f"{binary} ended with {running.returncode} and said {''.join(other)[:300]!r}")


def _watch(errors: IO[bytes], progress: Callable[[int, int], None] | None, other: list[str]) -> None:
    """What the program says beside its answer, until it ends: how far it is, and whatever went wrong."""
    for line in errors:
        text = line.decode("ascii", "replace")
        words = text.split()
        if progress and len(words) == 2 and all(word.isdecimal() for word in words):
            progress(int(words[0]), int(words[1]))
        else:
            other.append(text)
