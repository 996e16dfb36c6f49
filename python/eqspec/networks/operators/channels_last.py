"""Conv, MaxPool and BatchNormalization of qonnx with the channels behind the places, as FINN and hls4ml want them.

Each is the standard operator between two transpositions: of its first input, and of the weight of a Conv as well, which
is stored as (outputs, places of the kernel, channels). Biases and the numbers of a normalisation are by channel, and
stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import batch_normalization, convolution, pooling
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.qonnx import check_signature
from eqspec.networks.operators.shapes import apply, shape_of_value

DOMAIN = "qonnx.custom_op.channels_last"
_AGAIN = "export the model again"
_WINDOW = ("kernel_shape", "strides", "pads")


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


def _between(read: Operator, attributes: Sequence[str], inputs: Sequence[int], moved: int = 1) -> Operator:
    """The operator `read` on its first `moved` inputs with channels in front; its result has them behind again."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        check_signature(call, attributes, *inputs)
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
