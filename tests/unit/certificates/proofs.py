"""Pairs to certify, and certificates taken apart and put together again: falsified they can still be read."""

from __future__ import annotations

import atexit
import gzip
import io
import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit import Refused, audit
from eqspec.certificates import Auditor, Certificate, Certifier
from eqspec.certificates.certifier import name_of
from eqspec.property import Property
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.files import Layers, write

Array = NDArray[Any]
BOXES = 20_000
"""For queries of the oracle: twice what the dearest decided one takes. One at its border is searched without an end."""


def layers(rng: np.random.Generator, sizes: list[int]) -> Layers:
    """Random layers of these widths."""
    return [(rng.normal(size=(m, n)) / np.sqrt(n), 0.3 * rng.normal(size=m)) for n, m in pairwise(sizes)]


def close(seed: int, folder: Path, claim: Property, sizes: list[int], radius: Fraction, off: float) -> Task:
    """A network and the same with other weights by about `off`, on a box around 0."""
    rng = np.random.default_rng(seed)
    first = layers(rng, sizes)
    second = [(w + off * rng.normal(size=w.shape), b) for w, b in first]
    reference, candidate = write(folder / "a.onnx", first), write(folder / "b.onnx", second)
    given: dict[str, Any] = {"lower": [-radius] * sizes[0], "upper": [radius] * sizes[0]}
    return task_of(reference, candidate, claim, space=space(sizes[0], sizes[-1]), **given)


@cache
def auditor() -> Auditor:
    """The one auditor of this process: to start one takes longer than most audits here."""
    found = Auditor()
    atexit.register(found.__exit__, None, None, None)
    return found


def certify(task: Task, folder: Path, **options: Any) -> tuple[Result, Certificate | None]:
    """Run a task on one thread and certify it."""
    with Certifier(folder, auditor()) as certifier:
        result = Runner(Options(threads=1, certifier=certifier, **options)).run(task)
        return result, certifier.made.get(name_of(task))


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
        if parts.header["verdict"] == "equivalent" and "decision" not in parts.header:
            parts.tree = npy.read_array(file)
            for _ in range(int((parts.tree[:, 0] == 2).sum())):
                parts.rounds.append([npy.read_array(file) for _ in range(3)])
        assert not file.read()
    return parts


def pack(path: Path, parts: Parts, more: bytes = b"") -> Path:
    """A certificate of these parts."""
    content = io.BytesIO()
    content.write(json.dumps(parts.header).encode() + b"\n")
    if parts.header["verdict"] == "equivalent" and "decision" not in parts.header:
        for array in (parts.tree, *(array for one in parts.rounds for array in one)):
            npy.write_array(content, np.ascontiguousarray(array))
    path.write_bytes(gzip.compress(content.getvalue() + more, 1))
    return path


def holds(parts: Parts, tmp_path: Path) -> bool:
    """Whether the auditor accepts them."""
    try:
        return audit(pack(tmp_path / "changed", parts)).verdict == "equivalent"
    except Refused:
        return False


def certified(task: Task, folder: Path) -> Parts:
    """The certificate of a task that is proved, which the auditor accepts."""
    result, made = certify(task, folder / "proofs")
    assert result.verdict is Verdict.EQUIVALENT
    assert made is not None
    assert made.reason is None
    parts = unpack(made.path)
    assert holds(parts, folder)
    return parts


def holds_within(parts: Parts, eps: str, folder: Path) -> bool:
    """Whether the auditor accepts the same certificate as one of another distance."""
    other = parts.copy()
    other.header["task"]["property"]["eps"] = eps
    return holds(other, folder)
