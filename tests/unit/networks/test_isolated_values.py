"""What levels, signs and whole numbers give behind weights, quantised: read as onnxruntime runs it, or refused.

Every such value is one number on a whole region, so that a level that is off there is off at more than single points.
All of these values are asked for, with scales that stand in simple ratios to each other, where ties are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

from eqspec.audit.reading import File, Number
from eqspec.audit.rounding import Refused
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, build, running

_SIGNS = np.diag(np.array([1, -1, 1, 2], np.float32))
_LAST = [node("QuantizeLinear", ["m", "s", "z"], "q"), node("DequantizeLinear", ["q", "s", "z"], "y")]
_LEVELS = [node("QuantizeLinear", ["x", "t", "z"], "a"), node("DequantizeLinear", ["a", "t", "z"], "c")]
_TIMES = node("Mul", ["c", "u"], "m")
_TWICE = [node("Mul", ["c", "third"], "d"), node("Mul", ["d", "three"], "m")]
_MOVED = [node("Mul", ["c", "u"], "d"), node("Add", ["d", "three"], "m")]
_WINDOW = [
    node("Unsqueeze", ["c", "axis"], "a"),
    node("Conv", ["a", "v"], "b", pads=[1, 1]),
    node("Squeeze", ["b", "axis"], "m"),
]
_CASES: dict[str, list[NodeProto]] = {
    "floor": [node("Floor", ["x"], "c"), _TIMES],
    "floor, two scales": [node("Floor", ["x"], "c"), *_TWICE],
    "floor, divided": [node("Floor", ["x"], "c"), node("Div", ["c", "over"], "m")],
    "floor, moved": [node("Floor", ["x"], "c"), *_MOVED],
    "ceil": [node("Ceil", ["x"], "c"), _TIMES],
    "round": [node("Round", ["x"], "c"), _TIMES],
    "sign, two scales": [node("Sign", ["x"], "c"), *_TWICE],
    "a Clip, two scales": [node("Clip", ["x", "low", "high"], "c"), *_TWICE],
    "a truth, two scales": [node("Greater", ["x", "low"], "b"), node("Cast", ["b"], "c", to=1), *_TWICE],
    "signs, moved": [node("Sign", ["x"], "c"), node("Gemm", ["c", "w", "three"], "m")],
    "signs in a window": [node("Sign", ["x"], "c"), *_WINDOW],
    "levels": [*_LEVELS, node("Reshape", ["c", "shape"], "m")],
    "levels from 0": [*_LEVELS, node("Relu", ["c"], "m")],
    "levels from 0, moved": [*_LEVELS, node("Relu", ["c"], "d"), node("Reshape", ["d", "shape"], "m")],
    "levels from 0, a scale": [*_LEVELS, node("Relu", ["c"], "d"), node("Mul", ["d", "five"], "m")],
    "levels, a scale": [*_LEVELS, node("Mul", ["c", "five"], "m")],
    "levels, moved": [*_LEVELS, node("Add", ["c", "five"], "m")],
}
_RATIOS = [1.0, 2.0, 0.5, 4.0, 1.5, 5.0, 255.0, 0.3171, 1.2349]


def _file(nodes: list[NodeProto], unit: np.float32, scale: np.float32) -> Any:
    """A file in which everything is a multiple of the unit, quantised with the scale."""
    constants: Constants = {
        "u": unit, "t": unit, "over": np.float32(1) / unit, "third": unit / np.float32(3), "three": np.float32(3),
        "low": np.float32(-7), "high": np.float32(7), "five": np.float32(5), "w": _SIGNS * unit,
        "v": np.array([[[0, 0, unit]]], np.float32), "axis": np.array([1]), "shape": np.array([1, 4]), "s": scale,
        "z": np.array(0, np.int8),
    }  # fmt: skip
    used = {name for one in [*nodes, *_LAST] for name in one.input}
    kept = {name: value for name, value in constants.items() if name in used}
    return build([*nodes, *_LAST], kept, [1, 4], opset=13)


def _points(unit: np.float32) -> np.ndarray:
    """Every whole number, level and sign, in each of four columns; and random ones beside each other."""
    random = np.random.default_rng(0)
    whole = np.arange(-140, 140)[:, None] + np.zeros(4) + 0.13
    signs = random.choice([-1.0, 1.0], (40, 4))
    return np.concatenate([whole, whole * float(unit), signs]).astype(np.float32)


@pytest.mark.parametrize("ratio", _RATIOS)
@pytest.mark.parametrize("base", [0.3, 0.25])
@pytest.mark.parametrize("name", _CASES)
def test_read_as_it_runs_or_refused(name: str, base: float, ratio: float, tmp_path: Path) -> None:
    """Bit for bit, in levels; what is exact in float32, as multiples of powers of two are, is not refused."""
    unit = np.float32(base)
    scale = 2 * unit / np.float32(ratio)
    proto = _file(_CASES[name], unit, scale)
    try:
        network = read_network(save(tmp_path, proto))
    except NetworkError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "a whole region has the value" in refused or "is held at" in refused
        assert base != 0.25 or ratio not in (0.5, 1.0, 2.0, 4.0) or "two scales" in name, refused
    points, session = _points(unit), running(proto)
    if "Clip" in name:  # which is a number of its own between its ends
        points = points[(np.abs(points) > 7).all(axis=1)]
    expected = np.concatenate([np.asarray(session.run(None, {"x": one[None]})[0]) for one in points])
    right = np.rint(expected / scale)
    if not refused:
        assert (np.rint(network.evaluate(points.astype(float)) / float(scale)) == right).all()
    file = File("", proto.SerializeToString(), Number, (Fraction(1),) * 4, (Fraction(0),) * 4, (200.0,) * 4, False, 4)
    try:
        audited = [values_at(file, [Fraction(float(x)) for x in point]) for point in points[::7]]
    except Refused as error:
        refused = str(error)
    else:
        assert (np.rint([[float(low) / float(scale) for low, _ in one] for one in audited]) == right[::7]).all()
        return
    assert "may lie between two levels" in refused or "a Clip to a number" in refused


@pytest.mark.parametrize("name", ["floor", "levels", "levels, a scale"])
def test_what_is_refused_is_a_level_off(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check these files are read, and are another network at more than single points."""
    ignored: Callable[..., None] = lambda *_: None  # noqa: E731
    monkeypatch.setattr("eqspec.networks.operators.quantising.check_isolated", ignored)
    unit = np.float32(0.3)
    proto = _file(_CASES[name], unit, 2 * unit)
    network, points, session = read_network(save(tmp_path, proto)), _points(unit), running(proto)
    expected = np.concatenate([np.asarray(session.run(None, {"x": one[None]})[0]) for one in points])
    apart = np.abs(network.evaluate(points.astype(float)) - expected)
    assert (apart > 0.1).any(axis=1).sum() >= 5
