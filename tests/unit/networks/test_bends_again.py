"""A ReLU or Clip of another one is one function; compared with onnxruntime's."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks.curves import Curves, clip
from eqspec.networks.readers.onnx_reader import read


def model(nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], opset: int) -> bytes:
    weight = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    tensors = [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in constants.items()]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["v"]), *nodes],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(weight, "w"), *tensors],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return bytes(made.SerializeToString())


CASES: dict[str, list[tuple[str, list[str], str, dict[str, Any]]]] = {
    "clip of a relu": [("Relu", ["v"], "a", {}), ("Clip", ["a", "low", "high"], "y", {})],
    "relu of a clip": [("Clip", ["v", "low", "high"], "a", {}), ("Relu", ["a"], "y", {})],
    "clip without an end": [("Relu", ["v"], "a", {}), ("Clip", ["a", "", "high"], "y", {})],
    "ends as attributes": [("Relu", ["v"], "a", {}), ("Clip", ["a"], "y", {"min": 0.125, "max": 1.5})],
    "one end as an attribute": [("Relu", ["v"], "a", {}), ("Clip", ["a"], "y", {"max": 1.5})],
    "leaky of a leaky": [("LeakyRelu", ["v"], "a", {"alpha": 0.25}), ("LeakyRelu", ["a"], "y", {"alpha": 0.5})],
    "three of them": [
        ("Relu", ["v"], "a", {}),
        ("Clip", ["a", "low", "high"], "b", {}),
        ("LeakyRelu", ["b"], "y", {"alpha": 0.5}),
    ],
    "relu of a relu": [("Relu", ["v"], "a", {}), ("Relu", ["a"], "y", {})],
    "behind a bias": [("Add", ["v", "bias"], "a", {}), ("Relu", ["a"], "b", {}), ("Clip", ["b", "", "high"], "y", {})],
    "a relu that is read twice": [
        ("Relu", ["v"], "a", {}),
        ("Clip", ["a", "", "high"], "b", {}),
        ("MatMul", ["b", "square"], "c", {}),
        ("Add", ["a", "c"], "y", {}),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_one_function(case: str) -> None:
    listed = CASES[case]
    opset = 9 if "attribute" in case else 13
    nodes = [helper.make_node(kind, given, [out], **attributes) for kind, given, out, attributes in listed]
    used = {name for _, given, _, _ in listed for name in given}
    square = np.arange(16.0).reshape(4, 4)
    bias = np.array([0.5, -0.25, 0.125, 1.0])
    known = (("bias", bias), ("low", np.array(-0.5)), ("high", np.array(1.25)), ("square", square))
    constants = {name: value for name, value in known if name in used}
    content = model(nodes, constants, opset)
    network = read("m.onnx", content)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(content, options)
    points = np.random.default_rng(2).normal(scale=2.0, size=(50, 3)).astype(np.float32)
    expected = np.concatenate([session.run(None, {"x": p[None]})[0] for p in points])
    np.testing.assert_allclose(network.evaluate(points.astype(np.float64)), expected, rtol=1e-5, atol=1e-6)
    assert (len(network.steps) == 2) == ("twice" not in case)
    if case == "behind a bias":  # it stays one, so that the function is the same for all rows
        assert isinstance(network.steps[0].function, Curves)
        assert network.steps[0].function.uniform == clip(0.0, 1.25)
