"""Networks that onnxruntime's own quantisation writes: read, they are what onnxruntime computes of them.

Scales are what a calibration found, so runtimes round in float32. They may be on the other side of a threshold where a
value lies within that rounding of it, and nowhere else: points that are clear of all thresholds, in the program that
was read, must give what onnxruntime answers; and most points are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks import pair_saturation, read_network
from eqspec.networks.session import CannotRunError, Session
from unit.networks.models import node, save
from unit.networks.thresholds import clear_of_thresholds


def saved(folder: Path, nodes: list[Any], constants: dict[str, Any], shape: list[int], opset: int = 17) -> str:
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    given, made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", None)))
    graph = helper.make_graph(nodes, "g", [given], [made], stored)
    return save(folder, helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))


def dense(folder: Path, rng: np.random.Generator) -> tuple[str, list[int]]:
    sizes = [5, 12, 8, 3]
    nodes, x = list[Any](), "x"
    constants: dict[str, Any] = {}
    for number, (a, b) in enumerate(pairwise(sizes)):
        constants[f"w{number}"] = rng.normal(size=(a, b)).astype(np.float32) / np.float32(np.sqrt(a))
        constants[f"b{number}"] = rng.normal(size=b).astype(np.float32) / 4
        last = number == len(sizes) - 2
        nodes.append(node("Gemm", [x, f"w{number}", f"b{number}"], "y" if last else f"t{number}"))
        if not last:
            nodes.append(node("Relu", [f"t{number}"], f"r{number}"))
        x = f"r{number}"
    return saved(folder, nodes, constants, [1, 5]), [1, 5]


def convolutional(folder: Path, rng: np.random.Generator) -> tuple[str, list[int]]:
    """Two convolutions with a residual sum, a LeakyRelu, pools, a concatenation and a product."""
    constants = {
        "k": rng.normal(size=(3, 2, 3, 3)), "kb": rng.normal(size=3), "l": rng.normal(size=(3, 3, 1, 1)) / 2,
        "w": rng.normal(size=(12, 4)) / 3,
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "k", "kb"], "c", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], "r"),
        node("Conv", ["r", "l"], "d"),
        node("Add", ["d", "r"], "s"),
        node("LeakyRelu", ["s"], "e", alpha=0.125),
        node("MaxPool", ["e"], "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("AveragePool", ["e"], "a", kernel_shape=[4, 4], strides=[4, 4]),
        node("GlobalAveragePool", ["e"], "g"),
        node("Concat", ["a", "g"], "j", axis=1),
        node("Flatten", ["j"], "jf"),
        node("Flatten", ["m"], "mf"),
        node("MatMul", ["mf", "w"], "p"),
        node("Concat", ["p", "jf"], "y", axis=1),
    ]
    return saved(folder, nodes, {n: a.astype(np.float32) for n, a in constants.items()}, [1, 2, 4, 4]), [1, 2, 4, 4]


FORMATS = [
    (form, per_channel, activations, weights)
    for form, per_channel, activations, weights in (
        ("QDQ", False, "QUInt8", "QInt8"), ("QDQ", True, "QInt8", "QInt8"), ("QDQ", False, "QInt16", "QInt16"),
        ("QDQ", True, "QUInt16", "QInt8"), ("QOperator", False, "QUInt8", "QInt8"),
        ("QOperator", True, "QUInt8", "QInt8"), ("QOperator", False, "QInt8", "QInt8"),
        ("QOperator", False, "QUInt8", "QUInt8"),
    )
]  # fmt: skip


@pytest.mark.part(8)
@pytest.mark.parametrize(("form", "per_channel", "activations", "weights"), FORMATS)
@pytest.mark.parametrize("make", [dense, convolutional])
def test_static_quantisation(
    tmp_path: Path,
    make: Callable[..., tuple[str, list[int]]],
    form: str,
    per_channel: bool,
    activations: str,
    weights: str,
) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization", reason="onnxruntime's quantisation needs more")
    rng = np.random.default_rng(3)
    path, shape = make(tmp_path, rng)

    class Samples(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self._samples: Iterator[dict[str, Any]] = iter(
                [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(20)]
            )

        def get_next(self) -> dict[str, Any] | None:
            return next(self._samples, None)

    types, made = quantization.QuantType, str(tmp_path / "quantised.onnx")
    quantization.quantize_static(
        path,
        made,
        Samples(),
        quant_format=quantization.QuantFormat[form],
        per_channel=per_channel,
        activation_type=types[activations],
        weight_type=types[weights],
        reduce_range=form == "QOperator",  # so that processors without VNNI sum right
        extra_options={"UseQDQContribOps": activations.endswith("16")},
    )
    operators = {n.op_type for n in onnx.load(made).graph.node}
    assert any(name.startswith(("QLinear", "QGemm") if form == "QOperator" else "Quantize") for name in operators)
    network = read_network(made)
    points = rng.normal(size=(200, network.input_size)).astype(np.float32).astype(float)
    session = Session(network)
    if activations.endswith("16"):  # float32 cannot tell which of so many levels it is
        expected = np.array([session.run(point) for point in points])
        assert np.allclose(network.evaluate(points), expected, atol=1e-3)
        return
    clear = clear_of_thresholds(network, points)
    assert clear.mean() > 0.7
    expected = np.array([session.run(point) for point in points[clear]])
    assert np.allclose(network.evaluate(points[clear]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", [0.1, 0.3, 1 / 3, 0.0078431])
def test_runtimes_differ_only_at_thresholds(tmp_path: Path, scale: float) -> None:
    """The float32 quotient decides there; it is within its rounding of the rational one, as the inputs next to ties."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], "q"), node("DequantizeLinear", ["q", "s", "z"], "y")]
    number = np.float32(scale)
    ties = (np.arange(-100, 101, dtype=np.float32) + np.float32(0.5)) * number
    points = np.concatenate([ties, np.nextafter(ties, np.float32(9)), np.nextafter(ties, np.float32(-9))])
    path = saved(tmp_path, nodes, {"s": number, "z": np.int8(3)}, [1, len(points)])
    network = read_network(path)
    found = network.evaluate_exact([Fraction(x) for x in points.astype(float).tolist()])
    assert all(low == high for low, high in found)
    levels = np.array([float(low) for low, _ in found]) / float(number)
    expected = Session(network).run(points.astype(float)) / float(number)
    apart = np.abs(levels - expected) > 0.5
    quotient = points.astype(float) / float(number)
    distance = np.abs(quotient - np.floor(quotient) - 0.5)
    assert (distance[apart] <= np.abs(quotient[apart]) * 2.0**-23).all()
    assert (np.abs(levels - expected) < 1.5).all()


@pytest.mark.parametrize("layer", ["Gemm", "Conv", "MatMul", "MatMul and Add"])
@pytest.mark.parametrize("between", ["", "Relu"])
def test_weights_that_onnxruntime_quantises_by_itself(tmp_path: Path, layer: str, between: str) -> None:
    """A default session answers something else there: said in a note, which the file itself agrees with."""
    rng = np.random.default_rng(0)
    shape = [1, 6, 1, 1] if layer == "Conv" else [1, 6]
    weight = rng.normal(size=(4, 6, 1, 1) if layer == "Conv" else (6, 4)).astype(np.float32)
    constants = {"s": np.float32(0.05), "z": np.uint8(128), "t": np.float32(0.1), "w": weight}
    if layer == "MatMul and Add":
        constants["c"] = rng.normal(size=4).astype(np.float32)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "d"),
        *(
            [node(layer, ["d", "w"], "m")]
            if layer != "MatMul and Add"
            else [node("MatMul", ["d", "w"], "p"), node("Add", ["p", "c"], "m")]
        ),
        *([node(between, ["m"], "r")] if between else []),
        node("QuantizeLinear", ["r" if between else "m", "t", "z"], "e"),
        node("DequantizeLinear", ["e", "t", "z"], "y"),
    ]
    network = read_network(saved(tmp_path, nodes, constants, shape))
    points = rng.normal(size=(200, 6)).astype(np.float32).astype(float) * 2
    points = points[clear_of_thresholds(network, points)]
    plain, rewritten = Session(network), Session(network, rewritten=True)
    answers = [np.array([session.run(point) for point in points]) for session in (plain, rewritten)]
    assert np.allclose(answers[0], network.evaluate(points), atol=1e-5)
    said = any("real numbers between quantisers" in note for note in network.notes)
    assert said == (np.abs(answers[1] - answers[0]) > 1e-3).any() == (layer != "MatMul")
    # Read by another node too, or with weights of levels, it is left as it is.
    nodes[-1].output[0] = "o"
    both = [*nodes, node("Identity", ["m"], "i"), node("Add", ["o", "i"], "y")]
    other = read_network(saved(tmp_path, both, constants, shape))
    assert not any("between quantisers" in note for note in other.notes)


@pytest.mark.parametrize("scale", ["one", "of each column"])
@pytest.mark.parametrize("bias", ["real", "of multiples", "of levels"])
@pytest.mark.parametrize("layer", ["Gemm", "Conv"])
def test_a_bias_that_onnxruntime_rounds_by_itself(tmp_path: Path, layer: str, bias: str, scale: str) -> None:
    """A default session answers another level now and then: said in a note, which the file itself agrees with."""
    rng = np.random.default_rng(0)
    of_weights = np.array([0.25, 0.5, 0.25, 0.125], np.float32) if scale == "of each column" else np.float32(0.25)
    step = np.float32(0.5) * np.broadcast_to(of_weights, 4)
    levels = rng.integers(-9, 10, 4)
    constants: dict[str, Any] = {
        "s": np.float32(0.5), "z": np.uint8(128), "t": np.float32(1 / 16), "e": of_weights,
        "l": rng.integers(-5, 6, (4, 6, 1, 1) if layer == "Conv" else (4, 6)).astype(np.int8),
        "n": levels.astype(np.int32), "f": step,
        "b": (levels * step + (0.06 if bias == "real" else 0)).astype(np.float32),
    }  # fmt: skip
    attributes = {"transB": 1} if layer == "Gemm" else {}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "d"),
        node("DequantizeLinear", ["l", "e"], "w", axis=0),
        *([node("DequantizeLinear", ["n", "f"], "b", axis=0)] if bias == "of levels" else []),
        node(layer, ["d", "w", "b"], "m", **attributes),
        node("QuantizeLinear", ["m", "t", "z"], "g"),
        node("DequantizeLinear", ["g", "t", "z"], "y"),
    ]
    if bias == "of levels":
        del constants["b"]
    network = read_network(saved(tmp_path, nodes, constants, [1, 6, 1, 1] if layer == "Conv" else [1, 6]))
    points = rng.integers(-8, 9, (40, 6)) / 2
    plain, rewritten = Session(network), Session(network, rewritten=True)
    answers = [np.array([session.run(point) for point in points]) for session in (plain, rewritten)]
    assert np.array_equal(answers[0], network.evaluate(points))
    said = any("its bias is real numbers between quantisers" in note for note in network.notes)
    assert said == (answers[1] != answers[0]).any() == (bias == "real")


@pytest.mark.parametrize("kinds", ["uint8", "int8", "int16", "uint8 int8", "int8 uint8", "uint8 int16"])
@pytest.mark.parametrize("step", [1 / 255, 1 / 256, 0.0031, 1 / 127])
def test_a_softmax_that_onnxruntime_computes_on_levels(tmp_path: Path, step: float, kinds: str) -> None:
    """A default session answers another level at many points, unless one over the step is whole."""
    before, after = (np.dtype(kind).type for kind in (kinds.split() * 2)[:2])
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "d"),
        node("Softmax", ["d"], "p", axis=-1),
        node("QuantizeLinear", ["p", "t", "u"], "g"),
        node("DequantizeLinear", ["g", "t", "u"], "y"),
    ]
    zeros = {"z": before(0), "u": after(np.iinfo(after).min if after is np.int8 else 0)}
    constants: dict[str, Any] = {"s": np.float32(1 / 32), "t": np.float32(step), **zeros}
    network = read_network(saved(tmp_path, nodes, constants, [1, 4], opset=21))
    points = np.random.default_rng(0).integers(0, 100, (200, 4)) / 32
    plain, rewritten = Session(network), Session(network, rewritten=True)
    answers = [np.array([session.run(point) for point in points]) for session in (plain, rewritten)]
    said = any("one over the step of its result" in note for note in network.notes)
    assert said == ((np.abs(answers[1] - answers[0]) > step / 2).any(axis=1).mean() > 0.1)
    assert said == ("16" not in kinds and step in (1 / 255, 0.0031))


def levels_of_weights(layer: str, inputs: str, weights: str) -> tuple[list[Any], dict[str, Any]]:
    """A product of 32 inputs, of levels or not, and weights of levels in one of several layouts.

    Weights have 7 bits, so that no processor cuts a sum of two products of bytes off.
    """
    rng = np.random.default_rng(1)
    scale, axis = {"blocks": ((2, 4), {"axis": 0, "block_size": 16}), "columns": ((4,), {"axis": 1})}.get(
        weights, ((), {})
    )
    constants: dict[str, Any] = {
        "w": rng.integers(-64, 64, (4, 32) if weights in ("turned", "transB") else (32, 4)).astype(np.int8),
        "s": rng.uniform(0.01, 0.02, scale).astype(np.float32), "t": np.float32(0.031), "b": np.ones(4, np.float32),
        "z": np.int16(0) if inputs == "16 bits" else np.int8(0),
    }  # fmt: skip
    made = {"real": "x", "relu": "r"}.get(inputs, "d")
    nodes = [node("Relu", ["x"], "r")] if inputs == "relu" else []
    if made == "d":
        nodes += [node("QuantizeLinear", ["x", "t", "z"], "q"), node("DequantizeLinear", ["q", "t", "z"], "d")]
    nodes.append(node("DequantizeLinear", ["w", "s"], "v", **axis))
    if weights == "turned":
        nodes.append(node("Transpose", ["v"], "u", perm=[1, 0]))
    factors = [made, "u" if weights == "turned" else "v"]
    if layer == "MatMul":
        return [*nodes, node("MatMul", factors, "y")], constants
    attributes = {"transB": 1} if weights == "transB" else {}
    return [*nodes, node("Gemm", [*factors, "b"], "y", **attributes)], constants


@pytest.mark.part(14)
@pytest.mark.parametrize("inputs", ["real", "relu", "8 bits", "16 bits"])
@pytest.mark.parametrize(
    ("layer", "weights"),
    [(layer, w) for layer in ("MatMul", "Gemm") for w in ("one", "columns", "blocks", "turned")] + [("Gemm", "transB")],
)
def test_inputs_that_onnxruntime_rounds_to_8_bits(tmp_path: Path, layer: str, weights: str, inputs: str) -> None:
    """A default session answers something else there: said in a note, which the file itself agrees with."""
    nodes, constants = levels_of_weights(layer, inputs, weights)
    network = read_network(saved(tmp_path, nodes, constants, [1, 32], opset=21))
    points = np.random.default_rng(0).normal(size=(20, 32)).astype(np.float32).astype(float)
    if "bits" in inputs:
        points = np.rint(points / float(np.float32(0.031))) * float(np.float32(0.031))
    plain, rewritten = Session(network), Session(network, rewritten=True)
    answers = [np.array([session.run(point) for point in points]) for session in (plain, rewritten)]
    assert np.allclose(answers[0], network.evaluate(points), atol=1e-4)
    said = any("rounds the inputs to 8 bits" in note for note in network.notes)
    assert said == (np.abs(answers[1] - answers[0]) > 1e-3).any()


def test_products_of_bytes_that_some_processors_cut_off(tmp_path: Path) -> None:
    """The exact sum is read, whatever onnxruntime makes of it here; weights of 7 bits are the same everywhere."""
    for largest in (64, 65):
        constants: dict[str, Any] = {
            "w": np.full((1, 8, 1, 1), largest, np.int8), "s": np.float32(1), "z": np.uint8(0), "n": np.int8(0),
            "t": np.float32(1024),
        }  # fmt: skip
        nodes = [
            node("QuantizeLinear", ["x", "s", "z"], "q"),
            node("QLinearConv", ["q", "s", "z", "w", "s", "n", "t", "z"], "c"),
            node("DequantizeLinear", ["c", "t", "z"], "y"),
        ]
        network = read_network(saved(tmp_path, nodes, constants, [1, 8, 1, 1]))
        assert network.in_pairs == any("7 bits" in note for note in network.notes) == (largest == 65)
        point = np.full((1, 8), 255.0)
        assert network.evaluate(point) == 1024 * round(8 * 255 * largest / 1024)
        if largest == 65 and pair_saturation.here():
            with pytest.raises(CannotRunError, match="16 bits"):
                Session(network)
        else:
            assert Session(network).run(point[0]) == network.evaluate(point)
