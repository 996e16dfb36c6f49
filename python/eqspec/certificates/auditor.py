"""The auditor in a process of its own, which imports nothing of eqspec but `eqspec/audit`, and uses one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

from eqspec import audit
from eqspec.errors import EqspecError
from eqspec.lazy_dataclass import dataclass

MEMORY_KEPT = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
"""For glibc: enclosures are freed and made again all the time, and their memory, returned in between, takes a fifth of
the time to be given pages again. Other libraries know neither name.
"""


@dataclass(frozen=True)
class Answer:
    """What the auditor says: `refused` is None where a certificate holds; how many leaves and rounds it checked.

    `question` is what was checked, exactly, and `said` is that in headings and sentences, the claim among them.
    `vacuous` says whether the claim holds for no input at all, None if that was not found out. `labels` are the
    certificate's own words, which nothing was checked against. `unproved` are leaves, numbered in order, and what they
    do not exclude, if that is why a certificate is refused, and `leaf` is the first of them. Where a part of a proof
    was asked for, the verdict is "part", and `part` its first leaf, the one after its last, and how many there are.
    """

    refused: str | None
    verdict: str = ""
    claim: str = ""
    leaves: int = 0
    rounds: int = 0
    vacuous: bool | None = None
    question: Mapping[str, Any] = field(default_factory=dict)
    said: Sequence[tuple[str, str]] = ()
    labels: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    leaf: int | None = None
    unproved: Sequence[tuple[int, int]] = ()
    part: Sequence[int] | None = None


class Auditor:
    """A context manager; may be asked from several threads, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Auditor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            if kind is not None:
                self._process.kill()
            self._process.communicate()

    def begin(self) -> None:
        """Start the process, which takes half a second to import what it needs."""
        with self._lock:
            self._process = self._process or _start()

    def read(self, task: dict[str, Any], folder: Path) -> None:
        """Have the networks of a task read ahead of its audit."""
        self._exchange({"task": task, "folder": str(folder)}, "the networks")

    def told(self, request: dict[str, Any]) -> dict[str, Any]:
        """What it says to a question of a session (`eqspec/audit/sessions.py`); nothing if it does not know."""
        return self._exchange(request, "a proof that is being written")

    def ask(
        self,
        path: Path,
        folder: Path | None = None,
        seconds: float | None = None,
        part: tuple[int, int] | None = None,
        draft: bool = False,
    ) -> Answer:
        """Audit a certificate; its networks are looked up by their paths, or in `folder` (by default where it lies).

        It may take so many seconds, or as many as the auditor allows itself. With a `part`, of a proof only the leaves
        from its first number up to its last are checked. Of a `draft` all leaves that show too little are told, and
        those that an earlier draft had and that showed enough are known again.
        """
        began = perf_counter()
        request = {"path": str(path), "folder": str(folder or path.parent), "seconds": seconds, "part": part}
        request["draft"] = draft
        answer = self._exchange(request, str(path))
        if "refused" in answer:
            left = [(leaf, o) for leaf, o in answer.get("unproved", ())]
            first = left[0][0] if left else None
            return Answer(
                str(answer["refused"]), seconds=perf_counter() - began, leaf=first, unproved=left if draft else ()
            )
        return Answer(None, **answer, seconds=perf_counter() - began)

    def _exchange(self, request: dict[str, Any], about: str) -> dict[str, Any]:
        with self._lock:
            process = self._process = self._process or _start()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            except BaseException:  # no answer of this process may be taken for that to a later question
                self._process = None
                process.kill()
                process.communicate()
                raise
            if not line.endswith("\n"):
                self._process = None
                raise EqspecError(f"the auditor ended with code {process.wait()} while it read {about}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _start() -> subprocess.Popen[str]:
    """Python with nothing from the environment, running the auditor's folder."""
    folder = Path(audit.__file__).parent
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | MEMORY_KEPT
    return subprocess.Popen(
        [sys.executable, "-P", str(folder), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | one,
        start_new_session=True,  # Ctrl-C goes to this process alone, which then ends the auditor
    )
