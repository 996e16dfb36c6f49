"""The hostile files of a reader, read in a process of its own, because what goes wrong here may take it down.

A module of its own as well: the process is started afresh and has to find it by name.
"""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Sequence
from pathlib import Path

from fuzz.hostile import HOSTILE
from fuzz.limits import MOST_BYTES, limited
from fuzz.readers import READERS
from fuzz.trying import outcome

Answers = dict[tuple[str, str], tuple[str, int]]
"""By reader and file: the outcome, and how many megabytes the process grew."""


def read(
    kind: str, names: Sequence[str], folder: Path, answers: multiprocessing.Queue[tuple[str, str, str, int]]
) -> None:
    """Put what a reader makes of each of these hostile files, one after the other."""
    for name in names:
        made = HOSTILE[kind][name]
        path = folder / READERS[kind].name
        path.write_bytes(made(folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with limited(MOST_BYTES):
            found = outcome(kind, path)
        answers.put((kind, name, found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024))
