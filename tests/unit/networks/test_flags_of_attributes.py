"""Attributes that are 0 or 1: of others some runtimes ask whether they are 1, others whether they are not 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from conformance.judging import audited
from eqspec.audit import Refused
from eqspec.errors import NetworkError
from eqspec.networks.readers import onnx_reader

SIZES = (1, 2, 3, 3)


def node(operator: str, *stored: str, **given: Any) -> NodeProto:
    """Of the input x and stored tensors."""
    return helper.make_node(operator, ["x", *stored], ["y"], **given)


NODES = {
    "keepdims": node("ReduceMax", "axes", keepdims=2),
    "noop_with_empty_axes": node("ReduceSum", noop_with_empty_axes=-1),
    "largest": node("TopK", "one", largest=2),
    "reverse": node("CumSum", "axis", reverse=-1),
    "exclusive": node("CumSum", "axis", exclusive=3),
    "count_include_pad": node("AveragePool", kernel_shape=[2, 2], pads=[1, 1, 1, 1], count_include_pad=2),
    "ceil_mode": node("MaxPool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=-1),
    "upper": node("Trilu", upper=2),
}
STORED = {"axes": np.array([1]), "one": np.array([1]), "axis": np.array(1)}


def model(made: NodeProto) -> bytes:
    """Its values are sums, so that every node has one output of numbers."""
    if made.op_type == "TopK":
        made = helper.make_node("TopK", made.input, ["y", "places"], **{a.name: a.i for a in made.attribute})
    graph = helper.make_graph(
        [made],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SIZES)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(STORED[name], name) for name in made.input if name in STORED],
    )
    content: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString()
    return content


@pytest.mark.parametrize("name", NODES)
def test_both_readers_refuse_what_is_neither_0_nor_1(name: str) -> None:
    made = NodeProto()
    made.CopyFrom(NODES[name])
    content = model(made)
    with pytest.raises(NetworkError, match=f"attribute '{name}' is -?[0-9], neither 0 nor 1"):
        onnx_reader.read("m.onnx", content)
    with pytest.raises(Refused, match="does not know"):
        audited(content, 18, 18).steps()


@pytest.mark.parametrize("name", sorted(NODES.keys() - {"noop_with_empty_axes"}))
def test_both_readers_take_1(name: str) -> None:
    made = NodeProto()
    made.CopyFrom(NODES[name])
    for attribute in made.attribute:
        if attribute.name == name:
            attribute.i = 1
    content = model(made)
    network = onnx_reader.read("m.onnx", content)
    assert audited(content, 18, network.output_size).steps()


def test_pads_of_dilated_windows_differ_from_runtime_to_runtime() -> None:
    """onnxruntime and onnx's reference pad as if windows were not dilated, which is not what the standard says."""
    for operator in ("LpPool", "MaxPool", "AveragePool"):
        content = model(node(operator, kernel_shape=[2, 2], dilations=[2, 2], auto_pad="SAME_UPPER"))
        with pytest.raises(NetworkError, match="auto_pad of dilated windows"):
            onnx_reader.read("m.onnx", content)
        with pytest.raises(Refused, match="padded in two ways"):
            audited(content, 18, 18).steps()
