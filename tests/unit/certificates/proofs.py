"""Certificates taken apart and put together again, so that they can be falsified and still be read."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.certificates import Certificate, Certifier
from eqspec.tasks.result import Result
from eqspec.tasks.run import Options, Runner
from eqspec.tasks.task import Task

Array = NDArray[Any]


def certify(task: Task, folder: Path, **options: Any) -> tuple[Result, Certificate | None]:
    """Run a task on one thread and certify it."""
    with Certifier(folder) as certifier:
        result = Runner(Options(threads=1, certifier=certifier, **options)).run(task)
        return result, certifier.made.get(task.id)


@dataclass
class Parts:
    """Header; the tree (N, 3), and per round what is wanted, the facts, and the multipliers."""

    header: dict[str, Any]
    tree: Array = field(default_factory=lambda: np.zeros((0, 3)))
    rounds: list[list[Array]] = field(default_factory=list)

    def copy(self) -> Parts:
        """To be changed."""
        rounds = [[array.copy() for array in one] for one in self.rounds]
        return Parts(json.loads(json.dumps(self.header)), self.tree.copy(), rounds)


def unpack(path: Path) -> Parts:
    """The parts of a certificate."""
    with gzip.open(path, "rb") as file:
        parts = Parts(json.loads(file.readline()))
        if parts.header["verdict"] == "equivalent":
            parts.tree = npy.read_array(file)
            for _ in range(int((parts.tree[:, 0] == 2).sum())):
                parts.rounds.append([npy.read_array(file) for _ in range(3)])
        assert not file.read()
    return parts


def pack(path: Path, parts: Parts, more: bytes = b"") -> Path:
    """A certificate of these parts."""
    content = io.BytesIO()
    content.write(json.dumps(parts.header).encode() + b"\n")
    if parts.header["verdict"] == "equivalent":
        for array in (parts.tree, *(array for one in parts.rounds for array in one)):
            npy.write_array(content, np.ascontiguousarray(array))
    path.write_bytes(gzip.compress(content.getvalue() + more, 1))
    return path
