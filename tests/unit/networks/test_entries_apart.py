"""An open axis that is not that of the samples: files in which its entries meet, however their outputs are declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from eqspec.errors import OpenSizesError
from eqspec.networks import as_network, read_network
from unit.networks.models import model, node, run_onnxruntime, save
from unit.networks.test_onnx_files import refused

FIRST = {"first": np.array([0])}
STEPS = ("steps", 3)
JOINING: dict[str, tuple[list[Any], dict[str, Any], Any]] = {
    "a mean whose output has no shape": ([node("ReduceMean", ["x"], "y", axes=[0])], {}, None),
    "less the mean": ([node("ReduceMean", ["x"], "m", axes=[0]), node("Sub", ["x", "m"], "y")], {}, STEPS),
    "sums so far": ([node("CumSum", ["x", "axis"], "y")], {"axis": np.array(0)}, STEPS),
    "the last step": ([node("Gather", ["x", "last"], "y", axis=0)], {"last": np.array([-1])}, ("some", 3)),
    "at large values alone": (
        [
            node("ReduceMax", ["x"], "m", axes=[0]),
            node("Sub", ["m", "far"], "d"),
            node("Relu", ["d"], "r"),
            node("Add", ["x", "r"], "y"),
        ],
        {"far": np.float32(1.5)},
        STEPS,
    ),
    "products with each other": (
        [node("Transpose", ["x"], "t"), node("MatMul", ["t", "x"], "s"), node("MatMul", ["x", "s"], "y")],
        {},
        STEPS,
    ),
    "backwards": (
        [node("Slice", ["x", "end", "start", "first", "back"], "r"), node("Sub", ["x", "r"], "y")],
        {"end": np.array([-1]), "start": np.array([-(2**31)]), "back": np.array([-1]), **FIRST},
        STEPS,
    ),
}


@pytest.mark.parametrize("kind", JOINING)
def test_the_steps_of_a_sequence_are_not_read_as_one_step(kind: str, tmp_path: Path) -> None:
    nodes, constants, declared = JOINING[kind]
    proto = model(nodes, constants, STEPS, output_shape=declared)
    path = save(tmp_path, proto)
    found = refused(path)
    assert isinstance(found, OpenSizesError)
    assert "'steps' of input 'x' meet" in found.message
    assert found.fix is not None
    assert "shape [N, 3]" in found.fix
    with pytest.raises(OpenSizesError):
        as_network(proto)
    network = read_network(path, input_shape={"x": (4, 3)})
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    found_there = run_onnxruntime(proto, x).ravel()
    np.testing.assert_allclose(network.evaluate(x.reshape(1, -1).astype(float))[0], found_there, atol=1e-5)


@pytest.mark.parametrize("rows", [2, 10])
@pytest.mark.parametrize("steps", [("steps", 1), (1, "steps")])
def test_the_tokens_of_a_sequence_are_not_read_as_one_token(steps: Any, rows: int, tmp_path: Path) -> None:
    """Most integers are no places of the table, at which onnxruntime fails: nothing else was asked of it then."""
    nodes = [
        node("Gather", ["table", "x"], "g"), node("Reshape", ["g", "rows"], "e"),
        node("ReduceMean", ["e"], "m", axes=[0]), node("Sub", ["e", "m"], "y"),
    ]  # fmt: skip
    table = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)
    constants = {"table": table, "rows": np.array([-1, 3])}
    alone = [*nodes[:2], node("Relu", ["e"], "y")]
    for made in (nodes, alone):
        proto = model(made, constants, steps, kind=TensorProto.INT64, output_shape=STEPS)
        proto.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
        path = save(tmp_path, proto)
        if made is alone:
            assert read_network(path).input_size == 1
        else:
            assert isinstance(refused(path), OpenSizesError)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_sequences_with_small_or_large_answers(size: float, tmp_path: Path) -> None:
    nodes = [
        node("ReduceMean", ["x"], "m", axes=[0]), node("Sub", ["x", "m"], "d"), node("Mul", ["d", "size"], "y")
    ]  # fmt: skip
    constants = {"size": np.array(size, np.float32)}
    path = save(tmp_path, model(nodes, constants, STEPS, output_shape=STEPS))
    assert isinstance(refused(path), OpenSizesError)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_samples_whose_answers_are_what_rounding_leaves(size: float, tmp_path: Path) -> None:
    """A sum of 512 products that cancel, which runtimes may take in another order for two rows."""
    half = np.random.default_rng(0).normal(size=(3, 256)).astype(np.float32)
    constants = {
        "up": np.concatenate([half, half], axis=1),
        "down": np.concatenate([np.ones((256, 2)), -np.ones((256, 2))]).astype(np.float32) * np.float32(size),
    }
    nodes = [node("MatMul", ["x", "up"], "h"), node("MatMul", ["h", "down"], "y")]
    path = save(tmp_path, model(nodes, constants, ("rows", 3), output_shape=("rows", 2)))
    assert read_network(path).input_size == 3


@pytest.mark.parametrize(
    ("nodes", "declared"),
    [
        ([node("Relu", ["x"], "y")], ("rows", 3)),
        ([node("Transpose", ["x"], "y")], (3, "rows")),  # its samples do not stand one behind the other
        ([node("Softmax", ["x"], "s", axis=1), node("ReduceSum", ["s", "axis"], "y", keepdims=0)], ("others",)),
        ([node("QuantizeLinear", ["x", "scale"], "q"), node("DequantizeLinear", ["q", "scale"], "y")], ("rows", 3)),
    ],
)
def test_samples_are_read_one_by_one_whatever_their_axis_is_called(nodes: Any, declared: Any, tmp_path: Path) -> None:
    proto = model(
        nodes, {"axis": np.array([1]), "scale": np.array(0.1, np.float32)}, ("rows", 3), output_shape=declared
    )
    assert read_network(save(tmp_path, proto)).input_size == 3


def test_what_samples_of_a_batch_do_to_each_other_is_that_of_one_alone(tmp_path: Path) -> None:
    nodes = [node("ReduceMax", ["x"], "m", axes=[0]), node("Add", ["x", "m"], "y")]
    path = save(tmp_path, model(nodes, {}, ("batch_size", 3), output_shape=("batch_size", 3)))
    assert read_network(path).evaluate(np.array([[1.0, 2.0, 3.0]])).tolist() == [[2.0, 4.0, 6.0]]


@pytest.mark.parametrize("given", [(4, 3), (12,), {"x": (4, 1, 3)}])
def test_the_batch_may_stand_behind_the_steps(given: Any, tmp_path: Path) -> None:
    """As torch has them, where `batch_first` is not said; the steps were taken for the batch, and it for them."""
    proto = model([node("CumSum", ["x", "axis"], "y")], {"axis": np.array(0)}, ("steps", "batch", 3))
    network = read_network(save(tmp_path, proto), input_shape=given)
    assert network.fixed == (("x", (4, 1, 3)),)
    x = np.random.default_rng(1).normal(size=(4, 1, 3)).astype(np.float32)
    found = run_onnxruntime(proto, x).ravel()
    np.testing.assert_allclose(network.evaluate(x.reshape(1, -1).astype(float))[0], found, atol=1e-5)


def test_two_open_axes_of_which_neither_is_called_a_batch(tmp_path: Path) -> None:
    nodes = [node("ReduceMean", ["x"], "y", axes=[0], keepdims=0)]
    path = save(tmp_path, model(nodes, {}, ("t", "n", 3), output_shape=("n", 3)))
    with pytest.raises(OpenSizesError, match="'t' of input 'x' meet"):
        read_network(path, input_shape=(4, 3))


def test_a_square_has_two_sides_of_one_length(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "x"], "y")]
    path = save(tmp_path, model(nodes, {}, ("n", "n"), output_shape=("n", "n")))
    assert read_network(path, input_shape=(9,)).fixed == (("x", (3, 3)),)
    with pytest.raises(OpenSizesError, match="5 numbers do not fit"):
        read_network(path, input_shape=(5,))
