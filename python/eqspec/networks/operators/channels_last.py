"""Conv, MaxPool and BatchNormalization of qonnx with the channels behind the places, as FINN and hls4ml want them.

Each is the standard operator between two transpositions: of its first input, and of the weight of a Conv as well, which
is stored as (outputs, places of the kernel, channels). Biases and the numbers of a normalisation are by channel, and
stay as they are. qonnx gives each of them a few attributes; its conversion to channels last keeps those of the standard
operator beside them, of which it knows nothing. They are read where they say what is so without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from onnx import helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import batch_normalization, convolution, pooling
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.qonnx import check_signature
from eqspec.networks.operators.shapes import apply, shape_of_value

DOMAIN = "qonnx.custom_op.channels_last"
_AGAIN = "export the model again"
_WINDOW = ("kernel_shape", "strides", "pads")
_AS_WITHOUT = {"auto_pad": b"NOTSET", "ceil_mode": 0, "dilations": 1, "storage_order": 0, "training_mode": 0}
"""Attributes of the standard operators, and with which value they change nothing; of lists, each of their numbers."""


def _in_front(value: Value) -> Value:
    """The last axis as the second one."""
    _check_rank(value)
    return apply(value, lambda a: np.moveaxis(a, -1, 1))


def _behind(value: Value) -> Value:
    """The second axis as the last one."""
    return apply(value, lambda a: np.moveaxis(a, 1, -1))


def _check_rank(value: Value) -> None:
    if len(shape_of_value(value)) < 2:
        raise UnreadableError("a value without an axis of channels", _AGAIN)


def _check_as_without(call: OperatorCall, name: str) -> None:
    """UnreadableError where an attribute that qonnx does not define says something."""
    found = call.attribute(name)
    if found is None:
        return
    value = helper.get_attribute_value(found)
    if any(one != _AS_WITHOUT[name] for one in (value if isinstance(value, list) else [value])):
        shown = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        raise UnreadableError(
            f"attribute {name!r} is {shown}, which qonnx does not define with channels last",
            "leave it out, or convert the model without it",
        )


def _between(read: Operator, attributes: Sequence[str], inputs: Sequence[int], moved: int = 1) -> Operator:
    """The operator `read` on its first `moved` inputs with channels in front; its result has them behind again."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        check_signature(call, (*attributes, *_AS_WITHOUT), *inputs)
        for name in _AS_WITHOUT:
            if name not in attributes:
                _check_as_without(call, name)
        given = [_in_front(call.value(i)) if i < moved else value for i, value in enumerate(call.inputs)]
        (made, *_) = read(replace(call, inputs=given))
        return [_behind(made)]

    return operator


OPERATORS: dict[str, Operator] = {
    f"{DOMAIN}.BatchNormalization": _between(
        batch_normalization.OPERATORS["BatchNormalization"], ("epsilon", "momentum"), (5,)
    ),
    f"{DOMAIN}.Conv": _between(convolution.OPERATORS["Conv"], (*_WINDOW, "dilations", "group"), (2, 3), moved=2),
    f"{DOMAIN}.MaxPool": _between(pooling.OPERATORS["MaxPool"], _WINDOW, (1,)),
}
"""By name with the domain."""
