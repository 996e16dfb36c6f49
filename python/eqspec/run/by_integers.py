"""A claim decided in integers: on the cells of a region where they are few, else on the grids of all values.

Sound because each of the two is (`by_cells`, `by_grids`), and because what they find is a counterexample only once the
replay has confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from eqspec.networks.grids import Analysis, Atoms, EmptyRegionError, NotKnownError, analyse
from eqspec.property import Confidence, Epsilon, Margin, Top1
from eqspec.replay.replay import Replay
from eqspec.run.by_cells import FEW_CELLS, by_cells
from eqspec.run.by_grids import proved, shared_atoms
from eqspec.run.description import describe
from eqspec.run.exact_search import witness
from eqspec.run.options import Options
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict


def decided(
    task: Task, options: Options, replay: Replay, check: Callable[[], None], began: float, *, needed: bool
) -> Result | None:
    """The result, or None where exact integers do not decide the task. Time counts from `began`.

    `check` is called now and then, and ends the work with an exception of its caller's. `needed` says that no search
    can prove the claim, so that a counterexample is looked for on the grids, too.
    """
    threads = options.workers(task)
    cells = by_cells(task, replay, check, FEW_CELLS, threads=threads)  # takes less time than the grids
    known = None if cells.settled else _known(task, check, needed=needed)
    if known is not None and proved(task, *known):
        return describe(task, options, Verdict.EQUIVALENT, perf_counter() - began, certified_fraction=1.0)
    if not cells.settled and (cells.cells or 0) > FEW_CELLS:
        cells = by_cells(task, replay, check, threads=threads)
    if cells.proved:
        seconds = perf_counter() - began
        return describe(
            task,
            options,
            Verdict.EQUIVALENT,
            seconds,
            boxes=cells.cells,
            certified_fraction=1.0,
            vacuous=cells.vacuous,
        )
    found = cells.witness
    if found is None and needed and known is not None:
        found = witness(task, replay, known, check)
    if found is None:
        return None
    run = cells.cells if cells.witness is not None else None
    return describe(task, options, Verdict.DIFFERENT, perf_counter() - began, boxes=run or 0, witness=found)


def _known(task: Task, check: Callable[[], None], *, needed: bool) -> tuple[Analysis, Analysis] | None:
    """What exact integers say of both networks on the region; None where they say too little."""
    try:
        atoms = shared_atoms(task)
        if not needed and _nothing_in_common(task, atoms, check):
            return None
        reference = analyse(task.reference.steps, atoms, check)
        same = task.candidate is task.reference
        return reference, reference if same else analyse(task.candidate.steps, atoms, check)
    except (EmptyRegionError, NotKnownError):
        return None


def _nothing_in_common(task: Task, atoms: Atoms, check: Callable[[], None]) -> bool:
    """Whether the first functions that make atoms, in each of the networks, make none that both have.

    Later forms then have atoms of one network each, so nothing cancels, and the intervals that are left are no better
    than those of the search. On a lattice they may be.
    """
    if task.lattices or not isinstance(task.property, (Epsilon, Top1, Margin, Confidence)):
        return False
    inputs = {atom for atom, _, _ in atoms.inputs}
    made: list[set[int]] = []
    for network in (task.reference, task.candidate):
        found: set[int] = set()
        for number, step in enumerate(network.steps):
            if step.function != "identity" and not found:
                values = analyse(network.steps[: number + 1], atoms, check).outputs
                found = {int(atom) for atom in values.at} - inputs
        made.append(found)
    return all(made) and made[0].isdisjoint(made[1])
