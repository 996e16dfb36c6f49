"""Quant, BipolarQuant and Trunc against qonnx's own functions, ties and ends included, and against rationals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from eqspec.property import NeverSaturates
from eqspec.tasks.verdict import Verdict
from unit.networks.models import model, node, save

DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
MODES = ("ROUND", "HALF_EVEN", "HALF_UP", "HALF_DOWN", "CEIL", "FLOOR", "UP", "DOWN", "round")
TIES = np.arange(-72, 73, dtype=np.float32) / 32
"""Multiples of an eighth of the scale below: thresholds of every rounding are among them."""
SCALE = 0.25


def read(
    folder: Path, nodes: Sequence[Any], constants: dict[str, NDArray[Any]], *shape: int, domain: str = DOMAINS[0]
) -> Network:
    made = model(nodes, {k: np.asarray(v) for k, v in constants.items()}, list(shape))
    made.opset_import.append(helper.make_opsetid(domain, 1))
    return read_network(save(folder, made))


def numbers(**named: Any) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(value, np.float32) for name, value in named.items()}


def exactly(network: Network, point: NDArray[Any]) -> NDArray[np.float64]:
    """The outputs at a point, which have to be single numbers."""
    found = network.evaluate_exact([Fraction(float(x)) for x in point.reshape(-1)])
    assert all(low == high for low, high in found)
    return np.array([float(low) for low, _ in found])


def qonnx(name: str) -> Any:
    return pytest.importorskip(f"qonnx.custom_op.general.{name}", reason="qonnx is not installed")


def int_quant(x: Any, scale: float, zero: float, bits: int, signed: int, narrow: int, mode: str) -> Any:
    return qonnx("intquant").int_quant(x, *map(np.float64, (scale, zero, bits)), signed, narrow, mode)


@pytest.mark.part(16)
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("narrow", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_quant_on_ties_and_at_ends(tmp_path: Path, mode: str, signed: int, narrow: int) -> None:
    zeros, widths = (0.0, 1.0, -2.0, 0.5, 0.375), (2, 3, 8)
    parameters = numbers(s=SCALE, z=np.reshape(zeros, (1, -1, 1, 1)), b=np.reshape(widths, (1, 1, -1, 1)))
    kind = {"signed": signed, "narrow": narrow, "rounding_mode": mode}
    nodes = [node("Quant", ["x", "s", "z", "b"], "y", domain=DOMAINS[0], **kind)]
    shape = (1, len(zeros), len(widths), len(TIES))
    network = read(tmp_path, nodes, parameters, *shape)
    found = exactly(network, np.broadcast_to(TIES, shape)).reshape(shape)
    expected = [[int_quant(TIES.astype(float), SCALE, z, b, signed, narrow, mode) for b in widths] for z in zeros]
    assert np.array_equal(found[0], expected)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("operator", ["Quant", "IntQuant"])
def test_one_bit(tmp_path: Path, domain: str, operator: str) -> None:
    for zero in (0.0, 0.5, -1.0):
        nodes = [node(operator, ["x", "s", "z", "b"], "y", domain=domain, signed=1, narrow=0, rounding_mode="ROUND")]
        network = read(tmp_path, nodes, numbers(s=SCALE, z=zero, b=1), 1, len(TIES), domain=domain)
        expected = int_quant(TIES.astype(float), SCALE, zero, 1, 1, 0, "ROUND")
        assert np.array_equal(exactly(network, TIES), expected)


def test_a_scale_of_whole_numbers(tmp_path: Path) -> None:
    """As the converter of QKeras writes that of binary weights."""
    nodes = [node("Quant", ["x", "s", "z", "b"], "y", domain=DOMAINS[0], signed=1, narrow=0, rounding_mode="ROUND")]
    parameters = {**numbers(z=0.0, b=4), "s": np.array(2, np.int64)}
    network = read(tmp_path, nodes, parameters, 1, len(TIES))
    assert np.array_equal(exactly(network, TIES), 2.0 * np.clip(np.rint(TIES.astype(float) / 2.0), -8, 7))


def test_bipolar(tmp_path: Path) -> None:
    scales = np.array([0.5, 0.3], np.float32)
    nodes = [node("BipolarQuant", ["x", "s"], "y", domain=DOMAINS[1])]
    network = read(tmp_path, nodes, {"s": scales[:, None]}, 1, 2, len(TIES), domain=DOMAINS[1])
    found = exactly(network, np.broadcast_to(TIES, (2, len(TIES)))).reshape(2, -1)
    expected = [qonnx("bipolar_quant").binary_quant(TIES.astype(float), s) for s in scales.astype(float)]
    assert np.array_equal(found, expected)
    assert found[0, TIES == 0.0] == 0.5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("coarser", [-2, 0, 1, 3])
def test_trunc(tmp_path: Path, mode: str, coarser: int) -> None:
    """Behind a Quant of 8 bits, so that what is truncated is bounded; on its grid, and off it by a fraction. Finer
    outputs, which Brevitas gives averages, have few bits here, so that many are cut off.
    """
    bits = 8 - coarser if coarser >= 0 else 5
    for zero, off in ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 0.125), (2.0, 0.3125)):
        constants = numbers(s=SCALE, t=SCALE * 2, z=zero, n=0.0, b=8, i=8, o=bits, u=SCALE * 2**coarser, c=off)
        first = node("Quant", ["x", "s", "n", "b"], "q", domain=DOMAINS[0], signed=1, narrow=0)
        moved = node("Add", ["q", "c"], "m")
        old = node("Trunc", ["m", "s", "z", "i", "o"], "y", domain=DOMAINS[0], rounding_mode=mode)
        x = np.arange(-40, 40, dtype=np.float32) / 8
        given = np.rint(x.astype(float) / SCALE) * SCALE + off
        names = {k: v.astype(float) for k, v in constants.items()}
        network = read(tmp_path, [first, moved, old], constants, 1, len(x))
        trunc = qonnx("trunc")
        expected = trunc.trunc_v1(given, names["s"], names["z"], names["i"], names["o"], mode)
        assert np.array_equal(exactly(network, x), expected), (zero, off)
        kind = {"rounding_mode": mode, "signed": 1, "narrow": 1}
        new = node("Trunc", ["m", "s", "z", "i", "u", "o"], "y", domain=DOMAINS[0], **kind)
        network = read(tmp_path, [first, moved, new], constants, 1, len(x))
        given_to = (names["s"], names["z"], names["i"], 1, 1, names["u"], names["o"], mode)
        assert np.array_equal(exactly(network, x), trunc.trunc_v2(given, *given_to)), (zero, off)


def test_a_trunc_without_bounds_is_refused(tmp_path: Path) -> None:
    constants = numbers(s=SCALE, z=0, i=8, o=4)
    for nodes in (
        [node("Trunc", ["x", "s", "z", "i", "o"], "y", domain=DOMAINS[0])],
        [node("Relu", ["x"], "r"), node("Trunc", ["r", "s", "z", "i", "o"], "y", domain=DOMAINS[0])],
    ):
        with pytest.raises(NetworkError, match="which would bound it"):
            read(tmp_path, nodes, constants, 1, 3)


@pytest.mark.parametrize("mode", ["ROUND", "HALF_UP", "FLOOR"])
def test_constants_are_quantised_in_rationals(tmp_path: Path, mode: str) -> None:
    """A scale of 0.1 in float32 and weights that are its half multiples, rounded: float division would move some."""
    scale = np.float32(0.1)
    weight = (np.arange(-40, 40, dtype=np.float32) * scale / np.float32(2)).reshape(8, 10)
    nodes = [
        node("Quant", ["w", "s", "z", "b"], "q", domain=DOMAINS[0], signed=1, narrow=0, rounding_mode=mode),
        node("MatMul", ["x", "q"], "y"),
    ]
    network = read(tmp_path, nodes, {"w": weight, **numbers(s=scale, z=0, b=5)}, 1, 8)
    roundings: dict[str, Callable[[Fraction], int]] = {"ROUND": round, "HALF_UP": away, "FLOOR": floor}
    rounding = roundings[mode]
    levels = [min(max(rounding(Fraction(float(w)) / Fraction(float(scale))), -16), 15) for w in weight.reshape(-1)]
    expected = np.reshape([float(level * Fraction(float(scale))) for level in levels], weight.shape)
    assert np.array_equal(network.layers[0].weight, expected.T)
    assert network.exact


def away(t: Fraction) -> int:
    return floor(t + Fraction(1, 2)) if t >= 0 else ceil(t - Fraction(1, 2))


def test_weights_saturate(tmp_path: Path) -> None:
    """The initialiser alone would be another network."""
    nodes = [
        node("Quant", ["w", "s", "z", "b"], "q", domain=DOMAINS[2], signed=1, narrow=0, rounding_mode="ROUND"),
        node("MatMul", ["x", "q"], "y"),
    ]
    constants = {"w": np.array([[1.0], [-1.5], [0.4]], np.float32), **numbers(s=1 / 32, z=0, b=6)}
    network = read(tmp_path, nodes, constants, 1, 3, domain=DOMAINS[2])
    assert network.layers[0].weight.tolist() == [[31 / 32, -1.0, 13 / 32]]
    assert any("'q': 2 of 3 constants lie beyond its levels" in note for note in network.notes)


BENDS: dict[str, tuple[list[str], Callable[[NDArray[Any], dict[str, NDArray[Any]]], NDArray[Any]]]] = {
    "Relu": (["x"], lambda x, _: np.maximum(x, 0)),
    "Clip": (["x", "low", "high"], lambda x, ends: np.clip(x, ends["low"], ends["high"])),
    "Max": (["low", "x"], lambda x, ends: np.maximum(x, ends["low"])),
    "Min": (["x", "high"], lambda x, ends: np.minimum(x, ends["high"])),
}


@pytest.mark.parametrize("front", BENDS)
@pytest.mark.parametrize("zero", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("signed", [0, 1])
def test_a_bend_in_front_is_no_function_of_its_own(tmp_path: Path, front: str, zero: float, signed: int) -> None:
    constants = numbers(s=SCALE, z=zero, b=3, low=-0.4, high=0.6)
    quant = node("Quant", ["r", "s", "z", "b"], "y", domain=DOMAINS[0], signed=signed, narrow=0)
    asked, function = BENDS[front]
    bend, bent = node(front, asked, "r"), function(TIES, constants)
    network = read(tmp_path, [bend, quant], constants, 1, len(TIES))
    expected = int_quant(bent.astype(float), SCALE, zero, 3, signed, 0, "ROUND")
    assert np.array_equal(exactly(network, TIES), expected)
    assert network.neurons == len(TIES)
    # Read by another node as well it stays: both read what it gives.
    both = [bend, node("Quant", ["r", "s", "z", "b"], "q", domain=DOMAINS[0], signed=signed, narrow=0)]
    network = read(tmp_path, [*both, node("Add", ["q", "r"], "y")], constants, 1, len(TIES))
    assert network.neurons == 2 * len(TIES)
    assert np.allclose(exactly(network, TIES), expected + bent, atol=1e-6)


@pytest.mark.parametrize(
    "front", [["Relu", "x"], ["Max", "x", "zero"], ["Max", "zero", "x"], ["Clip", "x", "zero", ""]]
)
def test_a_relu_in_any_form_saturates_at_the_lower_end(tmp_path: Path, front: list[str]) -> None:
    """One claim about one function: of a Relu it was refuted, of a Max with 0 proved."""
    quant = node("Quant", ["r", "s", "z", "b"], "y", domain=DOMAINS[0], signed=0, narrow=0)
    constants = numbers(s=1.0, z=0.0, b=3, zero=0.0)
    network = read(tmp_path, [node(front[0], front[1:], "r"), quant], constants, 1, 1)
    for low, verdict in ((-1, Verdict.DIFFERENT), (0, Verdict.EQUIVALENT)):
        assert eqspec.verify(network, network, [low], [3], NeverSaturates(), progress=False).verdict is verdict


def quant_of(constants: dict[str, NDArray[Any]], **attributes: Any) -> tuple[list[Any], dict[str, NDArray[Any]]]:
    given = {"s": SCALE, "z": 0, "b": 4} | constants
    return [node("Quant", ["x", "s", "z", "b"], "y", domain=DOMAINS[0], **attributes)], numbers(**given)


@pytest.mark.parametrize(
    ("constants", "attributes", "message"),
    [
        ({"b": 2.5}, {}, "not a whole number"),
        ({"b": 60}, {}, "not a whole number"),
        ({"b": 0}, {}, "not a whole number"),
        ({"s": 0.0}, {}, "not positive"),
        ({"s": -0.5}, {}, "not positive"),
        ({"s": [0.1, 0.2]}, {}, "does not broadcast"),
        ({"b": [[1, 2, 2]]}, {"signed": 1}, "one bit beside"),
        ({}, {"rounding_mode": "STOCHASTIC"}, "the rounding 'STOCHASTIC'"),
        ({}, {"width": 3}, "attribute 'width'"),
    ],
)
def test_what_has_no_meaning_is_refused(
    tmp_path: Path, constants: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(NetworkError, match=message) as caught:
        read(tmp_path, *quant_of(constants, **attributes), 1, 3)
    assert caught.value.operator == "Quant"


def test_levels_beyond_what_is_counted_are_refused(tmp_path: Path) -> None:
    constants = numbers(s=1, z=0, i=50, u=2.0**20, o=48)
    nodes = [node("Trunc", ["x", "s", "z", "i", "u", "o"], "y", domain=DOMAINS[0], rounding_mode="ROUND")]
    with pytest.raises(NetworkError, match=r"integers up to 2"):
        read(tmp_path, nodes, constants, 1, 3)


def test_a_scale_that_depends_on_the_input_is_refused(tmp_path: Path) -> None:
    nodes = [
        node("Abs", ["x"], "s"),
        node("Quant", ["x", "s", "z", "b"], "y", domain=DOMAINS[0]),
    ]
    with pytest.raises(NetworkError, match="depends on the network's input"):
        read(tmp_path, nodes, numbers(z=0, b=4), 1, 3)


def test_a_computed_constant_at_a_threshold_is_refused(tmp_path: Path) -> None:
    """0.3f / 6 is 0.05 and something, half of 0.1f: a runtime that rounds it may be on the other side."""
    for second, refused in ((1 / 6, True), (0.7, False)):
        nodes = [
            node("Mul", ["a", "c"], "w"),
            node("Quant", ["w", "s", "z", "b"], "q", domain=DOMAINS[0], signed=1, narrow=0),
            node("MatMul", ["x", "q"], "y"),
        ]
        constants = numbers(a=[[0.3]], c=[[second]], s=0.1, z=0, b=4)
        if refused:
            with pytest.raises(NetworkError, match="lies at a threshold"):
                read(tmp_path, nodes, constants, 1, 1)
        else:
            assert read(tmp_path, nodes, constants, 1, 1).exact


@pytest.mark.parametrize("by_entry", [False, True])
def test_constants_that_are_too_large(tmp_path: Path, by_entry: bool) -> None:
    """Some bytes ask for numbers that would fill the memory as integers of any length."""
    size = 70_000 if by_entry else 1 << 23
    nodes = [
        node("ConstantOfShape", ["n"], "w"),
        node("Quant", ["w", "s", "z", "b"], "q", domain=DOMAINS[0], signed=1, narrow=0),
        node("MatMul", ["x", "q"], "y"),
    ]
    scales = np.arange(1, size + 1)[:, None] if by_entry else 1.0
    constants = {"n": np.array([size, 1]), **numbers(s=scales, z=0, b=4)}
    with pytest.raises(NetworkError, match="different quantisers" if by_entry else "beyond the limit"):
        read(tmp_path, nodes, constants, 1, size)


def test_an_empty_value(tmp_path: Path) -> None:
    nodes, constants = quant_of({})
    nodes[0].output[0] = "q"
    constants |= {"from": np.array([0]), "to": np.array([0]), "axis": np.array([1])}
    nodes += [node("Slice", ["q", "from", "to", "axis"], "e"), node("Concat", ["q", "e"], "y", axis=1)]
    assert read(tmp_path, nodes, constants, 1, 3).output_size == 3


def test_qonnx_runs_what_is_read(tmp_path: Path) -> None:
    """A whole network in qonnx's own executor, with scales by channel and float32 numbers that are exact."""
    execution = pytest.importorskip("qonnx.core.onnx_exec", reason="qonnx is not installed")
    wrapper = pytest.importorskip("qonnx.core.modelwrapper").ModelWrapper
    rng = np.random.default_rng(0)
    constants = numbers(
        w=rng.normal(size=(4, 6)), v=rng.normal(size=(6, 3)), sw=2.0 ** rng.integers(-4, -1, (1, 6)), sv=0.125,
        sx=0.25, sh=0.5, z=0, b=4,
    )  # fmt: skip
    kind = {"domain": DOMAINS[0], "narrow": 1, "rounding_mode": "ROUND"}
    nodes = [
        node("Quant", ["x", "sx", "z", "b"], "p", signed=1, **kind),
        node("Quant", ["w", "sw", "z", "b"], "q", signed=1, **kind),
        node("MatMul", ["p", "q"], "a"),
        node("Relu", ["a"], "r"),
        node("Quant", ["r", "sh", "z", "b"], "h", signed=0, **kind),
        node("Quant", ["v", "sv", "z", "b"], "u", signed=1, **kind),
        node("MatMul", ["h", "u"], "y"),
    ]
    proto = model(nodes, constants, [1, 4], output_shape=[1, 3])
    proto.opset_import.append(helper.make_opsetid(DOMAINS[0], 1))
    network = read_network(save(tmp_path, proto))
    shapes = pytest.importorskip("qonnx.transformation.infer_shapes").InferShapes
    runs = wrapper(onnx.ModelProto.FromString(proto.SerializeToString())).transform(shapes())
    for x in (rng.integers(-40, 40, (10, 1, 4)) / 16).astype(np.float32):  # ties among them
        expected = execution.execute_onnx(runs, {"x": x})["y"]
        assert np.array_equal(exactly(network, x), expected.reshape(-1))
