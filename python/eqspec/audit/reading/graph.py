"""Networks as ONNX: their operators are done to Numbers.

What an operator does is told by onnx's own reference implementation, which is handed arrays of Numbers: it can add and
multiply them and put them in other places, and everything else it may try is refused. Only ReLU, normalisation and
Dropout (as they are in inference) and a final Softmax, before which the claim is, are done here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from ..rounding import Array, Refused
from . import sizes
from .number import Float32, Number, numbers

REFERENCE = {"Add", "Div", "Gemm", "MatMul", "Mul", "Sub"}
REFERENCE |= {"Flatten", "Gather", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
"""Operators that onnx's reference implementation does to Numbers."""


def run(content: bytes, kind: type[Number], value: Array, relu: Callable[[Array], Array]) -> Array:
    """What comes out of a network that is given a value."""

    def stored(tensor: onnx.TensorProto) -> Array:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise Refused("its weights are in other files, which no sha256 covers")
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind not in "fiu" or (array.dtype.itemsize < 4 and kind is Float32):
            raise Refused("a constant is of a type that the auditor does not read")
        return numbers(kind, array.astype(np.float64)) if array.dtype.kind == "f" else array

    model = onnx.load_model_from_string(content)
    if model.functions or min(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 7:
        raise Refused("the auditor reads plain graphs of opset 7 or newer")
    sizes.bounded(model.graph)
    values = {tensor.name: stored(tensor) for tensor in model.graph.initializer}
    (given,), (result,) = [i for i in model.graph.input if i.name not in values], model.graph.output
    shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    values[given.name] = value.reshape([1, *shape[1:]] if int(np.prod(shape[1:])) == value.size else shape)
    for node in model.graph.node:
        operator, attributes = node.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [values[name] for name in node.input if name]
        sizes.result(operator, attributes, operands)
        if node.domain not in ("", "ai.onnx") or len(node.output) != 1:
            raise Refused(f"the auditor does not read {operator} {node.name!r} of {node.domain!r}")
        if operator == "Relu":
            done = relu(operands[0])
        elif operator == "Constant" and set(attributes) == {"value"}:
            done = stored(attributes["value"])
        elif operator == "Identity" or (operator == "Dropout" and len(operands) <= 2):
            done = operands[0]
        elif operator == "BatchNormalization" and set(attributes) <= {"epsilon", "momentum"} and operands[0].ndim > 1:
            done = _normalised(operands, attributes.get("epsilon", float(np.float32(1e-5))))
        elif operator.endswith("Softmax") and node.output[0] == result.name:
            done = operands[0]
            if attributes.get("axis", -1) not in (-1, done.ndim - 1) or done.size != done.shape[-1]:
                raise Refused("a Softmax that is not over all outputs")
        elif operator in REFERENCE:
            done = _by_reference(node, model.opset_import, operands)
        else:
            raise Refused(f"the auditor does not read {operator} {node.name!r}")
        values[node.output[0]] = np.asarray(done)
    return values[result.name]


def _normalised(operands: list[Array], epsilon: float) -> Array:
    """BatchNormalization in inference, channels on axis 1."""
    shape = (-1, *[1] * (operands[0].ndim - 2))
    scale, shift, mean, variance = (v.reshape(shape) for v in operands[1:])
    return np.asarray((operands[0] - mean) * (scale / np.sqrt(variance + epsilon)) + shift)


def _by_reference(node: onnx.NodeProto, opsets: Any, operands: list[Array]) -> Array:
    inputs = dict(zip([name for name in node.input if name], operands, strict=True))
    given, got = ([onnx.helper.make_value_info(n, onnx.TypeProto()) for n in names] for names in (inputs, node.output))
    graph = onnx.helper.make_graph([node], "one", given, got)
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (result,) = ReferenceEvaluator(model).run(None, inputs)
    return np.asarray(result)


def ends_in_softmax(content: bytes) -> bool:
    """Whether the result of a network that can be read comes out of a Softmax."""
    model = onnx.load_model_from_string(content)
    return any(n.op_type.endswith("Softmax") and n.output[0] == model.graph.output[0].name for n in model.graph.node)
