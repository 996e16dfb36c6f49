"""Certificates of earlier proofs as hints: where their trees cut inputs.

The tree of a certificate is read, and nothing of it is believed (`earlier_proofs`). The multipliers in it are those of
the auditor's facts, of which the search has no use. Where an obligation is assumed to fail, the tree ends as a hint.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit import Refused
from eqspec.audit.opening import Bounded, array, header, limits, opened
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task

Array = NDArray[Any]
_LEAF, _CUT, _ROUND, _ASSUME = range(4)
_PARTS = {_LEAF: 0, _CUT: 2, _ROUND: 1, _ASSUME: 2}
_ALIKE = ("id", "region", "property", "arithmetic")
"""The parts of a task that must be the same: all but its networks."""


def trail(task: Task, folder: Path) -> bytes | None:
    """Hints from the certificate in a folder that proves the same of other networks; None if there is none."""
    asked = serialisation.to_json(task)
    for path in sorted(folder.glob("*.eqcert")):
        if (tree := _tree(path, {name: asked[name] for name in _ALIKE})) is not None:
            return _events(tree, np.flatnonzero(task.lower < task.upper))
    return None


def _tree(path: Path, alike: dict[str, Any]) -> Array | None:
    try:
        with opened(path, limits.CERTIFICATE) as file:
            unpacked = Bounded(file)
            said = header(unpacked)
            task = said.get("task")
            if not isinstance(task, dict) or said.get("verdict") != "equivalent" or "decision" in said:
                return None
            if any(task.get(name) != value for name, value in alike.items()):
                return None
            return array(unpacked, 2, 3 * limits.RECORDS, 3)
    except (Refused, OSError, ValueError):
        return None


def _events(tree: Array, free: NDArray[np.int64]) -> bytes:
    """The cuts of inputs from the root down to whatever else was done, as the core writes them."""
    places = {int(which): place for place, which in enumerate(free)}
    return b"".join([*_cuts(tree, places), b"Z"])


def _cuts(tree: Array, places: dict[int, int]) -> Iterator[bytes]:
    waiting: list[int | None] = [0]
    labels = 1
    for kind, which, place in tree.tolist():
        if not waiting:
            return
        label, parts = waiting.pop(), _PARTS.get(kind, 0)
        if label is None or kind != _CUT or which not in places:
            waiting += [None] * parts
            continue
        low, high = labels, labels + 1
        labels += 2
        yield b"C" + struct.pack("<QIdQQI", label, places[int(which)], place, low, high, 0)
        waiting += [high, low]
