"""Softmax and LogSoftmax at the end of a network, which are left out: the outputs are the scores in front of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Scores, Value


def softmax(call: OperatorCall) -> Sequence[Value]:
    """Softmax or LogSoftmax over all scores: left out and reported; nothing may compute with it."""
    x = call.real_value(0)
    if isinstance(x, Enclosure):
        x = af.constant(call.given, x)
    rank = len(x.shape)
    axis = call.integer("axis", 1 if call.opset < 13 else -1)
    if not -rank <= axis < rank:
        raise UnreadableError(f"axis {axis} of a value of shape {x.shape}", "export the model again")
    axis %= rank
    covered = int(np.prod(x.shape[axis:])) if call.opset < 13 else x.shape[axis]
    if covered * call.samples != x.size:
        message = f"Softmax over {covered} of {x.size} numbers of a value of shape {x.shape}"
        raise UnreadableError(message, "only a Softmax over all outputs of one sample is read: check its axis")
    return [Scores(x, "softmax" if call.node.op_type == "Softmax" else "log_softmax")]


OPERATORS: dict[str, Operator] = {
    "LogSoftmax": softmax,
    "Softmax": softmax,
}
