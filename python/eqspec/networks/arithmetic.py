"""The arithmetic operators of ONNX, over the reals: products, sums, normalisation, ReLU, casts.

A product or quotient must have a constant operand, so that the value stays affine. Float casts of input-dependent
values are the identity, as all rounding at run time is; a cast of a stored constant is applied, since it decides
which weight the network has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.call import Call, Operator, Scores, Value
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import FLOATS, WHOLES, UnreadableError, Whole

NOT_AFFINE = "a network of affine and ReLU layers cannot express it: replace it, or split the model there"


def _swap(value: Affine) -> Affine:
    return af.rearrange(value, lambda p: np.swapaxes(p, -1, -2))


def _transpose(constant: Enclosure) -> Enclosure:
    error = None if constant.error is None else np.swapaxes(constant.error, -1, -2)
    return Enclosure(np.swapaxes(constant.value, -1, -2), error)


def _multiply_matrices(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    if a.shape[-1] != b.shape[-2]:
        raise UnreadableError(f"shapes {a.shape} and {b.shape} do not multiply", "check the weight's orientation")
    _check_broadcast(a.shape[:-2], b.shape[:-2])
    if isinstance(a, Affine) and isinstance(b, Affine):
        raise UnreadableError("a product of two values that both depend on the input", NOT_AFFINE)
    if isinstance(a, Affine):
        assert isinstance(b, Enclosure)
        return af.matmul(a, b)
    if isinstance(b, Affine):
        return _swap(af.matmul(_swap(b), _transpose(a)))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    af.check_size((*batch, a.shape[-2], b.shape[-1]))
    return en.matmul(a, b)


def _reshaped(value: Affine | Enclosure, shape: tuple[int, ...]) -> Affine | Enclosure:
    if isinstance(value, Affine):
        return af.rearrange(value, lambda p: p.reshape(shape))
    return Enclosure(value.value.reshape(shape), None if value.error is None else value.error.reshape(shape))


def matmul(call: Call) -> Sequence[Value]:
    """MatMul, numpy's rules: an operand of rank 1 is a row on the left, a column on the right."""
    a, b = call.real_value(0), call.real_value(1)
    left, right = len(a.shape) == 1, len(b.shape) == 1
    if not a.shape or not b.shape:
        raise UnreadableError("a scalar in a matrix product", "use Mul")
    product = _multiply_matrices(
        _reshaped(a, (1, *a.shape)) if left else a,
        _reshaped(b, (*b.shape, 1)) if right else b,
    )
    shape = product.shape[:-1] if right else product.shape
    return [_reshaped(product, (*shape[:-2], *shape[-1:]) if left and not right else shape[:-1] if left else shape)]


def gemm(call: Call) -> Sequence[Value]:
    """alpha A' B' + beta C, C broadcast to the product or left out."""
    a, b = call.real_value(0), call.real_value(1)
    for name, x in (("A", a), ("B", b)):
        if len(x.shape) != 2:
            raise UnreadableError(f"{name} has shape {x.shape}, Gemm takes matrices", "flatten it first")
    if call.integer("transA", 0):
        a = _swap(a) if isinstance(a, Affine) else _transpose(a)
    if call.integer("transB", 0):
        b = _swap(b) if isinstance(b, Affine) else _transpose(b)
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    if isinstance(a, Affine):
        b = _times(b, alpha)
    else:
        a = _times(a, alpha)
    product = _multiply_matrices(a, b)
    if not call.has(2) or beta == 0:
        return [product]
    c = _times(call.real_value(2), beta)
    _check_broadcast(c.shape, product.shape)
    if np.broadcast_shapes(c.shape, product.shape) != product.shape:
        raise UnreadableError(f"C of shape {c.shape} does not broadcast to {product.shape}", "check the bias")
    return [_sum(product, c)]


def _times(value: Affine | Enclosure, factor: float) -> Affine | Enclosure:
    if factor == 1:
        return value
    constant = en.exactly(factor)
    return af.scale(value, constant) if isinstance(value, Affine) else en.multiply(value, constant)


def _negative(value: Affine | Enclosure) -> Affine | Enclosure:
    return af.negate(value) if isinstance(value, Affine) else en.negate(value)


def _check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        af.check_size(np.broadcast_shapes(a, b))
    except af.TooLargeError:
        raise
    except ValueError as error:
        raise UnreadableError(f"shapes {a} and {b} do not broadcast", "check the operands' shapes") from error


def _sum(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    _check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine):
        return af.add(a, b) if isinstance(b, Affine) else af.shift(a, b)
    return af.shift(b, a) if isinstance(b, Affine) else en.add(a, b)


def _product(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    _check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine) and isinstance(b, Affine):
        raise UnreadableError("a product of two values that both depend on the input", NOT_AFFINE)
    if isinstance(a, Affine):
        assert isinstance(b, Enclosure)
        return af.scale(a, b)
    return af.scale(b, a) if isinstance(b, Affine) else en.multiply(a, b)


def _quotient(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    _check_broadcast(a.shape, b.shape)
    if isinstance(b, Affine):
        raise UnreadableError("a division by a value that depends on the input", NOT_AFFINE)
    if not ((np.abs(b.value) - b.radius) > 0).all():
        raise UnreadableError("a division by zero", "repair the constant")
    return af.scale(a, b, en.divide) if isinstance(a, Affine) else en.divide(a, b)


def _whole_quotient(a: Whole, b: Whole) -> Whole:
    if not b.all():
        raise UnreadableError("a division by zero", "repair the constant")
    quotient: Whole = np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)  # towards zero, as C does
    return quotient


Real = Callable[[Affine | Enclosure, Affine | Enclosure], Affine | Enclosure]


def _binary(real: Real, whole: Callable[[Whole, Whole], Whole]) -> Operator:
    def operator(call: Call) -> Sequence[Value]:
        a, b = call.value(0), call.value(1)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            _check_broadcast(a.shape, b.shape)
            return [np.asarray(whole(a, b))]
        x, y = call.real_value(0), call.real_value(1)
        if call.opset < 7 and (axis := call.integer("axis", -1)) >= 0:  # B's axes start at this one of A's
            y = _reshaped(y, (*y.shape, *(1,) * (len(x.shape) - axis - len(y.shape))))
        return [real(x, y)]

    return operator


def sum_all(call: Call) -> Sequence[Value]:
    """Sum of any number of values."""
    total = call.real_value(0)
    for index in range(1, len(call.inputs)):
        total = _sum(total, call.real_value(index))
    return [total]


def negative(call: Call) -> Sequence[Value]:
    """Neg."""
    a = call.value(0)
    return [np.asarray(-a) if isinstance(a, np.ndarray) else _negative(call.real_value(0))]


def square_root(call: Call) -> Sequence[Value]:
    """Sqrt of a constant (a normalisation that was exported in pieces)."""
    a = call.number(0)
    if (a.value - a.radius < 0).any():
        raise UnreadableError("the square root of a negative number", "repair the constant")
    return [en.square_root(a)]


def relu(call: Call) -> Sequence[Value]:
    """Relu: a new layer of units, or the constant itself."""
    a = call.real_value(0)
    if isinstance(a, Affine):
        return [a.level.rectify(a)]
    return [Enclosure(np.maximum(a.value, 0.0), a.error)]


def batch_normalization(call: Call) -> Sequence[Value]:
    """scale (x - mean) / sqrt(variance + epsilon) + bias with stored statistics, over the channels of axis 1."""
    x = call.real_value(0)
    training = call.integer("training_mode", 0) if call.opset >= 14 else 0
    if training or (call.opset < 7 and not call.integer("is_test", 0) and len([o for o in call.node.output if o]) > 1):
        raise UnreadableError("normalisation in training mode", "export the model in inference mode (model.eval())")
    factor, bias, mean, variance = (call.number(i) for i in range(1, 5))
    shape = _channel_shape(call, x.shape, factor.shape)
    factor, bias, mean, variance = (_constant_shape(c, shape) for c in (factor, bias, mean, variance))
    deviation = en.add(variance, en.exactly(call.real("epsilon", float(np.float32(1e-5)))))
    if not (deviation.value - deviation.radius > 0).all():
        raise UnreadableError("variance + epsilon is not positive", "repair the training or the export that made it")
    slope = en.divide(factor, en.square_root(deviation))
    offset = en.add(bias, en.negate(en.multiply(mean, slope)))
    return [_sum(_product(x, slope), offset)]


def _constant_shape(constant: Enclosure, shape: tuple[int, ...]) -> Enclosure:
    if constant.value.size != int(np.prod(shape)):
        message = (
            f"scale, bias, mean and variance have different sizes ({constant.value.size} and {int(np.prod(shape))})"
        )
        raise UnreadableError(message, "export the model again")
    reshaped = _reshaped(constant, shape)
    assert isinstance(reshaped, Enclosure)
    return reshaped


def _channel_shape(call: Call, shape: tuple[int, ...], parameters: tuple[int, ...]) -> tuple[int, ...]:
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


def softmax(call: Call) -> Sequence[Value]:
    """Softmax or LogSoftmax over all scores: left out and reported; nothing may compute with it."""
    x = call.real_value(0)
    if isinstance(x, Enclosure):
        x = af.constant(call.inputs_level, x)
    rank = len(x.shape)
    axis = call.integer("axis", 1 if call.opset < 13 else -1)
    if not -rank <= axis < rank:
        raise UnreadableError(f"axis {axis} of a value of shape {x.shape}", "export the model again")
    axis %= rank
    covered = int(np.prod(x.shape[axis:])) if call.opset < 13 else x.shape[axis]
    if covered != x.size:
        message = f"Softmax over {covered} of {x.size} numbers of a value of shape {x.shape}"
        raise UnreadableError(message, "only a Softmax over all outputs of one sample is read: check its axis")
    return [Scores(x, "softmax" if call.node.op_type == "Softmax" else "log_softmax")]


def cast(call: Call) -> Sequence[Value]:
    """Cast: the identity on input-dependent values, the stored type's rounding on constants."""
    a, kind = call.value(0), call.integer("to", 0)
    if kind in FLOATS:
        if isinstance(a, Affine | Scores):
            if kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
                name = TensorProto.DataType.Name(kind).lower()
                call.notes.append(f"Cast {call.node.output[0]!r} to {name} is the identity: rounding is not modelled")
            return [a]
        if isinstance(a, np.ndarray):
            rounded = a.astype(np.float64)
            error = np.array(
                [abs(int(n) - int(r)) for n, r in zip(a.ravel(), rounded.ravel(), strict=True)], dtype=np.float64
            )
            if error.any():
                raise UnreadableError("an integer beyond 2^53 is cast to a float", "store it as a float")
            a = Enclosure(rounded)
        return [_narrow(a, kind)]
    if kind not in WHOLES:
        raise UnreadableError(f"a cast to type number {kind}", "cast to a float type, or to integers for shapes")
    if not isinstance(a, Enclosure | np.ndarray):
        raise UnreadableError("a value that depends on the input is cast to integers", NOT_AFFINE)
    return [_to_whole(a, kind)]


def _narrow(a: Enclosure, kind: int) -> Enclosure:
    if kind == TensorProto.BFLOAT16:
        narrow = (
            (a.value.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
        )
        if a.error is not None or (narrow != a.value).any():
            raise UnreadableError("a constant is rounded to bfloat16", "store the rounded constant")
        return a
    with np.errstate(over="ignore"):
        narrow = a.value.astype(FLOATS[kind]).astype(np.float64)
    if (narrow == a.value).all():
        return a
    if a.error is not None:
        raise UnreadableError("a computed constant is rounded by a cast", "fold the constants before exporting")
    return en.enclose(narrow, None)


def _to_whole(a: Enclosure | Whole, kind: int) -> Whole:
    if isinstance(a, Enclosure):
        if a.error is not None or (np.abs(a.value) >= 2.0**63).any():
            raise UnreadableError("a constant that is no exact int64 is cast to integers", "store it as integers")
        a = a.value.astype(np.int64) if kind != TensorProto.BOOL else (a.value != 0).astype(np.int64)
    dtype = np.dtype(WHOLES[kind])
    cut: Whole = a.astype(dtype).astype(np.int64)
    return cut


OPERATORS: dict[str, Operator] = {
    "Add": _binary(_sum, np.add),
    "BatchNormalization": batch_normalization,
    "Cast": cast,
    "Div": _binary(_quotient, _whole_quotient),
    "Gemm": gemm,
    "LogSoftmax": softmax,
    "MatMul": matmul,
    "Mul": _binary(_product, np.multiply),
    "Neg": negative,
    "Relu": relu,
    "Softmax": softmax,
    "Sqrt": square_root,
    "Sub": _binary(lambda a, b: _sum(a, _negative(b)), np.subtract),
    "Sum": sum_all,
}
