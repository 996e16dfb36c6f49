"""Both networks at many points: chains as stacks of matrices say what they say step by step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from eqspec.replay.both_networks import Chains, Programs
from small_tasks import network


@pytest.mark.parametrize("hidden", [((), ()), ((4,), (4,)), ((4, 3), (4, 3)), ((4, 3), (5,)), ((), (2, 2))])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("points", [0, 1, 5])
def test_chains_are_what_their_steps_are(hidden: tuple[tuple[int, ...], ...], sign: float, points: int) -> None:
    random = np.random.default_rng(len(hidden[0]) + points)

    def made(widths: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
        sizes = [3, *widths, 2]
        return [(random.normal(size=(m, n)), random.normal(size=m)) for n, m in pairwise(sizes)]

    networks = network(*made(hidden[0])), network(*made(hidden[1]))
    x, change = random.normal(size=(points, 3)), (random.normal(size=(points, 2)), random.normal(size=(points, 2)))
    chains, programs = Chains(networks, sign), Programs(networks, sign)
    for one, other in zip(chains.outputs(x), programs.outputs(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    *outputs, pull_back = chains.derivable(x)
    *expected, expected_back = programs.derivable(x)
    for one, other in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(pull_back(change), expected_back(change), rtol=1e-12, atol=1e-12)
