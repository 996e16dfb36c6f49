"""What proofs leave for the next ones: where boxes were halved, which signs were split, and the multipliers.

A model is retrained every night, and most of what yesterday's proof did still does. Nothing here is believed: the core
bounds everything again on the networks at hand, so that hints of another question cost time and change no verdict
(rust/src/search/hints.rs). So they may lie under a key that says only what makes them likely to be of use.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from eqspec.cache import Store
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Network
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task

_FORM = "1"
"""The version of the format in which the core writes hints."""


@dataclass(frozen=True)
class Hints:
    """What an earlier proof did, as the core reads it, and where that was found: a folder, or "cache"."""

    trail: bytes
    source: str


class EarlierProofs:
    """Hints from the folder that was named, if one was, else from the cache; those of this run go to the cache.

    A folder is what a run had as its cache, or what it wrote certificates to.
    """

    def __init__(self, since: Path | None, store: Store | None) -> None:
        self._store, self._since = store, since
        self._certified = since is not None and next(since.glob("*.eqcert"), None) is not None
        named = since is not None and (store is None or since.resolve() != store.folder.resolve())
        self._sources = [*([Store(since)] if since is not None and named else []), *([store] if store else [])]

    @property
    def may_keep(self) -> bool:
        """Whether there is a cache to keep proofs in."""
        return self._store is not None

    def hints(self, task: Task) -> Hints | None:
        """What the last proof of a task like this one did, if that is known."""
        if self._certified and self._since is not None:
            from eqspec.run.certified_trees import trail  # with the auditor, which a check does without

            if (found := trail(task, self._since)) is not None:
                return Hints(found, str(self._since))
        key = kin(task) if self._sources else ""
        for store in self._sources:
            if (found := store.read("trail", key)) is not None:
                return Hints(found, "cache" if store is self._store else str(self._since))
        return None

    def keep(self, task: Task, trail: bytes) -> None:
        """Keep what the proof of a task did, if it did anything beyond bounding the whole box."""
        if self._store is not None and len(trail) > 1:
            self._store.write("trail", kin(task), trail)


def kin(task: Task) -> str:
    """What is alike in tasks whose proofs are: the id, the claim and the region, and the networks by name and shape."""
    asked = serialisation.to_json(task)
    names = [task.id, task.reference_name, task.candidate_name]
    shapes = [_shape(task.reference), _shape(task.candidate)]
    alike = [_FORM, names, shapes, asked["region"], asked["property"], asked["arithmetic"]]
    return hashlib.sha256(json.dumps(alike, sort_keys=True).encode()).hexdigest()


def _shape(network: Network) -> list[int]:
    return [network.input_size, *(step.rows for step in network.steps)]
