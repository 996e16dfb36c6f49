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


def function(
    name: str, nodes: list[NodeProto], defaults: dict[str, float], opset: int = 17, domain: str = "own"
) -> onnx.FunctionProto:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    given = [helper.make_attribute(key, number) for key, number in defaults.items()]
    made: onnx.FunctionProto = helper.make_function(domain, name, ["a"], ["b"], nodes, opsets, [], given)
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


@pytest.mark.parametrize("overload", ["", "two"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_default_is_that_of_the_overload_that_is_called(overload: str, turned: bool, tmp_path: Path) -> None:
    """The last overload of the file gave its defaults to all others."""
    functions = [function("F", [leaky()], {"slope": 0.5}), function("F", [leaky()], {"slope": 0.25})]
    functions[1].overload = "two"
    asked = call("F")
    asked.overload = overload
    proto = calling(asked, *(reversed(functions) if turned else functions))
    found = read_network(save(tmp_path, proto)).evaluate_exact([Fraction(n) for n in POINT])
    expected = run_onnxruntime(proto, np.array([POINT], np.float32)).ravel().tolist()
    assert [float(low) for low, _ in found] == expected == [POINT[0] * (0.25 if overload else 0.5), POINT[1]]


def test_a_branch_of_a_body_that_reads_a_value_of_the_model_is_refused(tmp_path: Path) -> None:
    """onnxruntime and onnx's reference refuse it; in place, the branch would read a value of the model."""
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in "te"]
    then = helper.make_graph([node("Add", ["a", "k"], "t")], "then", [], ends[:1])
    other = helper.make_graph([node("Neg", ["a"], "e")], "else", [], ends[1:])
    true = helper.make_tensor("", onnx.TensorProto.BOOL, [], [True])
    body = [node("Constant", [], "c", value=true), node("If", ["c"], "b", then_branch=then, else_branch=other)]
    with pytest.raises(NetworkError, match="reads 'k', which it neither takes nor computes"):
        read_network(save(tmp_path, calling(call("F"), function("F", body, {}), k=np.ones(2, np.float32))))


@pytest.mark.parametrize(("domain", "name"), [("com.microsoft", "Gelu"), ("ai.onnx.ml", "Scaler")])
def test_a_function_called_as_an_operator_of_runtimes_is_refused(domain: str, name: str, tmp_path: Path) -> None:
    """onnxruntime calls its own operator, and onnx's reference in part the function."""
    proto = calling(helper.make_node(name, ["x"], ["y"], domain=domain))
    proto.functions.append(function(name, [node("Neg", ["a"], "b")], {}, domain=domain))
    proto.opset_import.append(helper.make_opsetid(domain, 1))
    with pytest.raises(NetworkError, match=f"defines {domain}.{name} anew"):
        read_network(save(tmp_path, proto))


def test_an_attribute_twice_in_a_call_is_refused(tmp_path: Path) -> None:
    asked = call("F", slope=0.5)
    asked.attribute.append(helper.make_attribute("slope", 0.25))
    with pytest.raises(NetworkError, match="attribute is given twice"):
        read_network(save(tmp_path, calling(asked, function("F", [leaky()], {"slope": 1.0}))))


def test_a_function_of_a_domain_that_is_not_imported_is_refused(tmp_path: Path) -> None:
    proto = calling(call("F"), function("F", [leaky()], {"slope": 1.0}))
    del proto.opset_import[1:]
    with pytest.raises(NetworkError, match="does not import"):
        read_network(save(tmp_path, proto))


def test_a_function_of_another_opset_is_read_where_both_define_its_operators_alike(tmp_path: Path) -> None:
    """Neg is the same in opsets 13 and 17; Softmax of opset 12 is over all axes behind the first."""
    alike = calling(call("F"), function("F", [node("Neg", ["a"], "b")], {}, opset=13))
    assert read_network(save(tmp_path, alike)).evaluate(np.array([POINT])).tolist() == [[-n for n in POINT]]
    other = calling(call("F"), function("F", [node("Softmax", ["a"], "b")], {}, opset=12))
    with pytest.raises(NetworkError, match="for another version of the standard operators"):
        read_network(save(tmp_path, other))


def test_a_function_of_two_opsets_at_once_is_refused(tmp_path: Path) -> None:
    """The standard domain has two names."""
    body = function("F", [helper.make_node("Softmax", ["a"], ["b"], domain="ai.onnx")], {})
    body.opset_import.append(helper.make_opsetid("ai.onnx", 12))
    with pytest.raises(NetworkError, match="several versions of the standard operators"):
        read_network(save(tmp_path, calling(call("F"), body)))


def test_a_function_that_stays_is_not_the_operator_of_its_name(tmp_path: Path) -> None:
    """Of another opset it is not put in place; a Quant that softens was read as the quantiser of qonnx."""
    domain = "qonnx.custom_op.general"
    asked = helper.make_node("Quant", ["x", "s", "z", "n"], ["y"], domain=domain)
    one = {"s": np.float32(1), "z": np.float32(0), "n": np.float32(8)}
    body = function("Quant", [node("Softmax", ["a"], "b")], {}, opset=12, domain=domain)
    body.input.extend(["scale", "zero", "bits"])
    proto = calling(asked, body, **one)
    proto.opset_import.append(helper.make_opsetid(domain, 1))
    with pytest.raises(NetworkError, match="it is a function of the model"):
        read_network(save(tmp_path, proto))
