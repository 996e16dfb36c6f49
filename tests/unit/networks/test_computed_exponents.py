"""Powers whose exponent a graph computes of its constants, as 1 / p of a generalised mean (GeM pooling)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.networks.readers import onnx_reader
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import build

MEAN = [
    node("Clip", ["x", "least"], "c"),
    node("Pow", ["c", "p"], "r"),
    node("GlobalAveragePool", ["r"], "m"),
    node("Reciprocal", ["p"], "e"),
    node("Pow", ["m", "e"], "y"),
]
POWER = {"least": np.float32(2**-10), "p": np.array([3], np.float32)}


def test_generalised_means_are_those_of_onnxruntime(tmp_path: Path) -> None:
    proto = build(MEAN, POWER, [1, 2, 3, 3], opset=17)
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for x in np.random.default_rng(0).normal(size=(10, 1, 2, 3, 3)).astype(np.float32):
        (expected,) = session.run(None, {"x": x})
        made = network.evaluate(x.reshape(1, -1).astype(float))[0]
        np.testing.assert_allclose(made, expected.reshape(-1), rtol=1e-5)


def test_the_exponent_is_the_quotient_and_no_float(tmp_path: Path) -> None:
    """The third root of 8/27 is 2/3, whatever float is next to a third; 0 is no argument."""
    nodes = [node("Reciprocal", ["p"], "e"), node("Pow", ["x", "e"], "y")]
    path = save(tmp_path, build(nodes, {"p": POWER["p"]}, [1, 1], opset=17))
    ((low, high),) = read_network(path).evaluate_exact([Fraction(8, 27)])
    assert low <= Fraction(2, 3) <= high
    assert high - low < Fraction(1, 2**48)
    for lower, verdict in ((0.5, "equivalent"), (-0.5, "unknown")):
        claim = eqspec.Epsilon(0.01)
        assert eqspec.verify(path, path, [lower], [1.0], claim, progress=False, timeout=5).verdict == verdict


def test_not_in_float32_where_the_exponent_is_another_number(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="exponent that is only known up to rounding"):
        onnx_reader.read("model", build(MEAN, POWER, [1, 2, 3, 3], opset=17).SerializeToString(), "float32")
