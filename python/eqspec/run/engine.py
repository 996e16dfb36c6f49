"""What runs a search: threads of this process, or anything else that answers as the core does.

An engine decides nothing by itself. It is given a question as the core takes it, and whatever it answers is a solution
that the core has made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.run import core
from eqspec.run.monitor import Progress
from eqspec.run.options import Options
from eqspec.run.result_cache import KEEP_EVERY
from eqspec.tasks.task import Task
from eqspec.tasks.witness import Witness

if TYPE_CHECKING:
    from eqspec.lp import HighsSolver, LinearProgram, LpAnswer, MixedAnswer, MixedProgram

Array = NDArray[np.float64]
Confirm = Callable[[Array], Witness | None]
"""Replays a candidate (I,) exactly."""
Tell = Callable[[Progress], None]
"""Called with the progress about ten times a second; it may raise KeyboardInterrupt to stop the search."""


@dataclass(frozen=True, eq=False)
class Question:
    """A task as the core takes it.

    With `matched`, neurons of the candidate stand where those of the reference stand that they are like.
    """

    task: Task
    pair: core.Pair
    claim: core.Property
    constraints: tuple[Array, Array] | None
    matched: bool

    def fingerprint(self, settings: core.Settings) -> bytes:
        """The digest of what is decided."""
        task = self.task
        return core.fingerprint(self.pair, task.lower, task.upper, self.claim, settings, constraints=self.constraints)


class Engine(Protocol):
    """Runs searches, from any number of threads."""

    @property
    def at_once(self) -> int | None:
        """How many tasks are best run at once; None if tasks share the cores of this machine."""
        ...

    def solve(
        self,
        question: Question,
        options: Options,
        *,
        confirm: Confirm,
        progress: Tell,
        state: bytes | None = None,
        keep: Callable[[bytes], None] | None = None,
        keep_every: float = KEEP_EVERY,
        hints: bytes | None = None,
        keep_trail: Callable[[bytes], None] | None = None,
    ) -> core.Solution:
        """The solution, as `core.solve` gives it, with its errors; `keep` is given states from which it can go on.

        `hints` are of an earlier proof, and `keep_trail` may be given those of this one: an engine need not use either.
        """
        ...


class ThisMachine:
    """Threads of this process."""

    at_once = None

    def __init__(self) -> None:
        self._local = threading.local()

    def solve(
        self,
        question: Question,
        options: Options,
        *,
        confirm: Confirm,
        progress: Tell,
        state: bytes | None = None,
        keep: Callable[[bytes], None] | None = None,
        keep_every: float = KEEP_EVERY,
        hints: bytes | None = None,
        keep_trail: Callable[[bytes], None] | None = None,
    ) -> core.Solution:
        """The solution of a question."""
        return core.solve(
            question.pair,
            question.task.lower,
            question.task.upper,
            question.claim,
            options.settings(question.task),
            constraints=question.constraints,
            answer_lps=self._answer_lps,
            answer_milp=_answer_milp if options.milp else None,
            confirm=confirm,
            progress=progress,
            state=state,
            keep=keep,
            keep_every=keep_every,
            hints=hints,
            keep_trail=keep_trail,
        )

    def answer(
        self,
        question: Question,
        settings: core.Settings,
        share: bytes,
        *,
        milp: bool,
        confirm: Confirm,
        progress: Tell,
        keep: Callable[[bytes], None],
        keep_trail: Callable[[bytes], None] | None = None,
    ) -> core.Solution:
        """Work on a share of a search; `keep` is given the answer, unless a witness is found.

        `keep_trail` is given what was done to the share, unless that is too long to be of use to the next proof.
        """
        return core.solve(
            question.pair,
            question.task.lower,
            question.task.upper,
            question.claim,
            settings,
            constraints=question.constraints,
            answer_lps=self._answer_lps,
            answer_milp=_answer_milp if milp else None,
            confirm=confirm,
            progress=progress,
            share=share,
            keep=keep,
            keep_trail=keep_trail,
        )

    def _answer_lps(self, programs: Sequence[LinearProgram]) -> list[LpAnswer]:
        """What the solver of this thread answers. HiGHS is loaded when there is a program; most searches have none."""
        if not hasattr(self._local, "solver"):
            from eqspec.lp import HighsSolver

            self._local.solver = HighsSolver()
        solver: HighsSolver = self._local.solver
        return solver.answer(programs)


def _answer_milp(program: MixedProgram) -> MixedAnswer:
    from eqspec.lp import MixedSolver

    return MixedSolver().answer(program)
