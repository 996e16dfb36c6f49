"""Networks derived in integers, against onnxruntime on their exported files, and against its own quantiser."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from eqspec.errors import DerivationError
from eqspec.networks import AffineLayer, Network, as_network, compose_affine, read_network
from eqspec.networks.deriving import Integers, calibrate, derive, exported
from eqspec.networks.program import content
from eqspec.networks.session import Session
from unit.networks.deriving.models import GRAPHS, Graph, dense, image
from unit.networks.deriving.test_fixed_point import chain

Array = NDArray[np.float64]


def _rows(network: Network, count: int = 40) -> Array:
    """Inputs in float32, in and beyond what networks are calibrated at."""
    random = np.random.default_rng(0)
    return np.asarray(random.normal(size=(count, network.input_size)).astype(np.float32), np.float64)


def _run(network: Network, points: Array) -> Array:
    session = Session(network)
    return np.array([session.run(point) for point in points])


@pytest.mark.part(12)
@pytest.mark.parametrize(
    "precision", [Integers(4), Integers(8), Integers(8, True), Integers(16, True)], ids=lambda p: p.text
)
@pytest.mark.parametrize("name", GRAPHS)
def test_onnxruntime_answers_the_same(name: str, precision: Integers) -> None:
    """Up to rounding in float32 where no value lies near a threshold, which is nearly everywhere."""
    network = as_network(GRAPHS[name]().model())
    rows = _rows(network)
    derived = derive(network, precision, rows)
    assert (derived.stripped, derived.input_size, derived.output_size) == (
        network.stripped, network.input_size, network.output_size,
    )  # fmt: skip
    points = np.concatenate([rows, rows * 2.0])
    expected, found = _run(derived, points), derived.evaluate(points)
    size = np.abs(expected).max()
    near = np.isclose(expected, found, rtol=1e-6, atol=1e-6 * size)
    # Averages of four levels often lie on a threshold; and the more bits, the closer thresholds are to all numbers.
    assert near.mean() > (0.5 if precision.bits == 16 else 0.9 if name == "image" else 0.98)
    np.testing.assert_allclose(expected, found, rtol=0, atol=size * 4 / 2**precision.bits)


@pytest.mark.parametrize("name", GRAPHS)
def test_more_bits_come_nearer_to_the_float_network(name: str) -> None:
    network = as_network(GRAPHS[name]().model())
    rows = _rows(network)
    wanted = network.evaluate(rows)
    size = np.abs(wanted).max()
    errors = [np.abs(derive(network, Integers(bits), rows).evaluate(rows) - wanted).max() for bits in (5, 10, 15)]
    assert errors[0] < size
    assert errors[1] < errors[0] / 4
    assert errors[2] < errors[1] / 4


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, rows: list[NDArray[Any]]) -> None:
        self._rows = iter([{"x": row} for row in rows])

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        return next(self._rows, None)


def _two_layers() -> Graph:
    graph = Graph(("batch", 4), 7, 3)
    graph.then("Gemm", graph.drawn(6, 4), graph.drawn(6), transB=1).then("Relu")
    return graph.then("Gemm", graph.drawn(6, 3), graph.drawn(3))


def _convolutions() -> Graph:
    graph = Graph((1, 2, 6, 6), 6, 2)
    graph.then("Conv", graph.drawn(3, 2, 3, 3), graph.drawn(3)).then("Relu")
    graph.then("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).then("Conv", graph.drawn(4, 3, 2, 2), graph.drawn(4))
    return graph.then("Flatten").then("Gemm", graph.drawn(4, 2), graph.drawn(2))


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("graph", [_two_layers, _convolutions])
def test_the_quantiser_of_onnxruntime_decides_the_same(graph: Any, per_channel: bool, tmp_path: Path) -> None:
    model = graph().model()
    network = as_network(model)
    rows = _rows(network)
    shape = [d.dim_value or 1 for d in model.graph.input[0].type.tensor_type.shape.dim]
    given = [row.astype(np.float32).reshape(shape) for row in rows]
    onnx.save(model, tmp_path / "float.onnx")
    quantize_static(
        tmp_path / "float.onnx", tmp_path / "q.onnx", _Reader(given), quant_format=QuantFormat.QDQ,
        per_channel=per_channel, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    theirs, ours = read_network(tmp_path / "q.onnx"), derive(network, Integers(8, per_channel), rows)
    their_scales, their_zeros = zip(*_quantisers(onnx.load(tmp_path / "q.onnx")), strict=True)
    our_scales, our_zeros = zip(*_quantisers(_model(ours)), strict=True)
    assert their_scales == pytest.approx(our_scales, rel=1e-6)
    assert their_zeros == our_zeros
    wanted, found = theirs.evaluate(rows), ours.evaluate(rows)
    assert np.isclose(wanted, found, rtol=1e-5, atol=1e-6).mean() > 0.95
    np.testing.assert_allclose(wanted, found, atol=np.abs(wanted).max() / 40)


def _model(network: Network) -> onnx.ModelProto:
    assert network.content is not None
    return onnx.load_model_from_string(network.content)


def _quantisers(model: onnx.ModelProto) -> list[tuple[float, int]]:
    """Scale and zero point of everything that depends on the input, each once."""
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    found = [node.input for node in model.graph.node if node.op_type == "QuantizeLinear"]
    return sorted({(float(tensors[scale]), int(tensors[zero])) for _, scale, zero in found})


def test_powers_of_two_agree_bit_for_bit_with_onnxruntime() -> None:
    """All scales are powers of two, so that float32 rounds nothing: calibrated where every value is 2^k x of one x.

    Each row of weights adds up to 2, the largest being 127/64. So equal inputs x = -1 .. 127/128 give the ends of a
    range of 255 steps behind every layer, and scales 1/128, 1/64, 1/32.
    """
    random = np.random.default_rng(0)
    graph = Graph(("batch", 3), 0, 4)
    for _ in range(2):
        weights = random.integers(-60, 60, size=(4 if graph.nodes else 3, 4))
        weights[0] = 127
        weights[-1] = 128 - weights[:-1].sum(axis=0)
        assert np.abs(weights).max() <= 127
        graph.then("Gemm", weights / 64.0, random.integers(-9, 9, 4) * 0.0)
    network = as_network(graph.model())
    derived = derive(network, Integers(8), np.array([[-1.0] * 3, [127 / 128] * 3]))
    assert _quantisers(_model(derived)) == [(1 / 128, 128), (1 / 64, 128), (1 / 32, 128)]
    on_ties = random.integers(-260, 260, size=(400, 3)) / 256.0
    points = np.concatenate([on_ties, _rows(network, 200)])
    np.testing.assert_array_equal(_run(derived, points), derived.evaluate(points))


@pytest.mark.parametrize("bits", [3, 6])
def test_files_of_other_widths_are_those_of_qonnx(bits: int) -> None:
    wrapper = pytest.importorskip("qonnx.core.modelwrapper", reason="qonnx is not installed")
    execution = pytest.importorskip("qonnx.core.onnx_exec")
    network = as_network(dense().model())
    derived = derive(network, Integers(bits), _rows(network))
    model = _model(derived)
    for end in (model.graph.input[0], model.graph.output[0]):
        end.type.tensor_type.shape.dim[0].dim_value = 1
    shapes = pytest.importorskip("qonnx.transformation.infer_shapes")
    wrapped = wrapper.ModelWrapper(model).transform(shapes.InferShapes())
    for point in _rows(network, 6):
        given = {"x": point.astype(np.float32)[None]}
        (found,) = execution.execute_onnx(wrapped, given).values()
        np.testing.assert_allclose(found, derived.evaluate(point[None]), rtol=1e-5, atol=1e-6)


def test_rows_lie_within_the_range_of_the_input() -> None:
    """So a network that hands its input on misses it by half a step at most, and twice: at both of its quantisers."""
    network = as_network(Graph(("batch", 3), 0, 3).then("Gemm", np.eye(3)).model())
    rows = _rows(network, 100)
    for bits in (2, 3, 8, 12):
        step = (rows.max() - rows.min()) / (2**bits - 1)
        found = derive(network, Integers(bits), rows).evaluate(rows)
        assert np.abs(found - rows).max() <= 1.01 * step
    assert np.abs(derive(network, Integers(8), rows[:5]).evaluate(rows) - rows).max() > 2 * step


def test_the_exported_file_is_the_derived_network(tmp_path: Path) -> None:
    network = as_network(image().model())
    rows = _rows(network)
    digests = set()
    for bits in (4, 6, 8, 16):
        derived = derive(network, Integers(bits), rows)
        (written := tmp_path / f"q{bits}.onnx").write_bytes(exported(network, Integers(bits), rows))
        read = read_network(written)
        assert read.sha256 == derived.sha256
        assert b"".join(content(read.steps)) == b"".join(content(derived.steps))
        digests.add(derived.sha256)
        onnx.checker.check_model(str(written))
    digests |= {derive(network, Integers(8), rows[:9]).sha256, derive(network, Integers(8, True), rows).sha256}
    assert len(digests) == 6


def test_ranges_stand_for_the_rows_that_they_were_found_at() -> None:
    network, other = as_network(image().model()), as_network(dense().model())
    rows = _rows(network)
    ranges = calibrate(network, rows)
    assert all(least <= most for least, most in ranges.values())
    assert ranges["x"] == (rows.min(), rows.max())
    meeting = as_network(Graph(("batch", 4), 0, 1).then("ReduceMean", axes=[0, 1]).model())
    (_, ends) = calibrate(meeting, rows[:, :4]).values()
    assert ends == pytest.approx((rows[:, :4].mean(axis=1).min(), rows[:, :4].mean(axis=1).max()), rel=1e-5)
    for precision in (Integers(5), Integers(8, True)):
        assert derive(network, precision, dict(ranges)).sha256 == derive(network, precision, rows).sha256
    with pytest.raises(DerivationError, match="there is no range of"):
        derive(network, Integers(8), calibrate(other, _rows(other)))
    for ends in ((1.0, 0.0), (np.nan, 1.0), (0.0, np.inf)):
        with pytest.raises(DerivationError, match="the range of 'x' is"):
            derive(network, Integers(8), {**ranges, "x": ends})


@pytest.mark.parametrize("name", GRAPHS)
def test_many_rows_have_the_range_of_each_by_itself(name: str) -> None:
    """Files of one sample are run with many rows at once where that makes sense: not where they reshape to one."""
    network = as_network(GRAPHS[name]().model())
    rows = _rows(network, 100)
    together = calibrate(network, rows)
    apart = [calibrate(network, rows[begin : begin + 50]) for begin in (0, 50)]
    for value, ends in together.items():
        found = [one[value] for one in apart]
        expected = min(least for least, _ in found), max(most for _, most in found)
        assert ends == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_chains_without_a_file_are_quantised() -> None:
    network = chain(3, 4, 5, 2)
    rows = _rows(network)
    derived = derive(network, Integers(16), rows)
    np.testing.assert_allclose(derived.evaluate(rows), network.evaluate(rows), atol=1e-2)
    rounded = AffineLayer(np.eye(2), np.zeros(2), np.full((2, 2), 1e-9))
    with pytest.raises(DerivationError, match="no ONNX model of it, and none can be written"):
        derive(Network.of_layers([rounded], "folded", "0" * 64), Integers(8), np.zeros((1, 2)))


def test_a_bias_of_more_than_32_bits_raises_the_scale_of_weights() -> None:
    graph = Graph((1, 2), 0, 2).then("Gemm", np.array([[1e-6, 2e-6], [0.0, 1e-6]]), np.array([3e4, -2e4]))
    network = as_network(graph.model())
    rows = _rows(network)
    for precision in (Integers(16), Integers(16, True)):
        derived = derive(network, precision, rows)
        np.testing.assert_allclose(derived.evaluate(rows), network.evaluate(rows), rtol=1e-4)


def test_values_that_are_always_0_are_quantised() -> None:
    graph = Graph((1, 2), 0, 1).then("Gemm", np.zeros((2, 3)), np.zeros(3)).then("Relu").then("Gemm", np.ones((3, 1)))
    derived = derive(as_network(graph.model()), Integers(8, True), np.zeros((1, 2)))
    np.testing.assert_array_equal(derived.evaluate(np.array([[1.0, -9.0]])), [[0.0]])


def test_rows_that_cannot_calibrate_are_refused() -> None:
    network = chain(1, 2, 2)
    for rows, message in (
        (None, "nothing is given to calibrate them at"),
        (np.empty((0, 2)), "there are 0 rows"),
        (np.zeros((3, 4)), r"rows of shape \(3, 4\) are given, it takes \(N, 2\)"),
        (np.zeros(2), "rows of shape"),
        (np.array([[0.0, 1.0], [np.nan, 0.0]]), "row 1 holds numbers that are not finite"),
        (np.array([[1e39, 0.0]]), "not finite"),
    ):
        with pytest.raises(DerivationError, match=message) as refused:
            derive(network, Integers(8), rows)
        assert refused.value.fix


def test_networks_that_are_not_those_of_their_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "float.onnx"
    onnx.save(dense().model(), path)
    network = read_network(path)
    rows = _rows(network)
    normalised = compose_affine(network, [Fraction(1, 2)] * 4, [Fraction(1)] * 4)
    with pytest.raises(DerivationError, match="not the one of its file any more"):
        derive(normalised, Integers(8), rows)
    onnx.save(image().model(), path)
    with pytest.raises(DerivationError, match="the file has changed since it was read"):
        derive(network, Integers(8), rows)
    path.unlink()
    with pytest.raises(Exception, match="no such file"):
        derive(network, Integers(8, True), rows + 1.0)


def test_nodes_that_are_not_quantised_are_named() -> None:
    graph = Graph((1, 3), 0, 3)
    graph.then("Gemm", graph.drawn(3, 3), alpha=2.0)
    with pytest.raises(DerivationError, match=r"a Gemm with alpha or transA \(operator 'Gemm', node 'nv0'\)"):
        derive(as_network(graph.model()), Integers(8), np.zeros((1, 3)))
    graph = Graph((1, 3), 0, 3).then("Exp")
    with pytest.raises(DerivationError, match=r"not quantised to integers \(operator 'Exp', node 'nv0'\)"):
        derive(as_network(graph.model()), Integers(8), np.zeros((1, 3)))
    short = Graph((1, 3), 0, 3).then("Relu").model()
    short.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    short.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    with pytest.raises(DerivationError, match="input 'x' holds float16"):
        derive(as_network(short), Integers(8), np.zeros((1, 3)))


PARTS = ("weight", "bias", "factor", "shift", "scaled", "scale", "zero_point", "quantized", "dequantized", "float")


@pytest.mark.parametrize("name", ["image", "products", "branches"])
def test_names_that_a_file_has_already_are_left_to_it(name: str) -> None:
    """Constants and the input are called as what deriving makes may be: weights `v3_weight` behind a layer `v3`."""
    plain = GRAPHS[name]().model()
    network = as_network(plain)
    rows = _rows(network, 12)
    values = [node.output[0] for node in plain.graph.node]
    names = [f"{value}_{part}" for part in PARTS for value in values]
    for seed, bits in enumerate((8, 5)):
        random = np.random.default_rng(seed)
        expected = derive(network, Integers(bits), rows).evaluate(rows)
        model = onnx.ModelProto.FromString(plain.SerializeToString())
        constants = [tensor.name for tensor in model.graph.initializer]
        chosen = names[: len(constants)] if seed == 0 else list(random.choice(names, len(constants), replace=False))
        new = {**dict(zip(constants, map(str, chosen), strict=True)), "x": f"bias of {random.choice(values)}"}
        for tensor in (*model.graph.initializer, *model.graph.input):
            tensor.name = new[tensor.name]
        for node in model.graph.node:
            node.input[:] = [new.get(one, one) for one in node.input]
        derived = derive(as_network(model), Integers(bits), rows)
        np.testing.assert_array_equal(derived.evaluate(rows), expected)


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["hls4ml/three_layer_keras__0f9e0c", "stm32/stm32_WISDM_ign_wl_24", "hls4ml/hls4ml_jetTagger_Conv2D_Small"]
)
def test_real_networks_are_quantised(name: str, shared: Path) -> None:
    network = read_network(shared / f"data/graphs/{name}.onnx")
    rows = _rows(network, 20)
    derived = derive(network, Integers(8, True), rows)
    wanted, size = network.evaluate(rows), np.abs(network.evaluate(rows)).max()
    assert np.abs(derived.evaluate(rows) - wanted).max() < 0.1 * size
    assert np.isclose(_run(derived, rows), derived.evaluate(rows), rtol=1e-5, atol=1e-6 * size).mean() > 0.9
