"""Operators with positions and piecewise linear functions: against onnxruntime without optimisations.

Where onnxruntime lacks an operator or an opset, onnx's reference evaluator answers. Values are small multiples of a
power of two, so both sides are exact unless a case says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
from unit.networks.models import exact_root, model, node, save
from unit.networks.test_comparisons import CASES as COMPARISONS

Constants = dict[str, Any]
Case = tuple[list[NodeProto], Constants, tuple[int, ...], int]
CASES: dict[str, Callable[[], Case]] = {}
ROUNDED = 1e-5
"""What onnxruntime may round where a result is not exact in float32."""


def grid(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Multiples of 1/8 between -2 and 2."""
    return (np.random.default_rng(seed).integers(-16, 17, size=shape) / 8).astype(np.float32)


def whole(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


def case(name: str, nodes: list[NodeProto], constants: Constants, *shape: int, opset: int = 17) -> None:
    """A graph from x of this shape to y."""
    CASES[name] = lambda: (nodes, constants, shape, opset)


def one(name: str, kind: str, constants: Constants, *shape: int, opset: int = 17, **attributes: Any) -> None:
    """A graph of one node on x and constants."""
    case(name, [node(kind, ["x", *constants], "y", **attributes)], constants, *shape, opset=opset)


def _convolutions() -> None:
    w2, b = {"w": grid(4, 3, 3, 2)}, {"b": grid(4, seed=2)}
    one("conv", "Conv", w2, 1, 3, 6, 5)
    one("conv bias", "Conv", w2 | b, 1, 3, 6, 5)
    one("conv strides", "Conv", w2 | b, 1, 3, 7, 6, strides=[2, 3])
    one("conv pads", "Conv", w2 | b, 1, 3, 5, 5, pads=[1, 0, 2, 1])
    one("conv dilations", "Conv", w2, 1, 3, 8, 7, dilations=[2, 3])
    one("conv everything", "Conv", w2 | b, 1, 3, 9, 8, strides=[2, 2], pads=[1, 2, 0, 1], dilations=[2, 1])
    for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        one(f"conv {kind}", "Conv", w2 | b, 1, 3, 7, 6, auto_pad=kind, strides=[2, 2])
        one(f"conv {kind} by 3", "Conv", w2 | b, 1, 3, 8, 7, auto_pad=kind, strides=[3, 1])
    one("conv groups", "Conv", {"w": grid(4, 2, 3, 3), "b": grid(4)}, 1, 4, 5, 5, group=2, pads=[1, 1, 1, 1])
    one("depthwise", "Conv", {"w": grid(8, 1, 3, 3), "b": grid(8)}, 1, 4, 5, 5, group=4)
    one("conv 1d", "Conv", {"w": grid(3, 2, 3), "b": grid(3)}, 1, 2, 9, strides=[2], pads=[2, 1])
    one("conv 3d", "Conv", {"w": grid(2, 2, 2, 2, 2), "b": grid(2)}, 1, 2, 3, 4, 3, pads=[1, 0, 0, 0, 1, 1])
    one("pointwise", "Conv", {"w": grid(5, 3, 1, 1)}, 1, 3, 4, 4)
    t2 = {"w": grid(3, 2, 3, 2)}
    tb = {"b": grid(2, seed=3)}
    one("transposed", "ConvTranspose", t2 | tb, 1, 3, 4, 3)
    one("transposed strides", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[2, 3])
    one("transposed everything", "ConvTranspose", t2, 1, 3, 4, 3, strides=[3, 2], pads=[1, 0, 0, 1], dilations=[2, 1],
        output_padding=[2, 1])  # fmt: skip
    one("transposed to a shape", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[2, 2], output_shape=[8, 6])
    one("transposed to an odd shape", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[3, 2], output_shape=[10, 5])
    for kind in ("SAME_UPPER", "SAME_LOWER"):
        one(f"transposed {kind}", "ConvTranspose", {"w": grid(3, 2, 4, 3)}, 1, 3, 4, 3, strides=[2, 2], auto_pad=kind)
    one("transposed groups", "ConvTranspose", {"w": grid(4, 3, 3), "b": grid(6)}, 1, 4, 5, group=2, strides=[2])


def _pools() -> None:
    square: dict[str, Any] = {"kernel_shape": [3, 2]}
    for name in ("AveragePool", "MaxPool"):
        one(f"{name}", name, {}, 1, 2, 6, 5, **square)
        one(f"{name} strides pads", name, {}, 1, 2, 6, 5, **square, strides=[2, 2], pads=[1, 1, 2, 0])
        one(f"{name} ceil", name, {}, 1, 2, 6, 6, **square, strides=[2, 3], ceil_mode=1)
        one(f"{name} ceil pads", name, {}, 1, 2, 7, 6, **square, strides=[3, 2], pads=[1, 1, 1, 0], ceil_mode=1)
        one(f"{name} dilations", name, {}, 1, 2, 7, 6, **square, dilations=[2, 3], opset=19)
        one(f"{name} 1d", name, {}, 1, 3, 9, kernel_shape=[4], strides=[2], pads=[1, 2])
        one(f"{name} 3d", name, {}, 1, 1, 4, 3, 4, kernel_shape=[2, 2, 3], strides=[2, 1, 1])
        for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            one(f"{name} {kind}", name, {}, 1, 2, 7, 6, **square, strides=[2, 2], auto_pad=kind)
        one(f"Global{name}", f"Global{name}", {}, 1, 3, 4, 5)
        one(f"Global{name} 1d", f"Global{name}", {}, 1, 3, 7)
    one("average with padding", "AveragePool", {}, 1, 2, 6, 5, **square, pads=[1, 1, 2, 0], count_include_pad=1)
    one("maximum of conv", "MaxPool", {}, 1, 2, 6, 6, kernel_shape=[2, 2], strides=[2, 2])
    case("pool of a convolution", [
        node("Conv", ["x", "w"], "c"), node("MaxPool", ["c"], "y", kernel_shape=[2, 2], strides=[2, 2]),
    ], {"w": grid(2, 1, 3, 3)}, 1, 1, 6, 6)  # fmt: skip


def _functions() -> None:
    for shape in ((1, 5), (1, 2, 3, 2)):
        rank = len(shape)
        one(f"relu {rank}", "Relu", {}, *shape)
        one(f"leaky {rank}", "LeakyRelu", {}, *shape, alpha=0.25)
        one(f"leaky negative {rank}", "LeakyRelu", {}, *shape, alpha=-0.5)
        one(f"abs {rank}", "Abs", {}, *shape)
        one(f"clip {rank}", "Clip", {"lo": np.float32(-0.5), "hi": np.float32(1)}, *shape)
        one(f"clip crossed {rank}", "Clip", {"lo": np.float32(1), "hi": np.float32(-0.5)}, *shape, opset=13)
        one(f"clip of old {rank}", "Clip", {}, *shape, opset=6, min=0.0, max=1.5)
        one(f"clip below {rank}", "Clip", {"lo": np.float32(0.25)}, *shape)
        case(f"clip above {rank}", [node("Clip", ["x", "", "hi"], "y")], {"hi": np.float32(0.25)}, *shape)
        one(f"hard sigmoid {rank}", "HardSigmoid", {}, *shape, alpha=0.5, beta=0.25)
        one(f"max {rank}", "Max", {"c": grid(*shape, seed=3)}, *shape)
        one(f"min {rank}", "Min", {"c": grid(*shape, seed=3), "d": grid(1, seed=4)}, *shape)
    one("prelu", "PRelu", {"s": np.array([0.5, -0.25, 2.0, 1.0, 0.0], np.float32)}, 1, 5)
    one("prelu channels", "PRelu", {"s": grid(3, 1, 1, seed=1)}, 1, 3, 2, 2)
    one("prelu shared", "PRelu", {"s": grid(1)}, 1, 3, 2)
    for kind in ("Max", "Min"):
        case(f"{kind} of values", [
            node("Gemm", ["x", "w"], "a"), node("Gemm", ["x", "v"], "b"), node(kind, ["a", "x", "b"], "y"),
        ], {"w": grid(4, 4), "v": grid(4, 4, seed=1)}, 1, 4)  # fmt: skip
    case("relu6 of a convolution", [
        node("Conv", ["x", "w"], "c"), node("Clip", ["c", "z", "s"], "r"), node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3), "z": np.float32(0), "s": np.float32(6)}, 1, 2, 8)  # fmt: skip
    case("leaky of a convolution", [
        node("Conv", ["x", "w"], "c"), node("LeakyRelu", ["c"], "r", alpha=0.125), node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 8)  # fmt: skip


def _reductions() -> None:
    for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
        one(f"{kind}", kind, {}, 1, 2, 4, 2, axes=[1, 3], opset=11)
        one(f"{kind} last", kind, {}, 1, 2, 4, axes=[-1], keepdims=0, opset=11)
        one(f"{kind} all", kind, {}, 1, 2, 4, keepdims=0, opset=11)
        one(f"{kind} axes as input", kind, {"a": whole(2)}, 1, 2, 4, opset=18)
        one(f"{kind} no axes", kind, {"a": whole()}, 1, 2, 4, opset=18, noop_with_empty_axes=1)


def _rearranging() -> None:
    image = (1, 2, 3, 4)
    pads = whole(0, 0, 1, 2, 0, 0, 2, 1)
    for mode in ("constant", "edge", "reflect", "wrap"):
        one(f"pad {mode}", "Pad", {"p": pads}, *image, mode=mode, opset=19)
    one("pad number", "Pad", {"p": pads, "v": np.float32(1.5)}, *image)
    one("pad cuts", "Pad", {"p": whole(0, 0, -1, 2, 0, 1, 2, -1)}, *image)
    one("pad of old", "Pad", {}, *image, opset=9, pads=[0, 0, 1, 0, 0, 0, 0, 2], value=0.5)
    case("pad axes", [node("Pad", ["x", "p", "", "a"], "y")], {"p": whole(1, 2), "a": whole(-1)}, *image, opset=19)
    one("depth to space", "DepthToSpace", {}, 1, 8, 2, 3, blocksize=2)
    one("depth to space CRD", "DepthToSpace", {}, 1, 8, 2, 3, blocksize=2, mode="CRD")
    one("space to depth", "SpaceToDepth", {}, 1, 2, 4, 6, blocksize=2)
    one("tile", "Tile", {"r": whole(1, 2, 3)}, 1, 2, 3)
    one("gather elements", "GatherElements", {"i": np.array([[[0, 1], [2, 2]]])}, 1, 3, 2, axis=1)
    one("gather nd", "GatherND", {"i": np.array([[0, 1], [0, 2]])}, 1, 3, 2)
    one("trilu", "Trilu", {}, 1, 3, 3)
    put = {"at": np.array([[0, 4], [0, 1]]), "u": grid(2)}
    one("scatter", "ScatterND", put, 1, 5)
    one("scatter along an axis", "ScatterElements", {"at": np.array([[3, 0]]), "u": grid(1, 2)}, 1, 5, axis=1)
    case("compress", [node("Compress", ["x", "c"], "y", axis=1)], {"c": np.array([True, False, True])}, 1, 3)
    one("reverse sequence", "ReverseSequence", {"n": whole(3)}, 1, 4, 2, batch_axis=0, time_axis=1)
    case("where", [node("Neg", ["x"], "n"), node("Where", ["c", "x", "n"], "m"), node("Where", ["d", "m", "k"], "y")],
         {"c": np.array([[True, False, True]]), "d": np.array([True, True, False]), "k": grid(3)}, 1, 3)  # fmt: skip
    sizes = {"roi": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 3], np.float32)}
    for coordinates in ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"):
        for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
            if coordinates == "align_corners" and not nearest.startswith("round"):
                continue  # (sizes - 1) / (results - 1) is rounded, and a whole place may be missed
            one(f"resize {coordinates} {nearest}", "Resize", sizes, 1, 2, 3, 2, mode="nearest",
                coordinate_transformation_mode=coordinates, nearest_mode=nearest)  # fmt: skip
    case("resize to sizes", [
        node("Resize", ["x", "", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ], {"s": whole(1, 2, 8, 6)}, 1, 2, 4, 3)  # fmt: skip
    case("resize down", [
        node("Resize", ["x", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ], {"s": np.array([1, 1, 0.5, 1], np.float32)}, 1, 2, 4, 3)  # fmt: skip
    case("resize axes", [
        node("Resize", ["x", "", "s"], "y", axes=[2], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    ], {"s": np.array([2], np.float32)}, 1, 2, 3, opset=18)  # fmt: skip
    one("resize of old", "Resize", {"s": np.array([1, 1, 2, 2], np.float32)}, 1, 2, 3, 2, opset=10)
    one("upsample", "Upsample", {"s": np.array([1, 1, 2, 3], np.float32)}, 1, 2, 3, 2, opset=9)
    one("upsample of old", "Upsample", {}, 1, 2, 3, 2, opset=7, scales=[1.0, 1.0, 2.0, 3.0])


def _graphs() -> None:
    channels: Constants = {"g": grid(4, seed=5), "h": grid(4, seed=6), "m": grid(4, seed=7)}
    channels["v"] = np.array([0.25, 1.0, 4.0, 2.25], np.float32)
    conv = {"w": grid(4, 2, 3, 3), "b": grid(4)}
    normal = [node("BatchNormalization", ["c", "g", "h", "m", "v"], "n", epsilon=0.0)]
    case("normalised convolution", [
        node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1]), *normal, node("Relu", ["n"], "y"),
    ], conv | channels, 1, 2, 4, 4)  # fmt: skip
    case("normalised input", [
        node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]), node("Sub", ["t", "mean"], "s"), node("Div", ["s", "d"], "n"),
        node("Conv", ["n", "w", "b"], "y", pads=[1, 1, 1, 1]),
    ], conv | {"mean": grid(2, 1, 1), "d": np.array([0.5, 2.0], np.float32).reshape(2, 1, 1)}, 1, 4, 4, 2)  # fmt: skip
    case("residual", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"),
        node("Conv", ["r", "w"], "d", pads=[1, 1]),
        node("Add", ["d", "x"], "a"), node("Relu", ["a"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 6)  # fmt: skip
    case("residual of convolutions", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"),
        node("Conv", ["r", "w"], "d", pads=[1, 1]),
        node("Conv", ["x", "p"], "s"), node("Sub", ["d", "s"], "y"),
    ], {"w": grid(2, 2, 3), "p": grid(2, 2, 1)}, 1, 2, 6)  # fmt: skip
    case("branches", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Conv", ["x", "p"], "d"),
        node("Concat", ["r", "d", "x"], "e", axis=1), node("Conv", ["e", "q"], "y"),
    ], {"w": grid(2, 2, 3), "p": grid(3, 2, 1), "q": grid(2, 7, 3)}, 1, 2, 6)  # fmt: skip
    case("concatenated units", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Concat", ["r", "x"], "e", axis=1),
        node("Relu", ["e"], "f"), node("Conv", ["f", "q"], "y"),
    ], {"w": grid(2, 2, 3), "q": grid(2, 4, 3)}, 1, 2, 6)  # fmt: skip
    case("sum of branches", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Add", ["r", "x"], "s"),
        node("Conv", ["s", "w"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 6)  # fmt: skip
    case("split and sliced", [
        node("Conv", ["x", "w"], "c"), helper.make_node("Split", ["c"], ["a", "b"], axis=1), node("Relu", ["a"], "r"),
        node("Slice", ["b", "lo", "hi", "ax"], "s"), node("Slice", ["r", "lo", "hi", "ax"], "t"),
        node("Add", ["s", "t"], "y"),
    ], {"w": grid(4, 2, 3), "lo": whole(1), "hi": whole(5), "ax": whole(2)}, 1, 2, 9, opset=13)  # fmt: skip
    case("matrix at every position", [
        node("MatMul", ["x", "w"], "a"), node("Add", ["a", "b"], "s"), node("Relu", ["s"], "r"),
        node("MatMul", ["r", "v"], "y"),
    ], {"w": grid(3, 600), "b": grid(600), "v": grid(600, 2)}, 1, 5, 3)  # fmt: skip
    case("transposed convolution, then positions last", [
        node("Conv", ["x", "w"], "c"), node("Transpose", ["c"], "t", perm=[0, 2, 1]), node("Relu", ["t"], "r"),
        node("MatMul", ["r", "v"], "y"),
    ], {"w": grid(3, 2, 3), "v": grid(3, 2)}, 1, 2, 7)  # fmt: skip
    case("scaled positions", [
        node("Conv", ["x", "w"], "c"), node("Mul", ["c", "s"], "m"), node("Relu", ["m"], "r"),
        node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3), "s": grid(1, 2, 6)}, 1, 2, 8)  # fmt: skip
    case("head", [
        node("Conv", ["x", "w"], "c"), node("Relu", ["c"], "r"), node("GlobalAveragePool", ["r"], "p"),
        node("Flatten", ["p"], "f"), node("Gemm", ["f", "g"], "y"),
    ], {"w": grid(4, 2, 3, 3), "g": grid(4, 3)}, 1, 2, 6, 6)  # fmt: skip
    case("dense then convolution", [
        node("Gemm", ["x", "g"], "a"), node("Reshape", ["a", "to"], "i"),
        node("ConvTranspose", ["i", "w"], "y", strides=[2]),
    ], {"g": grid(5, 6), "to": whole(1, 2, 3), "w": grid(2, 2, 3)}, 1, 5)  # fmt: skip
    case("mean of dense", [
        node("Gemm", ["x", "g"], "a"), node("ReduceMean", ["a"], "m", axes=[1]), node("Sub", ["a", "m"], "y"),
    ], {"g": grid(5, 4)}, 1, 5)  # fmt: skip


for _family in (_convolutions, _pools, _functions, _reductions, _rearranging, _graphs):
    _family()


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
        ([helper.make_node("TopK", ["x", "k"], ["y", "i"])], {"k": whole(1)}, "which entries it gives depends"),
        ([node("NonZero", ["x"], "y")], {}, "a shape that depends on the input"),
        ([node("Hardmax", ["x"], "h"), node("Neg", ["h"], "y")], {}, "operator Hardmax is not supported"),
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
        ([helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2])], {}, (1, 1, 4), "places of the maxima"),
        ([node("Conv", ["x", "w"], "y")], {"w": grid(2, 2, 3)}, (1, 3, 5), "a weight of shape (2, 2, 3)"),
        ([node("Conv", ["x", "w"], "y", pads=[1, -1])], {"w": grid(2, 1, 3)}, (1, 1, 5), "pads [1, -1]"),
        ([node("Resize", ["x", "", "s"], "y", mode="lines")], {"s": grid(3)}, (1, 1, 4), "mode 'lines'"),
        ([node("Mod", ["c", "c"], "e", fmod=1), node("Mul", ["x", "e"], "y")], {"c": grid(4)}, (1, 4), "its rounding"),
        ([node("Conv", ["x", "w"], "y")], {"w": grid(64, 3, 7, 7)}, (1, 3, 224, 224), "products up to here"),
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
