"""Nodes that multiply by constant weights: where the weights stand, and along which of their axes the outputs lie.

Conv, Gemm, MatMul    x times weights, with the outputs along the first axis (Conv, Gemm with transB) or the last
MatMul                weights times x, for values that are columns: the outputs along the last axis but one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import NodeProto

Constants = dict[str, NDArray[Any]]
LAYERS = ("Conv", "Gemm", "MatMul")


def attribute(node: NodeProto, name: str, default: Any) -> Any:
    """An attribute of a node."""
    found = next((a for a in node.attribute if a.name == name), None)
    return default if found is None else onnx.helper.get_attribute_value(found)


def weight_place(node: NodeProto, constants: Mapping[str, NDArray[Any]]) -> int:
    """Which input of a layer its weights are; the other one of the first two is the value."""
    return 0 if node.op_type == "MatMul" and node.input[0] in constants else 1


def output_axis(node: NodeProto, constants: Mapping[str, NDArray[Any]]) -> int:
    """Along which axis of the weights the outputs lie."""
    if node.op_type == "Conv" or (node.op_type == "Gemm" and attribute(node, "transB", 0)):
        return 0
    return -1 if weight_place(node, constants) else -2
