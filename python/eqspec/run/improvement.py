"""The witness of a search made clearer, by an ascent of the core, which has both networks side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.replay.improving import improve
from eqspec.replay.replay import Replay
from eqspec.run import core
from eqspec.run.engine import Question
from eqspec.run.options import Options
from eqspec.tasks.witness import Witness


def improved(question: Question, options: Options, replay: Replay, first: Witness, seconds: float) -> Witness:
    """The best witness that is found beside the first one, or that one itself, after a search of so many seconds."""
    task = question.task

    def ascent(start: NDArray[np.float64], most: float) -> list[NDArray[np.float64]] | None:
        asked = question.pair, task.lower, task.upper, question.claim, options.settings(task)
        found = core.clearer(*asked, start, most, constraints=question.constraints)
        return None if found is None else list(found)

    return improve(task, replay, first, seconds, ascent=ascent, simplify=options.simplify)
