"""Broadcasting: whether shapes go together, and whether a constant is the same for every sample of a batch."""

from __future__ import annotations

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import TooLargeError, check_size
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import OperatorCall


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """UnreadableError where two shapes do not broadcast; TooLargeError where the result would be too large."""
    try:
        check_size(np.broadcast_shapes(a, b))
    except TooLargeError:
        raise
    except ValueError as error:
        raise UnreadableError(f"shapes {a} and {b} do not broadcast", "check the operands' shapes") from error


def check_one_for_all(call: OperatorCall, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """No operand may hold other numbers for each sample of a fixed batch, of which one is read: grow its first axis."""
    first = [s[0] if s and len(s) == max(len(a), len(b)) else 1 for s in (a, b)]
    if call.batch is not None and call.batch != call.samples and sorted(first) == [call.samples, call.batch]:
        message = f"a constant has other numbers for each of the {call.batch} samples of the batch"
        raise UnreadableError(message, "export the model with a batch size of 1")


def reshaped(value: Affine | Enclosure, shape: tuple[int, ...]) -> Affine | Enclosure:
    """The same entries in another shape."""
    if isinstance(value, Affine):
        return af.rearrange(value, lambda p: p.reshape(shape))
    return value.rearranged(lambda a: a.reshape(shape))
