"""Does a claim break in onnxruntime too, on the original files in their own precision? Reported, never part of a proof.

A file is run as it stands, node by node. What onnxruntime answers with its default settings, by which it rewrites a
model before it runs it, is asked separately: a deployed file is often run so, and the two may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Network
from eqspec.networks.session import CannotRunError, Session
from eqspec.property import Containment
from eqspec.replay.violation import violation
from eqspec.tasks.task import Task

__all__ = ["CannotRunError", "RuntimeReplay"]


class RuntimeReplay:
    """Runs files in onnxruntime, each loaded once."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, tuple[str, str], bool, bool], Session | CannotRunError] = {}

    def confirms(self, task: Task, point: Sequence[Fraction]) -> tuple[bool | None, str | None]:
        """Whether the claim breaks at the outputs of the original files; None and a reason if they do not tell."""
        if isinstance(task.property, Containment):
            return None, "its outputs do not tell what a type cannot hold on the way"
        try:
            return self._breaks(task, point, rewritten=False), None
        except CannotRunError as error:
            return None, str(error)

    def confirms_by_default(self, task: Task, point: Sequence[Fraction]) -> bool | None:
        """The same as onnxruntime rewrites the files by default; None if it cannot run them so, or does not tell."""
        if isinstance(task.property, Containment):
            return None
        try:
            return self._breaks(task, point, rewritten=True)
        except CannotRunError:
            return None

    def outputs(self, network: Network, point: Sequence[Fraction], *, rewritten: bool = False) -> NDArray[np.float64]:
        """What the file answers (O,) at a point in the units it takes; CannotRunError if it cannot be run."""
        return self._file(network, rewritten=rewritten).run(point)

    def _breaks(self, task: Task, point: Sequence[Fraction], *, rewritten: bool) -> bool:
        raw = [c + s * x for c, s, x in zip(task.space.centre, task.space.scale, point, strict=True)]
        reference = self.outputs(task.reference, raw if task.reference_takes_raw else point, rewritten=rewritten)
        candidate = self.outputs(task.candidate, raw if task.candidate_takes_raw else point, rewritten=rewritten)
        points = ([(y, y) for y in map(Fraction, part.tolist())] for part in (reference, candidate))
        lowest_wins = task.space.decide == "min"
        return violation(task.property, *points, lowest_wins=lowest_wins) is not None

    def _file(self, network: Network, *, rewritten: bool) -> Session:
        key = (network.source, network.identity, network.stripped is not None, rewritten)
        if key not in self._files:
            try:
                other = self._files.get((*key[:-1], not rewritten))
                like = other if isinstance(other, Session) else None
                self._files[key] = Session(network, rewritten=rewritten, like=like)
            except CannotRunError as error:
                self._files[key] = error
        found = self._files[key]
        if isinstance(found, CannotRunError):
            raise found
        return found
