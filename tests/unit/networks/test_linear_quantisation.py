"""QuantizeLinear and DequantizeLinear, bit for bit as onnxruntime runs them without rewriting.

Scales are powers of two and inputs lie on a grid, ties among them, so that float32 rounds nothing; what is read must
then be what onnxruntime answers, and not nearly so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from unit.networks.models import model, node, save

Constants = dict[str, Any]
TYPES = {
    "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16, "uint16": TensorProto.UINT16,
    "int4": TensorProto.INT4, "uint4": TensorProto.UINT4,
}  # fmt: skip


def tensor(name: str, value: Any) -> onnx.TensorProto:
    """A constant; ('int4', array) is one of that type."""
    if isinstance(value, tuple):
        kind, array = value
        return helper.make_tensor(name, TYPES[kind], np.shape(array), np.reshape(array, -1).astype(int).tolist())
    return numpy_helper.from_array(np.asarray(value), name)


def build(
    nodes: Sequence[NodeProto],
    constants: Constants,
    shape: Sequence[int],
    *,
    kind: int = TensorProto.FLOAT,
    made: int = TensorProto.FLOAT,
    opset: int = 21,
) -> onnx.ModelProto:
    stored = [tensor(name, value) for name, value in constants.items()]
    given, result = helper.make_tensor_value_info("x", kind, shape), helper.make_tensor_value_info("y", made, None)
    graph = helper.make_graph(list(nodes), "g", [given], [result], stored)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def running(proto: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def exactly(network: Network, point: NDArray[Any]) -> NDArray[np.float64]:
    found = network.evaluate_exact([Fraction(float(x)) for x in point.reshape(-1)])
    assert all(low == high for low, high in found)
    return np.array([float(low) for low, _ in found])


def agrees(folder: Path, proto: onnx.ModelProto, points: Sequence[NDArray[Any]]) -> Network:
    """What is read is what onnxruntime answers, exactly; and so it is in floats."""
    network, session = read_network(save(folder, proto)), running(proto)
    for point in points:
        (expected,) = session.run(None, {"x": point})
        assert np.array_equal(exactly(network, point), expected.reshape(-1).astype(float))
        assert np.array_equal(network.evaluate(point.reshape(1, -1).astype(float))[0], expected.reshape(-1))
    return network


def grid(rng: np.random.Generator, shape: Sequence[int], count: int = 8, most: int = 64) -> list[NDArray[Any]]:
    """Points on multiples of 1/16."""
    return [(rng.integers(-most, most + 1, shape) / 16).astype(np.float32) for _ in range(count)]


def both(kind: Any = None, **attributes: Any) -> list[NodeProto]:
    names = ["s", "z"] if kind is not None else ["s"]
    return [
        node("QuantizeLinear", ["x", *names], "q", **attributes),
        node("DequantizeLinear", ["q", *names], "y", **attributes),
    ]


def zero_points(kind: str, values: Any) -> Any:
    return (kind, values) if kind.endswith("4") else np.array(values, kind)


@pytest.mark.part(9)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_ties_and_ends(tmp_path: Path, kind: str, zero: int) -> None:
    """The zero point is added behind the rounding: with an odd one, ties go elsewhere than if it was in front."""
    proto = build(both(0), {"s": np.float32(0.25), "z": zero_points(kind, zero)}, [1, 160])
    x = np.arange(-80, 80, dtype=np.float32).reshape(1, -1) / 8
    ends = (np.arange(-80, 80, dtype=np.float32) * 300).reshape(1, -1)
    network = agrees(tmp_path, proto, [x, ends])
    assert (len(network.steps), network.neurons) == (2, 160)


def test_without_a_zero_point(tmp_path: Path) -> None:
    proto = build(both(), {"s": np.float32(0.25)}, [1, 160])
    agrees(tmp_path, proto, [np.arange(-80, 80, dtype=np.float32).reshape(1, -1) / 8])
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=TensorProto.INT16),
        node("DequantizeLinear", ["q", "s"], "y"),
    ]
    agrees(tmp_path, build(nodes, {"s": np.float32(0.25)}, [1, 160]), [np.full((1, 160), -1e4, np.float32)])


@pytest.mark.parametrize("opset", [13, 19, 21, 23])
@pytest.mark.parametrize("axis", [1, 2, -1])
def test_along_an_axis(tmp_path: Path, axis: int, opset: int) -> None:
    rng = np.random.default_rng(opset)
    shape = [1, 2, 3, 4]
    size = shape[axis]
    constants = {"s": 2.0 ** rng.integers(-3, 1, size), "z": rng.integers(-5, 5, size).astype(np.int8)}
    constants["s"] = constants["s"].astype(np.float32)
    agrees(tmp_path, build(both(0, axis=axis), constants, shape, opset=opset), grid(rng, shape))


@pytest.mark.parametrize("kind", ["int8", "int4", "uint4", "int16"])
def test_in_blocks(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    shape = [1, 5, 3]
    constants = {
        "s": (2.0 ** rng.integers(-3, 1, (1, 3, 3))).astype(np.float32),
        "z": zero_points(kind, rng.integers(0, 5, (1, 3, 3))),
    }
    agrees(tmp_path, build(both(0, axis=1, block_size=2), constants, shape), grid(rng, shape))


@pytest.mark.parametrize("kind", TYPES)
def test_weights_of_all_types(tmp_path: Path, kind: str) -> None:
    """Also packed ones, of an odd number, in raw bytes and as numbers."""
    rng = np.random.default_rng(1)
    low = 0 if kind.startswith("u") else -8
    levels = rng.integers(low, low + 16, (5, 3))
    constants = {
        "w": zero_points(kind, levels), "s": np.array([0.5, 0.25, 2], np.float32),
        "z": zero_points(kind, np.array([1, 0, 3])),
    }  # fmt: skip
    nodes = [node("DequantizeLinear", ["w", "s", "z"], "v", axis=1), node("MatMul", ["x", "v"], "y")]
    proto = build(nodes, constants, [1, 5])
    agrees(tmp_path, proto, grid(rng, [1, 5]))
    (weight,) = (t for t in proto.graph.initializer if t.name == "w")
    if kind.endswith("4"):
        packed = [int(n) & 15 for n in levels.reshape(-1)] + [0]
        weight.ClearField("int32_data")
        weight.raw_data = bytes(a | b << 4 for a, b in zip(packed[::2], packed[1::2], strict=True))
        network = agrees(tmp_path, proto, grid(rng, [1, 5]))
        assert np.array_equal(network.layers[0].weight.T, (levels - [1, 0, 3]) * constants["s"])
        weight.raw_data += b"\0"
        with pytest.raises(NetworkError, match="needs"):
            read_network(save(tmp_path, proto))


def test_weights_that_are_quantised_by_the_graph(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    nodes = [
        node("QuantizeLinear", ["w", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "v"),
        node("MatMul", ["x", "v"], "y"),
    ]
    constants = {"w": (rng.integers(-40, 40, (4, 3)) / 8).astype(np.float32), "s": np.float32(0.25), "z": np.int8(3)}
    network = agrees(tmp_path, build(nodes, constants, [1, 4]), grid(rng, [1, 4]))
    assert (len(network.steps), network.exact) == (1, True)


def test_a_constant_of_rank_0(tmp_path: Path) -> None:
    """As a factor is stored, quantised by the graph."""
    nodes = [
        node("QuantizeLinear", ["c", "s", "z"], "k"),
        node("DequantizeLinear", ["k", "s", "z"], "f"),
        node("Mul", ["x", "f"], "y"),
    ]
    constants = {"c": np.float32(0.8), "s": np.float32(0.25), "z": np.uint8(3)}
    path = save(tmp_path, build(nodes, constants, [1, 3]))
    np.testing.assert_array_equal(read_network(path).evaluate(np.array([[1.0, -2.0, 8.0]])), [[0.75, -1.5, 6.0]])


def test_other_parameters_behind(tmp_path: Path) -> None:
    """What a level stands for is said behind: nothing is rounded in between, and each meaning is a step of its own."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "t", "n"], "a"),
        node("DequantizeLinear", ["q", "s", "z"], "b"),
        node("DequantizeLinear", ["q", "s", "z"], "c"),
        node("Sum", ["a", "b", "c"], "y"),
    ]
    constants = {"s": np.float32(0.25), "z": np.uint8(7), "t": np.float32(2), "n": np.uint8(200)}
    network = agrees(tmp_path, build(nodes, constants, [1, 160]), [np.arange(-80, 80, dtype=np.float32)[None] / 8])
    assert network.neurons == 320


def test_what_moves_levels(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    front = node("QuantizeLinear", ["x", "s", "z"], "q")
    constants: Constants = {"s": np.float32(0.25), "z": np.uint8(128), "t": np.array([0.5, 0.25, 1], np.float32)}
    constants |= {"n": np.array([120, 128, 3], np.uint8), "shape": np.array([1, 4, 3]), "places": np.array([2, 0, 0])}
    constants |= {"pads": np.array([0, 1, 0, 0, 0, 2]), "fill": np.uint8(9), "more": np.array([[[1, 2, 3]]], np.uint8)}
    constants |= {"wide": np.array([2, 4, 3]), "times": np.array([1, 1, 2]), "back": np.array([[[0, 3], [0, 1]]])}
    cases = {
        "Reshape": [node("Reshape", ["q", "shape"], "m")],
        "Transpose": [node("Transpose", ["q"], "m", perm=[0, 2, 1])],
        "Gather": [node("Gather", ["q", "places"], "g", axis=2), node("Reshape", ["g", "shape"], "m")],
        "Pad": [node("Pad", ["q", "pads", "fill"], "p"), node("Gather", ["p", "places"], "m", axis=2)],
        "Concat": [node("Concat", ["q", "more", "q"], "c", axis=1), node("Flatten", ["c"], "f"),
                   node("Gather", ["f", "places"], "m", axis=1)],
        "Expand": [node("Reshape", ["q", "shape"], "r"), node("Expand", ["r", "wide"], "m")],
        "Tile": [node("Tile", ["q", "times"], "w"), node("Gather", ["w", "places"], "m", axis=2)],
        "GatherND": [node("GatherND", ["q", "back"], "m")],
        "Identity": [node("Identity", ["q"], "i"), node("Reshape", ["i", "shape"], "m")],
    }  # fmt: skip
    for kind, nodes in cases.items():
        axis = {"Concat": 1, "Transpose": 1}.get(kind, 2)
        for behind in (["s", "z"], ["t", "n"]):
            last = node("DequantizeLinear", ["m", *behind], "y", axis=axis)
            shape = [1, 4, 3]
            agrees(tmp_path, build([front, *nodes, last], constants, shape), grid(rng, shape, 4))


def test_maxima_and_ends_of_levels(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    front = node("QuantizeLinear", ["x", "s", "z"], "q")
    constants: Constants = {"s": np.float32(0.25), "z": np.int8(-3), "low": np.int8(-9), "high": np.int8(6)}
    constants |= {"t": np.array([0.5, 2], np.float32), "n": np.array([1, -4], np.int8)}
    cases = [
        [node("Relu", ["q"], "m")],
        [node("Clip", ["q", "low", "high"], "m")],
        [node("Max", ["q", "low"], "a"), node("Min", ["high", "a"], "m")],
        [node("MaxPool", ["q"], "m", kernel_shape=[2, 2], pads=[1, 0, 0, 1])],
        [node("MaxPool", ["q"], "p", kernel_shape=[2, 2]), node("Clip", ["p", "low", "high"], "m")],
    ]
    for nodes in cases:
        for behind in (["s", "z"], ["t", "n"]):
            last = node("DequantizeLinear", ["m", *behind], "y", axis=1)
            agrees(tmp_path, build([front, *nodes, last], constants, [1, 2, 4, 4]), grid(rng, [1, 2, 4, 4], 4))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
def test_integers_in_and_out(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(5)
    limits = np.iinfo(kind)
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], "a"),
        node("MatMul", ["a", "w"], "b"),
        node("QuantizeLinear", ["b", "t", "z"], "y"),
    ]
    constants = {"s": np.float32(0.5), "t": np.float32(4), "z": np.array(3, kind)}
    constants["w"] = (rng.integers(-8, 8, (6, 4)) / 4).astype(np.float32)
    proto = build(nodes, constants, [1, 6], kind=TYPES[kind], made=TYPES[kind])
    points = [rng.integers(limits.min, limits.max + 1, (1, 6)).astype(kind) for _ in range(10)]
    network = agrees(tmp_path, proto, points)
    assert any("the nearest integers" in note for note in network.notes)
    assert any("the outputs are levels" in note for note in network.notes)
    # Between two integers it is the nearest one, ties to even; beyond them the last.
    given = np.array([2.5, 3.5, -1e6, 1e6, 7.25, 0.75])
    nearest = np.clip(np.rint(given), limits.min, limits.max)
    assert np.array_equal(exactly(network, given), exactly(network, nearest))


def test_integers_that_do_not_depend_on_the_input(tmp_path: Path) -> None:
    constants = {"w": np.arange(-9, 9, dtype=np.int8).reshape(1, 2, 3, 3), "s": np.float32(0.5), "z": np.int8(1)}
    nodes = [
        node("Relu", ["w"], "r"),
        node("MaxPool", ["r"], "p", kernel_shape=[3, 3]),
        node("DequantizeLinear", ["p", "s", "z"], "d"),
        node("Add", ["x", "d"], "y"),
    ]
    agrees(tmp_path, build(nodes, constants, [1, 2, 1, 1]), grid(np.random.default_rng(0), [1, 2, 1, 1]))


def test_sums_of_integers_that_are_cut_off(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    constants: Constants = {"s": np.float32(0.25), "z": np.uint8(5), "w": rng.integers(-9, 9, (6, 4)).astype(np.int8)}
    constants |= {"low": np.int32(-300), "high": np.int32(200)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("MatMulInteger", ["q", "w", "z"], "c"),
        node("Clip", ["c", "low", "high"], "e"),
        node("Cast", ["e"], "y", to=TensorProto.FLOAT),
    ]
    agrees(tmp_path, build(nodes, constants, [1, 6]), grid(rng, [1, 6]))


def test_levels_as_real_numbers(tmp_path: Path) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("Cast", ["q"], "w", to=TensorProto.INT32),
        node("Cast", ["w"], "f", to=TensorProto.FLOAT),
        node("Mul", ["f", "s"], "y"),
    ]
    constants = {"s": np.float32(0.25), "z": np.uint8(7)}
    agrees(tmp_path, build(nodes, constants, [1, 160]), [np.arange(-80, 80, dtype=np.float32)[None] / 8])


@pytest.mark.parametrize("bend", [["Relu", "x"], ["Max", "x", "end"], ["Max", "end", "x"], ["Min", "end", "x"]])
def test_a_bend_in_front_is_no_function_of_its_own(tmp_path: Path, bend: list[str]) -> None:
    for zero, end in ((0, 0.0), (1, 0.0), (-128, 0.0), (5, -1.5), (5, 2.6)):
        nodes = [node(bend[0], bend[1:], "r"), *both(0)]
        nodes[1].input[0] = "r"
        constants = {"s": np.float32(0.25), "z": np.int8(zero), "end": np.float32(end)}
        network = agrees(tmp_path, build(nodes, constants, [1, 160]), [np.arange(-80, 80, dtype=np.float32)[None] / 8])
        assert (len(network.steps), network.neurons) == (2, 160)


@pytest.mark.parametrize("ends", [(1 / 3, -1.0), (7.0, -50.0), (0.75, 0.75)])
def test_ends_that_cross_in_front_are_the_upper_one(tmp_path: Path, ends: tuple[float, float]) -> None:
    nodes = [node("Clip", ["x", "low", "high"], "r"), *both(0)]
    nodes[1].input[0] = "r"
    constants = {"s": np.float32(0.25), "z": np.int8(3), "low": np.float32(ends[0]), "high": np.float32(ends[1])}
    agrees(tmp_path, build(nodes, constants, [1, 160]), [np.arange(-80, 80, dtype=np.float32)[None] / 8])


def microsoft(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> NodeProto:
    return helper.make_node(kind, list(inputs), [output], name=kind, domain="com.microsoft", **attributes)


def test_levels_at_the_end_of_a_softmax(tmp_path: Path) -> None:
    """It is not left out: what counts are the levels."""
    nodes = [node("Softmax", ["x"], "p"), *both(0)]
    nodes[1].input[0] = "p"
    proto = build(nodes, {"s": np.float32(1 / 256), "z": np.uint8(0)}, [1, 3])
    network = read_network(save(tmp_path, proto))
    assert network.stripped is None
    point = np.array([[0.3, -0.2, 1.7]], np.float32)
    (expected,) = running(proto).run(None, {"x": point})
    assert np.array_equal(exactly(network, point), expected.reshape(-1))


REFUSED = [
    (
        [
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "a", "b"]),
            node("DequantizeLinear", ["q", "a"], "y"),
        ],
        "move with the data.*quantise statically",
    ),
    (both(0, axis=5), "axis 5"),
    ([node("QuantizeLinear", ["x", "s", "z"], "q"), node("Add", ["q", "q"], "y")], "levels of a quantiser"),
    ([node("QuantizeLinear", ["x", "n", "z"], "y")], "not positive"),
    ([node("QuantizeLinear", ["x", "f"], "y", output_dtype=TensorProto.FLOAT8E4M3FN)], "float8e4m3fn"),
    (
        [node("QuantizeLinear", ["x", "o", "i"], "y", output_dtype=TensorProto.INT8)],
        "another type than that of the zero",
    ),
    (
        [node("QuantizeLinear", ["x", "o", "i"], "q"), microsoft("QGemm", ["q", "o", "i", "w", "o", "i", "c"], "y")],
        "32 bits",
    ),
    ([microsoft("QLinearAdd", ["x", "s", "z", "x", "s", "z", "s", "z"], "y", axis=1)], "attribute 'axis'"),
    ([microsoft("QGemm", ["x", "o", "i", "w", "o", "i", "", "", "i"], "y")], "the other way round"),
    ([microsoft("QGemm", ["x", "o", "i", "w", "o", "i", "", "o"], "y")], "a scale without a zero point"),
    ([microsoft("QAttention", ["x", "s", "z", "s", "z"], "y")], "not supported"),
    ([microsoft("MatMulBnb4", ["x", "w", "s"], "y", K=2, N=1, quant_type=1, block_size=32)], "QuantFormat.QDQ"),
]


@pytest.mark.parametrize(("nodes", "message"), REFUSED)
def test_what_is_refused(tmp_path: Path, nodes: list[NodeProto], message: str) -> None:
    constants: Constants = {"s": np.array([0.25, 0.5], np.float32), "z": np.zeros(2, np.uint8), "n": np.float32(-1)}
    constants |= {"f": np.float32(1), "o": np.float32(1), "i": np.uint8(0)}
    constants |= {"w": np.full((2, 1), 3, np.uint8), "c": np.array([2**31 - 1500], np.int32)}
    with pytest.raises(NetworkError, match=message):
        read_network(save(tmp_path, build(nodes, constants, [1, 2])))


@pytest.mark.parametrize(
    ("precision", "read"),
    [
        (TensorProto.FLOAT, True),
        (TensorProto.FLOAT16, False),
        (TensorProto.BFLOAT16, False),
        (TensorProto.DOUBLE, False),
        (TensorProto.INT8, False),
    ],
)
def test_quotients_in_another_type_are_refused(precision: int, read: bool, tmp_path: Path) -> None:
    nodes = [node("QuantizeLinear", ["x", "s", "z"], "y", precision=precision)]
    proto = build(nodes, {"s": np.float32(1), "z": np.uint8(0)}, [1, 2], made=TensorProto.UINT8, opset=23)
    with nullcontext() if read else pytest.raises(NetworkError, match=r"in 16 bits|in another type"):
        read_network(save(tmp_path, proto))


@pytest.mark.parametrize(
    ("kind", "scales", "opset", "said"),
    [
        (TensorProto.INT8, (3, 1, 1), 20, "ONNX takes a vector of 3 there"),
        (TensorProto.INT4, (3,), 20, "DequantizeLinear takes int4 from opset 21 on"),
        (TensorProto.INT64, (3,), 20, "cast it to a type that the operator takes"),
    ],
)
def test_weights_as_openvino_takes_them_are_refused_with_what_to_do(
    kind: int, scales: tuple[int, ...], opset: int, said: str, tmp_path: Path
) -> None:
    """Weights compressed by nncf have scales of the shape of the weights, and types before their opset."""
    levels = helper.make_tensor("w", kind, (3, 1, 1, 1), [1, 2, 3])
    nodes = [node("DequantizeLinear", ["w", "s"], "v", axis=0), node("Conv", ["x", "v"], "y")]
    proto = model(nodes, {"s": np.ones(scales, np.float32)}, (1, 1, 2, 2), opset=opset)
    proto.graph.initializer.append(levels)
    with pytest.raises(NetworkError) as refused:
        read_network(save(tmp_path, proto))
    assert said in str(refused.value)
