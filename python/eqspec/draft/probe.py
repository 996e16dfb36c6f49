"""Tries on which region a claim can be proved in a short time, from small regions to large ones.

What is found only chooses the numbers of a first spec; the verdicts are those of `eqspec check`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from eqspec.lazy_dataclass import dataclass
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict


@dataclass(frozen=True)
class Probed:
    """The largest size that was proved, with its seconds, and the next one that was not, with the verdict there.

    `empty` says that the condition was met nowhere on the smaller regions; the next one may not have been tried then.
    """

    proved: str | None = None
    seconds: float = 0.0
    failed: str | None = None
    verdict: Verdict | None = None
    empty: bool = False


def probe(tasks_at: Callable[[str], Sequence[Task]], sizes: Sequence[str], seconds: float) -> Probed:
    """Try the sizes in their order until one is not proved or the time is over."""
    runner, ends = Runner(), perf_counter() + seconds
    found = Probed()
    for size in sizes:
        began = perf_counter()
        if began >= ends:
            return Probed(failed=size, empty=True) if found.empty else found
        results = [_run(runner, task, ends) for task in tasks_at(size)]
        undone = next((r for r in results if r.verdict is not Verdict.EQUIVALENT), None)
        if undone is not None:
            return Probed(found.proved, found.seconds, size, undone.verdict, found.empty)
        vacuous = all(result.vacuous for result in results)
        found = Probed(empty=True) if vacuous else Probed(size, perf_counter() - began)
    return found


def _run(runner: Runner, task: Task, ends: float) -> Result:
    result = runner.run(task, options=Options(timeout=max(0.0, ends - perf_counter())))
    if result.reason is Reason.INTERRUPTED:  # a search stops at Ctrl-C by itself, and no draft is wanted any more
        raise KeyboardInterrupt
    return result
