"""What is decided before any search: by integers and by finitely many inputs, with no bound and no rounding.

`decide` is asked first of every task. What it answers is a theorem or a replayed witness like any other; None hands the
task to the search. It must never take long without asking `stop`.
"""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.overflow import can_overflow
from eqspec.property import Containment, NeverWraps
from eqspec.replay.replay import Replay
from eqspec.run.description import describe
from eqspec.run.options import Options
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

NO_CERTIFICATE = "it was decided by exact integers before any search, of which no certificate is written"


def decide(
    task: Task,
    options: Options,
    replay: Replay,  # noqa: ARG001
    stop: Callable[[], bool] | None = None,  # noqa: ARG001
) -> Result | None:
    """The result of a task (`run.description.describe` makes one), or None where only a search can tell.

    `replay` says of a point in network units whether it breaks the claim; `stop` is asked now and then, and ends the
    work with KeyboardInterrupt where it says so.
    """
    claim = task.property
    if isinstance(claim, Containment) and not can_overflow(task.candidate, wraps=isinstance(claim, NeverWraps)):
        return describe(task, options, Verdict.EQUIVALENT, 0.0, certified_fraction=1.0)
    return None
