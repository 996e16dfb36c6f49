"""The cache of results: what an earlier run found for a task, or the state in which its search was stopped.

Sound because a result is kept under everything it depends on: what the core sees (both networks with their errors, the
region, the claim, the settings that its way depends on), the exact task, and eqspec itself, file by file: the core, and
the Python that reads networks and specs and calls it. What reads back under that key was written for the same question
by the same program of the same user, whose key seals it (`cache/sealed.py`). A witness is replayed all the same, so
that `different` never rests on a file.

A decided result is always used. An undecided one is used only if the new run may not spend more than the earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, fields, replace
from math import inf
from typing import Any

from eqspec.cache import SavedSearch, Store
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.replay.replay import Replay
from eqspec.run.cache_key import build_id
from eqspec.tasks import serialisation
from eqspec.tasks.result import Result, refuse_other_schema
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

_BUDGETS = (Reason.TIMEOUT, Reason.BOXES)
"""Reasons that a larger budget may remove."""
_NOT_KEPT = (Reason.INTERRUPTED, Reason.ERROR, Reason.MEMORY)
_OF_THIS_RUN = ("id", "check", "parameters", "expected", "claim", "tags", "networks", "source", "question")
KEEP_EVERY = 15.0
"""Seconds after which a search that goes on is kept, against power cuts and kill -9."""


@dataclass(frozen=True)
class Effort:
    """What may be spent on a task: seconds, threads, boxes, bytes; infinite where there is no limit."""

    timeout: float
    threads: float
    boxes: float
    memory: float

    def within(self, other: Effort) -> bool:
        """Whether it is no more than the other in anything."""
        return all(mine <= theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True))

    def to_json(self) -> dict[str, float | None]:
        """Plain numbers; null for infinity."""
        return {name: None if value == inf else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, float | None]) -> Effort:
        """What `to_json` wrote."""
        return cls(*(inf if (value := data[of.name]) is None else value for of in fields(cls)))


@dataclass(frozen=True)
class ResultCache:
    """A store, and how to use it: with `resume`, searches that ran out of time or were stopped go on."""

    store: Store
    resume: bool = False
    keep_every: float = KEEP_EVERY

    def result(self, key: str, task: Task, blank: Result, effort: Effort, replay: Replay) -> Result | None:
        """The result of an earlier run as the result of this task, if it is decided or was given no less effort.

        `blank` is a result of the task without anything found: names, paths and places are those of today.
        """
        known = self._read(key)
        if known is None or not self._settles(known[0], task, effort, known[1]):
            return None
        result = known[0]
        witness = None
        if result.verdict is Verdict.DIFFERENT:
            witness = replay.replay(result.witness.normalised) if result.witness else None
            if witness is None:
                self.store.remove("result", key, "its input does not break the claim")
                return None
        return replace(
            result,
            **{name: getattr(blank, name) for name in _OF_THIS_RUN},
            witness=witness,
            task=None if witness is None else serialisation.to_json(task),
            cached=True,
        )

    def _settles(self, result: Result, task: Task, effort: Effort, spent: Effort) -> bool:
        if result.verdict is Verdict.UNKNOWN:
            if result.reason not in _BUDGETS:
                return True
            return not self.resume and effort.within(spent)
        # Whether anything meets the condition is looked for in what time is left.
        unsure = task.expected == "vacuous" and result.verdict is Verdict.EQUIVALENT and not result.vacuous
        return not unsure or effort.within(spent)

    def keep(self, key: str, result: Result, effort: Effort) -> bool:
        """Keep a result, unless it says nothing or a better one is kept. Returns whether it is on disk now."""
        if result.verdict is Verdict.UNKNOWN:
            if result.reason in _NOT_KEPT:
                return False
            known = self._read(key)
            if known is not None and known[0].verdict is not Verdict.UNKNOWN:
                return False
        spent = replace(effort, timeout=max(effort.timeout, result.seconds))
        data = {"result": result.to_json(), "effort": spent.to_json()}
        return self.store.write("result", key, json.dumps(data, allow_nan=False).encode())

    def _read(self, key: str) -> tuple[Result, Effort] | None:
        content = self.store.read("result", key)
        if content is None:
            return None
        try:
            data = json.loads(content)
            refuse_other_schema(data["result"], "its result")
            return Result.from_json(data["result"]), Effort.from_json(data["effort"])
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, InputError) as problem:
            self.store.remove("result", key, f"it is not a result: {type(problem).__name__}: {problem}")
            return None

    @contextmanager
    def search(self, key: str) -> Iterator[EarlierSearch]:
        """The search of a key while it is run; another process or thread that runs the same has to do without."""
        with self.store.search(key) as saved:
            about, state = (saved.load() if saved is not None else None) or ({}, None)
            if self.resume and saved is not None and state is None:
                self.store.tell_of_other_builds(build_id())
            yield EarlierSearch(saved, about, state if self.resume else None)


@dataclass
class EarlierSearch:
    """What an earlier run left of a search."""

    _saved: SavedSearch | None = None
    _about: dict[str, Any] = field(default_factory=dict)
    state: bytes | None = None

    @property
    def may_save(self) -> bool:
        """Whether this run may save its own state."""
        return self._saved is not None

    @property
    def seconds(self) -> float:
        """Seconds spent so far by the search that goes on."""
        return float(self._about.get("seconds", 0.0)) if self.state is not None else 0.0

    def save(self, state: bytes, seconds: float) -> None:
        """Save a state that took so many seconds altogether, unless it would replace one that took more."""
        if self._saved is not None and seconds >= self._about.get("seconds", 0.0):
            self._saved.keep({"seconds": seconds, "build": build_id()}, state)

    def put_aside(self, why: str) -> None:
        """Give the state up, because it is damaged or belongs to another question. Nothing else is a reason to."""
        if self._saved is not None:
            self._saved.put_aside(why)
        self._about, self.state = {}, None

    def remove(self) -> None:
        """Remove the state, because the task is decided."""
        if self._saved is not None:
            self._saved.drop()
