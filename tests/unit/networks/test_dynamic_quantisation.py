"""DynamicQuantizeLinear and the products behind it, as `quantize_dynamic` of onnxruntime writes them.

The widest entries of an input lie 255 steps of a power of two apart and the others on half steps, so that scales are
exact and half of the quotients are ties: what is read must then be what onnxruntime answers, but for what the last
products round. Weights have 7 bits, whose products every processor sums up rightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.onnx_overview import overview
from eqspec.networks.session import Session
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, build, running

RNG = np.random.default_rng(0)
LEVELS = helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
SCALED = [node("Mul", ["s", "t"], "st"), node("Cast", ["i"], "f", to=TensorProto.FLOAT), node("Mul", ["f", "st"], "y")]
MATRIX: Constants = {"w": RNG.integers(-63, 64, (6, 3)).astype(np.int8), "v": np.int8(5), "t": np.float32(0.25)}
KERNEL: Constants = {"w": RNG.integers(-60, 61, (2, 2, 3)).astype(np.int8), "v": np.int8(2)}
KERNEL |= {"t": np.float32(0.5)}


def microsoft(operator: str, inputs: Sequence[str]) -> NodeProto:
    return helper.make_node(operator, list(inputs), ["y"], domain="com.microsoft")


def points(shape: Sequence[int], *, positive: bool = False) -> NDArray[np.float32]:
    """Inputs (40, I) whose widest entries lie 255 steps apart, at the places of ties or not."""
    steps = RNG.integers(-100, 100, (40, int(np.prod(shape)))) / 2
    low = RNG.integers(0, 200, 40) / 2 * (not positive)
    steps[:, 0], steps[:, -1] = -low, 255 - low
    steps[:, 1:-1] = np.clip(steps[:, 1:-1], -low[:, None], None)
    return np.asarray(steps * RNG.choice([2.0**-8, 0.25], (40, 1)), np.float32)


CASES = {
    "matrix": ([LEVELS, node("MatMulInteger", ["q", "w", "z", "v"], "i"), *SCALED], MATRIX, [1, 6]),
    "no zero point": ([LEVELS, node("MatMulInteger", ["q", "w", "z"], "i"), *SCALED], MATRIX, [1, 6]),
    "by rows": (
        [LEVELS, node("MatMulInteger", ["q", "w", "z", "v"], "i"), *SCALED],
        {**MATRIX, "v": np.array([1, 0, -7], np.int8), "t": np.array([0.5, 1, 2], np.float32)},
        [1, 6],
    ),
    "moved": (
        [LEVELS, node("Reshape", ["q", "r"], "m"), node("MatMulInteger", ["m", "w", "z", "v"], "i"), *SCALED],
        {**MATRIX, "r": np.array([2, 6])},
        [1, 12],
    ),
    "its step alone": (
        [LEVELS, node("MatMulInteger", ["q", "w", "z"], "i"), SCALED[1], node("Mul", ["s", "f"], "y")],
        MATRIX,
        [1, 6],
    ),
    "kernel": (
        [LEVELS, node("ConvInteger", ["q", "w", "z", "v"], "i", pads=[1, 1]), *SCALED],
        KERNEL,
        [1, 2, 5],
    ),
    "behind a ReLU": (
        [
            node("Relu", ["x"], "r"),
            helper.make_node("DynamicQuantizeLinear", ["r"], ["q", "s", "z"]),
            node("MatMulInteger", ["q", "w", "z", "v"], "i"),
            *SCALED,
        ],
        MATRIX,
        [1, 6],
    ),
    "scaled at once": (
        [LEVELS, microsoft("MatMulIntegerToFloat", ["q", "w", "s", "t", "z", "v", "b"])],
        {**MATRIX, "b": np.array([1, 2, 3], np.float32)},
        [1, 6],
    ),
    "dequantised": (
        [LEVELS, node("DequantizeLinear", ["q", "s", "z"], "d"), node("MatMul", ["d", "f"], "y")],
        {"f": MATRIX["w"].astype(np.float32)},
        [1, 6],
    ),
    "moved, and dequantised": (
        [
            LEVELS,
            node("Reshape", ["q", "r"], "m"),
            node("DequantizeLinear", ["m", "s", "z"], "d", axis=0),
            node("MatMul", ["d", "f"], "h"),
            node("Mul", ["h", "s"], "y"),
        ],
        {"f": MATRIX["w"].astype(np.float32), "r": np.array([2, 6])},
        [1, 12],
    ),
    "in one": (
        [microsoft("DynamicQuantizeMatMul", ["x", "w", "t", "v", "b"])],
        {**MATRIX, "b": np.array([1, 2, 3], np.float32)},
        [1, 6],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_onnxruntime(tmp_path: Path, name: str) -> None:
    nodes, constants, shape = CASES[name]
    proto = build(nodes, constants, shape, opset=13)
    path = save(tmp_path, proto)
    network, session = read_network(path), running(proto)
    assert not overview(str(path)).unsupported
    given = points(shape, positive=name == "behind a ReLU")
    expected = [session.run(None, {"x": x.reshape(shape)})[0].reshape(-1) for x in given]
    assert np.allclose(network.evaluate(given.astype(np.float64)), expected, rtol=1e-6, atol=1e-6)


def of_rationals(x: Sequence[Fraction], weights: NDArray[np.int8], scale: Fraction) -> list[Fraction]:
    """What DynamicQuantizeLinear and MatMulInteger define over the rationals; Python rounds ties to even."""
    low, high = min(Fraction(0), *x), max(Fraction(0), *x)
    step = (high - low) / 255
    zero = round(-low / step)
    levels = [min(max(round(entry / step) + zero, 0), 255) - zero for entry in x]
    return [step * scale * sum(level * int(w) for level, w in zip(levels, row, strict=True)) for row in weights.T]


@pytest.mark.parametrize("seed", range(6))
def test_values_are_exactly_those_of_the_definition(tmp_path: Path, seed: int) -> None:
    """At points whose quotients are no ties, which a quotient that is enclosed cannot tell from others."""
    nodes, constants, shape = CASES["no zero point"]
    network = read_network(save(tmp_path, build(nodes, constants, shape, opset=13)))
    random = np.random.default_rng(seed)
    x = [Fraction(n) / 10007 for n in random.integers(-20000, 20000, 6).tolist()]
    expected = of_rationals(x, constants["w"], Fraction(1, 4))
    for (low, high), exact in zip(network.evaluate_exact(x), expected, strict=True):
        assert low <= exact <= high
        assert high - low < Fraction(1, 2**40)  # no float holds 1 / 255, by which the widest entry is multiplied


def test_the_upper_end_is_left_at_a_tie(tmp_path: Path) -> None:
    """From -1.5 to 253.5 the step is 1, z is 2, and the largest entry has level 255 and not 256."""
    nodes, constants, shape = CASES["no zero point"]
    constants = {**constants, "w": np.eye(6, 3, dtype=np.int8), "t": np.float32(1)}
    network = read_network(save(tmp_path, build(nodes, constants, shape, opset=13)))
    assert network.evaluate(np.array([[253.5, -1.5, 2.5, 0, 0, 0]])).tolist() == [[253, -2, 2]]


def test_not_in_float32(tmp_path: Path) -> None:
    """The scale is rounded, too: the message names the operator, and says what can be done."""
    nodes, constants, shape = CASES["no zero point"]
    with pytest.raises(NetworkError, match="follows from the data, and float32 rounds it") as found:
        onnx_reader.read("model", build(nodes, constants, shape, opset=13).SerializeToString(), "float32")
    assert "DynamicQuantizeLinear" in str(found.value)
    assert found.value.fix is not None
    assert "quantize_static" in found.value.fix


def test_a_small_region_is_decided(tmp_path: Path) -> None:
    """Behind it: half a step for every entry, 6 * 63 * t * s / 2 at most, and no more than a little of it elsewhere."""
    nodes, constants, shape = CASES["no zero point"]
    constants = {**constants, "t": np.float32(2**-8)}
    (tmp_path / "real").mkdir()
    (tmp_path / "levels").mkdir()
    real = build([node("MatMul", ["x", "m"], "y")], {"m": constants["w"].astype(np.float32) / 256}, shape, opset=13)
    files = save(tmp_path / "real", real), save(tmp_path / "levels", build(nodes, constants, shape, opset=13))
    centre = np.array([0.3, -1, 0.7, 0.1, 1, -0.2])
    for distance, verdict in ((0.02, "equivalent"), (1e-4, "different")):
        claim = eqspec.Epsilon(distance)
        found = eqspec.verify(*files, centre - 0.01, centre + 0.01, claim, progress=False, timeout=60)
        assert found.verdict == verdict


def dynamically(number: int, value: str, weights: NDArray[np.float32]) -> tuple[list[NodeProto], Constants]:
    """A product as `quantize_dynamic` writes it, with weights of 7 bits."""
    scale = np.float32(np.abs(weights).max() / 63)
    q, s, z, i, f, t = (f"{kind}{number}" for kind in "qszift")
    nodes = [
        helper.make_node("DynamicQuantizeLinear", [value], [q, s, z]),
        node("MatMulInteger", [q, f"w{number}", z], i),
        node("Cast", [i], f, to=TensorProto.FLOAT),
        node("Mul", [s, f"v{number}"], t),
        node("Mul", [f, t], f"y{number}"),
    ]
    return nodes, {f"w{number}": np.round(weights / scale).astype(np.int8), f"v{number}": scale}


def test_what_is_dequantised_is_the_value_and_a_little(tmp_path: Path) -> None:
    """As tf2onnx writes TFLite files: exactly what the definition gives, and close to the float one."""
    weights = RNG.normal(size=(6, 3)).astype(np.float32)
    multiplied = node("MatMul", ["d", "m"], "y")
    dequantised = node("DequantizeLinear", ["q", "s", "z"], "d")
    levels = save(tmp_path, build([LEVELS, dequantised, multiplied], {"m": weights}, [1, 6], opset=13))
    real = save(tmp_path, build([node("MatMul", ["x", "m"], "y")], {"m": weights}, [1, 6], opset=13), "real.onnx")
    x = [Fraction(n) / 10007 for n in np.random.default_rng(1).integers(-20000, 20000, 6).tolist()]
    lowest, largest = min(Fraction(0), *x), max(Fraction(0), *x)
    step = (largest - lowest) / 255
    zero = round(-lowest / step)
    stood_for = [step * (min(max(round(entry / step) + zero, 0), 255) - zero) for entry in x]
    for (low, high), row in zip(read_network(levels).evaluate_exact(x), weights.T, strict=True):
        exact = sum(value * Fraction(float(w)) for value, w in zip(stood_for, row, strict=True))
        assert low <= exact <= high
        assert high - low < Fraction(1, 2**40)
    centre = np.array([0.3, -1, 0.7, 0.1, 1, -0.2])
    rounded = float(np.abs(weights).sum(0).max()) * 2.02 / 255 / 2
    for distance, verdict in ((1.5 * rounded, "equivalent"), (1e-4, "different")):
        found = eqspec.verify(real, levels, centre - 0.01, centre + 0.01, eqspec.Epsilon(distance), progress=False)
        assert (found.verdict, found.boxes if verdict == "equivalent" else 1) == (verdict, 1)


def test_three_layers_are_proved_on_the_first_box(tmp_path: Path) -> None:
    """What is rounded in one layer is no larger behind the next: error radii grew 10^6 times with each of them."""
    random, value = np.random.default_rng(3), "x"
    real, levels, stored, given = list[NodeProto](), list[NodeProto](), Constants(), Constants()
    for number, (columns, rows) in enumerate(((6, 16), (16, 16), (16, 3))):
        weights = np.asarray(random.normal(size=(columns, rows)) / np.sqrt(columns), np.float32)
        nodes, of_layer = dynamically(number, value, weights)
        given |= of_layer
        stored[f"m{number}"] = weights
        last = number == 2
        levels += [*nodes, node("Identity" if last else "Relu", [f"y{number}"], "y" if last else f"h{number}")]
        real += [node("MatMul", [value, f"m{number}"], f"y{number}"), levels[-1]]
        value = f"h{number}"
    (tmp_path / "real").mkdir()
    first = save(tmp_path / "real", build(real, stored, [1, 6], opset=13))
    second = save(tmp_path, build(levels, given, [1, 6], opset=13))
    centre = np.array([0.3, -1, 0.7, 0.1, 1, -0.2])
    found = eqspec.verify(
        first, second, centre - 0.005, centre + 0.005, eqspec.Epsilon(0.15), timeout=60, progress=False
    )
    assert (found.verdict, found.boxes) == ("equivalent", 1)


@pytest.mark.parametrize(
    "nodes",
    [
        [LEVELS, node("DequantizeLinear", ["q", "s"], "y")],
        [LEVELS, node("DequantizeLinear", ["q", "t", "z"], "y")],
        [LEVELS, node("DequantizeLinear", ["q", "s", "z"], "d"), node("Cast", ["q"], "y", to=TensorProto.FLOAT)],
        [LEVELS, node("MatMulInteger", ["q", "w"], "i"), *SCALED],
        [
            LEVELS,
            node("MatMulInteger", ["q", "w", "z"], "i"),
            node("Neg", ["i"], "j"),
            SCALED[0],
            node("Cast", ["j"], "f", to=TensorProto.FLOAT),
            SCALED[2],
        ],
        [LEVELS, node("Cast", ["z"], "y", to=TensorProto.FLOAT)],
    ],
)
def test_levels_that_go_elsewhere_are_refused(tmp_path: Path, nodes: list[NodeProto]) -> None:
    with pytest.raises(NetworkError, match=r"move with the data.*quantise statically"):
        read_network(save(tmp_path, build(nodes, MATRIX, [1, 6], opset=13)))


def test_scores_in_front_of_a_softmax_are_asked_of_the_file_itself(tmp_path: Path) -> None:
    """What DynamicQuantizeLinear is written out as has operators that onnxruntime does not know."""
    nodes, constants, shape = CASES["behind a ReLU"]
    scores = helper.make_node("Mul", ["f", "st"], ["scores"])
    proto = build([*nodes[:-1], scores, node("Softmax", ["scores"], "y")], constants, shape, opset=13)
    network = read_network(save(tmp_path, proto))
    assert network.stripped == "softmax"
    session = Session(network)
    for point in points(shape, positive=True)[:5].astype(np.float64):
        assert np.allclose(network.evaluate(point[None])[0], session.run(point), rtol=1e-6, atol=1e-6)


def test_products_that_some_processors_cut_off_are_noted(tmp_path: Path) -> None:
    nodes, constants, shape = CASES["matrix"]
    network = read_network(save(tmp_path, build(nodes, {**constants, "w": np.full((6, 3), 90, np.int8)}, shape)))
    assert network.in_pairs
    assert not read_network(save(tmp_path, build(nodes, constants, shape))).in_pairs


def clipped(low: float, high: float) -> tuple[list[NodeProto], Constants]:
    """Behind a Clip and a pool, which keeps its ends."""
    nodes = [
        node("Clip", ["x", "low", "high"], "c"),
        node("MaxPool", ["c"], "p", kernel_shape=[1]),
        helper.make_node("DynamicQuantizeLinear", ["p"], ["q", "s", "z"]),
        node("ConvInteger", ["q", "w", "z", "v"], "i"),
        *SCALED,
    ]
    return nodes, {**KERNEL, "low": np.float32(low), "high": np.float32(high)}


@pytest.mark.parametrize(("low", "high", "refused"), [(-1, 1, True), (-3, 1, False), (-127.5, 127.5, False)])
def test_ends_of_a_clip_that_lie_at_ties(tmp_path: Path, low: float, high: float, refused: bool) -> None:
    """-1 and 1 are 127.5 steps of 2 / 255, which is no float32: nearly every answer would be another one."""
    proto = build(*clipped(low, high), [1, 2, 5])
    path = save(tmp_path, proto)
    if refused:
        proto.graph.node[0].CopyFrom(node("Sign", ["x"], "c"))
        for one in (path, save(tmp_path, proto, "signs.onnx")):
            with pytest.raises(NetworkError, match=r"ends lie at ties.*quantize_static"):
                read_network(one)
        return
    network, session = read_network(path), running(proto)
    for point in 300 * np.random.default_rng(0).normal(size=(10, 1, 2, 5)).astype(np.float32):
        (expected,) = session.run(None, {"x": point})
        assert np.allclose(network.evaluate(point.reshape(1, -1).astype(float))[0], np.reshape(expected, -1), rtol=1e-5)
