"""A distance between networks of many outputs is one claim for each end of each of them; the first attack takes a part.

All of 300 outputs differ by nearly what is claimed, so that bounds leave hundreds open. One of them breaks its
claim, at a corner, and differs most at the centre of the box, where the others do not differ at all.
"""

from __future__ import annotations

import numpy as np
import pytest

from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict
from small_tasks import network, task

OUTPUTS, INPUTS, HIDDEN = 300, 6, 24


@pytest.mark.parametrize("apart", [0, 157, 299])
def test_the_nearest_of_many_claims_is_attacked(apart: int) -> None:
    random = np.random.default_rng(apart)
    weight, bias = random.normal(size=(HIDDEN, INPUTS)), random.normal(size=HIDDEN)
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * INPUTS)).reshape(INPUTS, -1).T
    centre, hidden = np.maximum(bias, 0), np.maximum(corners @ weight.T + bias, 0)
    change = random.normal(size=(OUTPUTS, HIDDEN))
    change -= np.outer(change @ centre, centre) / (centre @ centre)
    change[apart] += 0.1 * centre
    change /= np.abs(hidden @ change.T).max(axis=0)[:, None]
    change[np.arange(OUTPUTS) != apart] *= 0.95
    last = random.normal(size=(OUTPUTS, HIDDEN))
    one, other = (network((weight, bias), (matrix, np.zeros(OUTPUTS))) for matrix in (last, last + change))
    result = Runner(Options(threads=1, boxes=2, timeout=60)).run(task(one, other, Epsilon(0.97)))
    assert result.verdict is Verdict.DIFFERENT
    assert result.effort is not None
    assert result.effort["obligations"] > 400
