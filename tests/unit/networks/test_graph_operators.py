"""Operators with positions and piecewise linear functions: against onnxruntime without optimisations.

Where onnxruntime lacks an operator or an opset, onnx's reference evaluator answers.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from eqspec.errors import NetworkError, UnsupportedOperatorError
from eqspec.networks import Network, read_network
from eqspec.networks.agreement import beyond
from eqspec.networks.float32 import in_float32, overflow
from eqspec.networks.operators import OPERATORS, QUANTISING, REFUSED
from unit.networks.composed_cases import COMPOSED_CASES
from unit.networks.function_cases import OPERATOR_CASES, REDUCED_CASES
from unit.networks.graph_operator_cases import CASES, Constants, grid, whole
from unit.networks.models import exact_root, model, node, save
from unit.networks.test_comparisons import CASES as COMPARISONS

ROUNDED = 1e-5
"""What onnxruntime may round where a result is not exact in float32."""


def others(proto: onnx.ModelProto, x: NDArray[Any]) -> NDArray[Any]:
    """onnxruntime without optimisations, or the reference evaluator where it does not run the model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (found,) = session.run(None, {"x": x})
    except Exception:
        (found,) = ReferenceEvaluator(proto).run(None, {"x": x})
    return np.asarray(found)


@pytest.mark.parametrize("name", CASES)
def test_graphs_are_read_as_others_run_them(name: str, tmp_path: Path) -> None:
    nodes, constants, shape, opset = CASES[name]()
    proto = model(nodes, constants, shape, opset=opset)
    network = read_network(save(tmp_path, proto))
    points = np.stack([grid(*shape, seed=seed) for seed in range(10)])
    found = np.stack([others(proto, x).ravel() for x in points]).astype(np.float64)
    np.testing.assert_allclose(
        network.evaluate(points.reshape(10, -1).astype(float)), found, rtol=ROUNDED, atol=ROUNDED
    )
    assert beyond(network.steps, points.reshape(10, -1).astype(float), found + 1e-2) is not None


@pytest.mark.part(60)
@pytest.mark.parametrize("name", CASES)
def test_radii_of_float32_hold_what_onnxruntime_answers(name: str, tmp_path: Path) -> None:
    nodes, constants, shape, opset = CASES[name]()
    proto = model(nodes, constants, shape, opset=opset)
    network = in_float32(read_network(save(tmp_path, proto)))
    points = np.random.default_rng(1).normal(size=(20, *shape)).astype(np.float32)
    found = np.stack([others(proto, x).ravel() for x in points]).astype(np.float64)
    flat = points.reshape(20, -1).astype(np.float64)
    assert beyond(network.steps, flat, found) is None
    largest = np.abs(flat).max(axis=0)
    assert overflow(network, largest, largest) is None


def test_every_new_operator_has_a_case() -> None:
    used = {n.op_type for name in CASES for n in CASES[name]()[0]}
    chains = {"BatchNormalization", "Cast", "Constant", "ConstantOfShape", "Dropout", "Expand", "Gather", "Identity"}
    chains |= {"LogSoftmax", "Shape", "Softmax", "Squeeze", "Sum", "Unsqueeze"}
    chains |= {"GRU", "LSTM", "RNN"}  # in test_recurrent
    used |= {n.op_type for proto in COMPARISONS.values() for n in proto.graph.node}
    used |= {n.op_type for nodes, *_ in (*OPERATOR_CASES.values(), *REDUCED_CASES.values()) for n in nodes}
    used |= {n.op_type for nodes, *_ in COMPOSED_CASES.values() for n in nodes}
    assert OPERATORS.keys() - used <= chains
    assert not REFUSED.keys() & OPERATORS.keys()


def test_the_manual_lists_the_operators_that_are_read() -> None:
    text = (Path(__file__).parents[3] / "docs" / "howto" / "networks.md").read_text(encoding="utf-8")
    quantising = [name.rpartition(".")[2] for name in QUANTISING]
    for section, operators in (("What is read", OPERATORS), ("Quantised networks", {*quantising})):
        lines = text.split(f"## {section}")[1].split("## ")[0].splitlines()
        rows = [line for line in lines if line.startswith("| `")]
        listed = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        assert sorted(listed) == sorted(operators)


def steps_of(folder: Path, nodes: list[NodeProto], constants: Constants, *shape: int, opset: int = 17) -> Network:
    return read_network(save(folder, model(nodes, constants, shape, opset=opset)))


def kinds(network: Network) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(str(step.function), step.rows, step.sources) for step in network.steps]


def test_a_convolution_shares_its_kernel(tmp_path: Path) -> None:
    nodes = [node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1]), node("Relu", ["c"], "y")]
    network = steps_of(tmp_path, nodes, {"w": grid(4, 2, 3, 3), "b": grid(4)}, 1, 2, 5, 5)
    assert kinds(network) == [("relu", 100, (-1,)), ("identity", 100, (0,))]
    tile = network.steps[0].terms[0].tile
    assert tile.index.shape == (1, 25, 18)
    assert tile.weight.shape == (1, 4, 18)
    assert np.array_equal(tile.weight.reshape(4, 2, 3, 3), grid(4, 2, 3, 3))
    assert network.exact


def test_a_normalisation_folds_into_the_kernel(tmp_path: Path) -> None:
    """The exact rational function lies in the intervals of the program, as does an input that is normalised before."""
    constants: Constants = {"w": grid(2, 1, 2), "g": grid(2), "h": grid(2, seed=1), "m": grid(2, seed=2)}
    constants |= {"v": np.array([0.5, 2.0], np.float32), "d": np.array(3.0, np.float32)}
    nodes = [
        node("Div", ["x", "d"], "n"),
        node("Conv", ["n", "w"], "c"),
        node("BatchNormalization", ["c", "g", "h", "m", "v"], "b", epsilon=0.0),
        node("Relu", ["b"], "y"),
    ]
    network = steps_of(tmp_path, nodes, constants, 1, 1, 4)
    assert kinds(network) == [("relu", 6, (-1,)), ("identity", 6, (0,))]
    tile, names = network.steps[0].terms[0].tile, network.steps[0].names
    assert tile.weight.shape == (1, 2, 2)
    assert tile.weight_error is not None
    assert tile.weight_error.max() < 1e-15
    assert names is not None
    assert len(set(names)) == 6
    again = steps_of(tmp_path, [*nodes[:3], node("Relu", ["b"], "y")], constants, 1, 1, 4)
    assert again.steps[0].names == names
    w, g, h, m, v = (constants[name].astype(float).tolist() for name in "wghmv")
    point = [Fraction(k, 7) for k in (3, -5, 2, 11)]
    for row, (low, high) in enumerate(network.evaluate_exact(point)):
        channel, place = divmod(row, 3)
        summed = sum(Fraction(w[channel][0][t]) * point[place + t] / 3 for t in range(2))
        slope = Fraction(g[channel]) / exact_root(Fraction(v[channel]))
        assert low <= max(slope * (summed - Fraction(m[channel])) + Fraction(h[channel]), Fraction(0)) <= high


def test_names_tell_whose_units_are_read(tmp_path: Path) -> None:
    """Rows that read two sources the other way round are other functions, of equal weights."""

    def joined(*parts: str) -> tuple[bytes | None, ...]:
        nodes = [
            node("Conv", ["x", "w"], "c", pads=[1, 1]),
            node("Relu", ["c"], "r"),
            node("Concat", parts, "e", axis=1),
            node("Div", ["e", "d"], "s"),
            node("Conv", ["s", "q"], "y"),
        ]
        constants = {"w": grid(2, 2, 3), "q": grid(1, 4, 1), "d": np.float32(3)}
        found = steps_of(tmp_path, nodes, constants, 1, 2, 6).steps[-1].names
        assert found is not None
        return found

    assert joined("r", "x") == joined("r", "x")
    assert not set(joined("r", "x")) & set(joined("x", "r"))


def test_a_residual_block_adds_terms(tmp_path: Path) -> None:
    nodes, constants, shape, opset = CASES["residual"]()
    network = steps_of(tmp_path, nodes, constants, *shape, opset=opset)
    assert [(f, sorted(s)) for f, _, s in kinds(network)] == [("relu", [-1]), ("relu", [-1, 0]), ("identity", [1])]


def test_a_relu_of_what_is_rearranged_is_the_function_of_its_step(tmp_path: Path) -> None:
    nodes, constants, shape, opset = CASES["transposed convolution, then positions last"]()
    network = steps_of(tmp_path, nodes, constants, *shape, opset=opset)
    assert network.steps[0].function == "relu"
    assert network.neurons == 15


def test_a_channel_of_constants_and_branches_keeps_its_taps(tmp_path: Path) -> None:
    """A convolution of several values joined by channels reads each with its part of the kernel."""
    nodes = [
        node("Conv", ["x", "w"], "c", pads=[1, 1]),
        node("Relu", ["c"], "r"),
        node("Concat", ["r", "x"], "e", axis=1),
        node("Conv", ["e", "q"], "y"),
    ]
    network = steps_of(tmp_path, nodes, {"w": grid(2, 2, 3), "q": grid(2, 4, 3)}, 1, 2, 6)
    assert kinds(network)[-1][:2] == ("identity", 8)
    assert [term.tile.taps for term in network.steps[-1].terms] == [6, 6]


def test_neurons_of_a_maximum_and_its_padding(tmp_path: Path) -> None:
    """Two of two by two need three, and nothing is compared with padding."""
    plain = steps_of(tmp_path, [node("MaxPool", ["x"], "y", kernel_shape=[2, 2], strides=[2, 2])], {}, 1, 1, 4, 4)
    assert plain.neurons == 3 * 4
    corner = node("MaxPool", ["x"], "y", kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1])
    assert steps_of(tmp_path, [corner], {}, 1, 1, 2, 2).neurons == 0


def test_a_batch_of_images_is_set_aside(tmp_path: Path) -> None:
    nodes = [node("Conv", ["x", "w"], "c"), node("Relu", ["c"], "r"), node("GlobalAveragePool", ["r"], "y")]
    network = steps_of(tmp_path, nodes, {"w": grid(2, 1, 3, 3)}, 5, 1, 4, 4)
    assert (network.input_size, network.output_size) == (16, 2)
    meeting = [node("ReduceMean", ["x"], "m", axes=[0], keepdims=1), node("Sub", ["x", "m"], "y")]
    assert steps_of(tmp_path, meeting, {}, 5, 1, 4, opset=13).input_size == 20


@pytest.mark.parametrize(
    ("nodes", "constants", "words"),
    [
        ([node("NonZero", ["x"], "y")], {}, "a shape that depends on the input"),
    ],
)
def test_what_no_program_expresses_is_refused_by_name(
    nodes: list[NodeProto], constants: Constants, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedOperatorError) as caught:
        steps_of(tmp_path, nodes, constants, 1, 2, 3)
    assert words in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    ("nodes", "constants", "shape", "words"),
    [
        (
            [helper.make_node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2]), node("Cast", ["i"], "y", to=1)],
            {},
            (1, 1, 4),
            "places of the maxima",
        ),
        ([node("Conv", ["x", "w"], "y")], {"w": grid(2, 2, 3)}, (1, 3, 5), "a weight of shape (2, 2, 3)"),
        ([node("Conv", ["x", "w"], "y", pads=[1, -1])], {"w": grid(2, 1, 3)}, (1, 1, 5), "pads [1, -1]"),
        ([node("Resize", ["x", "", "s"], "y", mode="lines")], {"s": grid(3)}, (1, 1, 4), "mode 'lines'"),
        (
            [node("Resize", ["x", "", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="ceil")],
            {"s": np.array([1, 1, 14])},
            (1, 1, 6),
            "may choose different entries",
        ),
        (
            [node("Exp", ["c"], "r"), node("Mod", ["r", "c"], "e", fmod=1), node("Mul", ["x", "e"], "y")],
            {"c": grid(4)},
            (1, 4),
            "its rounding",
        ),
        ([node("Conv", ["x", "w"], "y")], {"w": grid(32, 3, 16, 16)}, (1, 3, 224, 224), "products up to here"),
        ([node("Conv", ["x", "w"], "y", group=64)], {"w": grid(64, 1, 21, 21)}, (1, 64, 128, 128), "bytes; up to"),
        ([node("Conv", ["x", "w"], "c"), node("Abs", ["c"], "y")], {"w": grid(64, 1, 1)}, (1, 1, 65536), "4194304"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(
    nodes: list[NodeProto], constants: Constants, shape: tuple[int, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkError) as caught:
        steps_of(tmp_path, nodes, constants, *shape)
    assert words in caught.value.message
    assert caught.value.fix


def test_remainders_of_constants_are_exact(tmp_path: Path) -> None:
    """As ndonnx computes the places of a roll: fmod rounds nothing, whatever its operands are."""
    constants: Constants = {"a": np.array([[-7.25, 1e20, 0.1]], np.float32), "b": np.array([[2, 3, 0.03]], np.float32)}
    nodes = [node("Mod", ["a", "b"], "m", fmod=1), node("Add", ["x", "m"], "y")]
    (step,) = steps_of(tmp_path, nodes, constants, 1, 3).steps
    assert step.bias_error is None or not step.bias_error.any()
    assert step.bias.tolist() == np.fmod(constants["a"], constants["b"])[0].astype(float).tolist()


def test_shapes_that_a_graph_computes_itself(tmp_path: Path) -> None:
    """Integers through operators that nothing else needs, as exporters of dynamic shapes write them."""
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "one"], "c"),
        node("Equal", ["c", "three"], "is"),
        node("Where", ["is", "two", "one"], "k"),
        node("Range", ["zero", "c", "one"], "r"),
        node("ReduceProd", ["s"], "p", keepdims=0),
        node("Mod", ["p", "two"], "odd"),
        node("Cast", ["c"], "f", to=TensorProto.FLOAT),
        node("Floor", ["f"], "g"),
        node("Cast", ["g"], "h", to=TensorProto.INT64),
        node("Unsqueeze", ["h", "zeros"], "u"),
        node("ConstantOfShape", ["u"], "fill", value=numpy_helper.from_array(np.array([1.0], np.float32))),
        node("Gather", ["x", "r"], "picked", axis=1),
        node("Mul", ["picked", "fill"], "m"),
        node("Add", ["odd", "k"], "to"),
        node("Unsqueeze", ["to", "zeros"], "shape"),
        node("Concat", ["shape", "minus"], "target", axis=0),
        node("Reshape", ["m", "target"], "y"),
    ]
    constants: Constants = {"zero": np.int64(0), "one": np.int64(1), "two": np.int64(2), "three": np.int64(3)}
    constants |= {"zeros": whole(0), "minus": whole(-1)}
    network = steps_of(tmp_path, nodes, {k: np.asarray(v) for k, v in constants.items()}, 1, 3)
    assert (network.output_size, network.exact) == (3, True)


def test_weights_that_are_dequantised(tmp_path: Path) -> None:
    nodes = [node("DequantizeLinear", ["q", "s", "z"], "w", axis=0), node("Conv", ["x", "w"], "y")]
    constants: Constants = {"q": np.arange(-3, 3, dtype=np.int8).reshape(2, 1, 3), "z": np.array([1, -1], np.int8)}
    constants["s"] = np.array([0.1, 0.3], np.float32)
    network = steps_of(tmp_path, nodes, constants, 1, 1, 5)
    scale = constants["s"].astype(float)[:, None]
    expected = (constants["q"].reshape(2, 3) - constants["z"].astype(float)[:, None]) * scale
    assert np.array_equal(network.steps[0].terms[0].tile.weight[0], expected)
    assert network.exact
