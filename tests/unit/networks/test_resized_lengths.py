"""Resize by scales whose lengths are no whole number: they are products in float32, and what is aligned is said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from onnx import ModelProto

from conformance.judging import audited
from eqspec.audit import Refused
from eqspec.audit.witness import values_at
from eqspec.networks import Network
from eqspec.networks.readers import onnx_reader
from unit.networks.models import model, node, run_onnxruntime

TEN = np.arange(10, dtype=np.float32).reshape(1, 1, 1, 10) ** 2


def resized(scale: float, **given: object) -> ModelProto:
    """The mean of ten entries that are resized."""
    nodes = [node("Resize", ["x", "", "k"], "r", mode="linear", **given), node("GlobalAveragePool", ["r"], "y")]
    return model(nodes, {"k": np.array([1, 1, 1, scale], np.float32)}, [1, 1, 1, 10])


def exactly(proto: ModelProto) -> tuple[Network, Fraction, Fraction]:
    """What both readers make of it, at `TEN`."""
    content, point = proto.SerializeToString(), [Fraction(float(v)) for v in TEN.ravel()]
    network = onnx_reader.read("m.onnx", content)
    ((low, _),), ((least, _),) = network.evaluate_exact(point), values_at(audited(content, 10, 1), point)
    return network, low, least


@pytest.mark.parametrize("scale", [0.9, 0.7, 1.1, 2.3, 0.5, 3.0, 0.57])
def test_the_length_is_a_product_in_float32(scale: float) -> None:
    """Ten times the float32 number next to .9 is less than 9, and rounded to float32 it is 9."""
    proto = resized(scale, coordinate_transformation_mode="asymmetric")
    _, ours, theirs = exactly(proto)
    expected = float(run_onnxruntime(proto, TEN).item())
    assert float(ours) == pytest.approx(expected, rel=1e-6)
    assert float(theirs) == pytest.approx(expected, rel=1e-6)


def test_whose_ends_meet_is_said() -> None:
    proto = resized(0.75, coordinate_transformation_mode="align_corners")
    network = onnx_reader.read("m.onnx", proto.SerializeToString())
    expected = float(run_onnxruntime(proto, TEN).item())
    assert float(network.evaluate(TEN.reshape(1, -1).astype(np.float64))[0, 0]) == pytest.approx(expected, rel=1e-6)
    assert any("the last of 10 entries with the last of 7" in note for note in network.notes)
    with pytest.raises(Refused, match="by coordinates"):
        audited(proto.SerializeToString(), 10, 1).steps()
    network, ours, theirs = exactly(resized(0.5, coordinate_transformation_mode="align_corners"))
    assert not [note for note in network.notes if "aligns" in note]
    assert float(ours) == pytest.approx(float(theirs))
