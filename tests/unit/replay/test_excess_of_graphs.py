"""Scores and directions of attacks on graphs: what networks compute, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from eqspec.property import Epsilon
from eqspec.replay.excess import Excess
from eqspec.replay.replay import Replay
from programs import program
from small_tasks import task


@pytest.mark.parametrize("seed", range(12))
def test_directions_are_derivatives(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = program(random, steps=6), program(random, steps=4)
    excess = Excess(task(first, second, Epsilon("0.5")))
    x = random.normal(size=(5, 4))
    (directions,) = excess.directions(x)
    apart = np.abs(first.evaluate(x) - second.evaluate(x)).max(axis=1)
    np.testing.assert_allclose(excess.at(x), apart - 0.5)
    step = 1e-7
    for axis in range(4):
        moved = x + step * np.eye(4)[axis]
        slope = (excess.at(moved) - excess.at(x)) / step
        np.testing.assert_allclose(slope, directions[:, axis], rtol=1e-3, atol=1e-4)
    assert excess.work > 0
    assert excess.directions(x[:0])[0].shape == (0, 4)


def test_a_witness_of_graphs_is_replayed_and_shown() -> None:
    first, second = (program(np.random.default_rng(seed), steps=6) for seed in (1, 2))
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(50, 4))
    asked = task(first, second, Epsilon("0.01"))
    excess = Excess(asked)
    best = int(excess.at(x).argmax())
    witness = Replay(asked).confirm(x[best])
    assert witness is not None
