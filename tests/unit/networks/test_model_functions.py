"""Functions that a file defines for itself: their attributes, and what their bodies may read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, run_onnxruntime, save

POINT = [-1.5, 2.0]


def leaky(alpha: str = "slope") -> NodeProto:
    """A LeakyRelu whose slope is an attribute of the function around it."""
    made: NodeProto = helper.make_node("LeakyRelu", ["a"], ["b"])
    made.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name=alpha, type=onnx.AttributeProto.FLOAT))
    return made


def calling(call: NodeProto, *functions: onnx.FunctionProto, **constants: Any) -> onnx.ModelProto:
    proto = model([call], constants, (1, 2))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    proto.functions.extend(functions)
    return proto


def function(name: str, nodes: list[NodeProto], defaults: dict[str, float]) -> onnx.FunctionProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    given = [helper.make_attribute(key, number) for key, number in defaults.items()]
    made: onnx.FunctionProto = helper.make_function("own", name, ["a"], ["b"], nodes, opsets, [], given)
    return made


def call(name: str, given: str = "x", made: str = "y", **attributes: Any) -> NodeProto:
    found: NodeProto = helper.make_node(name, [given], [made], domain="own", **attributes)
    return found


@pytest.mark.parametrize(("given", "expected"), [({}, 0.75), ({"slope": 0.25}, 0.25)])
def test_the_default_of_an_attribute(given: dict[str, Any], expected: float, tmp_path: Path) -> None:
    """It was left out, so that the operator's own default, 0.01, stood in its place."""
    inner = function("Inner", [leaky()], {"slope": 0.75})
    outer = function("Outer", [call("Inner", "a", "b", **given)], {})
    for proto in (calling(call("Inner", **given), inner), calling(call("Outer"), inner, outer)):
        read = read_network(save(tmp_path, proto)).evaluate_exact([Fraction(n) for n in POINT])
        assert [float(low) for low, _ in read] == [POINT[0] * expected, POINT[1]]
        assert run_onnxruntime(proto, np.array([POINT], np.float32)).ravel().tolist() == [POINT[0] * expected, POINT[1]]


def test_a_default_behind_the_attribute_of_another_function_is_refused(tmp_path: Path) -> None:
    inner = function("Inner", [leaky()], {"slope": 0.75})
    passed = call("Inner", "a", "b")
    passed.attribute.append(onnx.AttributeProto(name="slope", ref_attr_name="mine", type=onnx.AttributeProto.FLOAT))
    with pytest.raises(NetworkError, match="may have two defaults"):
        read_network(save(tmp_path, calling(call("Outer"), inner, function("Outer", [passed], {"mine": 0.5}))))


def test_a_body_that_reads_a_value_of_the_model_is_refused(tmp_path: Path) -> None:
    body = function("Shift", [node("Add", ["a", "k"], "b")], {})
    with pytest.raises(NetworkError, match="reads 'k', which it neither takes nor computes"):
        read_network(save(tmp_path, calling(call("Shift"), body, k=np.ones(2, np.float32))))
