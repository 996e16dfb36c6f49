"""Networks as ONNX: their operators are done to Numbers.

Only operators that are told here are read: those that put numbers elsewhere (`moving`), sums, products and quotients,
ReLU, normalisation and Dropout as they are in inference, and a final Softmax, before which the claim is. Integers are
places, sizes and axes: nothing is computed with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx

from ..rounding import Array, Refused
from .effort import Effort, digits
from .moving import MOVING, moved
from .number import Float32, Number, numbers
from .plain import numbers_of, plain

ELEMENTWISE = {"Add": np.add, "Div": np.true_divide, "Mul": np.multiply, "Sub": np.subtract}
COMPUTED = {*ELEMENTWISE, "BatchNormalization", "Gemm", "MatMul", "Relu"}


def run(content: bytes, kind: type[Number], value: Array, relu: Callable[[Array], Array]) -> Array:
    """What comes out of a network that is given a value."""
    graph, opset = plain(content)
    tensors, effort = {tensor.name: tensor for tensor in graph.initializer}, Effort()

    def stored(tensor: onnx.TensorProto) -> Array:
        array = numbers_of(tensor)
        if array.dtype.kind != "f":
            return array
        if array.dtype.itemsize < 4 and kind is Float32:
            raise Refused("a constant is of a type that the auditor does not read")
        return effort.note(numbers(kind, array.astype(np.float64)), 1, digits(array))

    def read(name: str) -> Array | None:
        if name and name not in values:
            if name not in tensors:
                raise Refused(f"nothing before it makes {name!r}")
            values[name] = stored(tensors[name])
        return values[name] if name else None

    (given,), (result,) = [i for i in graph.input if i.name not in tensors], graph.output
    shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    whole = [1, *shape[1:]] if prod(shape[1:]) == value.size else shape
    values = {given.name: effort.note(value.reshape(whole), 2, 1 << 12)}
    for node in graph.node:
        operator, attributes = node.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [read(name) for name in node.input]
        if len(node.output) != 1:
            raise Refused(f"the auditor does not read {operator} {node.name!r} with {len(node.output)} outputs")
        if operator == "Constant" and set(attributes) == {"value"}:
            done = stored(attributes["value"])
        elif operator in MOVING and (first := operands[0]) is not None:
            done = np.asarray(moved(operator, opset, first, operands, attributes))
            effort.note(done, *effort.size(first))
        elif operator == "Dropout" and len(operands) <= 2:
            done = _real(operands, 0)
        elif operator.endswith("Softmax") and node.output[0] == result.name:
            done = _real(operands, 0)
            if attributes.get("axis", -1) not in (-1, done.ndim - 1) or done.size != done.shape[-1]:
                raise Refused("a Softmax that is not over all outputs")
        elif operator not in COMPUTED:
            raise Refused(f"the auditor does not read {operator} {node.name!r}")
        else:
            done = effort.inspected(np.asarray(_computed(node, operands, attributes, relu, effort)))
        values[node.output[0]] = done
    return _real([read(result.name)], 0)


def _real(operands: Sequence[Array | None], index: int) -> Array:
    found = operands[index] if index < len(operands) else None
    if found is None or found.dtype != object:
        raise Refused("integers are only read as places, sizes and axes")
    return found


def _computed(
    node: onnx.NodeProto,
    operands: list[Array | None],
    attributes: dict[str, Any],
    relu: Callable[[Array], Array],
    effort: Effort,
) -> Array:
    a = _real(operands, 0)
    if node.op_type == "Relu":
        effort.spend(a.shape, 1, a)
        return relu(a)
    if node.op_type in ELEMENTWISE:
        b = _real(operands, 1)
        effort.spend(np.broadcast_shapes(a.shape, b.shape), 1, a, b)
        return np.asarray(ELEMENTWISE[node.op_type](a, b))
    if node.op_type == "MatMul":
        return _product(a, _real(operands, 1), effort)
    if node.op_type == "Gemm":
        b = _real(operands, 1)
        if not a.ndim == b.ndim == 2:
            raise Refused("a Gemm of what are no matrices")
        a, b = (
            effort.note(x.T, *effort.size(x)) if attributes.get(name, 0) else x
            for x, name in ((a, "transA"), (b, "transB"))
        )
        product = _product(a, b, effort) * attributes.get("alpha", 1.0)
        if len(operands) < 3 or operands[2] is None:
            return np.asarray(product)
        return np.asarray(product + np.broadcast_to(_real(operands, 2) * attributes.get("beta", 1.0), product.shape))
    if not set(attributes) <= {"epsilon", "momentum"}:
        raise Refused("the auditor reads a normalisation in inference only")
    effort.spend(a.shape, 4, a)
    return _normalised([_real(operands, i) for i in range(5)], attributes.get("epsilon", float(np.float32(1e-5))))


def _product(a: Array, b: Array, effort: Effort) -> Array:
    if not a.ndim or not b.ndim:
        raise Refused("a product of matrices that are none")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    effort.spend((*lead, *a.shape[-2:-1], *b.shape[-1:] * (b.ndim > 1)), a.shape[-1], a, b)
    return np.asarray(a @ b)


def _normalised(operands: list[Array], epsilon: float) -> Array:
    """BatchNormalization in inference, channels on axis 1."""
    x = operands[0]
    if x.ndim < 2 or any(v.shape != x.shape[1:2] for v in operands[1:]):
        raise Refused("a normalisation whose channels are not those of its value")
    scale, shift, mean, variance = (v.reshape(-1, *[1] * (x.ndim - 2)) for v in operands[1:])
    return np.asarray((x - mean) * (scale / np.sqrt(variance + epsilon)) + shift)


def ends_in_softmax(content: bytes) -> bool:
    """Whether the result of a network that can be read comes out of a Softmax."""
    model = onnx.load_model_from_string(content)
    return any(n.op_type.endswith("Softmax") and n.output[0] == model.graph.output[0].name for n in model.graph.node)
