"""Every network of the shared folder: what is read agrees with onnxruntime.

Two comparisons. The original file, which onnxruntime computes in float32; and the same graph with its stored
weights widened to float64, which it then computes in float64. Either may be off by its rounding, bounded rigorously
by a forward pass with absolute values; the second bound is 2^29 times smaller, and no tolerance is tuned.

Four exports are refused by onnxruntime as they are: an input declared double beside float weights (two), an opset 6
Gemm, batch normalisations between transposes that turn the sample round. They run after the smallest repair that
keeps the function.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from breadth import some
from eqspec.errors import DisagreementError, NetworkError
from eqspec.networks import Network, read_network
from eqspec.networks.session import CannotRunError, Session
from unit.networks.models import run_onnxruntime
from unit.networks.thresholds import clear_of_thresholds

SINGLE, DOUBLE = 2.0**-24, 2.0**-53
NEEDS_REPAIR = {"acc_NET_2.onnx", "drones_AC1.onnx", "three_layer_bn_keras.onnx", "three_layer_bn_pytorch.onnx"}


def rounding_bound(network: Network, x: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """How far another evaluation may be off at x (I,): each layer's rounding, carried through the later layers."""
    values, error = x, np.abs(x) * unit
    for number, layer in enumerate(network.layers):
        size = np.abs(layer.weight) @ np.abs(values) + np.abs(layer.bias)
        steps = layer.weight.shape[1] + 8  # products, sums, bias, normalisations in front and behind
        error = np.abs(layer.weight) @ error + steps * unit * (size + np.abs(layer.weight) @ error)
        values = layer.weight @ values + layer.bias
        if number < len(network.layers) - 1:
            values = np.maximum(values, 0)
    return error


def repaired(path: Path) -> onnx.ModelProto:
    """The same function as a model that onnxruntime accepts, with a batch of one."""
    proto = onnx.load(path)
    graph = proto.graph
    del graph.value_info[:]
    graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    for value in (graph.input[0], graph.output[0]):
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    graph.output[0].type.tensor_type.ClearField("shape")
    proto.opset_import[0].version = max(proto.opset_import[0].version, 9)
    if any(node.op_type == "Transpose" for node in graph.node):
        names = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Transpose"}
        kept = [node for node in graph.node if node.op_type != "Transpose"]
        for node in kept:
            node.input[:] = [names.get(name, name) for name in node.input]
        del graph.node[:]
        graph.node.extend(kept)
    for node in graph.node:
        for attribute in [a for a in node.attribute if a.name in ("broadcast", "is_test", "spatial")]:
            node.attribute.remove(attribute)
    return proto


def samples(name: str, size: int) -> Iterator[NDArray[np.float32]]:
    random = np.random.default_rng(len(name))
    centre, spread = (0.5, 0.5) if size > 100 else (0.0, 2.0)
    if "rawinput" in name:
        centre, spread = 20000.0, 20000.0
    for _ in range(10):
        yield random.uniform(centre - spread, centre + spread, size).astype(np.float32)


def all_onnx(shared: Path) -> list[Path]:
    """Networks of affine layers and ReLU; those in `graphs` have more operators, see the last test."""
    return sorted(path for path in (shared / "data").rglob("*.onnx") if "graphs" not in path.parts)


def widened(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The same graph and weights in float64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(proto)
    constants = [a.t for node in wide.graph.node for a in node.attribute if a.name == "value"]
    for tensor in [*wide.graph.initializer, *constants]:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for value in [*wide.graph.input, *wide.graph.output, *wide.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return wide


def check(network: Network, x: NDArray[np.float64], expected: NDArray[Any], unit: float, name: str) -> None:
    actual = network.evaluate(x[None])[0]
    bound = rounding_bound(network, x, unit) + rounding_bound(network, x, DOUBLE)
    if network.stripped:  # a softmax moves by at most twice the largest change of its scores, and rounds
        actual, bound = np.exp(actual - actual.max()), np.full(actual.shape, 2 * bound.max() + 64 * unit)
        actual /= actual.sum()
    assert (np.abs(actual - expected.ravel()) <= bound).all(), name


def test_every_network_agrees_with_onnxruntime(shared: Path) -> None:
    files = all_onnx(shared)
    assert len(files) >= 36
    for path in files:
        network = read_network(str(path))
        narrow = repaired(path) if path.name in NEEDS_REPAIR else onnx.load(path)
        wide = widened(narrow)
        shape = [d.dim_value for d in narrow.graph.input[0].type.tensor_type.shape.dim]
        for x in samples(path.name, network.input_size):
            point = x.astype(np.float64)
            check(network, point, run_onnxruntime(narrow, x.reshape(shape)), SINGLE, path.name)
            check(network, point, run_onnxruntime(wide, point.reshape(shape)), DOUBLE, path.name)


def test_the_bound_of_the_wide_comparison_is_small(shared: Path) -> None:
    for path in all_onnx(shared):
        network = read_network(str(path))
        points = [x.astype(np.float64) for x in samples(path.name, network.input_size)]
        outputs = np.abs(network.evaluate(np.array(points))).max()
        assert max(rounding_bound(network, x, DOUBLE).max() for x in points) < 1e-6 * max(1.0, outputs), path.name


def test_ordinary_networks_carry_no_error(shared: Path) -> None:
    folded = {
        path.name
        for path in all_onnx(shared)
        if any(layer.weight_error is not None for layer in read_network(path).layers)
    }
    assert folded == {
        "ACASXU_1_1_rawinput_subdiv_muladd.onnx",
        "jet_3layer_bn_explicit.onnx",
        "three_layer_bn_keras.onnx",
        "three_layer_bn_pytorch.onnx",
    }


def test_shapes_and_softmax(shared: Path) -> None:
    folder = shared / "data"
    lhc = read_network(folder / "lhc" / "2_80-1.onnx")
    assert [layer.weight.shape for layer in lhc.layers] == [(40, 16), (40, 40), (5, 40)]
    assert lhc.stripped == "softmax"
    assert lhc.input_shape == (1, 16)
    mnist = read_network(folder / "mnist" / "mnist_relu_3_100.onnx")
    assert [layer.weight.shape for layer in mnist.layers] == [(100, 784), (100, 100), (10, 100), (10, 10)]
    assert mnist.stripped is None
    odd = read_network(folder / "onnx_exports" / "three_layer_bn_pytorch.onnx")
    assert odd.input_size == 16
    assert any("789444" in note for note in odd.notes)


def test_explicit_and_folded_normalisation_are_one_function(shared: Path) -> None:
    """The folded file was rounded to float32 by its exporter: its numbers lie that close to the exactly folded ones."""
    folder = shared / "data" / "onnx_exports"
    explicit, folded = (
        read_network(folder / "jet_3layer_bn_explicit.onnx"),
        read_network(folder / "jet_3layer_bn_folded.onnx"),
    )
    for a, b in zip(explicit.layers, folded.layers, strict=True):
        assert a.weight_error is not None
        assert (np.abs(a.weight - b.weight) <= a.weight_error + 4 * SINGLE * np.abs(b.weight)).all()
        assert a.weight_error.max() < 1e-12
    widened = [
        type(b)(b.weight, b.bias, np.abs(b.weight) * 2**-22, np.abs(b.bias) * 2**-22 + np.abs(b.weight).max() * 2**-22)
        for b in folded.layers
    ]
    wide = Network.of_layers(tuple(widened), folded.source, folded.sha256)
    random = np.random.default_rng(0)
    for _ in range(5):
        point = [Fraction(int(n), 97) for n in random.integers(-200, 200, 16)]
        for (low, high), (wide_low, wide_high) in zip(
            explicit.evaluate_exact(point), wide.evaluate_exact(point), strict=True
        ):
            assert high - low < Fraction(1, 10**8)
            assert low <= wide_high
            assert wide_low <= high


def test_the_nnet_file_is_the_twin_of_its_onnx(shared: Path) -> None:
    """Both hold the same weights, one as decimals, one as float32: without normalisation of inputs or outputs."""
    text = read_network(shared / "data" / "onnx_exports" / "ACASXU_run2a_1_1_batch_2000.nnet")
    twin = read_network(shared / "data" / "acas" / "nets" / "ACASXU_run2a_1_1_batch_2000.onnx")
    assert len(text.layers) == len(twin.layers) == 7
    for a, b in zip(text.layers, twin.layers, strict=True):
        assert np.array_equal(a.weight.astype(np.float32), b.weight)
        assert np.array_equal(a.bias.astype(np.float32), b.bias)
    assert "60261" in text.notes[0]


def test_networks_with_more_operators_are_read_or_refused_by_name(shared: Path) -> None:
    """What is read agrees with onnxruntime, which is asked wherever a file is read; what is not says why."""
    files = sorted((shared / "data" / "graphs").rglob("*.onnx"))
    assert len(files) >= 30
    refused: dict[str, NetworkError] = {}
    for path in some(files, 12):
        try:
            read_network(path)
        except NetworkError as problem:
            refused[path.name] = problem
    assert not [name for name, problem in refused.items() if isinstance(problem, DisagreementError)]
    assert all(problem.fix for problem in refused.values())


QUANTISED = (
    "hls4ml/bnn_model_fc_1layer*", "mlperf_tiny/*ToyCar_quant*", "qonnx/TFC*", "qonnx/*model*", "qonnx/qkeras*",
    "stm32/*int8*",
)  # fmt: skip


@pytest.mark.parametrize("pattern", QUANTISED)
def test_quantised_networks_are_run_alike(shared: Path, pattern: str) -> None:
    """By onnxruntime, or by qonnx what it does not know; wherever no value is next to a threshold."""
    files = sorted((shared / "data" / "graphs").glob(pattern))
    assert files
    for path in files:
        network, random = read_network(path), np.random.default_rng(0)
        points = random.normal(size=(50, network.input_size)) * np.exp2(random.integers(-3, 5, (50, 1)))
        points = points.astype(np.float32).astype(float)
        clear = clear_of_thresholds(network, points)
        assert clear.mean() > 0.3
        found = network.evaluate(points)
        try:
            session = Session(network)
            expected = np.array([session.run(point) for point in points])
        except CannotRunError:
            points, found, clear = points[:4], found[:4], clear[:4]
            expected = run_by_qonnx(path, network, points)
        assert np.allclose(found[clear], expected[clear], rtol=1e-5, atol=1e-5)
        exactly = network.evaluate_exact([Fraction(x) for x in points[0].tolist()])
        assert np.allclose([float(low) for low, _ in exactly], found[0], rtol=1e-6, atol=1e-6)


def run_by_qonnx(path: Path, network: Network, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores at points in qonnx's executor, in front of a Softmax that was left out."""
    execution = pytest.importorskip("qonnx.core.onnx_exec", reason="qonnx is not installed")
    cleanup = pytest.importorskip("qonnx.util.cleanup", reason="qonnx is not installed").cleanup_model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapper = pytest.importorskip("qonnx.core.modelwrapper").ModelWrapper
        model = cleanup(wrapper(str(path)))
    name, wanted = model.graph.input[0].name, model.graph.output[0].name
    if network.stripped:
        wanted = next(node.input[0] for node in model.graph.node if node.op_type == "Softmax")
    made = []
    for point in points:
        given = {name: point.astype(np.float32).reshape(model.get_tensor_shape(name))}
        values = execution.execute_onnx(model, given, return_full_exec_context=True)
        made.append(values[wanted].reshape(-1).astype(float))
    return np.array(made)
