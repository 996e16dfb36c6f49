"""Runs with parts of the engine left out, to see what each is worth."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import Any

from eqspec.run import core
from eqspec.run.options import Options
from eqspec.tasks.task import Task

_NO_SWITCHES = ("record", "zonotope_memory", "contract_above", "wide_above")
SWITCHES = tuple(
    name for name in core.SETTINGS if name not in _NO_SWITCHES and name not in {field.name for field in fields(Options)}
)
"""Settings of the core that only a comparison turns off."""


@dataclass(frozen=True)
class Levers(Options):
    """Options, and which of `SWITCHES` are off."""

    without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := self.without - set(SWITCHES):
            raise ValueError(f"no switch {', '.join(sorted(unknown))}; there are {', '.join(SWITCHES)}")

    def settings(self, task: Task) -> core.Settings:
        """The core's settings for a task."""
        timeout = task.budget.timeout if self.timeout is None else self.timeout
        chosen: dict[str, Any] = {"domain": self.domain, "lp": self.lp, "timeout": inf if timeout is None else timeout}
        chosen |= {"threads": self.threads or 0, "boxes": self.boxes or 0}
        chosen |= dict.fromkeys(self.without, False)
        return core.Settings(**chosen)
