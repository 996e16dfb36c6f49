"""What became of checks the last time they ran, as far as it is known without running anything.

Results of this session are kept here under everything that decides them: both files by content, the region, the claim.
Before that the cache of `eqspec check` is asked, which keeps results under the same, and under what eqspec itself is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from eqspec.errors import EqspecError
from eqspec.report.numbers import duration, plural
from eqspec.report.table import bracket_in_words
from eqspec.run.runner import Runner
from eqspec.tasks import serialisation
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

_MOST_ASKED = 100
"""Tasks of one check for which the cache is asked: each costs a digest of both networks."""
_MOST_KEPT = 100_000


class LastVerdicts:
    """Results by what they are of; for several threads."""

    def __init__(self, runner: Runner | None) -> None:
        """`runner` has the cache to ask, with the options that `eqspec check` would run with; None for no cache."""
        self._runner = runner
        self._lock = threading.Lock()
        self._known: dict[str, Result] = {}

    def keep(self, item: Task | Search, result: Result) -> None:
        """Keep the result that a task or a search just had."""
        with self._lock:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[_key(item)] = result

    def of(self, items: Sequence[Task | Search]) -> list[Result | None]:
        """The last results, None where none is known."""
        return [self._one(item, ask=len(items) <= _MOST_ASKED) for item in items]

    def _one(self, item: Task | Search, *, ask: bool) -> Result | None:
        with self._lock:
            known = self._known.get(_key(item))
        if known is not None or not ask or self._runner is None or not isinstance(item, Task):
            return known
        try:
            kept = self._runner.kept(item)
        except EqspecError:  # the claim makes no sense for these networks, or the cache cannot be read
            return None
        if kept is not None:
            self.keep(item, kept)  # so that no witness is replayed at every key that is pressed
        return kept


def _key(item: Task | Search) -> str:
    if isinstance(item, Task):
        return serialisation.digest(item)
    ends = " ".join(serialisation.digest(item.task_at(end)) for end in (item.low, item.high))
    return f"{item.direction} {item.low} {item.high} {item.width} {ends}"


def in_words(results: Sequence[Result | None]) -> str | None:
    """All results of a check in one line; None if there is none."""
    known = [result for result in results if result is not None]
    if not known:
        return None
    seconds = duration(sum(result.seconds for result in known))
    unexpected = "; not as expected" if any(result.as_expected is False for result in known) else ""
    if len(results) == 1:
        found = known[0].find
        said = known[0].verdict.value if found is None else bracket_in_words(found)
        if known[0].reason is not None and found is None:
            said += f" ({known[0].reason.value})"
        return f"{said}, {seconds}{unexpected}"
    counts = Counter(result.verdict.value for result in known)
    said = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    if left := len(results) - len(known):
        said += f", {plural(left, 'task')} not run"
    return f"{said}; {seconds}{unexpected}"
