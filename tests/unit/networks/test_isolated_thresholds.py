"""Levels and whole numbers times a scale, compared with thresholds: read as onnxruntime runs it, or refused.

Each is one number on a whole region, so that a threshold on whose other side float32 puts it is no single point.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save

_MOST = 40
_COMPARING = ["Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"]
_GIVEN: dict[str, list[NodeProto]] = {
    "levels": [node("DequantizeLinear", ["x", "scale"], "v")],
    "whole numbers": [node("Floor", ["x"], "w"), node("Mul", ["w", "scale"], "v")],
}


def _file(given: str, compared: list[NodeProto], scale: np.float32, threshold: np.float32) -> onnx.ModelProto:
    graph = helper.make_graph(
        [*_GIVEN[given], *compared],
        "g",
        [helper.make_tensor_value_info("x", 2 if given == "levels" else 1, ["batch", 1])],
        [helper.make_tensor_value_info("y", 1, ["batch", 1])],
        [numpy_helper.from_array(np.array(value), n) for n, value in (("scale", scale), ("threshold", threshold))],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _is_read(proto: onnx.ModelProto, folder: Path) -> bool:
    """Whether a file is read, and then as onnxruntime runs it at all of its numbers."""
    try:
        network = read_network(save(folder, proto))
    except NetworkError as problem:
        if "put the threshold between two of the values" not in str(problem):
            raise
        return False
    points = np.arange(_MOST, dtype=float)[:, None]
    kind = helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    (expected,) = session.run(None, {"x": points.astype(kind)})
    np.testing.assert_array_equal(network.evaluate(points), expected)
    return True


@pytest.mark.parametrize("operator", _COMPARING)
@pytest.mark.parametrize("given", _GIVEN)
def test_what_lies_at_a_threshold_in_float32_is_read_as_it_runs_or_refused(
    given: str, operator: str, tmp_path: Path
) -> None:
    compared = [node(operator, ["v", "threshold"], "b"), node("Cast", ["b"], "y", to=1)]
    refused = 0
    for scale in (np.float32(0.1), np.float32(1 / 3), np.float32(0.25)):
        for number in (3, 7, 9, 11, 23):
            at = np.float32(np.float64(scale) * number)  # as it would be written, and as float32 has it
            for threshold in (at, np.float32(at * np.float32(1.01))):
                read = _is_read(_file(given, compared, scale, threshold), tmp_path)
                assert read or (threshold == at and scale != 0.25)
                refused += not read
    assert refused > 3


def test_signs_of_levels_less_a_threshold(tmp_path: Path) -> None:
    signs = [node("Sub", ["v", "threshold"], "d"), node("Sign", ["d"], "y")]
    assert not _is_read(_file("levels", signs, np.float32(0.1), np.float32(0.3)), tmp_path)
    assert _is_read(_file("levels", signs, np.float32(0.1), np.float32(0.35)), tmp_path)
