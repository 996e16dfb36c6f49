"""Operators of onnxruntime's own domain on packed weights and levels: MatMulNBits, QLinearSoftmax and others.

MatMulNBits          Y = A W' + bias with W[n, k] = scale[n, b] (q[n, k] - zero[n, b]) in blocks b of one row; q are
                     integers of 2, 4 or 8 bits, packed with the lowest ones first, and their middle is the zero point
                     where none is given
MatMulIntegerToFloat scales of both (A - a) (B - b) + bias, in real numbers
QLinearSoftmax       levels of the Softmax of what levels stand for
QLinearWhere         one of two tensors of levels by a mask, with a scale of its own

onnx defines none of them; the semantics are those of onnxruntime's sources (contrib_defs.cc, qlinear_softmax.cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators import comparisons, elementwise, matrix_products, requantising, softmax
from eqspec.networks.operators.linear_quantisation import (
    as_computed,
    check_accumulator,
    checked,
    inner_call,
    quantised_result,
    real_input,
)
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Scores, Value
from eqspec.networks.operators.quantising import dequantised, scales, zeros

_AGAIN = "export the model again"
_ROUNDED = {2: "float16", 3: "bfloat16", 4: "8 bits, by a scale that depends on the input"}
"""What the factor A is rounded to at an accuracy level."""


def _size(call: OperatorCall, name: str) -> int:
    found = call.integer(name, 0)
    if found < 1:
        raise UnreadableError(f"attribute {name!r} is {found}", _AGAIN)
    return found


def packed_product(call: OperatorCall) -> Sequence[Value]:
    """MatMulNBits, where it multiplies in float32."""
    level = call.integer("accuracy_level", 0)
    if level not in (0, 1):
        what = _ROUNDED.get(level, f"an unknown precision ({level})")
        fix = "export it with accuracy_level=1, or with quant_format=QuantFormat.QDQ"
        raise UnreadableError(f"accuracy level {level}: its other factor is rounded to {what}", fix)
    if not level:
        what = f"{call.node.op_type} {call.node.output[0]!r}"
        call.notes.append(f"{what} has no accuracy level: it is read as the product in float32 that it is on a CPU")
    rows, columns, block = (_size(call, name) for name in ("K", "N", "block_size"))
    bits = call.integer("bits", 4)
    if bits not in (2, 4, 8):
        raise UnreadableError(f"weights of {bits} bits", "quantise to 2, 4 or 8 bits")
    blocks = -(-rows // block)
    check_value((columns, blocks * block))
    levels = _unpacked(call, 1, bits, columns, blocks * block)[:, :rows]
    scale = call.number(2)
    if scale.error is not None or scale.value.size != columns * blocks:
        raise UnreadableError(f"{scale.value.size} scales of {columns} rows of {blocks} blocks", _AGAIN)
    if call.has(4) and (call.whole(4).reshape(-1) != np.arange(rows) // block).any():
        raise UnreadableError("groups of weights in an order of their own (g_idx)", "quantise without act_order")
    of_blocks = scale.rearranged(lambda a: np.repeat(a.reshape(columns, blocks), block, axis=1)[:, :rows])
    zero = np.repeat(_zero_points(call, bits, columns, blocks), block, axis=1)[:, :rows]
    weight = elementwise.multiply(Enclosure(levels - zero), of_blocks)
    assert isinstance(weight, Enclosure)
    (made,) = matrix_products.matmul(inner_call(call, "MatMul", [call.real_value(0), weight.rearranged(np.transpose)]))
    assert isinstance(made, Affine | Enclosure)
    return [elementwise.add(made, call.number(5)) if call.has(5) else made]


def _unpacked(call: OperatorCall, index: int, bits: int, rows: int, width: int) -> Whole:
    """Integers (rows, width) of bytes that hold several of them, the lowest bits first; every row begins a byte."""
    stored, each = call.whole(index), 8 // bits
    wide = -(-width // each)
    if stored.dtype != np.uint8 or stored.size != rows * wide:
        raise UnreadableError(
            f"input {index} ({call.node.input[index]!r}) has {stored.size} entries of {stored.dtype}", _AGAIN
        )
    shifts = bits * np.arange(each)
    single = (stored.reshape(rows, wide, 1).astype(np.int64) >> shifts) & ((1 << bits) - 1)
    return single.reshape(rows, wide * each)[:, :width]


def _zero_points(call: OperatorCall, bits: int, columns: int, blocks: int) -> Array:
    """Of every block (columns, blocks), as packed integers or as real numbers."""
    if not call.has(3):
        return np.full((columns, blocks), 2.0 ** (bits - 1))
    if isinstance(call.value(3), np.ndarray):
        return _unpacked(call, 3, bits, columns, blocks).astype(np.float64)
    found = call.number(3)
    if found.error is not None or found.value.size != columns * blocks:
        raise UnreadableError(f"{found.value.size} zero points of {columns} rows of {blocks} blocks", _AGAIN)
    return found.value.reshape(columns, blocks)


def real_product(call: OperatorCall) -> Sequence[Value]:
    """MatMulIntegerToFloat: A, B, the scale of each, the zero point of each, bias."""
    check_accumulator(call, call.value(0), 4, call.value(1), 5, None, axis=-1)
    factors = []
    with call.given.reading.over_the_reals():
        for at, axis in ((0, -2), (1, -1)):
            scale = scales(call, at + 2)
            zero = zeros(call, at + 4, scale)
            factors.append(dequantised(call.value(at), scale, zero, (axis, 0), call.number(at + 2)))
        (product,) = matrix_products.matmul(inner_call(call, "MatMul", factors))
    made = as_computed(call, product, 2, 3)
    assert isinstance(made, Affine | Enclosure)
    return [elementwise.add(made, call.number(6)) if call.has(6) else made]


def softmax_of_levels(call: OperatorCall) -> Sequence[Value]:
    """QLinearSoftmax: X and Y with scale and zero point each.

    onnxruntime computes with 1 / (scale of Y) rounded down to a whole number, so scales of another kind are refused.
    """
    scale, opset = scales(call, 3), call.integer("opset", 13)
    with np.errstate(over="ignore"):
        inverse = np.float32(1) / scale.astype(np.float32)
    if not (inverse == np.floor(inverse)).all():
        what = f"the scale {float(scale.reshape(-1)[0])!r} of the result"
        raise UnreadableError(
            f"{what}, which onnxruntime takes for one over a whole number",
            "quantise to steps of 1/256, as onnxruntime's own quantiser does",
        )
    given = real_input(call, 0)
    (made,) = softmax.softmax(replace(inner_call(call, "Softmax", [given], ("opset",)), opset=opset))
    return [quantised_result(call, made.value if isinstance(made, Scores) else made, 3, None)]


def chosen_levels(call: OperatorCall) -> Sequence[Value]:
    """QLinearWhere: a mask, then X, Y and the result with scale and zero point each."""
    with call.given.reading.over_the_reals():
        x, y = real_input(call, 1), real_input(call, 4)
        (made,) = comparisons.where(inner_call(call, "Where", [call.value(0), x, y]))
    like = call.value(1) if isinstance(call.value(1), Levels) else call.value(4)
    named = replace(call, inputs=[like, *call.inputs[1:]])
    missed = requantising.of_terms(call, requantising.together(call, (1, 4)), 7)
    return [quantised_result(named, made, 7, missed)]


OPERATORS: dict[str, Operator] = {
    "com.microsoft.MatMulNBits": checked(
        packed_product, ("K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"), 3, 6
    ),
    "com.microsoft.MatMulIntegerToFloat": checked(real_product, (), 4, 7),
    "com.microsoft.QLinearSoftmax": checked(softmax_of_levels, ("axis", "opset"), 5, 5),
    "com.microsoft.QLinearWhere": checked(chosen_levels, (), 9, 9),
}
"""By name with the domain."""
