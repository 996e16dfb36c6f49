"""What is decided before any search: by integers and by finitely many inputs, with no bound and no rounding.

`decide` is asked first of every task. What it answers is a theorem or a replayed witness like any other; None hands the
task to the search. It must never take long without asking `stop`.

First the grids of both networks (`by_grids`), then, if the region has few enough cells, all of them (`by_cells`), of
which a single point is one; and where a claim is one that no bound can prove, equality or a type that is not left,
inputs that break it are looked for (`exact_search`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING

from eqspec.networks.containment import can_overflow, quantised
from eqspec.property import Containment, Epsilon, NeverWraps, exact
from eqspec.replay.replay import Replay
from eqspec.run.description import describe
from eqspec.run.options import Options
from eqspec.run.time_limits import TooLateError, within
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict

if TYPE_CHECKING:
    from eqspec.run.exhaustion import Plan

_SHARE = 0.5
"""The share of the time that the search may take."""
_MOST_PRODUCTS = 1 << 22
"""The most weights of both networks for which this is tried where a search might prove the claim as well."""


def decide(task: Task, options: Options, replay: Replay, stop: Callable[[], bool] | None = None) -> Result | None:
    """The result of a task (`run.description.describe` makes one), or None where only a search can tell.

    `replay` says of a point in network units whether it breaks the claim; `stop` is asked now and then, and ends the
    work with KeyboardInterrupt where it says so.
    """
    claim = task.property
    if isinstance(claim, Containment) and not can_overflow(task.candidate, wraps=isinstance(claim, NeverWraps)):
        return describe(task, options, Verdict.EQUIVALENT, 0.0, certified_fraction=1.0)
    if not _exact(task) or not (_needed(task) or _promising(task)):
        return None
    began = perf_counter()
    check = within(task, options, _SHARE, stop)
    from eqspec.run.by_integers import decided  # with grids and cells, which networks that round alone need

    try:
        return decided(task, options, replay, check, began, needed=_needed(task))
    except TooLateError:
        return None


def exhaustive(task: Task, options: Options) -> Plan | None:
    """How all cells of the region are run, where they can be, and nothing limits the boxes.

    Where a certificate is wanted, only for claims that no bound can prove: the auditor knows no such cells.
    """
    wanted = _needed(task) or (_promising(task) and options.certifier is None)
    if options.boxes is not None or not (wanted and _exact(task)):
        return None
    from eqspec.run.exhaustion import plan

    return plan(task, options, needed=_needed(task))


def _exact(task: Task) -> bool:
    """Whether the networks compute what their reals say, in the arithmetic that is claimed."""
    return task.arithmetic != "float32" or (task.reference.exact and task.candidate.exact)


def _needed(task: Task) -> bool:
    """Whether no bound can prove the claim."""
    claim = task.property
    return isinstance(claim, Containment) or (isinstance(claim, Epsilon) and exact(claim.eps) == Fraction(0))


def _promising(task: Task) -> bool:
    """Whether exact integers are likely to decide the task, and quickly."""
    networks = (task.reference, task.candidate)
    small = sum(network.products for network in networks) <= _MOST_PRODUCTS
    point = task.lower_exact == task.upper_exact
    return small and (point or bool(task.lattices) or any(quantised(network) for network in networks))
