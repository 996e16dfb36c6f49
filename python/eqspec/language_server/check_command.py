"""Runs checks of an open spec: what `eqspec check` runs, on the text as it stands, with the cache of results.

Networks are read from their files now, whatever was read of them before, so that a verdict is never about an older
file. One run at a time; it goes on in a thread of its own and can be stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eqspec.errors import SpecError
from eqspec.language_server.last_verdicts import LastVerdicts, in_words
from eqspec.language_server.open_specs import questions
from eqspec.language_server.understanding import ReadNetworks, understand, with_files
from eqspec.lazy_dataclass import dataclass
from eqspec.run.batch import run_all
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: results in the order of the spec, and a summary of them in words."""

    results: Sequence[Result]
    words: str
    interrupted: bool


def run_checks(
    text: str,
    path: Path,
    opened: Mapping[Path, str],
    check: str | None,
    runner: Runner,
    verdicts: LastVerdicts,
    progress: Callable[[str, int], None],
    stopped: threading.Event,
) -> Outcome:
    """Run one check of a spec, or all. SpecError if the spec cannot be used.

    `progress` is told what runs and how many percent are done; setting `stopped` ends the run with what is known.
    """
    known = with_files(understand(text, path, opened), ReadNetworks())
    if known.compiled is None:
        raise SpecError([found for found in known.findings if found.severity == "error"])
    items = questions(known, check)
    outcome = run_all(runner, items, _Told(progress, items), stop=stopped.is_set)
    for item, result in zip(items, outcome.results, strict=False):
        verdicts.keep(item, result)
    said = in_words(outcome.results) or "nothing was run"
    failures = "".join(f"; {task}: {problem}" for task, problem in outcome.failures)
    return Outcome(outcome.results, f"{said}{failures}", outcome.interrupted)


class _Told(Monitor):
    """Passes on what runs and how far it is, a percent at a time."""

    def __init__(self, progress: Callable[[str, int], None], items: Sequence[Task | Search]) -> None:
        self._progress, self._count = progress, max(1, len(items))
        self._done, self._last = 0, ("", -1)

    def started(self, task: Task) -> None:
        """Note that a task begins."""
        self._tell(task.id, 0.0)

    def progress(self, task: Task, progress: Progress) -> None:
        """How much of its region is proved."""
        self._tell(task.id, progress.certified)

    def decided(self, result: Result) -> None:
        """Count one more result."""
        self._done += 1
        self._tell(result.id, 0.0)

    def _tell(self, name: str, share: float) -> None:
        said = name, min(100, int(100 * (self._done + share) / self._count))
        if said != self._last:
            self._last = said
            self._progress(*said)
