"""What makes the example networks: gradients, pruning, export, and that hand-made networks are what they claim."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest


@pytest.fixture(scope="module")
def making(root: Path) -> Iterator[SimpleNamespace]:
    """The modules below specs/making, which is a folder of scripts and no installed package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "specs")
        names = ("export", "jets", "tiny", "training")
        yield SimpleNamespace(**{name: importlib.import_module(f"making.{name}") for name in names})


def test_gradients_are_those_of_the_loss(making: SimpleNamespace) -> None:
    rng = np.random.default_rng(1)
    network = making.training.initialise((3, 4, 2), rng)
    inputs, labels, decay = rng.normal(size=(7, 3)), rng.integers(2, size=7), 0.01
    slopes = making.training.gradients(network, inputs, labels, decay)
    parameters = [*network.weights, *network.biases]
    assert [slope.shape for slope in slopes] == [parameter.shape for parameter in parameters]
    for parameter, slope in zip(parameters, slopes, strict=True):
        for place in np.ndindex(parameter.shape):
            kept = parameter[place]
            losses = []
            for step in (1e-6, -1e-6):
                parameter[place] = kept + step
                losses.append(making.training.loss(network, inputs, labels, decay))
            parameter[place] = kept
            assert slope[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_training_learns_and_is_repeatable(making: SimpleNamespace) -> None:
    def once() -> tuple[float, list[np.ndarray]]:
        rng = np.random.default_rng(2)
        inputs = rng.normal(size=(400, 2))
        labels = (inputs[:, 0] * inputs[:, 1] > 0).astype(np.int64)
        start = making.training.initialise((2, 16, 2), rng)
        recipe = making.training.Recipe(epochs=30, rate=1e-2)
        trained = making.training.train(start, inputs, labels, recipe, rng)
        return trained.accuracy(inputs, labels), list(trained.weights)

    (accuracy, weights), (_, again) = once(), once()
    assert accuracy > 0.95
    for first, second in zip(weights, again, strict=True):
        assert np.array_equal(first, second)


def test_cut_weights_stay_zero_while_the_others_move(making: SimpleNamespace) -> None:
    rng = np.random.default_rng(3)
    inputs, labels = rng.normal(size=(100, 4)), rng.integers(3, size=100)
    network = making.training.initialise((4, 8, 3), rng)
    masks = making.training.prune_weights(network, 0.25)
    assert sum(int((~mask).sum()) for mask in masks) == (4 * 8 + 8 * 3) // 4
    smallest_kept = min(np.abs(w[m]).min() for w, m in zip(network.weights, masks, strict=True))
    largest_cut = max(np.abs(w[~m]).max(initial=0) for w, m in zip(network.weights, masks, strict=True))
    assert largest_cut < smallest_kept
    trained = making.training.train(network, inputs, labels, making.training.Recipe(epochs=3), rng, masks)
    for before, after, mask in zip(network.weights, trained.weights, masks, strict=True):
        assert not after[~mask].any()
        assert (after[mask] != before[mask]).all()


def test_a_folded_scaler_changes_nothing(making: SimpleNamespace) -> None:
    rng = np.random.default_rng(4)
    network = making.training.initialise((5, 6, 2), rng)
    mean, std, raw = rng.normal(size=5) * 100, rng.uniform(0.1, 50, size=5), rng.normal(size=(20, 5)) * 100
    folded = making.training.fold_standardisation(network, mean, std)
    np.testing.assert_allclose(folded.logits(raw), network.logits((raw - mean) / std), rtol=1e-9, atol=1e-9)


def test_pruned_neurons_are_the_weakest(making: SimpleNamespace) -> None:
    network = making.tiny.networks()["wider"]  # its last hidden neuron is never on
    narrower = making.training.prune_neurons(network, per_layer=1)
    assert [w.shape for w in narrower.weights] == [(2, 2), (3, 2), (2, 3)]
    kept_only_live = network.weights[2][:, :3]
    assert np.array_equal(narrower.weights[2], kept_only_live)


@pytest.mark.parametrize("name", ["base", "permuted", "scaled", "split", "deeper", "wider", "raised"])
def test_tiny_networks_differ_from_base_as_said(making: SimpleNamespace, name: str) -> None:
    networks = making.tiny.networks()
    points = np.random.default_rng(5).uniform(-4, 4, size=(2000, 2))
    difference = networks[name].logits(points) - networks["base"].logits(points)
    expected = [making.tiny.RISE, 0] if name == "raised" else [0, 0]
    np.testing.assert_allclose(difference, np.broadcast_to(expected, difference.shape), atol=1e-12)
    assert all(np.array_equal(np.float32(w), w) for w in (*networks[name].weights, *networks[name].biases))


def test_tiny_networks_are_no_copies(making: SimpleNamespace) -> None:
    networks = making.tiny.networks()
    base = networks.pop("base")
    for network in networks.values():
        same = [
            a.shape == b.shape and np.array_equal(a, b) for a, b in zip(network.weights, base.weights, strict=False)
        ]
        same += [a.shape == b.shape and np.array_equal(a, b) for a, b in zip(network.biases, base.biases, strict=False)]
        assert not all(same)


@pytest.mark.parametrize("style", ["gemm", "matmul", "half"])
@pytest.mark.parametrize("softmax", [False, True])
def test_every_export_style_computes_the_network(making: SimpleNamespace, style: str, softmax: bool) -> None:
    rng = np.random.default_rng(6)
    network = making.training.initialise((4, 5, 3), rng)
    model = making.export.to_onnx(network, style, "test", softmax=softmax)
    inputs = rng.normal(size=(9, 4)).astype(np.float32)
    (outputs,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"features": inputs})
    expected = network.logits(inputs.astype(np.float64))
    if softmax:
        expected = making.training.softmax(expected)
    np.testing.assert_allclose(outputs, expected, atol=2e-2 if style == "half" else 1e-5)
    assert {node.op_type for node in model.graph.node} >= {
        "gemm": {"Gemm"},
        "matmul": {"MatMul", "Add"},
        "half": {"Cast"},
    }[style]


def test_jets_are_what_the_spec_names(making: SimpleNamespace) -> None:
    inputs, labels = making.jets.sample(50, np.random.default_rng(7))
    assert inputs.shape == (250, len(making.jets.FEATURES)) == (250, 16)
    assert np.isfinite(inputs).all()
    assert np.bincount(labels).tolist() == [50] * len(making.jets.CLASSES)
    mass = dict(zip(making.jets.FEATURES, inputs.T, strict=True))["mass"]
    medians = {name: float(np.median(mass[labels == k])) for k, name in enumerate(making.jets.CLASSES)}
    assert 80 < medians["w"] < medians["z"] < medians["t"]  # a little above the bosons': the radiation adds to the mass


def test_committed_tiny_files_are_up_to_date(making: SimpleNamespace, root: Path) -> None:
    for name, network in making.tiny.networks().items():
        graph = onnx.load(root / "specs" / "tiny" / f"{name}.onnx").graph
        fresh = making.export.to_onnx(network, "gemm", "").graph
        assert graph.SerializeToString() == fresh.SerializeToString(), f"{name}: run specs/make_examples.py"
