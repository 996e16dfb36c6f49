"""BatchNormalization in inference mode, which folds into the layer before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import curves
from eqspec.networks.operators.broadcasting import reshaped
from eqspec.networks.operators.elementwise import add, multiply
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value


def batch_normalization(call: OperatorCall) -> Sequence[Value]:
    """scale (x - mean) / sqrt(variance + epsilon) + bias with stored statistics, over the channels of axis 1."""
    x = call.real_value(0)
    if _is_training(call):
        if isinstance(
            x, Enclosure
        ):  # as standardised weights are; onnxruntime answers something else than ONNX defines
            fix = "export the model with the weights that it computes, in place of what computes them"
            raise UnreadableError("stored weights are normalised in training mode, by their own statistics", fix)
        raise UnreadableError("normalisation in training mode", "export the model in inference mode (model.eval())")
    if any(isinstance(call.real_value(i), Affine) for i in range(1, 5)):
        return [_by_values(call, x)]
    factor, bias, mean, variance = (call.number(i) for i in range(1, 5))
    shape = _channel_shape(call, x.shape, factor.shape)
    factor, bias, mean, variance = (_constant_shape(c, shape) for c in (factor, bias, mean, variance))
    deviation = constants.add(variance, en.exactly(call.real("epsilon", float(np.float32(1e-5)))))
    if not (deviation.value - deviation.radius > 0).all():
        raise UnreadableError("variance + epsilon is not positive", "repair the training or the export that made it")
    slope = constants.divide(factor, constants.square_root(deviation))
    offset = constants.add(bias, constants.negate(constants.multiply(mean, slope)))
    return [add(multiply(x, slope), offset)]


def _by_values(call: OperatorCall, x: Affine | Enclosure) -> Affine | Enclosure:
    """The same with statistics that depend on the input, as tf2onnx writes a normalisation of layers."""
    found = [call.real_value(i) for i in range(1, 5)]
    shape = _channel_shape(call, x.shape, found[0].shape)
    if any(v.shape != found[0].shape for v in found):
        message = f"scale, bias, mean and variance have shapes {', '.join(str(v.shape) for v in found)}"
        raise UnreadableError(message, "export the model again")
    factor, bias, mean, variance = (reshaped(v, shape) for v in found)
    deviation = add(variance, en.exactly(call.real("epsilon", float(np.float32(1e-5)))))
    apart = add(x, af.negate(mean) if isinstance(mean, Affine) else constants.negate(mean))
    slope = multiply(factor, curves.of(Curve("power", (-0.5,)), deviation))
    return add(multiply(apart, slope), bias)


def _is_training(call: OperatorCall) -> bool:
    """Whether the node normalises by the statistics of its batch, which makes it another function.

    Since opset 14 an attribute says so, and in inference there is one output only. Before, more than one output means
    training; before opset 7 so does `is_test`, which is 0 where it is left out.
    """
    if call.opset < 7 and not call.integer("is_test", 0):
        return True
    return len(call.node.output) > 1 or (call.opset >= 14 and call.integer("training_mode", 0) != 0)


def _constant_shape(constant: Enclosure, shape: tuple[int, ...]) -> Enclosure:
    if constant.value.size != int(np.prod(shape)):
        message = (
            f"scale, bias, mean and variance have different sizes ({constant.value.size} and {int(np.prod(shape))})"
        )
        raise UnreadableError(message, "export the model again")
    result = reshaped(constant, shape)
    assert isinstance(result, Enclosure)
    return result


def _channel_shape(call: OperatorCall, shape: tuple[int, ...], parameters: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which the parameters broadcast against x."""
    size = int(np.prod(parameters))
    if call.opset < 9 and not call.integer("spatial", 1):
        if size == int(np.prod(shape[1:])):
            return shape[1:]
    elif len(shape) >= 2 and size == shape[1]:
        return (size, *(1,) * (len(shape) - 2))
    elif len(shape) == 2 and shape[1] == 1 and size == shape[0]:  # the one sample was transposed into axis 1
        name = call.node.output[0]
        call.notes.append(f"BatchNormalization {name!r} normalises axis 0 of {shape}: its {size} channels fit no other")
        return (size, 1)
    message = f"{size} channels do not fit a value of shape {shape}"
    raise UnreadableError(message, "axis 1 of the value must hold the channels")


OPERATORS: dict[str, Operator] = {
    "BatchNormalization": batch_normalization,
}
