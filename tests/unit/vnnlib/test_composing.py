"""Affine functions behind graphs side by side: exactly what they are of the networks' outputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eqspec.networks import Network
from eqspec.vnnlib.composing import steps_behind
from programs import naive, point, program


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_two_graphs(seed: int) -> None:
    random = np.random.default_rng(seed)
    networks = [program(random, steps=int(random.integers(1, 6))) for _ in range(1 + seed % 2)]
    matrix, shift = random.normal(size=(5, 3 * len(networks))), random.normal(size=5)
    whole = Network(steps_behind(networks, matrix, shift), 4, "whole", "0")
    at = point(random, 4)
    outputs = [y for network in networks for y in naive(network, at)]
    expected = [
        Fraction(t) + sum((Fraction(c) * y for c, y in zip(row, outputs, strict=True)), Fraction(0))
        for row, t in zip(matrix.tolist(), shift.tolist(), strict=True)
    ]
    assert whole.evaluate_exact(at) == [(y, y) for y in expected]
