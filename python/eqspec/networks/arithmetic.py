"""The arithmetic operators of ONNX, over the reals: products, sums, ReLU.

A product or quotient must have a constant operand, so that the value stays affine. Integer constants are computed
with in their own type (see `integers`), casts are in `casting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants, integers
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.call import NOT_AFFINE, Call, Operator, Value
from eqspec.networks.casting import cast
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError, Whole


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
    first = [s[0] if s and len(s) == max(len(a), len(b)) else 1 for s in (a, b)]
    if call.batch is not None and sorted(first) == [call.samples, call.batch]:
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


Real = Callable[[Affine | Enclosure, Affine | Enclosure], Affine | Enclosure]


def _binary(real: Real, whole: Callable[[Whole, Whole], Whole]) -> Operator:
    def operator(call: Call) -> Sequence[Value]:
        a, b = call.value(0), call.value(1)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            b = b.reshape(_legacy_shape(call, a.shape, b.shape)) if call.opset < 7 else b
            _check_broadcast(a.shape, b.shape)
            return [whole(a, b)]
        x, y = call.real_value(0), call.real_value(1)
        if call.opset < 7:
            y = reshaped(y, _legacy_shape(call, x.shape, y.shape))
        _check_one_for_all(call, x.shape, y.shape)
        return [real(x, y)]

    return operator


def _legacy_shape(call: Call, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Before opset 7 shapes are equal; with `broadcast` those of B are some of A's, from `axis` or else the last."""
    if not call.integer("broadcast", 0):
        shape = b if a == b else None
    elif prod(b) == 1:
        shape = (1,) * min(len(a), len(b))
    else:
        axis = len(a) - len(b) if call.attribute("axis") is None else call.integer("axis", 0)
        fits = 0 <= axis <= len(a) - len(b) and all(d in (1, e) for d, e in zip(b, a[axis:], strict=False))
        shape = (*b, *(1,) * (len(a) - axis - len(b))) if fits else None
    if shape is None:
        raise UnreadableError(f"shapes {a} and {b} do not broadcast as opset {call.opset} asks", "export it again")
    return shape


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
    return [integers.negate(a) if isinstance(a, np.ndarray) else _negative(call.real_value(0))]


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


OPERATORS: dict[str, Operator] = {
    "Add": _binary(add, integers.add),
    "Cast": cast,
    "Div": _binary(_quotient, integers.divide),
    "Gemm": gemm,
    "MatMul": matmul,
    "Mul": _binary(multiply, integers.multiply),
    "Neg": negative,
    "Relu": relu,
    "Sqrt": square_root,
    "Sub": _binary(lambda a, b: add(a, _negative(b)), integers.subtract),
    "Sum": sum_all,
}
