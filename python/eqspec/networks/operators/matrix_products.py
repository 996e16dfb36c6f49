"""Matrix products of ONNX over the reals: MatMul, Gemm, and CumSum, whose matrix is a triangle of ones.

With a constant factor they are affine; of two values that depend on the input they are products by squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants, products
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import check_size, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding, functions, pooling, variable_products
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all, reshaped
from eqspec.networks.operators.elementwise import add
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of


def _swap(value: Affine) -> Affine:
    return af.rearrange(value, lambda p: np.swapaxes(p, -1, -2))


def _transpose(constant: Enclosure) -> Enclosure:
    return constant.rearranged(lambda a: np.swapaxes(a, -1, -2))


def multiply_matrices(a: Affine | Enclosure, b: Affine | Enclosure) -> Affine | Enclosure:
    """Stacks of matrices, as numpy multiplies them."""
    if a.shape[-1] != b.shape[-2]:
        raise UnreadableError(f"shapes {a.shape} and {b.shape} do not multiply", "check the weight's orientation")
    check_broadcast(a.shape[:-2], b.shape[:-2])
    if isinstance(a, Affine) and isinstance(b, Affine):
        return _of_variables(a, b)
    if isinstance(a, Affine):
        assert isinstance(b, Enclosure)
        return products.matmul(a, b)
    if isinstance(b, Affine):
        return _swap(products.matmul(_swap(b), _transpose(a)))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    check_size((*batch, a.shape[-2], b.shape[-1]))
    return constants.matmul(a, b)


def _of_variables(a: Affine, b: Affine) -> Affine:
    """The product of two values that depend on the input: each product by squares, then sums."""
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    check_value((*batch, rows, inner, columns))
    left = af.rearrange(functions.argument(a), lambda p: p[..., :, :, None])
    right = af.rearrange(functions.argument(b), lambda p: p[..., None, :, :])
    each = variable_products.product(left, right)
    groups = np.moveaxis(np.arange(each.size).reshape(each.shape), -2, -1).reshape(-1, inner)
    total = pooling.mean(each, groups, np.ones(len(groups), int), (*batch, rows, columns))
    assert isinstance(total, Affine)
    return total


def matmul(call: OperatorCall) -> Sequence[Value]:
    """MatMul, numpy's rules: an operand of rank 1 is a row on the left, a column on the right."""
    a, b = call.real_value(0), call.real_value(1)
    left, right = len(a.shape) == 1, len(b.shape) == 1
    if not a.shape or not b.shape:
        raise UnreadableError("a scalar in a matrix product", "use Mul")
    check_one_for_all(call, a.shape[:-2] or (1,), b.shape[:-2] or (1,))
    product = multiply_matrices(
        reshaped(a, (1, *a.shape)) if left else a,
        reshaped(b, (*b.shape, 1)) if right else b,
    )
    shape = product.shape[:-1] if right else product.shape
    return [reshaped(product, (*shape[:-2], *shape[-1:]) if left and not right else shape[:-1] if left else shape)]


def gemm(call: OperatorCall) -> Sequence[Value]:
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
    product = multiply_matrices(a, b)
    if not call.has(2) or beta == 0:
        return [product]
    c = _times(call.real_value(2), beta)
    check_broadcast(c.shape, product.shape)
    if np.broadcast_shapes(c.shape, product.shape) != product.shape:
        raise UnreadableError(f"C of shape {c.shape} does not broadcast to {product.shape}", "check the bias")
    return [add(product, c)]


def _times(value: Affine | Enclosure, factor: float) -> Affine | Enclosure:
    if factor == 1:
        return value
    constant = en.exactly(factor)
    return af.scale(value, constant) if isinstance(value, Affine) else constants.multiply(value, constant)


def cumulative_sum(call: OperatorCall) -> Sequence[Value]:
    """CumSum along an axis, from either end, with or without the entry itself: a product with a triangle of ones."""
    given = call.whole(1)
    if given.size != 1:
        raise UnreadableError(f"{given.size} axes", "export the model again: it sums along one axis")
    if isinstance(call.value(0), np.ndarray):  # torch writes the axis as a list of one, which onnx does not take
        return folding.fold(replace(call, inputs=[call.value(0), given.reshape(())]))
    x = call.real_value(0)
    axis = axis_of(int(given.reshape(-1)[0]), len(x.shape))
    triangle = np.triu(np.ones((x.shape[axis],) * 2), 1 if call.integer("exclusive", 0) else 0)
    ones = en.exactly(triangle.T if call.integer("reverse", 0) else triangle)
    last = (*(d for i, d in enumerate(x.shape) if i != axis), x.shape[axis])
    flat = apply(x, lambda a: np.moveaxis(a, axis, -1).reshape(-1, x.shape[axis]))
    assert isinstance(flat, Affine | Enclosure)
    made = multiply_matrices(flat, ones)
    return [apply(made, lambda a: np.moveaxis(a.reshape(last), -1, axis))]


OPERATORS: dict[str, Operator] = {
    "CumSum": cumulative_sum,
    "Gemm": gemm,
    "MatMul": matmul,
}
