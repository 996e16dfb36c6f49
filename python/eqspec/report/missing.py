"""Tasks of a run that have no result. A report that left them out would look as if everything had been checked."""

from __future__ import annotations

from collections.abc import Sequence

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import plural


@dataclass(frozen=True)
class Missing:
    """A spec file of which results are missing, and why, in a line. `interrupted` if somebody stopped the run.

    Otherwise the file cannot be used. `tasks` counts those without a result, None where nobody can say how many.
    """

    file: str
    why: str
    tasks: int | None = None
    interrupted: bool = False


def interrupted(file: str, tasks: int) -> Missing:
    """The `Missing` of an interrupted run, in which this many tasks of a file were not run."""
    return Missing(file, f"interrupted: {plural(tasks, 'task')} not run", tasks, interrupted=True)


def in_a_sentence(missing: Sequence[Missing]) -> str:
    """How much is missing: 1 spec cannot be used; 6 tasks not run."""
    unusable = sum(one.tasks is None for one in missing)
    tasks = sum(one.tasks or 0 for one in missing)
    parts = [f"{plural(unusable, 'spec')} cannot be used"] if unusable else []
    return "; ".join(parts + ([f"{plural(tasks, 'task')} not run"] if tasks else []))
