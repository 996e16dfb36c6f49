"""Batches of samples and other axes of open size: which axis is that of the samples, and what the network is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.errors import DisagreementError
from eqspec.networks import read_network
from eqspec.networks.readers import batches
from unit.networks.models import model, node, run_onnxruntime, save
from unit.networks.test_onnx_files import WEIGHT, linear, refused


@pytest.mark.parametrize(
    "shape", [(1, 3), ("batch", 3), (None, 3), (-1, 3), (0, 3), (789444, 3), (1, 1, 3), ("n", 1, 3)]
)
def test_batches_of_any_size_are_read_as_one_sample(shape: Any, tmp_path: Path) -> None:
    network = read_network(save(tmp_path, linear(shape)))
    assert np.array_equal(network.layers[0].weight, WEIGHT.T)
    assert network.input_size == 3
    declared = network.input_shape[0]
    assert isinstance(declared, str) if shape[0] in ("batch", "n", None, -1, 0) else declared == shape[0]
    assert any("789444" in note for note in network.notes) == (shape[0] == 789444)


def test_a_batch_in_another_place(tmp_path: Path) -> None:
    proto = model([node("MatMul", ["w", "x"], "y")], {"w": WEIGHT}, (4, "batch"))
    assert np.array_equal(read_network(save(tmp_path, proto)).layers[0].weight, WEIGHT)


def test_a_fixed_batch_inside_a_reshape(tmp_path: Path) -> None:
    nodes = [node("Reshape", ["x", "shape"], "h"), node("MatMul", ["h", "w"], "y")]
    proto = model(nodes, {"w": WEIGHT, "shape": np.array([7, 3])}, (7, 1, 3), output_shape=(7, 4))
    network = read_network(save(tmp_path, proto))
    x = np.random.default_rng(0).normal(size=(7, 1, 3)).astype(np.float32)
    np.testing.assert_allclose(
        network.evaluate(x.reshape(7, 3).astype(np.float64)), run_onnxruntime(proto, x), atol=1e-6
    )


def test_an_image_without_a_batch_axis_is_one_sample(tmp_path: Path) -> None:
    nodes = [node("Flatten", ["x"], "f", axis=0), node("MatMul", ["f", "w"], "y")]
    proto = model(nodes, {"w": np.arange(12, dtype=np.float32).reshape(6, 2)}, (3, 2))
    network = read_network(save(tmp_path, proto))
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert np.array_equal(network.evaluate(x.reshape(1, 6).astype(np.float64)), run_onnxruntime(proto, x))


@pytest.mark.parametrize(
    ("nodes", "constants", "outputs"),
    [
        ([node("Trilu", ["x", "k"], "h"), node("Relu", ["h"], "y")], {"k": np.array(-1)}, 9),
        ([node("Slice", ["x", "from", "to"], "y")], {"from": np.array([-5]), "to": np.array([2])}, 6),
        ([node("Gather", ["x", "k"], "y")], {"k": np.array([0, 1])}, 6),
    ],
)
def test_a_third_sample_that_is_treated_otherwise_makes_the_whole_input_the_sample(
    nodes: list[Any], constants: dict[str, Any], outputs: int, tmp_path: Path
) -> None:
    """Of the first two each is read as it is by itself."""
    proto = model(nodes, constants, (3, 3), output_shape=None)
    network = read_network(save(tmp_path, proto))
    assert (network.input_size, network.output_size) == (9, outputs)
    x = np.arange(-2, 7, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(network.evaluate(x.reshape(1, 9).astype(np.float64))[0], run_onnxruntime(proto, x).ravel())


FIRST_TWO_AND_TURNED = [
    node("MatMul", ["x", "w"], "h"),
    node("Slice", ["h", "zero", "two", "zero"], "a"),
    node("Slice", ["h", "two", "far", "zero"], "b"),
    node("Slice", ["b", "last", "before", "one", "last"], "c"),
    node("Concat", ["a", "c"], "y", axis=0),
]
"""The third sample has its outputs in another order: their values alone do not tell."""
TURNING = {"zero": np.array([0]), "two": np.array([2]), "far": np.array([9]), "one": np.array([1])} | {
    "last": np.array([-1]), "before": np.array([-9]), "w": WEIGHT,
}  # fmt: skip


def test_outputs_of_a_third_sample_in_another_order_make_the_whole_input_the_sample(tmp_path: Path) -> None:
    proto = model(FIRST_TWO_AND_TURNED, TURNING, (3, 3), output_shape=(3, 4))
    network = read_network(save(tmp_path, proto))
    assert (network.input_size, network.output_size) == (9, 12)
    x = np.arange(-2, 7, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(network.evaluate(x.reshape(1, 9).astype(np.float64))[0], run_onnxruntime(proto, x).ravel())


@pytest.mark.parametrize("batch", [3, 789444])
def test_all_samples_of_a_large_batch_are_compared_with_onnxruntime(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which the reader looks at two."""
    monkeypatch.setattr(batches, "_MOST_TOGETHER", 0)
    proto = model(FIRST_TWO_AND_TURNED, TURNING, (batch, 3), output_shape=(batch, 4))
    with pytest.raises(DisagreementError):
        read_network(save(tmp_path, proto))
    assert read_network(save(tmp_path, linear((batch, 3)), "alike.onnx")).input_size == 3


def test_a_transposed_output_makes_the_whole_input_the_sample(tmp_path: Path) -> None:
    """As onnxruntime gives the outputs, those of one sample do not stand together."""
    nodes = [node("MatMul", ["x", "w"], "h"), node("Transpose", ["h"], "y")]
    network = read_network(save(tmp_path, model(nodes, {"w": WEIGHT}, (5, 3), output_shape=(4, 5))))
    assert network.input_size == 15


@pytest.mark.parametrize("declared", [None, (2, 3)])
@pytest.mark.parametrize("kind", ["Add", "Sub", "Sum"])
def test_constants_for_each_row_make_the_whole_input_the_sample(declared: Any, kind: str, tmp_path: Path) -> None:
    bias = np.arange(6, dtype=np.float32).reshape(2, 3)
    proto = model([node(kind, ["x", "b"], "y")], {"b": bias}, (2, 3), output_shape=declared)
    network = read_network(save(tmp_path, proto))
    assert network.input_size == 6
    assert np.array_equal(np.abs(network.layers[0].bias), bias.ravel())


def test_weights_for_each_row_make_the_whole_input_the_sample(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "b"], "h"), node("Flatten", ["h"], "f", axis=0), node("MatMul", ["f", "w"], "y")]
    constants = {"b": np.arange(12, dtype=np.float32).reshape(2, 3, 2), "w": np.ones((4, 2), np.float32)}
    proto = model(nodes, constants, (2, 1, 3))
    network = read_network(save(tmp_path, proto))
    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    assert np.array_equal(network.evaluate(x.reshape(1, 6).astype(np.float64)), run_onnxruntime(proto, x))


def test_an_output_that_does_not_fit_the_batch_makes_the_whole_input_the_sample(tmp_path: Path) -> None:
    bias = np.arange(6, dtype=np.float32).reshape(3, 2)
    nodes = [node("Transpose", ["x"], "t"), node("Add", ["t", "b"], "y")]
    network = read_network(save(tmp_path, model(nodes, {"b": bias}, (2, 3), output_shape=(3, 2))))
    assert network.input_size == network.output_size == 6


def test_a_batch_as_large_as_a_layer_is_still_a_batch(tmp_path: Path) -> None:
    nodes = [node("Mul", ["x", "s"], "h"), node("MatMul", ["h", "w"], "k"), node("Add", ["k", "b"], "y")]
    constants = {"s": np.ones((1, 1), np.float32), "w": np.eye(3, dtype=np.float32), "b": np.ones(3, np.float32)}
    assert read_network(save(tmp_path, model(nodes, constants, (3, 3)))).input_size == 3


def test_a_fixed_batch_of_two_has_skips(tmp_path: Path) -> None:
    """Two samples are read to see whether they meet: then both operands are as long as the batch."""
    nodes = [node("MatMul", ["x", "w"], "h"), node("Add", ["h", "x"], "y")]
    network = read_network(save(tmp_path, model(nodes, {"w": np.eye(3, dtype=np.float32)}, (2, 3))))
    assert network.input_size == network.output_size == 3


THROUGH_TIME = [node("RNN", ["x", "w", "r"], "y", hidden_size=2)]
RECURRENT = {"w": np.ones((1, 2, 3), np.float32), "r": np.ones((1, 2, 2), np.float32)}
ATTENTION = [
    node("Transpose", ["x"], "t"),
    node("MatMul", ["x", "t"], "s"),
    node("Softmax", ["s"], "p"),
    node("MatMul", ["p", "x"], "y"),
]


@pytest.mark.parametrize("size", ["steps", None])
@pytest.mark.parametrize(
    ("nodes", "constants", "rest", "output"),
    [
        (THROUGH_TIME, RECURRENT, (1, 3), ("steps", 1, 1, 2)),
        (ATTENTION, {}, (3,), ("steps", 3)),
        ([node("ReduceMean", ["x"], "y", axes=[0], keepdims=0)], {}, (3,), (3,)),
    ],
)
def test_steps_of_a_sequence_of_open_length_are_not_samples(
    size: Any, nodes: Any, constants: Any, rest: Any, output: Any, tmp_path: Path
) -> None:
    """Read at one step, a file would be another network than that of the sequences that it is used on."""
    found = refused(save(tmp_path, model(nodes, constants, (size, *rest), output_shape=output)))
    assert "meet" in found.message
    assert repr(size or "?") in found.message
    assert f"--input-shape {'x'.join(map(str, ('N', *rest)))} " in str(found.fix)
    fixed = tuple(4 if d == "steps" else d for d in output)
    assert read_network(save(tmp_path, model(nodes, constants, (4, *rest), output_shape=fixed))).input_size == 12


def test_open_batches_of_sequences_are_samples(tmp_path: Path) -> None:
    proto = model(THROUGH_TIME, RECURRENT, (4, "batch", 3), output_shape=(4, 1, "batch", 2))
    assert read_network(save(tmp_path, proto)).input_size == 12
    closed = model([node("Relu", ["x"], "y")], {}, ("batch", 3), output_shape=(1, 3))
    assert read_network(save(tmp_path, closed)).input_size == 3


def test_the_sequence_and_not_the_batch_is_to_be_fixed(tmp_path: Path) -> None:
    proto = model(THROUGH_TIME, RECURRENT, ("steps", "batch", 3))
    assert "--input-shape Nx1x3 " in str(refused(save(tmp_path, proto)).fix)
