"""RNN, GRU and LSTM, unrolled, against onnxruntime, and the reference evaluator where the samples come first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.models import model, node, save
from unit.networks.test_graph_operators import others

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LENGTH, SIZE, HIDDEN = 4, 3, 2


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def cell(
    kind: str, result: int = 0, *, given: tuple[int, ...] = (3,), stored: dict[int, Any] | None = None, **more: Any
) -> onnx.ModelProto:
    """A model whose output is one result; `given` are optional inputs with random constants, `stored` with others."""
    directions = 2 if more.get("direction") == "bidirectional" else 1
    gates = GATES[kind] * HIDDEN
    state = (1, directions, HIDDEN) if more.get("layout") else (directions, 1, HIDDEN)
    shapes: dict[int, tuple[int, ...]] = {
        1: (directions, gates, SIZE), 2: (directions, gates, HIDDEN), 3: (directions, 2 * gates),
        5: state, 6: state, 7: (directions, 3 * HIDDEN),
    }  # fmt: skip
    constants = {f"c{i}": numbers(*shapes[i], seed=i) for i in (1, 2, *given)}
    constants |= {f"c{i}": value for i, value in (stored or {}).items()}
    names = ["x", *(f"c{i}" if f"c{i}" in constants else "" for i in range(1, 8 if kind == "LSTM" else 6))]
    outputs = ["" if i != result else "y" for i in range(result + 1)]
    made = helper.make_node(kind, names, outputs, hidden_size=HIDDEN, **more)
    shape = (1, LENGTH, SIZE) if more.get("layout") else (LENGTH, 1, SIZE)
    return model([made], constants, shape, opset=17)


def cases() -> Iterator[tuple[str, onnx.ModelProto]]:
    for kind in GATES:
        for result in range(3 if kind == "LSTM" else 2):
            for direction in ("forward", "reverse", "bidirectional"):
                yield f"{kind} {result} {direction}", cell(kind, result, direction=direction)
        yield (
            f"{kind} from a state",
            cell(kind, given=(3, 5, 6) if kind == "LSTM" else (3, 5), direction="bidirectional"),
        )
        yield f"{kind} without biases", cell(kind, given=())
        if kind != "LSTM":
            yield f"{kind} limited", cell(kind, clip=0.25)
        yield f"{kind} of a whole length", cell(kind, stored={4: np.array([LENGTH], np.int32)})
    yield "LSTM with peepholes", cell("LSTM", given=(3, 7))
    yield "LSTM one gate", cell("LSTM", input_forget=1)
    yield "GRU reset behind", cell("GRU", linear_before_reset=1)
    yield "GRU reset behind from a state", cell("GRU", given=(3, 5), linear_before_reset=1)
    yield "RNN relu", cell("RNN", activations=["Relu"])
    yield "RNN functions of both directions for one", cell("RNN", activations=["Tanh", "Tanh"])
    yield "LSTM other functions", cell("LSTM", activations=["Sigmoid", "Softsign", "Relu"])
    yield "LSTM samples first", cell("LSTM", layout=1)


CASES = dict(cases())


def without_layout(name: str) -> str:
    """What a case is besides the layout of its numbers."""
    return "".join(letter for letter in name if not letter.isdigit())


@pytest.mark.part(27, name=without_layout)
@pytest.mark.parametrize("name", CASES)
def test_sequences_are_read_as_others_run_them(name: str, tmp_path: Path) -> None:
    proto = CASES[name]
    network = read_network(save(tmp_path, proto))
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    for seed in range(5):
        x = numbers(*shape, seed=10 + seed)
        found = network.evaluate(x.reshape(1, -1).astype(float))[0]
        np.testing.assert_allclose(found, others(proto, x).ravel(), rtol=1e-5, atol=1e-6)


def test_a_batch_that_is_set_aside(tmp_path: Path) -> None:
    """As exporters of recurrent networks write it: samples first, transposed, states of zeros for all samples."""
    proto = cell("GRU", 1)
    proto.graph.node[0].input[0] = "t"
    proto.graph.node[0].input[5] = "c5"
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((1, 7, HIDDEN), np.float32), "c5"))
    proto.graph.node[0].output[1] = "h"
    proto.graph.node.insert(0, node("Transpose", ["x"], "t", perm=[1, 0, 2]))
    proto.graph.node.append(node("Squeeze", ["h", "axis"], "y"))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "axis"))
    for dim, size in zip(proto.graph.input[0].type.tensor_type.shape.dim, (7, LENGTH, SIZE), strict=True):
        dim.dim_value = size
    network = read_network(save(tmp_path, proto))
    assert (network.input_size, network.output_size) == (LENGTH * SIZE, HIDDEN)
    x = numbers(7, LENGTH, SIZE)
    np.testing.assert_allclose(network.evaluate(x.reshape(7, -1).astype(float)), others(proto, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_pairs_of_sequences_are_proved(kind: str, tmp_path: Path) -> None:
    first, second = cell(kind, 1), cell(kind, 1)
    stored = next(t for t in second.graph.initializer if t.name == "c1")
    stored.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(stored) * np.float32(1.001), "c1"))
    a, b = (save(tmp_path, proto, name) for proto, name in ((first, "a.onnx"), (second, "b.onnx")))
    low, high = [0.3] * LENGTH * SIZE, [0.31] * LENGTH * SIZE
    assert eqspec.verify(a, b, low, high, Epsilon("0.01"), timeout=20).verdict is Verdict.EQUIVALENT
    assert eqspec.verify(a, b, low, high, Epsilon("1e-6"), timeout=20).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (cell("LSTM", stored={4: np.array([LENGTH - 1], np.int32)}), "end earlier"),
        (cell("LSTM", clip=0.25), "limits of a cell"),
        (cell("RNN", clip=0.0), "limits of 0, which"),
        (cell("GRU", clip=-1.0), "limits of -1, which"),
        (cell("RNN", activations=["Affine"]), "the activation 'Affine'"),
        (cell("RNN", activations=["LeakyRelu"], activation_alpha=[0.1]), "parameters of their own"),
        (cell("GRU", stored={3: numbers(1, 5)}), "biases of shape"),
        (cell("GRU", stored={1: numbers(1, 5, SIZE)}), "weights of shapes"),
        (cell("LSTM", stored={5: numbers(1, 3, HIDDEN)}), "a state of shape"),
    ],
)
def test_what_is_refused(proto: onnx.ModelProto, words: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, proto))


def test_in_float32_sequences_are_refused(tmp_path: Path) -> None:
    proto = cell("GRU", given=())
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    with pytest.raises(NetworkError, match="GRU"):
        in_float32(read_network(save(tmp_path, proto)))
