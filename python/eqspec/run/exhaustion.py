"""A claim decided by running all cells of its region, however many, where the time that is left allows it.

The core runs networks of fixed point in some microseconds a cell (`cell_runs`), so ten million cells are seconds. What
it takes is known beforehand: the first cells are run, and the clock is read. A search comes first, for as long or for
what time is left, since bounds may prove in one box what a billion cells would; then all cells are run. So a task takes
at most twice as long as the better of both.

Sound because `by_cells` is: the claim is proved only where it holds in every cell, and a cell in which it breaks is
replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.cells.cutting import MOST_CUTS
from eqspec.replay.replay import Replay
from eqspec.run.by_cells import MOST_CELLS, asked, cells_of, on_cells, says_nothing
from eqspec.run.cell_runs import CellRuns
from eqspec.run.description import describe
from eqspec.run.monitor import Progress
from eqspec.run.options import Options
from eqspec.run.time_limits import TooLateError, within
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

_FASTEST = 1e-11
"""Seconds that a product takes at the very least: what needs far more time by that is not looked at."""
_FAR = 20.0
"""So many times the time that is left: what takes no more is worth to be told."""
_FEW_CUTS = 1 << 13
"""The cells of all inputs, added up, where a search can prove the claim as well: some tenths of a second to find."""
_SAMPLE = 1 << 24
"""So many products are computed to see how long all cells take."""
_SHARE = 0.9
"""The share of the time that running all cells may take by what the first ones took."""
_LONGEST = 86400.0
"""Seconds that it may take where there is no limit."""


@dataclass(frozen=True)
class _Done:
    """The progress of a run, as a search has it."""

    certified: float
    boxes: int
    open_boxes: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """All cells of a region, about how many seconds it takes to run them, and how many a search may take before."""

    cells: CellRuns
    seconds: float
    before: float

    @property
    def fits(self) -> bool:
        """Whether there is time for it."""
        return self.before >= 0.0

    def says_nothing(self, task: Task, options: Options, progress: Callable[[Progress], None], began: float) -> bool:
        """Whether no cell meets the guard of a claim that a search proved: between the points of a grid some input may.

        False where the time runs out before it is known.
        """
        in_time = within(task, options, 1.0)

        def check() -> None:
            in_time()
            progress(_Done(1.0, 0, 0, perf_counter() - began))

        try:
            return says_nothing(task, check, self.cells, threads=options.workers(task))
        except TooLateError:
            return False

    @property
    def in_words(self) -> str | None:
        """What it takes, for people whose time it may be worth; None for more than some days."""
        if self.seconds > 3 * _LONGEST:
            return None
        size, unit = (1, "s") if self.seconds < 100 else (60, "min") if self.seconds < 6000 else (3600, "h")
        count = f"{self.cells.cells.count:,}".replace(",", " ")
        return f"running all {count} cells takes about {self.seconds / size:.0f} {unit}"

    def run(
        self, task: Task, options: Options, replay: Replay, progress: Callable[[Progress], None], began: float
    ) -> Result:
        """The result of running all cells, or what is known once the time is over or `progress` raises, as Ctrl-C does.

        Time counts from `began`.
        """
        count, known = self.cells.cells.count, 0
        in_time = within(task, options, 1.0)

        def check() -> None:
            in_time()
            progress(_Done(known / count, known, 1, perf_counter() - began))

        def proved(cells: int) -> None:
            nonlocal known
            known = cells

        reason: Reason | None = Reason.UNDECIDED
        try:
            found = on_cells(task, replay, check, self.cells, threads=options.workers(task), proved=proved)
            if found.witness is not None:
                return describe(
                    task,
                    options,
                    Verdict.DIFFERENT,
                    perf_counter() - began,
                    boxes=found.cells or 0,
                    witness=found.witness,
                )
            if found.proved:
                return describe(
                    task,
                    options,
                    Verdict.EQUIVALENT,
                    perf_counter() - began,
                    boxes=count,
                    certified_fraction=1.0,
                    vacuous=found.vacuous,
                )
        except TooLateError:
            reason = Reason.TIMEOUT
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        seconds, share = perf_counter() - began, known / count
        return describe(task, options, Verdict.UNKNOWN, seconds, reason=reason, boxes=known, certified_fraction=share)


def plan(task: Task, options: Options, *, needed: bool) -> Plan | None:
    """How all cells are run; None where there are few or far too many, or the core does not run the networks.

    `needed` says that no search can prove the claim, so that it may take a while to find out.
    """
    left = min(options.left(task), _LONGEST)
    products = 1 + sum(network.products for network in asked(task))
    most = int(_FAR * left / (_FASTEST * products))
    cells = cells_of(task, most, cuts=MOST_CUTS if needed else _FEW_CUTS)
    if not (isinstance(cells, CellRuns) and cells.quick and cells.cells.count > MOST_CELLS):
        return None
    count = cells.cells.count
    first, began = range(min(count, cells.together, max(64, _SAMPLE // products))), perf_counter()
    for run in cells.runs:
        run(first, threads=options.workers(task))
    seconds = (perf_counter() - began) * count / len(first)
    return Plan(cells, seconds, min(seconds, _SHARE * left - seconds))
