"""The trainer of convolutional networks: slopes against finite differences, files against what was trained."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

from convolutional_models import KINDS, Kind, folded, initialise, permuted, settle, to_onnx

STEP = 1e-6


@pytest.fixture(scope="module")
def training(root: object) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root)
        return importlib.import_module("benches.graphs.training")


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_those_of_finite_differences(training: ModuleType, kind: Kind) -> None:
    rng = np.random.default_rng(0)
    layers = settle(initialise(kind, "leaky", rng, 3), rng).layers
    images = rng.random((4, 1, 8, 8))
    scores, back = training.forward(layers, images, training=True)
    share = rng.normal(size=scores.shape)
    slopes: dict[int, np.ndarray] = {}
    back(share, slopes)
    for weight in training.parameters(layers):
        place = tuple(rng.integers(0, size) for size in weight.shape)
        values = []
        for change in (STEP, -2 * STEP):
            weight[place] += change
            values.append((training.forward(layers, images, training=True)[0] * share).sum())
        weight[place] += STEP
        assert slopes[id(weight)][place] == pytest.approx((values[0] - values[1]) / (2 * STEP), abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_files_compute_what_was_trained(training: ModuleType, kind: Kind) -> None:
    rng = np.random.default_rng(1)
    model = settle(initialise(kind, "hardsigmoid", rng, 3), rng)
    images = rng.random((4, 1, 8, 8))
    scores, _ = training.forward(model.layers, images, training=False)
    for version in (model, folded(model), permuted(folded(model), rng)):
        session = onnxruntime.InferenceSession(to_onnx(version).SerializeToString(), providers=["CPUExecutionProvider"])
        (answer,) = session.run(None, {"image": images.astype(np.float32)})
        np.testing.assert_allclose(answer, scores, atol=1e-5)
