"""Records the tree of a hard search for the simulation: `python -m benches.cluster.recording tree.npz`.

The search is one by halving alone, of a published query of ACAS Xu (`--query`, for which the folder of measured data
beside the repository is needed) or of a random pair with few inputs; the smaller the distance that is claimed, the
larger its tree. What a box takes is what it took here: the processor's time of one thread, divided by the boxes. So the
shape is that of a real search, and the time of a box is its mean.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from eqspec.property import Epsilon
from eqspec.replay.replay import Replay
from eqspec.run import core
from eqspec.run.lowering import lower_property
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.tasks.task import Task
from small_tasks import network
from small_tasks import task as task_of

SECONDS = 3600.0
_HALVED, _ALL_PROVED = b"C", b"L"
_SIZES = {_ALL_PROVED: 9, _HALVED: 41}
"""Bytes of an event, those of the open obligations not counted, which follow their number."""


def hard(eps: str, inputs: int) -> Task:
    """A pair that is proved by halving alone, after some thousands of boxes and more."""
    random = np.random.default_rng(4)
    layers = [
        (random.normal(size=(m, n)), random.normal(size=m)) for m, n in ((32, inputs), (32, 32), (32, 32), (2, 32))
    ]
    other = [(weight + 0.05 * random.normal(size=weight.shape), bias) for weight, bias in layers]
    return task_of(network(*layers), network(*other), Epsilon(eps), id="hard")


def published(name: str, eps: str) -> Task:
    """The published query of this name, with another distance."""
    from acceptance.families import FAMILIES

    (query,) = [q for family in ("acas-0.05", "acas-0.5") for q in FAMILIES[family].queries() if q.name == name]
    return replace(query.task, property=Epsilon(eps))


def sizes(record: bytes) -> NDArray[np.int64]:
    """The size of the subtree below and with each node, in preorder."""
    halves, at = dict[int, tuple[int, int]](), 0
    while (kind := record[at : at + 1]) != b"Z":
        label = int.from_bytes(record[at + 1 : at + 9], "little")
        more = 0
        if kind == _HALVED:
            more = int.from_bytes(record[at + 37 : at + 41], "little")
            low, high = np.frombuffer(record[at + 21 : at + 37], "<u8").tolist()
            halves[label] = low, high
        at += _SIZES[kind] + 4 * more
    below = dict[int, int]()
    for label in sorted(halves, reverse=True):  # parts have larger labels than the whole
        below[label] = 1 + sum(below.get(half, 1) for half in halves[label])
    found, waiting = [], [0]
    while waiting:
        label = waiting.pop()
        found.append(below.get(label, 1))
        if label in halves:
            waiting += reversed(halves[label])
    return np.array(found, np.int64)


def main() -> None:
    """Search, and keep the tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where the tree goes, as .npz")
    parser.add_argument("--eps", default="120", help="the distance that is claimed")
    parser.add_argument("--inputs", type=int, default=5)
    parser.add_argument("--query", help="a published query, as `5_1 prop_1[eps=0.05]`")
    parser.add_argument("--boxes", type=int, help="give up after so many")
    arguments = parser.parse_args()
    task = published(arguments.query, arguments.eps) if arguments.query else hard(arguments.eps, arguments.inputs)
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        options = Options(threads=1, domain="paper", timeout=SECONDS, boxes=arguments.boxes)
        settings = options.chosen(task) | {"record": record}
        pair, claim = Pairs().of(task, matched=True), lower_property(task.property, task.reference.output_size)
        began = process_time()
        solution = core.solve(
            pair, task.lower, task.upper, claim, core.Settings(**settings), confirm=Replay(task).confirm
        )
        seconds = process_time() - began
        if solution.verdict != "equivalent":
            raise SystemExit(f"{solution.verdict}, {solution.reason}: {solution.boxes} boxes in {seconds:.1f} s")
        found = sizes(record.read_bytes())
    print(f"{solution.verdict}: {solution.boxes} boxes in {seconds:.1f} s of one thread, a tree of {len(found)} nodes")
    np.savez_compressed(arguments.file, size=found, seconds=seconds / max(1, solution.boxes))


if __name__ == "__main__":
    main()
