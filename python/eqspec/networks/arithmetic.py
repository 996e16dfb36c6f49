"""The arithmetic operators of ONNX, over the reals: products, sums, ReLU, casts.

A product or quotient must have a constant operand, so that the value stays affine. Float casts of input-dependent
values are the identity, as all rounding at run time is; a cast of a stored constant is applied, since it decides
which weight the network has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.call import Call, Operator, Scores, Value
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import FLOATS, WHOLES, UnreadableError, Whole

NOT_AFFINE = "a network of affine and ReLU layers cannot express it: replace it, or split the model there"


def _swap(value: Affine) -> Affine:
    return af.rearrange(value, lambda p: np.swapaxes(p, -1, -2))


def _transpose(constant: Enclosure) -> Enclosure:
    return constant.rearranged(lambda a: np.swapaxes(a, -1, -2))


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
    return constants.matmul(a, b)


def reshaped(value: Affine | Enclosure, shape: tuple[int, ...]) -> Affine | Enclosure:
    """The same entries in another shape."""
    if isinstance(value, Affine):
        return af.rearrange(value, lambda p: p.reshape(shape))
    return value.rearranged(lambda a: a.reshape(shape))


def matmul(call: Call) -> Sequence[Value]:
    """MatMul, numpy's rules: an operand of rank 1 is a row on the left, a column on the right."""
    a, b = call.real_value(0), call.real_value(1)
    left, right = len(a.shape) == 1, len(b.shape) == 1
    if not a.shape or not b.shape:
        raise UnreadableError("a scalar in a matrix product", "use Mul")
    _check_one_for_all(call, a.shape[:-2] or (1,), b.shape[:-2] or (1,))
    product = _multiply_matrices(
        reshaped(a, (1, *a.shape)) if left else a,
        reshaped(b, (*b.shape, 1)) if right else b,
    )
    shape = product.shape[:-1] if right else product.shape
    return [reshaped(product, (*shape[:-2], *shape[-1:]) if left and not right else shape[:-1] if left else shape)]


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
    return [add(product, c)]


def _times(value: Affine | Enclosure, factor: float) -> Affine | Enclosure:
    if factor == 1:
        return value
    constant = en.exactly(factor)
    return af.scale(value, constant) if isinstance(value, Affine) else constants.multiply(value, constant)


def _negative(value: Affine | Enclosure) -> Affine | Enclosure:
    return af.negate(value) if isinstance(value, Affine) else constants.negate(value)


def _check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        af.check_size(np.broadcast_shapes(a, b))
    except af.TooLargeError:
        raise
    except ValueError as error:
        raise UnreadableError(f"shapes {a} and {b} do not broadcast", "check the operands' shapes") from error


def _check_one_for_all(call: Call, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """No operand may hold other numbers for each sample of a fixed batch, of which one is read: grow its first axis."""
    first = [s[0] if len(s) == max(len(a), len(b)) else 1 for s in (a, b)]
    if call.batch is not None and sorted(first) == [1, call.batch]:
        message = f"a constant has other numbers for each of the {call.batch} samples of the batch"
        raise UnreadableError(message, "export the model with a batch size of 1")


def add(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    """a + b, broadcast."""
    _check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine):
        return af.add(a, b) if isinstance(b, Affine) else af.shift(a, b)
    return af.shift(b, a) if isinstance(b, Affine) else constants.add(a, b)


def multiply(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    """a b elementwise, broadcast; one of them must be constant."""
    _check_broadcast(a.shape, b.shape)
    if isinstance(a, Affine) and isinstance(b, Affine):
        raise UnreadableError("a product of two values that both depend on the input", NOT_AFFINE)
    if isinstance(a, Affine):
        assert isinstance(b, Enclosure)
        return af.scale(a, b)
    return af.scale(b, a) if isinstance(b, Affine) else constants.multiply(a, b)


def _quotient(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    _check_broadcast(a.shape, b.shape)
    if isinstance(b, Affine):
        raise UnreadableError("a division by a value that depends on the input", NOT_AFFINE)
    if not ((np.abs(b.value) - b.radius) > 0).all():
        raise UnreadableError("a division by zero", "repair the constant")
    return af.scale(a, b, en.divide) if isinstance(a, Affine) else constants.divide(a, b)


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
            y = reshaped(y, (*y.shape, *(1,) * (len(x.shape) - axis - len(y.shape))))
        _check_one_for_all(call, x.shape, y.shape)
        return [real(x, y)]

    return operator


def sum_all(call: Call) -> Sequence[Value]:
    """Sum of any number of values."""
    total = call.real_value(0)
    for index in range(1, len(call.inputs)):
        _check_one_for_all(call, total.shape, call.real_value(index).shape)
        total = add(total, call.real_value(index))
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
    return [constants.square_root(a)]


def relu(call: Call) -> Sequence[Value]:
    """Relu: a new layer of units, or the constant itself."""
    a = call.real_value(0)
    if isinstance(a, Affine):
        return [a.level.rectify(a)]
    return [Enclosure(np.maximum(a.value, 0.0), a.error)]


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
    "Add": _binary(add, np.add),
    "Cast": cast,
    "Div": _binary(_quotient, _whole_quotient),
    "Gemm": gemm,
    "MatMul": matmul,
    "Mul": _binary(multiply, np.multiply),
    "Neg": negative,
    "Relu": relu,
    "Sqrt": square_root,
    "Sub": _binary(lambda a, b: add(a, _negative(b)), np.subtract),
    "Sum": sum_all,
}
