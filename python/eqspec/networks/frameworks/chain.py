"""An ONNX model written step by step: nodes with constants, from one input to one output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

_OPSET, _IR = 13, 8
_LATER = {"HardSwish": 14, "Mish": 18, "Gelu": 20}
"""Operators that came with a later opset, which a model then asks for."""
INPUT = "input"


class Chain:
    """A graph under way; values are known by name. The input has the shape (batch, *shape) and one float type."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._type = helper.np_dtype_to_tensor_dtype(dtype)
        self._shape = list(shape)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, array: NDArray[Any]) -> str:
        """A constant, exactly as it is."""
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, operator: str, *inputs: str | NDArray[Any], **attributes: Any) -> str:
        """A node over values by name and constants; the name of its output."""
        names = [given if isinstance(given, str) else self.constant(given) for given in inputs]
        output = f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def model(self, output: str, sizes: Sequence[int | None]) -> onnx.ModelProto:
        """The model whose output is the named value, of the shape (batch, *sizes)."""
        given = helper.make_tensor_value_info(INPUT, self._type, ["batch", *self._shape])
        answer = helper.make_tensor_value_info("output", self._type, ["batch", *sizes])
        nodes = [*self._nodes, helper.make_node("Identity", [output], ["output"])]
        graph = helper.make_graph(nodes, "model", [given], [answer], self._constants)
        opset = max(_OPSET, *(_LATER.get(node.op_type, 0) for node in nodes))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_IR)
