"""Networks as ONNX: their operators are done to Numbers.

Only operators that are told here are read: those that put numbers elsewhere (`moving`), sums, products and quotients,
square roots of constants, ReLU, normalisation and Dropout as they are in inference, and a final Softmax, before which
the claim is. Integers are places, sizes and axes: nothing is computed with them.

A Cast to float or double changes nothing over the reals. In float32 it may round, so it is a product with 1, which
counts a rounding and an underflow. A cast of a constant decides which weight a network has: it is only read where the
constant is known exactly and the type holds it, so that it changes nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ..rounding import Array, Refused
from .effort import Effort, digits
from .number import Float32, Number, numbers
from .plain import numbers_of, plain
from .shape_operators import MOVING, moved, whole

ELEMENTWISE = {"Add": np.add, "Div": np.true_divide, "Mul": np.multiply, "Sub": np.subtract}
COMPUTED = {*ELEMENTWISE, "BatchNormalization", "Gemm", "MatMul", "Neg", "Relu", "Sqrt", "Sum"}
FLOATS: dict[int, type[np.floating[Any]]] = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}
WRITTEN = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
"""The types of casts, and of constants that are no tensors."""


def run(content: bytes, kind: type[Number], value: Array, relu: Callable[[Array], Array]) -> Array:
    """What comes out of a network that is given a value."""
    graph, opset = plain(content)
    tensors, effort = {tensor.name: tensor for tensor in graph.initializer}, Effort()

    def stored(given: onnx.TensorProto | Array) -> Array:
        array = given if isinstance(given, np.ndarray) else numbers_of(given)
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
    shape, kept = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim], given.type.tensor_type.elem_type
    if kept not in FLOATS and (kept != TensorProto.FLOAT16 or kind is Float32):
        raise Refused("its inputs are of a type that the auditor does not read")
    if prod(shape) != value.size:  # one sample of several, which might meet on the way
        raise Refused(f"it takes {prod(shape)} numbers, the task {value.size}")
    values = {given.name: effort.note(value.reshape(shape), 2, 1 << 12)}
    for node in graph.node:
        operator, attributes = node.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [read(name) for name in node.input]
        if operator in MOVING:
            values.update(zip(node.output, moved(node, opset, operands, attributes, effort), strict=True))
            continue
        if len(node.output) != 1:
            raise Refused(f"the auditor does not read {operator} {node.name!r} with {len(node.output)} outputs")
        if operator == "Constant" and set(attributes) == {"value"}:
            done = stored(attributes["value"])
        elif operator == "Constant" and len(attributes) == 1 and (name := next(iter(attributes))) in WRITTEN:
            done = stored(np.array(attributes[name], WRITTEN[name]))
        elif operator == "ConstantOfShape":
            number, sizes = stored(attributes.get("value", np.zeros(1))).reshape(()), tuple(whole(operands, 0) or ())
            effort.spend(sizes, 1, number)
            done = np.broadcast_to(number, sizes)
        elif operator == "Cast" and (first := operands[0]) is not None:
            done = _cast(first, kind, attributes["to"], effort)
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
    if node.op_type in ("Neg", "Relu", "Sqrt"):
        effort.spend(a.shape, 1, a)
        return relu(a) if node.op_type == "Relu" else np.asarray(-a if node.op_type == "Neg" else np.sqrt(a))
    if node.op_type == "Sum":
        values = [_real(operands, i) for i in range(len(operands))]
        effort.spend(np.broadcast_shapes(*(value.shape for value in values)), len(values), *values)
        return np.asarray(sum(values[1:], a))
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


def _cast(x: Array, kind: type[Number], to: int, effort: Effort) -> Array:
    if x.dtype != object and to == TensorProto.INT64:
        return x.astype(np.int64)
    if to not in FLOATS:
        raise Refused("the auditor does not read Cast to other types than float and double")
    made = kind.rounds or x.dtype != object
    effort.spend(x.shape if made else (), 1 if made else x.size, x)
    x = x if x.dtype == object else numbers(kind, x)
    for number in x.ravel():
        with np.errstate(over="ignore"):
            held = number.over_units or float(FLOATS[to](float(number.constant[0]))) == number.constant[0]
        if not held or (number.k and not kind.rounds and not number.over_units):
            raise Refused("a Cast of a constant to a type that does not hold it")
    return effort.note(np.asarray(x * 1) if kind.rounds else x, *effort.size(x))


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
