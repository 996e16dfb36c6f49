"""Constant and ConstantOfShape: numbers that stand in the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from onnx import AttributeProto

from eqspec.networks import masked
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.masked import Masked
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import Constant, UnreadableError, decode
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def constant(call: OperatorCall) -> Sequence[Value]:
    """Constant, in any of its forms but strings; sparse tensors were written out before (`sparse_constants`)."""
    if len(call.node.attribute) != 1:
        message = f"a constant with {len(call.node.attribute)} values"
        raise UnreadableError(message, "export the model again: one value must be given")
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        found = call.attribute(name)
        if found is None:
            continue
        if name == "value":
            if found.type != AttributeProto.TENSOR:
                raise UnreadableError("attribute 'value' is not a tensor", "export the model again")
            return [decode(found.t, call.external)]
        if name.startswith("value_int"):
            return [np.array(call.integers(name) if name.endswith("s") else call.integer(name, 0), dtype=np.int64)]
        if name == "value_float" and found.type == AttributeProto.FLOAT and np.isneginf(found.f):
            return [masked.constant(np.array(found.f, np.float64))]
        numbers = np.array(list(found.floats) if name.endswith("s") else call.real(name, 0.0), dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise UnreadableError("a number that is not finite", "repair the training or the export that made it")
        return [Enclosure(numbers)]
    raise UnreadableError("a constant that is not a dense tensor of numbers", "store it as an initialiser")


def constant_of_shape(call: OperatorCall) -> Sequence[Value]:
    """ConstantOfShape: one number everywhere, 0 by default."""
    shape = tuple(int(d) for d in call.whole(0).reshape(-1))
    if any(d < 0 for d in shape):
        raise UnreadableError(f"shape {shape} is negative", "export the model again")
    check_value(shape)
    found = call.attribute("value")
    number: Constant = decode(found.t, call.external) if found is not None else Enclosure(np.zeros(1))
    if prod(number.shape) != 1:
        raise UnreadableError("the value is not one number", "export the model again")
    if isinstance(number, Masked):
        return [number.rearranged(lambda a: np.full(shape, a.reshape(-1)[0]))]
    if isinstance(number, np.ndarray):
        return [np.full(shape, number.reshape(-1)[0])]
    return [Enclosure(np.full(shape, number.value.reshape(-1)[0]))]


OPERATORS: dict[str, Operator] = {
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
}
