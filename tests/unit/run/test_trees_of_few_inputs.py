"""Of few inputs, halving boxes is tried before all that could be tried on the first one."""

from __future__ import annotations

import numpy as np
import pytest

import eqspec
from convolutional_models import Dense, Function, Layer, Model, on_a_grid, to_onnx
from eqspec.property import Epsilon


@pytest.mark.parametrize("seed", range(3))
def test_a_leaky_network_of_six_inputs_is_halved(seed: int) -> None:
    """Splits at the signs of its neurons would take the first box the ten seconds of the whole claim."""
    random = np.random.default_rng(seed)
    layers: list[Layer] = []
    for n, m in ((6, 24), (24, 24), (24, 16), (16, 3)):
        layers += [Dense(random.normal(size=(m, n)) * np.sqrt(2 / n), 0.1 * random.normal(size=m)), Function("leaky")]
    model = Model(layers[:-1], (6,))
    lower, upper = [-0.3] * 6, [0.3] * 6
    files = to_onnx(model), to_onnx(on_a_grid(model))
    result = eqspec.verify(files[0], files[1], lower, upper, Epsilon(0.12), timeout=20, threads=1)
    assert str(result.verdict) == "equivalent"
    assert result.boxes > 1
