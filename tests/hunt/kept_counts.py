"""What hunts have seen so far, in a file, so that a long one may be done in many short runs.

One entry for each seed and way of hunting: how many cases from the first on are done, and how often each trait was
seen. A hunt of the same seed goes on behind them. Blocks are counted in their order, so that none is missing before.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass
class KeptCounts:
    """The hunts of a file, and the one that goes on in it. Without a path nothing is kept."""

    path: Path | None
    seed: int
    certify: bool
    done: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    others: list[dict[str, Any]] = field(default_factory=list)
    _waiting: dict[int, tuple[int, Counter[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path | None, seed: int, certify: bool) -> KeptCounts:
        """As the file has it, if there is one."""
        kept = cls(path, seed, certify)
        entries = json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else []
        for entry in entries:
            if (entry["seed"], entry["certify"]) == (seed, certify):
                kept.done, kept.seen = entry["cases"], Counter(entry["seen"])
            else:
                kept.others.append(entry)
        return kept

    def add(self, first: int, cases: int, seen: Counter[str]) -> None:
        """A block that is done, which begins at the first-th case of the seed. What can be counted is written."""
        self._waiting[first] = cases, seen
        before = self.done
        while self.done in self._waiting:
            cases, seen = self._waiting.pop(self.done)
            self.done += cases
            self.seen.update(seen)
        if self.path is not None and self.done > before:
            today = datetime.now(UTC).date().isoformat()
            mine = {"seed": self.seed, "certify": self.certify, "cases": self.done, "last": today}
            entries = [*self.others, {**mine, "seen": dict(sorted(self.seen.items()))}]
            part = self.path.with_name(self.path.name + ".part")
            part.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path)

    def total(self, *traits: str) -> int:
        """Cases of all hunts of this kind, or how often something was seen in them."""
        mine = sum(self.seen[trait] for trait in traits) if traits else self.done
        alike = [entry for entry in self.others if entry["certify"] == self.certify]
        return mine + sum(sum(e["seen"].get(t, 0) for t in traits) if traits else e["cases"] for e in alike)
