"""Softmax and LogSoftmax: at the end of a network they are left out, and the outputs are the scores in front of them.

Where a network goes on computing with the result, or where the shares are of some of its outputs each, they are steps
of it (`softmax_inside`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import softmax_inside
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Scores, Value


def softmax(call: OperatorCall) -> Sequence[Value]:
    """Softmax or LogSoftmax; over all scores it may be left out."""
    x = call.real_value(0)
    if isinstance(x, Enclosure):
        x = af.constant(call.given, x)
    rank = len(x.shape)
    axis = call.integer("axis", 1 if call.opset < 13 else -1)
    if not -rank <= axis < rank:
        raise UnreadableError(f"axis {axis} of a value of shape {x.shape}", "export the model again")
    axis %= rank
    covered = int(np.prod(x.shape[axis:])) if call.opset < 13 else x.shape[axis]
    kind: Literal["softmax", "log_softmax"] = "softmax" if call.node.op_type == "Softmax" else "log_softmax"
    softened = partial(softmax_inside.softmax, covered=covered, logarithm=kind == "log_softmax")
    if covered * call.samples == x.size:
        return [Scores(x, kind, softened)]
    if axis == 0 and rank > 1:
        message = f"Softmax over {covered} of {x.size} numbers of a value of shape {x.shape}"
        raise UnreadableError(message, "its axis is that of the samples: check it")
    if call.opset < 13:
        return [softened(x)]
    made = softened(af.rearrange(x, lambda p: np.moveaxis(p, axis, -1)))
    return [af.rearrange(made, lambda p: np.moveaxis(p, -1, axis))]


OPERATORS: dict[str, Operator] = {
    "LogSoftmax": softmax,
    "Softmax": softmax,
}
