"""What was found: inputs that break claims, with both networks' answers, as arrays and as files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.mining.files import write
from eqspec.networks.network import Array
from eqspec.tasks.task import Space

Labels = NDArray[np.int64]
Ended: TypeAlias = Literal["timeout", "interrupted"]


@dataclass(frozen=True)
class Counts:
    """How many inputs of one task were looked at, were hits in floats, were kept; and what was left out, and why."""

    task: str
    claim: str
    tried: int
    hits: int
    kept: int
    islands: int
    denied: int
    unconfirmed: int
    unasked: int
    reason: str | None


@dataclass(frozen=True)
class Counterexamples:
    """Inputs (N, I) that break the claims of some tasks, as arrays that a training script can take.

    `raw` is in raw units, as a table of data has them, `normalised` as the files take them; at these floats the claim
    was broken in exact arithmetic (at those of `raw` where both files take raw inputs, else at those of `normalised`).
    `reference` and `candidate` (N, O) are the scores of exact arithmetic, rounded to floats, and the labels (N,) the
    classes that they decide for. `task` (N,) counts `counts`, whose names are the tasks; `island` (N,) numbers, within
    a task, groups of inputs that hang together, the largest first. `confirmed` (N,) is False where onnxruntime could
    not be asked. `distance` (N,) is how far the nearest row of a table is, `nearest_row` (N,) of `table` (N,): the
    largest difference of any feature in network units; NaN, -1 and "" where the spec has none. `ended` says what ended
    it early, time or an interruption. They are examples, not a census.
    """

    space: Space
    raw: Array
    normalised: Array
    reference: Array
    candidate: Array
    reference_label: Labels
    candidate_label: Labels
    task: Labels
    island: Labels
    confirmed: NDArray[np.bool_]
    table: NDArray[np.str_]
    nearest_row: Labels
    distance: Array
    counts: tuple[Counts, ...]
    seconds: float
    ended: Ended | None

    def __len__(self) -> int:
        return len(self.raw)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them as `.npz` or `.csv`, by the ending of the path. InputError for another one, or where it fails.

        An npz file has the arrays of this class, and the names `features`, `units`, `outputs` and `tasks`. A csv file
        has a row for each input: the raw inputs by name first, so that specs can read it, then labels by name, scores,
        island, the nearest row where there is a table, and task.
        """
        write(Path(path), self._arrays, self._rows)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        space = self.space
        return {
            "raw": self.raw,
            "normalised": self.normalised,
            "reference": self.reference,
            "candidate": self.candidate,
            "reference_label": self.reference_label,
            "candidate_label": self.candidate_label,
            "island": self.island,
            "task": self.task,
            "confirmed": self.confirmed,
            "table": self.table,
            "nearest_row": self.nearest_row,
            "distance": self.distance,
            "features": np.array(space.features, np.str_),
            "units": np.array([unit or "" for unit in space.units], np.str_),
            "outputs": np.array(space.outputs, np.str_),
            "tasks": np.array([counts.task for counts in self.counts], np.str_),
        }

    def _rows(self) -> Iterator[list[object]]:
        space = self.space
        units = [f"{name} [{unit}]" if unit else name for name, unit in zip(space.features, space.units, strict=True)]
        scores = [f"{role}_{name}" for role in ("reference", "candidate") for name in space.outputs]
        near = ["table", "nearest_row", "distance"] if (self.nearest_row >= 0).any() else []
        yield [*units, "reference_label", "candidate_label", *scores, "island", "confirmed", *near, "task"]
        for i in range(len(self)):
            yield [
                *self.raw[i].tolist(),
                space.outputs[self.reference_label[i]],
                space.outputs[self.candidate_label[i]],
                *self.reference[i].tolist(),
                *self.candidate[i].tolist(),
                int(self.island[i]),
                int(self.confirmed[i]),
                *([self.table[i], int(self.nearest_row[i]), float(self.distance[i])] if near else []),
                self.counts[int(self.task[i])].task,
            ]
