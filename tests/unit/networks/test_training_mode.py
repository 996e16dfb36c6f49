"""A node that trains is another function: it is refused, and the fix names what turns training off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import CURRENT, model, save
from unit.networks.test_ambiguous_files import audited, refused_by_both

PARTS = {name: np.array(values, np.float32) for name, values in (
    ("s", [1, 2, 3]), ("b", [0, 1, 0]), ("m", [1, 0, 1]), ("v", [1, 4, 1]),
)}  # fmt: skip


def normalised(opset: int, outputs: list[str], **attributes: Any) -> onnx.ModelProto:
    one = helper.make_node("BatchNormalization", ["x", *PARTS], outputs, name="n", **attributes)
    return model([one], PARTS, (1, 3), opset=opset)


def dropped(opset: int, inputs: list[str], **attributes: Any) -> onnx.ModelProto:
    one = helper.make_node("Dropout", inputs, ["y"], name="n", **attributes)
    return model(
        [one],
        {"r": np.array(0.5, np.float32), "0": np.array(0.0, np.float32), "t": np.array(True), "f": np.array(False)},
        (1, 3),
        opset=opset,
    )


@pytest.mark.parametrize(
    "proto",
    [
        *(normalised(opset, ["y", "a", "b_", "c", "d"]) for opset in (7, 8, 9, 10, 12, 13)),
        normalised(9, ["y", "a"]),
        normalised(9, ["y", "", "", "", "d"]),
        *(normalised(opset, ["y"], training_mode=1) for opset in (14, 15, CURRENT)),
        *(normalised(opset, ["y", "a", "b_"], training_mode=1) for opset in (14, CURRENT)),
        normalised(15, ["y", "a", "b_"]),
        normalised(6, ["y"]),
        normalised(6, ["y"], is_test=0),
        normalised(6, ["y", "a", "b_", "c", "d"], is_test=1),
        *(dropped(opset, ["x", "r", "t"]) for opset in (12, 13, CURRENT)),
        *(dropped(opset, ["x", "", "t"]) for opset in (12, CURRENT)),
        dropped(6, ["x"]),
        dropped(6, ["x"], is_test=0),
    ],
)
def test_training_is_refused(proto: onnx.ModelProto, tmp_path: Path) -> None:
    error = refused_by_both(tmp_path, proto)
    assert "training mode" in error.message
    assert "model.eval()" in (error.fix or "")
    assert error.node == "n"


@pytest.mark.parametrize(
    "proto",
    [
        *(normalised(opset, ["y"]) for opset in (7, 9, 13, 14, CURRENT)),
        normalised(14, ["y"], training_mode=0),
        normalised(6, ["y"], is_test=1),
        normalised(8, ["y"], spatial=1),
        *(dropped(opset, ["x", "r", "f"]) for opset in (12, CURRENT)),
        dropped(12, ["x", "", "f"]),
        *(dropped(opset, ["x", "0", "t"]) for opset in (12, CURRENT)),
        dropped(12, ["x"]),
        dropped(9, ["x"], ratio=0.5),
        dropped(6, ["x"], is_test=1),
    ],
)
def test_inference_is_read(proto: onnx.ModelProto, tmp_path: Path) -> None:
    point = np.array([[2.0, 1.0, -1.0]])
    answer = read_network(save(tmp_path, proto)).evaluate(point)[0]
    if proto.graph.node[0].op_type == "Dropout":
        assert np.array_equal(answer, point[0])
    else:
        scale, shift, mean, variance = (array.astype(np.float64) for array in PARTS.values())
        expected = scale * (point[0] - mean) / np.sqrt(variance + float(np.float32(1e-5))) + shift
        np.testing.assert_allclose(answer, expected, rtol=1e-12)


def test_a_training_mode_that_is_computed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="which opset 12 does not take there"):
        read_network(save(tmp_path, dropped(12, ["x", "r", "x"])))


def test_channels_are_those_of_the_value(tmp_path: Path) -> None:
    """A single channel does not stand for three in the auditor either."""
    parts = {name: array[:1] for name, array in PARTS.items()}
    one = helper.make_node("BatchNormalization", ["x", *parts], ["y"], name="n")
    refused_by_both(tmp_path, model([one], parts, (1, 3)))
    assert len(audited(Path(save(tmp_path, normalised(15, ["y"])))).steps()) == 1


def test_weights_that_are_standardised_are_refused_as_such(tmp_path: Path) -> None:
    """The model may well be in inference mode: its weights are made by a normalisation that is not."""
    weights = {"w": np.ones((1, 3, 4), np.float32), "flat": np.array([3, 4])}
    nodes = [
        helper.make_node("BatchNormalization", ["w", *PARTS], ["n", "", ""], name="n", training_mode=1),
        helper.make_node("Reshape", ["n", "flat"], ["f"]),
        helper.make_node("MatMul", ["x", "f"], ["y"]),
    ]
    with pytest.raises(NetworkError, match="stored weights are normalised in training mode") as refused:
        read_network(save(tmp_path, model(nodes, {**PARTS, **weights}, (1, 3), opset=17)))
    assert "with the weights that it computes" in str(refused.value)
