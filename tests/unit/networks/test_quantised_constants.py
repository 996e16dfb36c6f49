"""Float constants that a file quantises: both readers take the levels that runtimes fold, also next to a tie."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from eqspec.audit.reading import File, Number
from eqspec.audit.rounding import Refused
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, build, exactly, running


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("axis", [0, None])
def test_the_largest_weight_of_a_symmetric_scale_lies_on_a_tie(kind: str, axis: int | None, tmp_path: Path) -> None:
    """2^b - 1 halves: 127.5 levels as float32 divides, which every runtime does, and next to it as a rational.

    So PyTorch makes scales of 8 bits, and onnxruntime those of unsigned weights.
    """
    random = np.random.default_rng(0)
    rows, half = 64, np.float32(np.iinfo(kind).max - np.iinfo(kind).min) / np.float32(2)
    weight = random.normal(size=(rows, 1)).astype(np.float32)
    scale = np.abs(weight[:, 0]) / half
    zero = np.full(rows, 1 << 7 if kind == "uint8" else 0, kind)
    given: dict[str, Any] = {"axis": 0}
    if axis is None:
        weight, scale, zero, given = np.tile(weight[:1], (rows, 1)), scale[0], zero[0], {}
    beside = sum(
        (Fraction(float(w)) / Fraction(float(s))).denominator != 2 for w, s in np.broadcast(weight[:, 0], scale)
    )
    assert beside > rows // 4
    constants: Constants = {"w": weight, "s": scale, "z": zero}
    nodes = [
        node("QuantizeLinear", ["w", "s", "z"], "q", **given),
        node("DequantizeLinear", ["q", "s", "z"], "v", **given),
        node("Gemm", ["x", "v"], "y", transB=1),
    ]
    proto = build(nodes, constants, [1, 1])
    path, one = Path(save(tmp_path, proto)), np.ones((1, 1), np.float32)
    evaluator = onnx.reference.ReferenceEvaluator(proto)
    expected = np.concatenate([np.asarray(made).reshape(-1) for made in running(proto).run(None, {"x": one})])
    other = np.concatenate([np.asarray(made).reshape(-1) for made in evaluator.run(None, {"x": one})])
    unit = (Fraction(1),)
    file = File(str(path), path.read_bytes(), Number, unit, (Fraction(0),), (1.0,), False, rows)
    audited = np.array([float(low) for low, _ in values_at(file, unit)])
    for found in (exactly(read_network(path), one), audited, other):
        assert np.allclose(found, expected, rtol=1e-6, atol=0)  # a level of int16 is 3e-5 of the largest


@pytest.mark.parametrize("other_reader", [False, True])
@pytest.mark.parametrize(
    ("end", "kind", "beside"), [(0.3, "uint8", 1), (6.0, "int8", 1), (0.55, "uint16", 1), (1.0, "int8", 0)]
)
def test_ends_of_a_clip_on_a_tie(end: float, kind: str, beside: int, other_reader: bool, tmp_path: Path) -> None:
    """Wherever it cuts off, onnxruntime takes the level of the float32 quotient, which may be another one."""
    half = np.float32(np.iinfo(kind).max - np.iinfo(kind).min) / np.float32(2)
    scale, zero = np.float32(end) / half, np.array(0 if kind[0] == "i" else np.iinfo(kind).max // 2 + 1, kind)
    levels = [round(Fraction(float(s * np.float32(end))) / Fraction(float(scale))) for s in (-1, 1)]
    constants: Constants = {"low": np.float32(-end), "high": np.float32(end), "s": scale, "z": zero}
    nodes = [
        node("Clip", ["x", "low", "high"], "c"),
        node("QuantizeLinear", ["c", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "d"),
        node("Add", ["d", "c"], "y") if other_reader else node("Identity", ["d"], "y"),
    ]
    proto = build(nodes, constants, [1, 2])
    network, points = read_network(save(tmp_path, proto)), np.array([[-50, 50], [-end / 3, end / 2]], np.float32)
    expected = np.concatenate([running(proto).run(None, {"x": point[None]})[0] for point in points])
    assert np.allclose(network.evaluate(points.astype(float)), expected, rtol=1e-6)
    low = expected[0, 0] - (-end if other_reader else 0)
    assert (round(low / float(scale)) != levels[0]) == beside
    unit = (Fraction(1),) * 2
    content = Path(save(tmp_path, proto)).read_bytes()
    file = File("", content, Number, unit, (Fraction(0),) * 2, (50.0,) * 2, False, 2)
    if beside:  # the auditor has the level of a rational number there, so it refuses
        with pytest.raises(Refused, match="a Clip to a number"):
            values_at(file, (Fraction(50),) * 2)


_CLIP = node("Clip", ["x", "low", "high"], "c")
_MOVED = {
    "turned": [_CLIP, node("Transpose", ["c"], "m")],
    "flat": [_CLIP, node("Flatten", ["c"], "m")],
    "one of two": [_CLIP, node("Concat", ["c", "x"], "m", axis=1)],
    "an average": [_CLIP, node("ReduceMean", ["c"], "m", axes=[0])],
    "the other sign": [_CLIP, node("Neg", ["c"], "m")],
    "clipped twice": [_CLIP, node("Clip", ["c", "lower", "higher"], "m")],
    "a largest": [node("Min", ["x", "high"], "c"), node("Max", ["c", "low"], "m")],
    "a ReLU6": [node("Relu", ["x"], "c"), node("Clip", ["c", "", "high"], "m")],
}


@pytest.mark.parametrize("short", [False, True], ids=["no tie", "tie"])
@pytest.mark.parametrize("name", _MOVED)
def test_ends_of_a_clip_that_are_put_elsewhere(name: str, short: bool, tmp_path: Path) -> None:
    """A whole region lies at an end: next to a tie both readers refuse, unless their level is that of runtimes."""
    end = np.float32(6.0)
    ends = {"low": -end, "high": end, "lower": np.float32(-100), "higher": np.float32(100)}
    used = {one for made in _MOVED[name] for one in made.input}
    scale = end / np.float32(127.5 if short else 127.0)
    constants: Constants = {key: end for key, end in ends.items() if key in used}
    constants |= {"s": scale, "z": np.array(0, np.int8)}
    nodes = [
        *_MOVED[name],
        node("QuantizeLinear", ["m", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "y"),
    ]
    proto = build(nodes, constants, [1, 2], opset=13)
    path, point = save(tmp_path, proto), np.array([[-50, 50]], np.float32)
    (expected,) = running(proto).run(None, {"x": point})
    right = np.asarray(expected).reshape(-1)
    unit = (Fraction(1),) * 2
    file = File("", Path(path).read_bytes(), Number, unit, (Fraction(0),) * 2, (50.0,) * 2, False, right.size)

    def audited() -> list[float]:
        return [float(low) for low, _ in values_at(file, (Fraction(-50), Fraction(50)))]

    if short:
        with pytest.raises(Refused, match="a Clip to a number"):
            audited()
    else:
        assert np.allclose(audited(), right, rtol=1e-6)
    # A ReLU6 cuts off at zero, and a Min in front of a Max at a level beyond those there are.
    if short and name not in ("a ReLU6", "a largest"):
        with pytest.raises(NetworkError, match="is held at"):
            read_network(path)
    else:
        assert np.allclose(read_network(path).evaluate(point.astype(float)).reshape(-1), right, rtol=1e-6)


_FOLLOWING: dict[str, tuple[list[onnx.NodeProto], list[float]]] = {
    "a sign": ([node("Sign", ["x"], "c")], [-1.0, 1.0]),
    "a truth": ([node("Less", ["x", "n"], "b"), node("Cast", ["b"], "c", to=1)], [1.0, 0.0]),
    "a Clip": ([node("Clip", ["x", "i", "j"], "c")], [-1.0, 1.0]),
}


@pytest.mark.parametrize("by", ["Mul", "Div"])
@pytest.mark.parametrize("name", _FOLLOWING)
@pytest.mark.parametrize("short", [False, True], ids=["no tie", "tie"])
def test_numbers_that_follow_from_held_ones(name: str, by: str, short: bool, tmp_path: Path) -> None:
    """Times a constant each of them is one number on a whole region: next to a tie both readers refuse."""
    end, (nodes, found) = np.float32(-6.0), _FOLLOWING[name]
    used = {one for made in nodes for one in made.input}
    ends = {"n": np.float32(0), "i": np.float32(-1), "j": np.float32(1)}
    constants: Constants = {key: value for key, value in ends.items() if key in used}
    constants |= {"e": end if by == "Mul" else np.float32(1.0) / end, "z": np.array(0, np.int8)}
    constants["s"] = -end / np.float32(127.5 if short else 127.0)
    last = [node("QuantizeLinear", ["m", "s", "z"], "q"), node("DequantizeLinear", ["q", "s", "z"], "y")]
    proto = build([*nodes, node(by, ["c", "e"], "m"), *last], constants, [1, 2], opset=13)
    path, point = save(tmp_path, proto), np.array([[-50, 50]], np.float32)
    right = np.asarray(running(proto).run(None, {"x": point})[0]).reshape(-1)
    assert np.allclose(right, np.clip(np.array(found) * -6.0, -128 * constants["s"], 127 * constants["s"]), atol=0.05)
    unit = (Fraction(1),) * 2
    file = File("", Path(path).read_bytes(), Number, unit, (Fraction(0),) * 2, (50.0,) * 2, False, right.size)
    if short:
        with pytest.raises(Refused, match="a Clip to a number"):
            values_at(file, (Fraction(-50), Fraction(50)))
        with pytest.raises(NetworkError, match="is held at"):
            read_network(path)
        return
    audited = [float(low) for low, _ in values_at(file, (Fraction(-50), Fraction(50)))]
    for values in (audited, read_network(path).evaluate(point.astype(float)).reshape(-1)):
        assert np.allclose(values, right, rtol=1e-6)
