"""What eqspec says of a pair, claim by claim, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from eqspec.networks.grids import Analysis, EmptyRegionError, NotKnownError, analyse
from eqspec.property import Epsilon
from eqspec.replay.replay import Replay
from eqspec.run.by_grids import proved, shared_atoms
from eqspec.run.exactness import decide
from eqspec.run.options import Options
from eqspec.tasks.verdict import Verdict
from levels import cases

_EVERY = 4
"""Of so many pairs one is analysed on grids, too."""


@dataclass
class Tally:
    """How many cases there were, by their answer and the kind of claim, and which were wrong."""

    cases: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count the cases of another tally, too."""
        self.cases += other.cases
        self.answers += other.answers
        self.wrong += other.wrong


def _analyses(pair: cases.Pair) -> tuple[Analysis, Analysis] | None:
    """What grids and intervals say of both programs, which `decide` asks only where cells are many."""
    task = pair.asked(Epsilon(0))
    try:
        atoms = shared_atoms(task)
        return analyse(task.reference.steps, atoms), analyse(task.candidate.steps, atoms)
    except (EmptyRegionError, NotKnownError):
        return None


def judged(seed: int, number: int) -> Tally:
    """One pair with all its claims. The pair is made of the two numbers alone."""
    random = np.random.default_rng((seed, number))
    pair, tally = cases.pair(random), Tally()
    analyses = _analyses(pair) if number % _EVERY == 0 else None
    for claim in cases.claims(random, pair):
        task, truth = pair.asked(claim), pair.broken(claim)
        result = decide(task, Options(), Replay(task))
        said = "left to the search" if result is None else str(result.verdict.value)
        tally.cases += 1
        if analyses is not None and proved(task, *analyses):
            tally.answers[f"{type(claim).__name__}: proved by grids"] += 1
            if truth:
                tally.wrong.append(f"pair {number} of seed {seed}, {claim}: proved by grids, but the points break it")
        tally.answers[f"{type(claim).__name__}: {said}"] += 1
        if result is None:
            continue
        expected = Verdict.DIFFERENT if truth else Verdict.EQUIVALENT
        if result.verdict is not expected:
            tally.wrong.append(f"pair {number} of seed {seed}, {claim}: {said}, but the points say {expected.value}")
        elif result.witness is not None and not pair.breaks_at(claim, result.witness.normalised):
            tally.wrong.append(f"pair {number} of seed {seed}, {claim}: the witness does not break it")
    return tally
